"""Two builds in pairs: the ratio of batches that lie side by side, within a process and over processes."""

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

from support.made_up_batches import batch, frame, header, rounds, summaries
from wattlock.analysis import within

PAIRS = {0: 1}
LOOKS = [5, 8]


def summary(batches: list[dict[str, object]], segments: int = 1) -> pl.DataFrame:
    head = header({0: segments, 1: segments})
    return within.summarise_pairs(frame(batches), head, within.summarise(frame(batches), head), PAIRS)


def drifting(ratio: float, count: int = 24) -> list[dict[str, object]]:
    """Visits whose cost doubles from the first to the last, as beside a neighbour that comes: both of a visit alike."""
    costs = [2 ** (number / count) for number in range(count)]
    first = [batch(cost, case=0, round=number) for number, cost in enumerate(costs)]
    return first + [batch(cost * ratio, case=1, round=number) for number, cost in enumerate(costs)]


def test_what_moves_both_batches_of_a_visit_is_in_no_ratio() -> None:
    (row,) = summary(drifting(1.02)).to_dicts()
    assert math.exp(row["log_ratio"]) == pytest.approx(1.02, abs=1e-6)
    assert (row["process"], row["first"], row["second"], row["visits"]) == (0, 0, 1, 24)
    assert row["error"] < 1e-6


def test_a_visit_counts_where_both_of_its_batches_are_undisturbed_and_within_the_fence() -> None:
    batches = drifting(1.02)
    batches[3] |= {"clean": False, "cause": "switch"}
    batches[24 + 7] |= {"clean": False, "cause": "clock"}
    batches[24 + 9] |= {"ticks": int(str(batches[24 + 9]["ticks"])) * 2}
    (row,) = summary(batches).to_dicts()
    assert row["visits"] == 21
    assert math.exp(row["log_ratio"]) == pytest.approx(1.02, abs=1e-6)


def test_a_batch_of_half_the_calls_is_of_no_visit() -> None:
    halves = [batch(9.0, case=case, round=number, calls=50) for case in (0, 1) for number in range(8)]
    assert summary(drifting(1.0) + halves)["visits"].to_list() == [24]


def test_two_undisturbed_visits_say_nothing() -> None:
    assert summary(drifting(1.0, 2)).is_empty()
    assert summary(rounds(9, case=0)).is_empty()


def test_a_ratio_that_differs_by_the_place_of_the_stack_is_its_mean_over_the_places() -> None:
    costs = [1.0, 1.0, 1.0, 1.1]
    first = [batch(1.0, case=0, round=number, place=number % 4) for number in range(48)]
    second = [batch(costs[number % 4], case=1, round=number, place=number % 4) for number in range(48)]
    (row,) = summary(first + second).to_dicts()
    assert row["log_ratio"] == pytest.approx(math.log(1.1) / 4, abs=1e-6)


def test_visits_of_which_one_batch_in_three_takes_more_do_not_move_the_ratio() -> None:
    generator = np.random.default_rng(3)
    first, second = [], []
    for number in range(24):
        disturbed = generator.random() < 0.35
        costs = [1.0, 1.01] * np.exp(generator.normal(0, 0.0005, 2))
        costs[generator.integers(2)] *= 1.04 if disturbed else 1.0
        first.append(batch(costs[0], case=0, round=number, place=number % 4))
        second.append(batch(costs[1], case=1, round=number, place=number % 4))
    (row,) = summary(first + second).to_dicts()
    assert math.exp(row["log_ratio"]) == pytest.approx(1.01, abs=0.0005)
    assert row["error"] < 0.0005


def test_a_cut_case_has_the_ratio_of_its_means() -> None:
    pair = [
        batch(cost, case=case, round=number, segment=segment)
        for case, cost in ((0, 1.0), (1, 1.03))
        for number in range(6)
        for segment in (0, 1)
    ]
    (row,) = summary(pair, segments=2).to_dicts()
    assert math.exp(row["log_ratio"]) == pytest.approx(1.03, abs=1e-6)


def test_processes_that_take_turns_are_paired_in_their_order() -> None:
    rows = summaries(np.log(np.array([[1.0, 9.0, 2.0, 9.0], [9.0, 1.01, 9.0, 2.02]])))
    turns = rows.filter((pl.col("case") == 0) == (pl.col("process") % 2 == 0))
    found = within.beside(turns, PAIRS)
    assert found["log_ratio"].to_list() == pytest.approx([math.log(1.01)] * 2)


def test_the_ratio_of_a_run_is_of_either_side_and_needs_two_processes() -> None:
    row = {"first": 0, "second": 1, "error": 0.0001, "visits": 24}
    rows = pl.DataFrame([row | {"process": number, "log_ratio": 0.01} for number in range(2)]).select(*within.SCHEMA)
    assert within.ratios(rows.head(1), LOOKS) == {}
    found = within.ratios(rows, LOOKS)
    assert found[0, 1] == within.ratio_over_processes([0.01] * 2, [0.0001] * 2, 0.025)
    assert found[1, 0] == (-found[0, 1][0], found[0, 1][1])


def test_a_process_that_kept_little_weighs_little() -> None:
    values, errors = [0.01, 0.0101, 0.0099, 0.01, 0.05], [0.0002] * 4 + [0.03]
    mean, half_width = within.ratio_over_processes(values, errors, 0.05)
    assert mean == pytest.approx(0.01, abs=1e-4)
    assert half_width < 0.002


def test_all_intervals_of_a_pair_together_hold_its_ratio_in_95_of_a_hundred() -> None:
    values = np.random.default_rng(2).standard_normal((20_000, within.LOOKS[-1]))
    means = {look: values[:, :look].mean(axis=1) for look in within.LOOKS}
    errors = {look: values[:, :look].std(axis=1, ddof=1) / math.sqrt(look) for look in within.LOOKS}
    (level,) = within.LEVELS.values()
    bounds = {look: stats.t.ppf(1 - level / 2, look - 1) * errors[look] for look in within.LOOKS}
    missed = np.any([np.abs(means[look]) > bounds[look] for look in within.LOOKS], axis=0).mean()
    assert missed == pytest.approx(0.05, abs=0.004)


@pytest.mark.parametrize("count", [5, 12])
def test_the_interval_holds_the_truth_as_often_as_it_says(count: int) -> None:
    generator, missed, tries = np.random.default_rng(11), 0, 2000
    for _ in range(tries):
        values = generator.normal(0.01, 0.002, count)
        mean, half_width = within.ratio_over_processes(list(values), [0.001] * count, 0.05)
        missed += abs(mean - 0.01) > half_width
    assert missed / tries < 0.05 + 3 * math.sqrt(0.05 * 0.95 / tries)


def test_a_process_of_as_many_visits_as_places_leans_on_the_others() -> None:
    errors = within.leant([0.0, 0.005, 0.005, 0.005], [4, 24, 24, 24])
    assert errors[0] == pytest.approx(0.005 * math.sqrt(24 / 4))
    assert errors[1:] == pytest.approx([0.005] * 3)
