"""What a factor does to a cost, whether it does nothing that matters, and what costs of others predict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from wattlock.analysis.distributions import COVERAGE, Array, drawn, ends, interval, line, normal_below, t_quantile
from wattlock.analysis.estimate import LEVEL
from wattlock.errors import InputError

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
        value, low, high = (100 * (end - 1) for end in self)
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
    logs = [ratio.log for ratio in ratios]
    count, middle = len(logs), sum(logs) / len(logs)
    within = joined([ratio.sigma for ratio in ratios], systematic=systematic) / count * COVERAGE
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


def mix(encrypt: float, decrypt: float, encrypt_share: float) -> float:
    """The mean cost of an operation where this share of them encrypts.

    Raises InputError for a share outside 0 to 1.
    """
    if not 0 <= encrypt_share <= 1:
        raise InputError(f"the share of encryptions is {encrypt_share:g}", hint="it lies from 0 to 1")
    return encrypt_share * encrypt + (1 - encrypt_share) * decrypt


class Costs(NamedTuple):
    """What a cipher costs by size: `payload_B` rising, `cost` of one call, `sigma` of their logarithms.

    * `systematic`: the errors may all point in the worst direction.
    """

    payload_B: Array
    cost: Array
    sigma: Array
    systematic: bool = False


class Hybrid(NamedTuple):
    """A policy over a distribution of sizes, against each single cipher.

    * `cost`: mean of a packet; `against`: the policy's cost over that of each cipher alone; `best_alone`: the cheapest
      single one.
    """

    cost: float
    against: dict[str, Ratio]
    best_alone: str

    @property
    def against_best(self) -> Ratio:
        """The policy over the cheapest single cipher."""
        return self.against[self.best_alone]


def hybrid(
    ciphers: Mapping[str, Costs], *, small: str, large: str, from_B: float, payload_B: ArrayLike, weight: ArrayLike
) -> Hybrid:
    """`small` for packets below `from_B`, `large` from there on.

    * `payload_B`, `weight`: the distribution of sizes. Between measured sizes costs are straight lines.
    * Intervals from the errors of the costs; the distribution is taken as given. Systematic errors count whole in the
      policy and whole in the single cipher, also where both take the same cipher.

    Raises InputError where a size lies outside those measured.
    """
    sizes, weights = np.asarray(payload_B, dtype=float), np.asarray(weight, dtype=float)
    for name, costs in ciphers.items():
        if sizes.min() < costs.payload_B[0] or sizes.max() > costs.payload_B[-1]:
            raise InputError(
                f"packets of {sizes.min():g} to {sizes.max():g} B, {name} is measured from {costs.payload_B[0]:g} to "
                f"{costs.payload_B[-1]:g} B",
                hint="measure it at the smallest and the largest packet",
            )
    share = weights / weights.sum()
    is_small = sizes < from_B
    means, policy = {}, np.zeros(1)
    for number, (name, costs) in enumerate(ciphers.items()):
        off = ends(costs.cost, costs.sigma) if costs.systematic else drawn(costs.cost, costs.sigma, seed=number)
        rows = np.vstack([costs.cost, off])
        at = np.stack([np.interp(sizes, costs.payload_B, row) for row in rows])
        means[name] = at @ share
        taken = (is_small if name == small else False) | (~is_small if name == large else False)
        policy = policy + at @ (share * taken)
    against = {name: _over(policy, alone, systematic=ciphers[name].systematic) for name, alone in means.items()}
    return Hybrid(float(policy[0]), against, min(means, key=lambda name: float(means[name][0])))


def _over(policy: Array, alone: Array, *, systematic: bool) -> Ratio:
    """The policy's cost over that of one cipher: the costs first in each, then their draws, or both of their ends."""
    if systematic:
        return Ratio(float(policy[0] / alone[0]), float(policy[1] / alone[2]), float(policy[2] / alone[1]))
    ratios = policy / alone
    return Ratio(float(ratios[0]), *interval(ratios[1:]))


FEWEST_PAIRS = 4


class Prediction(NamedTuple):
    """y = intercept + slope * x by least squares.

    * `slope_low`, `slope_high`: 95 %, t on pairs - 2 degrees of freedom; the errors of all pairs are taken as alike.
    * `r_squared`: of the pairs that were fitted, which flatters; `left_out_percent`: the root mean square, and
      `worst_left_out_percent` the greatest, of the error on each pair predicted from all others, of its value.
    * `ratio`, `ratio_low`, `ratio_high`: the mean of y / x over the pairs (of logarithms), t over the pairs.
    """

    slope: float
    slope_low: float
    slope_high: float
    intercept: float
    r_squared: float
    left_out_percent: float
    worst_left_out_percent: float
    ratio: float
    ratio_low: float
    ratio_high: float
    pairs: int


def predict(x: ArrayLike, y: ArrayLike) -> Prediction:
    """Fit y from x and say how well it foretells a pair that it hasn't seen.

    Raises InputError with fewer than four pairs, or where all x are equal.
    """
    known, wanted = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    count = len(known)
    if count < FEWEST_PAIRS or np.ptp(known) == 0:
        raise InputError(
            f"a prediction needs {FEWEST_PAIRS} pairs that differ, there are {count} of {len(np.unique(known))} kinds",
            hint="measure both operations",
        )
    fit = line(known, wanted)
    half = t_quantile(count - 2, 1 - LEVEL / 2) * fit.slope_error
    off = []
    for left_out in range(count):
        rest = np.arange(count) != left_out
        if np.ptp(known[rest]) == 0:
            continue
        without = line(known[rest], wanted[rest])
        off.append((without.intercept + without.slope * known[left_out]) / wanted[left_out] - 1)
    logs = np.log(wanted / known)
    middle = float(logs.mean())
    spread = t_quantile(count - 1, 1 - LEVEL / 2) * float(logs.std(ddof=1)) / math.sqrt(count)
    ratio, ratio_low, ratio_high = (float(np.exp(middle + side * spread)) for side in (0, -1, 1))
    return Prediction(
        fit.slope,
        fit.slope - half,
        fit.slope + half,
        fit.intercept,
        fit.determination,
        100 * float(np.sqrt(np.mean(np.square(off)))),
        100 * float(np.max(np.abs(off))),
        ratio,
        ratio_low,
        ratio_high,
        count,
    )


def least_r_squared(x: tuple[ArrayLike, ArrayLike], y: tuple[ArrayLike, ArrayLike]) -> float:
    """The least share of y's variance that x explains, wherever each of them lies between its ends.

    * `x`, `y`: the low ends and the high ends of each pair, at most about twelve of them: 2 to their number is tried.
    * A covariance is linear in each value, and a correlation that is nowhere negative is quasi-concave in those of one
      side: it is least where every value is at one of its ends. Where it may be negative it may be none.
    """
    sides = []
    for low, high in (x, y):
        first, last = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
        at_high = np.array(list(product((False, True), repeat=len(first))))
        corners = np.where(at_high, last, first)
        off = corners - corners.mean(axis=1, keepdims=True)
        length = np.linalg.norm(off, axis=1, keepdims=True)
        sides.append(np.divide(off, length, out=np.zeros_like(off), where=length > 0))
    return float(max((sides[0] @ sides[1].T).min(), 0.0) ** 2)


PLAIN = "plain software"
"""Tables, or operations on words, one block after the other: what libraries were when the papers were written."""

CONSTANT_TIME = "constant-time software"
"""Bit planes or permutations in place of tables: its time depends on no key and no data."""

VECTOR = "vector instructions"
"""Many blocks at once."""

HARDWARE = "cipher instructions"
"""The processor's own, or a unit beside it."""

KINDS = {
    **dict.fromkeys(("tables", "portable"), PLAIN),
    **dict.fromkeys(("fixsliced", "bitsliced", "ssse3"), CONSTANT_TIME),
    **dict.fromkeys(("sse2", "avx2", "avx512", "neon"), VECTOR),
    **dict.fromkeys(("aesni", "vaes256", "vaes512", "armv8", "hardware"), HARDWARE),
}
"""By path, as it stands in the catalogue and in records."""


def kind_of(path: str | None) -> str | None:
    """The kind of code that takes this path; None where the provider doesn't say which it takes."""
    return None if path is None else KINDS[path]
