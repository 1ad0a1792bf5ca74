"""The policy of timing: measure a shard, look when it is time to, stop a case at its target.

A fresh process is the unit of replication. All that is known here can be read back from the run's folder, so a run
that was cut off anywhere goes on where it was; the process under way is measured anew.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from wattlock.analysis import estimate, within
from wattlock.errors import StoreError
from wattlock.run import shards
from wattlock.run.process import Bench, carry_out
from wattlock.run.shards import Order
from wattlock.store.records import is_timed, record_of
from wattlock.study import Case, Study

DISTURBED_SHARE = 0.5
"""Where more than this share of a process's batches had a neighbour, the next one runs on another processor."""

MOST_ATTEMPTS = 2
"""A case whose processes are disturbed is given up after this many times the processes that its look needs.

Those from before the run found a quieter core do not count: what disturbed them is over.
"""

LEAST_LOSS_S = 30.0
"""So much may the processes cost that a user's library ends, where nothing is measured beside it."""

HALVES = 4
"""Half batches of a case in one process, for the expected number of lines."""


@dataclass(frozen=True)
class Progress:
    """How far a session is: processes done, and expected until the next look; cases settled, and in all."""

    processes: float
    expected: float
    settled: int
    cases: int


def _machine(header: Mapping[str, Any]) -> str:
    """What must not change within a run: the processor, its class of core, the system, the canary's cycles."""
    hardware = header.get("fingerprint", {}).get("hardware", {})
    kernel = header.get("fingerprint", {}).get("kernel", {})
    known = [hardware.get("model_name"), hardware.get("stepping"), kernel.get("release"), header["canary_cycles"]]
    if header.get("pinned_cpu") is not None and (core_class := hardware.get("core_class")):
        known.append(f"a {core_class} core")
    return ", ".join(str(part) for part in known)


@dataclass
class Timing:
    """One session of a run's timing.

    * `watch`: the self-checks; `report`: receives how far it is.
    * `processors`: by kind of core those to measure on, the first of them first.

    What is known of a core, its quiet level and its canary, is known of its kind alone.
    """

    bench: Bench
    study: Study
    cases: Sequence[Case]
    watch: Sequence[Case]
    seed: int
    report: Callable[[Progress], None] = lambda _: None
    processors: Mapping[str | None, list[int]] = field(default_factory=dict)
    process: int = 0
    quiet_ppm: dict[str | None, int] = field(default_factory=dict)
    headers: dict[int, dict[str, Any]] = field(default_factory=dict)
    summaries: dict[int, pl.DataFrame] = field(default_factory=dict)
    attempts: Counter[int] = field(default_factory=Counter)
    segments: dict[int, int] = field(default_factory=dict)
    failed: set[int] = field(default_factory=set)
    settled: set[int] = field(default_factory=set)
    visits: dict[int, int] = field(default_factory=dict)
    cuts: dict[int, int] = field(default_factory=dict)
    measured_s: float = 0.0
    lost_s: dict[str, float] = field(default_factory=dict)

    def measure(self) -> None:
        """Measures until every case is settled: at its target, at the last look, given up as disturbed, or failed."""
        start = time.monotonic()
        self._recall()
        try:
            while due := self._due():
                groups = shards.split(due, self._seed("split"), self.bench.libraries)
                for number, group in enumerate(groups):
                    self._measure_shard(group, remaining=len(groups) - number)
                self.look()
        finally:
            session = {
                "kind": "session",
                "wall_s": round(time.monotonic() - start, 3),
                "next_process": self.process,
            }
            self.bench.folder.append(json.dumps(session).encode() + b"\n")

    def pending(self) -> list[Case]:
        """The study's cases that are not settled."""
        return [case for case in self.cases if case.case not in self.settled | self.failed]

    def _due(self) -> list[Case]:
        """What is measured next: the cases of a library that ended a process wait until all others are settled."""
        pending = self.pending()
        return [case for case in pending if case.provider not in self.lost_s] or pending

    def look(self) -> None:
        """Settles the cases that are at their target and those that no further look can help; sets the visits."""
        counts = self._counts()
        across = {row["case"]: row for row in self._across().iter_rows(named=True)}
        for case in self.pending():
            number, count = case.case, counts[case.case]
            row = across.get(number)
            least, usual, most = shards.bounds_of_visits(self.segments.get(number, 1))
            self.visits[number] = usual
            if row is not None and count >= 3:
                wanted = estimate.next_visits(row["between"], row["spread"], most)
                self.visits[number] = max(least, wanted)
            # One that looks invalid is looked at again: of some hundred sound cases one may look so by chance.
            at_target = count in self.study.looks and row is not None and row["state"] == "resolved"
            given_up = self.attempts[number] >= MOST_ATTEMPTS * self._next_look(count)
            if at_target or count >= self.study.looks[-1] or given_up:
                self.settled.add(number)

    def _recall(self) -> None:
        """Reads back what earlier sessions measured."""
        recovery = self.bench.folder.recover()
        self.process = recovery.next_process
        self.visits = {case.case: shards.first_visits(case) for case in self.cases}
        for header in self.bench.folder.headers():
            if header["process"] in recovery.complete and is_timed(header):
                self._take_in(header)
        self.failed = {failure["case"] for failure in self.bench.folder.failures()}
        if self.headers:
            self.look()

    def _measure_shard(self, group: Sequence[Case], remaining: int) -> None:
        process, self.process = self.process, self.process + 1
        core_class = group[0].core_class
        order = Order(
            process,
            self._seed("process"),
            group,
            cpu=next(iter(self.processors.get(core_class, ())), None),
            watch=[case for case in self.watch if case.core_class == core_class],
            visits=self.visits,
            quiet_ppm=self.quiet_ppm.get(core_class),
            cuts=self.cuts,
            policy=self._batches_as_long,
        )
        lines, expected = 0, sum(self._batches(case) for case in group)

        def heed(data: bytes) -> None:
            nonlocal lines
            lines += data.count(b"\n")
            self._report(min(0.99, lines / expected), remaining)

        ended = carry_out(self.bench, order, admit=self._refuse_another_machine, heed=heed)
        self.failed |= {failure["case"] for failure in ended.failures}
        if (failure := ended.broken_by()) is not None:
            self._lose(group[0].provider, ended.took_s, failure)
            return
        self.measured_s += ended.took_s
        self._take_in(next(header for header in self.bench.folder.headers() if header["process"] == process))
        self._avoid_neighbours(process)

    def _lose(self, library: str, took_s: float, failure: Mapping[str, Any]) -> None:
        """A library ended a process. Its other cases are measured anew, until that costs more than all else did."""
        self.lost_s[library] = self.lost_s.get(library, 0.0) + took_s
        pending = self.pending()
        own = [case for case in pending if case.provider == library]
        is_beside = any(case.provider not in self.bench.libraries for case in self.cases)
        if len(own) < len(pending) or self.lost_s[library] <= (self.measured_s if is_beside else LEAST_LOSS_S):
            return
        why = f"not measured: {failure['error']}, and so it cost {self.lost_s[library]:.0f} s already"
        for case in own:
            self.bench.folder.append(json.dumps({**failure, "case": case.case, "error": why}).encode() + b"\n")
        self.failed |= {case.case for case in own}

    def _take_in(self, header: dict[str, Any]) -> None:
        process, quiet = header["process"], header["quiet_ppm"]
        core_class = self._core_class(header)
        self.headers[process] = header
        self.cuts = {**shards.cuts([header]), **self.cuts}
        self.segments.update({case["case"]: case["segments"] for case in header["cases"]})
        known = self.quiet_ppm.get(core_class)
        if quiet is not None and (known is None or quiet < known):
            self.quiet_ppm[core_class] = quiet
            if known is not None:
                self._judge_anew(core_class, forgets_attempts=known > within.NEIGHBOUR * quiet)
        self.attempts.update(case["case"] for case in header["cases"])
        self._summarise(process)

    def _judge_anew(self, core_class: str | None, *, forgets_attempts: bool) -> None:
        """By the quiet level that was found: what was taken for clean on this kind of core may have had a neighbour."""
        for earlier in self.summaries:
            if self._core_class(self.headers[earlier]) == core_class:
                self._summarise(earlier)
        for case in self.cases:
            if case.core_class == core_class:
                self.settled.discard(case.case)  # the next look settles again those that still have what settled them
                if forgets_attempts:
                    self.attempts.pop(case.case, None)

    def _core_class(self, header: Mapping[str, Any]) -> str | None:
        """The kind of core that the cases of a process were planned for: one for all of them."""
        return self._planned_classes[header["cases"][0]["case"]] if header["cases"] else None

    @cached_property
    def _planned_classes(self) -> dict[int, str | None]:
        return {case.case: case.core_class for case in (*self.cases, *self.watch)}

    @cached_property
    def _batches_as_long(self) -> dict[str, int]:
        """What a plan says of batches where the device's clock wants another length than the usual one."""
        batch_ns = self.bench.target.facts().batch_ns
        return {} if batch_ns is None else {"batch_ns": batch_ns}

    def _refuse_another_machine(self, data: bytes) -> None:
        """Raises StoreError before anything is kept that another machine measured: one run is of one machine."""
        line = data.split(b"\n", 1)[0]
        if not self.headers or b'"header"' not in line[:24]:
            return
        header = record_of(line)
        core_class = self._core_class(header)
        known = (one for one in self.headers.values() if self._core_class(one) == core_class)
        first, now = (_machine(one) for one in (next(known, header), header))
        if first != now:
            raise StoreError(
                f"run {self.bench.folder.path}: was begun on {first}, this is {now}",
                hint="one run is of one machine: go on there, or start a new run here",
            )

    def _summarise(self, process: int) -> None:
        batches, header = self.bench.folder.batches_of(process), self.headers[process]
        quiet = self.quiet_ppm.get(self._core_class(header))
        self.summaries[process] = within.summarise(batches, header, quiet)

    def _avoid_neighbours(self, process: int) -> None:
        """Changes to another processor of the kind where the last process was disturbed more often than not."""
        summary = self.summaries[process]
        lost = len(summary) < DISTURBED_SHARE * len(self.headers[process]["cases"])
        dirty, batches = (sum(summary[name].to_list()) for name in ("dirty", "batches"))
        processors = self.processors.get(self._core_class(self.headers[process]), [])
        if len(processors) > 1 and (lost or dirty > DISTURBED_SHARE * batches):
            processors.append(processors.pop(0))

    def _across(self) -> pl.DataFrame:
        rows = pl.concat(self.summaries.values())
        return estimate.across_processes(rows, self.study.looks, self.study.target_percent)

    def _counts(self) -> Counter[int]:
        return Counter(case for summary in self.summaries.values() for case in summary["case"].to_list())

    def _next_look(self, count: int) -> int:
        return next((look for look in self.study.looks if look > count), self.study.looks[-1])

    def _seed(self, purpose: str) -> int:
        return random.Random(f"{self.seed} {purpose} {self.process}").getrandbits(63)  # noqa: S311 - order and buffers, no secret

    def _batches(self, case: Case) -> int:
        segments = self.segments.get(case.case, 40 if case.payload_B >= shards.LONG_PAYLOAD_B else 1)
        return self.visits[case.case] * segments + (HALVES if segments == 1 else 0)

    def _report(self, share: float, remaining: int) -> None:
        """Tells how far it is: the pending case that is furthest from its next look sets what is left."""
        counts, pending = self._counts(), self.pending()
        most = max((self._next_look(counts[case.case]) - counts[case.case] for case in pending), default=1)
        left = (most - 1) * -(-len(pending) // shards.SHARD_CASES) + remaining - share
        done = self.process - 1 + share
        self.report(Progress(done, done + left, len(self.settled | self.failed), len(self.cases)))
