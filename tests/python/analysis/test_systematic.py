"""Errors of one cause: they add up where independent ones would not, and nothing averages them out."""

import math

import numpy as np
import pytest

from wattlock.analysis import effects
from wattlock.analysis.crossover import crossover
from wattlock.analysis.distributions import COVERAGE
from wattlock.analysis.effects import least_r_squared, predict

SIZES = [10.0, 20.0, 40.0]
ONE_PERCENT = math.log(1.01) / COVERAGE


def test_a_ratio_of_two_systematic_errors_has_their_sum() -> None:
    found = effects.ratio(3, 2, ONE_PERCENT, ONE_PERCENT, systematic=True)
    assert found == pytest.approx((1.5, 1.5 / 1.01**2, 1.5 * 1.01**2))
    assert effects.ratio(3, 2, ONE_PERCENT, ONE_PERCENT).high < found.high


def test_a_mean_of_alike_ratios_errs_as_they_do() -> None:
    one = effects.ratio(3, 2, ONE_PERCENT, systematic=True)
    assert effects.mean([one] * 9, systematic=True) == pytest.approx(tuple(one))
    assert effects.mean([one] * 9).high < one.high


def test_a_crossing_that_the_worst_errors_undo_is_not_sure() -> None:
    a, b = [100.0, 100.0, 100.0], [90.0, 99.0, 100.5]
    found = crossover(SIZES, (a, [ONE_PERCENT] * 3), (b, [ONE_PERCENT] * 3), systematic=True)
    assert found.payload_B is not None
    assert found.probability == 0.5
    # Alike within their errors at every size: neither is the cheaper one for sure.
    assert (
        crossover(SIZES, (a, [ONE_PERCENT] * 3), ([100.5] * 3, [ONE_PERCENT] * 3), systematic=True).probability == 0.5
    )
    sure = crossover(SIZES, (a, [0.0] * 3), (b, [0.0] * 3), systematic=True)
    assert (sure.low_B, sure.high_B, sure.probability) == (sure.payload_B, sure.payload_B, 1.0)


def test_a_policy_of_one_cipher_alone_still_errs_on_both_sides() -> None:
    costs = effects.Costs(np.array(SIZES), np.array(SIZES), np.full(3, ONE_PERCENT), systematic=True)
    both = {"a": costs, "b": costs}
    found = effects.hybrid(both, small="a", large="b", from_B=15, payload_B=SIZES, weight=[1, 1, 1])
    assert found.against["a"] == pytest.approx((1, 1.01**-2, 1.01**2))


def test_without_error_the_least_r_squared_is_that_of_the_pairs() -> None:
    x, y = [1.0, 2.0, 3.0, 5.0], [2.0, 2.5, 4.0, 7.0]
    assert least_r_squared((x, x), (y, y)) == pytest.approx(predict(x, y).r_squared)


def test_no_values_between_the_ends_have_a_lower_r_squared() -> None:
    rng = np.random.default_rng(7)
    x, y = np.array([10.0, 12.0, 14.0, 16.0, 20.0]), np.array([11.0, 14.0, 15.0, 18.5, 22.0])
    least = least_r_squared((x * 0.97, x * 1.03), (y * 0.97, y * 1.03))
    off = rng.uniform(0.97, 1.03, (2000, 2, 5))
    tried = [np.corrcoef(x * of_x, y * of_y)[0, 1] ** 2 for of_x, of_y in off]
    assert 0 < least < min(tried) < predict(x, y).r_squared


def test_where_errors_may_turn_a_slope_round_nothing_is_explained() -> None:
    x, y = np.array([1.0, 1.01, 1.02, 1.03]), np.array([1.0, 1.01, 1.02, 1.03])
    assert least_r_squared((x * 0.9, x * 1.1), (y * 0.9, y * 1.1)) == 0
