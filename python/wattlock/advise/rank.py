"""Who lasts longest, and who can't be told from whom: in every draw all choices live in the same world."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from wattlock.energy.battery import Array

QUANTILES = (0.5, 0.025, 0.975)
# A difference that matters to nobody, and how sure a difference must be.
SMALLEST_EFFECT = 0.01
SURE = 0.975


class Place(NamedTuple):
    """One choice's place.

    * `number`: of the choice among those given. `group`: from 1; all of a group are tied with its first.
    * `seconds`, `low_s`, `high_s`: median and 95 % of the draws.
    * `behind`: the share of its life that the first has more, in the median of the draws.
    """

    number: int
    group: int
    seconds: float
    low_s: float
    high_s: float
    behind: float


def ranked(life_s: Array) -> list[Place]:
    """The places, longest life first.

    * `life_s`: seconds, as (choices, draws).

    A choice is tied with the first of its group where their lives differ by less than 1 % in the median of the draws,
    or where neither lasts longer in 97.5 % of them.
    """
    median, low, high = np.quantile(life_s, QUANTILES, axis=1)
    order = np.argsort(-median, kind="stable")
    places: list[Place] = []
    group, head = 0, -1
    for number in order:
        if head < 0 or not tied(life_s[head], life_s[number]):
            group, head = group + 1, number
        behind = float(np.median(life_s[order[0]] / life_s[number])) - 1
        places.append(Place(int(number), group, float(median[number]), float(low[number]), float(high[number]), behind))
    return places


def tied(first_s: Array, second_s: Array) -> bool:
    """Whether two lives can't be told apart."""
    ratio = first_s / second_s
    longer = float(np.mean(ratio > 1))
    return abs(float(np.median(ratio)) - 1) < SMALLEST_EFFECT or 1 - SURE < longer < SURE


def head(places: Sequence[Place]) -> list[int]:
    """The choices of the first group."""
    return [place.number for place in places if place.group == 1]
