"""A device behind a way: its probe is pushed once, is the one that was pushed, and ends with its connection."""

import os
import platform
import shlex
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from wattlock.errors import InputError, ProbeError, WayError
from wattlock.targets import local, probe
from wattlock.targets.remote import Remote


@dataclass(frozen=True)
class Shell:
    """A way that leads back to this machine: a shell with a home and programs of its own before those of the system."""

    home: Path
    before: str = ""

    name = "shell:here"

    def command(self, words: str) -> list[str]:
        programs = f"{self.home}/bin:{os.environ['PATH']}"
        # The outer shell stays, and gives an exit code for a signal as a server does.
        shell = ["sh", "-c", 'sh -c "$0"; exit $?', self.before + words]
        return ["env", f"HOME={self.home}", f"PATH={programs}", *shell]

    def trouble(self, code: int, complaints: bytes) -> WayError | None:
        del code, complaints
        return None

    def replacing(self, name: str, text: str) -> "Shell":
        """The way on which a program of the system is another one."""
        (self.home / "bin").mkdir(exist_ok=True)
        place = self.home / "bin" / name
        place.write_text(f"#!/bin/sh\n{text}\n")
        place.chmod(0o755)
        return self


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_a_probe_is_pushed_once_is_private_and_says_what_this_machines_says(shell: Shell) -> None:
    facts = Remote(shell).facts()
    assert facts.probe_sha256 == local.find().facts().probe_sha256
    place = shell.home / ".cache" / "wattlock" / facts.probe_sha256 / local.NAME
    pushed = place.stat()
    assert (pushed.st_mode & 0o777, place.parent.stat().st_mode & 0o777) == (0o700, 0o700)
    assert Remote(shell).facts().probe_sha256 == facts.probe_sha256
    assert place.stat().st_mtime_ns == pushed.st_mtime_ns
    assert sorted(path.name for path in place.parent.iterdir()) == [local.NAME]


def test_what_is_asked_there_is_answered_as_here(shell: Shell) -> None:
    rows = [probe.first_rows(target, ["aes128-cbc"]) for target in (Remote(shell), local.find())]
    assert rows[0] == rows[1]


def test_a_file_is_pushed_by_its_content_and_comes_back(shell: Shell, tmp_path: Path) -> None:
    target, file = Remote(shell), tmp_path / "it's here"
    file.write_bytes(bytes(range(256)) * 1000)
    place = target.push(file)
    assert target.fetch(place) == file.read_bytes()
    assert target.push(file) == place != str(file)
    with pytest.raises(ProbeError, match=r"no/such/file: .*No such file"):
        target.fetch("/no/such/file")


def banner(shell: Shell) -> Shell:
    return Shell(shell.home, "echo 'Welcome to the board'; ")


def elsewhere(shell: Shell) -> Shell:
    return shell.replacing("uname", 'test "$1" = -m && echo sparc64 || echo Linux')


def another_system(shell: Shell) -> Shell:
    return shell.replacing("uname", 'test "$1" = -m && echo x86_64 || echo Darwin')


def nothing_starts(shell: Shell) -> Shell:
    return shell.replacing("chmod", "exit 0")


def full(shell: Shell) -> Shell:
    cat = "test -t 1 || { echo 'cat: write error: No space left on device' >&2; exit 1; }"
    return shell.replacing("cat", cat)


def half(shell: Shell) -> Shell:
    return shell.replacing("cat", "head -c 1000")


@pytest.mark.parametrize(
    ("lie", "kind", "named"),
    [
        (banner, WayError, "its login writes 'Welcome to the board'"),
        (elsewhere, InputError, "no probe for sparc64"),
        (another_system, WayError, "its system is Darwin"),
        (nothing_starts, WayError, "no folder for the probe: .*wattlock starts no programs"),
        (full, WayError, "can't be put into .*No space left on device"),
        (half, ProbeError, "can't be started there|exit code|^facts: "),
    ],
)
def test_a_device_that_is_not_fit_is_refused_by_what_it_lacks(
    shell: Shell, lie: Callable[[Shell], Shell], kind: type[Exception], named: str
) -> None:
    with pytest.raises(kind, match=named) as caught:
        Remote(lie(shell)).facts()
    assert caught.value.hint  # type: ignore[attr-defined]


def test_a_home_that_cant_be_written_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / ".cache").write_text("no folder")
    target = Remote(Shell(tmp_path))
    assert not target._survey.folder.startswith(str(tmp_path))
    assert target.facts().isa == platform.machine()


def test_a_probe_that_is_not_the_one_pushed_is_refused(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    other = shell.home / "other-probe"
    line = '{"schema":2,"build":{"version":"0","isa":"x","executable_sha256":"00ff"},"kernel":{"os":"linux"},'
    line += (
        '"processors":[0],"core_classes":[],"clocks":{"counter":"","ticks_per_second":1,"unix_ns":0},"meter_roots":[]}'
    )
    other.write_text(f"#!/bin/sh\necho {shlex.quote(line)}\n")
    other.chmod(0o755)
    monkeypatch.setenv(local.VARIABLE, str(other))
    with pytest.raises(ProbeError, match="says that it is 00ff"):
        Remote(shell).facts()


def running(wanted: str) -> list[int]:
    """Processes that have a word in their command."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if wanted.encode() in (process / "cmdline").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return found


def gone(wanted: str, within_s: float) -> bool:
    due = time.monotonic() + within_s
    while running(wanted) and time.monotonic() < due:
        time.sleep(0.05)
    return not running(wanted)


def until(wanted: str, count: int) -> list[int]:
    due = time.monotonic() + 20
    while len(found := running(wanted)) < count and time.monotonic() < due:
        time.sleep(0.05)
    return found


def hang_up(supervisor: subprocess.Popen[bytes]) -> None:
    assert supervisor.stdin is not None
    supervisor.stdin.close()


def fall_silent(_: subprocess.Popen[bytes]) -> None:
    """No more beats: the network is cut, and nobody closes anything."""


def kill(supervisor: subprocess.Popen[bytes]) -> None:
    supervisor.kill()


@pytest.mark.parametrize("end", [hang_up, fall_silent, kill])
def test_no_probe_outlives_its_connection(end: Callable[[subprocess.Popen[bytes]], None]) -> None:
    seconds = str(3000 + os.getpid() % 599)
    command = [str(local.find().program), "supervise", "--silence-s", "2", "--", "doctor", "--seconds", seconds]
    supervisor = subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=0)
    assert supervisor.stdin is not None
    supervisor.stdin.write(b"0\n")
    assert len(until(f"--seconds\0{seconds}", 2)) >= 2
    end(supervisor)
    assert gone(f"--seconds\0{seconds}", 5)
    supervisor.kill()
    supervisor.wait()
    supervisor.stdin.close()
