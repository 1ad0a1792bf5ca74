"""Quantities with their units as people write them: 64B, 1s, 10y, 50ms, 8kB, 12uW; nothing else is understood."""

import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, WithJsonSchema

from wattlock.energy.number import YEAR_s
from wattlock.errors import InputError

Kind = Literal["size", "duration", "power", "current"]
DAY_s = 86_400.0
# One of each unit in octets, seconds, watts and amperes; a year is the Gregorian calendar's mean.
UNITS: dict[Kind, dict[str, float]] = {
    "size": {"B": 1, "kB": 1e3, "KiB": 1024, "MB": 1e6, "MiB": 1024**2, "GB": 1e9},
    "duration": {
        "us": 1e-6,
        "ms": 1e-3,
        "s": 1,
        "min": 60,
        "h": 3600,
        "d": DAY_s,
        "w": 7 * DAY_s,
        "y": YEAR_s,
    },
    "power": {"nW": 1e-9, "uW": 1e-6, "mW": 1e-3, "W": 1},
    "current": {"nA": 1e-9, "uA": 1e-6, "mA": 1e-3, "A": 1},
}
EXAMPLES: dict[Kind, str] = {
    "size": "64B, 8kB or 1MB",
    "duration": "50ms, 1s, 5min or 10y",
    "power": "12uW or 3mW, or as data sheets do 3uA, at the card's voltage",
    "current": "3uA or 2mA",
}
WRITTEN = re.compile(r"(\d+(?:\.\d+)?) ?([A-Za-z]+)", re.ASCII)


def quantity(text: object, kind: Kind) -> float:
    """A quantity in octets, seconds, watts or amperes.

    Raises ValueError naming the text and how the kind is written; a size is whole octets.
    """
    match = WRITTEN.fullmatch(text) if isinstance(text, str) else None
    unit = UNITS[kind].get(match[2]) if match else None
    if match is None or unit is None:
        raise ValueError(f'"{text}" is no {kind}; write {EXAMPLES[kind]}')
    value = float(match[1]) * unit
    if kind == "size" and value != int(value):
        raise ValueError(f'"{text}" is no whole number of octets')
    return value


def is_current(text: object) -> bool:
    """Whether a draw is written as a current, which is watts at a card's voltage alone."""
    match = WRITTEN.fullmatch(text) if isinstance(text, str) else None
    return match is not None and match[2] in UNITS["current"]


def option(name: str, text: str, kind: Kind) -> str:
    """The text of a command line's option, once it is known to be a quantity.

    Raises InputError naming the option and the text.
    """
    try:
        quantity(text, "current" if kind == "power" and is_current(text) else kind)
    except ValueError as error:
        raise InputError(f"{name}: {error}") from error
    return text


def _size(text: object) -> int:
    return int(quantity(text, "size"))


def _duration(text: object) -> float:
    seconds = quantity(text, "duration")
    if not seconds:
        raise ValueError(f'"{text}" is no duration above 0; write {EXAMPLES["duration"]}')
    return seconds


def _power(text: object) -> float:
    return quantity(text, "power")


def _written(*kinds: Kind) -> WithJsonSchema:
    """How quantities of these kinds are written in a file, for its schema."""
    units = "|".join(unit for kind in kinds for unit in UNITS[kind])
    return WithJsonSchema({"type": "string", "format": kinds[0], "pattern": rf"^[0-9]+(\.[0-9]+)? ?({units})$"})


Size = Annotated[int, BeforeValidator(_size), _written("size")]
Duration = Annotated[float, BeforeValidator(_duration), _written("duration")]
Power = Annotated[float, BeforeValidator(_power), _written("power", "current")]


def spoken(seconds: float) -> str:
    """A duration as a person says it, to three digits."""
    return _in_the_largest(seconds, "duration", ("y", "d", "h", "min", "s", "ms", "us"))


def watts(power_W: float) -> str:
    """A power as a person says it, to three digits."""
    return _in_the_largest(power_W, "power", ("W", "mW", "uW", "nW"))


def _in_the_largest(value: float, kind: Kind, units: tuple[str, ...]) -> str:
    """Three digits in the largest unit of which there is one; rounded first, so that 0.9999 s are 1 s."""
    unit, rounded = "", 0.0
    for unit in units:
        rounded = float(f"{value / UNITS[kind][unit]:.3g}")
        if rounded >= 1:
            break
    return f"{rounded:g} {unit}"


LEAST = 0.0005
"""The least share that a tenth of a percent shows."""


def percent(share: float) -> str:
    """A share in a sentence: what a tenth of a percent doesn't show is not called none."""
    return "less than 0.1 %" if 0 < share < LEAST else f"{100 * share:.1f} %"
