"""`wattlock report`: draw the report of a run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wattlock.cli.echo import echo, wrote
from wattlock.cli.options import AllowAssumed, Device
from wattlock.errors import UsageError


def report(
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="RUN...", help="Paths, ids or `last`, which is taken without any.")
    ] = None,
    *,
    device: Device = None,
    allow_assumed: AllowAssumed = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="In place of RUN/report.html.")] = None,
    export: Annotated[
        Path | None,
        typer.Option("--export", metavar="DIR", help="Also write each figure as PNG, SVG, PDF and its numbers as CSV."),
    ] = None,
) -> None:
    """Draw the reports of runs again: one HTML file each, which works offline.

    --export names each file by run and figure, RUN--FIGURE.png, and writes over what is there.

    Examples: wattlock report last --out look.html; wattlock report last --export figures; wattlock report runs/*
    """
    from wattlock import notebook

    names = runs or ["last"]
    if out is not None and len(names) > 1:
        raise UsageError(
            f"--out is one file, and there are {len(names)} runs", hint="without it each goes into its run"
        )
    for name in names:
        found = notebook.read(name, device=device, allow_assumed=allow_assumed)
        wrote(notebook.report(found, out=out))
        if export is not None:
            echo(f"wrote {notebook.figures(found, export)} files into {export}", err=True)
