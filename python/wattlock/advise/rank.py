"""Who lasts longest, and who can't be told from whom: in every draw all choices share the same sample."""

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
    * `charge_s`, `charge_low_s`, `charge_high_s`: what the charge alone would give; `shelf`: the share of the draws in
      which the battery's shelf life ends it sooner.
    """

    number: int
    group: int
    seconds: float
    low_s: float
    high_s: float
    behind: float
    charge_s: float
    charge_low_s: float
    charge_high_s: float
    shelf: float


def ranked(life_s: Array, charge_s: Array | None = None) -> list[Place]:
    """The places, longest life first; among equals the one whose charge alone would last longest.

    * `life_s`, `charge_s`: seconds, and those by the charge alone where that differs, as (choices, draws).

    A choice is tied with the first of its group where their lives differ by less than 1 % in the median of the draws,
    or where neither lasts longer in 97.5 % of them.
    """
    median, low, high = np.quantile(life_s, QUANTILES, axis=1)
    charge_s = life_s if charge_s is None else charge_s
    ends = charge_s > life_s
    alone = np.array([median, low, high])
    longer = ends.any(axis=1)
    if longer.any():
        alone[:, longer] = np.quantile(charge_s[longer], QUANTILES, axis=1)
    shelf = ends.mean(axis=1)
    order = np.lexsort((-alone[0], -median))
    places: list[Place] = []
    group, head = 0, -1
    for number in order:
        first = life_s[order[0]] / life_s[number]
        middle = float(np.median(first))
        behind = middle - 1
        if head < 0 or not (_alike(first, middle) if head == order[0] else tied(life_s[head], life_s[number])):
            group, head = group + 1, number
        lasts, least, most, *charge = (float(one[number]) for one in (median, low, high, *alone))
        places.append(
            Place(int(number), group, lasts, least, most, behind, charge[0], charge[1], charge[2], float(shelf[number]))
        )
    return places


def tied(first_s: Array, second_s: Array) -> bool:
    """Whether two lives can't be told apart."""
    ratio = first_s / second_s
    return _alike(ratio, float(np.median(ratio)))


def _alike(ratio: Array, middle: float) -> bool:
    """Whether lives can't be told apart by their ratio in each draw, and its median."""
    return abs(middle - 1) < SMALLEST_EFFECT or 1 - SURE < float(np.mean(ratio > 1)) < SURE


def head(places: Sequence[Place]) -> list[int]:
    """The choices of the first group."""
    return [place.number for place in places if place.group == 1]
