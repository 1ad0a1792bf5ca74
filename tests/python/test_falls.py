"""Battery runs: falls of made-up batteries whose truth is known, and a run that is cut off and goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wattlock import cli
from wattlock.analysis.falls import curves, falls
from wattlock.store import RunFolder

TREE = Path(__file__).parents[2]
GAUGE = {"quantum_nJ": 3.6e10, "gain_relative_uncertainty": 0.0, "update_period_ns": 1_000_000_000}
IDLE_W, BUSY_W = 3.0, 60.0

STUDY = """
id = "fall"
title = "A battery, emptied"
question = "What does a call take out of the battery?"
target_percent = 20.0
smallest_effect_percent = 5.0
looks = [5]

[[grid]]
cipher = ["des-cbc"]
operation = ["encrypt"]
payload_B = [4096]
"""


def line(process: int, second: int, calls: int, percent: int | None, **told: Any) -> dict[str, Any]:
    empty = {"energy_nJ": None, "charge_uAh": None, "voltage_uV": None, "error": None}
    at = {"process": process, "cell": 0, "unix_ns": second * 1_000_000_000}
    return {**empty, **at, "repeats_done": calls, "level_percent": percent, **told}


def only(levels: list[dict[str, Any]]) -> dict[str, Any]:
    rows = falls(levels, GAUGE)
    assert rows.height == 1
    return rows.row(0, named=True)


def test_what_was_charged_between_two_parts_does_not_enter() -> None:
    row = only(
        [
            line(5, 0, 0, 90, energy_nJ=900 * 10**12),
            line(5, 1000, 100, 60, energy_nJ=600 * 10**12),
            # Charged, and begun anew.
            line(6, 9000, 100, 100, energy_nJ=1000 * 10**12),
            line(6, 9500, 150, 85, energy_nJ=850 * 10**12),
        ]
    )
    assert (row["calls"], row["drawn_percent"], row["energy_uJ"]) == (150, 45.0, 450e9 / 150)
    assert row["hours"] == pytest.approx(1500 / 3600)
    assert row["energy_low_uJ"] < row["energy_uJ"] < row["energy_high_uJ"]


def test_a_line_that_tells_why_a_part_ended_is_no_end_of_the_part() -> None:
    row = only([line(1, 0, 0, 90), line(1, 60, 40, 80), line(1, 70, 50, 81, error="the battery is not discharging")])
    assert (row["calls"], row["drawn_percent"]) == (40, 10.0)


def test_charge_and_voltage_make_joules_where_the_battery_counts_none() -> None:
    # 0.1 Ah at a mean of 3.8 V.
    row = only(
        [
            line(1, 0, 0, 90, charge_uAh=900_000, voltage_uV=4_000_000),
            line(1, 600, 10, 80, charge_uAh=800_000, voltage_uV=3_600_000),
        ]
    )
    assert row["energy_uJ"] == pytest.approx(0.1 * 3600 * 3.8 / 10 * 1e6)


def test_a_level_alone_gives_calls_per_percent_and_no_joules() -> None:
    row = only([line(1, 0, 0, 90), line(1, 60, 400, 80)])
    assert (row["calls_per_percent"], row["energy_uJ"], row["state"]) == (40.0, None, "resolved")
    assert "no joules" in row["reason"]


@pytest.mark.parametrize("fallen", [0, 4])
def test_fewer_than_five_steps_are_inconclusive_and_never_zero_joules(fallen: int) -> None:
    drawn = int(fallen * GAUGE["quantum_nJ"])
    row = only([line(1, 0, 0, 90, energy_nJ=10**15), line(1, 60, 400, 90, energy_nJ=10**15 - drawn)])
    assert (row["state"], row["energy_uJ"]) == ("inconclusive", None)
    assert "5 are the least" in row["reason"]


def test_the_curve_is_the_log_line_by_line() -> None:
    drawn = curves([line(1, 0, 0, 90), line(1, 60, 400, 80), line(1, 90, 500, None)], {0: ("des-cbc", 4096)})
    assert drawn["operations"].to_list() == [0, 400]
    assert drawn["level_percent"].to_list() == [90.0, 80.0]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fall.toml").write_text(STUDY)
    words = ["--idle-W", str(IDLE_W), "--busy-W", str(BUSY_W), "--battery-Wh", "0.8", "--below", str(os.getpid())]
    example = TREE / "examples" / "meters" / "made_up_sys.py"
    with subprocess.Popen([sys.executable, example, *words, tmp_path / "sys", "--", "sleep", "600"]) as follower:
        deadline = time.monotonic() + 20
        while not (tmp_path / "sys/class/power_supply/BAT0/status").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        yield tmp_path / "sys"
        follower.send_signal(signal.SIGTERM)


def test_a_battery_run_that_is_cut_off_goes_on_and_finds_the_joules_of_a_call(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", "fall.toml", "--battery", "BAT0", "--log-every-s", "1", "--sys-root", str(tree), "--out", "run"]
    with subprocess.Popen([Path(sys.executable).with_name("wattlock"), *words, "--repeats", "120000"]) as cut:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and b'"battery_level"' not in _records():
            time.sleep(0.1)
        time.sleep(3)
        cut.kill()
    subprocess.run(["pkill", "-KILL", "-P", str(cut.pid)], check=False)
    done = max(line["repeats_done"] for line in RunFolder.open(Path("run")).records("battery_level"))
    assert 0 < done < 120_000
    assert cli.answer(["run", "--resume", "run", "--sys-root", str(tree)]) == 0, capsys.readouterr().err
    capsys.readouterr()
    assert cli.answer(["show", "run", "--battery", "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    # Idle watts all the time, and the busy ones for as long as other programs let the probe have its processor.
    call_h = row["hours"] / row["calls"]
    least_uJ, most_uJ = (power_W * call_h * 3.6e9 for power_W in (IDLE_W, IDLE_W + BUSY_W))
    assert 1.5 * least_uJ < row["energy_high_uJ"], row
    assert row["energy_low_uJ"] < 1.1 * most_uJ, row
    assert row["calls"] <= 120_000
    page = Path("run", "report.html").read_text()
    assert "What a call takes out of the battery" in page
    assert str(tree) not in page + json.dumps(RunFolder.open(Path("run")).plan())


def _records() -> bytes:
    path = Path("run/records.jsonl")
    return path.read_bytes() if path.exists() else b""


def test_a_battery_on_the_mains_is_refused_and_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fall.toml").write_text(STUDY)
    battery = tmp_path / "sys/class/power_supply/BAT0"
    battery.mkdir(parents=True)
    for name, text in {"type": "Battery", "status": "Charging", "energy_now": "30000000", "capacity": "60"}.items():
        (battery / name).write_text(text)
    words = ["run", "fall.toml", "--battery", "any", "--repeats", "9", "--sys-root", "sys", "--out", "run"]
    assert cli.answer(words) == 8
    said = capsys.readouterr().err
    assert "not discharging" in said
    assert "Traceback" not in said
    assert not Path("run").exists(), "refused before anything is measured"
    (battery / "status").write_text("Discharging")
    assert cli.answer(words) == 0, capsys.readouterr().err
    capsys.readouterr()
    assert cli.answer(["show", "run", "--battery", "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["calls"], row["energy_uJ"], row["state"]) == (9, None, "inconclusive"), "nine calls move no gauge"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--battery", "BAT0"], "no end"),
        (["--repeats", "5"], "those of a battery"),
        (["--battery", "BAT9", "--repeats", "5", "--sys-root", "sys"], "there is no battery"),
    ],
)
def test_a_battery_run_without_an_end_or_a_battery_is_refused(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fall.toml").write_text(STUDY)
    assert cli.answer(["run", "fall.toml", "--out", "run", *words]) != 0
    assert said in capsys.readouterr().err
