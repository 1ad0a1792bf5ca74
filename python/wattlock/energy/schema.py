"""The schema of all kinds of cards, for editors and for programs that write cards; generated, and committed."""

from wattlock.definitions import schema
from wattlock.energy.battery_cards import BATTERIES
from wattlock.energy.cards import DEVICES
from wattlock.energy.radio_cards import RADIOS


def schema_text() -> str:
    """The JSON schema (draft 2020-12) as text: one definition a kind, by its folder under `properties`."""
    title = "wattlock's cards: one file is one object, by the folder in which it lies"
    return schema.schema_text(title, {shelf.folder: shelf.model for shelf in (DEVICES, RADIOS, BATTERIES)})
