"""Uses: how often a message is encrypted and decrypted here, and which cipher takes which packet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from wattlock.analysis.draws import Array, drawn, ends, interval
from wattlock.analysis.effects import Ratio
from wattlock.errors import InputError


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
