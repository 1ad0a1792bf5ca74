"""`wattlock report`: draw the report of a run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's path, its id, or `last`.")] = "last",
    device: Annotated[
        str | None, typer.Option("--device", metavar="CARD", help="Value the cycles by this card instead.")
    ] = None,
    allow_assumed: Annotated[
        bool, typer.Option("--allow-assumed", help="Allow cards with numbers that nobody could verify.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="In place of RUN/report.html.")] = None,
) -> None:
    """Draw the report of a run again: one HTML file that works offline.

    Example: wattlock report last --out look.html
    """
    from wattlock.cli.facts import facts, valued
    from wattlock.report.page import write_report
    from wattlock.run.result import read
    from wattlock.store import RunFolder, find

    folder = RunFolder.open(find(run))
    if folder.is_sealed:
        folder.verify()
    result = read(folder)
    page = out or folder.path / "report.html"
    write_report(page, facts(result, device), valued(result, device, allow_assumed=allow_assumed), result.ranking)
    typer.echo(str(page))
