"""From which size on one cipher is cheaper than another."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from wattlock.analysis.draws import Array, drawn, ends, interval
from wattlock.errors import InputError

FEWEST_SIZES = 3


class Crossover(NamedTuple):
    """The size at which two costs are equal.

    * `payload_B`, `low_B`, `high_B`: between the two measured sizes where the cheaper one changes, and its interval;
      None where it doesn't change. Between sizes costs are taken as straight lines.
    * `by_law_B`: where two laws of a fixed cost and one for each byte meet, None where they don't within the measured
      sizes; `disagreement`: the greater of the two ways over the less.
    * `probability`: the share of draws in which the costs cross an odd number of times.
    * `cheaper_below`: the cheaper one at the smallest size, "a" or "b"; `cheaper_above`: at the largest.
    * `crossings`: how often the cheaper one changes; with more than one there is no "from this size on".
    """

    payload_B: float | None
    low_B: float | None
    high_B: float | None
    by_law_B: float | None
    disagreement: float | None
    probability: float
    cheaper_below: str
    cheaper_above: str
    crossings: int


def crossover(
    payload_B: ArrayLike, a: tuple[ArrayLike, ArrayLike], b: tuple[ArrayLike, ArrayLike], *, systematic: bool = False
) -> Crossover:
    """Where the costs of two ciphers meet.

    * `payload_B`: sizes, rising; `a`, `b`: costs of one call at these and the standard errors of their logarithms.
    * `systematic`: in place of draws all costs of the one are at their low ends and those of the other at their high
      ones, and the other way round.

    Raises InputError with fewer than three sizes.
    """
    size = np.asarray(payload_B, dtype=float)
    if len(size) < FEWEST_SIZES:
        raise InputError(
            f"a crossover needs {FEWEST_SIZES} sizes, there are {len(size)}", hint="measure more payload_B"
        )
    (cost_a, sigma_a), (cost_b, sigma_b) = ([np.asarray(one, dtype=float) for one in side] for side in (a, b))
    gap = cost_a - cost_b
    if systematic:
        gaps = ends(cost_a, sigma_a) - ends(cost_b, sigma_b)[::-1]
    else:
        draws = drawn(np.concatenate([cost_a, cost_b]), np.concatenate([sigma_a, sigma_b]))
        gaps = draws[:, : len(size)] - draws[:, len(size) :]
    crossings = int(np.sum(np.diff(np.sign(gap)) != 0))
    changes = np.sign(gaps[:, 0]) != np.sign(gaps[:, -1])
    if systematic:
        # All sizes err alike: where the other cost is the lower one from the start, these do otherwise throughout.
        is_otherwise = np.sign(gaps[:, 0]) != np.sign(gap[0])
        changes = changes & ~is_otherwise if np.sign(gap[0]) != np.sign(gap[-1]) else changes | is_otherwise
    met_B = low_B = high_B = disagreement = None
    if np.sign(gap[0]) != np.sign(gap[-1]):
        met_B = float(_first_change(size, gap[None, :])[0])
        met = _first_change(size, gaps[changes])
        if systematic:
            low_B, high_B = min(met_B, *met), max(met_B, *met)
        else:
            low_B, high_B = interval(met)
    (fixed_a, fixed_b), (slope_a, slope_b) = theil_sen(size, np.stack([cost_a, cost_b]))
    by_law = float((fixed_b - fixed_a) / (slope_a - slope_b)) if slope_a != slope_b else np.inf
    by_law_B = by_law if size[0] <= by_law <= size[-1] else None
    if met_B and by_law_B:
        disagreement = max(met_B / by_law_B, by_law_B / met_B)
    return Crossover(
        met_B,
        low_B,
        high_B,
        by_law_B,
        disagreement,
        float(np.mean(changes)),
        "a" if gap[0] < 0 else "b",
        "a" if gap[-1] < 0 else "b",
        crossings,
    )


def theil_sen(x: Array, y: Array) -> tuple[Array, Array]:
    """Intercepts and slopes of rows of `y`, shape (rows, points), over `x`: medians of slopes and of what is left.

    Source: P. K. Sen, Estimates of the regression coefficient based on Kendall's tau, J. Am. Stat. Assoc. 63 (1968).
    """
    pairs = [(i, j) for i, j in combinations(range(len(x)), 2) if x[i] != x[j]]
    first, second = np.array(pairs).T
    slopes = np.median((y[:, second] - y[:, first]) / (x[second] - x[first]), axis=1)
    return np.median(y - slopes[:, None] * x, axis=1), slopes


def _first_change(size: Array, gaps: Array) -> Array:
    """Of each row the size at which its gap first has the other sign than at the start."""
    later = np.argmax(np.sign(gaps) != np.sign(gaps[:, :1]), axis=1)
    rows, before = np.arange(len(gaps)), np.maximum(later - 1, 0)
    gap_before, gap_after = gaps[rows, before], gaps[rows, later]
    share = np.divide(gap_before, gap_before - gap_after, out=np.zeros(len(gaps)), where=gap_before != gap_after)
    return np.asarray(size[before] + share * (size[later] - size[before]))
