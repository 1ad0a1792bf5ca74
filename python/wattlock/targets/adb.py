"""A phone or tablet by Android's own `adb`."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wattlock.errors import WayError
from wattlock.targets.programs import complaint_in, go_on

TROUBLES = (
    ("unauthorized", "it does not trust this computer", "unlock it and allow USB debugging"),
    ("offline", "it is offline", "reconnect it; `adb reconnect` tries again"),
    ("not found", "there is no such device", "`adb devices` lists those there are"),
    ("no devices", "there is no device", "connect one and allow USB debugging; `adb devices` lists them"),
    ("more than one", "there are several devices", "ANDROID_SERIAL=SERIAL names one; `adb devices` lists them"),
    ("cannot connect to daemon", "adb's own server does not start", "`adb start-server` says why"),
)
"""What adb complains of, what that means, and what to do."""

LOST = ("closed", "the connection was lost", go_on("{name}"))
LONGEST_S = 30.0
"""adb starts its own server first, which takes some seconds."""


@dataclass(frozen=True)
class Adb:
    """One device; `serial`: as `adb devices` lists it."""

    serial: str

    @property
    def name(self) -> str:
        """`adb:SERIAL`."""
        return f"adb:{self.serial}"

    def command(self, words: str) -> list[str]:
        """Adb's shell without a terminal, so that input, output and exit code are the command's. Raises WayError."""
        return [_program(self.name), "-s", self.serial, "shell", "-T", words]

    def trouble(self, code: int, complaints: bytes) -> WayError | None:
        """What adb itself says: its lines begin with its name or with `error:`, and its exit code is 1 or 255."""
        if code not in {1, 255}:
            return None
        said = complaint_in(complaints)
        if not said.startswith(("adb: ", "error: device", "error: no devices", "error: closed")):
            return None
        return _trouble(self.name, said, (*TROUBLES, LOST))


@contextlib.contextmanager
def reversed_port(port: int) -> Iterator[None]:
    """While it lasts, the connected device reaches this machine's `127.0.0.1:port` under its own. Raises WayError."""
    name = "adb reverse"
    program, here = _program(name), f"tcp:{port}"
    try:
        done = subprocess.run([program, "reverse", here, here], capture_output=True, timeout=LONGEST_S, check=False)
    except subprocess.TimeoutExpired:
        raise WayError(
            f"{name}: no answer in {LONGEST_S:g} s", hint="`adb kill-server` ends adb's own server"
        ) from None
    if done.returncode:
        raise _trouble(name, complaint_in(done.stderr), TROUBLES)
    try:
        yield
    finally:
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run([program, "reverse", "--remove", here], capture_output=True, timeout=LONGEST_S, check=False)


def _program(name: str) -> str:
    program = shutil.which("adb")
    if program is None:
        raise WayError(f"{name}: there is no adb here", hint="Debian has it as adb")
    return program


def _trouble(name: str, said: str, known: Sequence[tuple[str, str, str]]) -> WayError:
    for complaint, what, hint in known:
        if complaint in said:
            return WayError(f"{name}: {what}", hint=hint.format(name=name))
    return WayError(f"{name}: {said}", hint="`adb devices` lists what is connected")
