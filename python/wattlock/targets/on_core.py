"""A microcontroller's core as a target: this machine's probe carries out there what is planned, by its verb `board`."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path

from wattlock.errors import InputError, ProbeError, WayError
from wattlock.store.schema import SCHEMA
from wattlock.targets.facts import CoreClass, CountedCore, Facts
from wattlock.targets.hearing import Limits, hear
from wattlock.targets.programs import complaint_in, hint_in, read

TRIAL = Limits(start_s=120.0, silence_s=120.0, most_s=120.0, most_B=2**20)
"""It reads the sources and compiles the emulator's plugin once."""

WRONG_USAGE, UNKNOWN, MISSING = 2, 3, 10
"""Exit codes of the probe's verb `board`: of an older probe that has none too; what nobody knows; what is missing."""

EMPTY_PLAN = {"kind": "plan", "schema": SCHEMA, "process": 0, "seed": 0, "cpu": None, "rounds": 0, "batch_ns": 1}


class OnCore(ABC):
    """A core of a microcontroller; `program`: this machine's probe; `counted`: the core, and what it is part of."""

    program: Path
    counted: CountedCore

    @property
    @abstractmethod
    def name(self) -> str:
        """As `--on` takes it."""

    @abstractmethod
    def _words(self, *, trial: bool) -> AbstractContextManager[list[str | Path]]:
        """The options of the verb `board`; of a `trial` nothing is carried out."""

    def facts(self) -> Facts:
        """What is true of the core.

        Raises WayError where the emulator, the board, a compiler or a target is missing, InputError where nobody knows
        the core, ProbeError where the probe can't count.
        """
        return self._facts

    @cached_property
    def _facts(self) -> Facts:
        written: list[bytes] = []
        who = f"{self.name} facts"
        text = json.dumps(EMPTY_PLAN).encode() + b"\n"
        with self._words(trial=True) as words:
            code, complaints = hear([self.program, "board", *words], text, TRIAL, written.append, who=who)
        if code:
            raise self._unfit(code, complaints)
        header = read(written, lambda lines: json.loads(lines.splitlines()[0]), code, complaints, who)
        print_of = header["fingerprint"]
        told = {
            "model_name": print_of["hardware"]["model_name"],
            "kernel": print_of["kernel"],
            "clocks": {"counter": None},
            "sources_sha256": print_of["build"].get("sources_sha256"),
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
        """Raises InputError: a core has no files."""
        raise InputError(f"{self.name}: a microcontroller has no file {place}", hint="read it on this machine")

    def start(
        self, words: Sequence[str], text: bytes, limits: Limits, take: Callable[[bytes], None], *, who: str
    ) -> tuple[int, bytes]:
        """Runs this machine's probe, as `Target.start` says: what is to be measured is carried out on the core.

        Raises InputError where it is asked for something that a core has not.
        """
        if words[0] == "catalogue":
            # Ciphers are known by the same names; what no image holds fails by its case.
            return hear([self.program, *words], text, limits, take, who=who)
        if words[0] != "measure":
            hint = "an image proves itself by its vectors before it is counted: `wattlock run mcu-quick --on ...`"
            raise InputError(f"{self.name}: a microcontroller carries out `wattlock run` alone", hint=hint)
        with self._words(trial=False) as board:
            return hear([self.program, "board", *board], text, limits, take, who=who)

    def _unfit(self, code: int, complaints: bytes) -> InputError | ProbeError | WayError:
        """The error of a probe that ended with a code, in its words."""
        why, hint = complaint_in(complaints).removeprefix("error: "), hint_in(complaints)
        if code == UNKNOWN:
            return InputError(f"{self.name}: {why}", hint=hint)
        if code == MISSING:
            return WayError(f"{self.name}: {why}", hint=hint)
        if code == WRONG_USAGE:
            why = f"this probe can't count: {why}"
        return ProbeError(f"{self.name}: {why}", hint="`make setup` builds it anew")
