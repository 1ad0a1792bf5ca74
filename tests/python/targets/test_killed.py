"""A wattlock that is killed leaves no program of its own behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from support.tree import NET, PROBE, require_programs

PATIENCE_s = 20.0

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a program ends when it writes next")


@pytest.fixture(autouse=True, scope="module")
def programs() -> None:
    require_programs()


def until(happens: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE_s
    while not happens():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(word) for word in found.read_text().split()] if found.exists() else []


def is_alive(pid: int, program: Path) -> bool:
    """Whether this program still runs under the number."""
    try:
        return Path(f"/proc/{pid}/exe").readlink() == program.resolve()
    except OSError:
        return False


def meters(place: Path) -> tuple[Path, list[str]]:
    os.mkfifo(place / "recording")
    return PROBE, ["meters", "--read", "replay", "--stream", "recording"]


def capture(place: Path) -> tuple[Path, list[str]]:
    os.mkfifo(place / "air.pcap")
    return NET, ["capture", "air.pcap"]


@pytest.mark.parametrize("verb", [meters, capture])
def test_a_program_that_waits_ends_with_the_wattlock_that_is_killed(
    tmp_path: Path, verb: Callable[[Path], tuple[Path, list[str]]]
) -> None:
    program, words = verb(tmp_path)
    environment = {**os.environ, "WATTLOCK_PROBE": str(PROBE), "WATTLOCK_NET": str(NET)}
    with subprocess.Popen([sys.executable, "-m", "wattlock", *words], cwd=tmp_path, env=environment) as parent:
        until(lambda: any(is_alive(pid, program) for pid in children(parent.pid)), "the program is started")
        started = children(parent.pid)
        time.sleep(1)  # it has begun, and waits for bytes that nobody writes
        assert parent.poll() is None
        parent.send_signal(signal.SIGKILL)
    until(lambda: not any(is_alive(pid, program) for pid in started), "the program has ended")
