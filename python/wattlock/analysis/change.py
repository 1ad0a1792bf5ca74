"""Where a series of runs changed: places and sizes with their intervals, no thresholds on a size.

Whether there is a change is told by permuting the runs: if nothing changed, their order says nothing, whatever their
distribution is, so that a change is reported in at most LEVEL of such series. Runs whose errors change with time, as on
a machine that becomes busier, are no such series: so the runs are permuted in units of their own deviations too, each
error staying in its place, and the larger p-value counts. Where a change lies, and how large it is, is told by the
posterior over both.

Sources: the search by halves and the test by permutation are those of E-divisive (D. Matteson and N. James, A
Nonparametric Approach for Multiple Change Point Analysis of Multivariate Data, JASA 109, 2014), with the weighted
difference of means in place of the energy distance; the posterior of the place is that of A. Smith, A Bayesian approach
to inference about a change-point in a sequence of random variables, Biometrika 62 (1975), with the runs' own errors
beside the spread between runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wattlock.analysis.estimate import LEVEL

Array = NDArray[np.float64]

LEAST_SIDE = 2
"""Runs on either side of a change: a single one that is off is no change."""
LEAST_RUNS = 8
"""With fewer runs no order of them is rare enough to tell of a change at LEVEL."""
PERMUTATIONS, SEED = 1999, 1
SPREADS = 32
"""Values of the spread between runs over which the posterior is summed."""
SMALLEST_SPREAD = 1e-6
"""Of logs, a ten-thousandth of a percent: runs that repeat exactly have no less."""
HALVINGS = 40


class Change(NamedTuple):
    """A change between two runs of a series.

    * `place`: the first run after it, counted from 0; `first` to `last`: its 95 % interval, both ends of it included.
    * `ratio`: the cost after it over that before it; `low`, `high`: its 95 % interval. `p_value`: of the permutations.
    """

    place: int
    first: int
    last: int
    ratio: float
    low: float
    high: float
    p_value: float


def changes(log_costs: Sequence[float], errors: Sequence[float], seed: int = SEED) -> list[Change]:
    """The changes of a series, in its order; none where there are fewer than LEAST_RUNS.

    * `log_costs`: the log of a run's estimate. `errors`: its standard error, of the log too; 0 for a count. Runs are
      otherwise taken as independent and alike.
    * A change that is found parts the series, and either side is looked at in the same way, up to its neighbours.
    """
    values, own_errors = np.asarray(log_costs, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    places = _places(values, own_errors, 0, np.random.default_rng(seed))
    ends = [0, *(place for place, _ in places), len(values)]
    return [
        _described(values[before:after], own_errors[before:after], before, p_value)
        for before, after, (_, p_value) in zip(ends[:-2], ends[2:], places, strict=True)
    ]


def _places(values: Array, own_errors: Array, start: int, draws: np.random.Generator) -> list[tuple[int, float]]:
    """Places of changes with their p-values."""
    if len(values) < LEAST_RUNS:
        return []
    variances = _spread(values, own_errors) ** 2 + own_errors**2
    weights, deviations = 1 / variances, np.sqrt(variances)
    centred = values - (values * weights).sum() / weights.sum()
    gains = _gains(centred[None], weights[None])[0]
    order = draws.permuted(np.tile(np.arange(len(values)), (PERMUTATIONS, 1)), axis=1)
    in_place = (centred / deviations)[order] * deviations, np.broadcast_to(weights, order.shape)
    others = [_gains(*pair).max(axis=1) for pair in ((centred[order], weights[order]), in_place)]
    # The same sums in another order differ in their last digits.
    above = max(np.count_nonzero(value >= gains.max() * (1 - 1e-9)) for value in others)
    p_value = float(1 + above) / (PERMUTATIONS + 1)
    if p_value > LEVEL:
        return []
    cut = LEAST_SIDE + int(gains.argmax())
    before = _places(values[:cut], own_errors[:cut], start, draws)
    return [*before, (start + cut, p_value), *_places(values[cut:], own_errors[cut:], start + cut, draws)]


def _gains(values: Array, weights: Array) -> Array:
    """For each series (row) and place how much of the weighted sum of squares a step there explains."""
    before, total = _cut(np.cumsum(weights, axis=1)), weights.sum(axis=1, keepdims=True)
    centred = values - (values * weights).sum(axis=1, keepdims=True) / total
    moment = _cut(np.cumsum(centred * weights, axis=1))
    gains: Array = moment**2 * total / (before * (total - before))
    return gains


def _cut(sums: Array) -> Array:
    """Sums up to each place that leaves LEAST_SIDE runs on either side."""
    return sums[:, LEAST_SIDE - 1 : sums.shape[1] - LEAST_SIDE]


def _spread(values: Array, own_errors: Array) -> float:
    """The spread between runs beyond their own errors, by moments, found by halving; a step is a part of it.

    Source: R. Paule and J. Mandel, Consensus values and weighting factors, Journal of Research of the National Bureau
    of Standards 87 (1982): with it the weighted squares around the mean are as many as their degrees of freedom.
    """
    low, high = SMALLEST_SPREAD, max(float(values.std(ddof=1)), SMALLEST_SPREAD)
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        weights = 1 / (middle**2 + own_errors**2)
        squares = float((weights * (values - (values * weights).sum() / weights.sum()) ** 2).sum())
        low, high = (middle, high) if squares > len(values) - 1 else (low, middle)
    return low


def _described(values: Array, own_errors: Array, start: int, p_value: float) -> Change:
    """The one change of a part of the series."""
    chances, gaps, widths = _posterior(values - values.mean(), own_errors)
    places = chances.sum(axis=0)
    best = int(places.argmax())
    first, last = _shortest(places)
    ratio, low, high = (math.exp(_quantile(chances, gaps, widths, at)) for at in (0.5, LEVEL / 2, 1 - LEVEL / 2))
    begin = start + LEAST_SIDE
    return Change(begin + best, begin + first, begin + last, ratio, low, high, p_value)


def _posterior(values: Array, own_errors: Array) -> tuple[Array, Array, Array]:
    """Of each spread (row) and place: its probability, and the mean and deviation of the step's log.

    Spread, place and both means have uniform priors (A. Gelman, Prior distributions for variance parameters in
    hierarchical models, Bayesian Analysis 1, 2006); the means are summed out, so that no draws are needed.
    `values` are around 0.
    """
    largest = max(2 * float(values.std(ddof=1)), 10 * SMALLEST_SPREAD)
    spreads = np.geomspace(max(largest / 1000, SMALLEST_SPREAD), largest, SPREADS)
    weights = 1 / (spreads[:, None] ** 2 + own_errors[None] ** 2)
    sums, firsts, squares = (np.cumsum(weights * values**power, axis=1) for power in range(3))
    before, moment = _cut(sums), _cut(firsts)
    after, moment_after = sums[:, -1:] - before, firsts[:, -1:] - moment
    left = squares[:, -1:] - moment**2 / before - moment_after**2 / after
    # Steps of the grid are even in the log: each stands for a width in proportion to it.
    logs = np.log(weights).sum(axis=1)[:, None] / 2 - (np.log(before) + np.log(after) + left) / 2
    logs = logs + np.log(spreads)[:, None]
    chances = np.exp(logs - logs.max())
    gaps = moment_after / after - moment / before
    return chances / chances.sum(), gaps, np.sqrt(1 / before + 1 / after)


def _shortest(chances: Array) -> tuple[int, int]:
    """The shortest run of places that holds 1 - LEVEL of the probability; of several the most probable."""
    sums = np.concatenate([[0.0], np.cumsum(chances)])
    ends = np.searchsorted(sums, sums[:-1] + (1 - LEVEL) * sums[-1] * (1 - 1e-12))
    found = [(int(end) - at, -float(sums[end] - sums[at]), at) for at, end in enumerate(ends) if end < len(sums)]
    length, _, first = min(found)
    return first, first + length - 1


def _quantile(chances: Array, gaps: Array, widths: Array, share: float) -> float:
    """The value below which a mixture of normals lies with a probability, by halving."""
    kept = chances > 1e-6
    parts, means, deviations = chances[kept], gaps[kept], widths[kept]
    low, high = float((means - 9 * deviations).min()), float((means + 9 * deviations).max())
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below = sum(
            part * math.erfc((mean - middle) / (deviation * math.sqrt(2))) / 2
            for part, mean, deviation in zip(parts, means, deviations, strict=True)
        )
        low, high = (middle, high) if below < share * float(parts.sum()) else (low, middle)
    return (low + high) / 2
