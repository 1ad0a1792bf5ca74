"""Changes of a series of runs, on made-up series of which the truth is known."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wattlock.analysis.change import LEAST_RUNS, LEAST_SIDE, Change, changes

RUNS, SPREAD, OWN = 30, 0.005, 0.001


def series(seed: int, steps: dict[int, float], runs: int = RUNS, spread: float = SPREAD) -> list[float]:
    """Logs of costs with their own errors, after each place so many times what they were."""
    draws = np.random.default_rng(seed)
    values = 3 + draws.normal(0, math.hypot(spread, OWN), runs)
    for place, ratio in steps.items():
        values[place:] += math.log(ratio)
    return [float(value) for value in values]


def found(values: list[float], own: float = OWN) -> list[Change]:
    return changes(values, [own] * len(values))


@pytest.mark.parametrize("tail", ["normal", "heavy", "skew"])
def test_a_series_without_a_change_is_given_one_in_at_most_one_of_20_whatever_its_distribution(tail: str) -> None:
    draws, alarms, worlds = np.random.default_rng(7), 0, 300
    for _ in range(worlds):
        shape = {"normal": draws.normal(0, 1, RUNS), "heavy": draws.standard_t(2, RUNS)}
        values = SPREAD * shape.get(tail, draws.exponential(1, RUNS) ** 2)
        own = draws.uniform(0.001, 0.006, RUNS)
        alarms += bool(changes(list(values + draws.normal(0, own)), list(own)))
    # Of 300 worlds 28 or more come with probability 0.001 where one in 20 is given a change.
    assert alarms < 28


@pytest.mark.parametrize("late", [3, RUNS // 2])
def test_runs_that_come_to_know_themselves_worse_are_seldom_a_change(late: int) -> None:
    draws, alarms, worlds = np.random.default_rng(3), 0, 300
    own = np.where(np.arange(RUNS) < RUNS - late, 0.0005, 0.02)
    for _ in range(worlds):
        alarms += bool(changes(list(draws.normal(0, np.hypot(0.001, own))), list(own)))
    # Orders of whole runs alone, with a spread that each run has the same part in, gave 32 and 16 % of them a change.
    assert alarms < 0.12 * worlds


def test_two_percent_among_30_runs_that_spread_by_half_a_percent_is_found_and_intervals_hold_the_truth() -> None:
    worlds, places, sizes = 120, 0, 0
    for seed in range(worlds):
        place = 3 + seed % 25
        own = min(found(series(seed, {place: 1.02})), key=lambda one: abs(one.place - place))
        places += own.first <= place <= own.last
        sizes += own.low <= 1.02 <= own.high
    # Fewer of 120 come with probability 0.001 where intervals hold 95 %.
    assert places >= 105
    assert sizes >= 105


def test_each_of_several_changes_is_found_at_its_place() -> None:
    for seed in range(20):
        told = found(series(seed, {10: 1.05, 20: 0.93}))
        assert {10, 20} <= {one.place for one in told}
        assert [one.ratio for one in told if one.place == 10] == [pytest.approx(1.05, abs=0.02)]


def test_one_run_that_is_off_is_no_change() -> None:
    for place in (0, 7, RUNS - 1):
        values = series(3, {})
        values[place] += 0.5
        assert found(values) == []


def test_counts_that_repeat_have_no_change_and_a_step_of_theirs_is_exact() -> None:
    assert changes([2.0] * RUNS, [0.0] * RUNS) == []
    (one,) = changes([2.0] * 12 + [2.0 + math.log(1.001)] * 12, [0.0] * 24)
    assert (one.place, one.first, one.last) == (12, 12, 12)
    assert one.ratio == pytest.approx(1.001, abs=1e-5)


def test_runs_that_know_themselves_badly_weigh_less() -> None:
    values, own = series(1, {}, spread=0.0), [OWN] * RUNS
    for at in range(15, RUNS, 2):
        values[at], own[at] = values[at] + 0.05, 0.05
    assert changes(values, own) == []


@given(st.lists(st.floats(-5, 5), max_size=40), st.floats(0, 0.1))
@settings(max_examples=40)
def test_whatever_a_series_is_its_changes_are_in_order_and_hold_their_own_figures(
    values: list[float], own: float
) -> None:
    told = found(values, own)
    assert len(values) >= LEAST_RUNS or told == []
    assert [one.place for one in told] == sorted({one.place for one in told})
    for one in told:
        assert LEAST_SIDE <= one.first <= one.place <= one.last <= len(values) - LEAST_SIDE
        assert 0 < one.low <= one.ratio <= one.high < math.inf


@given(st.integers(0, 50), st.floats(0.1, 10))
@settings(max_examples=20)
def test_another_unit_changes_nothing_and_the_other_order_turns_ratios_over(seed: int, unit: float) -> None:
    values = series(seed, {14: 1.04})
    (whole,) = found(values)[:1]
    (other,) = found([value + math.log(unit) for value in values])[:1]
    assert other.place == whole.place
    assert other.ratio == pytest.approx(whole.ratio, rel=1e-6)
    turned = found(values[::-1])
    assert any(one.place == RUNS - 14 and one.ratio < 1 for one in turned)
