"""Made-up recordings joined to made-up runs: the joules that they were made of, and what can't be joined."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import cumulative_trapezoid

from support.recorded_runs import Draw, aligned, draw_one, made_up, recording_of, run
from wattlock.energy.recordings import Recording
from wattlock.errors import InputError

DRAWS = 30
"""Of 500 in `benchmarks/recordings.py`."""


@pytest.fixture(scope="module")
def draws() -> list[Draw]:
    return [draw_one(1000 + seed) for seed in range(DRAWS)]


def test_the_joules_are_within_2_percent_of_the_truth_and_the_intervals_hold_it(draws: list[Draw]) -> None:
    assert max(abs(error) for draw in draws for error in draw.errors) <= 0.02
    held = [is_held for draw in draws for is_held in draw.held]
    # Of 90 that hold with 95 % fewer than 78 do so once in ten thousand times.
    assert sum(held) >= 78


def test_offset_and_drift_of_the_clocks_are_found(draws: list[Draw]) -> None:
    assert max(abs(draw.offset_error_s) for draw in draws) < 1e-3
    assert max(abs(draw.drift_error) for draw in draws) < 20e-6


def test_a_gap_inside_a_block_is_named_and_this_block_alone_left_out(draws: list[Draw]) -> None:
    for draw in draws:
        (line,) = draw.left_out
        assert line.startswith("process ")
        left, right = (float(word) for word in line.partition("samples are missing between ")[2].split()[0:3:2])
        assert left == pytest.approx(draw.gap_s[0], abs=2 / draw.rate_Hz + 1e-4)
        assert right == pytest.approx(draw.gap_s[1], abs=2 / draw.rate_Hz + 1e-4)


def test_the_uncertainty_of_the_alignment_is_that_of_its_errors() -> None:
    off = []
    for seed in range(20):
        draw = np.random.default_rng(seed)
        made = run(draw, cases=1)
        by = made_up.Instrument(offset_s=float(draw.uniform(-3, 3)), drift=float(draw.uniform(-2e-4, 2e-4)))
        alignment, _ = aligned(made, recording_of(made, by, seed))
        # The instrument gives the time of a sample's begin: half a sample is its own.
        zero_s = made.markers[0]["edges_ns"][0] / 1e9 - 2.0
        truth_s = (alignment.pivot_s - zero_s) * (1 + by.drift) + by.offset_s
        off.append((alignment.offset_s - truth_s) / alignment.middle_u_s)
    assert float(np.sqrt(np.mean(np.square(off)))) < 3


def test_the_joules_that_the_alignment_leaves_unsure_are_those_between_both_of_its_ends() -> None:
    made = run(np.random.default_rng(5), cases=1)
    recording = recording_of(made, made_up.Instrument(), 5)
    alignment, integrated = aligned(made, recording)
    joules = cumulative_trapezoid(recording.power_W, recording.time_s, initial=0)

    def between(start_s: float, end_s: float) -> float:
        start_J, end_J = np.interp([start_s, end_s], recording.time_s, joules)
        return float(end_J - start_J)

    known = [record for record in integrated.records if record["error"] is None]
    assert known
    for record in known:
        ends_s = np.array([record[end]["not_before_ns"] + 30 for end in ("start", "end")]) / 1e9
        places_s, u_s = alignment.recorded_s(ends_s), alignment.u_s(ends_s)
        middle_J = between(*places_s)
        around_J = max(abs(between(*(places_s + side * u_s)) - middle_J) for side in (-1, 1))
        assert record["gross_nJ"] == pytest.approx(middle_J * 1e9, rel=1e-3)
        assert record["alignment_u_nJ"] == pytest.approx(around_J * 1e9, rel=0.05, abs=middle_J * 1e3)


def test_markers_that_a_gap_took_away_are_missed_and_the_others_are_enough() -> None:
    made = run(np.random.default_rng(3))
    whole = recording_of(made, made_up.Instrument(), 3)
    starts_s = [marker["edges_ns"][0] / 1e9 for marker in made.markers]
    zero_s = starts_s[0] - 2.0
    gap = [(starts_s[at] - zero_s) * (1 + 200e-6) + 3.0 for at in (4, 5)]
    keep = (whole.time_s < gap[0] - 0.1) | (whole.time_s > gap[1] + 0.1)
    alignment, integrated = aligned(made, Recording(whole.time_s[keep], whole.power_W[keep]))
    assert (alignment.found, alignment.markers) == (14, 16) or alignment.found == 15
    assert integrated.left_out
    assert all("process 2" in line for line in integrated.left_out)


def of_another_run(_: Recording) -> Recording:
    other = run(np.random.default_rng(99))
    return recording_of(other, made_up.Instrument(), 1)


def of_idle(recording: Recording) -> Recording:
    return Recording(recording.time_s, np.random.default_rng(1).normal(3.0, 0.2, len(recording.time_s)))


def twice(recording: Recording) -> Recording:
    later = recording.time_s + (recording.time_s[-1] - recording.time_s[0] + 1.0)
    return Recording(np.concatenate([recording.time_s, later]), np.tile(recording.power_W, 2))


def each_twentieth(recording: Recording) -> Recording:
    return Recording(recording.time_s[::20], recording.power_W[::20])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (of_another_run, "doesn't contain the run"),
        (of_idle, "doesn't contain the run"),
        (twice, "two places for the run: its first marker fits at "),
        (each_twentieth, "a sample each 20 ms is too slow for markers with chips of 20"),
    ],
)
def test_a_recording_that_cannot_be_joined_is_refused(changed: Callable[[Recording], Recording], said: str) -> None:
    made = run(np.random.default_rng(7))
    with pytest.raises(InputError, match=said) as caught:
        aligned(made, changed(recording_of(made, made_up.Instrument(), 7)))
    assert caught.value.hint


def test_blocks_shorter_than_the_samples_of_a_slow_instrument_have_no_joules() -> None:
    made = run(np.random.default_rng(7), rate_Hz=1000)
    short = [
        {
            **block,
            "end": {**block["end"], "not_after_ns": block["start"]["not_after_ns"] + 3_000_000}
            | {"not_before_ns": block["start"]["not_before_ns"] + 3_000_000},
        }
        for block in made.blocks
    ]
    recording = recording_of(made, made_up.Instrument(), 7)
    with pytest.raises(InputError, match=r"no joules for any block: .* shorter than 5 samples of 1 ms"):
        aligned(made._replace(blocks=short), recording)
