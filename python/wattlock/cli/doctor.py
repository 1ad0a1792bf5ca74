"""`wattlock doctor`: how fit a device is for measuring."""

from __future__ import annotations

from typing import Annotated

import typer

from wattlock.cli.options import On
from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table
from wattlock.cli.target import chosen
from wattlock.extras import EXTRAS, PURPOSE, absent, install


def doctor(
    seconds: Annotated[int, typer.Option("--seconds", min=1, max=600, help="How long to watch the core.")] = 5,
    on: On = None,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """Say how fit this machine, or the device of --on, is for measuring, and what would make it fitter.

    Examples: wattlock doctor --seconds 5    wattlock doctor --on ssh:pi4
    """
    import polars as pl

    from wattlock.targets import probe

    checks = probe.rows(
        chosen(on), "doctor", "--seconds", str(seconds), "--format", "json", needs=["verdict"], most_s=120 + seconds
    )
    checks += [_check_of(extra) for extra in EXTRAS]
    print_table(pl.DataFrame(checks, infer_schema_length=None), form)
    if any(check["verdict"] == "fail" for check in checks):
        raise typer.Exit(1)


def _check_of(extra: str) -> dict[str, str | None]:
    """A row of the table: whether this extra is installed, and what it is for."""
    lacking = absent(extra)
    return {
        "check": f"extra {extra}",
        "verdict": "absent" if lacking else "ok",
        "value": f"{', '.join(lacking)} not installed" if lacking else "installed",
        "advice": f"for {PURPOSE[extra]}: {install(extra)}" if lacking else None,
    }
