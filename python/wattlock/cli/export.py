"""`wattlock export`: the estimates of a run as a file for other programs, or for a paper."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wattlock.cli.echo import echo
from wattlock.cli.options import AllowAssumed, Device, Run
from wattlock.errors import EvidenceError, UsageError

if TYPE_CHECKING:
    import polars as pl

    from wattlock.report.described import About


class ExportFormat(StrEnum):
    """What is written."""

    csv = "csv"
    parquet = "parquet"
    latex = "latex"
    json = "json"


ENDINGS = {
    ".csv": ExportFormat.csv,
    ".parquet": ExportFormat.parquet,
    ".tex": ExportFormat.latex,
    ".json": ExportFormat.json,
}


def export(
    run: Run = "last",
    *,
    form: Annotated[
        ExportFormat | None, typer.Option("--format", help="csv without it, or what the ending of --out says.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="In place of standard output; parquet needs one.")
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Withhold host name, user, paths and serial numbers.")
    ] = False,
    device: Device = None,
    allow_assumed: AllowAssumed = False,
) -> None:
    """Write the estimates of a run with their intervals and evidence, each row with the run that it comes from.

    A column's unit is the end of its name. LaTeX tables need booktabs and graphicx; their
    comments describe the run. Examples: wattlock export last --out estimates.parquet
    wattlock export last --format latex --public --out table.tex
    """
    from wattlock.energy.valuing import valued
    from wattlock.report.described import about
    from wattlock.report.exported import ExportForm, content
    from wattlock.run.result import open_run

    form = form or (_form_of(out) if out else ExportFormat.csv)
    if form is ExportFormat.parquet and out is None:
        raise UsageError("parquet is not text", hint="name a file: --out estimates.parquet")
    result = open_run(run)
    frame, described = valued(result, device, allow_assumed=allow_assumed), about(result, device)
    if public:
        frame, described = _public(frame, described)
    for line in result.explained:
        echo(f"warning: {line}", err=True)
    if form is ExportFormat.latex and result.reasons:
        hint = "the other formats hold its numbers, with `run_is_valid` beside them; measure again for results"
        raise EvidenceError("an invalid run has no results to print in a paper", hint=hint)
    _write(content(frame, described, ExportForm(form)), out)


def _form_of(out: Path) -> ExportFormat:
    """The format that a file's ending names. Raises InputError where it names none."""
    if out.suffix not in ENDINGS:
        from wattlock.store.disk import is_stream

        if is_stream(out):
            return ExportFormat.csv
        hint = f"end it with {', '.join(ENDINGS)}, or name the format with --format"
        raise UsageError(f"--out {out}: its ending names no format", hint=hint)
    return ENDINGS[out.suffix]


def _public(frame: pl.DataFrame, about: About) -> tuple[pl.DataFrame, About]:
    import getpass
    import socket

    from wattlock.report.exported import public, public_frame

    host = socket.gethostname()
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a number without a name
        user = ""
    names = [host, host.partition(".")[0], user, Path.home().name]
    return public_frame(frame, names), {
        key: public(value, names) if isinstance(value, str) else value for key, value in about.items()
    }


def _write(written: bytes, out: Path | None) -> None:
    if out is None:
        sys.stdout.buffer.write(written)
        return
    from wattlock.store.disk import write_out

    write_out(out, written, "--out")
    echo(f"wrote {out}", err=True)
