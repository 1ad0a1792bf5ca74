"""The schema of all kinds of cards, for editors and for programs that write cards; generated, and committed."""

import json

from pydantic.json_schema import models_json_schema

from wattlock.energy.battery_cards import BATTERIES
from wattlock.energy.cards import DEVICES
from wattlock.energy.radio_cards import RADIOS


def schema_text() -> str:
    """The JSON schema (draft 2020-12) as text: one definition a kind, by its folder under `properties`."""
    shelves = (DEVICES, RADIOS, BATTERIES)
    places, definitions = models_json_schema([(shelf.model, "validation") for shelf in shelves])
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "wattlock's cards: one file is one object, by the folder in which it lies",
        "type": "object",
        "properties": {shelf.folder: places[shelf.model, "validation"] for shelf in shelves},
        **definitions,
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
