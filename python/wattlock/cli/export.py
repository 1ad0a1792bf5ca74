"""`wattlock export`: the estimates of a run as a file for other programs, or for a paper."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wattlock.cli.echo import echo
from wattlock.cli.options import AllowAssumed, Device, Run
from wattlock.errors import EvidenceError, InputError

if TYPE_CHECKING:
    import polars as pl

    from wattlock.run.result import Result
    from wattlock.store import RunFolder

    About = dict[str, str | bool | None]


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
    from wattlock.energy.device_cards import valued
    from wattlock.run.counts import is_counted
    from wattlock.run.result import read
    from wattlock.store import RunFolder, find

    form = form or (_form_of(out) if out else ExportFormat.csv)
    if form is ExportFormat.parquet and out is None:
        raise InputError("parquet is not text", hint="name a file: --out estimates.parquet")
    folder = RunFolder.open(find(run))
    if is_counted(folder):
        frame, about = _counted(folder, device, allow_assumed=allow_assumed)
        _write(content(*(_public(frame, about) if public else (frame, about)), form), out)
        return
    result = read(folder)
    frame = valued(result, device, allow_assumed=allow_assumed)
    about = described(result, device)
    if public:
        frame, about = _public(frame, about)
    for line in result.explained:
        echo(f"warning: {line}", err=True)
    if form is ExportFormat.latex and result.reasons:
        hint = "the other formats hold its numbers, with `run_is_valid` beside them; measure again for results"
        raise EvidenceError("an invalid run has no results to print in a paper", hint=hint)
    _write(content(frame, about, form), out)


def _counted(folder: RunFolder, device: str | None, *, allow_assumed: bool) -> tuple[pl.DataFrame, About]:
    """The estimates of a run that counted, and what it was."""
    from wattlock.cli.counted import about
    from wattlock.energy.counted import valued_counts
    from wattlock.run.counts import read

    found = read(folder)
    return valued_counts(found, device, allow_assumed=allow_assumed), about(found, device)


def _form_of(out: Path) -> ExportFormat:
    """The format that a file's ending names. Raises InputError where it names none."""
    if out.suffix not in ENDINGS:
        from wattlock.store.disk import is_stream

        if is_stream(out):
            return ExportFormat.csv
        hint = f"end it with {', '.join(ENDINGS)}, or name the format with --format"
        raise InputError(f"--out {out}: its ending names no format", hint=hint)
    return ENDINGS[out.suffix]


def described(result: Result, device: str | None) -> About:
    """What the run was: what stands in each row, and in the comments of a table."""
    from wattlock.run import validity

    plan, fingerprint = result.plan, result.header["fingerprint"]
    return {
        "run": plan["id"],
        "run_is_valid": not result.reasons,
        "self_checks": validity.overall(result.verdicts),
        "study": plan["study"]["id"],
        "created": plan["created"],
        "processor": fingerprint["hardware"]["model_name"],
        "isa": fingerprint["build"]["isa"],
        "compiler": fingerprint["build"]["rustc"],
        "probe_sha256": plan["probe_sha256"],
        "wattlock": plan["wattlock"],
        "joules_by": device or (result.meter["name"] if result.meter else plan["device"]),
    }


def _public(frame: pl.DataFrame, about: About) -> tuple[pl.DataFrame, About]:
    import getpass
    import socket

    from wattlock.report.public import public, public_frame

    host = socket.gethostname()
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a number without a name
        user = ""
    names = [host, host.partition(".")[0], user, Path.home().name]
    return public_frame(frame, names), {
        key: public(value, names) if isinstance(value, str) else value for key, value in about.items()
    }


def content(frame: pl.DataFrame, about: About, form: ExportFormat) -> bytes:
    """The file's bytes: the estimates, each row with what its run was."""
    import io

    import polars as pl

    from wattlock.report.latex import latex
    from wattlock.report.written import csv_text, json_array

    if form is ExportFormat.latex:
        return latex(frame, {key: value for key, value in about.items() if value is not None}).encode()
    columns = (
        pl.lit(value, pl.Boolean if isinstance(value, bool) else pl.String).alias(key) for key, value in about.items()
    )
    whole = frame.select(*columns, *frame.columns)
    if form is ExportFormat.json:
        return f"{json_array(whole)}\n".encode()
    if form is ExportFormat.csv:
        return csv_text(whole).encode()
    written = io.BytesIO()
    whole.write_parquet(written)
    return written.getvalue()


def _write(written: bytes, out: Path | None) -> None:
    if out is None:
        sys.stdout.buffer.write(written)
        return
    from wattlock.store.disk import write_out

    write_out(out, written, "--out")
    echo(f"wrote {out}", err=True)
