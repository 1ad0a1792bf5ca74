"""What the lab signs of an order, and that each is carried out once."""

import contextlib
from dataclasses import replace
from pathlib import Path

import pytest

from support import scripted_probe
from support.fleet_bench import Bench
from wattlock.errors import NotVerified, ProbeError
from wattlock.lab.fleet import worker
from wattlock.lab.fleet.worker import VALID_S, Key, TaskOrder, refuse_replayed, signed
from wattlock.targets.target import Limits

LIMITS = Limits(60.0, 60.0, 60.0, 2**24)


@pytest.fixture(autouse=True)
def devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two names of a device that measures in virtual time; gives its probe."""
    program = scripted_probe.install(tmp_path / "probe")
    (tmp_path / "targets.toml").write_text('[one]\nway = "local"\n[two]\nway = "local"\n')
    monkeypatch.setenv("WATTLOCK_PROBE", str(program))
    monkeypatch.setenv("WATTLOCK_TARGETS", str(tmp_path / "targets.toml"))
    return program


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "lab")


def test_words_that_move_from_one_field_of_an_order_to_the_next_are_another_order() -> None:
    orders = [
        TaskOrder(Key(run, 0, shard), target, b"{}", LIMITS, "p")
        for run, shard, target in (("r", "a target b", "c"), ("r", "a", "b target c"), ("r shard a", "", "c"))
    ]
    assert len({order.signed for order in orders}) == len(orders)


def test_an_order_that_came_before_or_is_a_day_old_starts_nothing(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, devices: Path
) -> None:
    monkeypatch.setenv(worker.TARGET_VARIABLE, "one")
    monkeypatch.setenv(worker.KEY_VARIABLE, bench.key.public.line)
    monkeypatch.setenv(worker.ORDERS_VARIABLE, str(tmp_path))
    monkeypatch.setattr(worker, "this_worker", lambda: ("", lambda: False))
    order = signed(bench.key, TaskOrder(Key("run", 0, "a"), "one", b"{}\n", LIMITS, "the probe"))
    with contextlib.suppress(ProbeError):  # no plan
        worker.carry_out(order)
    asked = scripted_probe.requested(devices)
    with pytest.raises(NotVerified, match="came before"):
        worker.carry_out(order)
    with pytest.raises(NotVerified, match="more than a day ago"):
        refuse_replayed(tmp_path, replace(order, nonce="new", issued_s=order.issued_s - VALID_S - 60))
    assert scripted_probe.requested(devices) == asked
