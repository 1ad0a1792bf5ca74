"""Costs out of a run that counted: what they hold, what `advise` makes of them, and which runs give none."""

import math
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from support.counted_runs import C3, M0PLUS, M4, M4_L476
from support.tree import TREE
from wattlock.advise.cipher_costs import COSTS, CostedMessage, CostFile, at
from wattlock.advise.counted_costs import BORDERS_B, UNSEEN, costs_file
from wattlock.advise.published import DeviceCosts, published_costs
from wattlock.cli import app
from wattlock.energy.device_cards import load
from wattlock.errors import EvidenceError
from wattlock.run.result import Result, open_run
from wattlock.targets import or_this_machine
from wattlock.targets.parts import step

PAGE = (TREE / "docs" / "results" / "mcu-counts.md").read_text(encoding="utf-8")
ISAS = {
    "cortex-m4": "thumbv7em",
    "cortex-m0plus": "thumbv6m",
    "cortex-m33": "thumbv8m",
    "sifive-e31": "riscv32",
}


def written(run: Path, folder: Path) -> tuple[Path, CostFile]:
    path = folder / "mine.toml"
    path.write_text(costs_file(open_run(run), or_this_machine(None)), encoding="utf-8")
    return path, COSTS.load(path)[1]


@pytest.mark.parametrize("run", [M4, M0PLUS, M4_L476])
def test_each_cipher_has_the_cycles_of_its_messages_as_the_run_counted_them(run: Path, tmp_path: Path) -> None:
    _, file = written(run, tmp_path)
    column = "part_cycles" if run == M4_L476 else "cycles"
    messages = open_run(run).estimates.filter(pl.col("operation").is_in(["seal", "encrypt"]))
    assert {name for cost in file.cost for name in cost.ciphers} == set(messages["cipher"])
    for cost in file.cost:
        rows = messages.filter(pl.col("cipher") == cost.ciphers[0]).sort("payload_B")
        assert cost.points == rows.select("payload_B", column).rows()
        assert rows["image_sha256"][0] in cost.source


def test_opening_has_its_own_cycles_where_every_size_of_the_law_was_opened(tmp_path: Path) -> None:
    _, file = written(M4, tmp_path)
    opens = open_run(M4).estimates.filter(pl.col("operation") == "open")
    ascon = next(cost for cost in file.cost if cost.ciphers == ["ascon-aead128"])
    assert ascon.opened == opens.filter(pl.col("cipher") == "ascon-aead128").sort("payload_B")["cycles"].to_list()
    assert ascon.opened != ascon.law[1]
    counted = open_run(M4)
    few = counted.estimates.filter((pl.col("operation") != "open") | (pl.col("payload_B") != 64))
    text = costs_file(replace(counted, estimates=few), or_this_machine(None))
    assert "open_figures" not in text


def test_a_run_of_few_sizes_has_the_error_of_a_law_that_was_held_against_nothing(tmp_path: Path) -> None:
    _, file = written(M4, tmp_path)
    assert {cost.law_uncertainty for cost in file.cost} == {UNSEEN}
    assert all("sizes between were not counted" in cost.because for cost in file.cost)


def made_up(octets_B: int, operation: str) -> float:
    """Cycles that rise by the block and begin anew each 64 octets, and those of 100 octets are 8 % above that."""
    blocks, cut = divmod(octets_B, 16)
    cycles = 1000.0 + 100 * blocks + 30 * (cut > 0) + 50 * (octets_B // 64) + 7 * (operation == "open")
    return cycles * (1.08 if octets_B == 100 else 1.0)


def test_a_run_of_every_end_of_a_block_has_a_law_whose_error_is_what_it_misses_at_its_other_sizes() -> None:
    counted = open_run(M4)
    first = counted.estimates.filter(pl.col("cipher") == "ascon-aead128", pl.col("operation") == "seal").head(1)
    rows = [
        first.with_columns(
            operation=pl.lit(operation),
            payload_B=pl.lit(octets_B, first.schema["payload_B"]),
            **{
                name: pl.lit(made_up(octets_B, operation)).cast(first.schema[name])
                for name in ("cycles", "cycles_low", "cycles_high")
            },
        )
        for octets_B in [*BORDERS_B, 8, 100, 1000]
        for operation in ("seal", "open")
    ]
    text = costs_file(replace(counted, estimates=pl.concat(rows)), or_this_machine(None))
    (cost,) = CostFile.model_validate(tomllib.loads(text)).cost
    assert (len(cost.points), cost.block_B, cost.period_B) == (24, 1, 64)
    # 1,000 octets are fifteen periods behind the law and missed by nothing; those of 100 by all that they are off.
    assert cost.law_uncertainty == pytest.approx(0.08, abs=0.001)
    assert "3 other sizes lie within 8 % of its law, the farthest of 100 B" in cost.because


def test_the_laws_that_come_along_hold_the_counts_of_the_page_that_are_not_in_them() -> None:
    held = 0
    for part, table in re.findall(
        r"### ([^\n]+)\n(.*?)(?=\n###|<!-- end)", PAGE.partition("<!-- tables -->")[2], re.DOTALL
    ):
        core, _, variant = part.partition(" in ")
        names = [name for name in COSTS.shipped() if name.startswith(f"{ISAS[core]}-counted")]
        (name,) = [one for one in names if one.endswith(variant.partition(" ")[0] or "-counted")]
        laws = {one.ciphers[0]: one for one in COSTS.load(name)[1].cost}
        for row in re.findall(r"^\| `(.+?)` \| (.+) \|$", table, re.MULTILINE):
            cells = [float(cell.replace(",", "")) for cell in row[1].split(" | ")]
            law = laws[row[0]]
            sealed, opened = law.law[1], law.opened
            for octets_B, values, counted in (
                (256, sealed, cells[4]),
                (1024, sealed, cells[5]),
                (1024, opened, cells[6]),
            ):
                said = at(octets_B, law.law[0], values, block_B=law.block_B, period_B=law.period_B)
                assert said == pytest.approx(counted, rel=law.law_uncertainty + 1e-4), (part, row[0], octets_B)
                held += 1
            assert at(65, law.law[0], sealed, period_B=64) == cells[3], "in the law itself"
    assert held == 5 * 15 * 3


def of_tally(*operations: str) -> Result:
    """A run in which Ascon's cases are records of tally."""
    found = open_run(M4)
    is_tally = (pl.col("cipher") == "ascon-aead128") & pl.col("operation").is_in(operations)
    kept = found.estimates.filter(is_tally | (pl.col("cipher") == "chacha20-poly1305"))
    renamed = {"cipher": "tally", "provider": "wattlock"}
    changed = [pl.when(is_tally).then(pl.lit(new)).otherwise(pl.col(name)).alias(name) for name, new in renamed.items()]
    return replace(found, estimates=kept.with_columns(changed))


def test_records_of_tally_have_an_entry_where_a_report_was_counted_too() -> None:
    run = of_tally("seal", "open", "key_setup")
    of = {
        cost.ciphers[0]: cost
        for cost in CostFile.model_validate(tomllib.loads(costs_file(run, or_this_machine(None)))).cost
    }
    report = run.estimates.filter(pl.col("cipher") == "tally", pl.col("operation") == "key_setup")["cycles"].item()
    assert of["tally"].report_cycles == report
    assert of["chacha20-poly1305"].report_cycles is None
    without = CostFile.model_validate(tomllib.loads(costs_file(of_tally("seal", "open"), or_this_machine(None))))
    assert [cost.ciphers for cost in without.cost] == [["chacha20-poly1305"]]


def test_tally_is_no_cipher_and_has_a_cost_where_its_records_were_counted(tmp_path: Path) -> None:
    def priced(device: str, given: Path | None = None, *, allow_assumed: bool = False) -> DeviceCosts:
        return published_costs(load(device), [CostedMessage(16, 1.0)], allow_assumed=allow_assumed, given=given)

    for device in ("nrf52840", "stm32l476", "rp2040", "esp32-c3", "esp32"):
        every = priced(device, allow_assumed=True)
        assert not any(cost.cipher == "tally" for cost in (*every.taken, *every.slower, *every.unranked))
        assert (every.tally is None) == (device == "esp32"), "of Xtensa nobody counted it, and it is not borrowed"
    assert priced("esp32-c3").tally is None, "E31's are assumed there"
    tally = priced("nrf52840").tally
    assert tally is not None
    assert tally.cipher == "ascon-aead128"
    factor = step("nrf52840", "core cycles").factor
    assert tally.report_cycles == pytest.approx(63_154 * factor)
    # The user's own figures of Ascon are compared with no records of other code.
    mine, _ = written(M4, tmp_path)
    assert priced("nrf52840", mine).tally is None
    mine.write_text(costs_file(of_tally("seal", "open", "key_setup"), or_this_machine(None)), encoding="utf-8")
    own = priced("nrf52840", mine).tally
    assert own is not None
    assert own.of("cycles", 16) == pytest.approx(5_264 * factor, rel=0.01)


def test_the_page_has_the_records_that_come_along_at_most_115_percent_of_bare_ascon() -> None:
    page = (TREE / "experiments" / "tally" / "docs" / "results.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ((?:cortex|sifive)[^|]+) \| [\d.]+ % \| (.+) \|$", page, re.MULTILINE)
    assert len(rows) == 5
    for part, row in rows:
        core, _, variant = part.partition(" in ")
        name = f"{ISAS[core]}-counted" + (f"-{variant.partition(' ')[0]}" if variant else "")
        (tally,) = COSTS.load(f"{name}-tally")[1].cost
        (ascon,) = (cost for cost in COSTS.load(name)[1].cost if cost.ciphers == ["ascon-aead128"])
        cells = [float(cell.replace(",", "")) for cell in row.split(" | ")]
        assert cells[-1] == tally.report_cycles
        for place, (values, bare) in enumerate(((tally.law[1], ascon.law[1]), (tally.opened, ascon.opened))):
            for second, size_B in enumerate((16, 64)):
                cycles = values[tally.law[0].index(size_B)]
                times = cycles / bare[ascon.law[0].index(size_B)]
                assert cells[4 * place + 2 * second :][:2] == [cycles, pytest.approx(times, abs=0.0051)]
                assert times <= 1.15


@pytest.mark.parametrize("run", [M4, M0PLUS, M4_L476])
def test_the_interval_holds_both_ends_that_the_rules_of_the_core_leave_open(run: Path, tmp_path: Path) -> None:
    _, file = written(run, tmp_path)
    rows = open_run(run).estimates.filter(pl.col("operation").is_in(["seal", "encrypt"]))
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
    taken = published_costs(load("nrf52840"), [CostedMessage(64, 1.0)], allow_assumed=False, given=path).taken
    counted = next(cost for cost in taken if cost.cipher == "ascon-aead128")
    (entry,) = [cost for cost in file.cost if cost.ciphers == ["ascon-aead128"]]
    assert counted.origin is not None
    assert counted.origin.counted == "core cycles"
    # The nRF52840's boards took 4.3 to 10.4 % more, the error of the M4's rules among it: not on top of it again.
    assert counted.origin.to_board == pytest.approx(math.sqrt(1 / (1 - 0.041) / (1 - 0.094)))
    assert counted.of("cycles", 64) == entry.law[1][1] * counted.origin.to_board
    width = math.log1p(entry.relative_uncertainty) + math.log1p(UNSEEN)
    assert counted.uniform == pytest.approx((-width, width))
    assert "+4.3 to +10.4 %" in counted.origin.because
    assert counted.origin.marks == "core cycles +7.3 %"
    assert counted.evidence == "modelled"


def test_core_cycles_of_a_device_that_nobody_compared_have_the_widest_distance_that_was_seen(tmp_path: Path) -> None:
    path, file = written(M0PLUS, tmp_path)
    taken = published_costs(load("rp2040"), [CostedMessage(64, 1.0)], allow_assumed=False, given=path).taken
    counted = next(cost for cost in taken if cost.cipher == "ascon-aead128")
    (entry,) = [cost for cost in file.cost if cost.ciphers == ["ascon-aead128"]]
    # From as counted, as code in RAM takes, to the worst board, beside the error of the core's rules.
    width = math.log1p(entry.relative_uncertainty) + math.log1p(UNSEEN) - math.log(1 - 0.271) / 2
    assert counted.uniform == pytest.approx((-width, width))
    assert counted.of("cycles", 64) == pytest.approx(entry.law[1][1] / math.sqrt(1 - 0.271))


def test_costs_are_ordered_by_a_boards_cycles_so_that_a_count_a_little_lower_than_a_boards_stands_behind_it() -> None:
    priced = published_costs(load("nrf52840"), [CostedMessage(64, 1.0)], allow_assumed=False)
    by_kind = {
        cost.origin.kind: cost
        for cost in (*priced.taken, *priced.slower)
        if cost.cipher == "chacha20-poly1305" and cost.origin
    }
    count = by_kind["this code"].of("cycles", 64) / step("nrf52840", "core cycles").factor
    assert count < by_kind["published"].of("cycles", 64) < by_kind["this code"].of("cycles", 64)
    assert by_kind["published"] in priced.taken


def test_part_cycles_stand_for_core_cycles_of_the_same_code_on_the_parts_cards_alone() -> None:
    for device, counted in (("stm32l476", "part cycles"), ("nrf52840", "core cycles")):
        priced = published_costs(load(device), [CostedMessage(64, 1.0)], allow_assumed=False)
        every = [cost.origin for cost in (*priced.taken, *priced.slower) if cost.origin]
        assert {origin.counted for origin in every if origin.kind == "this code"} == {counted}


def test_cycles_of_a_core_that_is_in_no_part_are_assumed() -> None:
    found = open_run(M0PLUS)
    other = replace(found, plan={**found.plan, "counted": {**found.plan["counted"], "core": "cortex-m0"}})
    text = costs_file(other, or_this_machine(None))
    assert 'confidence = "assumed"' in text
    assert 'confidence = "primary"' not in text
    assert "counted on cortex-m0, which is the core of no part here" in text
    (least,) = {cost.relative_uncertainty for cost in CostFile.model_validate(tomllib.loads(text)).cost}
    assert least >= 1, "another core may take twice as much"


def test_a_core_without_rules_gives_no_costs() -> None:
    with pytest.raises(EvidenceError, match="no cycles with a known error"):
        costs_file(open_run(C3), or_this_machine(None))


def test_the_verb_writes_to_standard_output_or_to_a_file(tmp_path: Path) -> None:
    printed = CliRunner().invoke(app, ["costs", "--from", str(M4)])
    kept = CliRunner().invoke(app, ["costs", "--from", str(M4), "--out", str(tmp_path / "m4.toml")])
    assert printed.exit_code == kept.exit_code == 0
    assert (
        printed.stdout
        == (tmp_path / "m4.toml").read_text(encoding="utf-8")
        == costs_file(open_run(M4), or_this_machine(None))
    )
    assert not kept.stdout
