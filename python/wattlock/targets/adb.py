"""A phone or tablet by Android's own `adb`."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

from wattlock.errors import WayError
from wattlock.targets.programs import go_on, last_line

TROUBLES = (
    ("unauthorized", "it does not trust this computer", "unlock it and allow USB debugging"),
    ("offline", "it is offline", "reconnect it; `adb reconnect` tries again"),
    ("not found", "there is no such device", "`adb devices` lists those there are"),
    ("no devices", "there is no device", "connect one and allow USB debugging; `adb devices` lists them"),
    ("cannot connect to daemon", "adb's own server does not start", "`adb start-server` says why"),
    ("closed", "the connection was lost", go_on("{name}")),
)
"""What adb complains of, what that means, and what to do."""


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
        program = shutil.which("adb")
        if program is None:
            raise WayError(f"{self.name}: there is no adb here", hint="Debian has it as adb")
        return [program, "-s", self.serial, "shell", "-T", words]

    def trouble(self, code: int, complaints: bytes) -> WayError | None:
        """What adb itself says: its lines begin with its name or with `error:`, and its exit code is 1 or 255."""
        if code not in {1, 255}:
            return None
        said = last_line(complaints)
        if not said.startswith(("adb: ", "error: device", "error: no devices", "error: closed")):
            return None
        for complaint, what, hint in TROUBLES:
            if complaint in said:
                return WayError(f"{self.name}: {what}", hint=hint.format(name=self.name))
        return WayError(f"{self.name}: {said}", hint="`adb devices` lists what is connected")
