"""The law of cost: a call costs something fixed and something for each byte."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc

from wattlock.analysis.draws import Array, drawn, interval
from wattlock.errors import InputError

FEWEST_SIZES = 3


class CostLaw(NamedTuple):
    """cost = fixed + per_byte * payload_B, in the unit of the costs.

    * `_low`, `_high`: 95 % intervals, from the errors of the costs alone: that the law holds is assumed.
    * `worst_percent`: how far the worst cost lies from the law, of the cost; `p_of_fit`: how likely the errors alone
      leave as much (chi squared, sizes - 2 degrees of freedom). Where it is small the law is too simple: blocks that
      are filled up, code for long messages, caches.
    """

    fixed: float
    fixed_low: float
    fixed_high: float
    per_byte: float
    per_byte_low: float
    per_byte_high: float
    worst_percent: float
    p_of_fit: float

    def at(self, payload_B: float) -> float:
        """The cost of a payload by the law."""
        return self.fixed + self.per_byte * payload_B


def cost_law(payload_B: ArrayLike, cost: ArrayLike, sigma: ArrayLike) -> CostLaw:
    """Fit the law by Theil and Sen: the median of the slopes of all pairs, then the median of what is left.

    * `payload_B`: at least three sizes; `cost`: of one call; `sigma`: standard errors of the costs' logarithms.

    Raises InputError where there are fewer sizes.

    Source: P. K. Sen, Estimates of the regression coefficient based on Kendall's tau, J. Am. Stat. Assoc. 63 (1968).
    """
    size, costs, errors = (np.asarray(one, dtype=float) for one in (payload_B, cost, sigma))
    if len(np.unique(size)) < FEWEST_SIZES:
        raise InputError(
            f"a law of cost needs {FEWEST_SIZES} sizes, there are {len(np.unique(size))}", hint="measure more payload_B"
        )
    (fixed,), (per_byte,) = theil_sen(size, costs[None, :])
    fixed_draws, slope_draws = theil_sen(size, drawn(costs, errors))
    left = costs - fixed - per_byte * size
    scale = np.maximum(costs * errors, np.finfo(float).tiny)
    worst = float(np.max(np.abs(left) / costs))
    p_of_fit = float(chdtrc(len(size) - 2, float(np.sum(np.minimum(np.abs(left / scale), 1e6) ** 2))))
    return CostLaw(float(fixed), *interval(fixed_draws), float(per_byte), *interval(slope_draws), 100 * worst, p_of_fit)


def theil_sen(x: Array, y: Array) -> tuple[Array, Array]:
    """Intercepts and slopes of rows of `y`, shape (rows, points), over `x`: medians of slopes and of what is left."""
    pairs = [(i, j) for i, j in combinations(range(len(x)), 2) if x[i] != x[j]]
    first, second = np.array(pairs).T
    slopes = np.median((y[:, second] - y[:, first]) / (x[second] - x[first]), axis=1)
    return np.median(y - slopes[:, None] * x, axis=1), slopes


def throughput_MB_s(payload_B: ArrayLike, time_ns: ArrayLike) -> float:
    """Total plaintext over total time, 10^6 B a second, as the papers define it: large files weigh most."""
    return float(np.sum(payload_B) / np.sum(time_ns) * 1e3)
