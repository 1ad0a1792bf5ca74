"""What a factor does to a cost, and whether it does nothing that matters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from wattlock.analysis.distributions import normal_below, t_quantile
from wattlock.analysis.draws import COVERAGE
from wattlock.analysis.looks import LEVEL

Verdict = Literal["equivalent", "different", "undecided"]


class Ratio(NamedTuple):
    """A cost over another, with its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def log(self) -> float:
        """Its natural logarithm."""
        return math.log(self.value)

    @property
    def sigma(self) -> float:
        """Standard error of that."""
        return math.log(self.high / self.low) / (2 * COVERAGE)

    @property
    def percent(self) -> tuple[float, float, float]:
        """How much more the numerator costs, with the ends of the interval."""
        value, low, high = (100 * (one - 1) for one in self)
        return value, low, high


def joined(sigmas: Sequence[float], *, systematic: bool = False) -> float:
    """The standard error of a sum or a difference: independent ones in quadrature, systematic ones added up."""
    return math.fsum(sigmas) if systematic else math.hypot(*sigmas)


def ratio(numerator: float, denominator: float, *sigmas: float, systematic: bool = False) -> Ratio:
    """A ratio of two costs whose logarithms have these standard errors.

    * `systematic`: they may all err in the worst direction, and add up; else they are taken as independent.
    """
    value, factor = numerator / denominator, math.exp(COVERAGE * joined(sigmas, systematic=systematic))
    return Ratio(value, value / factor, value * factor)


def mean(ratios: Sequence[Ratio], *, systematic: bool = False) -> Ratio:
    """The geometric mean of ratios: its error joins theirs and the spread between them (t, by their number).

    * `systematic`: as of `ratio`; the mean of such errors is no smaller than they are.
    """
    logs = [one.log for one in ratios]
    count, middle = len(logs), sum(logs) / len(logs)
    within = joined([one.sigma for one in ratios], systematic=systematic) / count * COVERAGE
    spread = math.sqrt(sum((log - middle) ** 2 for log in logs) / (count - 1)) if count > 1 else 0.0
    between = t_quantile(count - 1, 1 - LEVEL / 2) * spread / math.sqrt(count) if count > 1 else 0.0
    factor = math.exp(joined([within, between], systematic=systematic))
    return Ratio(math.exp(middle), math.exp(middle) / factor, math.exp(middle) * factor)


class Equivalence(NamedTuple):
    """Two one-sided tests: `p` is the greater; `verdict` at 5 %, `different` where the whole interval lies outside."""

    p: float
    verdict: Verdict


def equivalence(found: Ratio, low_percent: float, high_percent: float) -> Equivalence:
    """Whether a ratio lies within bounds that don't matter (TOST).

    * `low_percent`, `high_percent`: the bounds of the effect.

    Source: D. J. Schuirmann, A comparison of the two one-sided tests procedure and the power approach, J.
    Pharmacokinetics and Biopharmaceutics 15 (1987).
    """
    low, high = math.log1p(low_percent / 100), math.log1p(high_percent / 100)
    if found.sigma == 0:
        return Equivalence(0.0, "equivalent") if low <= found.log <= high else Equivalence(1.0, "different")
    p = max(normal_below((low - found.log) / found.sigma), normal_below((found.log - high) / found.sigma))
    outside = math.log(found.low) > high or math.log(found.high) < low
    return Equivalence(p, "different" if outside else "equivalent" if p < LEVEL else "undecided")
