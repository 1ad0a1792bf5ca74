"""Predicting one cost from another: decryption from encryption."""

from __future__ import annotations

import math
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from wattlock.analysis.distributions import line, t_quantile
from wattlock.analysis.looks import LEVEL
from wattlock.errors import InputError

FEWEST_PAIRS = 4


class Prediction(NamedTuple):
    """y = intercept + slope * x by least squares.

    * `slope_low`, `slope_high`: 95 %, t on pairs - 2 degrees of freedom; the errors of all pairs are taken as alike.
    * `r_squared`: of the pairs that were fitted, which flatters; `left_out_percent`: the root mean square, and
      `worst_left_out_percent` the greatest, of the error on each pair predicted from all others, of its value.
    * `ratio`, `ratio_low`, `ratio_high`: the mean of y / x over the pairs (of logarithms), t over the pairs.
    """

    slope: float
    slope_low: float
    slope_high: float
    intercept: float
    r_squared: float
    left_out_percent: float
    worst_left_out_percent: float
    ratio: float
    ratio_low: float
    ratio_high: float
    pairs: int


def predict(x: ArrayLike, y: ArrayLike) -> Prediction:
    """Fit y from x and say how well it foretells a pair that it hasn't seen.

    Raises InputError with fewer than four pairs, or where all x are equal.
    """
    known, wanted = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    count = len(known)
    if count < FEWEST_PAIRS or np.ptp(known) == 0:
        raise InputError(
            f"a prediction needs {FEWEST_PAIRS} pairs that differ, there are {count} of {len(np.unique(known))} kinds",
            hint="measure both operations",
        )
    fit = line(known, wanted)
    half = t_quantile(count - 2, 1 - LEVEL / 2) * fit.slope_error
    off = []
    for left_out in range(count):
        rest = np.arange(count) != left_out
        if np.ptp(known[rest]) == 0:
            continue
        without = line(known[rest], wanted[rest])
        off.append((without.intercept + without.slope * known[left_out]) / wanted[left_out] - 1)
    logs = np.log(wanted / known)
    middle = float(logs.mean())
    spread = t_quantile(count - 1, 1 - LEVEL / 2) * float(logs.std(ddof=1)) / math.sqrt(count)
    ratio, ratio_low, ratio_high = (float(np.exp(middle + side * spread)) for side in (0, -1, 1))
    return Prediction(
        fit.slope,
        fit.slope - half,
        fit.slope + half,
        fit.intercept,
        fit.determination,
        100 * float(np.sqrt(np.mean(np.square(off)))),
        100 * float(np.max(np.abs(off))),
        ratio,
        ratio_low,
        ratio_high,
        count,
    )


def least_r_squared(x: tuple[ArrayLike, ArrayLike], y: tuple[ArrayLike, ArrayLike]) -> float:
    """The least share of y's variance that x explains, wherever each of them lies between its ends.

    * `x`, `y`: the low ends and the high ends of each pair, at most about twelve of them: 2 to their number is tried.
    * A covariance is linear in each value, and a correlation that is nowhere negative is quasi-concave in those of one
      side: it is least where every value is at one of its ends. Where it may be negative it may be none.
    """
    sides = []
    for low, high in (x, y):
        first, last = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
        at_high = np.array(list(product((False, True), repeat=len(first))))
        corners = np.where(at_high, last, first)
        off = corners - corners.mean(axis=1, keepdims=True)
        length = np.linalg.norm(off, axis=1, keepdims=True)
        sides.append(np.divide(off, length, out=np.zeros_like(off), where=length > 0))
    return float(max((sides[0] @ sides[1].T).min(), 0.0) ** 2)
