"""One sitting of a run: measured to its end, sealed, reported."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from wattlock.cli.progress import bar, heed_ctrl_c
from wattlock.errors import CellsFailed, Interrupted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import polars as pl

    from wattlock.run.emptying import Fall
    from wattlock.run.session import Session
    from wattlock.run.weighing import Choice
    from wattlock.store import RunFolder
    from wattlock.study import Cell, InputFile, Study

LONG_S = 1800.0
"""Weighing that lasts longer is announced."""


def measure(
    folder: RunFolder,
    study: Study,
    inputs: Sequence[InputFile],
    probe: Path,
    libraries: Mapping[str, Path],
    *,
    weighed: tuple[Choice, dict[str, Any]] | None,
    fall: Fall | None,
    absent: Collection[tuple[str, str]] = (),
) -> None:
    """Measures to the end, seals the run and writes its report.

    * `absent`: cipher and provider of what this machine has not; that such a cell fails was said before.

    Raises CellsFailed at the very end where any other cell failed.
    """
    from wattlock.run.emptying import Emptying
    from wattlock.run.session import Session
    from wattlock.run.weighing import Weighing, block_length_ns, least_s

    cells = folder.cells()
    own = [cell for cell in cells if cell.role == "study"]
    watch = [cell for cell in cells if cell.role != "study"]
    typer.echo(f"{study.title}: {len(own)} cells, into {folder.path}", err=True)
    if weighed and least_s(weighed[1], len(own)) > LONG_S:
        name, block_s = weighed[1]["name"], block_length_ns(weighed[1]) / 1e9
        hours = least_s(weighed[1], len(own)) / 3600
        typer.echo(f"{name} needs blocks of {block_s:.0f} s: weighing takes {hours:.1f} h at least", err=True)
    with folder, files_of(study, own, inputs) as files, bar() as tell:
        seed = folder.plan()[0]["seed"]
        session = Session(folder, study, own, watch, files, probe, seed, tell.measured, libraries=libraries)
        heed_ctrl_c()
        try:
            session.measure()
            sound = [cell for cell in own if cell.cell not in session.failed]
            cpu = session.processors[0] if session.processors else None
            if weighed:
                choice, meter = weighed
                near = choice.processor(session.processors)
                Weighing(
                    folder, sound, files, probe, seed, choice, meter, cpu=near, tell=tell.weighed, libraries=libraries
                ).measure()
            if fall:
                Emptying(
                    folder, sound, files, probe, seed, fall, cpu=cpu, tell=tell.emptied, libraries=libraries
                ).measure()
        except KeyboardInterrupt:
            kept = "what was measured is kept"
            raise Interrupted(f"stopped; {kept}", hint=f"`wattlock run --resume {folder.path}` goes on") from None
    folder.seal()
    _refuse_failures(_say_what_came_out(folder, session), folder, absent)


@contextmanager
def files_of(study: Study, cells: Sequence[Cell], inputs: Sequence[InputFile]) -> Iterator[Mapping[str, Path]]:
    """The files behind the labels of data cells: the user's, and sample files grown for as long as this lasts."""
    from wattlock.run.scratch import scratch
    from wattlock.study.samples import SAMPLES, grow

    files = {one.label: one.path for one in inputs}
    with scratch() as place:
        for kind in SAMPLES:
            if any(cell.data == kind for cell in cells):
                files[kind] = place / kind
                files[kind].write_bytes(grow(kind, study.file_B))
        yield files


def _refuse_failures(estimates: pl.DataFrame, folder: RunFolder, absent: Collection[tuple[str, str]]) -> None:
    failed = [
        row
        for row in estimates.iter_rows(named=True)
        if row["state"] == "failed" and (row["cipher"], row["provider"]) not in absent
    ]
    if failed:
        first = "{provider}: {cipher} {operation} {payload_B} B: {reason}".format(**failed[0])
        what = f"{len(failed)} of {estimates.height} cells failed, the first by {first}"
        raise CellsFailed(what, hint=f"the others are measured; `wattlock show {folder.path}` gives each reason")


def _say_what_came_out(folder: RunFolder, session: Session) -> pl.DataFrame:
    from wattlock.cli.facts import facts, valued
    from wattlock.report.answer import answer
    from wattlock.report.page import write_report
    from wattlock.run.result import read

    result = read(folder)
    estimates = valued(result, None, allow_assumed=False)
    page = folder.path / "report.html"
    write_report(page, facts(result, None), estimates, result.ranking)
    states = dict(estimates.group_by("state").len().iter_rows())
    counted = ", ".join(f"{count} {state}" for state, count in sorted(states.items(), key=lambda item: -item[1]))
    typer.echo(
        f"{estimates.height} cells in {result.wall_s:.0f} s over {session.process} processes: {counted}", err=True
    )
    if result.energies is not None:
        weighed = dict(result.energies.group_by("energy_state").len().iter_rows())
        typer.echo(f"energy: {', '.join(f'{count} {state}' for state, count in sorted(weighed.items()))}", err=True)
    if result.falls is not None:
        typer.echo(
            f"battery: {result.falls.height} falls; `wattlock show {folder.path} --battery` prints them", err=True
        )
    for reason in result.reasons:
        typer.echo(f"warning: the run is invalid: {reason}", err=True)
    for warning in result.warnings:
        typer.echo(f"warning: {warning}", err=True)
    if not result.reasons:
        typer.echo(" ".join(answer(estimates, result.ranking)), err=True)
    typer.echo(f"The report: {page}", err=True)
    typer.echo(f"The numbers: wattlock show {folder.path}", err=True)
    return estimates
