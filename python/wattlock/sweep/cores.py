"""A microcontroller's core as what varies: a question of advice with the cycles that were counted on it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from wattlock.advise.cost_files import COSTS, COUNTED_FILE
from wattlock.definitions import suggestion
from wattlock.definitions.changes import changed
from wattlock.energy import cards
from wattlock.errors import InputError

KEY, CARD_PATH, COSTS_PATH = "core", "device.card", "device.costs"


class Counted(NamedTuple):
    """The cycles that were counted on a core: their file, and the instruction set whose device cards may value them."""

    file: str
    isa: str


@cache
def counted() -> dict[str, Counted]:
    """What was counted, by core; a core in the flash of one part is not among them."""
    names = [name for name in COSTS.shipped() if name.endswith(COUNTED_FILE)]
    found = {name: COSTS.load(name)[1] for name in names}
    return {
        core: Counted(str(COSTS.find(name).source), file.isa) for name, file in found.items() for core in file.cores
    }


def refuse_unknown(label: str, core: object, *, advised: bool) -> None:
    """Raises InputError where no cycles were counted on a core, or where no advice is asked for.

    * `label`: of the grid in errors.
    """
    if not advised:
        hint = "of a link cost.sender names a device card, cost.cycles_per_B the cipher's cycles; of a battery device"
        raise InputError(f"{label}: {KEY}: is for advise alone", hint=hint)
    if not isinstance(core, str) or core not in counted():
        hint = suggestion(str(core), sorted(counted()), "cycles were counted on")
        raise InputError(f"{label}: {KEY}: no cycles were counted on {core}", hint=hint)


def on_core(
    label: str, tables: Mapping[str, Any], changes: Mapping[str, Any], own: Path | None = None
) -> dict[str, Any]:
    """Changes of a profile in which the core has become what advice knows: a device card and a file of costs.

    * `label`: what the profile is called in errors. `tables`: of the profile. `own`: the user's folder of cards.

    The card is the one that the changes name, else the profile's own where it is of the core's instruction set, else
    the first of that set that comes with wattlock and values cycles.

    Raises InputError where the card that the changes name is of another instruction set.
    """
    core, found = changes[KEY], counted()[changes[KEY]]
    others = {path: value for path, value in changes.items() if path != KEY} | {COSTS_PATH: found.file}
    card = changed(label, tables, others)["device"].get("card")
    if isinstance(card, str) and (isa := cards.load(card, own).card.isa) != found.isa:
        if card != tables.get("device", {}).get("card"):
            hint = f"leave {CARD_PATH} out, or name a card of {found.isa}"
            raise InputError(f"{label}: {CARD_PATH}: {card} is of {isa}, the core {core} of {found.isa}", hint=hint)
        card = None
    return others if card else others | {CARD_PATH: _first_card(found.isa)}


@cache
def _first_card(isa: str) -> str:
    """The first card of an instruction set that comes with wattlock and values cycles."""
    every = ((name, cards.DEVICES.load(name)[1]) for name in cards.DEVICES.shipped())
    return next(name for name, card in every if card.isa == isa and card.counts_cycles)
