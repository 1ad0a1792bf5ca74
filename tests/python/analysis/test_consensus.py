"""The consensus of processes of unlike worth, held against the t interval, SciPy and worlds whose truth is known."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from wattlock.analysis.estimate import Array, consensus, joined

CASES = 4000
SLACK = 3 * math.sqrt(0.05 * 0.95 / CASES)
LOGS = st.floats(-0.1, 0.1)


def test_equal_errors_give_the_t_interval() -> None:
    values = np.array([0.3, 0.1, 0.4, 0.15, 0.9])
    mean, error, freedom = joined(values, np.full(5, 0.01))
    assert (mean, error, freedom) == pytest.approx((values.mean(), values.std(ddof=1) / math.sqrt(5), 4))


def test_the_variance_between_processes_is_that_of_paule_and_mandel() -> None:
    values = np.array([1.00, 1.04, 0.97, 1.10, 1.02, 0.93])
    errors = np.array([0.01, 0.03, 0.02, 0.05, 0.01, 0.04])

    def excess(between: float) -> float:
        weight = 1 / (between + errors**2)
        mean = (weight * values).sum() / weight.sum()
        return float((weight * (values - mean) ** 2).sum() - 5)

    between = optimize.brentq(excess, 0, 1, xtol=1e-16)
    weight = 1 / (between + errors**2)
    found = consensus(values[None], errors[None])
    assert found.between[0] == pytest.approx(math.sqrt(between), rel=1e-6)
    assert found.mean[0] == pytest.approx((weight * values).sum() / weight.sum())


def test_processes_that_agree_within_their_errors_differ_by_nothing_else() -> None:
    found = consensus(np.array([[1.0, 1.001, 0.999, 1.0, 1.0]]), np.full((1, 5), 0.1))
    assert found.between[0] == 0


def test_a_process_that_says_nothing_of_a_case_does_not_count() -> None:
    values, errors = np.array([[1.0, np.nan, 1.1, 1.2]]), np.array([[0.1, np.nan, 0.1, 0.1]])
    whole = joined([1.0, 1.1, 1.2], [0.1, 0.1, 0.1])
    found = consensus(values, errors)
    assert (found.mean[0], found.error[0], found.freedom[0]) == pytest.approx(whole)
    assert found.kept[0].tolist() == [True, False, True, True]


def test_one_process_and_none_have_no_interval() -> None:
    found = consensus(np.array([[1.0, np.nan], [np.nan, np.nan]]), np.full((2, 2), 0.1))
    assert found.mean[0] == 1.0
    assert np.isnan(found.mean[1])
    assert found.error.tolist() == [math.inf, math.inf]
    assert found.freedom.tolist() == [0, 0]


@given(st.lists(st.tuples(LOGS, st.floats(0, 0.1)), min_size=2, max_size=40), st.randoms(use_true_random=False))
def test_the_order_of_processes_does_not_matter_and_the_mean_lies_among_them(
    rows: list[tuple[float, float]], shuffled: object
) -> None:
    values, errors = map(np.array, zip(*rows, strict=True))
    order = list(range(len(rows)))
    shuffled.shuffle(order)  # type: ignore[attr-defined]
    mean, error, freedom = joined(values, errors)
    assert (mean, error) == pytest.approx(joined(values[order], errors[order])[:2], rel=1e-6, abs=1e-12)
    assert values.min() - 1e-12 <= mean <= values.max() + 1e-12
    assert 1 <= freedom <= len(rows) - 1 + 1e-9


World = Callable[[np.random.Generator, int], tuple[Array, Array, float]]


def normal(draw: np.random.Generator, count: int) -> tuple[Array, Array, float]:
    """Processes that differ by three times their own errors."""
    return draw.normal(0, 1, (CASES, count)), np.full((CASES, count), 0.33), 0.0


def of_unlike_worth(draw: np.random.Generator, count: int) -> tuple[Array, Array, float]:
    """A third of the processes kept next to nothing."""
    errors = np.where(draw.random((CASES, count)) < 1 / 3, 3.0, 0.33)
    return draw.normal(0, 0.5, (CASES, count)) + draw.normal(0, 1, (CASES, count)) * errors, errors, 0.0


def heavy_tailed(draw: np.random.Generator, count: int) -> tuple[Array, Array, float]:
    return draw.standard_t(3, (CASES, count)), np.full((CASES, count), 0.33), 0.0


def far_now_and_then(draw: np.random.Generator, count: int) -> tuple[Array, Array, float]:
    """One process in twenty was at something else altogether."""
    far = np.where(draw.random((CASES, count)) < 1 / 20, 40.0, 0.0)
    return draw.normal(0, 1, (CASES, count)) + far, np.full((CASES, count), 0.33), 0.0


def two_speeds(draw: np.random.Generator, count: int) -> tuple[Array, Array, float]:
    """As many processes of either speed: the truth is their middle."""
    return (
        draw.choice([-2.5, 2.5], (CASES, count)) + draw.normal(0, 0.2, (CASES, count)),
        np.full((CASES, count), 0.1),
        0.0,
    )


def held(world: World, count: int) -> tuple[float, float]:
    """How often 95 % intervals hold the truth, and their median half-width."""
    draw = np.random.default_rng(count)
    values, errors, truth = world(draw, count)
    # What a process knows of its own error it knows by two dozen batches.
    found = consensus(values, errors * np.sqrt(draw.chisquare(23, errors.shape) / 23))
    half = stats.t.ppf(0.975, found.freedom) * found.error
    return float((np.abs(found.mean - truth) <= half).mean()), float(np.median(half))


@pytest.mark.parametrize("count", [5, 8, 12, 20, 30])
@pytest.mark.parametrize("world", [normal, of_unlike_worth, heavy_tailed])
def test_intervals_hold_the_truth_in_worlds_without_a_second_speed(world: World, count: int) -> None:
    assert 0.945 - SLACK <= held(world, count)[0] <= 0.975


@pytest.mark.parametrize("count", [5, 8, 12, 20])
def test_processes_that_are_far_now_and_then_cost_little(count: int) -> None:
    share, half = held(far_now_and_then, count)
    assert share >= 0.93
    if count >= 12:
        assert half < 1.3 * held(normal, count)[1]


@pytest.mark.parametrize("count", [8, 12, 20, 30])
def test_a_second_speed_of_processes_is_no_accident(count: int) -> None:
    same = 2 * 0.5**count
    assert held(two_speeds, count)[0] >= 0.93 - same - SLACK


def test_a_process_of_little_worth_widens_the_interval_by_little() -> None:
    assert held(of_unlike_worth, 12)[1] < 0.6
