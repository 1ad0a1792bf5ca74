"""`wattlock show`: print the estimates of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from wattlock.cli.echo import echo
from wattlock.cli.options import AllowAssumed, Device, Run
from wattlock.cli.table import Format, short
from wattlock.cli.table import show as print_table
from wattlock.errors import StoreError, UsageError

if TYPE_CHECKING:
    import polars as pl

    from wattlock.run.result import Result

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
"""The columns for eyes, with `aad_B` where a case has associated data, `reason` where one failed and `time_evidence`
where times are not measured; JSON and CSV have all of them."""

ANSWER = ["time_ns", "energy_uJ_per_byte", "energy_uJ", "cycles", "reason", "state"]
"""What is never left out where a line has no room for all."""

COUNTED = ["cipher", "provider", "operation", "payload_B", "instructions", "cycles", "cycles_per_byte"]
COUNTED += ["cycles_error_percent", "repetitions", "part_cycles", "flash_B", "ram_B", "stack_B", "state"]
"""The same of a run that counted, `reason` where a case has one, and those of `ENERGY` where a card values it."""

ENERGY = ["energy_uJ", "energy_low_uJ", "energy_high_uJ", "energy_evidence"]


def show(  # noqa: PLR0917 - Typer gives every option by its name
    run: Run = "last",
    device: Device = None,
    allow_assumed: AllowAssumed = False,
    battery: Annotated[
        bool, typer.Option("--battery", help="Print what a call took out of the battery that the run discharged.")
    ] = False,
    battery_card: Annotated[
        str | None,
        typer.Option("--battery-card", metavar="CARD", help="Joules of a level in percent: what this battery holds."),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """Print what a run found: one row a case; of a run on a microcontroller cycles, instructions, flash, RAM and stack.

    Examples: wattlock show last --format json    wattlock show last --battery
    wattlock show last --battery --battery-card my-phone.toml --allow-assumed
    """
    from wattlock.energy.valuing import valued
    from wattlock.run.result import open_run

    if battery_card is not None and not battery:
        raise UsageError("--battery-card: is for a battery that was discharged", hint="with --battery")
    result = open_run(run)
    if battery:
        _discharges(result, battery_card, form, allow_assumed=allow_assumed)
        return
    estimates = valued(result, device, allow_assumed=allow_assumed)
    for line in result.notices:
        echo(f"warning: {line}", err=True)
    _say_pauses(result)
    columns = _timed(result, estimates) if "time" in result.quantities else _counted(result, estimates)
    print_table(estimates.select(short(columns, estimates)) if form is Format.table else estimates, form, ANSWER)


def _timed(result: Result, estimates: pl.DataFrame) -> list[str]:
    """The columns for eyes of a run that was timed; says what its joules are, and why cases have none."""
    import polars as pl

    columns = [*SHORT, "reason"] if "failed" in estimates["state"] else SHORT
    if "energy_state" in estimates.columns:
        columns = [*SHORT[:-1], "energy_random_percent", "energy_state", *columns[len(SHORT) - 1 :]]
        scopes = estimates["energy_scope"].drop_nulls().unique()
        if len(scopes):
            echo(f"joules: net of {estimates['energy_baseline'].drop_nulls()[0]}; {scopes[0]}", err=True)
        for row in estimates.filter(pl.col("energy_uJ").is_null()).iter_rows(named=True):
            echo(
                f"no energy: {row['cipher']} {row['operation']} {row['payload_B']} B: {row['energy_reason']}", err=True
            )
    if set(estimates["time_evidence"].drop_nulls()) - {"measured"}:
        columns = [*columns, "time_evidence"]
    if result.reasons:
        # Where columns do not fit, the last ones go: these numbers are never without their state.
        columns = ["state", *(name for name in columns if name != "state")]
    return columns


def _counted(result: Result, estimates: pl.DataFrame) -> list[str]:
    """The columns for eyes of a run that counted, those that hold anything; says on what, and by which compiler."""
    where = ", ".join(word for word in (result.core.target, result.emulator) if word)
    echo(f"{result.evidence}: {where}; {result.compiler or 'nothing was compiled'}", err=True)
    columns = [*COUNTED, "reason"] if estimates["reason"].count() else COUNTED
    if "energy_uJ" in estimates.columns:
        place = columns.index("flash_B")
        columns = [*columns[:place], *ENERGY, *columns[place:]]
    return [name for name in columns if name == "cycles" or estimates[name].count()]


def _say_pauses(result: Result) -> None:
    if "time" not in result.quantities or result.reasons or result.after_pause.is_empty():
        return
    from wattlock.report.run_answer import after_pause

    for line in after_pause(result.after_pause):
        echo(line, err=True)


def _discharges(result: Result, card: str | None, form: Format, *, allow_assumed: bool) -> None:
    from wattlock.energy import battery_cards

    full = battery_cards.full(battery_cards.load(card), allow_assumed=allow_assumed) if card else None
    discharges = result.discharged_by(full)
    if discharges is None:
        hint = "`wattlock run STUDY --battery BAT0 --repeats 6000` makes a run that does"
        raise StoreError(f"run {result.id}: discharges no battery", hint=hint)
    for row in discharges.filter(discharges["reason"].is_not_null()).iter_rows(named=True):
        echo(f"{row['cipher']} {row['operation']} {row['payload_B']} B: {row['reason']}", err=True)
    print_table(discharges.drop("reason") if form is Format.table else discharges, form)
