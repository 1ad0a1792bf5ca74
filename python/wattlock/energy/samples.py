"""Samples of what is uncertain, spread evenly: so many of them tell more than as many that fall where they will.

The points of a lattice sequence, moved as a whole by chance: each uncertain number is a coordinate of its own. In each
coordinate the points are then put into the middles of as many equally likely parts, one in each (a Latin hypercube),
so that what one number does to an answer is nearly exact, and what two do together nearly so.

Source: R. Cools, F. Y. Kuo and D. Nuyens, SIAM J. Sci. Comput. 28(6), 2006: the generating vector for 2^20 points,
good in all pairs of coordinates; M. D. McKay, R. J. Beckman and W. J. Conover, Technometrics 21(2), 1979.
"""

from collections.abc import Sequence
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from wattlock.energy.battery import Array
from wattlock.energy.number import Number

# fmt: off
GENERATOR = (
    1, 182667, 469891, 498753, 110745, 446247, 250185, 118627, 245333, 283199, 408519, 391023, 246327, 126539, 399185,
    461527, 300343, 69681, 516695, 436179, 106383, 238523, 413283, 70841, 47719, 300129, 113029, 123925, 410745, 211325,
    17489, 511893, 40767, 186077, 519471, 255369, 101819, 243573, 66189, 152143, 503455, 113217, 132603, 463967, 297717,
    157383, 224015, 502917, 36237, 94049, 170665, 79397, 123963, 223451, 323871, 303633, 98567, 318855,
)
# fmt: on


class Samples:
    """So many samples; each call takes the next coordinate.

    * `first`: the coordinate to begin with, so that what is drawn apart is drawn together.
    """

    def __init__(self, seed: int | Sequence[int], samples: int, first: int = 0) -> None:
        self.samples = samples
        self._random = np.random.default_rng(seed)
        self._coordinate = first

    def uniform(self, low: Array | float, high: Array | float) -> Array:
        """Of a uniform law."""
        return np.asarray(low + (np.asarray(high) - low) * _middles(self.samples)[self._order()])

    def normal(self, mean: float, sigma: float) -> Array:
        """Of a normal law."""
        return np.asarray(mean + sigma * _quantiles(self.samples)[self._order()])

    def factor(self, number: Number) -> Array:
        """Of a card's number over its own value, by its law."""
        width = float(np.log1p(number.relative_uncertainty))
        return np.exp(self.uniform(-width, width) if number.distribution == "uniform" else self.normal(0.0, width))

    def _order(self) -> NDArray[np.intp]:
        """Into which of the equally likely parts each sample falls."""
        place, self._coordinate = self._coordinate, self._coordinate + 1
        if place >= len(GENERATOR):
            return self._random.permutation(self.samples).astype(np.intp)
        points = (_inverses(self.samples) * GENERATOR[place] + self._random.random()) % 1.0
        if self.samples & (self.samples - 1) == 0:
            # A power of two fills the parts by itself.
            return (points * self.samples).astype(np.intp)
        order = np.empty(self.samples, dtype=np.intp)
        order[np.argsort(points)] = np.arange(self.samples)
        return order


@cache
def _inverses(samples: int) -> Array:
    """The radical inverses of 0, 1, 2 ...: their binary digits behind the point, the last one first."""
    number, found, digit = np.arange(samples), np.zeros(samples), 0.5
    while number.any():
        found += digit * (number & 1)
        number, digit = number >> 1, digit / 2
    return found


@cache
def _middles(samples: int) -> Array:
    return np.asarray((np.arange(samples) + 0.5) / samples)


@cache
def _quantiles(samples: int) -> Array:
    # Not SciPy's: it takes a fifth of a second to load.
    law = NormalDist()
    return np.array([law.inv_cdf(share) for share in _middles(samples)])
