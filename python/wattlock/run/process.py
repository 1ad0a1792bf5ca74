"""One process of the probe under way: planned, started, its lines kept as they come, and judged when it has ended.

What a process is started for is its policy's matter: timing, blocks of energy, the discharge of a battery.
"""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wattlock.errors import ProbeError
from wattlock.run.contract import GO_ON, Contract, left_out_where_broken
from wattlock.run.shards import Order
from wattlock.store import RunFolder
from wattlock.store.record_schema import record_of
from wattlock.targets import Target
from wattlock.targets.target import complaint_in, hint_in


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
