"""One session of a run: measured to its end, sealed, reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wattlock import extras
from wattlock.cli.echo import echo
from wattlock.cli.progress import bar, heed_ctrl_c
from wattlock.cli.table import show_aside
from wattlock.errors import CasesFailed, Interrupted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import polars as pl

    from wattlock.run.begin import Begun
    from wattlock.run.result import Result
    from wattlock.store import RunFolder

LONG_S = 1800.0
"""A measurement of energy that lasts longer is announced."""
SHOWN_REASONS = 5
SHOWN_CIPHERS = 20


def measure(begun: Begun) -> None:
    """Measures to the end, seals the run and writes its report.

    Raises CasesFailed at the very end where a case failed that this machine has.
    """
    processes = carry_out(begun)
    estimates = _say_what_came_out(begun.folder, processes)
    refuse_failures(estimates, begun.folder, begun.absent)


def carry_out(begun: Begun) -> int:
    """Measures to the end and seals the run; gives how many processes it has."""
    from wattlock.run.metering import block_length_ns, least_s

    session, folder = begun.session, begun.folder
    cases = sum(case.role == "study" for case in folder.cases())
    echo(f"{session.study.title}: {cases} cases, into {folder.path}", err=True)
    if session.metered and least_s(session.metered[1], cases) > LONG_S:
        meter = session.metered[1]
        block_s, hours = block_length_ns(meter) / 1e9, least_s(meter, cases) / 3600
        echo(
            f"{meter['name']} needs blocks of {block_s:.0f} s: measuring the energy takes {hours:.1f} h at least",
            err=True,
        )
    with bar() as report:
        heed_ctrl_c()
        try:
            return begun.measure(report)
        except KeyboardInterrupt:
            kept = "what was measured is kept"
            raise Interrupted(f"stopped; {kept}", hint=f"`{folder.resuming}` goes on") from None


def refuse_failures(estimates: pl.DataFrame, folder: RunFolder, absent: Collection[tuple[str, str]]) -> None:
    """Raises CasesFailed where a case failed that is not `absent`, by cipher and provider."""
    failed = [
        row
        for row in estimates.iter_rows(named=True)
        if row["state"] == "failed" and (row["cipher"], row["provider"]) not in absent
    ]
    if failed:
        first = "{provider}: {cipher} {operation} {payload_B} B: {reason}".format(**failed[0])
        what = f"{len(failed)} of {estimates.height} cases failed, the first by {first}"
        raise CasesFailed(what, hint=f"the others are measured; `{folder.showing}` gives each reason")


def _say_what_came_out(folder: RunFolder, processes: int) -> pl.DataFrame:
    from wattlock.energy.valuing import valued
    from wattlock.run.result import read

    result = read(folder)
    estimates = valued(result, None, allow_assumed=False)
    states = dict(estimates.group_by("state").len().iter_rows())
    counted = ", ".join(f"{count} {state}" for state, count in sorted(states.items(), key=lambda item: -item[1]))
    is_timed = "time" in result.quantities
    where = f"over {processes} processes" if is_timed else f"on {result.core.title}"
    echo(f"{estimates.height} cases in {result.wall_s:.0f} s {where}: {counted}", err=True)
    for line in () if is_timed else _failures(result):
        echo(line, err=True)
    if result.energies is not None:
        metered = dict(result.energies.group_by("energy_state").len().iter_rows())
        echo(f"energy: {', '.join(f'{count} {state}' for state, count in sorted(metered.items()))}", err=True)
    if result.discharges is not None:
        echo("what a call takes out of the battery:", err=True)
        show_aside(result.discharges.drop("reason"))
        for row in result.discharges.filter(result.discharges["reason"].is_not_null()).iter_rows(named=True):
            echo(f"{row['cipher']} {row['operation']} {row['payload_B']} B: {row['reason']}", err=True)
        echo(f"`{folder.showing} --battery` prints it again", err=True)
    for line in result.notices:
        echo(f"warning: {line}", err=True)
    if answered := _answered(result, estimates):
        echo(" ".join(answered), err=True)
        _say_side_by_side(result, estimates)
    _draw(folder, result, estimates)
    echo(f"The numbers: {folder.showing}", err=True)
    return estimates


def _say_side_by_side(result: Result, estimates: pl.DataFrame) -> None:
    """Prints the table that a timed run ends with."""
    from wattlock.report.run_answer import side_by_side, usual_payload_B

    if "time" in result.quantities and not (rows := side_by_side(estimates)).is_empty():
        echo(f"\nEncrypting {usual_payload_B(estimates):,} B:", err=True)
        show_aside(rows.head(SHOWN_CIPHERS))
        if (more := rows.height - SHOWN_CIPHERS) > 0:
            echo(f"and {more} more, up to {rows['times_cheapest'][-1]:.4g} times the cheapest", err=True)
        echo("", err=True)


def _answered(result: Result, estimates: pl.DataFrame) -> list[str]:
    """What the run says, in sentences; nothing of an invalid one, or where no case was counted."""
    if "time" not in result.quantities:
        from wattlock.report.cycles import groups_of, said

        return said(result.core.place, groups_of(estimates, result.ranking))
    from wattlock.report.run_answer import answer

    return [] if result.reasons else answer(estimates, result.ranking)


def _failures(result: Result) -> Iterator[str]:
    """Why cases have no count, a line a reason, those of the most cases first."""
    import polars as pl

    failed = result.estimates.filter(pl.col("state") == "failed")
    reasons = failed.group_by("reason", maintain_order=True).len().sort("len", descending=True, maintain_order=True)
    for reason, count in reasons.head(SHOWN_REASONS).iter_rows():
        yield f"{count} failed: {reason}"
    if reasons.height > SHOWN_REASONS:
        yield f"and for {reasons.height - SHOWN_REASONS} more reasons: `wattlock show {result.id}` has them"


def _draw(folder: RunFolder, result: Result, estimates: pl.DataFrame) -> None:
    """Writes the report, where its extra is installed: the run is measured either way."""
    if extras.absent("report"):
        echo(f"note: no report is drawn; `{extras.install('report')}`, then `{folder.reporting}`", err=True)
        return
    from wattlock.energy.valuing import card_of
    from wattlock.report.run_page import write_report

    page = folder.path / "report.html"
    write_report(page, result, estimates, card_of(result, None))
    echo(f"The report: {page}", err=True)
