"""`wattlock battery`: how many operations, files, hours or days a battery carries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wattlock.cli.echo import echo
from wattlock.cli.options import AllowAssumed, Cards, Device
from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table
from wattlock.errors import UsageError

if TYPE_CHECKING:
    from wattlock.energy.battery_operations import CaseFilter, OwnOperation
    from wattlock.energy.tasks import RepeatedOperation

SHORT = ["cipher", "provider", "payload_B", "energy_uJ", "power_W"]
SHORT += ["operations", "operations_low", "operations_high", "hours", "days", "days_low", "days_high", "evidence"]
"""The columns for eyes; JSON and CSV have all of them."""


@dataclass(frozen=True)
class OperationCost:
    """What one operation costs: by a run, or the user's own figure."""

    run: Annotated[
        str | None,
        typer.Option("--run", metavar="RUN", help="A run's path, its id, or `last`: its joules an operation."),
    ] = None
    energy_uJ: Annotated[
        float | None,
        typer.Option("--energy-uJ", help="Microjoules of one operation, in place of a run: your own figure."),
    ] = None
    cycles: Annotated[
        float | None, typer.Option("--cycles", help="Cycles of an operation, your own figure, valued by --device.")
    ] = None
    time_us: Annotated[float | None, typer.Option("--time-us", help="Microseconds of it.")] = None


@dataclass(frozen=True)
class Chosen:
    """Which cases of the run, and which operation."""

    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="ID", help="Only these ciphers of the run, as 'aes*'.")
    ] = None
    payload_B: Annotated[int | None, typer.Option("--payload-B", min=1, help="Only cases of this payload.")] = None
    file_B: Annotated[int | None, typer.Option("--file-B", min=1, help="An operation is a file of so many octets.")] = (
        None
    )
    encrypt_share: Annotated[
        float, typer.Option("--encrypt-share", min=0, max=1, help="Share of encryptions; the others decrypt.")
    ] = 1.0


@dataclass(frozen=True)
class DutyOptions:
    """How busy the device is."""

    idle_W: Annotated[float, typer.Option("--idle-W", help="What the rest of the device draws, always.")] = 0.0
    duty: Annotated[float, typer.Option("--duty", min=0, max=1, help="Share of the time that it works.")] = 1.0
    per_second: Annotated[
        float | None, typer.Option("--per-second", min=0, help="Operations a second, in place of --duty.")
    ] = None


@dataclass(frozen=True)
class Around:
    """The battery's model and what surrounds it."""

    model: Annotated[
        str, typer.Option("--model", help="linear, peukert, kibam or tremblay, as far as the card has its numbers.")
    ] = "linear"
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without",
            metavar="LAW",
            help="Leave out a law of the card: ageing, temperature, self-discharge, shelf-life.",
        ),
    ] = None
    temperature_C: Annotated[
        float, typer.Option("--temperature-C", help="Mean temperature of the battery, -40 to 60.")
    ] = 20.0
    temperature_sigma_C: Annotated[
        float, typer.Option("--temperature-sigma-C", help="Its standard deviation, 0 to 20.")
    ] = 5.0
    draws: Annotated[
        int, typer.Option("--draws", min=100, max=1_000_000, help="Monte Carlo samples of the battery.")
    ] = 10_000
    seed: Annotated[int, typer.Option("--seed", min=0, help="Random seed of the samples.")] = 1


def battery(
    card: Annotated[str, typer.Argument(metavar="BATTERY", help="A battery card (`wattlock devices --kind battery`).")],
    *,
    priced: OperationCost = OperationCost(),
    device: Device = None,
    chosen: Chosen = Chosen(),
    busy: DutyOptions = DutyOptions(),
    around: Around = Around(),
    figure: Annotated[
        Path | None, typer.Option("--figure", metavar="FILE", help="Draw the discharge: .html, .svg or .png.")
    ] = None,
    cards: Cards = None,
    allow_assumed: AllowAssumed = False,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """Say how many operations a battery carries, as medians with 95 % intervals, and draw its discharge.

    Example: wattlock battery pxa270-handheld --run last
    --device pxa270-520 --file-B 5000000 --only '3des*' --figure discharge.svg --allow-assumed
    """
    from wattlock.energy import battery_cards, battery_operations
    from wattlock.energy.battery_cards import Surroundings
    from wattlock.energy.battery_operations import CaseFilter, Circumstances, OwnOperation
    from wattlock.energy.tasks import Duty

    _refuse_no_numbers(
        {
            "--energy-uJ": priced.energy_uJ,
            "--cycles": priced.cycles,
            "--time-us": priced.time_us,
            "--idle-W": busy.idle_W,
            "--per-second": busy.per_second,
            "--temperature-C": around.temperature_C,
            "--temperature-sigma-C": around.temperature_sigma_C,
        }
    )
    if busy.per_second is not None and busy.duty < 1:
        raise UsageError("--per-second and --duty both say how busy the device is", hint="give one of them")
    battery_cards.load(card, cards)  # a name that no card has comes before what is wrong with the operation
    choice = CaseFilter(chosen.only or (), chosen.payload_B, chosen.file_B, chosen.encrypt_share)
    operation = OwnOperation(priced.energy_uJ, priced.cycles, priced.time_us)
    work = _work(priced.run, operation, choice, device, cards=cards, allow_assumed=allow_assumed)
    surroundings = Surroundings(around.temperature_C, around.temperature_sigma_C)
    given = Circumstances(around.model, around.without or (), surroundings, around.draws, around.seed)
    duty = Duty(busy.duty, busy.per_second, busy.idle_W)
    carried = battery_operations.battery(card, work, duty, given, cards=cards, allow_assumed=allow_assumed)
    for warning in carried.warnings():
        echo(f"warning: {warning}", err=True)
    if figure is not None:
        from wattlock.report.charts import discharge, write_figure

        write_figure(discharge(carried.curves()), figure)
        echo(f"drew {figure}", err=True)
    print_table(carried.table.select(SHORT) if form is Format.table else carried.table, form)


def _work(
    run: str | None,
    operation: OwnOperation,
    choice: CaseFilter,
    device: str | None,
    *,
    cards: Path | None,
    allow_assumed: bool,
) -> list[RepeatedOperation]:
    """The operations of a run, or the user's own.

    Raises InputError where options don't go together.
    """
    from wattlock.energy import battery_operations
    from wattlock.run.result import open_one_kind

    if run is not None and operation.energy_uJ is None and operation.cycles is None:
        result = open_one_kind(run)
        for line in result.explained:
            echo(f"warning: {line}", err=True)
        return battery_operations.of_run(result, device, choice, cards=cards, allow_assumed=allow_assumed)
    if run is not None or (operation.energy_uJ is None) == (operation.cycles is None):
        hint = "--run last takes the last run"
        raise UsageError("name either a run or, with --energy-uJ or --cycles, an operation", hint=hint)
    if choice.is_made:
        hint = "name a run with --run, or leave them out"
        raise UsageError("--only, --payload-B, --file-B and --encrypt-share choose among the cases of a run", hint=hint)
    if operation.energy_uJ is not None and device is not None:
        hint = "leave it out, or give --cycles in place of --energy-uJ"
        raise UsageError("--device values cycles, and --energy-uJ is joules already", hint=hint)
    return battery_operations.of_own(operation, device, cards=cards, allow_assumed=allow_assumed)


def _refuse_no_numbers(given: dict[str, float | None]) -> None:
    """An option takes `nan` and `inf` for numbers; no life comes of them."""
    for option, value in given.items():
        if value is not None and not math.isfinite(value):
            raise UsageError(f"{option} is {value:g}, which is no number of anything", hint="give a finite number")
