"""A number of a card with its unit, its source and how far it may be off, and the rule for those nobody verified."""

import math
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from wattlock.errors import EvidenceError

Confidence = Literal["primary", "secondary", "unverified", "assumed"]
Text = Annotated[str, Field(min_length=1)]
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


class Table(BaseModel):
    """A table of a card: no unknown key, no value of a wrong type made to fit."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Number(Table):
    """A number with its unit, its source and how far it may be off.

    * `confidence`: primary (read in the source), secondary (the source quoted by another), unverified, assumed.
    * `relative_uncertainty` r, on the logarithmic scale: with `distribution` normal the standard uncertainty of
      ln(value) is ln(1 + r); with uniform the truth lies between value / (1 + r) and value * (1 + r), each logarithm
      as likely as the next.
    * `because`: where the uncertainty comes from, as a number's source seldom gives one.
    * `conditions`: rail, clock, program and temperature for which the number holds, as far as the source says.
    """

    value: Annotated[float, Field(gt=0)]
    unit: Unit
    source: Text
    confidence: Confidence
    relative_uncertainty: Annotated[float, Field(ge=0)]
    distribution: Literal["normal", "uniform"]
    because: Text
    conditions: Text

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
    """Raises ValueError naming the first number of `card` whose unit is not among those that its key allows."""
    for key, allowed in units.items():
        number: Number | None = getattr(card, key)
        if number and number.unit not in allowed:
            raise ValueError(f"{key}.unit is {number.unit}, must be {' or '.join(allowed)}")


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
            hint="--allow-assumed takes them, and the result says so",
        )
