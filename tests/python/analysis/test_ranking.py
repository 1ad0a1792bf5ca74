"""Rankings: who can't be told apart, and how seldom a difference is claimed that isn't there."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from support.made_up_batches import Numbers, case, summaries
from wattlock.analysis import comparison, estimate

CLOCK: dict[str | None, estimate.CanaryClock] = {None: estimate.CanaryClock(12_000.0, 36_000, 2.9, 3.0, 3.1)}
P_VALUES = st.lists(st.floats(0, 1), max_size=12)
FIVE = np.array([0.001, -0.001, 0.0, 0.002, -0.002])


def ranked(
    logs: Numbers, cases: list[dict[str, Any]] | None = None, *, copies: float = 0.0, **more: Any
) -> pl.DataFrame:
    """The ranking of cases from the logs of what their processes measured, shape (cases, processes)."""
    across = estimate.across_processes(summaries(logs), [logs.shape[1]], 1.0)
    known = cases or [case(number) for number in range(len(logs))]
    return comparison.rank(estimate.estimates(known, across, CLOCK, more.get("failures", {})), across, copies)


def steady(*shifts: float) -> Numbers:
    """Five processes of cases that lie so far apart."""
    return np.asarray(np.array(shifts)[:, None] + FIVE)


def ties(found: pl.DataFrame) -> list[tuple[int, int]]:
    return found.select("case", "tie_group").rows()


def test_holm_equals_an_example_worked_by_hand() -> None:
    # In order 0.005, 0.01, 0.03, 0.04: times 4, 3, 2, 1 are 0.02, 0.03, 0.06, 0.04, and none is below the one before.
    assert comparison.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(P_VALUES)
def test_an_adjusted_p_is_never_below_the_raw_one_nor_above_one(p_values: list[float]) -> None:
    assert all(raw <= adjusted <= 1 for raw, adjusted in zip(p_values, comparison.holm(p_values), strict=True))


@given(P_VALUES)
def test_holm_keeps_the_order(p_values: list[float]) -> None:
    pairs = sorted(zip(p_values, comparison.holm(p_values), strict=True))
    assert [adjusted for _, adjusted in pairs] == sorted(adjusted for _, adjusted in pairs)


@given(st.floats(0, 1))
def test_one_comparison_needs_no_adjustment(p_value: float) -> None:
    assert comparison.holm([p_value]) == [p_value]


def test_the_p_of_a_difference_is_that_of_welch() -> None:
    draw = np.random.default_rng(4)
    a, b = draw.normal(0, 0.01, 5), draw.normal(0.01, 0.03, 12)
    first, second = ({"log_canaries": x.mean(), "deviation": x.std(ddof=1), "processes": len(x)} for x in (a, b))
    expected = stats.ttest_ind(a, b, equal_var=False).pvalue
    assert comparison.p_of_difference(first, second) == pytest.approx(expected, rel=1e-9)


def test_cases_that_never_scatter_differ_where_they_are_not_equal() -> None:
    a, b = ({"log_canaries": x, "deviation": 0.0, "processes": 5} for x in (0.0, 0.1))
    assert (comparison.p_of_difference(a, b), comparison.p_of_difference(a, a)) == (0.0, 1.0)


def test_ciphers_that_are_far_apart_are_ranked_the_cheapest_first() -> None:
    found = ranked(steady(math.log(3), 0.0, math.log(1.5)))
    assert ties(found) == [(1, 1), (2, 2), (0, 3)]
    assert found["ratio_to_best"].to_list() == pytest.approx([1, 1.5, 3])
    assert found["cycles_per_byte"].to_list() == sorted(found["cycles_per_byte"].to_list())


def test_a_difference_below_half_a_percent_is_never_claimed() -> None:
    logs = np.array([0.0, 0.0049, 0.0051])[:, None] + FIVE / 1000
    assert ties(ranked(logs)) == [(0, 1), (1, 1), (2, 2)]


def test_what_copies_differ_by_beyond_their_noise_is_taken_off_a_difference_and_widens_its_interval() -> None:
    logs = steady(0.0, 0.05)
    assert ties(ranked(logs, copies=0.044)) == [(0, 1), (1, 2)]
    assert ties(ranked(logs, copies=0.046)) == [(0, 1), (1, 1)]
    plain, wide = (ranked(logs, copies=copies)["ratio_high"][1] for copies in (0.0, 0.044))
    assert wide == pytest.approx(plain * math.exp(0.044))


def test_a_difference_that_may_be_chance_is_not_claimed() -> None:
    logs = np.array([0.0, 0.02])[:, None] + FIVE * 20
    assert ties(ranked(logs)) == [(0, 1), (1, 1)]


@pytest.mark.parametrize(
    "factor", ["operation", "mode", "keying", "encoding", "placement", "pattern", "payload_B", "data"]
)
def test_cases_that_differ_in_a_factor_are_not_ranked_together(factor: str) -> None:
    other = 128 if factor == "payload_B" else "another"
    found = ranked(steady(0.0, 1.0), [case(0), case(1, **{factor: other})])
    assert found["tie_group"].to_list() == [1, 1]
    assert found["ratio_to_best"].to_list() == [1, 1]


def test_cases_without_a_number_to_believe_are_not_ranked() -> None:
    found = ranked(steady(0.0, 1.0, 2.0), failures={1: "no such key"})
    assert ties(found) == [(0, 1), (2, 2)]
    invalid = estimate.across_processes(summaries(steady(0.0), log_half=steady(0.1)), [5], 1.0)
    assert comparison.rank(estimate.estimates([case(0)], invalid, CLOCK, {}), invalid, 0.0).is_empty()


def test_one_process_is_not_ranked() -> None:
    assert ranked(steady(0.0, 1.0)[:, :1]).is_empty()


@pytest.mark.parametrize("cases", [[], [case(0), case(1)]])
def test_a_run_in_which_nothing_was_measured_has_an_empty_ranking(cases: list[dict[str, Any]]) -> None:
    across = estimate.across_processes(summaries(steady(0.0)).clear(), [5], 1.0)
    found = comparison.rank(estimate.estimates(cases, across, CLOCK, {}), across, 0.0)
    assert found.is_empty()
    assert found.columns == ranked(steady(0.0)).columns


LOGS = st.integers(1, 6).flatmap(
    lambda count: st.lists(st.lists(st.floats(-3, 3), min_size=3, max_size=3), min_size=count, max_size=count)
)


@settings(max_examples=60, deadline=None)
@given(LOGS, st.floats(0, 0.1))
def test_a_ranking_is_a_partition_in_order(logs: list[list[float]], copies: float) -> None:
    found = ranked(np.array(logs), copies=copies)
    assert sorted(found["case"].to_list()) == list(range(len(logs)))
    groups, ratios = found["tie_group"].to_list(), found["ratio_to_best"].to_list()
    assert groups[0] == 1
    assert all(b - a in (0, 1) for a, b in pairwise(groups))
    assert ratios[0] == 1.0
    assert ratios == sorted(ratios)
    assert (found["ratio_low"] <= found["ratio_to_best"]).all()
    assert (found["ratio_to_best"] <= found["ratio_high"]).all()


GROUPS = 800
CIPHERS = 6


def rankings_of(logs: Numbers) -> pl.DataFrame:
    """Many rankings at once: shape (groups, ciphers, processes); a group is a payload."""
    cases = [case(number, payload_B=1 + number // logs.shape[1]) for number in range(logs.shape[0] * logs.shape[1])]
    return ranked(logs.reshape(len(cases), -1), cases)


@pytest.mark.parametrize("processes", [5, 8])
def test_among_identical_ciphers_a_difference_is_claimed_at_most_as_often_as_promised(processes: int) -> None:
    draw = np.random.default_rng(processes)
    logs = draw.normal(0, 0.02, (GROUPS, CIPHERS, processes))
    alarms = rankings_of(logs).group_by("payload_B").agg(pl.col("tie_group").max() > 1)["tie_group"].mean()
    assert isinstance(alarms, float)
    assert alarms <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / GROUPS)


def test_identical_ciphers_that_scatter_unlike_one_another_raise_no_more_alarms() -> None:
    draw = np.random.default_rng(2)
    logs = draw.normal(0, 1, (GROUPS, CIPHERS, 5)) * np.geomspace(0.005, 0.1, CIPHERS)[:, None]
    alarms = rankings_of(logs).group_by("payload_B").agg(pl.col("tie_group").max() > 1)["tie_group"].mean()
    assert isinstance(alarms, float)
    assert alarms <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / GROUPS)


def test_the_interval_of_a_ratio_holds_the_truth() -> None:
    draw = np.random.default_rng(9)
    logs = draw.normal(0, 0.02, (GROUPS, 2, 5)) * np.array([1.0, 2.0])[:, None] + np.array([0.0, 1.0])[:, None]
    second = rankings_of(logs).filter(pl.col("ratio_to_best") > 1)
    held = ((second["ratio_low"] <= math.e) & (second["ratio_high"] >= math.e)).mean()
    assert isinstance(held, float)
    assert held >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / GROUPS)
