"""The interval of a mean by drawing its values again, whatever their shape: the studentised bootstrap.

Source: B. Efron, R. J. Tibshirani: An Introduction to the Bootstrap (1993), 12.5 (the bootstrap-t interval).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from wattlock.analysis.estimate import t_half_width

AT_ONCE = 2**20
"""Values drawn at a time: some 16 MB."""
LEAST_BEYOND = 10
"""So many samples lie beyond either end, or their number says little of it."""
WORLDS, MOST_WORLD_DRAWS = 400, 10_000
"""Samples of a normal distribution that `usual_widths` draws, and how often each is drawn from at most: with more draws
its bounds would be a little narrower."""


def ends(values: Sequence[float], level: float, draws: int, seed: int) -> tuple[float, float]:
    """How far below and above the mean of values the interval of their true mean reaches.

    * `level`: the share of intervals that may miss, as 0.05. `draws`: samples drawn from the values. `seed`: the same
      draws for as many values.

    Each sample's distance from the mean is taken in its own standard errors, and their quantiles times the standard
    error of the values are the ends. An end is infinite where too many samples are of one value alone, which have no
    standard error: of 3 values at a level of 5 %, or where nearly all are equal.
    """
    known = np.asarray(values, dtype=np.float64)
    count = len(known)
    if count < 2:
        return math.inf, math.inf
    error = float(known.std(ddof=1)) / math.sqrt(count)
    if error == 0 or np.ptp(known) == 0:
        return 0.0, 0.0
    distances = np.sort(_distances(known, draws, np.random.default_rng(seed)))
    # Of k draws in order the j-th leaves j / (k + 1) below it.
    place = max(1, math.floor((draws + 1) * level / 2))
    low, high = float(distances[place - 1]), float(distances[draws - place])
    return max(0.0, high * error), max(0.0, -low * error)


def least_draws(level: float) -> int:
    """How many samples the ends of an interval need."""
    return math.ceil(2 * LEAST_BEYOND / level)


@cache
def usual_widths(count: int, level: float, draws: int) -> tuple[float, float]:
    """How wide drawn intervals of normal values are, in widths of t intervals of the same: the bounds of 95 %.

    * `count`: of values, at least 2. `level`, `draws`: as of `ends`.
    """
    random = np.random.default_rng([count, round(1e6 * level)])
    draws = min(draws, max(MOST_WORLD_DRAWS, least_draws(level)))
    ratios = []
    for seed in range(WORLDS):
        values = random.normal(size=count)
        half = t_half_width(float(values.std(ddof=1)), count, level)
        ratios.append(sum(ends(values.tolist(), level, draws, seed)) / (2 * half))
    low, high = np.quantile(ratios, (0.025, 0.975), method="closest_observation")
    return float(low), float(high)


def _distances(values: NDArray[np.float64], draws: int, random: np.random.Generator) -> NDArray[np.float64]:
    """How far the mean of each sample is from that of all, in the sample's own standard errors."""
    count, mean = len(values), float(values.mean())
    found = np.empty(draws)
    for start in range(0, draws, step := max(1, AT_ONCE // count)):
        drawn = values[random.integers(count, size=(min(step, draws - start), count))]
        away = drawn.mean(axis=1) - mean
        is_one = np.ptp(drawn, axis=1) == 0
        error = np.where(is_one, 1.0, drawn.std(axis=1, ddof=1) / math.sqrt(count))
        found[start : start + len(drawn)] = np.where(is_one, np.copysign(np.inf, away), away / error)
    return found
