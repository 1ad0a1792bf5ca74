"""The policy of energy, the second part of a run with a meter: fresh processes measure blocks, a few cases each.

How many there will be is settled before the first one: energies are looked at once, at the end, so that their intervals
need no allowance for looks.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import Any

from wattlock.analysis import energy_blocks
from wattlock.errors import EvidenceError, ProbeError
from wattlock.run.process import Bench, Order, carry_out, cuts, inquire, records_in
from wattlock.store.record_schema import record_of
from wattlock.study import Case
from wattlock.study.cases import core_classes_of
from wattlock.targets import Target

PROCESSES = 8
"""Processes that weigh a case; two blocks in each, sixteen in all."""

CASES = 20
"""Cases of one process: a superblock of them lasts two seconds, in which a drift is about steady."""

LEAST_BLOCK_NS = 41_000_000
BLOCK_PERCENT = 1.0
"""What edges and quantum of one block may leave unsure of `LEAST_POWER_W`, percent."""

LEAST_POWER_W = 5.0
"""About what a laptop draws while it idles. Of less a battery's steps leave more than `BLOCK_PERCENT`; other meters
step so finely that their edges alone count."""


@dataclass(frozen=True)
class MeterChoice:
    """What a run is measured with.

    * `meter`: a name of `wattlock-probe meters`; `baseline`: idle, spin or memcpy; `sys_root`, `stream`: where the
      meter's files or bytes are, null for the machine's own; `cpu`: the processor that the meter is asked for.
    """

    meter: str
    baseline: str = "idle"
    sys_root: Path | None = None
    stream: Path | None = None
    cpu: int | None = None

    def processor(self, target: Target, among: Sequence[int]) -> int | None:
        """The first of the target's processors that the meter counts as it counts `cpu`: of one package and die."""

        def place(cpu: int) -> list[bytes | None]:
            folder = f"{self.sys_root or '/sys'}/devices/system/cpu/cpu{cpu}/topology"
            return [_content(target, f"{folder}/{name}") for name in ("physical_package_id", "die_id")]

        if self.cpu is None:
            return among[0] if among else None
        return next((candidate for candidate in among if place(candidate) == place(self.cpu)), self.cpu)

    def plan(self, block_ns: int, superblocks: int) -> dict[str, Any]:
        """The plan's `energy`."""
        places = {"sys_root": self.sys_root, "stream": self.stream}
        return {
            "meter": self.meter,
            "baseline": self.baseline,
            "block_ns": block_ns,
            "superblocks": superblocks,
            **{name: str(path) for name, path in places.items() if path is not None},
        }


def _content(target: Target, place: str) -> bytes | None:
    try:
        return target.fetch(place)
    except ProbeError:
        return None


def describe(target: Target, choice: MeterChoice) -> dict[str, Any]:
    """What the meter is, by a process that opens it, waits until its counter moves, and measures nothing.

    Raises ProbeError where it can't be read, stands still, or counts another package than that of the choice's
    processor, with what would mend that.
    """
    written = inquire(target, Order(0, 0, [], choice.cpu, policy={"energy": choice.plan(LEAST_BLOCK_NS, 0)}))
    meter: dict[str, Any] = record_of(written.split(b"\n", 1)[0])["meter"]
    return meter


def block_length_ns(meter: Mapping[str, Any]) -> int:
    """How long a block of this meter is: `meter` as `describe` gives it."""
    period_ns, quantum_nJ = meter["update_period_ns"], meter["quantum_nJ"]
    return energy_blocks.block_length_ns(period_ns, quantum_nJ, LEAST_POWER_W, LEAST_BLOCK_NS, BLOCK_PERCENT)


def least_s(meter: Mapping[str, Any], cases: int) -> float:
    """The time that measuring so many cases takes at least: blocks alone, without the searches for their edges."""
    return PROCESSES * (2 * cases + 3 * math.ceil(cases / CASES)) * block_length_ns(meter) / 1e9


@dataclass
class EnergyBlocks:
    """One session of it. What earlier sessions measured is in the run's folder and is not measured again.

    * `cpus`: the processor to measure on, by kind of core; `report`: receives the processes done and all of them.
    """

    bench: Bench
    cases: Sequence[Case]
    seed: int
    choice: MeterChoice
    meter: Mapping[str, Any]
    cpus: Mapping[str | None, int | None]
    report: Callable[[int, int], None] = lambda _done, _all: None

    def measure(self) -> None:
        """Measures what is missing of `PROCESSES` processes for each case.

        Raises EvidenceError where the meter fails for good; what was measured is kept.
        """
        process = self.bench.folder.recover().next_process
        due = list(self._due())
        for done, planned in enumerate(due):
            self.report(done, len(due))
            group = planned
            while group := self._sound(group):
                process += 1
                if self._measure_blocks(group, process - 1):
                    break
        self.report(len(due), len(due))

    def _sound(self, group: Sequence[Case]) -> list[Case]:
        """The cases that have not failed meanwhile."""
        failed = {failure["case"] for failure in self.bench.folder.failures()}
        return [case for case in group if case.case not in failed]

    def _due(self) -> Iterator[list[Case]]:
        complete = self.bench.folder.complete()
        metered = [
            header for header in self.bench.folder.headers() if header.get("meter") and header["process"] in complete
        ]
        counts = Counter(case["case"] for header in metered for case in header["cases"])
        failed = {failure["case"] for failure in self.bench.folder.failures()}
        for turn in range(PROCESSES):
            cases = [case for case in self.cases if counts[case.case] <= turn and case.case not in failed]
            order = random.Random(f"{self.seed} weigh {turn}").sample(cases, len(cases))  # noqa: S311 - an order
            for core_class, library in product(core_classes_of(self.cases), (None, *self.bench.libraries)):
                kind = [case for case in order if case.core_class == core_class and self._library(case) == library]
                yield from (kind[first : first + CASES] for first in range(0, len(kind), CASES))

    def _library(self, case: Case) -> str | None:
        return case.provider if case.provider in self.bench.libraries else None

    def _measure_blocks(self, group: Sequence[Case], process: int) -> bool:
        """Gives whether the process came to its end: a user's library may have ended it before."""
        order = Order(
            process,
            random.Random(f"{self.seed} weigh process {process}").getrandbits(63),  # noqa: S311 - order and buffers
            group,
            self.cpus.get(group[0].core_class),
            cuts=cuts(self.bench.folder.headers()),
            policy={"energy": self.choice.plan(block_length_ns(self.meter), 1)},
        )
        given_up: list[str] = []

        def heed(data: bytes) -> None:
            records = records_in(data, b'"follows":"end_run"')
            given_up.extend(record["error"] for record in records if record["kind"] == "energy_block")

        ended = carry_out(self.bench, order, heed=heed)
        if given_up:
            hint = f"what was measured is kept; mend it, then `{self.bench.folder.resuming}` goes on"
            raise EvidenceError(f"meter {self.choice.meter}: {given_up[0]}", hint=hint)
        return ended.broken_by() is None


class Baseline(StrEnum):
    """Resting, a loop of additions, or copies of memory."""

    idle = "idle"
    spin = "spin"
    memcpy = "memcpy"
