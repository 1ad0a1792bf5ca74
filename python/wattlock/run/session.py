"""One session of a run: timing, then energy, then a discharge, as far as they are asked for, and a forecast.

On a microcontroller it is counting alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from wattlock.errors import StudyError
from wattlock.run import shards
from wattlock.run.counting import Counting
from wattlock.run.discharge import Discharge, DischargePlan
from wattlock.run.keep_trying import recalled
from wattlock.run.metering import EnergyBlocks, MeterChoice
from wattlock.run.paired import PairedPlan, PairedTiming
from wattlock.run.process import Bench, inquire
from wattlock.run.shards import Order
from wattlock.run.timing import HALVES, Progress, Timing
from wattlock.store import RunFolder
from wattlock.store.record_schema import record_of
from wattlock.study import Case, InputFile, Study
from wattlock.study.cases import core_classes_of
from wattlock.study.samples import SAMPLES, grow
from wattlock.targets import Target
from wattlock.targets.target import scratch


class Listener(Protocol):
    """Who is told how far a session is."""

    def measured(self, progress: Progress) -> None:
        """Of the timing."""

    def metered(self, done: int, processes: int) -> None:
        """Of the energy."""

    def noticed(self, lines: Sequence[str]) -> None:
        """Of what a person should know while it measures: how long the rest takes, what disturbs, what helps."""

    def discharged(self, cipher: str, calls: int, level: int | None, share: float | None) -> None:
        """Of a discharge."""


class Silent:
    """Tells nobody."""

    def measured(self, *_: Any, **__: Any) -> None:
        """Says nothing."""

    metered = noticed = discharged = measured


@dataclass(frozen=True)
class Session:
    """What a run is measured with.

    * `metered`: the meter's choice and what the meter says of itself. `discharge`: how a battery is discharged.
    """

    study: Study
    target: Target
    libraries: Mapping[str, Path]
    metered: tuple[MeterChoice, Mapping[str, Any]] | None = None
    discharge: DischargePlan | None = None

    def measure(self, folder: RunFolder, inputs: Sequence[InputFile], report: Listener) -> int:
        """Measures what the folder doesn't hold yet, and seals the run; gives how many processes it has.

        Raises EvidenceError where a meter or a battery fails for good, ProbeError where the probe does; what was
        measured is kept.
        """
        cases = folder.cases()
        if self.target.facts().counted is not None:
            return self._count(folder, cases, report)
        own = [case for case in cases if case.role == "study"]
        watch = [case for case in cases if case.role != "study"]
        with folder, files_of(self.study, own, inputs) as files:
            bench = Bench(folder, self.target, files, self.libraries)
            seed = folder.plan()[0]["seed"]
            # A move from one to another of a kind changes nothing else.
            processors = {one: list(processors_of(self.target, one)) for one in core_classes_of(own)}
            shared = (bench, self.study, own, watch, seed, report.measured, processors)
            decides = PairedPlan.kept_in(folder.plan()[0])
            timing = Timing(*shared) if decides is None else PairedTiming(*shared, decides=decides)
            timing.notice, timing.keep_trying = report.noticed, recalled(folder.plan()[0])
            timing.measure()
            # A meter sees no single call: joules are those of calls one after another.
            steady = [case for case in own if case.readiness == "steady"]
            sound = [case for case in steady if case.case not in timing.failed]
            if self.metered:
                choice, meter = self.metered
                near = {name: choice.processor(self.target, among) for name, among in processors.items()}
                EnergyBlocks(bench, sound, seed, choice, meter, near, report.metered).measure()
            if self.discharge:
                first = {name: next(iter(among), None) for name, among in processors.items()}
                Discharge(bench, sound, seed, self.discharge, first, report.discharged).measure()
        folder.seal()
        return timing.process

    def _count(self, folder: RunFolder, cases: Sequence[Case], report: Listener) -> int:
        with folder:
            counting = Counting(folder, self.target, cases, report.measured, libraries=self.libraries)
            counting.count()
        folder.seal()
        return counting.process


def processors_of(target: Target, core_class: str | None) -> tuple[int, ...]:
    """The processors of a kind of core, the last first; of the fastest where none is named.

    Raises StudyError where the device has no such class.
    """
    facts = target.facts()
    try:
        return facts.alike(core_class)
    except KeyError:
        classes = ", ".join(one.name for one in facts.core_classes if one.name) or "one kind of core only"
        raise StudyError(f"the device has no {core_class} cores", hint=f"it has {classes}") from None


@contextmanager
def files_of(study: Study, cases: Sequence[Case], inputs: Sequence[InputFile]) -> Iterator[Mapping[str, Path]]:
    """The files behind the labels of data cases: the user's, and sample files grown for as long as this lasts."""
    files = {one.label: one.path for one in inputs}
    with scratch() as place:
        for kind in SAMPLES:
            if any(case.data == kind for case in cases):
                files[kind] = place / kind
                files[kind].write_bytes(grow(kind, study.file_B))
        yield files


BATCH_S = shards.BATCH_NS / 1e9
EDGES_S = 30e-6
"""Canary and burst on both sides of a batch."""
WARM_S = 25e-6


@dataclass(frozen=True)
class Forecast:
    """Seconds until the first look, and until the last one if no case is sure before."""

    least_s: float
    most_s: float


def forecast(
    cases: Sequence[Case],
    files: Mapping[str, Path],
    target: Target,
    looks: Sequence[int],
    libraries: Mapping[str, Path] | None = None,
) -> Forecast:
    """Prepares each case once, which tells how often its input is cut, and adds up the batches."""
    start, visits = time.monotonic(), {case.case: shards.first_visits(case) for case in cases}
    a_process = 0.0
    for number, group in enumerate(shards.split(cases, seed=0, own=libraries or ())):
        order = Order(number, number, group, None, visits=visits)
        header = record_of(inquire(target, order, files, libraries).split(b"\n", 1)[0])
        for case in header["cases"]:
            segments, count = case["segments"], visits[case["case"]]
            a_process += count * (WARM_S + segments * (BATCH_S + EDGES_S))
            a_process += HALVES * (WARM_S + BATCH_S / 2 + EDGES_S) if segments == 1 else 0
    prepared = time.monotonic() - start
    return Forecast((a_process + prepared) * looks[0], (a_process + prepared) * looks[-1])
