"""A phone over USB: `wattlock page --adb` has adb pass its port on, and takes that back; adb is a script here."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from wattlock import cli
from wattlock.errors import UsageError, WayError
from wattlock.page.visits import MAGIC, VARIABLE

ADB = """#!/bin/sh
# Keeps to adb's words and complaints; writes down what it was asked for.
echo "$*" >> {log}
case "$ANDROID_SERIAL" in
    "") echo "adb: error: more than one device/emulator" >&2; exit 1 ;;
    LOCKED) echo "adb: error: device unauthorized." >&2; exit 1 ;;
    NONE) echo "adb: no devices/emulators found" >&2; exit 1 ;;
    OLD) echo "error: closed" >&2; exit 1 ;;
esac
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "adb"
    program.write_text(ADB.format(log=tmp_path / "log"))
    program.chmod(0o755)
    (tmp_path / "module.wasm").write_bytes(MAGIC)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("ANDROID_SERIAL", "R58M")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "module.wasm"))
    return tmp_path / "log"


def test_the_port_is_passed_on_while_the_page_is_served(log: Path) -> None:
    command = [sys.executable, "-m", "wattlock", "page", "--adb", "--bind", "127.0.0.1:0"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as page:
        assert page.stdout is not None
        address = re.match(r"http://127\.0\.0\.1:(\d+)/#", page.stdout.readline())
        assert address is not None
        passed_on = f"reverse tcp:{address[1]} tcp:{address[1]}\n"
        assert log.read_text() == passed_on
        page.send_signal(signal.SIGINT)
        page.communicate(timeout=60)
    assert log.read_text() == f"{passed_on}reverse --remove tcp:{address[1]}\n"


@pytest.mark.parametrize(
    ("serial", "says"),
    [
        ("", ("there are several devices", "ANDROID_SERIAL=SERIAL names one")),
        ("LOCKED", ("it does not trust this computer", "allow USB debugging")),
        ("NONE", ("there is no device", "connect one")),
        ("OLD", ("error: closed", "`adb devices` lists")),
    ],
)
def test_what_adb_complains_of_ends_the_page_with_what_to_do(
    log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], serial: str, says: tuple[str, str]
) -> None:
    monkeypatch.setenv("ANDROID_SERIAL", serial)
    assert cli.answer(["page", "--adb", "--bind", "127.0.0.1:0"]) == WayError.exit_code
    error = capsys.readouterr().err
    assert f"error: adb reverse: {says[0]}" in error
    assert says[1] in error
    assert len(log.read_text().splitlines()) == 1


def test_without_adb_or_on_another_address_the_page_is_not_served(
    log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(["page", "--adb", "--bind", "127.0.0.2:0"]) == UsageError.exit_code
    assert "the phone reaches 127.0.0.1 here, not 127.0.0.2" in capsys.readouterr().err
    assert not log.exists()
    monkeypatch.setenv("PATH", str(log.parent))
    assert cli.answer(["page", "--adb", "--bind", "127.0.0.1:0"]) == WayError.exit_code
    assert "there is no adb here" in capsys.readouterr().err
