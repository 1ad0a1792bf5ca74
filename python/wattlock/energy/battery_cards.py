"""Battery cards, and how long what they describe lasts: capacity, loss with time, voltage, and draws of all of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from wattlock.definitions import DefinitionForm, Shelf, Table, Text
from wattlock.energy.number import SAME_SHARE, Number, refuse_doubted, require_units
from wattlock.errors import InputError

if TYPE_CHECKING:
    from wattlock.analysis.discharges import FullCharge

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


FORM = DefinitionForm(
    "battery", "A battery card: what a battery holds, and what time takes.", BatteryCard, ("battery",)
)
BATTERIES = Shelf(
    "battery card", "cards", "batteries", BatteryCard, own_too=True, template="wattlock devices --template battery"
)


def load(name_or_path: str | Path, cards: Path | None = None) -> Battery:
    """Read a battery card, as `cards.load` reads a device card."""
    return Battery(*BATTERIES.load(name_or_path, cards))


Array = NDArray[np.float64]
# The curve is smooth up to the cut-off: 16 points give its energy to 1e-6, 12 steps the cut-off to rounding.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
STEPS = 12
HOUR_s = 3600.0
SMALL_W, W_STEPS = 40.0, 4


def linear_s(capacity_C: Any, current_A: Any) -> Array:
    """Seconds until empty where each coulomb that was put in comes out: t = Q / I."""
    return np.asarray(capacity_C / current_A, dtype=np.float64)


def peukert_s(capacity_C: Any, current_A: Any, rated_A: Any, exponent: Any) -> Array:
    """Seconds until empty by t = Q / I * (I_rated / I)^(exponent - 1).

    Below the rated current the law would give more charge than the capacity; there it gives the capacity.

    Source: W. Peukert, Elektrotechnische Zeitschrift 20, 1897; in this form D. Doerffel and S. Abu Sharkh, Journal of
    Power Sources 155, 2006.
    """
    share = np.minimum(1.0, (rated_A / current_A) ** (np.asarray(exponent) - 1.0))
    return np.asarray(linear_s(capacity_C, current_A) * share)


def kibam_s(capacity_C: Any, current_A: Any, available_share: Any, exchange_per_s: Any) -> Array:
    """Seconds until the available well is empty.

    * `available_share`: c, the share of the charge that stands in the well which feeds the load.
    * `exchange_per_s`: k' = k / (c (1 - c)), the rate at which the wells even out.

    The well is empty where Q - I t = (1 - c) / c * I / k' * (1 - exp(-k' t)), which Lambert's W solves.

    Source: J. F. Manwell and J. G. McGowan, Solar Energy 50, 1993; in this form M. R. Jongerden and B. R. Haverkort,
    IET Software 3(6), 2009.
    """
    span = (1.0 - available_share) / (available_share * exchange_per_s)
    ahead = capacity_C / current_A - span
    with np.errstate(divide="ignore"):  # one well alone spans nothing
        log_argument = np.log(span * exchange_per_s) - exchange_per_s * ahead
    rest = lambert_w_of_exp(log_argument)
    return np.asarray(ahead + rest / exchange_per_s, dtype=np.float64)


def lambert_w_of_exp(y: Any) -> Array:
    """The w > 0 of w exp(w) = exp(y): Lambert's W by the logarithm of its argument, which then can't overflow.

    Source: the step of R. Iacono and J. P. Boyd, New approximations to the principal real-valued branch of the Lambert
    W-function, Advances in Computational Mathematics 43, 2017; the start of S. Winitzki, Uniform approximations for
    transcendental functions, ICCSA 2003.
    """
    y = np.asarray(y, dtype=np.float64)
    held = np.maximum(y, -SMALL_W)
    grown = np.logaddexp(0.0, held)
    w = grown * (1.0 - np.log1p(grown) / (2.0 + grown))
    for _ in range(W_STEPS):
        w = w / (1.0 + w) * (1.0 + held - np.log(w))
    # So small a w is its own argument, to rounding.
    return np.asarray(np.where(y < -SMALL_W, np.exp(np.minimum(y, -SMALL_W)), w))


class Tremblay(NamedTuple):
    """Terminal voltage over charge drawn: V = E0 - R i - K Q / (Q - q) (q + i*) + A exp(-B q).

    Charge is in ampere-hours here, as K stands for volts an ampere-hour and for ohms; i* is the settled current.

    Source: O. Tremblay and L.-A. Dessaint, World Electric Vehicle Journal 3, 2009, equations 2 and 4 to 6, after
    C. M. Shepherd, J. Electrochem. Soc. 112, 1965; K from the nominal point at the typical current, as in ns-3's
    generic battery model.
    """

    constant_V: Any
    polarisation: Any
    amplitude_V: Any
    decay_per_Ah: Any
    resistance_ohm: Any
    capacity_Ah: Any

    @classmethod
    def from_points(
        cls,
        *,
        capacity_Ah: Any,
        resistance_ohm: Any,
        typical_A: Any,
        full_V: Any,
        exponential: tuple[Any, Any],
        nominal: tuple[Any, Any],
    ) -> Self:
        """The curve through three points at `typical_A`.

        * `exponential`, `nominal`: ends of the two zones as (ampere-hours drawn, volts).

        The full point is met before the current settles and the nominal one after; at the exponential one the curve
        lies off by what is left of its exponential (5 % of its amplitude) and by the polarisation.
        """
        exponential_Ah, exponential_V = exponential
        nominal_Ah, nominal_V = nominal
        amplitude = full_V - exponential_V
        decay = 3.0 / exponential_Ah
        constant = full_V + resistance_ohm * typical_A - amplitude
        discharge = constant - nominal_V - resistance_ohm * typical_A + amplitude * np.exp(-decay * nominal_Ah)
        polarisation = discharge * (capacity_Ah - nominal_Ah) / (capacity_Ah * (nominal_Ah + typical_A))
        return cls(constant, polarisation, amplitude, decay, resistance_ohm, capacity_Ah)

    def voltage_V(self, drawn_Ah: Any, current_A: Any, settled_A: Any | None = None) -> Array:
        """The terminal voltage; `settled_A` is the current as the battery has followed it, without one the same."""
        settled = current_A if settled_A is None else settled_A
        steep = self.polarisation * self.capacity_Ah / (self.capacity_Ah - drawn_Ah)
        exponential = self.amplitude_V * np.exp(-self.decay_per_Ah * drawn_Ah)
        return np.asarray(
            self.constant_V - self.resistance_ohm * current_A - steep * (drawn_Ah + settled) + exponential
        )

    def under_power_V(self, drawn_Ah: Any, power_W: Any) -> Array:
        """The terminal voltage under a load of constant power; the least possible one where it can't be carried."""
        open_V = self.voltage_V(drawn_Ah, 0.0)
        ohm = self.resistance_ohm + self.polarisation * self.capacity_Ah / (self.capacity_Ah - drawn_Ah)
        return np.asarray((open_V + np.sqrt(np.maximum(open_V**2 - 4.0 * ohm * power_W, 0.0))) / 2.0)

    def until_Ah(self, current_A: Any, cut_off_V: Any) -> Array:
        """Ampere-hours drawn when the voltage reaches the cut-off at this current; 0 where it starts below.

        Voltage above the cut-off times (Q - q) is convex and falls to its root, so that Newton's steps from the full
        battery rise to it and never pass it.
        """
        drawn = np.zeros(np.broadcast_shapes(*(np.shape(value) for value in (*self, current_A, cut_off_V))))
        room = self.constant_V - self.resistance_ohm * current_A - cut_off_V
        slope = self.polarisation * self.capacity_Ah
        carries = (room + self.amplitude_V) * self.capacity_Ah > slope * current_A
        for _ in range(STEPS):
            exponential = self.amplitude_V * np.exp(-self.decay_per_Ah * drawn)
            left = self.capacity_Ah - drawn
            above = (room + exponential) * left - slope * (drawn + current_A)
            discharges = room + exponential + slope + self.decay_per_Ah * exponential * left
            drawn = np.where(carries, drawn + above / discharges, 0.0)
        return drawn

    def seconds(self, power_W: Any, cut_off_V: Any) -> Array:
        """Seconds until the cut-off under a load of constant power: the energy given by then over the power."""
        end = self.until_Ah(power_W / cut_off_V, cut_off_V)
        mean_V = np.zeros_like(end)
        for node, weight in zip(NODES, WEIGHTS, strict=True):
            mean_V += weight / 2.0 * self.under_power_V(end * ((node + 1.0) / 2.0), power_W)
        return np.asarray(end * mean_V * HOUR_s / power_W)


def with_self_discharge(seconds: Any, per_s: Any) -> Array:
    """Seconds until empty where a share of what is left goes by itself too: dq/dt = -I - s q gives ln(1 + s t) / s."""
    rate = np.asarray(per_s)
    return np.asarray(np.where(rate > 0, np.log1p(rate * seconds) / np.where(rate > 0, rate, 1.0), seconds))


ROOM_C = 25.0
# The widest that a cell's data sheet gives (Energizer L91); beyond it no law of a card holds.
LEAST_C, MOST_C, MOST_SIGMA_K = -40.0, 60.0, 20.0
# Coordinates of samples that a battery may take; what loads it takes those behind them.
COORDINATES = 16
# A battery in the cold still holds something: the law of temperature ends here.
LEAST_SHARE = 0.05
CURVE_POINTS = 200
# Below a picowatt a battery outlasts every number that says how long.
LEAST_LOAD_W = 1e-12


# What a full battery holds is known to 1 % of its uncertainty by so many.
FULL_DRAWS = 4096


class Surroundings(NamedTuple):
    """Where the battery lives: a normal distribution of its temperature."""

    mean_C: float = 20.0
    sigma_C: float = 5.0


INDOORS = Surroundings()


class BatterySamples(NamedTuple):
    """One battery a draw: its numbers in SI units by key, and what is left of its capacity by ageing and cold.

    * `shelf_life_s`: when it is given up, whatever charge it has left; infinite where no law says it.
    """

    numbers: dict[str, Array]
    capacity_share: Array
    self_discharge_per_s: Array
    shelf_life_s: Array | float = np.inf


class Curve(NamedTuple):
    """A discharge: seconds, and the charge left in percent of the full battery; the rest drops at the end."""

    time_s: Array
    level_percent: Array


def drawn(
    battery: Battery, model: Model, laws: list[Law], *, draws: int, seed: int, at: Surroundings = INDOORS
) -> BatterySamples:
    """Draw batteries of a card.

    * `laws`: `ageing`: the share of capacity left is uniform between a new battery's and that at the end of its life;
      `temperature`: normal by `at`, each kelvin below 25 °C takes its share; `self-discharge`: its rate by its number;
      `shelf-life`: the battery is given up after it.

    Each number is drawn by its own law, log-normal or log-uniform; the points of Tremblay's curve move together, the
    voltages by the full voltage's factor, the charges by the capacity's.

    Raises InputError where the temperature is none that a battery works at.
    """
    if not (LEAST_C <= at.mean_C <= MOST_C and 0 <= at.sigma_C <= MOST_SIGMA_K):
        raise InputError(
            f"{at.mean_C:g} ± {at.sigma_C:g} °C: batteries work at {LEAST_C:g} to {MOST_C:g} °C",
            hint=f"--temperature-C {LEAST_C:g} to {MOST_C:g}, --temperature-sigma-C 0 to {MOST_SIGMA_K:g}",
        )
    samples = Samples(seed, draws)
    card = battery.card
    numbers_by_name = card.numbers(model, laws)
    # Drawn last, as it moves nothing else.
    shelf_life = numbers_by_name.pop("shelf_life", None)
    numbers = {key: number.in_SI * samples.factor(number) for key, number in numbers_by_name.items()}
    if model == "tremblay":
        _move_together(card.numbers(model, laws), numbers)
    for key, low, high in (("available_share", 0.0, 0.999), ("peukert_exponent", 1.0, np.inf)):
        if key in numbers:
            numbers[key] = np.clip(numbers[key], low, high)
    share = np.ones(draws)
    if "ageing" in laws:
        share *= samples.uniform(np.minimum(numbers["aged_capacity"], 1.0), 1.0)
    if "temperature" in laws:
        cold_K = np.maximum(ROOM_C - samples.normal(at.mean_C, at.sigma_C), 0.0)
        share *= np.clip(1.0 - numbers["capacity_per_kelvin"] * cold_K, LEAST_SHARE, 1.0)
    self_discharge = numbers["self_discharge"] if "self-discharge" in laws else np.zeros(draws)
    shelf_life_s = shelf_life.in_SI * samples.factor(shelf_life) if shelf_life else np.inf
    return BatterySamples(numbers, share, self_discharge, shelf_life_s)


def full(battery: Battery, *, allow_assumed: bool) -> FullCharge:
    """What the battery of a card holds when it is full: capacity times voltage, as aged as its card has it.

    Raises InputError or EvidenceError as `Battery.require` does.
    """
    laws: list[Law] = ["ageing"] if "ageing" in battery.card.laws() else []
    from wattlock.analysis.discharges import FullCharge

    evidence = battery.require("linear", laws, allow_assumed=allow_assumed)
    found = drawn(battery, "linear", laws, draws=FULL_DRAWS, seed=0)
    logs = np.log(found.numbers["capacity"] * found.numbers["voltage"] * found.capacity_share)
    return FullCharge(float(np.exp(logs.mean())), float(np.expm1(logs.std())), evidence)


def seconds(battery: Battery, model: Model, batteries: BatterySamples, power_W: Array) -> Array:
    """Seconds until each drawn battery is empty, or given up at the end of its shelf life.

    * `power_W`: constant loads, of a shape that ends in the number of draws, as (candidates, draws).

    Raises InputError where a load is zero or charges the battery, or in the median draws more than its largest current.
    """
    return np.minimum(by_charge(battery, model, batteries, power_W), batteries.shelf_life_s)


def by_charge(battery: Battery, model: Model, batteries: BatterySamples, power_W: Array) -> Array:
    """Seconds until each drawn battery is empty, as `seconds` has it, whatever its shelf life."""
    largest_W = float(power_W.max())
    if _current_A(battery, model, largest_W) > battery.card.max_current.in_SI:
        # Some draws may be beyond it, the middle one may not.
        largest_W = float(np.median(power_W, axis=-1).max())
    refuse_load(battery, model, largest_W, float(power_W.min()))
    numbers = batteries.numbers
    capacity_C = numbers["capacity"] * batteries.capacity_share
    if model == "tremblay":
        alone = _curve(numbers, batteries.capacity_share).seconds(power_W, numbers["cut_off_voltage"])
    else:
        current_A = power_W / numbers["voltage"]
        if model == "linear":
            alone = linear_s(capacity_C, current_A)
        elif model == "peukert":
            alone = peukert_s(capacity_C, current_A, numbers["rated_current"], numbers["peukert_exponent"])
        else:
            alone = kibam_s(capacity_C, current_A, numbers["available_share"], numbers["exchange_rate"])
    return with_self_discharge(alone, batteries.self_discharge_per_s)


def refuse_load(battery: Battery, model: Model, largest_W: float, least_W: float) -> None:
    """Raises InputError where a load can't empty the battery, or is more than it may give."""
    if least_W < 0:
        raise InputError(
            f"the load is {least_W:g} W: the battery {battery.name} is not discharging",
            hint="a life needs a load; leave out what charges the battery",
        )
    if least_W == 0:
        raise InputError(
            f"the load on battery {battery.name} is 0 W: it never discharges", hint="give an operation or --idle-W"
        )
    if least_W < LEAST_LOAD_W:
        raise InputError(
            f"the load on battery {battery.name} is {least_W:.3g} W: below {LEAST_LOAD_W:g} W nothing discharges it",
            hint="give what the device draws beside it with --idle-W",
        )
    card, current_A = battery.card, _current_A(battery, model, largest_W)
    if current_A > card.max_current.in_SI:
        raise InputError(
            f"the load draws {current_A:.3g} A at {_lowest_V(battery, model):g} V, battery {battery.name} gives at "
            f"most {card.max_current.in_SI:g} A",
            hint="take a larger battery, or a load that draws less",
        )


def _lowest_V(battery: Battery, model: Model) -> float:
    card = battery.card
    return (card.cut_off_voltage if model == "tremblay" and card.cut_off_voltage else card.voltage).in_SI


def _current_A(battery: Battery, model: Model, load_W: float) -> float:
    return load_W / _lowest_V(battery, model)


def curve(battery: Battery, model: Model, batteries: BatterySamples, power_W: float) -> Curve:
    """The discharge of the median battery under a constant load."""
    refuse_load(battery, model, power_W, power_W)
    median = BatterySamples(
        {key: np.median(values, keepdims=True) for key, values in batteries.numbers.items()},
        np.median(batteries.capacity_share, keepdims=True),
        np.median(batteries.self_discharge_per_s, keepdims=True),
    )
    given_up_s = float(np.median(batteries.shelf_life_s))
    numbers = median.numbers
    if model == "tremblay":
        shape = _curve(numbers, median.capacity_share)
        end_Ah = float(shape.until_Ah(power_W / numbers["cut_off_voltage"], numbers["cut_off_voltage"])[0])
        drawn_Ah = np.linspace(0.0, end_Ah, CURVE_POINTS)
        steps_V = (shape.under_power_V(drawn_Ah[:-1], power_W) + shape.under_power_V(drawn_Ah[1:], power_W)) / 2.0
        alone = np.concatenate([[0.0], np.cumsum(steps_V * np.diff(drawn_Ah))]) * HOUR_s / power_W
        level = 1.0 - drawn_Ah / shape.capacity_Ah
    else:
        without = median._replace(self_discharge_per_s=np.zeros(1))
        end_s = float(seconds(battery, model, without, np.array([power_W]))[0])
        alone = np.linspace(0.0, end_s, CURVE_POINTS)
        full_s = numbers["capacity"] * median.capacity_share * numbers["voltage"] / power_W
        # KiBaM leaves charge bound where it ends; by Peukert what doesn't come out is lost on the way.
        level = 1.0 - alone / (full_s if model == "kibam" else end_s)
    time_s = np.minimum(with_self_discharge(alone, median.self_discharge_per_s), given_up_s)
    return Curve(np.append(time_s, time_s[-1]), np.append(100.0 * np.maximum(level, 0.0), 0.0))


def _move_together(numbers: dict[str, Number], values: dict[str, Array]) -> None:
    for leader, followers in {
        "full_voltage": ("exponential_voltage", "nominal_voltage"),
        "capacity": ("exponential_capacity", "nominal_capacity"),
    }.items():
        factor = values[leader] / numbers[leader].in_SI
        for key in followers:
            values[key] = numbers[key].in_SI * factor
    for key in ("cut_off_voltage", "typical_current"):
        values[key] = np.full_like(values[key], numbers[key].in_SI)


def _curve(numbers: dict[str, Array], share: Array) -> Tremblay:
    def ampere_hours(key: str) -> Array:
        return numbers[key] * share / HOUR_s

    return Tremblay.from_points(
        capacity_Ah=ampere_hours("capacity"),
        resistance_ohm=numbers["internal_resistance"],
        typical_A=numbers["typical_current"],
        full_V=numbers["full_voltage"],
        exponential=(ampere_hours("exponential_capacity"), numbers["exponential_voltage"]),
        nominal=(ampere_hours("nominal_capacity"), numbers["nominal_voltage"]),
    )


# fmt: off
GENERATOR = (
    1, 182667, 469891, 498753, 110745, 446247, 250185, 118627, 245333, 283199, 408519, 391023, 246327, 126539, 399185,
    461527, 300343, 69681, 516695, 436179, 106383, 238523, 413283, 70841, 47719, 300129, 113029, 123925, 410745, 211325,
    17489, 511893, 40767, 186077, 519471, 255369, 101819, 243573, 66189, 152143, 503455, 113217, 132603, 463967, 297717,
    157383, 224015, 502917, 36237, 94049, 170665, 79397, 123963, 223451, 323871, 303633, 98567, 318855,
)
# fmt: on


class Samples:
    """So many samples; each call takes the next coordinate.

    * `first`: the coordinate to begin with, so that what is drawn apart is drawn together.
    """

    def __init__(self, seed: int | Sequence[int], samples: int, first: int = 0) -> None:
        self.samples = samples
        self._random = np.random.default_rng(seed)
        self._coordinate = first

    def uniform(self, low: Array | float, high: Array | float) -> Array:
        """Of a uniform law."""
        return np.asarray(low + (np.asarray(high) - low) * _middles(self.samples)[self._order()])

    def normal(self, mean: float, sigma: float) -> Array:
        """Of a normal law."""
        return np.asarray(mean + sigma * _quantiles(self.samples)[self._order()])

    def factor(self, number: Number) -> Array:
        """Of a card's number over its own value, by its law."""
        width = float(np.log1p(number.relative_uncertainty))
        return np.exp(self.uniform(-width, width) if number.distribution == "uniform" else self.normal(0.0, width))

    def _order(self) -> NDArray[np.intp]:
        """Into which of the equally likely parts each sample falls."""
        place, self._coordinate = self._coordinate, self._coordinate + 1
        if place >= len(GENERATOR):
            return self._random.permutation(self.samples).astype(np.intp)
        points = (_inverses(self.samples) * GENERATOR[place] + self._random.random()) % 1.0
        if self.samples & (self.samples - 1) == 0:
            # A power of two fills the parts by itself.
            return (points * self.samples).astype(np.intp)
        order = np.empty(self.samples, dtype=np.intp)
        order[np.argsort(points)] = np.arange(self.samples)
        return order


@cache
def _inverses(samples: int) -> Array:
    """The radical inverses of 0, 1, 2 ...: their binary digits behind the point, the last one first."""
    number, found, digit = np.arange(samples), np.zeros(samples), 0.5
    while number.any():
        found += digit * (number & 1)
        number, digit = number >> 1, digit / 2
    return found


@cache
def _middles(samples: int) -> Array:
    return np.asarray((np.arange(samples) + 0.5) / samples)


@cache
def _quantiles(samples: int) -> Array:
    # Not SciPy's: it takes a fifth of a second to load.
    law = NormalDist()
    return np.array([law.inv_cdf(share) for share in _middles(samples)])
