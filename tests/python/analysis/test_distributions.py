"""What intervals rest on, held against SciPy."""

import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri, stdtr, stdtrit
from scipy.stats import linregress

from wattlock.analysis import distributions

FREEDOMS = [1, 1.3, 2, 3, 4, 4.7, 7, 10, 29, 58.3, 100, 500, 1e4]


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("t", [-40, -8, -3, -2.1, -1, -0.3, -1e-3, 0, 1e-3, 0.5, 1, 2, 2.5, 4, 9])
def test_the_probability_below_a_t_is_scipys(freedom: float, t: float) -> None:
    expected = float(stdtr(freedom, t))
    assert distributions.t_below(freedom, t) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("probability", [1e-6, 0.005, 0.025, 0.1, 0.3, 0.5, 0.6, 0.9, 0.975, 0.995, 0.9995])
def test_the_quantile_of_t_is_scipys(freedom: float, probability: float) -> None:
    expected = float(stdtrit(freedom, probability))
    assert distributions.t_quantile(freedom, probability) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_a_quantile_of_t_is_the_tables() -> None:
    assert distributions.t_quantile(4, 0.975) == pytest.approx(2.776445105, abs=1e-9)
    assert distributions.t_quantile(1, 0.75) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("z", [-30, -5, -1.96, -0.1, 0, 0.1, 1.96, 5])
def test_the_probability_below_a_normal_number_is_scipys(z: float) -> None:
    assert distributions.normal_below(z) == pytest.approx(float(ndtr(z)), rel=1e-13)


def test_the_normal_quantiles_are_scipys() -> None:
    shares = (np.arange(1000) + 0.5) / 1000
    assert distributions.normal_quantiles(shares) == pytest.approx(ndtri(shares), rel=1e-13, abs=1e-13)


def test_a_line_through_points_is_scipys() -> None:
    random = np.random.default_rng(3)
    x = random.uniform(1, 9, 12)
    y = 3 - 0.7 * x + random.normal(0, 0.4, 12)
    fit, expected = distributions.line(x, y), linregress(x, y)
    assert fit.slope == pytest.approx(expected.slope, rel=1e-12)
    assert fit.intercept == pytest.approx(expected.intercept, rel=1e-12)
    assert fit.slope_error == pytest.approx(expected.stderr, rel=1e-12)
    assert fit.determination == pytest.approx(expected.rvalue**2, rel=1e-12)


def test_a_line_through_two_points_has_no_error_and_a_level_one_explains_nothing() -> None:
    assert distributions.line([1, 3], [2, 6]) == pytest.approx((2, 0, 0, 1), abs=1e-12)
    level = distributions.line([1, 2, 3], [5, 5, 5])
    assert (level.slope, level.determination) == (0, 0)
    assert math.isclose(level.intercept, 5)
