"""The policy of timing: measure a shard, look when it is time to, stop a case at its target.

A fresh process is the unit of replication. All that is known here can be read back from the run's folder, so a run
that was cut off anywhere goes on where it was; the process under way is measured anew.
"""

from __future__ import annotations

import json
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl

from wattlock.analysis import estimate, self_checks, within
from wattlock.analysis.comparison import verdict
from wattlock.analysis.estimate import consensus
from wattlock.analysis.within import beside, leant, summarise_pairs
from wattlock.analysis.within import ratios as paired_ratios
from wattlock.errors import InputError, StoreError
from wattlock.run import validity
from wattlock.run.process import (
    LONG_PAYLOAD_B,
    SHARD_CASES,
    Bench,
    Order,
    bounds_of_visits,
    carry_out,
    cuts,
    first_visits,
    split,
)
from wattlock.store.record_schema import record_of
from wattlock.store.records import is_timed
from wattlock.study import Case, Study

DISTURBED_SHARE = 0.5
"""Where more than this share of a process's batches was disturbed, the next one runs where it was least so."""

FORGOTTEN = 0.8
"""What was seen of a processor that is not measured on loses a fifth of its weight with each process: neighbours go."""

WORTH_JUDGING = 0.002
"""A quiet level that moves by less changes what counts by next to nothing: earlier processes are not judged anew."""

MOST_ATTEMPTS = 2
"""A case whose processes are disturbed is given up after this many times the processes that its look needs.

Those from before the run found a quieter core do not count: what disturbed them is over.
"""

NOTICE_S = 60.0
"""After a minute a person is told how long the rest takes, and what speaks against the run so far."""

WORTH_SAYING_S = 20.0
"""A rest that is shorter is not worth a line where nothing speaks against the run."""

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


@dataclass(frozen=True)
class KeepTrying:
    """How long a run goes on, and from where.

    * `minutes`: since the session began. `usual`: the last look of the study; what is measured beyond it is tried on.
    """

    minutes: float
    usual: int

    def kept(self) -> dict[str, Any]:
        """As the plan keeps it."""
        return {"minutes": self.minutes, "usual": self.usual}


@dataclass
class Timing:
    """One session of a run's timing.

    * `watch`: the self-checks; `report`: receives how far it is.
    * `notice`: receives, once a minute has passed and again where a self-check fails, what a person should know now.
    * `processors`: by kind of core those to measure on, the first of them first.
    * `keep_trying`: how long it goes on beyond the usual last look; null where it ends there.

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
    found_ppm: dict[str | None, list[int]] = field(default_factory=dict)
    bursts: dict[str | None, list[pl.DataFrame]] = field(default_factory=dict)
    disturbed: dict[int, float] = field(default_factory=dict)
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
    notice: Callable[[Sequence[str]], None] = lambda _: None
    keep_trying: KeepTrying | None = None
    clock: Callable[[], float] = time.monotonic
    begun_s: float = 0.0
    carried_out: int = 0
    causes: dict[int, Counter[str]] = field(default_factory=dict)
    batches: dict[int, int] = field(default_factory=dict)
    noticed: set[str] = field(default_factory=set)

    def measure(self) -> None:
        """Measures until every case is settled: at its target, at the last look, given up as disturbed, or failed."""
        start = time.monotonic()
        self.begun_s = self.clock()
        self._recall()
        try:
            self._measure_due()
            while self._tries_on():
                self._measure_due()
        finally:
            session = {
                "kind": "session",
                "wall_s": round(time.monotonic() - start, 3),
                "next_process": self.process,
            }
            self.bench.folder.append(json.dumps(session).encode() + b"\n")

    def _shards(self, due: Sequence[Case]) -> list[list[Case]]:
        """The cases of each process, which are measured in this order."""
        return split(due, self._seed("split"), self.bench.libraries)

    def _pairs(self) -> Mapping[int, int]:
        """Cases whose batches are taken in turn."""
        return {}

    def _measure_due(self) -> None:
        while due := self._due():
            groups = self._shards(due)
            for number, group in enumerate(groups):
                self._measure_shard(group, remaining=len(groups) - number)
            self.look()
            self._notice()
        while kinds := self._kinds_to_check():
            for core_class in kinds:
                self._measure_shard([], remaining=1, core_class=core_class)

    def pending(self) -> list[Case]:
        """The study's cases that are not settled."""
        return [case for case in self.cases if case.case not in self.settled | self.failed]

    def _kinds_to_check(self) -> list[str | None]:
        """The kinds of core whose self-checks have not told anything yet: they are cases like others."""
        if len(self.failed) == len(self.cases):
            return []
        last = self._last_look(0)
        verdicts = self._verdicts()
        open_ones = [verdict for verdict in verdicts if verdict.state == "not resolved" and verdict.processes < last]
        return [
            kind
            for kind in dict.fromkeys(verdict.core_class for verdict in open_ones)
            if self.attempts[self._reference(kind)] < MOST_ATTEMPTS * last
        ]

    def _verdicts(self) -> list[self_checks.Verdict]:
        """What the self-checks say so far."""
        if not self.summaries or not self.watch:
            return []
        checks = [{"case": case.case, "role": case.role, "core_class": case.core_class} for case in self.watch]
        return self_checks.judge(checks, pl.concat(self.summaries.values()), self.study.looks)

    def _last_look(self, case_processes: int) -> int:
        """The last look as things stand: beyond the study's own there must be time for so many processes of cases."""
        if self.keep_trying is None:
            return self.study.looks[-1]
        spent_s = self.clock() - self.begun_s
        needed_s = case_processes * spent_s / max(1, self.carried_out)
        has_time = spent_s + needed_s <= 60 * self.keep_trying.minutes
        return self.study.looks[-1] if has_time else self.keep_trying.usual

    def _tries_on(self) -> bool:
        """Whether cases are measured on that were settled: all of a kind of core on which a self-check failed.

        Not the self-checks alone: those of better times must not speak for cases of worse ones.
        """
        if self.keep_trying is None:
            return False
        kinds = {verdict.core_class for verdict in self._verdicts() if verdict.state == "failed"}
        counts = self._counts()
        settled = [case for case in self.cases if case.case in self.settled - self.failed and case.core_class in kinds]
        needed = sum(self._next_look(counts[case.case]) - counts[case.case] for case in settled)
        last = self._last_look(needed)
        self.settled -= {case.case for case in settled if counts[case.case] < last}
        return bool(self.pending())

    def _notice(self) -> None:
        """Says how long the rest takes and what speaks against the run: after a minute, and when a self-check fails."""
        verdicts, spent_s = self._verdicts(), self.clock() - self.begun_s
        failed = {verdict.named for verdict in verdicts if verdict.state == "failed"}
        pending = self.pending()
        if spent_s < NOTICE_S or not pending or (self.noticed and failed <= self.noticed):
            return
        rate_s, counts = spent_s / max(1, self.carried_out), self._counts()
        usual = self.study.looks[-1] if self.keep_trying is None else self.keep_trying.usual
        least, most = (
            rate_s * sum(max(1, goal - counts[case.case]) for goal, case in goals)
            for goals in (
                [(self._next_look(counts[case.case]), case) for case in pending],
                [(usual, case) for case in pending],
            )
        )
        headers = [self.headers[process] for process in self.summaries]
        causes = sum(self.causes.values(), Counter[str]())
        machine = validity.conditions(headers, causes, sum(self.batches.values()))
        lines = validity.noticed(verdicts, machine, least, most)
        if most > WORTH_SAYING_S or len(lines) > 1:
            self.noticed |= {"time", *failed}
            self.notice(lines)

    def _reference(self, core_class: str | None) -> int:
        return next(case.case for case in self.watch if case.core_class == core_class)

    def _due(self) -> list[Case]:
        """What is measured next: the cases of a library that ended a process wait until all others are settled."""
        pending = self.pending()
        return [case for case in pending if case.provider not in self.lost_s] or pending

    def look(self) -> None:
        """Settles the cases that are at their target and those that no further look can help; sets the visits."""
        counts = self._counts()
        across = {row["case"]: row for row in self._across().iter_rows(named=True)}
        pending = self.pending()
        last = self._last_look(sum(self._next_look(counts[case.case]) - counts[case.case] for case in pending))
        has_time = self.keep_trying is not None and last > self.keep_trying.usual
        for case in pending:
            number, count = case.case, counts[case.case]
            row = across.get(number)
            least, usual, most = bounds_of_visits(self.segments.get(number, 1))
            if case.readiness != estimate.STEADY:
                most = usual  # a visit lasts 2 ms, twenty times as long as another
            self.visits[number] = usual
            if row is not None and count >= 3:
                wanted = estimate.next_visits(row["between"], row["spread"], most)
                self.visits[number] = max(least, wanted)
            # One that looks invalid is looked at again: of some hundred sound cases one may look so by chance.
            at_target = count in self.study.looks and row is not None and row["state"] == "resolved"
            given_up = not has_time and self.attempts[number] >= MOST_ATTEMPTS * self._next_look(count)
            # Beyond the usual last look it goes on to the next one: between two looks an interval has no level.
            is_last = count >= last and (count in self.study.looks or count > self.study.looks[-1])
            if at_target or is_last or given_up:
                self.settled.add(number)

    def _recall(self) -> None:
        """Reads back what earlier sessions measured."""
        recovery = self.bench.folder.recover()
        self.process = recovery.next_process
        self.visits = {case.case: first_visits(case) for case in self.cases}
        for header in self.bench.folder.headers():
            if header["process"] in recovery.complete and is_timed(header):
                self._take_in(header)
        self.failed = {failure["case"] for failure in self.bench.folder.failures()}
        if self.headers:
            self.look()

    def _measure_shard(self, group: Sequence[Case], remaining: int, core_class: str | None = None) -> None:
        """Measures cases of one kind of core in a process; none of them where the self-checks alone are measured."""
        process, self.process = self.process, self.process + 1
        core_class = group[0].core_class if group else core_class
        order = Order(
            process,
            self._seed("process"),
            group,
            cpu=next(iter(self.processors.get(core_class, ())), None),
            watch=[case for case in self.watch if case.core_class == core_class],
            visits=self.visits,
            quiet_ppm=self.quiet_ppm.get(core_class),
            cuts=self.cuts,
            pairs=self._pairs(),
            policy=self._batches_as_long,
        )
        lines, expected = 0, sum(self._batches(case) for case in group) or 1

        def heed(data: bytes) -> None:
            nonlocal lines
            lines += data.count(b"\n")
            self._report(min(0.99, lines / expected), remaining)

        ended = carry_out(self.bench, order, admit=self._refuse_another_machine, heed=heed)
        self.failed |= {failure["case"] for failure in ended.failures}
        if (failure := ended.broken_by()) is not None:
            library = next(case.provider for case in group if case.case == failure["case"])
            self._lose(library, ended.took_s, failure)
            return
        self.measured_s += ended.took_s
        self.carried_out += max(1, len(group))
        self._take_in(next(header for header in self.bench.folder.headers() if header["process"] == process))
        self._avoid_neighbours(process)

    def _lose(self, library: str, took_s: float, failure: Mapping[str, Any]) -> None:
        """A library ended a process. Its other cases are measured anew, until that costs more than all else did."""
        self.lost_s[library] = self.lost_s.get(library, 0.0) + took_s
        pending = self.pending()
        library_cases = [case for case in pending if case.provider == library]
        is_beside = any(case.provider not in self.bench.libraries for case in self.cases)
        if len(library_cases) < len(pending) or self.lost_s[library] <= (
            self.measured_s if is_beside else LEAST_LOSS_S
        ):
            return
        why = f"not measured: {failure['error']}, and so it cost {self.lost_s[library]:.0f} s already"
        for case in library_cases:
            self.bench.folder.append(json.dumps({**failure, "case": case.case, "error": why}).encode() + b"\n")
        self.failed |= {case.case for case in library_cases}

    def _take_in(self, header: dict[str, Any]) -> None:
        process, found = header["process"], header["quiet_ppm"]
        core_class = self._core_class(header)
        self.headers[process] = header
        self.cuts = {**cuts([header]), **self.cuts}
        self.segments.update({case["case"]: case["segments"] for case in header["cases"]})
        if found is not None:
            batches = self.bench.folder.batches_of(process).select(within.READ_OF_BURSTS)
            self.bursts.setdefault(core_class, []).append(within.burst_levels(batches))
            self.found_ppm.setdefault(core_class, []).append(found)
            known = self.quiet_ppm.get(core_class)
            quiet = within.quiet_level(pl.concat(self.bursts[core_class]), self.found_ppm[core_class])
            if quiet is not None and quiet != known:
                self.quiet_ppm[core_class] = quiet
                if known is not None and abs(quiet / known - 1) > WORTH_JUDGING:
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
        known = (header for header in self.headers.values() if self._core_class(header) == core_class)
        first, now = (_machine(seen) for seen in (next(known, header), header))
        if first != now:
            raise StoreError(
                f"run {self.bench.folder.path}: was begun on {first}, this is {now}",
                hint="one run is of one machine: go on there, or start a new run here",
            )

    def _summarise(self, process: int) -> None:
        batches, header = self.bench.folder.batches_of(process), self.headers[process]
        quiet = self.quiet_ppm.get(self._core_class(header))
        self.summaries[process] = within.summarise(batches, header, quiet)
        self.batches[process] = len(batches)
        self.causes[process] = Counter(within.causes(batches, quiet, within.step_of(header)))

    def _avoid_neighbours(self, process: int) -> None:
        """Changes to the processor that was disturbed least, where the last process was more often than not.

        One that was not measured on yet counts as quiet, and what is known of the others fades.
        """
        header, summary = self.headers[process], self.summaries[process]
        dirty, batches = (sum(summary[name].to_list()) for name in ("dirty", "batches"))
        lost = 1 - len(summary) / max(1, len(header["cases"]))
        processors = self.processors.get(self._core_class(header), [])
        if len(processors) < 2:
            return
        now, *others = processors
        self.disturbed.update({other: FORGOTTEN * self.disturbed.get(other, 0.0) for other in others})
        self.disturbed[now] = max(lost, dirty / max(1, batches))
        if self.disturbed[now] > DISTURBED_SHARE:
            processors.sort(key=lambda processor: self.disturbed[processor])

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
        segments = self.segments.get(case.case, 40 if case.payload_B >= LONG_PAYLOAD_B else 1)
        return self.visits[case.case] * segments + (HALVES if segments == 1 else 0)

    def _report(self, share: float, remaining: int) -> None:
        """Tells how far it is: the pending case that is furthest from its next look sets what is left."""
        counts, pending = self._counts(), self.pending()
        most = max((self._next_look(counts[case.case]) - counts[case.case] for case in pending), default=1)
        left = (most - 1) * -(-len(pending) // SHARD_CASES) + remaining - share
        done = self.process - 1 + share
        self.report(Progress(done, done + left, len(self.settled | self.failed), len(self.cases)))


FURTHER_LOOKS = 4
"""Looks beyond the last: a case has up to five times as many processes, and an interval of less than half the width."""

GROWTH = 1.5
"""Each has so many times the processes of the one before."""


def recalled(plan: Mapping[str, Any]) -> KeepTrying | None:
    """As a plan's first line has it; null where the run ends at its last look."""
    kept = plan.get("keep_trying")
    return None if kept is None else KeepTrying(float(kept["minutes"]), int(kept["usual"]))


def extended(looks: Sequence[int], most: int) -> list[int]:
    """The looks with those beyond the last; `most`: as many processes as a study may have."""
    found = list(looks)
    for _ in range(FURTHER_LOOKS):
        found.append(min(most, math.ceil(found[-1] * GROWTH)))
    return sorted(set(found))


class PairedPlan(NamedTuple):
    """What a run of two builds is to decide, as its plan keeps it.

    * `pairs`: numbers of two cases that differ in the library alone, the first library's first.
    * `margin`: the share by which a ratio may differ from 1; `budget_s`: what measuring may take.
    * `apart`: why the two can't be in one process; null where they are.
    """

    pairs: Sequence[tuple[int, int]]
    margin: float
    budget_s: float
    apart: str | None = None

    @classmethod
    def of(
        cls, cases: Sequence[Case], libraries: Sequence[str], margin: float, budget_s: float, apart: str | None
    ) -> Self:
        """The plan of these cases: each of the first of two libraries with its like of the second."""
        alike: dict[tuple[Any, ...], dict[str, int]] = {}
        for case in cases:
            key = tuple(value for name, value in asdict(case).items() if name not in {"case", "provider"})
            alike.setdefault(key, {})[case.provider] = case.case
        first, second = libraries
        pairs = [(by_name[first], by_name[second]) for by_name in alike.values() if len(by_name) == 2]
        return cls(pairs, margin, budget_s, apart)

    @classmethod
    def kept_in(cls, plan: Mapping[str, Any]) -> Self | None:
        """That of a run's plan, whose first line this is; null where the run is of no two builds."""
        kept = plan.get("paired")
        return None if kept is None else cls(**kept | {"pairs": [(first, second) for first, second in kept["pairs"]]})


@dataclass
class PairedTiming(Timing):
    """One session of a run of two builds.

    * `decides`: what it is to decide; `ratios`: rows of `paired.SCHEMA` by process; `rounds`: how often all cases that
      were due were measured.
    """

    decides: PairedPlan = field(kw_only=True)
    ratios: dict[int, pl.DataFrame] = field(default_factory=dict)
    rounds: int = 0
    begun_s: float = field(default_factory=time.monotonic)

    def pending(self) -> list[Case]:
        """The cases of pairs that are not decided, and of which neither has failed."""
        left = {case for pair in self.decides.pairs if not self.failed.intersection(pair) for case in pair}
        return [case for case in super().pending() if case.case in left]

    def look(self) -> None:
        """Settles the pairs that are decided, where the run is believed; sets the visits."""
        if not self.summaries:
            return
        self.rounds += 1
        cases = [asdict(case) for case in (*self.cases, *self.watch)]
        verdicts = self_checks.judge(cases, pl.concat(self.summaries.values()))
        is_believed, excess = not self_checks.reasons_against(verdicts), self_checks.aa_excess(verdicts)
        invalid = set(self._across().filter(pl.col("state") == "invalid")["case"])
        rows, due = self._rows(), {case.case for case in self.pending()}
        ratios = paired_ratios(rows, self.study.looks)
        groups = {pair: group for pair, group in rows.group_by("first", "second") if due.issuperset(pair)}
        for pair, group in groups.items():
            count, ratio = group.height, ratios.get(pair)
            is_decided = ratio is not None and verdict(ratio[0], ratio[1] + excess, self.decides.margin) != "undecided"
            is_decided &= is_believed and not invalid.intersection(pair)
            if (count in self.study.looks and is_decided) or count >= self.study.looks[-1]:
                self.settled.update(pair)
            if count >= 3:
                self.visits |= dict.fromkeys(pair, self._next_visits(pair[0], group))

    def _next_visits(self, case: int, rows: pl.DataFrame) -> int:
        least, _, most = bounds_of_visits(self.segments.get(case, 1))
        errors = leant(rows["error"].to_list(), rows["visits"].to_list())
        spread = float(np.median(errors * rows["visits"].sqrt().to_numpy()))
        between = consensus(rows["log_ratio"].to_numpy()[None], errors[None]).between[0]
        return max(least, estimate.next_visits(float(between), spread, most))

    def _rows(self) -> pl.DataFrame:
        if self.decides.apart is None:
            return pl.concat(self.ratios.values())
        return beside(pl.concat(self.summaries.values()), dict(self.decides.pairs))

    def _summarise(self, process: int) -> None:
        super()._summarise(process)
        header = self.headers[process]
        self.ratios[process] = summarise_pairs(
            self.bench.folder.batches_of(process),
            header,
            self.summaries[process],
            dict(self.decides.pairs),
            self.quiet_ppm.get(self._core_class(header)),
        )

    def _due(self) -> list[Case]:
        spent_s = time.monotonic() - self.begun_s
        budget_s, first_look = self.decides.budget_s, self.study.looks[0]
        if 0 < self.rounds < first_look and (look_s := spent_s / self.rounds * first_look) > budget_s:
            what = f"--budget {budget_s:g}s: is too short: {first_look} processes, the least, take {look_s:.0f} s here"
            raise InputError(what, hint=f"--budget {math.ceil(1.5 * look_s)}s, or a study of fewer cases")
        return self.pending() if spent_s < budget_s else []

    def _shards(self, due: Sequence[Case]) -> list[list[Case]]:
        if self.decides.apart is None:
            return split(due, self._seed("split"), pairs=dict(self.decides.pairs))
        return super()._shards(due)

    def _pairs(self) -> Mapping[int, int]:
        return {} if self.decides.apart else dict(self.decides.pairs)
