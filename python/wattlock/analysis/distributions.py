"""Student's t and the normal distribution, straight lines, and draws that all choices share.

SciPy has all of this, in 140 MB; the tests hold what is here against it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

NORMAL = NormalDist()
SMALLEST = 1e-300
"""Stands for a zero that would be divided by."""
MOST_TERMS, MOST_STEPS = 10_000, 200


def t_below(freedom: float, t: float) -> float:
    """Probability that Student's t with `freedom` degrees of freedom, any positive number, lies below `t`."""
    if t == 0:
        return 0.5
    square = t * t
    tail = _beta_share(freedom / 2, 0.5, freedom / (freedom + square), square / (freedom + square)) / 2
    return tail if t < 0 else 1 - tail


@cache
def t_quantile(freedom: float, probability: float) -> float:
    """The `t` below which Student's t with `freedom` degrees of freedom lies with this probability."""
    if probability == 0.5:
        return 0.0
    tail = min(probability, 1 - probability)
    low, high = -1.0, 0.0
    while t_below(freedom, low) > tail:
        low, high = 2 * low, low
    # Newton's steps, and the middle where one would leave what is known to hold the root.
    t = low
    for _ in range(MOST_STEPS):
        above = t_below(freedom, t) - tail
        low, high = (low, t) if above > 0 else (t, high)
        step = t - above / _t_density(freedom, t)
        following = step if low < step < high else (low + high) / 2
        if abs(following - t) <= 2e-16 * abs(t):
            break
        t = following
    return t if probability < 0.5 else -t


def normal_below(z: float) -> float:
    """Probability that a standard normal number lies below `z`; its tail to full precision."""
    return math.erfc(-z / math.sqrt(2)) / 2


def normal_quantiles(probabilities: ArrayLike) -> NDArray[np.float64]:
    """The standard normal numbers below which there are these shares, each above 0 and below 1."""
    return np.array([NORMAL.inv_cdf(float(share)) for share in np.asarray(probabilities).ravel()])


class FittedLine(NamedTuple):
    """A straight line by least squares.

    * `slope_error`: the slope's standard error, with n - 2 degrees of freedom; 0 of two points.
    * `determination`: r², the share of the variance of y that the line explains.
    """

    slope: float
    intercept: float
    slope_error: float
    determination: float


def line(x: Sequence[float] | NDArray[np.float64], y: Sequence[float] | NDArray[np.float64]) -> FittedLine:
    """The line through points, at least two, that are not all above one place."""
    across, up = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    from_x, from_y = across - across.mean(), up - up.mean()
    spread = float(from_x @ from_x)
    slope, height = float(from_x @ from_y) / spread, float(from_y @ from_y)
    left = from_y - slope * from_x
    freedom = len(across) - 2
    error = math.sqrt(float(left @ left) / freedom / spread) if freedom else 0.0
    return FittedLine(
        slope, float(up.mean() - slope * across.mean()), error, slope * slope * spread / height if height else 0.0
    )


def _beta_share(a: float, b: float, x: float, rest: float) -> float:
    """The regularised incomplete beta function I_x(a, b), by its continued fraction; `rest` is 1 - x, exact.

    Source: NIST Digital Library of Mathematical Functions, 8.17.22; evaluated by the modified method of W. J. Lentz.
    """
    log_front = a * math.log(x) + b * math.log(rest) - _log_beta(a, b)
    if x > (a + 1) / (a + b + 2):
        return 1 - math.exp(log_front) / b * _fraction(b, a, rest)
    return math.exp(log_front) / a * _fraction(a, b, x)


def _t_density(freedom: float, t: float) -> float:
    log_height = -_log_beta(freedom / 2, 0.5) - math.log(freedom) / 2
    return math.exp(log_height - (freedom + 1) / 2 * math.log1p(t * t / freedom))


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _fraction(a: float, b: float, x: float) -> float:
    upper, lower = 1.0, 1 / (1 - (a + b) * x / (a + 1) or SMALLEST)
    value = lower
    for m in range(1, MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            lower = 1 / (1 + term * lower or SMALLEST)
            upper = 1 + term / upper or SMALLEST
            value *= upper * lower
        if abs(upper * lower - 1) < 1e-16:
            break
    return value


Array = NDArray[np.float64]

DRAWS = 4000
SEED = 20260101
COVERAGE = 1.96
"""Half-widths of 95 % are taken as so many standard errors: narrower than the t intervals they are, never wider."""


def log_sigma(half_width_percent: ArrayLike) -> Array:
    """Standard error of the logarithm of a cost whose interval is plus and minus so many percent."""
    return np.log1p(np.asarray(half_width_percent, dtype=float) / 100) / COVERAGE


def drawn(cost: ArrayLike, sigma: ArrayLike, draws: int = DRAWS, seed: int = SEED) -> Array:
    """Draws of costs, shape (draws, costs): log-normal, each cost by itself.

    * `cost`: above 0; `sigma`: standard errors of their logarithms.
    """
    middle, width = np.asarray(cost, dtype=float), np.asarray(sigma, dtype=float)
    off = np.random.default_rng(seed).standard_normal((draws, middle.size))
    return np.asarray(middle * np.exp(width * off))


def ends(cost: ArrayLike, sigma: ArrayLike) -> Array:
    """Costs at the ends of their intervals, shape (2, costs): all at the low end, then all at the high one."""
    middle, width = np.asarray(cost, dtype=float), np.asarray(sigma, dtype=float)
    return np.stack([middle * np.exp(-COVERAGE * width), middle * np.exp(COVERAGE * width)])


def interval(values: ArrayLike) -> tuple[float, float]:
    """The middle 95 % of draws."""
    low, high = np.nanquantile(np.asarray(values, dtype=float), [0.025, 0.975])
    return float(low), float(high)


CYCLES, TIME = "cycles/B", "ns/B"
