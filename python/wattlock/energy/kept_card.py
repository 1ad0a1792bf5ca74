"""The device card that values a run of a device, refused before anything is measured where it can't."""

from __future__ import annotations

from collections.abc import Sequence

from wattlock.energy import cards
from wattlock.energy.model import refuse
from wattlock.run.begin import KeptCard
from wattlock.targets import Target
from wattlock.targets.facts import refuse_emulated


def kept_card(name_or_path: str, target: Target, core_classes: Sequence[str], *, allow_assumed: bool) -> KeptCard:
    """A card as a run's plan keeps it.

    * `core_classes`: kinds of core that the run measures on, the fastest without.

    Raises InputError where there is no such card, EvidenceError where it can't value runs of this device, or only with
    a consent that was not given.
    """
    card = cards.load(name_or_path)
    facts = target.facts()
    if facts.emulator is not None:
        refuse_emulated(facts.emulator)
    fastest = facts.core_classes[0].name if facts.core_classes else None
    for kind in core_classes or (fastest,):
        refuse(card.on(kind), isa=facts.isa, allow_assumed=allow_assumed)
    return KeptCard(card.name, card.card.model_dump(mode="json"))
