"""A file of a user's own costs to fill, from a data sheet or a counter on a board."""

from typing import get_args

from wattlock.advise.cost_files import FORM, load, names
from wattlock.definitions import suggestion
from wattlock.energy.cards import DEVICES, Isa
from wattlock.errors import InputError


def template(core: str) -> str:
    """A file of costs to fill, for a core, an instruction set or a device card.

    Raises InputError where there is no such core.
    """
    devices = {name: DEVICES.load(name)[1].isa for name in DEVICES.names()}
    known: dict[str, str] = {isa: isa for isa in get_args(Isa)} | dict(devices)
    known |= {title: name for name in names() for title in load(name).cores}
    name = core.lower()
    isa = known.get(name)
    if isa is None:
        raise InputError(f'no core "{core[:80]}"', hint=suggestion(core, sorted(known), "there are"))
    device = name if name in devices else next((card for card, of in devices.items() if of == isa), "my-card")
    return FORM.template(what=core, isa=isa, device=device)
