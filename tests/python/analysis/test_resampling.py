"""The bootstrap-t interval against samples that are all drawn, and against made-up worlds whose mean is known."""

import math
from itertools import product

import numpy as np
import pytest

from wattlock.analysis.estimate import ends, t_half_width, usual_widths

DRAWS = 2_000


def test_ends_are_those_of_all_samples_there_are() -> None:
    values, level = np.array([0.0, 0.3, 0.7, 1.6, 4.0]), 0.2
    distances = []
    for sample in product(values, repeat=len(values)):
        error = np.std(sample, ddof=1) / math.sqrt(len(values))
        away = np.mean(sample) - values.mean()
        distances.append(away / error if len(set(sample)) > 1 else math.copysign(math.inf, away))
    error = values.std(ddof=1) / math.sqrt(len(values))
    low, high = np.quantile(distances, [level / 2, 1 - level / 2], method="inverted_cdf")
    below, above = ends(list(values), level, 400_000, 1)
    assert below == pytest.approx(high * error, rel=0.02)
    assert above == pytest.approx(-low * error, rel=0.02)


def test_one_value_bounds_nothing_and_equal_ones_leave_nothing_open() -> None:
    assert ends([1.0], 0.05, 1_000, 1) == (math.inf, math.inf)
    assert ends([], 0.05, 1_000, 1) == (math.inf, math.inf)
    assert ends([0.1] * 7, 0.05, 1_000, 1) == (0.0, 0.0)


def test_values_too_few_for_the_level_have_no_end() -> None:
    few = [0.0, 1.0, 3.0]
    assert math.inf in ends(few, 0.05, 10_000, 1)
    assert math.inf not in ends(few, 0.5, 10_000, 1)


def test_ends_move_with_the_unit_and_not_with_the_origin() -> None:
    values = np.random.default_rng(7).normal(size=9)
    below, above = ends(list(values), 0.05, 5_000, 3)
    assert ends(list(100 + 8 * values), 0.05, 5_000, 3) == pytest.approx((8 * below, 8 * above))
    assert ends(list(-values), 0.05, 5_000, 3)[0] != pytest.approx(below, rel=0.01)


def test_another_seed_draws_other_samples_and_the_same_one_the_same() -> None:
    values = list(np.random.default_rng(9).normal(size=9))
    assert ends(values, 0.05, 5_000, 3) == ends(values, 0.05, 5_000, 3)
    assert ends(values, 0.05, 5_000, 4) != ends(values, 0.05, 5_000, 3)
    assert ends(values, 0.05, 5_000, 4) == pytest.approx(ends(values, 0.05, 5_000, 3), rel=0.1)


def test_drawn_intervals_of_normal_values_are_as_wide_as_usual_and_of_skewed_ones_not() -> None:
    random = np.random.default_rng(10)
    low, high = usual_widths(20, 0.05, DRAWS)

    def share(worlds: np.ndarray) -> float:
        ratios = [
            sum(ends(list(world), 0.05, DRAWS, 5)) / 2 / t_half_width(world.std(ddof=1), 20, 0.05) for world in worlds
        ]
        return float(np.mean([low <= ratio <= high for ratio in ratios]))

    assert share(random.normal(size=(200, 20))) > 0.9
    assert share(random.exponential(size=(200, 20))) < 0.6


def test_more_draws_than_fit_at_once_are_all_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    values = list(np.random.default_rng(8).normal(size=10))
    monkeypatch.setattr("wattlock.analysis.estimate.AT_ONCE", 1_000)
    in_parts = ends(values, 0.05, 10_001, 3)
    monkeypatch.undo()
    assert in_parts == pytest.approx(ends(values, 0.05, 10_001, 3), rel=0.1)
    assert np.isfinite(in_parts).all()


@pytest.mark.parametrize(("count", "is_skewed"), [(8, False), (8, True), (20, False), (20, True)])
def test_intervals_hold_the_true_mean_about_as_often_as_they_say(count: int, is_skewed: bool) -> None:
    random = np.random.default_rng(11 + count)
    held, tries = 0, 600
    for number in range(tries):
        values = random.exponential(size=count) - 1 if is_skewed else random.normal(size=count)
        below, above = ends(list(values), 0.05, 1_000, number)
        held += bool(-below <= -values.mean() <= above)
    assert 0.92 <= held / tries <= 0.98
