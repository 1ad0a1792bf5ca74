"""What this package and the instrument must agree on: the instrument's own constants, generated with its schema."""

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def contract() -> dict[str, Any]:
    """`data/records.schema.json`: the schemas of plan lines and records, and the constants that go with them."""
    read: dict[str, Any] = json.loads((files("wattlock") / "data" / "records.schema.json").read_text(encoding="utf-8"))
    return read


def constant(name: str) -> Any:
    """A constant of the instrument."""
    return contract()["constants"][name]
