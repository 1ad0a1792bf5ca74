"""From which size on one cipher is cheaper than another."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from wattlock.analysis.comparison import GROUP
from wattlock.analysis.distributions import Array, drawn, ends, interval, log_sigma
from wattlock.errors import InputError
from wattlock.study.cases import USUAL_PROVIDER, WEBCRYPTO

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
    (cost_a, sigma_a), (cost_b, sigma_b) = ([np.asarray(size, dtype=float) for size in side] for side in (a, b))
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


ALIKE = ["cipher", *(name for name in GROUP if name not in {"payload_B", "core_class"})]
NAMES = {"a": "WebAssembly", "b": "WebCrypto"}
OPEN = 0.05
"""A crossing, or none, is told where at most so many of the draws say otherwise."""


def crossings(estimates: pl.DataFrame, looks: Sequence[int]) -> list[str]:
    """A line for each cipher and operation that both have at three sizes or more.

    * `estimates`: of a run that was valid; `looks`: those of its study. A case that the last look left wider than the
      study's target has its interval, which may tell two slopes well apart; any other unresolved one tells nothing.
    """
    last = (pl.col("state") == "unresolved") & (pl.col("processes") >= max(looks, default=0))
    known = estimates.filter(pl.col("time_ns").is_not_null(), (pl.col("state") == "resolved") | last)
    lines = []
    for (cipher, operation, *_), rows in known.group_by(ALIKE, maintain_order=True):
        ours, theirs = (rows.filter(pl.col("provider") == name) for name in (USUAL_PROVIDER, WEBCRYPTO))
        sizes = sorted(set(ours["payload_B"]) & set(theirs["payload_B"]))
        if len(sizes) < FEWEST_SIZES:
            continue
        found = crossover(sizes, *(_costs(side, sizes) for side in (ours, theirs)))
        lines.append(f"{cipher} {operation}: {_words(found, sizes)}")
    return lines


def _costs(rows: pl.DataFrame, sizes: Sequence[int]) -> tuple[Array, Array]:
    """Time and the standard error of its logarithm at each size."""
    measured = rows.filter(pl.col("payload_B").is_in(list(sizes))).sort("payload_B")
    return measured["time_ns"].to_numpy(), log_sigma(measured["half_width_percent"].to_numpy())


def _words(found: Crossover, sizes: Sequence[int]) -> str:
    between = f"from {sizes[0]} to {sizes[-1]} B"
    if found.crossings > 1:
        return f"the faster one of WebAssembly and WebCrypto changes {found.crossings} times {between}"
    if found.payload_B is None:
        if found.probability > OPEN:
            return f"whether a crossover of WebAssembly and WebCrypto is reached {between} is not resolved"
        return f"{NAMES[found.cheaper_below]} is faster {between}; a crossover is not reached"
    if found.probability < 1 - OPEN:
        return f"which of WebAssembly and WebCrypto is faster at both ends, {between}, is not resolved"
    first, then = NAMES[found.cheaper_below], NAMES[found.cheaper_above]
    where = f"{found.payload_B:.0f} B (95 % interval {found.low_B:.0f} to {found.high_B:.0f} B)"
    return f"{first} is faster up to {where}, {then} from there on"
