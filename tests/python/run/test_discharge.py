"""Battery runs: one that is cut off and goes on, and those that are refused."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.tree import TREE
from wattlock import cli
from wattlock.store import RunFolder

IDLE_W, BUSY_W = 3.0, 60.0

STUDY = """
id = "fall"
title = "A battery, discharged"
question = "What does a call take out of the battery?"
target_percent = 20.0
smallest_effect_percent = 5.0
looks = [5]

[[grid]]
cipher = ["des-cbc"]
operation = ["encrypt"]
payload_B = [4096]
"""


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
    code, said = cli.answer(words), capsys.readouterr().err
    assert code == 0, said
    table = said.partition("what a call takes out of the battery:\n")[2].splitlines()
    assert table[0].startswith("cipher")
    assert "inconclusive" in table[1], "the summary has the table, and not only where it is"
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
