"""`wattlock sweep`: many link scenarios, questions of advice, battery lives or cases, answered into one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wattlock.cli.echo import echo
from wattlock.cli.options import AllowAssumed, Cards, DefinitionOutput, chosen, given, printed, refuse_pair, refuse_two
from wattlock.cli.progress import bar, heed_ctrl_c
from wattlock.errors import InputError, UsageError


def sweep(
    context: typer.Context,
    definition: Annotated[
        str | None, typer.Argument(metavar="SWEEP", help="A sweep's file, or the name of one that comes along.")
    ] = None,
    *,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="The sweep's folder: new, or one to go on with.")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", metavar="N", min=1, max=1024, help="Processes of this machine; one a processor."),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", metavar="ADDRESS", help="Let the workers of this Dask scheduler answer."),
    ] = None,
    cards: Cards = None,
    allow_assumed: AllowAssumed = False,
    in_place: DefinitionOutput = DefinitionOutput(),
) -> None:
    """Answer every combination of a sweep's values, a row each, into DIR/sweep.parquet.

    The file of a sweep crosses values over scenarios of `wattlock link`, answered by ns-3 too where it says so, over
    profiles of `wattlock advise`, over battery cards, or over sealed runs, whose processes are drawn again. A row that
    can't be has the reason in its column `error`. The same command goes on with a sweep that was stopped or killed; the
    rows are the same on any number of workers.

    Examples: wattlock sweep --template > mine.toml; wattlock sweep mine.toml --out swept;
    wattlock sweep mine.toml --out swept --scheduler tcp://lab:8786
    """
    import polars as pl

    from wattlock.sweep import plan as definitions
    from wattlock.sweep.chunks import carry_out
    from wattlock.sweep.plan import planned

    options = given(context)
    refuse_two(options)
    if printed(in_place, definitions.SWEEPS, definitions.FORM):
        return
    if definition is None or out is None:
        hint = f"for example wattlock sweep {definition or 'mine.toml'} --out swept; --template prints a file to fill"
        raise UsageError("name a sweep" if definition is None else "name a folder for the rows", hint=hint)
    refuse_pair(options, "--workers", "--scheduler", "a scheduler has its own workers: leave one of them out")
    plan = planned(definitions.load(definition), chosen(), cards=cards, allow_assumed=allow_assumed)
    rows = plan.rows
    echo(f"{plan.title}: {rows:,} rows, into {out}", err=True)
    with bar("answering") as report:
        heed_ctrl_c()
        table = carry_out(plan, out, workers=workers, scheduler=scheduler, report=report.answered)
    errors = pl.scan_parquet(table).select("error").drop_nulls().collect().to_series()
    if len(errors) == rows:
        raise InputError(f"none of {rows:,} rows can be: {errors[0]}", hint=f"the rows in {table} say each why")
    if len(errors):
        echo(f"{len(errors):,} of {rows:,} rows can't be: the column error says why", err=True)
    echo(f"The rows: {table}", err=True)
