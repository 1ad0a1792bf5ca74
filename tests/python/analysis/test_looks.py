"""Levels of looks: what stopping at a narrow interval costs, and no more than that."""

import math

import numpy as np
import pytest
from scipy import stats

from wattlock.analysis import estimate

EXPERIMENTS = 20_000
SLACK = 3 * math.sqrt(0.05 * 0.95 / EXPERIMENTS)


def held(of_looks: tuple[int, ...], spread: float, level: float, seed: int) -> float:
    """How often the interval at which a case stops holds the truth, by samples whose means are looked at."""
    values = np.random.default_rng(seed).normal(0, spread, (EXPERIMENTS, of_looks[-1]))
    under_way, inside = np.ones(EXPERIMENTS, dtype=bool), 0
    for look in of_looks:
        part = values[:, :look]
        half = stats.t.ppf(1 - level / 2, look - 1) * part.std(axis=1, ddof=1) / math.sqrt(look)
        stops = under_way & ((half <= 1) | (look == of_looks[-1]))
        inside += int((np.abs(part.mean(axis=1)) <= half)[stops].sum())
        under_way &= ~stops
    return inside / EXPERIMENTS


@pytest.mark.parametrize("known", estimate.KNOWN)
def test_the_levels_that_come_with_wattlock_are_those_that_are_computed(known: tuple[int, ...]) -> None:
    assert estimate.KNOWN[known] == pytest.approx(estimate.level_of(known), abs=1e-6)


@pytest.mark.parametrize("known", [(5, 8), (5, 8, 12, 20, 30), (6, 7, 8, 9, 10, 11, 12)])
@pytest.mark.parametrize("spread", [0.3, 0.7, 1.0, 1.4, 1.7, 2.0, 2.5, 4.0])
def test_intervals_of_any_spread_hold_the_truth_where_cases_stop(known: tuple[int, ...], spread: float) -> None:
    assert held(known, spread, estimate.level_of_a_look(known), seed=7) >= estimate.HOLD_AT_LEAST - SLACK


def test_a_level_of_five_percent_at_each_look_would_not_do() -> None:
    known = (5, 8, 12, 20, 30)
    assert min(held(known, spread, 0.05, seed=8) for spread in (1.4, 1.7, 2.0)) < estimate.HOLD_AT_LEAST - SLACK


def test_intervals_are_narrower_than_by_sharing_the_level_out_and_no_wider_than_15_percent() -> None:
    known = (5, 8, 12, 20, 30)
    level = estimate.level_of_a_look(known)
    assert 0.05 / 5 < level < 0.05
    assert stats.t.ppf(1 - level / 2, 4) / stats.t.ppf(0.975, 4) < 1.15


def test_one_look_has_the_whole_level() -> None:
    assert estimate.level_of_a_look([]) == estimate.level_of_a_look([7]) == estimate.level_of_a_look([7, 7]) == 0.05
