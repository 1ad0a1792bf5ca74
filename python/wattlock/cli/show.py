"""`wattlock show`: print the estimates of a run."""

from __future__ import annotations

from typing import Annotated

import typer

from wattlock.cli.options import AllowAssumed, Device, Run
from wattlock.cli.table import Format, short
from wattlock.cli.table import show as print_table

SHORT = [
    "cipher",
    "provider",
    "operation",
    "payload_B",
    "data",
    "time_ns",
    "cycles_per_byte",
    "half_width_percent",
    "throughput_MB_s",
    "energy_uJ_per_byte",
    "state",
]
"""The columns for eyes, with `aad_B` where a cell has associated data; JSON and CSV have all of them."""


def show(
    run: Run = "last",
    device: Device = None,
    allow_assumed: AllowAssumed = False,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """Print what a run found: one row a cell.

    Example: wattlock show last --format json
    """
    import polars as pl

    from wattlock.cli.facts import valued
    from wattlock.run.result import read
    from wattlock.store import RunFolder, find

    folder = RunFolder.open(find(run))
    if folder.is_sealed:
        folder.verify()
    result = read(folder)
    estimates = valued(result, device, allow_assumed=allow_assumed)
    for line in [f"the run is invalid: {reason}" for reason in result.reasons] + result.warnings:
        typer.echo(f"warning: {line}", err=True)
    columns = SHORT
    if "energy_state" in estimates.columns:
        columns = [*SHORT[:-1], "energy_random_percent", "energy_state", "state"]
        scopes = estimates["energy_scope"].drop_nulls().unique()
        if len(scopes):
            typer.echo(f"joules: net of {estimates['energy_baseline'].drop_nulls()[0]}; {scopes[0]}", err=True)
        for row in estimates.filter(pl.col("energy_uJ").is_null()).iter_rows(named=True):
            typer.echo(
                f"no energy: {row['cipher']} {row['operation']} {row['payload_B']} B: {row['energy_reason']}", err=True
            )
    print_table(estimates.select(short(columns, estimates)) if form is Format.table else estimates, form)
