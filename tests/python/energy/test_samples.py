"""Samples of what is uncertain: evenly spread in each coordinate, by the law of the number."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from support.energy_cards import number
from wattlock.energy.battery_cards import GENERATOR, Samples, _inverses


def test_the_radical_inverse_turns_the_binary_digits_round() -> None:
    # 1 = 0.1, 2 = 10 -> 0.01, 3 = 11 -> 0.11, 4 = 100 -> 0.001, 6 = 110 -> 0.011 in binary.
    assert _inverses(8).tolist() == [0, 0.5, 0.25, 0.75, 0.125, 0.625, 0.375, 0.875]


def test_every_entry_of_the_generating_vector_is_odd_and_none_stands_twice() -> None:
    # An even one would send two of 2^n points to the same place.
    assert all(entry % 2 == 1 for entry in GENERATOR)
    assert len(set(GENERATOR)) == len(GENERATOR) == 58
    assert (GENERATOR[0], GENERATOR[1], GENERATOR[-1]) == (1, 182667, 318855)


@pytest.mark.parametrize("samples", [1, 2, 3, 64, 100, 1000, 1024])
@pytest.mark.parametrize("first", [0, 1, 2, 57, 58, 70])
def test_each_of_the_equally_likely_parts_holds_one_sample_at_its_middle(samples: int, first: int) -> None:
    drawn = Samples(3, samples, first).uniform(2.0, 6.0)
    assert np.sort(drawn) == pytest.approx(2 + 4 * (np.arange(samples) + 0.5) / samples, abs=1e-12)


@pytest.mark.parametrize("samples", [1000, 1024])
@pytest.mark.parametrize("first", [0, 56, 57, 58])
def test_two_numbers_fill_the_plane_and_not_a_line(samples: int, first: int) -> None:
    both = Samples(5, samples, first)
    one, other = both.uniform(0.0, 1.0), both.uniform(0.0, 1.0)
    assert abs(float(np.corrcoef(one, other)[0, 1])) < 0.1
    squares = np.histogram2d(one, other, bins=4, range=[[0, 1], [0, 1]])[0]
    assert squares.min() > 0.7 * samples / 16


def test_a_normal_law_lies_at_the_quantiles_of_its_middles() -> None:
    law = NormalDist(10.0, 2.0)
    wanted = [law.inv_cdf((part + 0.5) / 100) for part in range(100)]
    assert np.sort(Samples(1, 100).normal(10.0, 2.0)) == pytest.approx(wanted, abs=1e-9)


def test_a_number_is_drawn_by_its_law_about_its_own_value() -> None:
    uniform = np.sort(Samples(1, 256).factor(number(9.0, "V", off=0.5, distribution="uniform")))
    assert uniform[0] == pytest.approx(1.5 ** -(1 - 1 / 256), rel=1e-9)
    assert uniform[-1] == pytest.approx(1.5 ** (1 - 1 / 256), rel=1e-9)
    normal = np.log(Samples(1, 256).factor(number(9.0, "V", off=0.5)))
    assert float(np.std(normal)) == pytest.approx(math.log(1.5), rel=0.02)
    assert float(np.median(normal)) == pytest.approx(0, abs=1e-12)
    assert np.array_equal(Samples(1, 8).factor(number(9.0, "V")), np.ones(8))


def test_the_seed_moves_the_samples_and_the_same_one_gives_them_again() -> None:
    def drawn(seed: int, first: int = 0) -> list[float]:
        return [float(one) for one in Samples(seed, 64, first).uniform(0.0, 1.0)]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    assert drawn(1, 0) != drawn(1, 1)
    assert drawn(1, 58) == drawn(1, 58) != drawn(2, 58)


def test_ends_may_differ_from_sample_to_sample() -> None:
    low = np.linspace(0.0, 1.0, 16)
    drawn = Samples(1, 16).uniform(low, low + 1.0)
    assert np.all((drawn > low) & (drawn < low + 1))
