"""Fronts: the choices that no other beats in energy and strength at once, and profiles taken from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wattlock.analysis.distributions import Array, drawn

Mask = NDArray[np.bool_]
PROFILES = ("low", "medium", "high")


def front(energy: ArrayLike, *strengths: ArrayLike) -> Mask:
    """Which choices are on the front: none costs less or as much with strengths as great, one of them better.

    * `energy`: to be small, of shape (choices) or (draws, choices); `strengths`: to be great, of shape (choices).
    """
    costs = np.asarray(energy, dtype=float)
    gains = np.stack([np.asarray(strength, dtype=float) for strength in strengths])
    as_strong = np.all(gains[:, :, None] >= gains[:, None, :], axis=0)
    stronger = as_strong & np.any(gains[:, :, None] > gains[:, None, :], axis=0)
    mine, theirs = costs[..., None, :], costs[..., :, None]
    beaten = (as_strong & (theirs < mine)) | (stronger & (theirs <= mine))
    return np.asarray(~beaten.any(axis=-2))


def probability(energy: ArrayLike, sigma: ArrayLike, *strengths: ArrayLike) -> Array:
    """The share of draws in which each choice is on the front.

    * `sigma`: standard errors of the energies' logarithms, each taken as independent.
    """
    return np.asarray(front(drawn(energy, sigma, draws=1000), *strengths).mean(axis=0))


def least_for_each(group: Sequence[int], energy: ArrayLike) -> Mask:
    """The rule of toldinas: of each group (there, the key) the choice of least energy, whatever else it has."""
    groups, costs = np.asarray(group), np.asarray(energy, dtype=float)
    return np.array([cost <= costs[groups == group].min() for group, cost in zip(groups, costs, strict=True)])


def profiles(energy: ArrayLike, strength: ArrayLike) -> dict[str, int]:
    """Profiles from the front: its weakest choice is low, its strongest high, that nearest to the middle medium.

    Returns the index of each; a front of one choice has one profile, of two two.
    """
    costs, gains = np.asarray(energy, dtype=float), np.asarray(strength, dtype=float)
    (members,) = np.nonzero(front(costs, gains))
    members = members[np.argsort(gains[members], kind="stable")]
    if len(members) <= 2:
        return dict(zip(("low", "high"), map(int, members), strict=False))
    middle = (gains[members[0]] + gains[members[-1]]) / 2
    inner = members[1:-1]
    chosen = (members[0], inner[np.argmin(np.abs(gains[inner] - middle))], members[-1])
    return dict(zip(PROFILES, map(int, chosen), strict=True))
