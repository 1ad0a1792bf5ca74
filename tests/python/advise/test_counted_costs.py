"""Costs out of a run that counted: what they hold, what `advise` makes of them, and which runs give none."""

import math
from dataclasses import replace
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
from wattlock.targets import or_this_machine


def counts(run: Path) -> Counts:
    found = open_counted(run)
    assert found is not None
    return found


def written(run: Path, folder: Path) -> tuple[Path, File]:
    path = folder / "mine.toml"
    path.write_text(costs_file(counts(run), or_this_machine(None)), encoding="utf-8")
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


def test_core_cycles_are_ranked_without_consent_with_the_rules_error_and_the_way_to_the_board(tmp_path: Path) -> None:
    path, file = written(M4, tmp_path)
    assert {(cost.counted, cost.confidence, cost.timing) for cost in file.cost if "rc4-128" not in cost.ciphers} == {
        ("core cycles", "primary", "constant")
    }
    taken = price(load("nrf52840"), [(64, 1.0)], allow_assumed=False, given=path).taken
    counted = next(cost for cost in taken if cost.cipher == "ascon-aead128")
    (entry,) = [cost for cost in file.cost if cost.ciphers == ["ascon-aead128"]]
    assert counted.origin is not None
    assert counted.origin.counted == "core cycles"
    # The nRF52840's own distance, 9.4 %, and not the 27.1 % of the SAM D21.
    width = math.log1p(entry.relative_uncertainty) - math.log(1 - 0.094)
    assert counted.uniform_width == pytest.approx(width)
    assert "9.4 %" in counted.origin.because
    assert counted.evidence == "modelled"


def test_core_cycles_of_a_device_that_nobody_compared_have_the_widest_distance_that_was_seen(tmp_path: Path) -> None:
    path, file = written(M0PLUS, tmp_path)
    taken = price(load("rp2040"), [(64, 1.0)], allow_assumed=False, given=path).taken
    counted = next(cost for cost in taken if cost.cipher == "ascon-aead128")
    (entry,) = [cost for cost in file.cost if cost.ciphers == ["ascon-aead128"]]
    assert counted.uniform_width == pytest.approx(math.log1p(entry.relative_uncertainty) - math.log(1 - 0.271))


def test_part_cycles_stand_for_core_cycles_of_the_same_code_on_the_parts_cards_alone() -> None:
    for device, counted in (("stm32l476", "part cycles"), ("nrf52840", "core cycles")):
        priced = price(load(device), [(64, 1.0)], allow_assumed=False)
        every = [cost.origin for cost in (*priced.taken, *priced.slower) if cost.origin]
        assert {origin.counted for origin in every if origin.kind == "this code"} == {counted}


def test_cycles_of_a_core_that_is_in_no_part_are_assumed() -> None:
    found = counts(M0PLUS)
    other = replace(found, plan={**found.plan, "counted": {**found.plan["counted"], "core": "cortex-m0"}})
    text = costs_file(other, or_this_machine(None))
    assert 'confidence = "assumed"' in text
    assert 'confidence = "primary"' not in text
    assert "counted on cortex-m0, which is the core of no part here" in text


def test_a_core_without_rules_gives_no_costs() -> None:
    with pytest.raises(EvidenceError, match="no cycles with a known error"):
        costs_file(counts(C3), or_this_machine(None))


def test_the_verb_writes_to_standard_output_or_to_a_file(tmp_path: Path) -> None:
    printed = CliRunner().invoke(app, ["costs", "--from", str(M4)])
    kept = CliRunner().invoke(app, ["costs", "--from", str(M4), "--out", str(tmp_path / "m4.toml")])
    assert printed.exit_code == kept.exit_code == 0
    assert (
        printed.stdout
        == (tmp_path / "m4.toml").read_text(encoding="utf-8")
        == costs_file(counts(M4), or_this_machine(None))
    )
    assert not kept.stdout
