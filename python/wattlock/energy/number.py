"""A number of a card with its unit, its source and how far it may be off, and the rule for those nobody verified."""

import math
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

from pydantic import Field

from wattlock.definitions import Table, Text
from wattlock.errors import EvidenceError

Confidence = Literal["primary", "secondary", "unverified", "assumed"]
Scope = Literal["core", "radio", "chip", "board", "battery"]
Regulator = Literal["dcdc", "smps", "ldo", "direct"]
# A mean month and a mean year of the Gregorian calendar.
MONTH_s, YEAR_s = 365.2425 / 12 * 86_400, 365.2425 * 86_400

# One of each unit in SI base units: an ampere per hertz is a coulomb, a watt per hertz and square volt a farad.
IN_SI = {
    "1": 1.0,
    "V": 1.0,
    "A": 1.0,
    "mA": 1e-3,
    "uA": 1e-6,
    "uA/MHz": 1e-12,
    "W": 1.0,
    "mW": 1e-3,
    "uW": 1e-6,
    "MHz": 1e6,
    "uW/MHz/V^2": 1e-12,
    "Ah": 3600.0,
    "mAh": 3.6,
    "ohm": 1.0,
    "1/min": 1 / 60,
    "1/K": 1.0,
    "%/month": 0.01 / MONTH_s,
    "%/year": 0.01 / YEAR_s,
    "y": YEAR_s,
    "uJ": 1e-6,
    "uJ/B": 1e-6,
    "us": 1e-6,
    "us/B": 1e-6,
}
Unit = Literal[
    "1",
    "V",
    "A",
    "mA",
    "uA",
    "uA/MHz",
    "W",
    "mW",
    "uW",
    "MHz",
    "uW/MHz/V^2",
    "Ah",
    "mAh",
    "ohm",
    "1/min",
    "1/K",
    "%/month",
    "%/year",
    "y",
    "uJ",
    "uJ/B",
    "us",
    "us/B",
]


# What a card may state, in the unit's own size: from a leaking coin cell to a grid's battery. Beyond it a unit or an
# exponent slipped.
BOUNDS: dict[str, tuple[float, float]] = {
    "1": (1e-6, 1e3),
    "V": (1e-3, 1e4),
    "A": (1e-9, 1e4),
    "mA": (1e-6, 1e7),
    "uA": (1e-3, 1e10),
    "uA/MHz": (1e-3, 1e7),
    "W": (1e-9, 1e7),
    "mW": (1e-6, 1e10),
    "uW": (1e-3, 1e13),
    "MHz": (1e-3, 1e6),
    "uW/MHz/V^2": (1e-3, 1e7),
    "Ah": (1e-6, 1e6),
    "mAh": (1e-3, 1e9),
    "ohm": (1e-9, 1e6),
    "1/min": (1e-9, 1e6),
    "1/K": (1e-9, 1.0),
    "%/month": (1e-6, 1e3),
    "%/year": (1e-6, 1e4),
    "y": (1e-3, 1e3),
    "uJ": (1e-6, 1e12),
    "uJ/B": (1e-9, 1e9),
    "us": (1e-6, 1e12),
    "us/B": (1e-9, 1e9),
}


class NumberConditions(Table):
    """What a figure holds for, as data, so that figures of different conditions can't meet in one product.

    * `scope`: what is fed: the core's rail, the radio, the chip, the board, or all that hangs on the battery.
    * `supply_V`: at the terminals where a current was measured; `regulator`: behind them. A converter's current
      (`dcdc`, or `smps` as ST calls it) rises as the voltage falls, that behind a linear one (`ldo`) doesn't depend on
      it, and `direct` has none.
    * `temperature_C`: of the part; `current_A`: at which a battery's charge was measured.
    * `duty`: share of the time in which the state lasted that the figure is of; a mean over less than 1 is no draw.
    """

    scope: Scope
    supply_V: Annotated[float, Field(gt=0)] | None = None
    regulator: Regulator | None = None
    temperature_C: float | None = None
    current_A: Annotated[float, Field(gt=0)] | None = None
    duty: Annotated[float, Field(gt=0, le=1)] = 1.0

    def __str__(self) -> str:
        parts: list[str | None] = [self.scope, self.regulator]
        units = (("supply_V", "V"), ("temperature_C", "°C"), ("current_A", "A"))
        parts += [f"{value:g} {unit}" for key, unit in units if (value := getattr(self, key)) is not None]
        return ", ".join(part for part in parts if part)


class Number(Table):
    """A number with its unit, its source and how far it may be off.

    * `confidence`: primary (read in the source), secondary (the source quoted by another), unverified, assumed.
    * `relative_uncertainty` r, on the logarithmic scale: with `distribution` normal the standard uncertainty of
      ln(value) is ln(1 + r); with uniform the truth lies between value / (1 + r) and value * (1 + r), each logarithm
      as likely as the next.
    * `because`: where the uncertainty comes from, as a number's source seldom gives one.
    * `conditions`: rail, clock, program and temperature for which the number holds, as far as the source says.
    * `under`: those of them that another number of the card can contradict.
    """

    value: Annotated[float, Field(gt=0)]
    unit: Unit
    source: Text
    confidence: Confidence
    relative_uncertainty: Annotated[float, Field(ge=0)]
    distribution: Literal["normal", "uniform"]
    because: Text
    conditions: Text
    under: NumberConditions | None = None

    @property
    def in_SI(self) -> float:
        """The value in SI base units."""
        return self.value * IN_SI[self.unit]

    @property
    def log_sigma(self) -> float:
        """Standard uncertainty of the value's natural logarithm (GUM, JCGM 100:2008, 4.3.7 for the uniform one)."""
        width = math.log1p(self.relative_uncertainty)
        return width / math.sqrt(3) if self.distribution == "uniform" else width

    @property
    def doubted(self) -> bool:
        """Whether nobody could verify it."""
        return self.confidence in {"unverified", "assumed"}


def require_units(card: Table, units: Mapping[str, Iterable[str]]) -> None:
    """Raises ValueError naming the first number of `card` whose unit is not one of its key's, or which can't be."""
    for key, allowed in units.items():
        number: Number | None = getattr(card, key)
        if number:
            require_unit(key, number, allowed)


def require_unit(key: str, number: Number, allowed: Iterable[str]) -> None:
    """Raises ValueError where the unit is none of those allowed, or the value none of this world in it."""
    if number.unit not in allowed:
        raise ValueError(f"{key}.unit is {number.unit}, must be {' or '.join(allowed)}")
    least, most = BOUNDS[number.unit]
    if not least <= number.value <= most:
        raise ValueError(
            f"{key}.value is {number.value:g} {number.unit}, must lie between {least:g} and {most:g} {number.unit}"
        )


SAME_K, SAME_SHARE = 5.0, 0.02
"""How far two temperatures, and two voltages or currents, may lie apart and be the same condition."""
CURRENT = ("A", "mA", "uA", "uA/MHz")


def refuse_mixed(numbers: Mapping[str, Number], voltage: Number | None) -> None:
    """Raises ValueError naming the first of `numbers` whose conditions are others than those of the numbers before it.

    * `voltage`: that by which the currents among them are multiplied.

    A card without any conditions as data is let through: nobody can tell.
    """
    first = next((key for key, number in numbers.items() if number.under), None)
    if first is None:
        return
    before: dict[str, NumberConditions] = {}
    for key, number in numbers.items():
        if number.under is None:
            raise ValueError(f"{key}.under: is missing; {first} has one, and numbers of one card must be alike in it")
        _refuse_unlike(key, number.under, before)
        if number.unit in CURRENT:
            _refuse_other_supply(key, number.under, voltage)
        before[key] = number.under


def _refuse_unlike(key: str, under: NumberConditions, before: Mapping[str, NumberConditions]) -> None:
    if under.duty < 1:
        raise ValueError(f"{key}.under.duty is {under.duty:g}, must be 1: a mean over pauses is no draw of the state")
    for other, theirs in before.items():
        if under.scope != theirs.scope:
            raise ValueError(f"{key}.under.scope is {under.scope}, must be {theirs.scope} as that of {other}")
        if under.regulator and theirs.regulator and under.regulator != theirs.regulator:
            raise ValueError(
                f"{key}.under.regulator is {under.regulator}, must be {theirs.regulator} as that of {other}"
            )
        temperature_C, that = under.temperature_C, theirs.temperature_C
        if temperature_C is not None and that is not None and abs(temperature_C - that) > SAME_K:
            raise ValueError(f"{key}.under.temperature_C is {temperature_C:g}, must be {that:g} as that of {other}")


def _refuse_other_supply(key: str, under: NumberConditions, voltage: Number | None) -> None:
    if under.supply_V is None or under.regulator is None:
        missing = "supply_V" if under.supply_V is None else "regulator"
        raise ValueError(
            f"{key}.under.{missing}: is missing; a current says at which voltage and behind which regulator"
        )
    # Behind a linear regulator the current is the same at every voltage in front of it.
    if voltage and under.regulator != "ldo" and abs(under.supply_V / voltage.in_SI - 1) > SAME_SHARE:
        raise ValueError(
            f"{key}.under.supply_V is {under.supply_V:g}, must be {voltage.in_SI:g} as voltage: a current through "
            f"{under.regulator} holds at its own voltage alone"
        )


def refuse_doubted(card: str, numbers: Mapping[str, Number], *, allow_assumed: bool) -> None:
    """The one place of the rule: a number that nobody verified enters a result only where the user asks for it.

    * `card`: the card in words, as "device card nrf52840".
    * `numbers`: those in use, by key.

    Raises EvidenceError naming the doubted ones.
    """
    doubted = {key: number for key, number in numbers.items() if number.doubted}
    if doubted and not allow_assumed:
        named = ", ".join(f"{key} {n.value:g} {n.unit} ({n.confidence})" for key, n in doubted.items())
        raise EvidenceError(
            f"{card} has numbers that nobody verified: {named}",
            hint="--allow-assumed uses these numbers, and marks the result as assumed",
        )
