"""The interval of a mean by drawing its values again, whatever their shape: the studentised bootstrap.

Source: B. Efron, R. J. Tibshirani: An Introduction to the Bootstrap (1993), 12.5 (the bootstrap-t interval).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

AT_ONCE = 2**20
"""Values drawn at a time: some 16 MB."""


def ends(values: Sequence[float], level: float, draws: int, seed: int) -> tuple[float, float]:
    """How far below and above the mean of values the interval of their true mean reaches.

    * `level`: the share of intervals that may miss, as 0.05. `draws`: samples drawn from the values. `seed`: the same
      draws for as many values.

    Each sample's distance from the mean is taken in its own standard errors, and their quantiles times the standard
    error of the values are the ends. An end is infinite where too many samples are of one value alone, which have no
    standard error: of 4 values at a level of 5 %, or of one.
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
