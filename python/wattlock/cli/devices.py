"""`wattlock devices`: the cards of devices, radios, batteries and costs, the numbers on one, and templates."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wattlock.cli.echo import echo
from wattlock.cli.options import Cards, given, print_file, refuse_two
from wattlock.cli.table import Format, show
from wattlock.errors import InputError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from wattlock.advise.cipher_costs import CostFile
    from wattlock.definitions import DefinitionForm, Shelf
    from wattlock.energy.battery_cards import BatteryCard
    from wattlock.energy.device_cards import Card
    from wattlock.energy.number import Number
    from wattlock.energy.radio_cards import RadioCard


class Kind(StrEnum):
    """What a card is of."""

    device = "device"
    radio = "radio"
    battery = "battery"
    costs = "costs"


def devices(
    context: typer.Context,
    card: Annotated[
        str | None, typer.Argument(metavar="CARD", help="Print the numbers of one card, a name or a path.")
    ] = None,
    *,
    show_file: Annotated[
        str | None, typer.Option("--show", metavar="CARD", help="Print the file of one, to start your own from.")
    ] = None,
    template: Annotated[Kind | None, typer.Option("--template", help="Print an annotated card to fill.")] = None,
    schema: Annotated[
        Kind | None, typer.Option("--schema", help="Print the JSON Schema of such a card, for editors.")
    ] = None,
    kind: Annotated[Kind, typer.Option("--kind", help="What the cards are of.")] = Kind.device,
    cards: Cards = None,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """List the cards that turn cycles, time, frames and charge into joules; each number has its source.

    A broken card is named on standard error, and the others follow.

    Examples: wattlock devices nrf52840; wattlock devices --kind battery;
    wattlock devices --show cr2032 --kind battery > mine.toml;
    wattlock devices --template radio > my-radio.toml; wattlock devices --schema radio > radio.schema.json
    """
    requested = given(context)
    refuse_two(requested, ("--kind", "--cards") if show_file is not None else ())
    if show_file is not None:
        with _of_another_kind(show_file, kind, cards):
            print_file(_shelf(kind)[0], show_file, cards)
    elif template is not None:
        echo(_form(template).template(), nl=False)
    elif schema is not None:
        echo(_form(schema).schema_text(), nl=False)
    elif card is None:
        _list(kind, cards, form)
    else:
        _numbers_of(card, kind, cards, form)


def _list(kind: Kind, cards: Path | None, form: Format) -> None:
    import polars as pl

    shelf, line = _shelf(kind)
    read, faults = shelf.all(cards)
    for fault in faults:
        echo(f"warning: {fault.message}{f' ({fault.hint})' if fault.hint else ''}", err=True)
    show(pl.DataFrame([line(name, card) for name, card in read.items()], infer_schema_length=None), form)


def _numbers_of(card: str, kind: Kind, cards: Path | None, form: Format) -> None:
    import polars as pl

    with _of_another_kind(card, kind, cards):
        _, found = _shelf(kind)[0].load(card, cards)
    if kind is Kind.costs:
        show(pl.DataFrame(list(_cost_rows(found)), infer_schema_length=None), form)
        return
    for words in (found.title, found.note, f"What would narrow it: {found.narrowed_by}"):
        echo(words, err=True)
    show(pl.DataFrame(list(_numbers(found)), infer_schema_length=None), form)


@contextmanager
def _of_another_kind(card: str, kind: Kind, cards: Path | None) -> Iterator[None]:
    """Name the kind of which a card is, where it is none of this."""
    try:
        yield
    except InputError as error:
        others = [other for other in Kind if other is not kind and card in _shelf(other)[0].names(cards)]
        if not others:
            raise
        raise InputError(error.message, hint=f"{card} is a card of the kind {others[0]}: --kind {others[0]}") from error


def _form(kind: Kind) -> DefinitionForm:
    from wattlock.advise.cipher_costs import FORM
    from wattlock.energy import battery_cards, device_cards, radio_cards

    forms = {Kind.device: device_cards.FORM, Kind.radio: radio_cards.FORM, Kind.battery: battery_cards.FORM}
    return {**forms, Kind.costs: FORM}[kind]


def _shelf(kind: Kind) -> tuple[Shelf[Any], Any]:
    from wattlock.advise.cipher_costs import COSTS
    from wattlock.energy.battery_cards import BATTERIES
    from wattlock.energy.device_cards import DEVICES
    from wattlock.energy.radio_cards import RADIOS

    lines: dict[Kind, tuple[Shelf[Any], Any]] = {
        Kind.device: (DEVICES, _device),
        Kind.radio: (RADIOS, _radio),
        Kind.battery: (BATTERIES, _battery),
        Kind.costs: (COSTS, _costs),
    }
    return lines[kind]


def _device(name: str, card: Card) -> dict[str, Any]:
    from wattlock.analysis.distributions import COVERAGE

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


def _costs(name: str, file: CostFile) -> dict[str, Any]:
    return {
        "costs": name,
        "isa": file.isa,
        "cores": ", ".join(file.cores),
        "ciphers": len({cipher for cost in file.cost for cipher in cost.ciphers}),
        "figures": len(file.cost),
        "compared": file.compared,
    }


def _cost_rows(file: CostFile) -> Iterator[dict[str, Any]]:
    """One row a figure, by whose code and counted how."""
    for cost in file.cost:
        row = cost.model_dump()
        points = ", ".join(f"{octets:g}: {value:g}" for octets, value in row.pop("figures") or [])
        yield {**row, "ciphers": ", ".join(cost.ciphers), "devices": ", ".join(cost.devices), "figures": points}


def _numbers(card: BaseModel) -> Any:
    """One row a number; the operating points one row each, and those of other kinds of core with their name."""
    from wattlock.energy.device_cards import Cores, OperatingPoints
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
            for place, item in enumerate(held):
                if isinstance(item, Cores):
                    yield from ({**row, "number": f"{item.core_class}: {row['number']}"} for row in _numbers(item))
                else:
                    yield _row(f"{key}[{place}]", item)


def _row(key: str, number: Number) -> dict[str, Any]:
    return {"number": key, **number.model_dump(), "under": str(number.under) if number.under else None}
