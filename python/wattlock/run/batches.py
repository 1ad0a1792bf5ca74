"""What the batches of a run say together, in a few rows.

A few processes are summarised at a time, so that a run of a million batches needs little more memory than its largest
process. A sealed run is the same for ever: what its batches say is kept in this user's cache, by the run's hash and
that of the code which says it.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple
from functools import cache
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

import wattlock.analysis
from wattlock.analysis import estimate, within
from wattlock.analysis.within import beside as paired_beside
from wattlock.analysis.within import summarise_pairs
from wattlock.store import RunFolder
from wattlock.store.disk import cache_folder
from wattlock.store.record_schema import causes as known_causes
from wattlock.store.run_folder import sums_sha256

BATCHES_AT_ONCE = 2**16
"""So many batches are summarised at a time, about 15 MB, or those of one process where that has more."""
BURSTS_SEEN = 2**17
"""So many batches of a run tell its quiet level: more than that are taken evenly."""
MOST_KEPT = 64
"""Runs in the cache; those that were read longest ago leave it."""

CODE = (
    Path(__file__),
    *sorted(Path(wattlock.analysis.__file__).parent.glob("*.py")),
    Path(wattlock.__file__).parent / "data" / "records.schema.json",
)
"""What decides what batches say: the code, and the constants that it has from the instrument."""


class Batches(NamedTuple):
    """What the batches of complete processes say.

    * `summaries`: a row a process and case, as of `within.summarise_several`; `pairs`: as of `paired.summarise`, null
      where the run has none.
    * `clocks`: the canary by kind of core, in the order of the processes; one of null where all cores are alike.
    * `causes`: disturbed batches by their cause; `number`: of all.
    """

    summaries: pl.DataFrame
    pairs: pl.DataFrame | None
    clocks: Mapping[str | None, estimate.CanaryClock]
    causes: Mapping[str, int]
    number: int


def summarise(folder: RunFolder, headers: Sequence[Mapping[str, Any]]) -> Batches:
    """What the batches of a run say. `headers`: of its complete processes that were timed, at least one."""
    place = _place(folder)
    if place is not None and (kept := _kept(place)) is not None:
        return kept
    found = _summarised(folder, headers)
    if place is not None:
        _keep(found, place)
    return found


def core_class(header: Mapping[str, Any]) -> str | None:
    """The kind of core that a process ran on: one for all of its cases, null where all cores are alike."""
    return next((case.get("core_class") for case in header["cases"]), None)


def _summarised(folder: RunFolder, headers: Sequence[Mapping[str, Any]]) -> Batches:
    quiet = _quiet_levels(folder, headers)
    planned = folder.plan()[0].get("paired")
    pairs_of = dict(planned["pairs"]) if planned else {}
    summaries: list[pl.DataFrame] = []
    pairs: list[pl.DataFrame] = []
    causes, number = dict.fromkeys(known_causes(), 0), 0
    times: dict[str | None, list[pl.Series]] = {}
    for kind, some, frames in _together(folder, headers):
        summaries.append(within.summarise_several(frames, some, quiet.get(kind)))
        pairs += _paired(pairs_of, some, frames, summaries[-1], quiet.get(kind))
        for header, frame in zip(some, frames, strict=True):
            times.setdefault(kind, []).append(within.canary_times(frame, header))
            number += len(frame)
            for cause, of_cause in within.causes(frame, quiet.get(kind), within.step_of(header)).items():
                causes[cause] += of_cause
    rows = pl.concat(summaries)
    cycles = {core_class(header): header["canary_cycles"] for header in reversed(headers)}
    clocks = {kind: estimate.canary_clock(pl.concat(series), cycles[kind]) for kind, series in times.items()}
    # Of processes that measured both builds, or of processes that took turns.
    beside = None
    if planned:
        beside = paired_beside(rows, pairs_of) if planned["apart"] else pl.concat(pairs)
    return Batches(rows, beside, clocks, causes, number)


def _paired(
    pairs: Mapping[int, int],
    headers: Sequence[Mapping[str, Any]],
    frames: Sequence[pl.DataFrame],
    summaries: pl.DataFrame,
    quiet_ppm: int | None,
) -> Iterator[pl.DataFrame]:
    """What each process says of each pair that it measured both cases of."""
    by_process = summaries.partition_by("process", as_dict=True) if pairs else {}
    for header, frame in zip(headers, frames, strict=True):
        if (summary := by_process.get((header["process"],))) is not None:
            yield summarise_pairs(frame, header, summary, pairs, quiet_ppm)


def _together(
    folder: RunFolder, headers: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str | None, list[Mapping[str, Any]], list[pl.DataFrame]]]:
    """Processes in their order, some of one kind of core at a time, with the kind and the batches of each."""
    for kind, of_kind in groupby(headers, core_class):
        some: list[Mapping[str, Any]] = []
        frames: list[pl.DataFrame] = []
        for header in of_kind:
            some.append(header)
            frames.append(folder.batches_of(header["process"]))
            if sum(map(len, frames)) >= BATCHES_AT_ONCE:
                yield kind, some, frames
                some, frames = [], []
        if some:
            yield kind, some, frames


def _quiet_levels(folder: RunFolder, headers: Sequence[Mapping[str, Any]]) -> dict[str | None, int | None]:
    """The quiet level by kind of core: judged over the batches of all its processes, before any of them counts."""
    kinds: dict[str | None, list[Mapping[str, Any]]] = {}
    for header in headers:
        if header["quiet_ppm"] is not None:
            kinds.setdefault(core_class(header), []).append(header)
    bursts = folder.scan().select("process", *within.READ_OF_BURSTS)
    levels: dict[str | None, int | None] = {}
    for kind, alike in kinds.items():
        batches = bursts.filter(pl.col("process").is_in([header["process"] for header in alike])).collect()
        seen = within.burst_levels(batches.gather_every(max(1, len(batches) // BURSTS_SEEN)))
        levels[kind] = within.quiet_level(seen, [header["quiet_ppm"] for header in alike])
    return levels


@cache
def _code() -> str:
    """The hash of the code that summarises, and of Polars' version: others might say another thing."""
    parts = [path.read_bytes() for path in CODE]
    return sha256(b"\0".join([*parts, pl.__version__.encode()])).hexdigest()


def _place(folder: RunFolder) -> Path | None:
    """Where a sealed run's are kept; null where nothing can be."""
    if not folder.is_sealed:
        return None
    with suppress(OSError, RuntimeError):
        return cache_folder() / "batches" / f"{sums_sha256(folder)}-{_code()[:16]}"
    return None


def _kept(place: Path) -> Batches | None:
    """What was kept there by this user; null where nothing is, or it can't be read."""
    with suppress(OSError, ValueError, TypeError, KeyError, pl.exceptions.PolarsError):
        if place.stat().st_uid != os.getuid():
            return None
        rest = json.loads((place / "rest.json").read_bytes())
        pairs = place / "pairs.parquet"
        found = Batches(
            pl.read_parquet(place / "summaries.parquet"),
            pl.read_parquet(pairs) if pairs.exists() else None,
            {kind: estimate.CanaryClock(*clock) for kind, clock in rest["clocks"]},
            rest["causes"],
            rest["number"],
        )
        os.utime(place)
        return found
    return None


def _keep(found: Batches, place: Path) -> None:
    """Keeps it for the next time, whole or not at all; where there is no room it is made again then."""
    rest = {
        "clocks": [(kind, astuple(clock)) for kind, clock in found.clocks.items()],
        "causes": found.causes,
        "number": found.number,
    }
    with suppress(OSError, pl.exceptions.PolarsError):
        place.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=".part-", dir=place.parent))
        try:
            found.summaries.write_parquet(part / "summaries.parquet")
            if found.pairs is not None:
                found.pairs.write_parquet(part / "pairs.parquet")
            (part / "rest.json").write_text(json.dumps(rest))
            shutil.rmtree(place, ignore_errors=True)  # what could not be read
            part.rename(place)
        finally:
            shutil.rmtree(part, ignore_errors=True)
        known = sorted(place.parent.glob("*"), key=lambda path: path.stat().st_mtime)
        for old in known[:-MOST_KEPT]:
            shutil.rmtree(old, ignore_errors=True)
