"""Costs as distributions: what intervals say, as draws that any function of several costs can be put on."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
