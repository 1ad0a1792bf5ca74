"""One process of the probe under way: planned, started, its lines kept as they come, and judged when it has ended.

What a process is started for is its policy's matter: timing, blocks of energy, the discharge of a battery.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wattlock.errors import ProbeError
from wattlock.run import probe as probes
from wattlock.run import shards
from wattlock.run.contract import GO_ON, left_out_where_broken
from wattlock.store import RunFolder
from wattlock.store.records import record_of
from wattlock.study import Cell


@dataclass(frozen=True)
class Bench:
    """What all processes of a run share.

    * `files`: by the label of the data; `libraries`: the user's own, by name.
    """

    folder: RunFolder
    probe: Path
    files: Mapping[str, Path]
    libraries: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True)
class Order:
    """What one process is to do.

    * `visits`: by cell, one of each without it; `quiet_ppm`, `cuts`: as earlier processes found them.
    * `policy`: what the plan says beside its cells, as `energy` or `battery`.
    * `kept`: whether its lines go to the run's folder; one that only looks leaves nothing there.
    """

    process: int
    seed: int
    cells: Sequence[Cell]
    cpu: int | None
    watch: Sequence[Cell] = ()
    visits: Mapping[int, int] | None = None
    quiet_ppm: int | None = None
    cuts: Mapping[int, int] | None = None
    policy: Mapping[str, Any] = field(default_factory=dict)
    kept: bool = True


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
        probes.measure(bench.probe, _plan(order, bench.files, bench.libraries), order.process, take)
    is_complete = order.kept and order.process in bench.folder.complete()
    return Ended(order.process, time.monotonic() - start, failures, is_complete)


def inquire(
    probe: Path, order: Order, files: Mapping[str, Path] | None = None, libraries: Mapping[str, Path] | None = None
) -> bytes:
    """What a process writes that prepares its cells and times nothing: asked of a meter, a battery or a plan's cost.

    Raises ProbeError where it can't be had.
    """
    written: list[bytes] = []
    plan = _plan(order, files or {}, libraries or {}, measured=False)
    probes.measure(probe, plan, order.process, written.append)
    return b"".join(written)


def _plan(
    order: Order, files: Mapping[str, Path], libraries: Mapping[str, Path], *, measured: bool = True
) -> Iterator[dict[str, Any]]:
    visits = dict.fromkeys((cell.cell for cell in order.cells), 1) if order.visits is None else order.visits
    head, *rest = shards.probe_plan(
        order.cells,
        order.watch,
        visits,
        files,
        process=order.process,
        seed=order.seed,
        cpu=order.cpu,
        quiet_ppm=order.quiet_ppm,
        measured=measured,
        libraries=libraries,
        cuts=order.cuts,
    )
    yield {**head, **order.policy}
    yield from rest
