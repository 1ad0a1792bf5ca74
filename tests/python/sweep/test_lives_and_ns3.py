"""Rows of battery lives have the numbers of `wattlock battery`, those of ns-3 the numbers of `wattlock link`."""

import faulthandler
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from support.sweeps import LIVES, NS3, rows, swept, write
from support.tools import needs_ns3
from support.tree import require_programs
from wattlock.energy import battery_operations
from wattlock.energy.battery_operations import Circumstances, OwnOperation
from wattlock.energy.tasks import Duty
from wattlock.errors import ProbeError
from wattlock.link import ns3, ns3_child, scenario, wifi_air
from wattlock.link.wifi import largest_question
from wattlock.sweep import plan
from wattlock.sweep.answers import answered
from wattlock.targets import or_this_machine, toolbox
from wattlock.targets.probe import first_rows


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_programs()
    monkeypatch.chdir(tmp_path)


def test_a_row_of_a_battery_has_the_numbers_of_wattlock_battery(tmp_path: Path) -> None:
    swept(write(tmp_path, LIVES), "out", "--allow-assumed", "--workers", "1")
    row = rows("out").row(9, named=True)
    assert (row["of"], row["energy_uJ"], row["without"]) == ("lipo-1000", 100.5, '["temperature"]')
    work = battery_operations.of_own(OwnOperation(energy_uJ=100.5), allow_assumed=True)
    around = Circumstances(without=["temperature"], draws=500)
    wanted = battery_operations.battery("lipo-1000", work, Duty(per_second=1), around, allow_assumed=True).table
    names = ["power_W", "operations", "operations_low", "operations_high", "days", "days_low", "days_high", "evidence"]
    assert {name: row[name] for name in names} == wanted.select(names).row(0, named=True)
    assert row["operation_uJ"] == pytest.approx(100.5)
    errors = rows("out").filter(energy_uJ=1e9)
    assert set(errors["days"]) == {None}
    assert all("gives at most" in error for error in errors["error"])


def test_rows_of_one_seed_draw_the_same_batteries(tmp_path: Path) -> None:
    laws = ["temperature", "self-discharge", "shelf-life"]
    text = LIVES.replace('[[], ["temperature"]]', json.dumps([laws])).replace('"cr2032", "lipo-1000"', '"cr2032"')
    swept(write(tmp_path, text.replace("100.5", "20")), "out", "--allow-assumed", "--workers", "1")
    found = rows("out")
    assert found["days"][0] / found["days"][1] == pytest.approx(2, rel=1e-12)
    swept(write(tmp_path, text.replace("10, 100.5, 1e9", "10") + '"seed" = 2\n'), "other", "--allow-assumed")
    assert rows("other")["days"][0] != found["days"][0]


def test_cycles_are_valued_by_a_device_card_and_an_unknown_time_is_told_in_keys(tmp_path: Path) -> None:
    text = LIVES.replace('"energy_uJ" = [10, 100.5, 1e9]', '"cycles" = [1e5]\n"device" = ["rp2040", "nrf52840"]')
    swept(write(tmp_path, text), "out", "--allow-assumed", "--workers", "1")
    assert rows("out")["error"].null_count() == 8
    assert rows("out")["operation_uJ"].n_unique() == 2
    text = LIVES.replace('"per_second" = 1\n', "").replace("[grid.vary]", '[grid.vary]\n"time_us" = [1e4, 1e-9, 5]')
    swept(write(tmp_path, text), "timed", "--allow-assumed", "--workers", "1")
    assert "time_us is 1e-09: no operation is that short" in set(rows("timed")["error"])


def test_what_ns3_gives_up_is_a_row_with_its_reason_and_what_ends_it_from_outside_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ns3, "version", lambda: "3.44")
    made = plan.planned(plan.load(write(tmp_path, NS3)), or_this_machine(None))
    theirs = {"duration_s": 1.0, "packets_per_s": 50.0, "wall_s": 0.1, "nodes": []}
    cases: list[list[dict[str, Any]]] = [[theirs, {"ended": -6, "said": 'NS_ASSERT failed, cond="mode"\n#0 0x0'}]]
    monkeypatch.setattr(ns3, "_ask", lambda *_: cases[0])
    found = answered(made, made.chunks()[0])
    assert found["ns3_s"].to_list() == [1.0, None, None, None]
    assert found["error"][1].startswith("ns-3 ended with signal 6: NS_ASSERT failed")
    assert found["hint"][1].startswith("ns-3 may not know such a scenario")
    assert found["error"][2].startswith("mcs: 9 is not there")
    cases[0][1]["ended"] = -signal.SIGKILL
    with pytest.raises(ProbeError, match="signal 9, from outside"):
        answered(made, made.chunks()[0])


def test_an_answer_apart_comes_whole_or_says_how_its_process_ended() -> None:
    def fails() -> str:
        os.write(2, b"NS_ASSERT failed")
        faulthandler.disable()  # pytest's would print a traceback
        os.abort()

    assert ns3_child.apart(lambda: "answer") == "answer"
    assert json.loads(ns3_child.apart(fails)) == {"ended": -signal.SIGABRT, "said": "NS_ASSERT failed"}
    assert json.loads(ns3_child.apart(lambda: str(1 / 0)))["ended"] == 1


@needs_ns3
def test_a_row_of_ns3_has_the_numbers_of_wattlock_link_on_any_number_of_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path, NS3)
    table = swept(file, "by-1", "--workers", "1")
    monkeypatch.setattr(plan, "CHUNK_ROWS", {"ns3": 1})
    assert swept(file, "by-2", "--workers", "2") == table
    changes = {"mcs": 0, "seed": 2, "payload.data_B": 1600, "engine": "dcf"}
    named = scenario.load("sensor-readings", changes)
    question = largest_question(named, first_rows(or_this_machine(None), ["aes128-gcm"]))
    [compared] = ns3.compare([question], wifi_air.evaluate(toolbox.find(), [(named, question)]))
    found = rows("by-1")
    row = found.row(1, named=True)
    assert {key: row[key] for key in ("wattlock_s", "ns3_s", "apart_percent", "notes")} == {
        key: value for key, value in compared.row().items() if key in {"wattlock_s", "ns3_s", "apart_percent", "notes"}
    }
    assert found["error"].null_count() == 2
