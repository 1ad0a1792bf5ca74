"""`wattlock devices`: the cards that turn cycles or time into joules."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wattlock.cli.table import Format, show

if TYPE_CHECKING:
    from wattlock.energy.cards import Card


def devices(
    card: Annotated[
        str | None, typer.Option("--show", metavar="CARD", help="Print the numbers of one card, a name or a path.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """List the device cards that turn cycles into joules.

    Example: wattlock devices --show x86-server-assumed
    """
    import polars as pl

    from wattlock.energy import cards

    if card is None:
        rows = [_line(name, cards.load(name).card) for name in cards.names()]
        show(pl.DataFrame(rows, infer_schema_length=None), form)
        return
    device = cards.load(card)
    for words in (device.card.title, device.card.note, f"What would narrow it: {device.card.narrowed_by}"):
        typer.echo(words, err=True)
    show(pl.DataFrame(_numbers(device.card)), form)


def _line(name: str, card: Card) -> dict[str, Any]:
    from wattlock.energy.model import COVERAGE, rate

    joules, log_sigma = rate(card)
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


def _numbers(card: Card) -> list[dict[str, Any]]:
    from wattlock.energy.cards import Number

    given = ((key, getattr(card, key)) for key in type(card).model_fields)
    return [{"number": key, **number.model_dump()} for key, number in given if isinstance(number, Number)]
