"""Which one measurement would narrow the answer most: each uncertain number is fixed in turn."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from wattlock.advise.costs import Cost
from wattlock.advise.days import Load, MonteCarlo, seconds
from wattlock.advise.supply import FACTOR as EFFICIENCY
from wattlock.energy.battery import Array
from wattlock.energy.battery_cards import OF_MODEL
from wattlock.energy.tasks import Plan


class Information(NamedTuple):
    """One measurement.

    * `number`: what would be known. `narrower`: by which share the 95 % interval's width (of the logarithm) shrinks.
    * `how`: what to measure.
    """

    number: str
    narrower: float
    how: str


def values_of_information(
    best: Load, cost: Cost, by: MonteCarlo, plan: Plan, advice: dict[str, str]
) -> list[Information]:
    """All uncertain numbers of the first choice, those first that narrow most.

    * `advice`: what narrows the numbers of `device`, `radio`, `battery`, `sleep`, in the cards' words.
    """
    whole = width(seconds([best], by, plan))
    if not whole:
        return []
    found = []
    for name, how, monte_carlo in _fixed(best, cost, by, plan, advice):
        found.append(Information(name, 1 - width(seconds([best], monte_carlo, plan)) / whole, how))
    return sorted(found, key=lambda one: -one.narrower)


def _fixed(
    best: Load, cost: Cost, by: MonteCarlo, plan: Plan, advice: dict[str, str]
) -> Iterator[tuple[str, str, MonteCarlo]]:
    names = sorted({name for _, factors in best.terms_W for name in factors if name})
    for name in names:
        kind = name.partition(" ")[0]
        how = cost.narrowed_by if kind == "cipher" else advice.get(kind, "")
        yield name, how, by._replace(factors={**by.factors, name: np.ones(by.draws)})
    if by.stage.width:
        yield EFFICIENCY, advice.get("supply", ""), by._replace(factors={**by.factors, EFFICIENCY: np.ones(by.draws)})
    drawn = by.batteries
    for key in ("capacity", *OF_MODEL[plan.model]):
        values = drawn.numbers[key]
        held = {**drawn.numbers, key: np.full_like(values, np.median(values))}
        yield f"battery {key}", advice.get("battery", ""), by._replace(batteries=drawn._replace(numbers=held))
    leak = np.full_like(drawn.self_discharge_per_s, np.median(drawn.self_discharge_per_s))
    yield (
        "battery self-discharge",
        advice.get("battery", ""),
        by._replace(batteries=drawn._replace(self_discharge_per_s=leak)),
    )
    shelf = np.median(drawn.shelf_life_s)
    if np.isfinite(shelf):
        how = "how long the maker trusts the battery where it lives"
        yield "battery shelf life", how, by._replace(batteries=drawn._replace(shelf_life_s=float(shelf)))
    share = np.full_like(drawn.capacity_share, np.median(drawn.capacity_share))
    yield (
        "battery ageing and temperature",
        "the battery's age and the temperature where it lives",
        by._replace(batteries=drawn._replace(capacity_share=share)),
    )


def width(life_s: Array) -> float:
    """Of the 95 % interval of the logarithm of a life."""
    low, high = np.quantile(life_s, (0.025, 0.975))
    return float(np.log(high / low))
