"""What one process says of its cases: made-up batches go in, and the truth is known."""

import math
import random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.made_up_batches import (
    CALLS,
    CANARY_TICKS,
    QUIET_PPM,
    TICKS_PER_SECOND,
    batch,
    frame,
    header,
    rounds,
    summary_of,
)
from wattlock.analysis import within

exactly = pytest.approx


def within_fence(values: list[float]) -> list[float]:
    frame = pl.DataFrame({"x": values, "group": 0})
    return frame.filter(within.fenced(frame, "x", "group"))["x"].to_list()


def test_a_case_costs_the_same_canaries_whatever_the_clock_does() -> None:
    draw = random.Random(5)
    wandering = [batch(0.7, clock=draw.uniform(0.6, 1.4), round=number) for number in range(24)]
    assert summary_of(wandering)["log_canaries"] == exactly(math.log(0.7), abs=1e-7)


def test_a_clock_that_changes_within_a_batch_is_met_by_the_mean_of_its_canaries() -> None:
    drifting = rounds(5, canary_before_ticks=CANARY_TICKS * 9 // 10, canary_after_ticks=CANARY_TICKS * 11 // 10)
    assert summary_of(drifting)["log_canaries"] == exactly(0.0, abs=1e-9)


@pytest.mark.parametrize("cause", ["switch", "migration", "clock", "neighbour", "licence"])
def test_a_disturbed_batch_does_not_count_and_is_counted(cause: str) -> None:
    batches = rounds(10, 0.5) + rounds(6, 5.0, clean=False, cause=cause)
    found = summary_of(batches)
    assert found["log_canaries"] == exactly(math.log(0.5))
    assert (found["rounds"], found["batches"], found["dirty"]) == (10, 16, 6)
    assert within.causes(frame(batches)) == {cause: 6}


@pytest.mark.parametrize(("slow", "counts"), [(4, 0), (8, 8)])
def test_a_few_slow_batches_lie_beyond_the_fence_and_a_third_of_all_do_not(slow: int, counts: int) -> None:
    values = [1.0] * (24 - slow) + [1.3] * slow
    found = summary_of([batch(value, round=number) for number, value in enumerate(values)])
    assert found["log_canaries"] == exactly(counts / 24 * math.log(1.3), rel=1e-6)
    assert (found["rounds"], found["dirty"]) == (24, 0)


def test_reads_of_the_timer_are_taken_off_a_single_call_after_a_pause_and_off_nothing_else() -> None:
    single = [{**batch(0.01, round=number), "calls": 1, "ticks": 130} for number in range(8)]
    found = {}
    for readiness in ("steady", "after-pause", None):
        described = {**header(), "timer_ticks": 30}
        described["cases"] = [{**described["cases"][0], "calls": 1, "readiness": readiness}]
        [row] = within.summarise(frame(single), described).to_dicts()
        found[readiness] = round(math.exp(row["log_canaries"]) * CANARY_TICKS, 6)
    assert found == {"steady": 130, "after-pause": 100, None: 130}


def test_a_batch_beside_a_neighbour_does_not_count_once_the_run_knows_a_quiet_core() -> None:
    batches = rounds(12, 1.0) + rounds(12, 1.2, burst=1.05)
    assert summary_of(batches)["rounds"] == 24
    found = summary_of(batches, quiet_ppm=QUIET_PPM)
    assert found["log_canaries"] == exactly(0.0, abs=1e-9)
    assert (found["rounds"], found["dirty"]) == (12, 12)
    assert within.causes(frame(batches), QUIET_PPM) == {"neighbour": 12}


@pytest.mark.parametrize("side", ["before", "after"])
def test_a_neighbour_on_one_side_of_a_batch_is_enough(side: str) -> None:
    shared: dict[str, Any] = {f"burst_{side}_ticks": round(CANARY_TICKS * QUIET_PPM / 1e6 * 1.021)}
    assert within.causes(frame(rounds(3, **shared)), QUIET_PPM) == {"neighbour": 3}


def test_a_burst_within_two_percent_of_the_quiet_level_is_no_neighbour() -> None:
    assert within.causes(frame(rounds(3, burst=1.0199)), QUIET_PPM) == {}


STEP_TICKS, STEPPED_TICKS = 5_000, 303_100
"""A burst or a canary of some 60 steps of the clock."""


def stepped(draw: random.Random, *, burst: float = 1.0, **changed: Any) -> dict[str, Any]:
    """A batch between bursts and canaries by a clock that rises anywhere within its steps, as a browser's does."""

    def read(ticks: float) -> int:
        start = draw.uniform(0, 1)
        first, last = (int(at + draw.uniform(0, 1)) for at in (start, start + ticks / STEP_TICKS))
        return (last - first) * STEP_TICKS

    sides = [(what, side) for what in ("canary", "burst") for side in ("before", "after")]
    edges = {f"{what}_{side}_ticks": read(STEPPED_TICKS * (burst if what == "burst" else 1)) for what, side in sides}
    return batch(1.0, **edges, **changed)


def test_what_a_step_of_the_clock_hides_is_no_neighbour_and_two_fifths_more_are_one() -> None:
    draw = random.Random(11)
    quiet = frame(stepped(draw, round=number) for number in range(500))
    shared = frame(stepped(draw, burst=1.4, round=number) for number in range(500))
    assert within.causes(quiet, 10**6, STEP_TICKS) == {}
    assert within.causes(shared, 10**6, STEP_TICKS) == {"neighbour": 500}
    assert within.causes(quiet, 10**6)["neighbour"] > 10, "a clock that says nothing of its steps"


def test_the_step_of_the_clock_is_the_headers() -> None:
    quiet = [stepped(random.Random(number), round=number) for number in range(60)]
    told = header(step_ticks=STEP_TICKS)
    rounds_of = [within.summarise(frame(quiet), one, 10**6).row(0, named=True)["rounds"] for one in (told, header())]
    assert rounds_of[0] == 60 > rounds_of[1]


def test_a_batch_that_the_engine_gave_a_cause_keeps_it_beside_a_neighbour() -> None:
    assert within.causes(frame(rounds(2, burst=2.0, clean=False, cause="switch")), QUIET_PPM) == {"switch": 2}


@given(st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=120))
def test_the_fence_lies_one_and_a_half_ranges_beyond_the_quartiles(values: list[float]) -> None:
    low, high = np.quantile(values, [0.25, 0.75])
    beyond = 1.5 * max(high - low, 0.002)
    expected = [value for value in values if low - beyond - 1e-12 <= value <= high + beyond + 1e-12]
    assert within_fence(values) == expected or within_fence(values) == [
        value for value in values if low - beyond + 1e-12 <= value <= high + beyond - 1e-12
    ]


@given(st.lists(st.floats(-1e6, 1e6), min_size=5, max_size=120), st.floats(1e7, 1e9))
def test_one_wild_value_among_five_and_more_never_counts(values: list[float], wild: float) -> None:
    assert wild not in within_fence([*values, wild])
    assert -wild not in within_fence([*values, -wild])


def two_speeds(draw: np.random.Generator, visits: int, slow: float, unseen: float) -> float:
    """What a process says of a case that takes 11 % more at one place of the stack, some batches more by chance."""
    noise = draw.normal(0, 0.001, visits)
    hit = np.where(draw.random(visits) < unseen, draw.uniform(0.13, 0.4, visits), 0)
    cost = [
        (slow if number % 4 == 1 else 1.0) * math.exp(noise[number]) * (1 + hit[number]) for number in range(visits)
    ]
    batches = [batch(value, round=number, place=number % 4 + 4 * (number % 7)) for number, value in enumerate(cost)]
    return float(summary_of(batches)["log_canaries"])


@pytest.mark.parametrize("visits", [24, 48, 96])
@pytest.mark.parametrize("slow", [1.0, 1.004, 1.11])
def test_what_a_place_of_the_stack_costs_is_kept_and_what_hits_a_batch_by_chance_is_not(
    visits: int, slow: float
) -> None:
    draw = np.random.default_rng(visits)
    found = [two_speeds(draw, visits, slow, unseen=0.03) for _ in range(60)]
    assert np.mean(found) == exactly(math.log(slow) / 4, abs=0.001)


def test_with_fewer_than_four_rounds_at_a_place_all_places_have_one_fence() -> None:
    batches = [batch(1.11 if number % 4 == 1 else 1.0, round=number, place=number % 4) for number in range(16)]
    assert summary_of(batches)["log_canaries"] == exactly(math.log(1.11) / 4, rel=1e-6)
    without_one = [one for one in batches if one["round"] != 13]
    assert summary_of(without_one)["log_canaries"] == exactly(0.0, abs=1e-9)


def test_a_case_with_two_speeds_has_the_mean_of_both_and_not_one_of_them() -> None:
    values = [1.0, 1.11] * 12
    found = summary_of([batch(value, round=number) for number, value in enumerate(values)])
    assert found["log_canaries"] == exactly(math.log(1.11) / 2, rel=1e-6)
    assert found["spread"] == exactly(np.std(np.log(values), ddof=1), rel=1e-6)


def test_the_segments_of_a_long_input_are_summed() -> None:
    batches = [one for segment in range(3) for one in rounds(4, segment + 1.0, segment=segment, offset_B=segment)]
    found = summary_of(batches, {0: 3})
    a_canary_ns = CANARY_TICKS * 1e9 / TICKS_PER_SECOND
    assert found["log_canaries"] == exactly(math.log(6))
    assert found["wall_ns"] == exactly(6 * a_canary_ns)
    assert found["cpu_ns"] == exactly(6 * a_canary_ns)
    assert found["rounds"] == 4


def test_a_segment_of_which_all_rounds_are_unlike_the_others_is_told_by_them() -> None:
    costs = dict.fromkeys(range(12), (1.0, 1.0)) | {5: (1.0, 1.5)}
    batches = [batch(cost, segment=at, round=when) for at, both in costs.items() for when, cost in enumerate(both)]
    assert summary_of(batches, {0: 12})["log_canaries"] == exactly(math.log(11 + math.sqrt(1.5)))


def test_a_case_of_which_a_segment_is_missing_has_no_row() -> None:
    batches = [one for segment in (0, 2) for one in rounds(9, segment=segment)]
    assert within.summarise(frame(batches), header({0: 3})).is_empty()


def test_a_case_of_which_a_segment_was_always_disturbed_has_no_row() -> None:
    batches = rounds(9, segment=0) + rounds(9, segment=1, clean=False, cause="switch")
    assert within.summarise(frame(batches), header({0: 2})).is_empty()


@pytest.mark.parametrize(("clean", "rows"), [(2, 0), (3, 1)])
def test_three_clean_rounds_are_the_least(clean: int, rows: int) -> None:
    assert within.summarise(frame(rounds(clean)), header()).height == rows


@pytest.mark.parametrize(("clean", "rows"), [([1, *[3] * 7], 1), ([1] * 8, 0), ([1] * 4 + [3] * 4, 1)])
def test_of_many_segments_each_needs_one_round_and_all_need_two_on_average(clean: list[int], rows: int) -> None:
    batches = [one for segment, count in enumerate(clean) for one in rounds(count, segment=segment)]
    assert within.summarise(frame(batches), header({0: len(clean)})).height == rows


def test_a_case_without_cpu_times_has_wall_times() -> None:
    found = summary_of(rounds(4, cpu_ns=None))
    assert found["cpu_ns"] is None
    assert found["wall_ns"] > 0


def test_half_batches_tell_of_the_linearity_and_not_of_the_cost() -> None:
    halves = [batch(1.02, calls=CALLS // 2, round=number) for number in range(4)]
    found = summary_of(rounds(24) + halves)
    assert found["log_canaries"] == exactly(0.0, abs=1e-9)
    assert found["log_half"] == exactly(math.log(1.02), rel=1e-6)
    assert summary_of(rounds(24))["log_half"] is None


def test_two_speeds_in_the_same_shares_are_no_lack_of_linearity() -> None:
    whole = [batch(value, round=number) for number, value in enumerate([1.0] * 18 + [1.11] * 6)]
    halves = [batch(value, calls=CALLS // 2) for value in (1.0, 1.0, 1.0, 1.11)]
    assert summary_of(whole + halves)["log_half"] == exactly(0.0, abs=1e-7)


def test_each_case_has_its_own_row_with_its_process() -> None:
    batches = [one for number in (4, 9) for one in rounds(5, number, case=number, process=3)]
    found = within.summarise(frame(batches), header({9: 1, 4: 1}, process=3))
    assert found.select("process", "case").rows() == [(3, 4), (3, 9)]
    assert found["log_canaries"].to_list() == exactly([math.log(4), math.log(9)])


def test_processes_that_are_summarised_at_once_are_each_what_it_is_alone_to_the_bit() -> None:
    draw = random.Random(18)

    def process(number: int) -> pl.DataFrame:
        values = (
            (case, round_, draw.choice((1.0, 1.11)) * draw.gauss(1, 0.01)) for case in (7, 0, 3) for round_ in range(24)
        )
        return frame(
            batch(value, case=case, round=round_, place=round_, process=number) for case, round_, value in values
        )

    numbers = (9, 2, 5)
    batches = [process(number) for number in numbers]
    headers = [header({0: 1, 3: 1, 7: 1}, process=number) for number in numbers]
    alone = [within.summarise(one, of, QUIET_PPM) for one, of in zip(batches, headers, strict=True)]
    at_once = within.summarise_several(batches, headers, QUIET_PPM)
    assert at_once["process"].unique(maintain_order=True).to_list() == list(numbers)
    assert at_once.equals(pl.concat(alone))


def test_a_cut_case_is_the_same_to_the_bit_each_time() -> None:
    draw = random.Random(28)
    cut = frame(
        batch(draw.uniform(0.1, 3), case=case, round=round_, segment=segment)
        for case in range(20)
        for round_ in range(5)
        for segment in range(30)
    )
    first, *others = (within.summarise(cut, header(dict.fromkeys(range(20), 30))) for _ in range(5))
    assert all(first.equals(other) for other in others)


@pytest.mark.parametrize("batches", [[], rounds(5, clean=False, cause="switch")])
def test_a_process_without_a_clean_batch_has_an_empty_summary(batches: list[dict[str, Any]]) -> None:
    found = within.summarise(frame(batches), header(), QUIET_PPM)
    assert found.is_empty()
    assert found.schema == within.SUMMARY_SCHEMA


def test_the_time_of_a_canary_is_that_of_clean_batches_only() -> None:
    batches = rounds(2, canary_after_ticks=CANARY_TICKS * 2) + rounds(3, clock=9.0, clean=False, cause="clock")
    assert within.canary_times(frame(batches), header()).to_list() == exactly([1.5 * CANARY_TICKS / 2.5] * 2)


PAGE: dict[str, Any] = {"fingerprint": {"browser": {"is_isolated": True}}}


def page_of(batches: list[dict[str, Any]]) -> dict[str, Any]:
    """The summary of what a browser measured."""
    return within.summarise(frame(batches), header(**PAGE)).row(0, named=True)


def cut(share: float, *, draw: random.Random, turns: int = 60, **more: Any) -> list[dict[str, Any]]:
    """Batches of 0.5 canaries, off by 1 %, of which a share is longer by other programs' turns."""
    found = []
    for number in range(turns):
        turn = draw.uniform(0.5, 12) if number < share * turns else 0.0
        found.append(batch(0.5 * math.exp(draw.gauss(0, 0.01)) * (1 + turn), round=number, **more))
    return found


@pytest.mark.parametrize("share", [0.0, 0.2, 0.3, 0.4])
def test_turns_that_a_browser_cannot_see_do_not_count_even_where_they_cut_a_third_of_the_batches(share: float) -> None:
    batches = cut(share, draw=random.Random(3))
    assert page_of(batches)["log_canaries"] == exactly(math.log(0.5), abs=0.006)
    if share > 0.25:  # A program sees them by its context switches; its fence leaves out a few.
        assert summary_of(batches)["log_canaries"] > math.log(0.5) + 0.05


def test_half_batches_are_held_against_whole_ones_without_the_turns_that_cut_those() -> None:
    draw = random.Random(4)
    batches = cut(0.3, draw=draw) + cut(0.1, draw=draw, turns=20, calls=CALLS // 2)
    assert page_of(batches)["log_half"] == exactly(0.0, abs=0.01)


@pytest.mark.parametrize("share", [0.3, 0.45, 0.55])
def test_a_second_speed_of_a_browser_is_no_turn_of_another_program(share: float) -> None:
    draw = random.Random(5)
    speeds = [0.5 * 1.11] * round(60 * share) + [0.5] * round(60 * (1 - share))
    batches = [batch(one * math.exp(draw.gauss(0, 0.005)), round=number) for number, one in enumerate(speeds)]
    assert page_of(batches)["log_canaries"] == exactly(math.log(0.5) + share * math.log(1.11), abs=0.003)
    assert page_of(batches) == summary_of(batches)


def bursts(*shares: tuple[int, int]) -> pl.DataFrame:
    """How often bursts took so many millionths of their canary."""
    rows = [batch(burst=ppm / QUIET_PPM) for ppm, count in shares for _ in range(count)]
    return within.burst_levels(frame(rows))


def test_a_level_that_one_process_alone_learnt_and_no_batch_meets_is_not_the_runs() -> None:
    level = within.quiet_level(bursts((377_000, 2_000)), [336_000, 377_000, 377_100, 377_200])
    assert level == pytest.approx(377_000, rel=0.002)


def test_where_all_processes_learnt_beside_a_neighbour_that_left_the_bursts_tell_the_quiet_core() -> None:
    level = within.quiet_level(bursts((377_000, 600), (471_000, 400)), [471_000] * 5)
    assert level == pytest.approx(377_000, rel=0.01)


def test_a_few_stray_bursts_below_what_all_processes_learnt_make_the_core_no_quieter() -> None:
    assert within.quiet_level(bursts((350_000, 25), (377_000, 1_975)), [377_000] * 5) == 377_000


def test_the_error_of_a_case_whose_places_differ_is_that_about_each_places_mean() -> None:
    draw = np.random.default_rng(2)
    logs = [0.1 * (number % 4 == 3) + draw.normal(0, 0.001) for number in range(24)]
    batches = [batch(math.exp(log), round=number, place=number % 4) for number, log in enumerate(logs)]
    assert summary_of(batches)["error"] < 0.0005
