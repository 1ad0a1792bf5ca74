"""`wattlock import`: figures that others published, read from their result files."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from wattlock.cli.echo import echo
from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table


class ImportFormat(StrEnum):
    """Whose format a file has."""

    supercop = "supercop"
    lwc = "lwc"
    pqm4 = "pqm4"


class Unit(StrEnum):
    """What the numbers are."""

    cycles = "cycles"
    us = "us"


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="SUPERCOP's data, an LWC summary, pqm4's benchmarks.")],
    *,
    source: Annotated[str, typer.Option("--source", metavar="TEXT", help="Where it was published: address, commit.")],
    machine: Annotated[str, typer.Option("--machine", metavar="TEXT", help="What it was measured on.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="SET", help="Write the figures for `publish --beside`, as JSON.")
    ] = None,
    form: Annotated[ImportFormat | None, typer.Option("--format", help="Whose format; detected without it.")] = None,
    unit: Annotated[Unit | None, typer.Option("--unit", help="What an LWC file has, which it doesn't say.")] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="PATTERN", help="Ciphers to keep, as 'ascon*'.")
    ] = None,
    payload_B: Annotated[
        list[int] | None, typer.Option("--payload-B", metavar="N", min=0, help="Lengths to keep.")
    ] = None,
    shown: Annotated[Format, typer.Option("--table", help="How to print the table.")] = Format.table,
) -> None:
    """Read figures that others published: SUPERCOP's data, NIST's LWC benchmarks on boards, pqm4's benchmarks.

    Their evidence is `published`: wattlock measured none of it, so that they are printed beside its own numbers in a
    published set and ranked with none. Names stay those of their authors.

    Example: wattlock import nano33ble-aead-summary.csv --unit cycles --machine 'Arduino Nano 33 BLE' --source
    https://github.com/usnistgov/Lightweight-Cryptography-Benchmarking --only 'ascon*' --out nano33ble.json
    """
    import polars as pl

    from wattlock.publish import imported
    from wattlock.store.disk import write_out

    found = imported.read(file, form=form, source=source, machine=machine, unit=unit)
    found = found.keeping(only or [], payload_B or [])
    if out is not None:
        write_out(out, found.write(), "--out")
        echo(f"wrote {len(found.figures)} published figures into {out}", err=True)
        return
    rows = pl.DataFrame([figure.model_dump() for figure in found.figures], infer_schema_length=None)
    held = {"unit": found.unit, "statistic": found.statistic, "evidence": found.evidence, "source": found.source}
    print_table(rows.with_columns(pl.lit(value).alias(name) for name, value in held.items()), shown)
