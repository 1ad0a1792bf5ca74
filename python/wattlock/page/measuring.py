"""Carries a study out on a page, tells the page how far it is, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wattlock.errors import WattlockError
from wattlock.page.visits import Visitor
from wattlock.run import begin
from wattlock.run.discharge import DischargePlan
from wattlock.run.result import Result, read
from wattlock.run.session import Silent
from wattlock.run.timing import Progress
from wattlock.store import RunFolder

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

    def discharged(self, cipher: str, calls: int, level: int | None, share: float | None) -> None:
        """Of a discharge."""
        done = "" if share is None else f", {share:.0%} of them"
        said = f"{cipher}: the battery is at {level} % after {calls:,} calls{done}. Leave it unplugged."
        self._visitor.shows(said=said)


def measure(
    visitor: Visitor,
    study: str,
    out: Path,
    keep: Callable[[RunFolder], str] | None = None,
    *,
    only: Sequence[str] = (),
    discharge: DischargePlan | None = None,
) -> RunFolder:
    """Measures a page to the end and seals its run in a folder of its own below `out`.

    * `keep`: what becomes of the sealed run; gives what the page is told. `only`: the cases, as `run --only` takes
      them. `discharge`: how the device's battery is discharged by each case, behind the timing; null leaves it alone.

    Raises what `begin.plan`, `Planned.create` and `Session.measure` do, and `keep`; the page is told the same.
    """
    try:
        planned = begin.plan(begin.Request(study, only=only, discharge=discharge), visitor.target)
        name = f"page-{datetime.now(UTC):%Y%m%d-%H%M%S}-{visitor.token[:4].strip('-_').lower()}"
        begun = planned.create(out / name)
        batch_us = (visitor.target.facts().batch_ns or 0) / 1e3
        visitor.shows(said=f"{len(planned.cases)} cases in several processes, batches of {batch_us:g} µs.")
        begun.measure(_Shown(visitor))
        said = keep(begun.folder) if keep else f"Done: {begun.folder.path.name}"
    except WattlockError as error:
        visitor.shows(said=f"{error.message}. {error.hint}", is_over=True, table=None, words=[])
        raise
    result = read(begun.folder)
    visitor.shows(said=said, is_over=True, table=_table(result), words=words(result))
    return begun.folder


def words(result: Result) -> list[str]:
    """What is to be known of a page's run: where WebCrypto overtakes WebAssembly, and what speaks against it."""
    return [*result.crossings, *result.notices]


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
