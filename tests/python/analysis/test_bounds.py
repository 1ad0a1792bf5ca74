"""What the analyses say at the ends of their intervals, of ties and of little data: numbers worked by hand."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from support.made_up_batches import BURST_TICKS, CALLS, CANARY_TICKS, case, frame, header, rounds, summaries, summary_of
from wattlock.analysis import comparison, estimate, self_checks, within
from wattlock.analysis.estimate import level_of_a_look

exactly = pytest.approx
CLOCK: dict[str | None, estimate.CanaryClock] = {None: estimate.CanaryClock(12_000.0, 36_000, 2.9, 3.0, 3.1)}
FIVE = np.array([0.001, -0.001, 0.0, 0.002, -0.002])
EVEN = np.array([[0.001, -0.001]])


def across(logs: Any, looks: list[int], target: float = 1.0, **columns: Any) -> dict[str, Any]:
    return estimate.across_processes(summaries(np.atleast_2d(logs), **columns), looks, target).row(0, named=True)


def test_two_values_have_the_interval_of_one_degree_of_freedom() -> None:
    # t(0.975; 1) = 12.7062, in every table.
    assert estimate.t_half_width(1.0, 2, 0.05) == exactly(12.7062 / math.sqrt(2), rel=1e-5)
    assert estimate.t_half_width(0.0, 2, 0.05, unseen=0.5) == exactly(12.7062 / 2, rel=1e-5)
    assert estimate.t_half_width(0.6, 4, 0.05, unseen=0.4) == exactly(3.18245 * 0.5, rel=1e-5)


def test_without_looks_the_five_percent_are_those_of_one() -> None:
    assert level_of_a_look([]) == 0.05
    assert level_of_a_look([3]) == 0.05


def test_the_clock_is_the_canarys_cycles_over_the_quantiles_of_its_times() -> None:
    times = pl.Series([10.0, 20.0, 30.0])
    assert estimate.canary_clock(times, None) == estimate.CanaryClock(20.0, None)
    found = estimate.canary_clock(times, 60)
    # Between sorted values quantiles are straight lines: 5 % lie at 11, 95 % at 29.
    assert (found.low_GHz, found.GHz, found.high_GHz) == exactly((60 / 29, 3, 60 / 11))


def test_a_study_without_looks_needs_two_processes() -> None:
    one, two = across(EVEN[:, :1], []), across(EVEN, [], target=5.0)
    assert (one["state"], one["reason"]) == ("unresolved", "1 complete processes, the least is 2")
    assert (two["state"], two["reason"], two["processes"]) == ("resolved", None, 2)
    assert two["half_width"] == exactly(12.7062 * math.hypot(0.001, estimate.UNSEEN_ERROR), rel=1e-5)


def test_more_processes_than_the_last_look_are_no_stop_between_two() -> None:
    states = [across(np.resize(FIVE, count), [5, 8])["state"] for count in (5, 7, 8, 9)]
    assert states == ["resolved", "unresolved", "resolved", "resolved"]


def test_an_interval_of_the_target_itself_is_resolved() -> None:
    half = across(FIVE, [5])["half_width"]
    for target, state in ((100 * math.expm1(half) + 1e-9, "resolved"), (100 * math.expm1(half) - 1e-6, "unresolved")):
        assert across(FIVE, [5], target)["state"] == state


def test_what_processes_say_beside_their_cost_is_joined_by_its_middle() -> None:
    found = across(
        FIVE,
        [5],
        wall_ns=np.array([1.0, 2, 3, 4, 90]),
        cpu_ns=np.array([1.0, 2, 2.5, 4, 80]),
        spread=np.array([0.1, 0.2, 0.3, 0.4, 9]),
        rounds=np.array([3, 9, 10, 11, 24]),
        dirty=np.array([1, 0, 0, 0, 6]),
    )
    assert [found[name] for name in ("wall_ns", "cpu_ns", "spread", "rounds")] == exactly([3, 2.5, 0.3, 10])
    assert found["clean_share"] == exactly(1 - 7 / 140)
    deviation = math.hypot(np.std(FIVE, ddof=1), estimate.UNSEEN_ERROR * math.sqrt(5))
    assert (found["log_canaries"], found["deviation"]) == exactly((0, deviation), abs=1e-12)


def test_linearity_is_judged_by_the_near_end_of_an_interval_of_999_in_a_thousand() -> None:
    bend = FIVE / 10 + 0.01
    error = stats.t.ppf(0.9995, 4) * np.std(bend, ddof=1) / math.sqrt(5)
    found = across(FIVE, [5], log_half=bend)
    assert (found["half_low"], found["half_high"]) == exactly((0.01 - error, 0.01 + error))
    for end, state in ((0.00501, "invalid"), (0.00499, "resolved")):
        assert across(FIVE, [5], log_half=FIVE / 10 + end + error)["state"] == state
        assert across(FIVE, [5], log_half=FIVE / 10 - end - error)["state"] == state


def test_halves_of_one_process_alone_say_nothing_of_the_linearity() -> None:
    alone = estimate.across_processes(
        summaries(np.atleast_2d(FIVE)).with_columns(log_half=pl.when(pl.col("process") == 0).then(0.5)), [5], 1.0
    ).row(0, named=True)
    assert (alone["half_low"], alone["half_high"], alone["state"]) == (-math.inf, math.inf, "resolved")


@pytest.mark.parametrize(
    ("between", "spread", "most", "visits"),
    [
        # (3 * 0.01 / 0.0036756)^2 is 66.6.
        (0.0036756, 0.01, 200, 67),
        (0.0036756, 0.01, 66, 66),
        # No less than 0.1 % between processes: (3 * 0.0051 / 0.001)^2 = 234.09.
        (0.0, 0.0051, 1000, 235),
        (0.5, 0.0001, 200, 8),
    ],
)
def test_the_next_visits_equal_those_worked_by_hand(between: float, spread: float, most: int, visits: int) -> None:
    assert estimate.next_visits(between, spread, most) == visits


def test_a_failed_case_shows_no_number_of_what_it_did_before() -> None:
    logs = np.stack([FIVE, FIVE]) + math.log(0.1)
    found = estimate.across_processes(summaries(logs), [5], 1.0)
    failed, sound = estimate.estimates([case(0), case(1)], found, CLOCK, {0: "no such key"}).to_dicts()
    numbers = [name for name in failed if name.startswith(("time_", "cycles", "cpu_", "throughput", "half_"))]
    assert len(numbers) == 13
    assert {failed[name] for name in numbers} == {None}
    assert None not in {sound[name] for name in numbers}
    assert (sound["reason"], failed["processes"], failed["clean_share"]) == (None, 5, 1.0)


def test_each_number_of_an_estimate_is_that_of_one_call() -> None:
    logs = FIVE * 5 + math.log(0.1)
    found = estimate.across_processes(summaries(logs[None, :], cpu_ns=700.0), [5], 20.0)
    row = estimate.estimates([case(0, payload_B=200)], found, CLOCK, {}).row(0, named=True)
    half = 2.776445 * math.hypot(np.std(FIVE * 5, ddof=1) / math.sqrt(5), estimate.UNSEEN_ERROR)
    factor = math.exp(half)
    expected = {"time_ns": 1200, "time_low_ns": 1200 / factor, "time_high_ns": 1200 * factor, "cpu_ns": 700}
    expected |= {"cycles": 3600, "cycles_low": 3600 / factor, "cycles_high": 3600 * factor, "cycles_per_byte": 18}
    expected |= {"cycles_per_byte_low": 18 / factor, "cycles_per_byte_high": 18 * factor}
    expected |= {"throughput_MB_s": 200 / 1.2, "half_width_percent": 100 * (factor - 1)}
    assert {name: row[name] for name in expected} == exactly(expected, rel=1e-5)


def test_a_payload_of_one_byte_has_numbers_a_byte_and_memory_has_its_wall_time() -> None:
    found = estimate.across_processes(summaries(np.stack([FIVE] * 2)), [5], 1.0)
    one, dram = estimate.estimates(
        [case(0, payload_B=1), case(1, placement="DRAM", payload_B=10)], found, CLOCK, {}
    ).to_dicts()
    assert (one["cycles_per_byte"], one["throughput_MB_s"]) == exactly((36_000, 1e3 / 12_000))
    assert (dram["time_ns"], dram["throughput_MB_s"]) == exactly((1e4, 1.0))
    assert dram["time_high_ns"] / dram["time_ns"] == exactly(1 + dram["half_width_percent"] / 100)


def ranked(logs: Any, cases: list[dict[str, Any]] | None = None, **more: Any) -> pl.DataFrame:
    """The ranking of cases by the logs of what each of their processes measured."""
    frames = [summaries(np.atleast_2d(row), [number]) for number, row in enumerate(logs)]
    found = estimate.across_processes(pl.concat(frames), [2], 50.0)
    known = estimate.estimates(cases or [case(number) for number in range(len(logs))], found, CLOCK, {})
    return comparison.rank(known, found, 0.0, **more)


def test_the_interval_of_a_ratio_to_the_best_is_that_of_the_fewer_processes() -> None:
    few = np.array([0.004, -0.004, 0.0])
    first, second, third = ranked([FIVE, 0.5 + few, 1.0 + FIVE]).to_dicts()
    assert (first["ratio_to_best"], first["ratio_low"], first["ratio_high"]) == (1, 1, 1)
    # t(0.975; 2) = 4.302653 and t(0.975; 4) = 2.776445.
    error = 4.302653 * math.sqrt(2.5e-6 / 5 + 1.6e-5 / 3 + 2 * estimate.UNSEEN_ERROR**2)
    assert (second["ratio_low"], second["ratio_high"]) == exactly((math.exp(0.5 - error), math.exp(0.5 + error)))
    error = 2.776445 * math.sqrt(2 * 2.5e-6 / 5 + 2 * estimate.UNSEEN_ERROR**2)
    assert (third["ratio_low"], third["ratio_high"]) == exactly((math.exp(1 - error), math.exp(1 + error)))
    assert (second["ratio_to_best"], third["ratio_to_best"]) == exactly((math.exp(0.5), math.e))


def test_two_processes_are_ranked_with_the_interval_of_one_degree_of_freedom() -> None:
    _, second = ranked([EVEN[0], EVEN[0] + 1]).to_dicts()
    error = math.sqrt(2e-6 + 2 * estimate.UNSEEN_ERROR**2)
    assert second["ratio_high"] == exactly(math.exp(1 + 12.7062 * error), rel=1e-5)


def test_no_difference_below_the_smallest_that_matters_to_the_study_is_claimed() -> None:
    logs = [FIVE, FIVE + 0.05]
    assert ranked(logs, smallest=0.049)["tie_group"].to_list() == [1, 2]
    assert ranked(logs, smallest=0.051)["tie_group"].to_list() == [1, 1]
    assert ranked([FIVE / 100, FIVE / 100 + 0.004], smallest=0.001)["tie_group"].to_list() == [1, 1]


def test_a_tie_group_is_of_what_can_not_be_told_from_its_first_and_not_from_its_neighbour() -> None:
    steps = [FIVE / 100 + shift for shift in (0.0, 0.004, 0.008, 0.012, 0.016)]
    found = ranked(steps)
    assert found["tie_group"].to_list() == [1, 1, 2, 2, 3]
    assert found["ratio_to_best"].to_list() == exactly([math.exp(0.004 * number) for number in range(5)])


def test_cases_that_differ_in_their_associated_data_are_not_ranked_together() -> None:
    found = ranked([FIVE, FIVE + 1], [case(0, aad_B=0), case(1, aad_B=16)])
    assert found["tie_group"].to_list() == [1, 1]


def test_the_p_of_a_difference_of_unlike_cases_equals_one_worked_by_hand() -> None:
    a = {"log_canaries": 0.0, "deviation": 0.01, "processes": 2}
    b = {"log_canaries": 0.05, "deviation": 0.03, "processes": 4}
    # Variances of 5e-5 and 2.25e-4; Welch's freedom is 2.75e-4^2 / (5e-5^2 + 2.25e-4^2 / 3).
    freedom = 7.5625e-8 / (2.5e-9 + 1.6875e-8)
    expected = 2 * stats.t.sf(0.05 / math.sqrt(2.75e-4), freedom)
    assert comparison.p_of_difference(a, b) == comparison.p_of_difference(b, a) == exactly(expected)


ROLES: list[dict[str, Any]] = [
    {"case": number, "role": role} for number, role in enumerate(["reference", "aa_test", "injected_slowdown"])
]


def judged(copy: Any, effect: Any) -> list[self_checks.Verdict]:
    layout = np.array([0.0, 0.01, -0.01, 0.02, 0.005])[: len(copy)]
    return self_checks.judge(ROLES, summaries(np.stack([layout, layout + copy, layout + effect])))


TRUE = math.log(61 / 60)


def test_the_interval_of_a_self_check_is_that_of_its_ratios() -> None:
    copy, effect = judged(FIVE + 0.01, FIVE * 2 + TRUE)
    # t(0.975; 4) = 2.776445 and t(0.9995; 4) = 8.6103.
    error = 2.776445 * math.sqrt(2.5e-6 / 5)
    assert (copy.measured, copy.low, copy.high) == exactly(
        [math.exp(0.01 + side * error) for side in (0, -1, 1)], rel=1e-6
    )
    assert (effect.low, effect.high) == exactly((61 / 60 * math.exp(-2 * error), 61 / 60 * math.exp(2 * error)))
    # 1 % off, less 0.61 % at 99.9 %, is more than three in a thousand.
    assert (copy.truth, copy.state, effect.state) == (1.0, "failed", "passed")


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize(("off", "state"), [(0.0029, "passed"), (0.0031, "failed")])
def test_a_self_check_may_miss_its_truth_by_three_in_a_thousand_on_either_side(
    off: float, state: str, side: int
) -> None:
    sure = FIVE / 1000
    verdicts = judged(sure + side * off, sure + TRUE + side * off)
    assert [one.state for one in verdicts] == [state, state]


@pytest.mark.parametrize(("half", "state"), [(0.0049, "passed"), (0.0051, "not resolved")])
def test_a_self_check_wider_than_half_a_percent_has_told_nothing_yet(half: float, state: str) -> None:
    wobble = FIVE * half / (2.776445 * math.sqrt(2.5e-6 / 5))
    assert [one.state for one in judged(wobble, wobble + TRUE)] == [state, state]


def test_two_processes_are_enough_for_a_verdict() -> None:
    assert [one.processes for one in judged(np.zeros(2), np.full(2, TRUE))] == [2, 2]
    assert judged(np.zeros(1), np.full(1, TRUE)) == []


def test_what_copies_differ_by_beyond_their_interval_is_the_greater_one_and_that_of_no_other_self_check() -> None:
    verdicts = [*judged(np.full(5, -0.02), np.full(5, 0.5)), *judged(np.full(5, 0.01), np.full(5, 0.5))]
    assert self_checks.aa_excess(verdicts) == exactly(0.02)
    half = 2.776445 * math.sqrt(2.5e-6 / 5)
    assert self_checks.aa_excess(judged(FIVE + 0.01, FIVE + TRUE)) == exactly(0.01 - half, rel=1e-5)
    assert self_checks.aa_excess(judged(FIVE * 20 + 0.01, FIVE + TRUE)) == 0


def test_the_reason_against_a_run_has_what_was_measured_and_what_it_should_be() -> None:
    _, effect = judged(FIVE * 0, FIVE * 0)
    (reason,) = self_checks.reasons_against([effect])
    assert "+0.00 %" in reason
    assert "+1.67 %" in reason


def test_a_case_that_several_headers_name_is_one() -> None:
    logs = np.zeros((3, 5))
    assert [one.processes for one in self_checks.judge(ROLES * 3, summaries(logs))] == [5, 5]


@pytest.mark.parametrize("side", ["before", "after"])
def test_a_burst_of_the_bound_itself_is_no_neighbour_and_one_above_it_is(side: str) -> None:
    def described(ticks: int) -> dict[str, int]:
        return within.causes(
            frame(rounds(1, **{f"burst_{side}_ticks": ticks, f"canary_{side}_ticks": 10_000_000})), 10**6
        )

    assert (described(10_200_000), described(10_200_001)) == ({}, {"neighbour": 1})


def test_a_quiet_level_of_the_run_makes_no_disturbed_batch_count() -> None:
    assert summary_of(rounds(5) + rounds(2, clean=False, cause="switch"), quiet_ppm=10**6)["rounds"] == 5
    assert BURST_TICKS < CANARY_TICKS


def test_the_spread_of_many_segments_averages_out_in_their_sum() -> None:
    two = [one for segment in range(4) for one in [*rounds(3, 1.0, segment=segment), *rounds(3, 1.1, segment=segment)]]
    found = summary_of(two, {0: 4})
    deviation = np.std([0, 0, 0, *[math.log(1.1)] * 3], ddof=1)
    assert found["spread"] == exactly(deviation / 2, rel=1e-6)
    assert (found["rounds"], found["batches"], found["dirty"]) == (6, 24, 0)


def test_seven_segments_need_three_rounds_each_and_eight_need_two_on_average() -> None:
    def rows(segments: int, count: int) -> int:
        batches = [one for segment in range(segments) for one in rounds(count, segment=segment)]
        return within.summarise(frame(batches), header({0: segments})).height

    assert [rows(*at) for at in ((7, 2), (7, 3), (8, 1), (8, 2))] == [0, 1, 0, 1]


def test_times_are_those_of_one_call_and_cpu_times_of_some_segments_are_none() -> None:
    batches = [one for segment in range(2) for one in rounds(4, segment=segment, wall_ns=5_000, cpu_ns=3_000)]
    found = summary_of(batches, {0: 2})
    assert (found["wall_ns"], found["cpu_ns"]) == exactly((2 * 5_000 / CALLS, 2 * 3_000 / CALLS))
    batches[4:] = rounds(4, segment=1, cpu_ns=None)
    assert summary_of(batches, {0: 2})["cpu_ns"] is None


def test_halves_are_held_against_the_plain_mean_of_whole_batches() -> None:
    whole = [*rounds(9, 1.0), *rounds(1, 3.0)]
    found = summary_of([*whole, *rounds(2, 2.0, calls=CALLS // 2)])
    assert found["log_half"] == exactly(math.log(2) - math.log(3) / 10, rel=1e-6)
    assert found["log_canaries"] == exactly(0, abs=1e-9)
    assert found["batches"] == 12


def test_the_time_of_canaries_is_the_mean_of_both_in_nanoseconds() -> None:
    batches = frame(rounds(1, canary_before_ticks=1_000, canary_after_ticks=3_000))
    assert within.canary_times(batches, header(ticks_per_second=10**9)).to_list() == [2_000]
    assert within.canary_times(batches, header(ticks_per_second=4 * 10**9)).to_list() == [500]
