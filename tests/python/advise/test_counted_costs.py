"""Costs out of a run that counted: what they hold, what `advise` makes of them, and which runs give none."""

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from support.counted_runs import C3, M0PLUS, M4, M4_L476
from wattlock.advise.counted_costs import costs_file
from wattlock.advise.published import COSTS, File, price
from wattlock.cli import app
from wattlock.energy.cards import load
from wattlock.errors import EvidenceError
from wattlock.run.counts import Counts, open_counted


def counts(run: Path) -> Counts:
    found = open_counted(run)
    assert found is not None
    return found


def written(run: Path, folder: Path) -> tuple[Path, File]:
    path = folder / "mine.toml"
    path.write_text(costs_file(counts(run)), encoding="utf-8")
    return path, COSTS.load(path)[1]


@pytest.mark.parametrize("run", [M4, M0PLUS, M4_L476])
def test_each_cipher_has_the_cycles_of_its_messages_as_the_run_counted_them(run: Path, tmp_path: Path) -> None:
    _, file = written(run, tmp_path)
    column = "part_cycles" if run == M4_L476 else "cycles"
    messages = counts(run).estimates.filter(pl.col("operation").is_in(["seal", "encrypt"]))
    assert {name for cost in file.cost for name in cost.ciphers} == set(messages["cipher"])
    for cost in file.cost:
        rows = messages.filter(pl.col("cipher") == cost.ciphers[0]).sort("payload_B")
        assert cost.points == rows.select("payload_B", column).rows()
        assert rows["image_sha256"][0] in cost.source


@pytest.mark.parametrize("run", [M4, M0PLUS, M4_L476])
def test_the_interval_holds_both_ends_that_the_rules_of_the_core_leave_open(run: Path, tmp_path: Path) -> None:
    _, file = written(run, tmp_path)
    rows = counts(run).estimates.filter(pl.col("operation").is_in(["seal", "encrypt"]))
    for row in rows.iter_rows(named=True):
        width = 1 + next(cost for cost in file.cost if row["cipher"] in cost.ciphers).relative_uncertainty
        assert row["cycles"] * width >= row["cycles_high"] * 0.9999
        assert row["cycles"] / width <= row["cycles_low"] * 1.0001


def test_part_cycles_are_for_the_cards_of_that_part_alone(tmp_path: Path) -> None:
    _, file = written(M4_L476, tmp_path)
    assert {cost.counted for cost in file.cost} == {"part cycles"}
    assert all(cost.is_for(load("stm32l476")) and not cost.is_for(load("nrf52840")) for cost in file.cost)


def test_core_cycles_are_assumed_so_that_without_consent_what_is_published_stays(tmp_path: Path) -> None:
    path, file = written(M4, tmp_path)
    assert {(cost.counted, cost.confidence) for cost in file.cost} == {("core cycles", "assumed")}
    device = load("nrf52840")
    taken = {
        allowed: {cost.cipher: cost for cost in price(device, [(64, 1.0)], allow_assumed=allowed, given=path).taken}
        for allowed in (False, True)
    }
    counted, published = taken[True]["ascon-aead128"], taken[False]["ascon-aead128"]
    assert counted.origin is not None
    assert counted.origin.counted == "core cycles"
    assert counted.evidence == "assumed"
    assert published.origin is not None
    assert published.origin.counted == "board cycles"


def test_a_core_without_rules_gives_no_costs() -> None:
    with pytest.raises(EvidenceError, match="no cycles with a known error"):
        costs_file(counts(C3))


def test_the_verb_writes_to_standard_output_or_to_a_file(tmp_path: Path) -> None:
    printed = CliRunner().invoke(app, ["costs", "--from", str(M4)])
    kept = CliRunner().invoke(app, ["costs", "--from", str(M4), "--out", str(tmp_path / "m4.toml")])
    assert printed.exit_code == kept.exit_code == 0
    assert printed.stdout == (tmp_path / "m4.toml").read_text(encoding="utf-8") == costs_file(counts(M4))
    assert not kept.stdout
