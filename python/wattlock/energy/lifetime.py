"""How long a battery carries a load, as a distribution: what is uncertain is drawn from the laws of its card."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wattlock.energy import battery as models
from wattlock.energy.battery import Array, HOUR_s, Tremblay
from wattlock.energy.battery_cards import Battery, Law, Model
from wattlock.energy.number import Number
from wattlock.energy.samples import Samples
from wattlock.errors import InputError

if TYPE_CHECKING:
    from wattlock.analysis.discharges import Full

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


class Drawn(NamedTuple):
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
) -> Drawn:
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
    every = card.numbers(model, laws)
    # Drawn last, as it moves nothing else.
    shelf_life = every.pop("shelf_life", None)
    numbers = {key: number.in_SI * samples.factor(number) for key, number in every.items()}
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
    return Drawn(numbers, share, self_discharge, shelf_life_s)


def full(battery: Battery, *, allow_assumed: bool) -> Full:
    """What the battery of a card holds when it is full: capacity times voltage, as aged as its card has it.

    Raises InputError or EvidenceError as `Battery.require` does.
    """
    laws: list[Law] = ["ageing"] if "ageing" in battery.card.laws() else []
    from wattlock.analysis.discharges import Full

    evidence = battery.require("linear", laws, allow_assumed=allow_assumed)
    found = drawn(battery, "linear", laws, draws=FULL_DRAWS, seed=0)
    logs = np.log(found.numbers["capacity"] * found.numbers["voltage"] * found.capacity_share)
    return Full(float(np.exp(logs.mean())), float(np.expm1(logs.std())), evidence)


def seconds(battery: Battery, model: Model, batteries: Drawn, power_W: Array) -> Array:
    """Seconds until each drawn battery is empty, or given up at the end of its shelf life.

    * `power_W`: constant loads, of a shape that ends in the number of draws, as (candidates, draws).

    Raises InputError where a load is zero or charges the battery, or in the median draws more than its largest current.
    """
    return np.minimum(by_charge(battery, model, batteries, power_W), batteries.shelf_life_s)


def by_charge(battery: Battery, model: Model, batteries: Drawn, power_W: Array) -> Array:
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
            alone = models.linear_s(capacity_C, current_A)
        elif model == "peukert":
            alone = models.peukert_s(capacity_C, current_A, numbers["rated_current"], numbers["peukert_exponent"])
        else:
            alone = models.kibam_s(capacity_C, current_A, numbers["available_share"], numbers["exchange_rate"])
    return models.with_self_discharge(alone, batteries.self_discharge_per_s)


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


def curve(battery: Battery, model: Model, batteries: Drawn, power_W: float) -> Curve:
    """The discharge of the median battery under a constant load."""
    refuse_load(battery, model, power_W, power_W)
    median = Drawn(
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
    time_s = np.minimum(models.with_self_discharge(alone, median.self_discharge_per_s), given_up_s)
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
