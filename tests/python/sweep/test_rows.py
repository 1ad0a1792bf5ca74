"""The rows of a sweep: every combination once, in order, each with what `wattlock link` and `advise` answer."""

from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.sweeps import ADVICE, LINK, rows, swept, write
from support.tree import require_programs
from wattlock.advise import advise, question
from wattlock.advise.cipher_costs import COSTS
from wattlock.link import lowpower, scenario
from wattlock.link.wifi import evaluate
from wattlock.sweep.plan import Ready, SweepPlan
from wattlock.targets import or_this_machine, toolbox
from wattlock.targets.probe import first_rows

LISTS = st.lists(st.integers(0, 99), min_size=1, max_size=4, unique=True)


@given(st.lists(st.tuples(st.integers(1, 3), st.lists(LISTS, max_size=3), st.integers(1, 5)), min_size=1, max_size=3))
def test_the_chunks_of_any_grids_hold_every_combination_once_and_in_order(
    described: list[tuple[int, list[list[int]], int]],
) -> None:
    grids = [
        Ready(
            0, "wifi", [(f"file-{n}", {}) for n in range(files)], dict(zip("abc", lists, strict=False)), {}, chunk_rows
        )
        for files, lists, chunk_rows in described
    ]
    plan = SweepPlan("t", grids, {}, False, None, "2026-01-01", {})
    found: list[Any] = []
    for number, chunk in enumerate(plan.chunks()):
        assert chunk.number == number
        assert chunk.first_row == len(found)
        for name, _, varied in grids[chunk.grid].combinations(chunk.start, chunk.stop):
            found.append((chunk.grid, name, *varied.values()))
        assert len(found) == chunk.first_row + chunk.stop - chunk.start
    wanted = [
        (number, f"file-{file}", *values)
        for number, (files, lists, _) in enumerate(described)
        for file in range(files)
        for values in product(*lists)
    ]
    assert found == wanted


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """The rows of LINK."""
    require_programs()
    place = tmp_path_factory.mktemp("rows")
    swept(write(place, LINK), str(place / "out"), "--workers", "1")
    return rows(str(place / "out"))


def test_a_row_of_a_link_has_the_numbers_of_wattlock_link(table: pl.DataFrame) -> None:
    for number in (0, 13, 47):
        row = table.row(number, named=True)
        if row["error"]:
            continue
        changes = {key: row[key] for key in ("payload.cipher", "mcs", "signal.rssi_dBm", "seed")}
        if changes["payload.cipher"] == "none":
            changes["payload.cipher"] = None
        named = scenario.load("sensor-readings", {**changes, "payload.data_B": 1600})
        ciphers = first_rows(or_this_machine(None), ["aes128-ccm", "aes128-ccm8"])
        [answer] = evaluate([named], toolbox.find(), ciphers)
        assert row["total_J"] == answer.total_J
        assert row["duration_s"] == answer.duration_ns * 1e-9
        assert row["retries"] == answer.ledger.retries
    low = table.row(48, named=True)
    answered = lowpower.evaluate(scenario.under(*scenario.read("ble-reading"), {"payload_B": 16}))
    assert low["total_J"] == answered.total_J
    assert low["frames"] == answered.ledger.frames


def test_a_combination_that_cant_be_is_a_row_with_its_reason_and_no_numbers(table: pl.DataFrame) -> None:
    assert table.height == 52
    assert table["row"].to_list() == list(range(52))
    cant = table.filter(pl.col("error").is_not_null())
    assert cant.filter(grid=0)["mcs"].to_list() == [9] * 12
    assert set(cant.filter(grid=0)["error"]) == {"mcs: 9 is not there at this width and number of streams"}
    assert cant.height == 12
    assert cant.select("duration_s", "total_J", "octets_B").null_count().row(0) == (12, 12, 12)
    assert table.filter(pl.col("error").is_null())["total_J"].null_count() == 0


def test_a_row_of_advice_has_the_first_choice_of_wattlock_advise(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    swept(write(tmp_path, ADVICE), out, "--allow-assumed", "--workers", "1")
    row = rows(out).row(1, named=True)
    asked = question.checked("profile sensor", question.read("sensor"), {"flow.every": "1h"})
    answer = advise(asked, allow_assumed=True, today=date.today())  # noqa: DTZ011 - a day on which it was asked
    best = answer.ranked.row(0, named=True)
    assert {key: row[key] for key in ("choice", "days", "cipher_share")} == {
        key: best[key] for key in ("choice", "days", "cipher_share")
    }
    assert row["strongest"] == answer.strongest.label
    assert row["free_percent"] == answer.freed[0].percent


def test_a_core_is_asked_about_with_its_own_counted_cycles_and_a_card_of_its_kind(tmp_path: Path) -> None:
    cores = '"core" = ["cortex-m0plus", "cortex-m4"]\n[grid.fixed]\n"device.accelerator" = false\n'
    text = ADVICE.replace('"flow.every" = ["10s", "1h"]\n', cores)
    swept(write(tmp_path, text), str(tmp_path / "out"), "--allow-assumed", "--workers", "1")
    answered = rows(str(tmp_path / "out"))
    assert answered["device"].to_list() == ["rp2040", "nrf52840"]
    for row, isa in zip(answered.iter_rows(named=True), ("thumbv6m", "thumbv7em"), strict=True):
        costs = str(COSTS.find(f"{isa}-counted").source)
        changes = {"device.card": row["device"], "device.costs": costs, "device.accelerator": False}
        asked = question.checked("profile sensor", question.read("sensor"), changes)
        best = advise(asked, allow_assumed=True, today=date.today()).ranked.row(0, named=True)  # noqa: DTZ011 - as above
        assert (row["choice"], row["days"]) == (best["choice"], best["days"])


def test_a_card_of_another_kind_than_its_core_is_a_row_with_its_reason(tmp_path: Path) -> None:
    cores = '"core" = ["cortex-m0plus", "cortex-m4"]\n[grid.fixed]\n"device.card" = "rp2040"\n'
    text = ADVICE.replace('"flow.every" = ["10s", "1h"]\n', cores)
    swept(write(tmp_path, text), str(tmp_path / "out"), "--allow-assumed", "--workers", "1")
    errors = rows(str(tmp_path / "out"))["error"].to_list()
    assert errors == [None, "device.card: rp2040 is of thumbv6m, the core cortex-m4 of thumbv7em"]
