"""Verbs carried out by ssh on this machine: the self-test, and a battery that is discharged there and logged here."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.ssh_server import SSHD, served
from support.tools import needs
from support.tree import TREE
from wattlock import cli
from wattlock.store import RunFolder

pytestmark = needs(SSHD and shutil.which("ssh"), "needs OpenSSH's server and client")

FALL = """
id = "fall"
title = "A battery, discharged far away"
question = "Is its log kept here?"
looks = [5]
target_percent = 50

[[grid]]
cipher = ["des-cbc"]
operation = ["encrypt"]
payload_B = [4096]
"""
CALLS = 120_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("sshd")) as ssh:
        yield ssh


@pytest.fixture
def board(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WATTLOCK_SSH", server)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def sys_root(board: Path) -> Iterator[Path]:
    """A `/sys` of the device with a battery that the probes below this process discharge."""
    words = ["--idle-W", "3", "--busy-W", "60", "--battery-Wh", "0.8", "--below", str(os.getpid())]
    example, tree = TREE / "examples" / "meters" / "made_up_sys.py", board / "device-sys"
    with subprocess.Popen([sys.executable, example, *words, tree, "--", "sleep", "600"]) as follower:
        deadline = time.monotonic() + 20
        while not (tree / "class/power_supply/BAT0/status").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        yield tree
        follower.send_signal(signal.SIGTERM)


@pytest.mark.usefixtures("board")
def test_the_self_test_of_a_device_says_what_this_machines_says(capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "selftest",
        "--cipher",
        "aes128-cbc",
        "--cipher",
        "des-cbc",
        "--provider",
        "rustcrypto",
        "--format",
        "json",
    ]
    answers = []
    for on in ([], ["--on", "ssh:board"]):
        assert cli.answer([*words, *on]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0] == answers[1]
    assert [(row["cipher"], row["result"]) for row in answers[0]] == [("aes128-cbc", "right"), ("des-cbc", "right")]
    assert cli.answer(["selftest", "--on", "ssh:board", "--cipher", "aes128cbc"]) == 4
    assert 'did you mean "aes128-cbc"? `wattlock ciphers` lists all' in capsys.readouterr().err


def test_a_battery_is_discharged_there_and_its_log_here_survives_the_end_of_the_connection(
    board: Path, sys_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (board / "fall.toml").write_text(FALL)
    far = ["--on", "ssh:board", "--sys-root", str(sys_root)]
    words = ["run", "fall.toml", "--battery", "BAT0", "--log-every-s", "1", "--repeats", str(CALLS), "--out", "run"]
    with subprocess.Popen(
        [sys.executable, "-m", "wattlock", *words, *far], stderr=subprocess.PIPE, text=True
    ) as cut_off:
        deadline = time.monotonic() + 120
        while len(levels()) < 2 and time.monotonic() < deadline and cut_off.poll() is None:
            time.sleep(0.1)
        for pid in clients_that_measure():
            os.kill(pid, signal.SIGKILL)
        _, said = cut_off.communicate(timeout=60)
    assert cut_off.returncode == 13, said
    assert "`wattlock run --resume last --on ssh:board` goes on" in said
    kept = levels()
    assert len(kept) >= 2
    done = kept[-1]["repeats_done"]
    assert 0 < done < CALLS
    assert cli.answer(["run", "--resume", "run", *far]) == 0, capsys.readouterr().err
    capsys.readouterr()
    assert levels()[: len(kept)] == kept, "what was logged stays"
    calls = [line["repeats_done"] for line in levels() if not line["error"]]
    assert calls == sorted(calls)
    assert calls[-1] == CALLS
    assert cli.answer(["show", "run", "--battery", "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert done <= row["calls"] <= CALLS
    assert str(sys_root) not in json.dumps(RunFolder.open(Path("run")).plan())


def levels() -> list[dict[str, Any]]:
    """The log of the battery as far as it is kept here."""
    if not Path("run", "plan.jsonl").exists():
        return []
    return list(RunFolder.open(Path("run")).records("battery_level"))


def clients_that_measure() -> list[int]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ")
        except OSError:
            continue
        if b"ssh_config" in words and b" measure" in words:
            found.append(int(process.name))
    return found
