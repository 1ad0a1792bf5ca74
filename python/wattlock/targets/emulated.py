"""A microcontroller's core in QEMU: what is planned for it is counted there by this machine's probe, never timed.

`qemu:CORE` counts core cycles; `qemu:CORE/PART` and `qemu:CORE/PART@CLOCK` model the flash of a part beside them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import as_file
from pathlib import Path

from wattlock.errors import InputError, ProbeError, WayError
from wattlock.targets import local
from wattlock.targets.facts import CountedCore, Facts
from wattlock.targets.on_core import MISSING, UNKNOWN, OnCore
from wattlock.targets.parts import PARTS, short_title
from wattlock.targets.programs import NotInstalled, complaint_in

OLDEST_QEMU = 6
"""The first with semihosting on RISC-V (QEMU 6.0, April 2021), by which an image says what it does."""

VERSION = re.compile(r"version (\d+)\.")
CLOCK = re.compile(r"(\d+(?:\.\d+)?)\s*([kM]?)Hz")
HZ = {"": 1, "k": 10**3, "M": 10**6}


@dataclass(frozen=True)
class Emulated(OnCore):
    """One core; `program`: this machine's probe; `counted`: the core, and the part where one is named."""

    program: Path
    counted: CountedCore

    way = "qemu"

    @property
    def name(self) -> str:
        """As `--on` takes it."""
        core, part, clock_Hz, _ = self.counted
        return f"qemu:{core}" + (f"/{part}@{clock_Hz}Hz" if part else "")

    def facts(self) -> Facts:
        """As of `OnCore.facts`. Raises NotInstalled where the emulator is older than what the images need, too."""
        found = super().facts()
        major = VERSION.search(found.emulator or "")
        if major is not None and int(major[1]) < OLDEST_QEMU:
            what = f"{self.name}: {found.emulator} is too old: images need QEMU {OLDEST_QEMU}.0 or newer"
            raise NotInstalled(
                what, hint="Debian 12 has 7.2, Ubuntu 22.04 has 6.2; qemu.org says how to build a newer one"
            )
        return found._replace(at_a_time=processors())

    def _unfit(self, code: int, complaints: bytes) -> InputError | ProbeError | WayError:
        core, part, _, _ = self.counted
        if code != UNKNOWN or part is None:
            error = super()._unfit(code, complaints)
            return NotInstalled(error.message, hint=error.hint) if code == MISSING else error
        what = f"{self.name}: no part cycles of {short_title(part)}: {complaint_in(complaints).rpartition(': ')[2]}"
        return InputError(what, hint=f"--on qemu:{core} counts core cycles, which need no part")

    @contextmanager
    def _words(self, *, trial: bool) -> Iterator[list[str | Path]]:
        del trial
        core, part, clock_Hz, _ = self.counted
        if part is None:
            yield ["--qemu", core]
            return
        with as_file(PARTS.find(part).source) as file:
            yield ["--qemu", core, "--part", file, "--clock", str(clock_Hz)]


def processors() -> int:
    """How many of this machine's processors this program may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def find(where: str) -> Emulated:
    """The core of `CORE`, `CORE/PART` or `CORE/PART@CLOCK` with this machine's probe.

    Raises InputError for a part that there is not, that has another core or not this clock, ProbeError without a probe.
    """
    core, slash, place = where.partition("/")
    part, at, clock = place.partition("@")
    if "@" in core or (slash and not part):
        names = ", ".join(PARTS.names())
        hint = f"a part has a clock, as in --on qemu:{core.partition('@')[0]}/PART@16MHz; the parts are {names}"
        raise InputError(f"--on qemu:{where[:80]}: names no part", hint=hint)
    if not slash:
        return Emulated(local.find().program, CountedCore(core))
    name, found = PARTS.load(part)
    if found.core != core:
        hint = f"--on qemu:{found.core}/{name}"
        raise InputError(f"--on qemu:{where[:80]}: {short_title(name)} has the core {found.core}", hint=hint)
    clock_Hz = found.greatest_Hz
    if at:
        described = CLOCK.fullmatch(clock)
        clock_Hz = round(float(described[1]) * HZ[described[2]]) if described else 0
        if not 0 < clock_Hz <= found.greatest_Hz:
            hint = f"a clock of it is {found.greatest_Hz / 1e6:g}MHz, its greatest, or less: {name}@16MHz"
            raise InputError(f'--on qemu:{where[:80]}: "{clock}" is no clock of {short_title(name)}', hint=hint)
    return Emulated(local.find().program, CountedCore(core, name, clock_Hz))
