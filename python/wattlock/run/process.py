"""One process of the probe under way: planned, started, its lines kept as they come, and judged when it has ended.

What a process is started for is its policy's matter: timing, blocks of energy, the discharge of a battery.
"""

from __future__ import annotations

import json
import math
import random
import signal
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl

from wattlock.analysis.estimate import STEADY
from wattlock.definitions.constants import constant
from wattlock.errors import ProbeError
from wattlock.store import RunFolder
from wattlock.store.bounds import NotARecord
from wattlock.store.record_schema import SCHEMA, is_known, kinds, record_of
from wattlock.store.records import Other, parse
from wattlock.study import Case
from wattlock.study.cases import core_classes_of
from wattlock.targets import Target
from wattlock.targets.target import LimitExceeded, Limits, complaint_in, hint_in


@dataclass(frozen=True)
class Bench:
    """What all processes of a run share.

    * `files`: by the label of the data; `libraries`: the user's own, by name.
    """

    folder: RunFolder
    target: Target
    files: Mapping[str, Path]
    libraries: Mapping[str, Path] = field(default_factory=dict)


@dataclass
class Ended:
    """A process that ended.

    * `failures`: its lines of that kind; `is_complete`: whether all of its records are in the run's folder.
    """

    process: int
    took_s: float
    failures: list[dict[str, Any]]
    is_complete: bool

    def broken_by(self) -> dict[str, Any] | None:
        """The failure of the case in which a user's library ended it; null where it came to its end.

        Raises ProbeError where it didn't, and no library is to blame.
        """
        if self.is_complete:
            return None
        for failure in self.failures:
            if failure["follows"] == "end_run":
                return failure
        raise ProbeError(f"the probe ended process {self.process} without all of its records", hint=GO_ON)


def nothing(_: bytes) -> None:
    """Heeds no line."""


def records_in(data: bytes, mark: bytes) -> list[dict[str, Any]]:
    """The records among whole lines that have `mark`, without the time to read the others."""
    return [record_of(line) for line in data.splitlines() if mark in line]


def carry_out(
    bench: Bench, order: Order, *, admit: Callable[[bytes], None] = nothing, heed: Callable[[bytes], None] = nothing
) -> Ended:
    """Runs one process to its end.

    * `admit`: sees lines before they are kept, `heed` afterwards; what they raise ends the process.

    Raises what the probe's contract does, ProbeError where the probe dies. What was measured is kept.
    """
    start = time.monotonic()
    failures: list[dict[str, Any]] = []

    def take(data: bytes) -> None:
        admit(data)
        if order.kept:
            bench.folder.append(data)
        failures.extend(records_in(data, b'"kind":"failure"'))
        heed(data)

    with left_out_where_broken(bench.folder, order.process):
        measure(bench.target, order.plan(bench.files, bench.libraries, push=bench.target.push), order.process, take)
    is_complete = order.kept and order.process in bench.folder.complete()
    return Ended(order.process, time.monotonic() - start, failures, is_complete)


def inquire(
    target: Target, order: Order, files: Mapping[str, Path] | None = None, libraries: Mapping[str, Path] | None = None
) -> bytes:
    """What a process writes that prepares its cases and times nothing: asked of a meter, a battery or a plan's cost.

    Raises ProbeError where it can't be had.
    """
    written: list[bytes] = []
    plan = order.plan(files or {}, libraries, push=target.push, measured=False)
    measure(target, plan, order.process, written.append)
    return b"".join(written)


def measure(
    target: Target,
    plan: Iterable[Mapping[str, Any]],
    process: int,
    take: Callable[[bytes], None],
    contract: Contract | None = None,
) -> None:
    """Runs one probe process on a plan and hands over its record lines as they come, whole lines only.

    * `take`: receives one or more lines, each judged before; what it raises ends the probe.
    * `contract`: what it may write, where that is no measurement of time, energy or a battery.

    Raises Broken where the probe writes what it was not asked for, Refused where it takes more than that can need, and
    ProbeError where it dies or ends with an error; the lines before it were handed over.
    """
    lines = list(plan)
    contract = contract or Contract(lines)

    def judged(chunk: bytes) -> None:
        if data := contract.take(chunk):
            take(data)

    text = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)
    who = f"the probe in process {process}"
    code, complaints = target.start(["measure"], text, contract.limits, judged, who=who)
    if code:
        raise _died(process, code, complaints)
    contract.ended()


def _died(process: int, code: int, complaints: bytes) -> ProbeError:
    how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    complaint = complaint_in(complaints).removeprefix("error: ")
    return ProbeError(
        f"the probe {how} in process {process}" + (f": {complaint}" if complaint else ""),
        hint=hint_in(complaints) or GO_ON,
    )


GO_ON = "what was measured is kept; `wattlock run --resume` goes on"

TRIES: int = constant("tries")
"""Batches or blocks of one visit, the first included."""

LEAST_HALVES: int = constant("least_halves")
VISITS_A_HALF: int = constant("visits_a_half")
"""Half batches of a case: one in so many visits, at least four."""

WHOLE_PAYLOAD_B: int = constant("whole_payload_B")
LEAST_SEGMENT_B = 64
"""A longer payload may be cut, into segments that are no shorter: 64 B in 100 us would be 1.6 us a byte."""

BATCH_LINE_B = 700
"""A batch's line: some twenty names, and numbers of twenty digits at most."""

LINE_B, CASE_LINE_B = 2**20, 2**12
"""The longest line is a header: the machine, and so much for each case."""

# Times that no machine should need, so that what takes longer hangs. Seen: 0.01 s to prepare a case, 0.1 us a byte of
# the slowest cipher, 0.2 ms a visit.
START_S, START_CASE_S, PREPARED_S_A_BYTE = 60.0, 5.0, 20e-6
SILENCE_S, VISIT_S, CALL_S_A_BYTE = 60.0, 0.01, 5e-6
GENERATE_S = 20.0
"""A pair of RSA keys takes seconds at times."""
RING_B: Mapping[str, int] = constant("ring_B")
RING_S_A_BYTE = 1e-6
BLOCKS_S = 3.0
"""A block of energy takes so many times its length where a meter's edges are late."""

MARKERS = 2
"""Of a process whose energy is recorded beside the device: one before its blocks and one after them."""


class Broken(ProbeError):
    """A process that wrote what it was not asked for, or what no record can be."""


@contextmanager
def left_out_where_broken(folder: RunFolder, process: int) -> Iterator[None]:
    """Notes a process that did not keep to its plan, so that nothing of it counts and it is measured anew."""
    try:
        yield
    except (Broken, LimitExceeded) as error:
        folder.leave_out(process, error.message)
        raise


class Contract:
    """One process: its plan, and how much of that it wrote."""

    clocks: Sequence[str] = ("ticks_per_second", "timer_ticks")
    """What the header of a process says that reads a clock."""

    def __init__(self, plan: Sequence[Mapping[str, Any]]) -> None:
        self.head = next(line for line in plan if line["kind"] == "plan")
        self.process: int = self.head["process"]
        self.cases = {line["case"]: line for line in plan if line["kind"] == "case"}
        self.energy, self.battery = self.head.get("energy"), self.head.get("battery")
        self._header: Mapping[str, Any] | None = None
        self._segments: dict[int, int] = {}
        self._failed: set[int] = set()
        self._blocks: set[tuple[int, ...]] = set()
        self._batches: list[pl.Series] = []
        self._lines = 0
        self._rest = b""
        self._calls, self._markers = 0, 0
        self._levels, self._begun = 0, time.monotonic()
        self._is_over = False

    @property
    def limits(self) -> Limits:
        """How long the process may take, and how many bytes it may write."""
        start = START_S + sum(START_CASE_S + _prepared_s(case) for case in self.cases.values())
        round_s, rounds = self._round_s(), self.head["rounds"]
        if self.energy:
            rounds = self.energy["superblocks"]
        most = start + SILENCE_S + (rounds + 1) * round_s
        if self.battery:
            most = math.inf
        most_B = math.inf if self.battery else self.longest_line_B * 2 + self.most_lines * BATCH_LINE_B
        return Limits(start, SILENCE_S + 2 * round_s, most, most_B)

    @property
    def longest_line_B(self) -> int:
        """No line is longer."""
        return LINE_B + CASE_LINE_B * len(self.cases)

    @property
    def most_lines(self) -> float:
        """So many lines at most: all cases as often as they are visited, each batch tried as often as it may be."""
        around = 2 + 2 * len(self.cases)
        if self.battery:
            return math.inf
        if self.energy:
            return float(around + MARKERS + self.energy["superblocks"] * (3 * len(self.cases) + 3) * TRIES)
        return around + sum(self._most_batches(case, _most_segments(case)) for case in self.cases.values())

    def take(self, chunk: bytes) -> bytes:
        """Judges what came; gives the whole lines of it.

        Raises Broken, and nothing of them is to be kept.
        """
        lines, newline, self._rest = (self._rest + chunk).rpartition(b"\n")
        if len(self._rest) > self.longest_line_B:
            raise self._broken(f"wrote a line of more than {self.longest_line_B:,} bytes")
        data = lines + newline
        if data:
            self._judge(data)
        return data

    def ended(self) -> None:
        """Raises Broken where the process did not write all that it was to."""
        if not self._is_over:
            # The words that a run of an early end has always had.
            raise Broken(f"the probe ended process {self.process} without all of its records", hint=GO_ON)

    def _judge(self, data: bytes) -> None:
        if self._is_over:
            raise self._broken("went on after its last record")
        self._lines += data.count(b"\n")
        if self._lines > self.most_lines:
            raise self._broken(f"wrote more than {self.most_lines:,.0f} lines")
        try:
            batches, others, _, _ = parse(data)
        except NotARecord as error:
            raise Broken(f"the probe wrote a line in process {self.process} that {error}", hint=GO_ON) from None
        if self._header is None and (not others or others[0].kind != "header" or _first(data) != others[0].line):
            raise self._broken("began without a header")
        for at, other in enumerate(others):
            if other.kind == "end" and (at + 1 < len(others) or _last(data) != other.line):
                raise self._broken("went on after its last record")
            if other.kind != "end":
                self._judge_other(other)
        if batches.height:
            self._judge_batches(batches)
        if others and others[-1].kind == "end":
            self._judge_end(others[-1])

    def _judge_other(self, other: Other) -> None:
        if other.kind not in kinds():
            raise self._broken(f"wrote a record of kind {json.dumps(other.kind)[:80]}, which there is none of")
        record = other.parsed()
        self._judge_schema(record)
        match other.kind:
            case "header":
                self._judge_header(record)
            case "failure":
                self._judge_case(record, among=set(self.cases) - self._failed)
                self._failed.add(record["case"])
                # A user's library ended the process: nothing comes after that.
                self._is_over |= record["follows"] == "end_run"
            case "energy_block":
                self._judge_block(record)
            case "marker":
                self._judge_marker(record)
            case "battery_level":
                self._judge_level(record)
            case "count" | "board":
                self._judge_count(record)

    def _judge_schema(self, record: Mapping[str, Any]) -> None:
        if record["kind"] == "header" and not is_known(record.get("schema")):
            raise self._broken(f"wrote records of schema {record.get('schema')!r}, this wattlock reads {SCHEMA}")
        if record["process"] != self.process:
            raise self._broken(f"wrote a {record['kind']} of process {record['process']}")

    def _judge_header(self, header: Mapping[str, Any]) -> None:
        if self._header is not None:
            raise self._broken("wrote two headers")
        self._header = header
        for name in ("meter", "battery"):
            requested = self.battery if name == "battery" else self.energy
            if bool(header.get(name)) != bool(requested):
                raise self._broken(f"wrote a header {'without' if requested else 'with'} a {name}")
        if (absent := next((name for name in self.clocks if header[name] is None), None)) is not None:
            raise self._broken(f"wrote a header without {absent}")
        if header["seed"] != self.head["seed"]:
            raise self._broken(f"wrote a header of seed {header['seed']}")
        for case in header["cases"]:
            self._judge_case(case, among=self.cases.keys() - self._segments.keys())
            planned = self.cases[case["case"]]
            if (other := _other_than(planned, case)) is not None:
                raise self._broken(f"measured case {case['case']} with {other} {str(case.get(other))[:80]!r}")
            if case["segments"] > _most_segments(planned):
                raise self._broken(f"cut case {case['case']} into {case['segments']} segments")
            self._segments[case["case"]] = case["segments"]

    def _judge_case(self, record: Mapping[str, Any], among: set[int]) -> None:
        if record["case"] not in among:
            why = "twice" if record["case"] in self.cases else ", which it was not asked for"
            raise self._broken(f"wrote of case {record['case']} {why}".replace(" ,", ","))

    def _judge_block(self, block: Mapping[str, Any]) -> None:
        if not self.energy:
            raise self._broken("wrote a block of energy that it was not asked for")
        if block["case"] is not None:
            self._judge_case(block, among=set(self._segments))
        key = block["superblock"], block["position"], block["attempt"]
        if block["superblock"] >= self.energy["superblocks"] or block["attempt"] >= TRIES or key in self._blocks:
            raise self._broken(f"wrote block {block['position']} of superblock {block['superblock']} too often")
        self._blocks.add(key)

    def _judge_marker(self, marker: Mapping[str, Any]) -> None:
        if not self.energy or marker["marker"] != self._markers or marker["marker"] >= MARKERS:
            raise self._broken("wrote a marker that it was not asked for")
        self._markers += 1

    def _judge_level(self, level: Mapping[str, Any]) -> None:
        if not self.battery or level["case"] != self.battery["case"]:
            raise self._broken("wrote a level of a battery that it was not asked for")
        if level["repeats_done"] < max(self._calls, self.battery["done"]):
            raise self._broken(f"counted its calls backwards, to {level['repeats_done']}")
        self._calls, self._levels = level["repeats_done"], self._levels + 1
        # One at the begin, one at the end, and one each time that is asked for.
        if self._levels > 3 + (time.monotonic() - self._begun) / self.battery["log_every_s"]:
            raise self._broken(f"wrote {self._levels} levels of the battery, more than one in the time asked for")

    def _judge_count(self, _: Mapping[str, Any]) -> None:
        raise self._broken("wrote a count that it was not asked for")

    def _judge_batches(self, batches: pl.DataFrame) -> None:
        if self.energy or self.battery:
            raise self._broken("wrote batches that it was not asked for")
        segments = pl.col("case").replace_strict(self._segments, default=0, return_dtype=pl.Int64)
        wrong = batches.select(
            process=(pl.col("process") != self.process).any(),
            case=(segments == 0).any(),
            segment=(pl.col("segment") >= segments).any(),
            round=(pl.col("round") >= self.head["rounds"]).any(),
            attempt=(pl.col("attempt") >= TRIES).any(),
        ).row(0, named=True)
        named = next((name for name, is_wrong in wrong.items() if is_wrong), None)
        if named is not None:
            raise self._broken(f"wrote a batch of a {named} that it was not asked for")
        # Whole and half batches of one visit have other calls.
        keys = batches.select("case", "round", "segment", "attempt", "calls")
        self._batches.append(keys.hash_rows())

    def _judge_end(self, other: Other) -> None:
        end = other.parsed()
        self._judge_schema(end)
        seen = pl.concat(self._batches) if self._batches else pl.Series([], dtype=pl.UInt64)
        if seen.n_unique() != len(seen):
            raise self._broken("wrote a batch twice")
        silent = self.cases.keys() - self._segments.keys() - self._failed
        if silent:
            raise self._broken(f"said nothing of case {min(silent)}")
        for name, seen_count in (("batches", len(seen)), ("energy_blocks", len(self._blocks))):
            if end[name] != seen_count:
                raise self._broken(f"ended with {end[name]} {name.replace('_', ' ')}, and {seen_count} came")
        self._is_over = True

    def _most_batches(self, case: Mapping[str, Any], segments: int) -> int:
        halves = max(LEAST_HALVES, case["visits"] // VISITS_A_HALF) if self.head["rounds"] else 0
        return int((case["visits"] + halves) * segments * TRIES)

    def _round_s(self) -> float:
        """Within this time all cases are visited once, each batch tried as often as it may be."""
        calls_s = sum(_call_s(case) for case in self.cases.values())
        if self.energy:
            blocks_s = BLOCKS_S * self.energy["block_ns"] / 1e9
            return float(TRIES * (3 * len(self.cases) + 3) * blocks_s + TRIES * 3 * calls_s)
        if self.battery:
            return float(self.battery["log_every_s"]) + calls_s
        return TRIES * (VISIT_S * len(self.cases) + calls_s)

    def _broken(self, what: str) -> Broken:
        return Broken(f"the probe {what} in process {self.process}", hint=GO_ON)


_SAME = ("role", "cipher", "operation")


def _other_than(planned: Mapping[str, Any], case: Mapping[str, Any]) -> str | None:
    """What a case was measured with that it was not planned with; null where there is nothing."""
    same = list(_SAME)
    if planned["role"] == "study":  # of the reference the probe takes code that has no states of its own
        same.append("provider")
    if planned.get("core_class") is not None:  # a case that names no kind of core is measured on any, and says on which
        same.append("core_class")
    if case.get("readiness", STEADY) != planned.get("readiness", STEADY):
        return "readiness"
    return next((name for name in same if case.get(name) != planned[name]), None)


def _most_segments(case: Mapping[str, Any]) -> int:
    return 1 if case["payload_B"] <= WHOLE_PAYLOAD_B else -(-int(case["payload_B"]) // LEAST_SEGMENT_B)


def _call_s(case: Mapping[str, Any]) -> float:
    return CALL_S_A_BYTE * float(case["payload_B"]) + (GENERATE_S if case["operation"] == "generate" else VISIT_S)


def _prepared_s(case: Mapping[str, Any]) -> float:
    ring_s = RING_S_A_BYTE * RING_B.get(case["placement"], 0)
    return PREPARED_S_A_BYTE * float(case["payload_B"]) + ring_s + _call_s(case)


def _first(data: bytes) -> bytes:
    return data[: data.find(b"\n")]


def _last(data: bytes) -> bytes:
    return data[data.rfind(b"\n", 0, -1) + 1 : -1]


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
    cases: Sequence[Case], seed: int, libraries: Collection[str] = (), pairs: Mapping[int, int] | None = None
) -> list[list[Case]]:
    """Shards of about equal size, at most `SHARD_CASES` each and of one kind of core, drawn anew for each seed.

    Cases in main memory hold 128 MiB each: a process has at most `SHARD_MEMORY_CASES` of them.

    * `libraries`: the user's own, each of which has shards of its own: one that crashes takes no other with it.
    * `pairs`: the second case of each first, which is in the same shard.
    """
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
        pairs = {
            case: other for case, other in self.pairs.items() if {case, other} <= {case.case for case in self.cases}
        }
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
        pushed = [{"name": name, "path": push(path)} for name, path in (libraries or {}).items() if name in used]
        yield {**head, "libraries": pushed} if pushed else head
        for label in sorted({case.data for case in self.cases} & files.keys()):
            yield {"kind": "data", "data": label, "path": push(files[label]), "size_B": files[label].stat().st_size}
        for case in self.watch:
            yield {"kind": "case", **asdict(case), "visits": rounds}
        for case in self.cases:
            cut = {"cut_B": self.cuts[case.case]} if self.cuts and case.case in self.cuts else {}
            pair = {"pair": pairs[case.case]} if case.case in pairs else {}
            yield {"kind": "case", **asdict(case), "visits": visits[case.case], **cut, **pair}
