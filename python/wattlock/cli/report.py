"""`wattlock report`: draw the report of a run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wattlock.cli.options import AllowAssumed, Device, Run


def report(
    run: Run = "last",
    device: Device = None,
    allow_assumed: AllowAssumed = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="In place of RUN/report.html.")] = None,
) -> None:
    """Draw the report of a run again: one HTML file that works offline.

    Example: wattlock report last --out look.html
    """
    from wattlock.cli.facts import facts
    from wattlock.energy.valuing import valued
    from wattlock.report.page import write_report
    from wattlock.run.result import read
    from wattlock.store import RunFolder, find

    folder = RunFolder.open(find(run))
    result = read(folder)
    page = out or folder.path / "report.html"
    write_report(page, facts(result, device), valued(result, device, allow_assumed=allow_assumed), result.ranking)
    typer.echo(str(page))
