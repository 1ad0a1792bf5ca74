"""One session of a run: measured to its end, sealed, reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wattlock import extras
from wattlock.cli.counted import say_what_was_counted
from wattlock.cli.echo import echo
from wattlock.cli.progress import bar, heed_ctrl_c
from wattlock.cli.table import show_aside
from wattlock.errors import CasesFailed, Interrupted

if TYPE_CHECKING:
    from collections.abc import Collection

    import polars as pl

    from wattlock.run.begin import Begun
    from wattlock.run.result import Result
    from wattlock.store import RunFolder

LONG_S = 1800.0
"""A measurement of energy that lasts longer is announced."""


def measure(begun: Begun) -> None:
    """Measures to the end, seals the run and writes its report.

    Raises CasesFailed at the very end where a case failed that this machine has.
    """
    processes = carry_out(begun)
    folder = begun.folder
    counted = begun.session.target.facts().counted is not None
    estimates = say_what_was_counted(folder) if counted else _say_what_came_out(folder, processes)
    refuse_failures(estimates, folder, begun.absent)


def carry_out(begun: Begun) -> int:
    """Measures to the end and seals the run; gives how many processes it has."""
    from wattlock.run.energy import block_length_ns, least_s

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
    from wattlock.energy.device_cards import valued
    from wattlock.report.answer import answer
    from wattlock.run.result import read

    result = read(folder)
    estimates = valued(result, None, allow_assumed=False)
    states = dict(estimates.group_by("state").len().iter_rows())
    counted = ", ".join(f"{count} {state}" for state, count in sorted(states.items(), key=lambda item: -item[1]))
    echo(f"{estimates.height} cases in {result.wall_s:.0f} s over {processes} processes: {counted}", err=True)
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
    if not result.reasons:
        echo(" ".join(answer(estimates, result.ranking)), err=True)
    _draw(folder, result, estimates)
    echo(f"The numbers: {folder.showing}", err=True)
    return estimates


def _draw(folder: RunFolder, result: Result, estimates: pl.DataFrame) -> None:
    """Writes the report, where its extra is installed: the run is measured either way."""
    if extras.absent("report"):
        echo(f"note: no report is drawn; `{extras.install('report')}`, then `{folder.reporting}`", err=True)
        return
    from wattlock.cli.facts import facts
    from wattlock.report.page import write_report

    page = folder.path / "report.html"
    write_report(page, facts(result, None), estimates, result.ranking)
    echo(f"The report: {page}", err=True)
