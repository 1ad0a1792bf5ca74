"""Joules of a run that counted: its part cycles, or those of a board, by a card of that very part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from wattlock.energy import device_cards
from wattlock.energy.device_cards import COLUMNS, value, without_card
from wattlock.errors import EvidenceError
from wattlock.run.counts import Counts
from wattlock.targets.parts import PARTS, short_title

ENDS = {"cycles": "", "cycles_low": "_low", "cycles_high": "_high"}


def valued_counts(found: Counts, device: str | None, *, allow_assumed: bool, own: Path | None = None) -> pl.DataFrame:
    """The estimates, with the columns of `energy.model` where a card is named.

    * `allow_assumed`: the user asked for numbers that nobody could verify.
    * The interval joins the error of the core's rules, or the range of a board's repetitions, and the card's
      uncertainty; that of the flash's model is not known.

    Raises EvidenceError where the run has no cycles of a part, or the card is of another part, instruction set or
    clock, or has unverified numbers that nobody asked for.
    """
    if device is None:
        return found.estimates
    card = device_cards.load(device, own)
    column = _column_for(found, card)
    counted = found.estimates
    per_cycle = pl.col(column) / pl.col("cycles")
    frame = counted.with_columns((pl.col(name) * per_cycle).alias(name) for name in ENDS)
    # Without a published error there is no interval but the card's.
    frame = frame.with_columns(pl.col(name).fill_null(pl.col("cycles")) for name in ENDS)
    energies = value(frame, card, isa=found.isa, allow_assumed=allow_assumed).select("case", *COLUMNS)
    return counted.join(energies, on="case", how="left", maintain_order="left")


def valued_runs(runs: Sequence[Counts], devices: Sequence[str], *, allow_assumed: bool) -> list[Counts]:
    """The runs, each valued by the card of its part; without one it has energy columns without numbers.

    Raises EvidenceError as `valued_counts` does, and where a card values no run.
    """
    if not devices:
        return list(runs)
    by_run = [next((name for name in devices if _is_of(found, name)), None) for found in runs]
    for name in devices:
        if name not in by_run:
            what = f"device card {device_cards.load(name).name}: is of no part whose cycles were counted"
            raise EvidenceError(
                what, hint="a run with part cycles takes the first card of its part: --on qemu:CORE/PART"
            )
    return [
        replace(found, estimates=without_card(found.estimates))
        if name is None
        else replace(found, estimates=valued_counts(found, name, allow_assumed=allow_assumed))
        for found, name in zip(runs, by_run, strict=True)
    ]


def _is_of(found: Counts, card: str) -> bool:
    """Whether a card is named after the part whose cycles a run counted."""
    return found.part is not None and (card == found.part[0] or card.startswith(f"{found.part[0]}-"))


def _way_to_part_cycles(card: str) -> str:
    """What counts the cycles that a card values, or why none does."""
    for name in PARTS.names():
        if card == name or card.startswith(f"{name}-"):
            part = PARTS.load(name)[1]
            if part.has_cycles:
                return f"count with the part's flash: wattlock run STUDY --on qemu:{part.core}/{name}"
            return f"{short_title(name)} has no part cycles: not published are {'; '.join(part.not_published)}"
    having = ", ".join(name for name in PARTS.names() if PARTS.load(name)[1].has_cycles)
    return f"no part of that card is described; those with part cycles are {having}"


def _column_for(found: Counts, card: device_cards.Device) -> str:
    """The cycles that the card values."""
    if found.part is None:
        what = f"device card {card.name}: core cycles are no part's, and not valued in joules"
        raise EvidenceError(what, hint=_way_to_part_cycles(card.name))
    part, clock_Hz = found.part
    if not _is_of(found, card.name):
        what = f"device card {card.name} is none of {part}, whose cycles were counted"
        own = [name for name in device_cards.DEVICES.names() if _is_of(found, name)]
        none = f"no card of {short_title(part)} came along; docs/add/card.md says how to write one"
        raise EvidenceError(what, hint=f"its cards: {', '.join(own)}" if own else none)
    if (column := found.cycles_column) is None:
        raise EvidenceError(
            f"run {found.id}: has no part cycles, and nothing else is valued", hint=f"see {part}'s file"
        )
    if not card.card.counts_cycles:
        raise EvidenceError(f"device card {card.name} values time, and none was measured", hint="name one by the cycle")
    clock = card.card.frequency
    if clock is not None and clock.in_SI != clock_Hz:
        what = f"device card {card.name} holds at {clock.in_SI / 1e6:g} MHz, the part ran at {clock_Hz / 1e6:g} MHz"
        hint = f"--on qemu:{found.core}/{part}@{clock.in_SI / 1e6:g}MHz counts at its clock"
        raise EvidenceError(what, hint=hint if found.board is None else f"`wattlock devices` lists the cards of {part}")
    return column
