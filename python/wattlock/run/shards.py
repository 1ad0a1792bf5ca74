"""Plans for the probe: shards of cases with their self_checks, and how often each case is visited."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from wattlock.store.record_schema import SCHEMA
from wattlock.study import Case
from wattlock.study.cases import core_classes_of

SHARD_CASES = 300
"""A process measures at most so many cases of the study."""

SHARD_MEMORY_CASES = 8
"""Of them so many in main memory: 1 GiB together."""

BATCH_NS = 100_000
VISITS = 24
"""Visits of a case in one process, until its spread is known."""

LEAST_VISITS, MOST_VISITS = 8, 96
LEAST_LONG_VISITS = 4
"""Visits of a case whose input is cut into many segments."""

LONG_PAYLOAD_B = 100_000
"""A payload that may take more than 5 ms a call; whether it does, the first process tells."""

SEGMENTS_A_PROCESS = 200
"""A cut case is visited so often that its visits together have about so many segments."""

SELF_CHECKS = ("reference", "aa_test", "injected_slowdown", "empty")


def self_checks(first: int, core_classes: Sequence[str | None] = (None,), payload_B: int = 1024) -> list[Case]:
    """The cases that watch over a run, numbered from `first`: those of its kind of core are part of every shard.

    The reference is AES in CBC mode: each block waits for the one before, so that it is steady.
    """
    return [
        Case(
            case=first + number,
            role=role,
            cipher="aes128-cbc",
            provider="rustcrypto",
            operation="encrypt",
            keying="ready",
            encoding="raw",
            placement="hot",
            pattern="independent",
            payload_B=payload_B,
            data="random",
            core_class=core_class,
        )
        for number, (core_class, role) in enumerate(product(core_classes, SELF_CHECKS))
    ]


def first_visits(case: Case) -> int:
    """Visits of a case in its first process."""
    return LEAST_LONG_VISITS if case.payload_B >= LONG_PAYLOAD_B else VISITS


def bounds_of_visits(segments: int) -> tuple[int, int, int]:
    """Least, usual and most visits of a case that is cut into `segments` (1: not cut)."""
    if segments == 1:
        return LEAST_VISITS, VISITS, MOST_VISITS
    usual = max(LEAST_LONG_VISITS, min(VISITS, SEGMENTS_A_PROCESS // segments))
    return LEAST_LONG_VISITS, usual, usual


def split(
    cases: Sequence[Case], seed: int, own: Iterable[str] = (), pairs: Mapping[int, int] | None = None
) -> list[list[Case]]:
    """Shards of about equal size, at most `SHARD_CASES` each and of one kind of core, drawn anew for each seed.

    Cases in main memory hold 128 MiB each: a process has at most `SHARD_MEMORY_CASES` of them.

    * `own`: libraries of the user's own, each of which has shards of its own: one that crashes takes no other with it.
    * `pairs`: the second case of each first, which is in the same shard.
    """
    libraries = list(own)
    groups = []
    for core_class in core_classes_of(cases):
        alike = [case for case in cases if case.core_class == core_class]
        groups.append([case for case in alike if case.provider not in libraries])
        groups += [[case for case in alike if case.provider == name] for name in libraries]
    return [shard for group in groups if group for shard in _shards(group, seed, pairs or {})]


def _shards(cases: Sequence[Case], seed: int, pairs: Mapping[int, int]) -> list[list[Case]]:
    by_number = {case.case: case for case in cases}
    seconds = {first: by_number[second] for first, second in pairs.items() if {first, second} <= by_number.keys()}
    alone = [case for case in cases if case not in seconds.values()]
    shuffled = random.Random(seed).sample(alone, len(alone))  # noqa: S311 - an order, no secret
    # A stable sort: those in main memory are dealt out first, one to each shard in turn.
    shuffled.sort(key=lambda case: case.placement != "DRAM")
    in_memory = sum(case.placement == "DRAM" for case in cases)
    count = max(-(-len(cases) // SHARD_CASES), -(-in_memory // SHARD_MEMORY_CASES))
    dealt = (shuffled[start::count] for start in range(count))
    whole = ([*shard, *(seconds[case.case] for case in shard if case.case in seconds)] for shard in dealt)
    return [sorted(shard, key=lambda case: case.case) for shard in whole]


def cuts(headers: Iterable[Mapping[str, Any]]) -> dict[int, int]:
    """Bytes of a segment by case, 0 where its calls are not cut: as the first of these headers has it."""
    found: dict[int, int] = {}
    for header in headers:
        for case in header["cases"]:
            found.setdefault(case["case"], case["segment_B"] or 0)
    return found


@dataclass(frozen=True)
class Order:
    """What one process is to do.

    * `visits`: by case, one of each without it; the self-checks of `watch` are visited in each round.
    * `quiet_ppm`, `cuts` (by case): as earlier processes of the run found them; the process finds what is missing.
    * `pairs`: by case the one that its batches are taken in turn with, either way round; both have the visits of the
      one that has more. A pair that is not whole in `cases` is none.
    * `policy`: what the plan says beside its cases, as `energy` or `battery`.
    * `kept`: whether its lines go to the run's folder; one that only looks leaves nothing there.
    """

    process: int
    seed: int
    cases: Sequence[Case]
    cpu: int | None
    watch: Sequence[Case] = ()
    visits: Mapping[int, int] | None = None
    quiet_ppm: int | None = None
    cuts: Mapping[int, int] | None = None
    pairs: Mapping[int, int] = field(default_factory=dict)
    policy: Mapping[str, Any] = field(default_factory=dict)
    kept: bool = True

    def plan(
        self,
        files: Mapping[str, Path],
        libraries: Mapping[str, Path] | None = None,
        *,
        push: Callable[[Path], str] = str,
        measured: bool = True,
    ) -> Iterator[dict[str, Any]]:
        """The plan lines of the process.

        * `files`: by the label of the data; `libraries`: the user's own, by name.
        * `push`: brings a file to where the process runs, and gives its path there.
        * `measured`: without it the cases are prepared and nothing is timed.
        """
        visits = dict.fromkeys((case.case for case in self.cases), 1) if self.visits is None else dict(self.visits)
        pairs = {case: other for case, other in self.pairs.items() if {case, other} <= {one.case for one in self.cases}}
        pairs |= {other: case for case, other in pairs.items()}
        visits |= {case: max(visits[case], visits[other]) for case, other in pairs.items()}
        rounds = max([VISITS, *(visits[case.case] for case in self.cases)]) if measured else 0
        head = {
            "kind": "plan",
            "schema": SCHEMA,
            "process": self.process,
            "seed": self.seed,
            "cpu": self.cpu,
            "rounds": rounds,
            "batch_ns": BATCH_NS,
            "quiet_ppm": self.quiet_ppm,
            **self.policy,
        }
        used = {case.provider for case in self.cases}
        own = [{"name": name, "path": push(path)} for name, path in (libraries or {}).items() if name in used]
        yield {**head, "libraries": own} if own else head
        for label in sorted({case.data for case in self.cases} & files.keys()):
            yield {"kind": "data", "data": label, "path": push(files[label]), "size_B": files[label].stat().st_size}
        for case in self.watch:
            yield {"kind": "case", **asdict(case), "visits": rounds}
        for case in self.cases:
            cut = {"cut_B": self.cuts[case.case]} if self.cuts and case.case in self.cuts else {}
            pair = {"pair": pairs[case.case]} if case.case in pairs else {}
            yield {"kind": "case", **asdict(case), "visits": visits[case.case], **cut, **pair}
