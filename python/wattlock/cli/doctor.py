"""`wattlock doctor`: how fit this machine is for measuring."""

from __future__ import annotations

from typing import Annotated

import typer

from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table
from wattlock.cli.target import chosen


def doctor(
    seconds: Annotated[int, typer.Option("--seconds", min=1, max=600, help="How long to watch the core.")] = 5,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """Say how fit this machine is for measuring, and what would make it fitter.

    Example: wattlock doctor --seconds 5
    """
    import polars as pl

    from wattlock.targets import probe

    checks = probe.rows(
        chosen(), "doctor", "--seconds", str(seconds), "--format", "json", needs=["verdict"], most_s=120 + seconds
    )
    print_table(pl.DataFrame(checks, infer_schema_length=None), form)
    if any(check["verdict"] == "fail" for check in checks):
        raise typer.Exit(1)
