"""What a device says of itself before anything is measured on it: the answer of the probe's verb `facts`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from wattlock.definitions.constants import contract
from wattlock.errors import EvidenceError, ProbeError
from wattlock.store.faults import fault_by
from wattlock.targets.hearing import Limits
from wattlock.targets.programs import read

LIMITS = Limits(start_s=60.0, silence_s=60.0, most_s=60.0, most_B=2**20)
"""Facts take some milliseconds and have some kB."""

OUT_OF_STEP_S = 60
"""A clock that differs by more is told: records of two clocks are hard to put in order."""


class CoreClass(NamedTuple):
    """Cores of one kind: `big`, `middle`, `little`, null where all are alike; `part`: implementer and part on ARM."""

    name: str | None
    part: str | None
    processors: tuple[int, ...]


class CountedCore(NamedTuple):
    """The core on which cycles are counted, emulated or on a `board`.

    * `part`, `part_clock_Hz`: whose flash is modelled, at which clock; on a board what it has, null where not
      known, and the clock that its file names.
    """

    core: str
    part: str | None = None
    part_clock_Hz: int | None = None
    board: str | None = None

    @property
    def place(self) -> str:
        """Where it is, in words."""
        if self.board is not None:
            return f"the board {self.board}"
        part = f" in {self.part} at {self.part_clock_Hz} Hz" if self.part else ""
        return f"an emulated {self.core}{part}"


class Facts(NamedTuple):
    """What is true of a device, by the device itself and never by the host.

    * `probe_sha256`: of its probe: a run is measured by one build.
    * `isa`: the architecture of its processor, as cards name it.
    * `processors`: those that may be used, the last first: the first ones have the most interrupts.
    * `core_classes`: the fastest first; one where all cores are alike.
    * `emulator`: by what an emulator was noticed, null where none was.
    * `told`: all that the device said.
    * `clock_ahead_s`: by how much its clock is ahead of the host's, below 0 where it is behind.
    * `counted`: the core on which no time is measured and cycles are counted; null where time is measured.
    * `at_a_time`: how many processes count there at a time.
    * `batch_ns`: how long batches have to be where the device's clock is coarse; null for the usual length.
    * `self_check_B`: the payload of the self-checks, of which a batch holds 60 calls at least.
    """

    probe_sha256: str
    isa: str
    processors: tuple[int, ...]
    core_classes: tuple[CoreClass, ...] = ()
    emulator: str | None = None
    told: Mapping[str, Any] = {}
    clock_ahead_s: float = 0.0
    counted: CountedCore | None = None
    at_a_time: int = 1
    batch_ns: int | None = None
    self_check_B: int = 1024

    def out_of_step(self) -> str | None:
        """What is wrong with the device's clock; null where it goes with the host's."""
        if abs(self.clock_ahead_s) <= OUT_OF_STEP_S:
            return None
        apart = "ahead of" if self.clock_ahead_s > 0 else "behind"
        return f"its clock is {abs(self.clock_ahead_s):.0f} s {apart} this machine's: set it"

    def alike(self, class_name: str | None = None) -> tuple[int, ...]:
        """The processors of one class of cores, the last first; of the fastest where none is named.

        Raises KeyError where the device has no such class.
        """
        if len(self.core_classes) < 2 and class_name is None:
            return self.processors
        classes = {one.name: one for one in self.core_classes}
        chosen = self.core_classes[0] if class_name is None else classes[class_name]
        return tuple(cpu for cpu in self.processors if cpu in chosen.processors)


def refuse_emulated(noticed: str) -> NoReturn:
    """Raises EvidenceError: an emulated processor has no joules; `noticed`: by what the emulator was noticed."""
    raise EvidenceError(f"the processor is emulated: {noticed}", hint="joules are of a device: run on one, by --on")


def ask(start: Callable[..., tuple[int, bytes]], who: str) -> Facts:
    """The facts of a device; `start`: of its target, `who`: its name in errors.

    Raises ProbeError where it answers something else.
    """
    written: list[bytes] = []
    code, complaints = start(["facts"], b"", LIMITS, written.append, who=f"{who} facts")
    told: Any = read(written, json.loads, code, complaints, f"{who} facts")
    wrong = fault_by(told, contract()["facts"]) if isinstance(told, dict) else "it is no object"
    if code or wrong is not None:
        raise ProbeError(f"{who} facts: {wrong or f'exit code {code}'}", hint="`make setup` builds the probe anew")
    sha256, usable = told["build"].get("executable_sha256"), told["processors"]
    if sha256 is None:
        raise ProbeError(f"{who} facts: it can't read its own program", hint="it needs /proc, or another folder")
    ahead_s = told["clocks"]["unix_ns"] / 1e9 - time.time()
    build = told["build"]
    return Facts(sha256, build["isa"], _last_first(usable), _classes(told), told.get("emulator"), told, ahead_s)


def _last_first(processors: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(processors, reverse=True))


def _classes(told: Mapping[str, Any]) -> tuple[CoreClass, ...]:
    return tuple(CoreClass(one.get("class"), one.get("part"), tuple(one["processors"])) for one in told["core_classes"])
