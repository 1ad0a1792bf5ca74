"""How much longer one life is than another, draw by draw."""

from typing import NamedTuple

import numpy as np

from wattlock.energy.battery import Array


class Gain(NamedTuple):
    """How much longer the battery lasts, percent: median and 95 % of the draws."""

    percent: float
    low: float
    high: float


def gain(before_s: Array, after_s: Array) -> Gain:
    """The gain of one life over another, draw by draw."""
    percent = 100 * (after_s / before_s - 1)
    low, high = np.quantile(percent, (0.025, 0.975))
    return Gain(float(np.median(percent)), float(low), float(high))
