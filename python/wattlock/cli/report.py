"""`wattlock report`: draw the report of a run again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wattlock.cli.echo import echo, wrote
from wattlock.cli.options import AllowAssumed, Device, Run

if TYPE_CHECKING:
    from wattlock.store import RunFolder


def report(
    run: Run = "last",
    device: Device = None,
    allow_assumed: AllowAssumed = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="In place of RUN/report.html.")] = None,
    export: Annotated[
        Path | None,
        typer.Option("--export", metavar="DIR", help="Also write each figure as PNG, SVG, PDF and its numbers as CSV."),
    ] = None,
) -> None:
    """Draw the report of a run again: one HTML file that works offline.

    --export names each file by run and figure, RUN--FIGURE.png, and writes over what is there.

    Examples: wattlock report last --out look.html; wattlock report last --export figures
    """
    from wattlock.cli.facts import facts
    from wattlock.energy.device_cards import valued
    from wattlock.report.page import write_report
    from wattlock.run.counts import is_counted
    from wattlock.run.result import read
    from wattlock.store import RunFolder, find

    folder = RunFolder.open(find(run))
    page = out or folder.path / "report.html"
    if is_counted(folder):
        _counted(folder, page, device, export, allow_assumed=allow_assumed)
        return
    result = read(folder)
    described, estimates = facts(result, device), valued(result, device, allow_assumed=allow_assumed)
    write_report(page, described, estimates, result.ranking)
    wrote(page)
    if export is not None:
        from wattlock.report.report_files import write_report_figures

        written = write_report_figures(export, described, estimates, result.ranking)
        echo(f"wrote {written} files into {export}", err=True)


def _counted(folder: RunFolder, page: Path, device: str | None, export: Path | None, *, allow_assumed: bool) -> None:
    from wattlock.cli.counted import write_page
    from wattlock.run.counts import read

    found = read(folder)
    estimates = write_page(found, page, device, allow_assumed=allow_assumed)
    wrote(page)
    if export is not None:
        from wattlock.report.report_files import write_counted_figures

        written = write_counted_figures(export, found.id, found.plan["study"]["title"], estimates, found.ranking)
        echo(f"wrote {written} files into {export}", err=True)
