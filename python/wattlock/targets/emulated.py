"""A microcontroller's core in QEMU: what is planned for it is counted there by this machine's probe, never timed.

`qemu:CORE` counts core cycles; `qemu:CORE/PART` and `qemu:CORE/PART@CLOCK` model the flash of a part beside them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import as_file
from pathlib import Path

from wattlock.errors import InputError, ProbeError, WayError
from wattlock.store.schema import SCHEMA
from wattlock.targets import local
from wattlock.targets.facts import CoreClass, CountedCore, Facts
from wattlock.targets.hearing import Limits, hear
from wattlock.targets.parts import PARTS
from wattlock.targets.programs import hint_in, last_line, read

TRIAL = Limits(start_s=120.0, silence_s=120.0, most_s=120.0, most_B=2**20)
"""It reads the sources and compiles the emulator's plugin once."""

WRONG_USAGE, UNKNOWN, MISSING = 2, 3, 10
"""Exit codes of the probe's verb `board`: of an older probe that has none too; an unknown core or part; a tool."""

CLOCK = re.compile(r"(\d+(?:\.\d+)?)\s*([kM]?)Hz")
HZ = {"": 1, "k": 10**3, "M": 10**6}

EMPTY_PLAN = {"kind": "plan", "schema": SCHEMA, "process": 0, "seed": 0, "cpu": None, "rounds": 0, "batch_ns": 1}


@dataclass(frozen=True)
class Emulated:
    """One core; `program`: this machine's probe; `counted`: the core, and the part where one is named."""

    program: Path
    counted: CountedCore

    way = "qemu"

    @property
    def name(self) -> str:
        """As `--on` takes it."""
        core, part, clock_Hz = self.counted
        return f"qemu:{core}" + (f"/{part}@{clock_Hz}Hz" if part else "")

    def facts(self) -> Facts:
        """What is true of the emulated core.

        Raises WayError where the emulator, its plugin, a compiler or a target is missing, InputError where nobody knows
        the core, ProbeError where the probe can't count.
        """
        return self._facts

    @cached_property
    def _facts(self) -> Facts:
        written: list[bytes] = []
        who = f"{self.name} facts"
        text = json.dumps(EMPTY_PLAN).encode() + b"\n"
        code, complaints = self.start(["measure"], text, TRIAL, written.append, who=who)
        if code:
            raise _unfit(self.name, code, complaints)
        header = read(written, lambda lines: json.loads(lines.splitlines()[0]), code, complaints, who)
        print_of = header["fingerprint"]
        told = {
            "model_name": print_of["hardware"]["model_name"],
            "kernel": print_of["kernel"],
            "clocks": {"counter": None},
        }
        return Facts(
            probe_sha256=print_of["build"]["executable_sha256"],
            isa=print_of["build"]["isa"],
            processors=(0,),
            core_classes=(CoreClass(None, None, (0,)),),
            emulator=print_of["virtualisation"]["emulator"],
            told=told,
            counted=self.counted,
        )

    def push(self, file: Path) -> str:
        """The file's own path: the probe reads it there."""
        return str(file)

    def fetch(self, place: str) -> bytes:
        """Raises InputError: an emulated core has no files."""
        raise InputError(f"{self.name}: an emulated core has no file {place}", hint="read it on this machine")

    def start(
        self, words: Sequence[str], text: bytes, limits: Limits, take: Callable[[bytes], None], *, who: str
    ) -> tuple[int, bytes]:
        """Runs this machine's probe, as `Target.start` says: what is to be measured is counted on the emulated core.

        Raises InputError where it is asked for something that an emulated core has not.
        """
        if words[0] == "catalogue":
            # Ciphers are known by the same names; what no image holds fails by its case.
            return hear([self.program, *words], text, limits, take, who=who)
        if words[0] != "measure":
            hint = "an image proves itself by its vectors before it is counted: `wattlock run mcu-quick --on ...`"
            raise InputError(f"{self.name}: an emulated core carries out `wattlock run` alone", hint=hint)
        core, part, clock_Hz = self.counted
        board: list[str | Path] = [self.program, "board", "--qemu", core]
        if part is None:
            return hear(board, text, limits, take, who=who)
        with as_file(PARTS.find(part).source) as file:
            return hear([*board, "--part", file, "--clock", str(clock_Hz)], text, limits, take, who=who)


def find(where: str) -> Emulated:
    """The core of `CORE`, `CORE/PART` or `CORE/PART@CLOCK` with this machine's probe.

    Raises InputError for a part that there is not, that has another core or not this clock, ProbeError without a probe.
    """
    core, slash, place = where.partition("/")
    part, at, clock = place.partition("@")
    if not slash:
        return Emulated(local.find().program, CountedCore(core))
    name, found = PARTS.load(part)
    if found.core != core:
        hint = f"--on qemu:{found.core}/{name}"
        raise InputError(f"--on qemu:{where[:80]}: {found.title} has the core {found.core}", hint=hint)
    clock_Hz = found.greatest_Hz
    if at:
        described = CLOCK.fullmatch(clock)
        clock_Hz = round(float(described[1]) * HZ[described[2]]) if described else 0
        if not 0 < clock_Hz <= found.greatest_Hz:
            hint = f"a clock of it is {found.greatest_Hz / 1e6:g}MHz, its greatest, or less: {name}@16MHz"
            raise InputError(f'--on qemu:{where[:80]}: "{clock}" is no clock of {found.title}', hint=hint)
    return Emulated(local.find().program, CountedCore(core, name, clock_Hz))


def _unfit(name: str, code: int, complaints: bytes) -> InputError | ProbeError | WayError:
    what, hint = f"{name}: {last_line(complaints).removeprefix('error: ')}", hint_in(complaints)
    if code == UNKNOWN:
        return InputError(what, hint=hint)
    if code == MISSING:
        return WayError(what, hint=hint)
    if code == WRONG_USAGE:
        what = f"{name}: this probe can't count: {last_line(complaints).removeprefix('error: ')}"
    return ProbeError(what, hint="`make setup` builds it anew")
