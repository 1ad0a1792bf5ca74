"""`wattlock devices`: the cards of devices, radios and batteries, and the numbers on one."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wattlock.cli.options import Cards
from wattlock.cli.table import Format, show
from wattlock.errors import InputError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from wattlock.definitions.shelf import Shelf
    from wattlock.energy.battery_cards import BatteryCard
    from wattlock.energy.cards import Card
    from wattlock.energy.number import Number
    from wattlock.energy.radio_cards import RadioCard


class Kind(StrEnum):
    """What a card is of."""

    device = "device"
    radio = "radio"
    battery = "battery"


def devices(
    card: Annotated[
        str | None, typer.Option("--show", metavar="CARD", help="Print the numbers of one card, a name or a path.")
    ] = None,
    kind: Annotated[Kind, typer.Option("--kind", help="What the cards are of.")] = Kind.device,
    cards: Cards = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON schema of all kinds of cards.")] = False,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """List the cards that turn cycles, time, frames and charge into joules; each number has its source.

    A broken card is named on standard error, and the others follow. Example: wattlock devices --show x86-server-assumed
    """
    import polars as pl

    if schema:
        from wattlock.energy.schema import schema_text

        typer.echo(schema_text(), nl=False)
        return
    shelf, line = _shelf(kind)
    if card is None:
        read, faults = shelf.all(cards)
        for fault in faults:
            typer.echo(f"warning: {fault.message}{f' ({fault.hint})' if fault.hint else ''}", err=True)
        show(pl.DataFrame([line(name, one) for name, one in read.items()], infer_schema_length=None), form)
        return
    try:
        _, found = shelf.load(card, cards)
    except InputError as error:
        others = [other for other in Kind if other is not kind and card in _shelf(other)[0].names(cards)]
        if not others:
            raise
        raise InputError(error.message, hint=f"{card} is a card of the kind {others[0]}: --kind {others[0]}") from error
    for words in (found.title, found.note, f"What would narrow it: {found.narrowed_by}"):
        typer.echo(words, err=True)
    show(pl.DataFrame(list(_numbers(found)), infer_schema_length=None), form)


def _shelf(kind: Kind) -> tuple[Shelf[Any], Any]:
    from wattlock.energy.battery_cards import BATTERIES
    from wattlock.energy.cards import DEVICES
    from wattlock.energy.radio_cards import RADIOS

    lines: dict[Kind, tuple[Shelf[Any], Any]] = {
        Kind.device: (DEVICES, _device),
        Kind.radio: (RADIOS, _radio),
        Kind.battery: (BATTERIES, _battery),
    }
    return lines[kind]


def _device(name: str, card: Card) -> dict[str, Any]:
    from wattlock.analysis.draws import COVERAGE

    joules, log_sigma = card.rate
    return {
        "device": name,
        "title": card.title,
        "isa": card.isa,
        "values": "cycles" if card.counts_cycles else "time",
        "nJ_per_cycle": joules * 1e9 if card.counts_cycles else None,
        "power_W": None if card.counts_cycles else joules,
        "within_factor": math.exp(COVERAGE * log_sigma),
        "evidence": card.evidence,
    }


def _radio(name: str, card: RadioCard) -> dict[str, Any]:
    sending = card.sending()
    watts = {key: getattr(card, key) for key in ("rx", "idle", "sleep")}
    return {
        "radio": name,
        "title": card.title,
        "technology": card.technology,
        "models": ", ".join(["states"] * card.has_states + ["linear"] * card.is_linear),
        "tx_W": card.power_W(sending) if sending else None,
        **{f"{key}_W": card.power_W(number) if number else None for key, number in watts.items()},
        "send_uJ": card.send_packet.value if card.send_packet else None,
        "send_uJ_per_byte": card.send_byte.value if card.send_byte else None,
        "evidence": "assumed" if any(number.doubted for number in card.numbers().values()) else "modelled",
    }


def _battery(name: str, card: BatteryCard) -> dict[str, Any]:
    return {
        "battery": name,
        "title": card.title,
        "chemistry": card.chemistry,
        "capacity_Ah": card.capacity.in_SI / 3600,
        "voltage_V": card.voltage.in_SI,
        "energy_Wh": card.capacity.in_SI * card.voltage.in_SI / 3600,
        "max_current_A": card.max_current.in_SI,
        "models": ", ".join(card.models()),
        "laws": ", ".join(card.laws()),
        "evidence": "assumed" if card.capacity.doubted or card.voltage.doubted else "modelled",
    }


def _numbers(card: BaseModel) -> Any:
    """One row a number; the operating points one row each."""
    from wattlock.energy.cards import OperatingPoints
    from wattlock.energy.number import Number

    for key in type(card).model_fields:
        held = getattr(card, key)
        if isinstance(held, Number):
            yield _row(key, held)
        elif isinstance(held, OperatingPoints):
            for point in held.at:
                name = f"voltage at {point.frequency_MHz:g} MHz"
                yield _row(name, held.number(point))
        elif isinstance(held, list):
            for place, number in enumerate(held):
                yield _row(f"{key}[{place}]", number)


def _row(key: str, number: Number) -> dict[str, Any]:
    return {"number": key, **number.model_dump(), "under": str(number.under) if number.under else None}
