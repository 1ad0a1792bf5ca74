"""Device cards: what a device draws while a program runs, each number with its source, read from TOML."""

import json
import math
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from wattlock.errors import InputError
from wattlock.study.problems import Problem, suggestion, translated

Confidence = Literal["primary", "secondary", "unverified", "assumed"]
Unit = Literal["V", "mA", "uA/MHz", "W", "MHz", "uW/MHz/V^2"]
Isa = Literal["x86", "x86_64", "aarch64", "armv5te", "thumbv6m", "thumbv7em"]
Text = Annotated[str, Field(min_length=1)]

# One of each unit in SI base units: an ampere per hertz is a coulomb, a watt per hertz and square volt a farad.
IN_SI = {"V": 1.0, "mA": 1e-3, "uA/MHz": 1e-12, "W": 1.0, "MHz": 1e6, "uW/MHz/V^2": 1e-12}


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


class Factor(NamedTuple):
    """A number of a card, by its key, with its exponent in the product that is the energy."""

    key: str
    number: Number
    exponent: int


class Card(Table):
    """What one device draws while one of its cores runs a program.

    It holds exactly one of these: `power`; `voltage` and `current` of the same rail; `voltage` and
    `dynamic_power_coefficient`, for P = C * V^2 * f. A card with a `frequency`, a current per MHz or a coefficient
    values cycles; one without values time, and then stands for the very machine that was measured.

    * `isa`: the instruction set whose cycles or time it may value.
    * `narrowed_by`: what would narrow its interval.
    """

    title: Text
    isa: Isa
    note: Text
    narrowed_by: Text
    power: Number | None = None
    voltage: Number | None = None
    current: Number | None = None
    dynamic_power_coefficient: Number | None = None
    frequency: Number | None = None

    @model_validator(mode="after")
    def _one_way_to_power(self) -> Self:
        ways = {("power",), ("voltage", "current"), ("voltage", "dynamic_power_coefficient")}
        drawn = ("power", "voltage", "current", "dynamic_power_coefficient")
        given = tuple(key for key in drawn if getattr(self, key))
        if given not in ways:
            raise ValueError(
                f"has {' and '.join(given) or 'no power'}; it needs power, or voltage and current, or voltage and "
                "dynamic_power_coefficient"
            )
        for key, units in _UNITS.items():
            number: Number | None = getattr(self, key)
            if number and number.unit not in units:
                raise ValueError(f"{key}.unit is {number.unit}, must be {' or '.join(units)}")
        return self

    @property
    def counts_cycles(self) -> bool:
        """Whether the card values cycles, and not the time measured."""
        return bool(self.frequency or self.dynamic_power_coefficient or self._current_per_MHz)

    @property
    def _current_per_MHz(self) -> bool:
        return bool(self.current and self.current.unit == "uA/MHz")

    def factors(self) -> list[Factor]:
        """The numbers whose product is the joules of a cycle, or of a second where the card values time.

        A current per MHz and a coefficient hold for each clock, so that the frequency is none of their factors.
        """
        if self.dynamic_power_coefficient and self.voltage:
            return [
                Factor("dynamic_power_coefficient", self.dynamic_power_coefficient, 1),
                Factor("voltage", self.voltage, 2),
            ]
        drawn = [(key, getattr(self, key)) for key in ("power", "voltage", "current")]
        factors = [Factor(key, number, 1) for key, number in drawn if number]
        if self.frequency and not self._current_per_MHz:
            factors.append(Factor("frequency", self.frequency, -1))
        return factors

    def doubted(self) -> list[str]:
        """The keys of the numbers in use that nobody could verify."""
        return [key for key, number, _ in self.factors() if number.confidence in {"unverified", "assumed"}]

    @property
    def evidence(self) -> Literal["modelled", "assumed"]:
        """What an energy by this card is: modelled, or assumed where a number in use is not verified."""
        return "assumed" if self.doubted() else "modelled"


_UNITS = {
    "power": ["W"],
    "voltage": ["V"],
    "current": ["mA", "uA/MHz"],
    "dynamic_power_coefficient": ["uW/MHz/V^2"],
    "frequency": ["MHz"],
}


class Device(NamedTuple):
    """A card and the name by which it was asked for."""

    name: str
    card: Card


def names() -> list[str]:
    """The cards that come with wattlock, by name."""
    return sorted(entry.name.removesuffix(".toml") for entry in _shelf().iterdir() if entry.name.endswith(".toml"))


def load(name_or_path: str | Path) -> Device:
    """Read a card.

    * `name_or_path`: the name of a card that comes with wattlock, or the path of a TOML file.

    Raises InputError where there is no such card, or naming the first thing that is wrong with it.
    """
    name = str(name_or_path)
    if not isinstance(name_or_path, Path) and name in names():
        return Device(name, _parse(name, _shelf() / f"{name}.toml"))
    path = Path(name_or_path)
    if path.is_file():
        return Device(path.stem, _parse(name, path))
    raise InputError(f"there is no device card {name}", hint=suggestion(path.stem, names(), "the cards are"))


def kept(name: str, card: Mapping[str, Any]) -> Device:
    """A card as it stands in a run's plan (`Card.model_dump`), so that a run is valued alike wherever it is read.

    Raises InputError where it was damaged.
    """
    try:
        return Device(name, Card.model_validate_json(json.dumps(card)))
    except ValueError as error:
        raise InputError(f"the run's device card can't be read: {error}", hint="name one with --device") from error


def _shelf() -> Traversable:
    return files("wattlock") / "data" / "devices"


def _parse(name: str, source: Traversable) -> Card:
    try:
        return Card.model_validate(tomllib.loads(source.read_bytes().decode()))
    except OSError as error:
        raise InputError(f"device card {name}: can't be read: {error.strerror}") from error
    except ValidationError as error:
        problem = _problem(error)
        place = f"{problem.path}: " if problem.path else ""
        raise InputError(f"device card {name}: {place}{problem.what}", hint=problem.hint) from error
    except ValueError as error:
        raise InputError(f"device card {name}: not TOML: {error}") from error


def _problem(error: ValidationError) -> Problem:
    # An unknown key is the cause where the key that was meant is missing too: it comes first.
    first = min(error.errors(include_url=False), key=lambda one: one["type"] != "extra_forbidden")
    if first["type"] == "value_error":
        return Problem("", first["msg"].removeprefix("Value error, "))
    return translated(first, list((Number if len(first["loc"]) > 1 else Card).model_fields))
