"""`wattlock battery`: how many operations, files, hours or days a battery carries."""

from __future__ import annotations

import math
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wattlock.cli.options import AllowAssumed, Cards, Device
from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table
from wattlock.errors import InputError

if TYPE_CHECKING:
    from wattlock.energy.battery_cards import Law, Model
    from wattlock.energy.tasks import Task

SHORT = ["cipher", "provider", "payload_B", "energy_uJ", "power_W"]
SHORT += ["operations", "operations_low", "operations_high", "hours", "days", "days_low", "days_high", "evidence"]
"""The columns for eyes; JSON and CSV have all of them."""
LEAST_us = 1e-6
"""A picosecond: light goes 0.3 mm."""


def battery(
    card: Annotated[str, typer.Argument(metavar="BATTERY", help="A battery card (`wattlock devices --kind battery`).")],
    *,
    run: Annotated[
        str | None,
        typer.Option("--run", metavar="RUN", help="A run's path, its id, or `last`: its joules an operation."),
    ] = None,
    energy_uJ: Annotated[
        float | None,
        typer.Option("--energy-uJ", help="Microjoules of one operation, in place of a run: your own figure."),
    ] = None,
    cycles: Annotated[
        float | None, typer.Option("--cycles", help="Cycles of an operation, your own figure, valued by --device.")
    ] = None,
    time_us: Annotated[float | None, typer.Option("--time-us", help="Microseconds of it.")] = None,
    device: Device = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="ID", help="Only these ciphers of the run, as 'aes*'.")
    ] = None,
    payload_B: Annotated[int | None, typer.Option("--payload-B", min=1, help="Only cells of this payload.")] = None,
    file_B: Annotated[
        int | None, typer.Option("--file-B", min=1, help="An operation is a file of so many octets.")
    ] = None,
    encrypt_share: Annotated[
        float, typer.Option("--encrypt-share", min=0, max=1, help="Share of encryptions; the others decrypt.")
    ] = 1.0,
    idle_W: Annotated[float, typer.Option("--idle-W", help="What the rest of the device draws, always.")] = 0.0,
    duty: Annotated[float, typer.Option("--duty", min=0, max=1, help="Share of the time that it works.")] = 1.0,
    per_second: Annotated[
        float | None, typer.Option("--per-second", min=0, help="Operations a second, in place of --duty.")
    ] = None,
    model: Annotated[
        str, typer.Option("--model", help="linear, peukert, kibam or tremblay, as far as the card has its numbers.")
    ] = "linear",
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without",
            metavar="LAW",
            help="Leave out a law of the card: ageing, temperature, self-discharge, shelf-life.",
        ),
    ] = None,
    temperature_C: Annotated[
        float, typer.Option("--temperature-C", help="Mean temperature of the battery, -40 to 60.")
    ] = 20.0,
    temperature_sigma_C: Annotated[
        float, typer.Option("--temperature-sigma-C", help="Its standard deviation, 0 to 20.")
    ] = 5.0,
    draws: Annotated[int, typer.Option("--draws", min=100, max=1_000_000, help="Batteries drawn.")] = 10_000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the draws.")] = 1,
    figure: Annotated[
        Path | None, typer.Option("--figure", metavar="FILE", help="Draw the discharge: .html, .svg or .png.")
    ] = None,
    cards: Cards = None,
    allow_assumed: AllowAssumed = False,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """Say how many operations a battery carries, as medians with 95 % intervals, and draw its discharge.

    --only and --without may be given several times. Example: wattlock battery pxa270-handheld --run last
    --device pxa270-520 --file-B 5000000 --only '3des*' --figure fall.svg --allow-assumed
    """
    from wattlock.energy import battery_cards, tasks
    from wattlock.energy.lifetime import Surroundings

    _refuse_no_numbers(
        {
            "--energy-uJ": energy_uJ,
            "--cycles": cycles,
            "--time-us": time_us,
            "--idle-W": idle_W,
            "--per-second": per_second,
            "--temperature-C": temperature_C,
            "--temperature-sigma-C": temperature_sigma_C,
        }
    )
    chosen = battery_cards.load(card, cards)
    laws = _laws(chosen.card.laws(), without or [])
    if run is not None and energy_uJ is None and cycles is None:
        work = _of_run(
            run,
            device=device,
            own=cards,
            only=only or [],
            encrypt_share=encrypt_share,
            payload_B=payload_B,
            file_B=file_B,
            allow_assumed=allow_assumed,
        )
    elif run is None and (energy_uJ is None) != (cycles is None):
        if only or payload_B is not None or file_B is not None or encrypt_share < 1:
            hint = "name a run with --run, or leave them out"
            raise InputError(
                "--only, --payload-B, --file-B and --encrypt-share choose among the cells of a run", hint=hint
            )
        if energy_uJ is not None and device is not None:
            hint = "leave it out, or give --cycles in place of --energy-uJ"
            raise InputError("--device values cycles, and --energy-uJ is joules already", hint=hint)
        work = [_own(energy_uJ, cycles, time_us, device=device, own=cards, allow_assumed=allow_assumed)]
    else:
        hint = "--run last takes the last run"
        raise InputError("name either a run or, with --energy-uJ or --cycles, an operation", hint=hint)
    drawn = tasks.plan(
        chosen,
        _model(model),
        laws,
        draws=draws,
        seed=seed,
        at=Surroundings(temperature_C, temperature_sigma_C),
        allow_assumed=allow_assumed,
    )
    if per_second is not None and duty < 1:
        raise InputError("--per-second and --duty both say how busy the device is", hint="give one of them")
    busy = tasks.Duty(duty, per_second, idle_W)
    rows = tasks.answer(work, busy, drawn, seed=seed)
    if figure is not None:
        from wattlock.report.discharge import discharge, write_figure

        write_figure(discharge(tasks.curves(work, busy, drawn)), figure)
        typer.echo(f"drew {figure}", err=True)
    print_table(rows.select(SHORT) if form is Format.table else rows, form)


def _refuse_no_numbers(given: dict[str, float | None]) -> None:
    """An option takes `nan` and `inf` for numbers; no life comes of them."""
    for option, value in given.items():
        if value is not None and not math.isfinite(value):
            raise InputError(f"{option} is {value:g}, which is no number of anything", hint="give a finite number")


def _model(name: str) -> Model:
    from wattlock.definitions import suggestion
    from wattlock.energy.battery_cards import MODELS

    for model in MODELS:
        if model == name:
            return model
    raise InputError(f'there is no battery model "{name}"', hint=suggestion(name, MODELS, "there are"))


def _laws(known: list[Law], without: list[str]) -> list[Law]:
    from wattlock.definitions import suggestion

    for name in without:
        if name not in known:
            raise InputError(
                f'--without {name}: the card has no law "{name}"', hint=suggestion(name, known, "its laws are")
            )
    return [law for law in known if law not in without]


def _own(
    energy_uJ: float | None,
    cycles: float | None,
    time_us: float | None,
    *,
    device: str | None,
    own: Path | None,
    allow_assumed: bool,
) -> Task:
    """An operation of the user's own, by its joules or by its cycles and a device card; nobody can check the figure."""
    from wattlock.energy import tasks
    from wattlock.energy.cards import load
    from wattlock.errors import EvidenceError

    given, name = (energy_uJ, "--energy-uJ") if cycles is None else (cycles, "--cycles")
    if given is None or given < 0 or (time_us is not None and time_us <= 0):
        hint = "--energy-uJ 12.5 --time-us 80"
        raise InputError("an operation has no negative joules and takes some time", hint=hint)
    if time_us is not None and time_us < LEAST_us:
        raise InputError(f"--time-us is {time_us:g}: no operation is that short", hint="--time-us 80")
    if not allow_assumed:
        hint = "--allow-assumed takes it, and the result says so"
        raise EvidenceError(f"{name} {given:g} has no source that could be checked", hint=hint)
    time_s = None if time_us is None else time_us * 1e-6
    if cycles is None:
        half = tasks.Half(given * 1e-6, 0.0, time_s)
    elif device is None:
        raise InputError("--cycles needs a card that values them", hint="name one with --device (`wattlock devices`)")
    else:
        half = tasks.by_card(load(device, own), cycles, time_s)
    return tasks.Task("your own", None, None, None, [(1.0, half)], "assumed")


def _of_run(
    run: str,
    *,
    device: str | None,
    own: Path | None,
    only: list[str],
    encrypt_share: float,
    payload_B: int | None,
    file_B: int | None,
    allow_assumed: bool,
) -> list[Task]:
    import polars as pl

    from wattlock.cli.facts import asked, valued
    from wattlock.definitions import suggestion
    from wattlock.energy import tasks
    from wattlock.run.result import read
    from wattlock.store import RunFolder, find

    result = read(RunFolder.open(find(run)))
    estimates = valued(result, device, allow_assumed=allow_assumed, own=own)
    for reason in result.reasons:
        typer.echo(f"warning: the run is invalid: {reason}", err=True)
    if only:
        ciphers = sorted(set(estimates["cipher"]))
        kept = [cipher for cipher in ciphers if any(fnmatchcase(cipher, pattern) for pattern in only)]
        if not kept:
            raise InputError(f"--only {only[0]}: no cipher of the run", hint=suggestion(only[0], ciphers, "it has"))
        estimates = estimates.filter(pl.col("cipher").is_in(kept))
    valuing: Any = asked(result, device, own)
    clock = valuing.card.frequency if valuing else None
    return tasks.from_estimates(
        estimates,
        encrypt_share=encrypt_share,
        payload_B=payload_B,
        file_B=file_B,
        clock_Hz=clock.in_SI if clock else None,
        counts_cycles=bool(valuing and valuing.card.counts_cycles),
    )
