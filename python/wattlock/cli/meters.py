"""`wattlock meters`: what this machine can be measured with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from wattlock.cli.echo import echo
from wattlock.cli.options import (
    Columns,
    On,
    SysRoot,
    Units,
    Voltage,
    chosen,
    given,
    refuse_beside,
    refuse_pair,
    refuse_without,
)
from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table
from wattlock.errors import InputError

SHORT = ["name", "access", "unit", "update_ms", "gain_percent", "read_us", "scope"]
"""The columns for eyes; JSON and CSV have all that the probe says."""

NEEDS = ("name", "kind", "unit", "scope", "access", "hint", "overlaps")
KINDS = {
    "powercap": "class/powercap: the processor's counters; virtual machines hide them, else load intel_rapl_msr",
    "perf": "devices/power: the same counters by the kernel's perf; virtual machines hide them",
    "battery": "class/power_supply: a battery; desktops and servers have none",
    "hwmon": "class/hwmon: sensors of power on a board or in a supply; load the driver of the chip",
}
"""Where each kind of meter would be, and why it may be missing."""

FEW = 4
"""Meters with the same joules that a line names: of a server with 33 counters each shares some with 32."""

BESIDE = "also supported: a Nordic PPK2 (--read ppk2 --stream FILE), CSV exports of Otii, Joulescope and others (--csv)"


@dataclass(frozen=True)
class Recorded:
    """A recording of an instrument, and what in it counts."""

    csv: Annotated[
        Path | None,
        typer.Option(
            "--csv",
            metavar="FILE",
            help="Integrate this recording: columns of time and of current and voltage, or power, with units.",
        ),
    ] = None
    blocks: Annotated[
        Path | None,
        typer.Option(
            "--blocks", metavar="FILE", help="Its blocks: a CSV of block,start_s,end_s in the recording's time."
        ),
    ] = None
    marker: Annotated[
        str | None,
        typer.Option(
            "--marker", metavar="COLUMN", help="Its blocks are where this column is not 0; D0 to D7 of D0-D7."
        ),
    ] = None
    voltage: Voltage = None
    unit: Units = None
    column: Columns = None


def meters(
    context: typer.Context,
    *,
    read: Annotated[
        str | None, typer.Option("--read", metavar="NAME", help="Read this meter: idle power, what a read costs.")
    ] = None,
    sys_root: SysRoot = None,
    stream: Annotated[
        Path | None,
        typer.Option("--stream", metavar="FILE", help="With --read: the meter's serial device or recording."),
    ] = None,
    recorded: Recorded = Recorded(),
    on: On = None,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """List the energy meters of a device, which are missing, and what would grant access to the others.

    --csv integrates a recording of a lab instrument or of generic columns instead.

    Examples: wattlock meters    wattlock meters --on ssh:pi4    wattlock meters --read powercap:package-0
    wattlock meters --csv otii.csv --blocks blocks.csv    wattlock meters --csv ppk2.csv --voltage 3.3 --marker D0
    """
    import polars as pl

    _refuse_together(given(context))
    if recorded.csv is not None:
        _integrate(recorded.csv, recorded, form)
        return

    from wattlock.targets import probe

    if sys_root is not None and on is None and not sys_root.is_dir():
        raise InputError(f"--sys-root {sys_root}: there is no such folder", hint="a tree with class/powercap in it")
    words = ["--sys-root", str(sys_root)] if sys_root else []
    if read is not None:
        words += ["--read", read, *(["--stream", str(stream)] if stream else [])]
        print_table(pl.DataFrame(probe.rows(chosen(on), "meters", "--format", "json", *words, needs=())), form)
        return
    _list(probe.rows(chosen(on), "meters", "--format", "json", *words, needs=NEEDS), sys_root, form)


def _integrate(file: Path, recorded: Recorded, form: Format) -> None:
    """Prints the joules of a recording, and on standard error which block has none, and why."""
    from wattlock.energy.recordings import by_quantity, integrate

    table = integrate(
        file,
        blocks=recorded.blocks,
        marker=recorded.marker,
        voltage_V=recorded.voltage,
        units=by_quantity(recorded.unit or [], "--unit"),
        chosen=by_quantity(recorded.column or [], "--column"),
    )
    print_table(table, form)
    for row in table.filter(table["error"].is_not_null()).iter_rows(named=True):
        echo(f"block {row['block']}: {row['error']}", err=True)


def _refuse_together(requested: dict[str, Any]) -> None:
    """Raises InputError where options don't go together, or say something of one that was not given."""
    if "--csv" in requested:
        refuse_beside(requested, "--csv", ["--blocks", "--marker", "--voltage", "--unit", "--column", "--format"])
    for option in ("--blocks", "--marker", "--voltage", "--unit", "--column"):
        refuse_without(requested, option, "--csv", "name the recording: --csv otii.csv")
    refuse_pair(requested, "--blocks", "--marker", "both say where the blocks are: leave one of them out")
    refuse_without(requested, "--stream", "--read", "name the meter: --read ppk2")


def _list(rows: list[dict[str, Any]], sys_root: Path | None, form: Format) -> None:
    """The meters, and to standard error what is missing and what would grant access."""
    import polars as pl

    if form is not Format.table:
        print_table(pl.DataFrame(rows, infer_schema_length=None), form)
        return
    if rows:
        print_table(pl.DataFrame([_line(row) for row in rows], infer_schema_length=None).select(SHORT), form)
    for row in rows:
        if row["hint"]:
            echo(f"{row['name']}: {row['access']}\n  {row['hint']}", err=True)
        if row["overlaps"]:
            shown, more = row["overlaps"][:FEW], len(row["overlaps"]) - FEW
            others = ", ".join(shown) + (f" and {more} others (--format json has them)" if more > 0 else "")
            echo(f"{row['name']} counts some of the same joules as {others}", err=True)
    for kind, why in KINDS.items():
        if not any(row["kind"].startswith(kind) for row in rows):
            echo(f"missing: {kind}: nothing in {sys_root or '/sys'}/{why}", err=True)
    echo(BESIDE, err=True)


def _line(row: dict[str, Any]) -> dict[str, Any]:
    return {
        **{name: row[name] for name in ("name", "unit", "scope")},
        "access": "yes" if row["access"] == "yes" else "no",
        "update_ms": row["update_period_ns"] / 1e6,
        "gain_percent": 100 * row["gain_relative_uncertainty"],
        "read_us": None if row["read_ns"] is None else row["read_ns"] / 1e3,
    }
