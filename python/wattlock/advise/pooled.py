"""What a cipher costs by several runs of one device: means by weight, and wider where the runs don't agree.

Source: Particle Data Group, Review of Particle Physics, 5.2.2: where the values lie further apart than their
uncertainties say, the uncertainty of their mean is scaled by the root of chi-squared over its degrees of freedom.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from wattlock.advise.costs import Cost

LEAST_SIGMA = 1e-6
"""No weight is infinite: a run whose interval rounds to nothing counts as this narrow."""


def pooled(runs: Iterable[Sequence[Cost]]) -> list[Cost]:
    """The costs of several runs of one device, each cipher of a provider once, in the order of the first run."""
    found: dict[tuple[str, str], list[Cost]] = {}
    for costs in runs:
        for cost in costs:
            found.setdefault((cost.cipher, cost.provider), []).append(cost)
    return [_one(several) for several in found.values()]


def _one(several: Sequence[Cost]) -> Cost:
    narrowest = min(several, key=lambda cost: cost.log_sigma)
    alike = [cost for cost in several if cost.sizes_B == narrowest.sizes_B and cost.evidence == narrowest.evidence]
    if len(alike) == 1:
        return narrowest
    weights = np.array([max(cost.log_sigma, LEAST_SIGMA) ** -2.0 for cost in alike])

    def mean(values: Sequence[Sequence[float]]) -> list[float]:
        return [float(one) for one in np.exp(weights @ np.log(np.asarray(values)) / weights.sum())]

    seal_J = mean([cost.seal_J for cost in alike])
    return narrowest._replace(
        seal_J=seal_J,
        open_J=mean([cost.open_J for cost in alike]),
        seal_s=mean([cost.seal_s for cost in alike]),
        open_s=mean([cost.open_s for cost in alike]),
        log_sigma=_scale(alike, weights, seal_J) / math.sqrt(weights.sum()),
        source=f"{len(alike)} runs",
        processes=sum(cost.processes for cost in alike),
    )


def _scale(alike: Sequence[Cost], weights: np.ndarray, mean_J: Sequence[float]) -> float:
    """By what the runs differ more than their uncertainties say, in the mean of the sizes; at least 1."""
    off = np.log(np.asarray([cost.seal_J for cost in alike]) / np.asarray(mean_J))
    chi_squared = float((weights @ off**2).mean())
    return max(1.0, math.sqrt(chi_squared / (len(alike) - 1)))
