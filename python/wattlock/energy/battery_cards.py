"""Battery cards: what a battery holds, how it falls, and what takes from it with time, each number with its source."""

from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple, Self

from pydantic import model_validator

from wattlock.definitions import Form, Shelf, Table, Text
from wattlock.energy.number import SAME_SHARE, Number, refuse_doubted, require_units
from wattlock.errors import InputError

Model = Literal["linear", "peukert", "kibam", "tremblay"]
Law = Literal["ageing", "temperature", "self-discharge", "shelf-life"]
MODELS: tuple[Model, ...] = ("linear", "peukert", "kibam", "tremblay")

# The numbers that each model takes, beside capacity and largest current.
OF_MODEL: dict[Model, tuple[str, ...]] = {
    "linear": ("voltage",),
    "peukert": ("voltage", "peukert_exponent", "rated_current"),
    "kibam": ("voltage", "available_share", "exchange_rate"),
    "tremblay": (
        "cut_off_voltage",
        "internal_resistance",
        "full_voltage",
        "exponential_voltage",
        "exponential_capacity",
        "nominal_voltage",
        "nominal_capacity",
        "typical_current",
    ),
}
OF_LAW: dict[Law, str] = {
    "ageing": "aged_capacity",
    "temperature": "capacity_per_kelvin",
    "self-discharge": "self_discharge",
    "shelf-life": "shelf_life",
}
CHARGE, CURRENT = ["Ah", "mAh"], ["A", "mA"]
_UNITS = {
    "capacity": CHARGE,
    "max_current": CURRENT,
    "voltage": ["V"],
    "cut_off_voltage": ["V"],
    "peukert_exponent": ["1"],
    "rated_current": CURRENT,
    "available_share": ["1"],
    "exchange_rate": ["1/min"],
    "internal_resistance": ["ohm"],
    "full_voltage": ["V"],
    "exponential_voltage": ["V"],
    "exponential_capacity": CHARGE,
    "nominal_voltage": ["V"],
    "nominal_capacity": CHARGE,
    "typical_current": CURRENT,
    "aged_capacity": ["1"],
    "capacity_per_kelvin": ["1/K"],
    "self_discharge": ["%/month", "%/year"],
    "shelf_life": ["y"],
}


class BatteryCard(Table):
    """What one battery holds.

    * `capacity`: the charge of a new battery at 25 °C, at the slow discharge that the source names.
    * `voltage`: the mean over such a discharge; capacity times voltage is the energy.
    * `max_current`: what may be drawn without a break.
    * `peukert_exponent`, `rated_current`: t = capacity / I * (rated_current / I)^(exponent - 1).
    * `available_share` c and `exchange_rate` k' = k / (c (1 - c)): the two wells of KiBaM.
    * `full_voltage`, `exponential_voltage`, `exponential_capacity`, `nominal_voltage`, `nominal_capacity`: three
      points of the discharge curve at `typical_current`, with `internal_resistance` and `cut_off_voltage`: Tremblay.
    * `aged_capacity`: share of the capacity that is left when the battery is given up.
    * `capacity_per_kelvin`: share of the capacity that is lost with each kelvin below 25 °C.
    * `self_discharge`: share of the charge left that goes by itself.
    * `shelf_life`: after so long the battery is given up, whatever charge it has left.
    """

    title: Text
    chemistry: Literal["li-ion", "li-polymer", "li-mno2", "alkaline", "nimh"]
    note: Text
    narrowed_by: Text
    capacity: Number
    voltage: Number
    max_current: Number
    cut_off_voltage: Number | None = None
    peukert_exponent: Number | None = None
    rated_current: Number | None = None
    available_share: Number | None = None
    exchange_rate: Number | None = None
    internal_resistance: Number | None = None
    full_voltage: Number | None = None
    exponential_voltage: Number | None = None
    exponential_capacity: Number | None = None
    nominal_voltage: Number | None = None
    nominal_capacity: Number | None = None
    typical_current: Number | None = None
    aged_capacity: Number | None = None
    capacity_per_kelvin: Number | None = None
    self_discharge: Number | None = None
    shelf_life: Number | None = None

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        require_units(self, _UNITS)
        self._refuse_mixed()
        for key in ("available_share", "aged_capacity"):
            share: Number | None = getattr(self, key)
            if share and share.value >= 1:
                raise ValueError(f"{key} is {share.value:g}, must be a share below 1")
        if self.peukert_exponent and self.peukert_exponent.value < 1:
            raise ValueError(f"peukert_exponent is {self.peukert_exponent.value:g}, must be at least 1")
        if "tremblay" in self.models():
            self._refuse_unordered("full_voltage", "exponential_voltage", "nominal_voltage", "cut_off_voltage")
            self._refuse_unordered("capacity", "nominal_capacity", "exponential_capacity")
        return self

    def _refuse_mixed(self) -> None:
        """Peukert's law and the discharge curve hold from the current at which the capacity was measured."""
        under = self.capacity.under
        for key in ("rated_current", "typical_current"):
            number: Number | None = getattr(self, key)
            if number and under and under.current_A and abs(number.in_SI / under.current_A - 1) > SAME_SHARE:
                raise ValueError(
                    f"{key} is {number.value:g} {number.unit}, must be {under.current_A:g} A: capacity was measured "
                    "at that (capacity.under.current_A)"
                )

    def _refuse_unordered(self, *falling: str) -> None:
        given: list[tuple[str, float]] = [(key, getattr(self, key).in_SI) for key in falling]
        for (above, high), (below, low) in pairwise(given):
            if low >= high:
                raise ValueError(f"{below} must be below {above}: the points of a discharge fall")

    def models(self) -> list[Model]:
        """The models for which the card has all numbers."""
        return [model for model in MODELS if all(getattr(self, key) for key in OF_MODEL[model])]

    def laws(self) -> list[Law]:
        """The laws for which the card has a number."""
        return [law for law, key in OF_LAW.items() if getattr(self, key)]

    def numbers(self, model: Model, laws: list[Law]) -> dict[str, Number]:
        """The numbers that an answer by `model` and `laws` rests on, by key."""
        keys = ("capacity", *OF_MODEL[model], *(OF_LAW[law] for law in laws))
        return {key: getattr(self, key) for key in keys}


class Battery(NamedTuple):
    """A card and the name by which it was asked for."""

    name: str
    card: BatteryCard

    def require(self, model: Model, laws: list[Law], *, allow_assumed: bool) -> Literal["modelled", "assumed"]:
        """What an answer by `model` and `laws` is.

        Raises InputError where the card lacks numbers for it, EvidenceError where some are verified by nobody and
        `allow_assumed` is not given.
        """
        missing = [key for key in OF_MODEL[model] if not getattr(self.card, key)]
        missing += [OF_LAW[law] for law in laws if law not in self.card.laws()]
        if missing:
            raise InputError(
                f"battery card {self.name} has no {', '.join(missing)}",
                hint=f"it has the numbers of {', '.join([*self.card.models(), *self.card.laws()])}",
            )
        numbers = self.card.numbers(model, laws)
        refuse_doubted(f"battery card {self.name}", numbers, allow_assumed=allow_assumed)
        return "assumed" if any(number.doubted for number in numbers.values()) else "modelled"


FORM = Form("battery", "A battery card: what a battery holds, and what time takes.", BatteryCard, ("battery",))
BATTERIES = Shelf("battery card", "cards", "batteries", BatteryCard, own_too=True)


def load(name_or_path: str | Path, own: Path | None = None) -> Battery:
    """Read a battery card, as `cards.load` reads a device card."""
    return Battery(*BATTERIES.load(name_or_path, own))
