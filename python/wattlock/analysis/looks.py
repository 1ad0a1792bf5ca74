"""How wide an interval must be that is looked at several times, and printed when it is narrow enough.

A case stops at the first look whose interval is narrow enough: it stops early where its processes happen to lie close
together, and such an interval is too narrow. How much too narrow follows from the looks. Of normal values the mean
says nothing of how far they scatter, so that an interval that stopped holds the truth as often as its width deserves,
given all looks before it; a look sees all processes of the looks before, and that correlation is what makes the price
small. The level of each look is set so that intervals hold the truth in 94 of a hundred cases at the spread for which
stopping is worst, and in more at any other.

Source: C. Stein, A two-sample test for a linear hypothesis whose power is independent of the variance, Annals of
Mathematical Statistics 16 (1945); C. Jennison, B. W. Turnbull, Group sequential methods (2000), chapter 11.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from wattlock.analysis.distributions import t_quantile

LEVEL = 0.05
"""Intervals are of 95 %."""

HOLD_AT_LEAST = 0.94
"""How often intervals hold the truth at the worst spread."""

SPREADS = (0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.3, 2.6, 3.0)
"""Deviations of a process, in target half-widths, among which the worst is looked for; times the square root of the
first look over five."""

SAMPLES, SEED, STEPS = 20_000, 1945, 9

KNOWN: dict[tuple[int, ...], float] = {
    (5, 8): 0.045947,
    (5, 8, 10): 0.042839,
    (5, 10, 20): 0.038021,
    (5, 8, 12, 20, 30): 0.037031,
    (5, 8, 12, 20, 30, 45, 70, 100): 0.036157,
}
"""Levels of the looks that come with wattlock, as `level_of` finds them; tests hold them against it."""


def level_of_a_look(looks: Sequence[int]) -> float:
    """The level of the interval at each of these looks, so that what is printed where it stops is of 95 %.

    * `looks`: numbers of processes, rising.
    """
    known = tuple(sorted(set(looks)))
    return LEVEL if len(known) < 2 else KNOWN.get(known) or level_of(known)


@cache
def level_of(looks: tuple[int, ...]) -> float:
    """The level at which intervals hold the truth as often as they must, by made-up samples (each time the same)."""
    values = np.random.default_rng(SEED).standard_normal((SAMPLES, looks[-1]))
    deviations = [values[:, :look].std(axis=1, ddof=1) for look in looks]
    low, high = LEVEL / len(looks), LEVEL
    for _ in range(STEPS):
        middle = (low + high) / 2
        enough = worst(looks, deviations, middle) >= HOLD_AT_LEAST
        low, high = (middle, high) if enough else (low, middle)
    return low


def worst(looks: Sequence[int], deviations: Sequence[np.ndarray], level: float) -> float:
    """How often intervals of this level hold the truth at the spread that is worst for them.

    * `deviations`: of the first processes of made-up samples, by look: of unit spread.
    """
    widths = [
        t_quantile(look - 1, 1 - level / 2) / math.sqrt(look) * deviation
        for look, deviation in zip(looks, deviations, strict=True)
    ]
    chances = [_holds(width * math.sqrt(look)) for look, width in zip(looks, widths, strict=True)]
    scale = math.sqrt(looks[0] / 5)
    return min(_held(widths, chances, spread * scale) for spread in SPREADS)


def _held(widths: Sequence[np.ndarray], chances: Sequence[np.ndarray], spread: float) -> float:
    """How often the interval at which a case stops holds the truth, of processes that lie so far apart."""
    under_way, held = np.ones(len(widths[0]), dtype=bool), 0.0
    for place, (width, chance) in enumerate(zip(widths, chances, strict=True)):
        stops = under_way & (width * spread <= 1 if place + 1 < len(widths) else True)
        held += float(chance[stops].sum())
        under_way &= ~stops
    return held / len(under_way)


def _holds(distance: np.ndarray) -> np.ndarray:
    """How likely a standard normal number lies within a distance of 0."""
    grid = np.linspace(0, 6, 1201)
    return np.asarray(np.interp(distance, grid, [math.erf(x / math.sqrt(2)) for x in grid]))
