"""Device cards: what a device draws while a program runs; a run's cycles as joules by one, or by its meter."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import Field, PrivateAttr, ValidationError, model_validator

from wattlock.definitions import DefinitionForm, Shelf, Table, Text, refusal
from wattlock.definitions.toml import problems_of
from wattlock.energy.number import Confidence, Number, refuse_doubted, refuse_mixed, require_units
from wattlock.errors import EvidenceError
from wattlock.study.study import CoreClass

__all__ = ["DEVICES", "Card", "Device", "Factor", "Number", "kept", "load", "names"]

Isa = Literal[
    "x86",
    "x86_64",
    "aarch64",
    "armv4",
    "armv5te",
    "thumbv6m",
    "thumbv7em",
    "thumbv8m",
    "riscv32",
    "xtensa",
    "wasm32",
]


class OperatingPoint(Table):
    """A clock and the least voltage of the core's rail that carries it."""

    frequency_MHz: Annotated[float, Field(gt=0)]
    voltage_V: Annotated[float, Field(gt=0)]


class OperatingPoints(Table):
    """The clocks that a processor can be set to, each with its voltage: what voltage scaling chooses from.

    * `at`: rising in clock, the voltage never falling.
    * `relative_uncertainty`, `distribution`, `because`: of the voltages, as in `Number`.
    """

    at: Annotated[list[OperatingPoint], Field(min_length=1)]
    source: Text
    confidence: Confidence
    relative_uncertainty: Annotated[float, Field(ge=0)]
    distribution: Literal["normal", "uniform"]
    because: Text
    conditions: Text

    @model_validator(mode="after")
    def _rising(self) -> Self:
        for low, high in pairwise(self.at):
            if high.frequency_MHz <= low.frequency_MHz or high.voltage_V < low.voltage_V:
                raise ValueError(
                    f"at {high.frequency_MHz:g} MHz comes behind {low.frequency_MHz:g} MHz; points must rise"
                )
        return self

    def number(self, point: OperatingPoint) -> Number:
        """The voltage of a point, as a number with its source."""
        return Number(value=point.voltage_V, unit="V", **self.model_dump(exclude={"at"}))


class Cores(Table):
    """What a device draws while a program runs on cores of another kind than the card's own numbers are of.

    It holds power as a card does, and its own clock.
    """

    core_class: CoreClass
    power: Number | None = None
    voltage: Number | None = None
    current: Number | None = None
    dynamic_power_coefficient: Number | None = None
    frequency: Number | None = None


class Factor(NamedTuple):
    """A number of a card, by its key, with its exponent in the product that is the energy."""

    key: str
    number: Number
    exponent: int


class Rate(NamedTuple):
    """Joules of one cycle, or of one second, and the standard uncertainty of the figure's natural logarithm."""

    joules: float
    log_sigma: float


class Card(Table):
    """What one device draws while one of its cores runs a program.

    It holds exactly one of these: `power`; `voltage` and `current` of the same rail; `voltage` and
    `dynamic_power_coefficient`, for P = C * V^2 * f. A card with a `frequency`, a current per MHz or a coefficient
    values cycles; one without values time, and then stands for the very machine that was measured.

    * `isa`: the instruction set whose cycles or time it may value.
    * `narrowed_by`: what would narrow its interval.
    * `idle_power`: what the device draws while no program runs; it enters no joules of a program.
    * `operating_points`: clocks and voltages; they enter no joules of a program at the card's own clock.
    * `radio`: the radio card of the same chip or board, taken where nobody names another.
    * `core_class`: the kind of core that the numbers are of, where the device has several; `cores`: those of others.
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
    idle_power: Number | None = None
    operating_points: OperatingPoints | None = None
    radio: Text | None = None
    core_class: CoreClass | None = None
    cores: list[Cores] = Field(default=[])

    _lacks: str | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _one_way_to_power(self) -> Self:
        ways = {("power",), ("voltage", "current"), ("voltage", "dynamic_power_coefficient")}
        given = tuple(key for key in _DRAWN if getattr(self, key))
        if given not in ways:
            raise ValueError(
                f"has {' and '.join(given) or 'no power'}; it needs power, or voltage and current, or voltage and "
                "dynamic_power_coefficient"
            )
        require_units(self, _UNITS)
        # The clock has no supply, and the idle power enters no product.
        refuse_mixed({key: getattr(self, key) for key in _DRAWN if getattr(self, key)}, self.voltage)
        return self

    @model_validator(mode="after")
    def _each_kind_once(self) -> Self:
        kinds = [self.core_class, *(table.core_class for table in self.cores)]
        if self.cores and self.core_class is None:
            raise ValueError("has cores of another kind, and doesn't say by core_class of which its own numbers are")
        for table in self.cores:
            if kinds.count(table.core_class) > 1:
                raise ValueError(f"has two tables of {table.core_class} cores")
            other = self.model_validate(self._numbers_on(table).model_dump())
            if other.counts_cycles != self.counts_cycles:
                raise ValueError(f"values cycles of one kind of core and time of another: see {table.core_class}")
        return self

    def on(self, kind: str | None) -> Self:
        """The card for one kind of core; null where a machine has one kind, or nobody knows on which it ran.

        Where the card knows other kinds and not this one, its own numbers stand for it, and are assumed.
        """
        if kind is None or self.core_class in {None, kind}:
            return self
        for table in self.cores:
            if table.core_class == kind:
                return self._numbers_on(table)
        card = self.model_copy()
        card._lacks = kind
        return card

    def _numbers_on(self, table: Cores) -> Self:
        # Operating points are of the card's own cores.
        table_numbers = {key: getattr(table, key) for key in (*_DRAWN, "frequency")}
        return self.model_copy(
            update={**table_numbers, "core_class": table.core_class, "cores": [], "operating_points": None}
        )

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

    @property
    def rate(self) -> Rate:
        """Joules of one cycle, or of one second where the card values time.

        The factors are taken as independent, so that their uncertainties add up in squares on the logarithmic scale,
        where a product is a sum: u^2(ln E) = sum of (exponent * u(ln factor))^2 (GUM, JCGM 100:2008, 5.1.6).
        """
        factors = self.factors()
        joules = math.prod(number.in_SI**exponent for _, number, exponent in factors)
        return Rate(joules, math.hypot(*(exponent * number.log_sigma for _, number, exponent in factors)))

    @property
    def active_W(self) -> float | None:
        """Watts while a program runs; None where the card values cycles and says no clock."""
        if not self.counts_cycles:
            return self.rate.joules
        return self.rate.joules * self.frequency.in_SI if self.frequency else None

    def doubted(self) -> list[str]:
        """The keys of the numbers in use that nobody could verify."""
        return [key for key, number, _ in self.factors() if number.doubted]

    @property
    def evidence(self) -> Literal["modelled", "assumed"]:
        """What an energy by this card is: modelled, or assumed where a number in use is not verified.

        Assumed is as well what is valued by the numbers of another kind of core.
        """
        return "assumed" if self.doubted() or self._lacks else "modelled"


_DRAWN = ("power", "voltage", "current", "dynamic_power_coefficient")
_UNITS = {
    "power": ["W"],
    "voltage": ["V"],
    "current": ["mA", "uA/MHz"],
    "dynamic_power_coefficient": ["uW/MHz/V^2"],
    "frequency": ["MHz"],
    "idle_power": ["W", "mW"],
}


class Device(NamedTuple):
    """A card and the name by which it was asked for."""

    name: str
    card: Card

    def on(self, kind: str | None) -> Device:
        """The same device by its card for one kind of core."""
        return Device(self.name, self.card.on(kind))

    def refuse_doubted(self, *, allow_assumed: bool) -> None:
        """Raises EvidenceError where a number in use is unverified, or of other cores, and nobody allowed that."""
        if self.card._lacks and not allow_assumed:
            what = f"has numbers of {self.card.core_class} cores, and none of {self.card._lacks} ones"
            hint = "--allow-assumed takes them all the same, and the result says so"
            raise EvidenceError(f"device card {self.name} {what}", hint=hint)
        numbers = {key: number for key, number, _ in self.card.factors()}
        refuse_doubted(f"device card {self.name}", numbers, allow_assumed=allow_assumed)


FORM = DefinitionForm("device", "A device card: what a device draws while a program runs.", Card, ("device",))
DEVICES = Shelf("device card", "cards", "devices", Card, own_too=True, template="wattlock devices --template device")


def names(cards: Path | None = None) -> list[str]:
    """The device cards by name, those of the user's folder among them."""
    return DEVICES.names(cards)


def load(name_or_path: str | Path, cards: Path | None = None) -> Device:
    """Read a device card.

    * `name_or_path`: the name of a card, or the path of a TOML file.
    * `cards`: the user's folder of cards; without one that of the environment variable `WATTLOCK_CARDS`.

    Raises InputError where there is no such card, or naming the first thing that is wrong with it.
    """
    return Device(*DEVICES.load(name_or_path, cards))


def kept(name: str, card: Mapping[str, Any]) -> Device:
    """A card as it stands in a run's plan (`Card.model_dump`), so that a run is valued alike wherever it is read.

    Raises InputError where it was damaged.
    """
    try:
        return Device(name, Card.model_validate_json(json.dumps(card)))
    except ValidationError as error:
        wrong = [problem._replace(hint="name one with --device") for problem in problems_of(error, Card)]
        raise refusal("the run's device_card", wrong) from error
