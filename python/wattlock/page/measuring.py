"""Carries a study out on a page, tells the page how far it is, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from wattlock.analysis.crossover import FEWEST_SIZES, Crossover, crossover
from wattlock.analysis.draws import Array, log_sigma
from wattlock.errors import WattlockError
from wattlock.page.visits import Visitor
from wattlock.run import begin
from wattlock.run.result import Result, read
from wattlock.run.session import Silent
from wattlock.run.timing import Progress
from wattlock.store import RunFolder
from wattlock.study.cases import USUAL_PROVIDER

WEBCRYPTO = "webcrypto"
MOST_PERCENT = 50.0
"""A time with a wider interval says nothing, and its row that it is unresolved."""


COLUMNS = ("cipher", "provider", "operation", "B", "µs a call", "±", "MB/s")


class _Shown(Silent):
    """Shows the page how far its run is."""

    def __init__(self, visitor: Visitor) -> None:
        self._visitor = visitor

    def measured(self, progress: Progress) -> None:
        """Processes done and expected, cases settled."""
        said = f"{progress.settled} of {progress.cases} cases settled"
        self._visitor.shows(said=said, done=progress.processes, of=progress.expected)


def measure(visitor: Visitor, study: str, out: Path) -> RunFolder:
    """Measures a page to the end and seals its run in a folder of its own below `out`.

    Raises what `begin.plan`, `Planned.create` and `Session.measure` do; the page is told the same.
    """
    try:
        planned = begin.plan(begin.Request(study), visitor.target)
        name = f"page-{datetime.now(UTC):%Y%m%d-%H%M%S}-{visitor.token[:4].strip('-_').lower()}"
        begun = planned.create(out / name)
        batch_us = (visitor.target.facts().batch_ns or 0) / 1e3
        visitor.shows(said=f"{len(planned.cases)} cases in several processes, batches of {batch_us:g} µs.")
        begun.measure(_Shown(visitor))
    except WattlockError as error:
        visitor.shows(said=f"{error.message}. {error.hint}", is_over=True, table=None, words=[])
        raise
    result = read(begun.folder)
    visitor.shows(said=f"Done: {begun.folder.path.name}", is_over=True, table=_table(result), words=words(result))
    return begun.folder


def words(result: Result) -> list[str]:
    """What is to be known of a page's run: where WebCrypto overtakes WebAssembly, and what speaks against it."""
    invalid = [f"The run is invalid: {reason}." for reason in result.reasons]
    return [*crossovers(result.estimates), *invalid, *result.warnings]


def crossovers(estimates: pl.DataFrame) -> list[str]:
    """A line for each cipher and operation that both have at three sizes or more: from which on WebCrypto is faster."""
    known = estimates.filter(pl.col("time_ns").is_not_null(), pl.col("state") == "resolved")
    lines = []
    for (cipher, operation), rows in known.group_by("cipher", "operation", maintain_order=True):
        ours, theirs = (rows.filter(pl.col("provider") == name) for name in (USUAL_PROVIDER, WEBCRYPTO))
        sizes = sorted(set(ours["payload_B"]) & set(theirs["payload_B"]))
        if len(sizes) < FEWEST_SIZES:
            continue
        costs = [_costs(side, sizes) for side in (ours, theirs)]
        lines.append(f"{cipher} {operation}: {_met(crossover(sizes, *costs), sizes)}")
    return lines


def _costs(rows: pl.DataFrame, sizes: Sequence[int]) -> tuple[Array, Array]:
    """Time and the standard error of its logarithm at each size."""
    told = rows.filter(pl.col("payload_B").is_in(list(sizes))).sort("payload_B")
    return told["time_ns"].to_numpy(), log_sigma(told["half_width_percent"].to_numpy())


def _met(found: Crossover, sizes: Sequence[int]) -> str:
    if found.payload_B is None:
        faster = "WebAssembly" if found.cheaper_below == "a" else "WebCrypto"
        return f"{faster} is faster from {sizes[0]} to {sizes[-1]} B; a crossover is not reached"
    first, then = ("WebAssembly", "WebCrypto") if found.cheaper_below == "a" else ("WebCrypto", "WebAssembly")
    interval = f" ({found.low_B:.0f} to {found.high_B:.0f} B)" if found.low_B and found.high_B else ""
    return f"{first} is faster up to {found.payload_B:.0f} B{interval}, {then} from there on"


def _table(result: Result) -> dict[str, Any]:
    """The estimates for the page's eyes."""
    rows = []
    for row in result.estimates.iter_rows(named=True):
        told = [row["cipher"], row["provider"], row["operation"], str(row["payload_B"])]
        if row["time_ns"] is None or row["half_width_percent"] > MOST_PERCENT:
            rows.append([*told, row["reason"] or row["state"], "", ""])
        else:
            told += [f"{row['time_ns'] / 1e3:.3g}", f"{row['half_width_percent']:.1f} %"]
            rows.append([*told, f"{row['throughput_MB_s']:.3g}" if row["throughput_MB_s"] else ""])
    return {"columns": COLUMNS, "rows": rows}
