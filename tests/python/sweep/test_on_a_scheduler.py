"""A sweep on a Dask scheduler: the octets of this machine, each refusal named, nothing lost with a worker."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.sweeps import LINK, LIVES, NS3, RUNS, rows, swept, write
from support.tree import require_programs
from wattlock import cli
from wattlock.errors import InputError
from wattlock.link import ns3
from wattlock.link.ns3 import EXTRA
from wattlock.sweep import chunks, plan
from wattlock.sweep.answers import answered
from wattlock.targets import cluster as scheduling
from wattlock.targets.toolbox import builds

distributed = pytest.importorskip("distributed", reason="needs the extra cluster")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_programs()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plan, "CHUNK_ROWS", {"wifi": 10, "linear": 2, "ns3": 2, "battery": 3, "run": 3})
    write(tmp_path, LINK)


@contextmanager
def scheduler(count: int, *, processes: bool = False) -> Iterator[Any]:
    """A scheduler in this process, with so many workers of one thread in it, or as programs of their own."""
    with distributed.LocalCluster(
        n_workers=count, threads_per_worker=1, processes=processes, protocol="tcp://", dashboard_address=":0"
    ) as found:
        yield found


def refused(capsys: pytest.CaptureFixture[str], address: str, code: int) -> list[str]:
    capsys.readouterr()
    assert cli.answer(["sweep", "sweep.toml", "--out", "out", "--scheduler", address]) == code
    return [line for line in capsys.readouterr().err.splitlines() if line.startswith(("error:", "hint:"))]


def test_the_table_is_that_of_this_machine_to_the_octet() -> None:
    alone = swept("sweep.toml", "alone", "--workers", "1")
    with scheduler(2) as found:
        assert swept("sweep.toml", "shared", "--scheduler", found.scheduler_address) == alone
    assert rows("shared").height == 52


def test_a_worker_that_is_killed_in_the_middle_loses_and_doubles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "CHUNK_ROWS", {"wifi": 2, "linear": 2})
    alone = swept("sweep.toml", "alone", "--workers", "1")
    killed: list[int] = []

    def kill(address: str) -> None:
        """Ends a worker by SIGKILL once a first chunk is kept, while all others are to come."""
        with distributed.Client(address, set_as_default=False) as client:
            pid = min(client.run(os.getpid).values())
            while not list(Path("shared", "chunks").glob("*.parquet")):
                time.sleep(0.01)
            os.kill(pid, signal.SIGKILL)
            killed.append(len(list(Path("shared", "chunks").glob("*.parquet"))))

    with scheduler(2, processes=True) as found:
        killer = threading.Thread(target=kill, args=[found.scheduler_address], daemon=True)
        killer.start()
        assert swept("sweep.toml", "shared", "--scheduler", found.scheduler_address) == alone
        killer.join()
    assert 1 <= killed[0] < 26
    assert rows("shared")["row"].to_list() == list(range(52))


def test_a_worker_that_differs_is_refused_by_its_name_and_nothing_is_kept_of_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def other(own: Path | None, _: bool) -> dict[str, str | None]:
        return builds(own) | {"network": "0" * 64}

    other.cache_clear = lambda: None  # type: ignore[attr-defined]
    monkeypatch.setattr(chunks, "_builds", other)
    with scheduler(1) as found:
        error, hint = refused(capsys, found.scheduler_address, 13)
    assert error.startswith("error: worker ")
    assert f"has another build of wattlock-net than this machine: {'0' * 64}, not " in error
    assert hint.startswith("hint: install the same wheel on both")
    assert list(Path("out/chunks").iterdir()) == []


def test_a_worker_without_ns3_is_refused_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    versions = iter(["3.44", "3.44"])

    def version() -> str:
        found = next(versions, None)
        if found is None:
            raise InputError("there is no ns-3")
        return found

    monkeypatch.setattr(ns3, "version", version)
    write(tmp_path, NS3)
    with scheduler(1) as found:
        error, hint = refused(capsys, found.scheduler_address, 13)
    assert error.startswith("error: worker ")
    assert error.endswith("has another version of ns-3 than this machine: none, not 3.44")
    assert EXTRA in hint
    assert list(Path("out/chunks").iterdir()) == []


@pytest.mark.parametrize("text", [LIVES, RUNS])
def test_draws_on_a_scheduler_are_those_of_this_machine_to_the_octet(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)
    alone = swept("sweep.toml", "alone", "--workers", "1", "--allow-assumed")
    with scheduler(2) as found:
        assert swept("sweep.toml", "shared", "--scheduler", found.scheduler_address, "--allow-assumed") == alone


def test_a_scheduler_that_is_not_there_or_has_no_worker_is_told_in_two_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scheduling, "CONNECT_S", 0.5)
    for address, words in (
        ("tcp://127.0.0.1:9", "trying to connect"),
        ("tcp://no-such-host.invalid:8786", "its host is not found"),
    ):
        error, hint = refused(capsys, address, 13)
        assert error.startswith(f"error: --scheduler {address}: ")
        assert words in error
        assert hint.startswith("hint: ")
    assert "is no address" in refused(capsys, "lab", 4)[0]
    with scheduler(0) as found:
        assert refused(capsys, found.scheduler_address, 13)[0].endswith("has no worker")


def test_where_a_worker_fails_what_was_answered_is_kept_and_this_machine_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scheduling, "AT_A_TIME", 1)
    monkeypatch.setattr(chunks, "AT_A_TIME", 1)

    def fails(of: plan.SweepPlan, chunk: plan.Chunk) -> Any:
        if chunk.number == 2:
            raise OSError("the worker's disk is gone")
        return answered(of, chunk)

    with scheduler(1) as found:
        monkeypatch.setattr(chunks, "answered", fails)
        error, hint = refused(capsys, found.scheduler_address, 13)
    assert "the worker's disk is gone" in error
    assert hint == "hint: what was answered is kept; the same command, with --scheduler or without, goes on"
    assert sorted(path.name for path in Path("out/chunks").iterdir()) == ["000000.parquet", "000001.parquet"]
    monkeypatch.setattr(chunks, "answered", answered)
    assert swept("sweep.toml", "out", "--workers", "1") == swept("sweep.toml", "alone", "--workers", "1")
