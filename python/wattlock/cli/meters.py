"""`wattlock meters`: what this machine can be weighed with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table
from wattlock.errors import InputError

SHORT = ["name", "access", "unit", "update_ms", "gain_percent", "read_us", "scope"]
"""The columns for eyes; JSON and CSV have all that the probe says."""

KINDS = {
    "powercap": "class/powercap: the processor's counters; virtual machines hide them, else load intel_rapl_msr",
    "perf": "devices/power: the same counters by the kernel's perf; virtual machines hide them",
    "battery": "class/power_supply: a battery; desktops and servers have none",
    "hwmon": "class/hwmon: power sensors, INA2xx and INA3221 on a board; load the driver of the chip",
}
"""Where each kind of meter would be, and why it may be missing."""

BESIDE = "besides: ppk2 by --stream /dev/ttyACM0; recordings of lab instruments by `wattlock-probe meters --csv`"


def meters(
    read: Annotated[
        str | None, typer.Option("--read", metavar="NAME", help="Read this meter: idle power, what a read costs.")
    ] = None,
    sys_root: Annotated[
        Path | None, typer.Option("--sys-root", metavar="DIR", help="Read meters below DIR in place of /sys.")
    ] = None,
    stream: Annotated[
        Path | None,
        typer.Option("--stream", metavar="FILE", help="With --read: the meter's serial device or recording."),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """List the energy meters of this machine, which are missing, and what would grant access to the others.

    Examples: wattlock meters    wattlock meters --read powercap:package-0
    """
    import polars as pl

    from wattlock.targets import local, probe

    if sys_root is not None and not sys_root.is_dir():
        raise InputError(f"--sys-root {sys_root}: there is no such folder", hint="a tree with class/powercap in it")
    words = ["--sys-root", str(sys_root)] if sys_root else []
    if read is not None:
        words += ["--read", read, *(["--stream", str(stream)] if stream else [])]
        print_table(pl.DataFrame(probe.rows(local.find(), "meters", "--format", "json", *words, needs=())), form)
        return
    needs = ("name", "kind", "unit", "scope", "access", "hint", "overlaps")
    rows = probe.rows(local.find(), "meters", "--format", "json", *words, needs=needs)
    if form is not Format.table:
        print_table(pl.DataFrame(rows, infer_schema_length=None), form)
        return
    if rows:
        print_table(pl.DataFrame([_line(row) for row in rows], infer_schema_length=None).select(SHORT), form)
    for row in rows:
        if row["hint"]:
            typer.echo(f"{row['name']}: {row['access']}\n  {row['hint']}", err=True)
        if row["overlaps"]:
            typer.echo(f"{row['name']} counts some of the same joules as {', '.join(row['overlaps'])}", err=True)
    for kind, why in KINDS.items():
        if not any(row["kind"].startswith(kind) for row in rows):
            typer.echo(f"missing: {kind}: nothing in {sys_root or '/sys'}/{why}", err=True)
    typer.echo(BESIDE, err=True)


def _line(row: dict[str, Any]) -> dict[str, Any]:
    return {
        **{name: row[name] for name in ("name", "unit", "scope")},
        "access": "yes" if row["access"] == "yes" else "no",
        "update_ms": row["update_period_ns"] / 1e6,
        "gain_percent": 100 * row["gain_relative_uncertainty"],
        "read_us": None if row["read_ns"] is None else row["read_ns"] / 1e3,
    }
