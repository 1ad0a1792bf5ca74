"""A file of a user's own costs to fill, from a data sheet or a counter on a board."""

from typing import get_args

from wattlock.advise.published import load, names
from wattlock.definitions import suggestion
from wattlock.energy.cards import DEVICES, Isa
from wattlock.errors import InputError

TEMPLATE = """\
# Costs of ciphers on {what}, for `wattlock advise --costs FILE` or the folder costs/ of your cards (WATTLOCK_CARDS).
# Put your own figures in place of these, which nobody counted; then say so in `confidence`.
isa = "{isa}"
narrowed_by = "a counter on the very board"

[[cost]]
ciphers = ["aes128-ccm"]            # ids as `wattlock ciphers` lists them
implementation = "library, version"
language = "C"                      # C, assembly or hardware
compiler = "compiler, version"      # "not told" where the source doesn't
flags = "-O2"
core = "core, part, clock"
memory = "code in flash with 2 wait states, tables in RAM"
counted = "board cycles"            # core cycles (no wait states), board cycles, hardware time
# What a message of so many octets takes, key set up before: [octets, value], two sizes or more.
unit = "cycles"                     # cycles, cycles/B, us, kB/s, KiB/s, MB/s, MiB/s
figures = [[16, 5000], [64, 12000], [1024, 150000]]
# clock_MHz = 64.0                  # needed where the unit is a time or so much a second
# times = 2                         # passes, where the figure is of one: CCM is two of AES
# fixed = 1200                      # cycles of a message of no octets, where there is one figure
# devices = ["{device}"]  # only on these device cards: for hardware
confidence = "assumed"              # primary once you counted it, secondary where a data sheet says it
relative_uncertainty = 0.1
source = "who counted it, with what, when; or data sheet, revision, table"
because = "how far it may be off, and why"
"""


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
    return TEMPLATE.format(what=core, isa=isa, device=device)
