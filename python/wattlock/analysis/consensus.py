"""A consensus of processes of unlike worth: the mean of a case, and what its interval rests on.

A process that kept one batch in a hundred tells less than one that kept all, and processes differ by more than their
batches scatter. So a case's processes are joined as metrology joins laboratories: each weighs by its own standard error
and by what processes differ by besides (Paule and Mandel), and the mean's error comes from how far the weighted values
lie from it (Hartung and Knapp). With equal errors that is the ordinary t interval.

Sources: R. C. Paule, J. Mandel, Consensus values and weighting factors, J. Res. NBS 87 (1982); J. Hartung, G. Knapp,
A refined method for the meta-analysis of controlled clinical trials with binary outcome, Statistics in Medicine 20
(2001).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

STEPS = 60
"""Halvings by which the variance between processes is found: to a part in 10^18 of where it may lie."""

FAR: dict[int, float] = {10: 5.9, 12: 5.4, 15: 5.2, 20: 4.7, 30: 4.4, 50: 4.2}
"""Values further from the median than so many times the scale are left out, by how many there are: of normal values one
sample in fifty loses one (`benchmarks/consensus.py`), so that intervals hold as often as without."""

LEAST_FREEDOM = 1.0
"""Where one process outweighs all others the interval is that of two."""

A_FAR_OF = 10
"""At most one process of so many is left out: where more are far nobody knows which speed is the rare one."""

LEAST_ERROR = 1e-9
"""Own errors below this (of a log) are taken for this: of made-up or counted batches all may be alike."""

NORMAL_MAD = 1.4826
"""A normal distribution's standard deviation over the median distance from its median."""


class Consensus(NamedTuple):
    """By case (a row of what was given each).

    * `mean`; `error`: its standard error; `freedom`: degrees of freedom of its t interval, 0 where there is none.
    * `between`: standard deviation between processes beside their own errors; `kept`: which processes count.
    """

    mean: Array
    error: Array
    freedom: Array
    between: Array
    kept: NDArray[np.bool_]


def consensus(values: Array, errors: Array) -> Consensus:
    """Joins the values of processes.

    * `values`: a row a case and a column a process, NaN where a process says nothing of a case; `errors`: their own
      standard errors, alike.
    """
    kept = _near(values, errors)
    measured = np.where(kept, values, 0.0)
    own = np.where(kept, np.maximum(errors, LEAST_ERROR), 1.0) ** 2
    count = kept.sum(axis=1)
    between = _between(measured, own, kept, count)
    weight = np.where(kept, 1 / (between[:, None] + own), 0.0)
    total = np.maximum(weight.sum(axis=1), np.finfo(float).tiny)
    mean = np.where(count > 0, (weight * measured).sum(axis=1) / total, np.nan)
    scatter = np.where(kept, weight * (measured - mean[:, None]) ** 2, 0.0).sum(axis=1)
    error = np.sqrt(scatter / np.maximum(count - 1, 1) / total)
    alike = total**2 / np.maximum((weight**2).sum(axis=1), np.finfo(float).tiny)
    freedom = np.where(count > 1, np.maximum(alike - 1, LEAST_FREEDOM), 0.0)
    return Consensus(mean, np.where(count > 1, error, np.inf), freedom, np.sqrt(between), kept)


def _near(values: Array, errors: Array) -> NDArray[np.bool_]:
    """Which values are there and not far from all others."""
    there = ~np.isnan(values)
    count = there.sum(axis=1)
    with np.errstate(all="ignore"):
        away = np.abs(values - _median(values, there)[:, None])
        scale = np.hypot(NORMAL_MAD * _median(away, there)[:, None], errors)
        away = np.where(there, away / np.maximum(scale, LEAST_ERROR), -1.0)
    bound = np.interp(count, list(FAR), list(FAR.values()))
    is_far = away > bound[:, None]
    # More of them are another speed of the processes, and no accident.
    few = is_far.sum(axis=1) <= count // A_FAR_OF
    return np.asarray(there & ~(is_far & few[:, None]))


def _median(values: Array, there: NDArray[np.bool_]) -> Array:
    """The median of each row's values that are there; 0 of a row without any."""
    count = there.sum(axis=1)
    ordered = np.sort(np.where(there, values, np.inf), axis=1)
    low, high = (
        np.take_along_axis(ordered, at[:, None], axis=1)[:, 0]
        for at in (np.maximum(count - 1, 0) // 2, np.minimum(count // 2, values.shape[1] - 1))
    )
    return np.where(count > 0, (low + high) / 2, 0.0)


def _between(values: Array, own: Array, kept: NDArray[np.bool_], count: NDArray[np.int64]) -> Array:
    """The variance between processes at which the weighted squares are what they are expected to be; 0 where less."""

    def excess(between: Array) -> Array:
        weight = np.where(kept, 1 / (between[:, None] + own), 0.0)
        mean = (weight * values).sum(axis=1) / np.maximum(weight.sum(axis=1), np.finfo(float).tiny)
        squares = np.where(kept, weight * (values - mean[:, None]) ** 2, 0.0)
        return np.asarray(squares.sum(axis=1) - (count - 1), dtype=np.float64)

    with np.errstate(all="ignore"):
        spread = np.where(kept, values, np.nan)
        high = np.nan_to_num(np.nanmax(spread, axis=1, initial=-np.inf) - np.nanmin(spread, axis=1, initial=np.inf))
    low, high = np.zeros(len(values)), np.maximum(high, 0.0) ** 2 + np.finfo(float).tiny
    for _ in range(STEPS):
        middle = (low + high) / 2
        above = excess(middle) > 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(excess(np.zeros(len(values))) > 0, (low + high) / 2, 0.0)


def joined(values: ArrayLike, errors: ArrayLike) -> tuple[float, float, float]:
    """Mean, standard error and degrees of freedom of one case's processes."""
    found = consensus(*(np.atleast_2d(np.asarray(side, dtype=np.float64)) for side in (values, errors)))
    return float(found.mean[0]), float(found.error[0]), float(found.freedom[0])
