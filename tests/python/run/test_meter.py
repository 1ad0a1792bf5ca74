"""`wattlock run --meter` on a made-up tree of known truth: idle watts always, busy watts for a probe's CPU time."""

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

from support.metered_study import STUDY
from support.tree import TREE
from wattlock import cli
from wattlock.run.metering import MeterChoice, describe
from wattlock.store import RunFolder
from wattlock.targets import local

IDLE_W, BUSY_W = 3.0, 8.0


@pytest.fixture
def sys_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A tree that is kept current while the test lasts, and an empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text(STUDY)
    words = ["--idle-W", str(IDLE_W), "--busy-W", str(BUSY_W), "--below", str(os.getpid())]
    example = TREE / "examples" / "meters" / "made_up_sys.py"
    with subprocess.Popen([sys.executable, example, *words, tmp_path / "sys", "--", "sleep", "600"]) as follower:
        zone = tmp_path / "sys" / "class" / "powercap" / "intel-rapl:0" / "energy_uj"
        deadline = time.monotonic() + 20
        while not zone.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        yield tmp_path / "sys"
        follower.send_signal(signal.SIGTERM)


def shown(run: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert cli.answer(["show", run, "--format", "json"]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return rows


def test_a_run_on_a_made_up_tree_finds_the_joules_that_it_was_made_of(
    sys_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", "tiny.toml", "--meter", "powercap:package-0", "--sys-root", str(sys_root), "--out", "run"]
    assert cli.answer(words) == 0, capsys.readouterr().err
    rows = shown("run", capsys)
    assert len(rows) == 2
    known = [row for row in rows if row["energy_uJ"] is not None]
    for row in known:
        truth_uJ = BUSY_W * row["time_ns"] / 1e3
        assert row["energy_low_uJ"] * 0.95 < truth_uJ < row["energy_high_uJ"] * 1.05, row
        assert (row["energy_evidence"], row["energy_baseline"]) == ("measured", "idle")
        assert row["energy_gross_uJ"] > row["energy_uJ"]
        assert "package" in row["energy_scope"]
    assert known or all(row["energy_reason"] for row in rows), "without joules there is a reason"
    folder = RunFolder.open(Path("run"))
    blocks = folder.records("energy_block")
    assert len(blocks) >= 8 * 7
    assert all(block["gross_nJ"] != 0 for block in blocks)
    page = Path("run", "report.html").read_text()
    assert "--meter powercap:package-0" in page, "how to repeat it"
    assert str(sys_root) not in page + json.dumps([folder.plan(), folder.headers()])


def test_a_meter_that_is_not_there_ends_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text(STUDY)
    words = ["run", "tiny.toml", "--meter", "powercap:package-0", "--sys-root", str(tmp_path / "none"), "--out", "run"]
    assert cli.answer(words) == 7
    said = capsys.readouterr().err
    assert "there is no powercap" in said
    assert "load the kernel's module intel_rapl_msr" in said, "the probe's own hint"
    assert "--resume" not in said, "nothing was measured that could go on"
    assert "Traceback" not in said
    assert not Path("run").exists()


@pytest.mark.parametrize(
    ("meter", "files", "said"),
    [
        (
            "powercap",
            {"class/powercap/intel-rapl:0/name": "package-0", "class/powercap/intel-rapl:0/energy_uj": "2040000"},
            "stood at 2.04 J for ",
        ),
        (
            "battery",
            {
                "class/power_supply/BAT0/type": "Battery",
                "class/power_supply/BAT0/status": "Discharging",
                "class/power_supply/BAT0/energy_now": "65535",
            },
            'BAT0/energy_now holds "65535"',
        ),
        ("hwmon", {"class/hwmon/hwmon0/name": "coretemp"}, "there is no sensor of power"),
    ],
)
def test_a_meter_that_tells_nothing_ends_before_anything_is_timed(  # noqa: PLR0917 - its cases
    meter: str,
    files: dict[str, str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text(STUDY)
    for name, text in files.items():
        (tmp_path / "sys" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "sys" / name).write_text(text + "\n")
    assert cli.answer(["run", "tiny.toml", "--meter", meter, "--sys-root", "sys", "--out", "run"]) == 7
    described = capsys.readouterr().err
    assert said in described
    assert "hint:" in described
    assert not Path("run").exists()


def test_a_meter_and_a_card_are_not_taken_together(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "quick", "--meter", "powercap:package-0", "--device", "x86-server-assumed", "--allow-assumed"]
    assert cli.answer(words) == 2
    assert "one of them" in capsys.readouterr().err


def test_the_meter_describes_itself_by_its_name_range_and_limits(sys_root: Path) -> None:
    meter = describe(local.find(), MeterChoice("powercap:package-0", sys_root=sys_root))
    assert meter["domain"] == "package-0"
    assert meter["range_nJ"] == 262_143_328_850_000
    # Twice the zone's 65 W: a wrap can't come sooner.
    assert meter["round_trip_ns"] == pytest.approx(meter["range_nJ"] / 130, rel=1e-9)
    assert meter["update_period_ns"] == 1_000_000
    assert meter["read_ns"] > 0
    assert meter["gain_source"]


def test_what_the_probe_advises_about_a_meter_reaches_the_user(
    sys_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(["meters", "--read", "powercap:package-7", "--sys-root", str(sys_root)]) == 7
    said = capsys.readouterr().err
    assert "there is no zone" in said
    assert "hint: `wattlock meters` lists those of this machine" in said
    assert "builds it anew" not in said


def test_a_tree_that_is_not_there_is_an_error_and_not_a_machine_without_meters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(["meters", "--sys-root", str(tmp_path / "none")]) != 0
    assert "there is no such folder" in capsys.readouterr().err
