"""Joules of a run that counted: its part cycles by a card of that very part."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from wattlock.energy import cards
from wattlock.energy.model import COLUMNS, value
from wattlock.errors import EvidenceError
from wattlock.run.counts import Counts

ENDS = {"cycles": "", "cycles_low": "_low", "cycles_high": "_high"}


def valued_counts(found: Counts, device: str | None, *, allow_assumed: bool, own: Path | None = None) -> pl.DataFrame:
    """The estimates, with the columns of `energy.model` where a card is named.

    * `allow_assumed`: the user asked for numbers that nobody could verify.
    * The interval joins the error of the core's rules and the card's uncertainty; that of the flash's model is not
      known.

    Raises EvidenceError where the run has no part cycles, the card is of another part, instruction set or clock, or has
    unverified numbers that nobody asked for.
    """
    if device is None:
        return found.estimates
    card = cards.load(device, own)
    _refuse_another_part(found, card)
    counted = found.estimates
    per_cycle = pl.col("part_cycles") / pl.col("cycles")
    frame = counted.with_columns((pl.col(name) * per_cycle).alias(name) for name in ENDS)
    # Without a published error there is no interval but the card's.
    frame = frame.with_columns(pl.col(name).fill_null(pl.col("cycles")) for name in ENDS)
    energies = value(frame, card, isa=found.isa, allow_assumed=allow_assumed).select("case", *COLUMNS)
    return counted.join(energies, on="case", how="left", maintain_order="left")


def _refuse_another_part(found: Counts, card: cards.Device) -> None:
    if found.part is None:
        hint = f"count with the part's flash: wattlock run STUDY --on qemu:{found.core}/{card.name}"
        raise EvidenceError(f"device card {card.name}: core cycles are no part's, and not valued in joules", hint=hint)
    part, clock_Hz = found.part
    if card.name != part and not card.name.startswith(f"{part}-"):
        what = f"device card {card.name} is none of {part}, whose cycles were counted"
        raise EvidenceError(what, hint=f"name a card of {part}; `wattlock devices` lists the cards")
    if not found.estimates["part_cycles"].count():
        raise EvidenceError(
            f"run {found.id}: has no part cycles, and nothing else is valued", hint=f"see {part}'s file"
        )
    if not card.card.counts_cycles:
        raise EvidenceError(f"device card {card.name} values time, and none was measured", hint="name one by the cycle")
    clock = card.card.frequency
    if clock is not None and clock.in_SI != clock_Hz:
        what = f"device card {card.name} holds at {clock.in_SI / 1e6:g} MHz, the part ran at {clock_Hz / 1e6:g} MHz"
        raise EvidenceError(what, hint=f"--on qemu:{found.core}/{part}@{clock.in_SI / 1e6:g}MHz counts at its clock")
