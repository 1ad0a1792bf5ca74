"""What a run cost in joules: by its meter, or by a device card."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import polars as pl

from wattlock.energy import cards
from wattlock.energy.model import measured, value, without_card
from wattlock.run.result import Result
from wattlock.run.validity import INVALID_RUN


def valued(result: Result, device: str | None, *, allow_assumed: bool, own: Path | None = None) -> pl.DataFrame:
    """The estimates with their energy columns: by the card asked for now, else by the run's meter, else by its card.

    Of a run whose self-check failed every case that has a number is in the state `invalid run`: nothing takes it for a
    result.
    """
    estimates = _valued(result, device, allow_assumed=allow_assumed, own=own)
    if not result.reasons:
        return estimates
    has_number = pl.col("state").is_in(["resolved", "unresolved"])
    return estimates.with_columns(
        state=pl.when(has_number).then(pl.lit(INVALID_RUN)).otherwise("state"),
        reason=pl.when(has_number).then(pl.lit("the run's self-check failed")).otherwise("reason"),
    )


def _valued(result: Result, device: str | None, *, allow_assumed: bool, own: Path | None) -> pl.DataFrame:
    if device is None and result.meter is not None and result.energies is not None:
        scope, baseline = result.meter["scope"], result.meter["baseline"]
        return measured(result.estimates, result.energies, scope=scope, baseline=baseline)
    card = card_of(result, device, own)
    if card is None:
        return without_card(result.estimates)
    # Who measured the run with a card has allowed its numbers then.
    return value(result.estimates, card, isa=result.isa, allow_assumed=allow_assumed or device is None)


def card_of(result: Result, device: str | None, own: Path | None = None) -> cards.Device | None:
    """The card asked for now, else the one that the run holds."""
    if device is not None:
        return cards.load(device, own)
    name = result.plan["device"]
    return cards.kept(name, result.plan["device_card"]) if name is not None else None


class Clock(NamedTuple):
    """What turns a run's cycles into time: the card's clock, and whether the card counts cycles at all."""

    Hz: float | None
    counts_cycles: bool


def clock_of(result: Result, device: str | None, own: Path | None = None) -> Clock:
    """The clock of the card that values a run; nothing is known without one."""
    card = card_of(result, device, own)
    if card is None:
        return Clock(None, counts_cycles=False)
    clock = card.on(next(iter(result.core_classes), None)).card.frequency
    return Clock(clock.in_SI if clock else None, card.card.counts_cycles)
