"""The self_checks: what makes a run worth nothing, and what does not."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

from support.made_up_batches import summaries
from wattlock.analysis import self_checks

CASES: list[dict[str, Any]] = [
    {"case": number, "role": role}
    for number, role in enumerate(["study", "reference", "aa_test", "injected_slowdown", "empty"])
]
WOBBLE = np.array([0.0001, -0.0001, 0.0002, -0.0002, 0.0])


def run(copy: float = 0.0, effect: float = math.log(61 / 60), wobble: float = 1.0) -> pl.DataFrame:
    """Summaries of five processes, each with a memory layout that moves all its cases alike."""
    layout = np.array([0.0, 0.01, -0.01, 0.02, 0.005])
    logs = np.stack([layout + shift for shift in (1.0, 0.0, copy, effect, -4.0)])
    logs[2:4] += WOBBLE * wobble
    return summaries(logs)


def test_a_sound_run_is_believed() -> None:
    verdicts = self_checks.judge(CASES, run())
    assert [(v.name, v.state, v.processes) for v in verdicts] == [
        ("A/A test", "passed", 5),
        ("injected slowdown", "passed", 5),
    ]
    assert verdicts[1].truth == pytest.approx(61 / 60)
    assert all(v.low < v.truth < v.high for v in verdicts)
    assert self_checks.reasons_against(verdicts) == []


def test_self_checks_are_compared_with_the_reference_of_their_own_process() -> None:
    verdict = self_checks.judge(CASES, run())[0]
    assert verdict.high - verdict.low < 0.01 * 0.3


def test_copies_that_differ_steadily_by_one_percent_make_the_run_invalid() -> None:
    verdicts = self_checks.judge(CASES, run(copy=0.01))
    assert [v.state for v in verdicts] == ["failed", "passed"]
    (reason,) = self_checks.reasons_against(verdicts)
    assert "+1.01" in reason


def test_copies_within_three_in_a_thousand_are_believed_however_sure_the_difference_is() -> None:
    assert self_checks.judge(CASES, run(copy=0.0029, wobble=0.01))[0].state == "passed"
    assert self_checks.judge(CASES, run(copy=0.0032, wobble=0.01))[0].state == "failed"


def test_copies_that_differ_by_chance_say_nothing_against_the_run() -> None:
    verdicts = self_checks.judge(CASES, run(copy=0.01, wobble=100.0))
    assert verdicts[0].state == "not resolved"
    assert self_checks.reasons_against(verdicts) == []
    assert len(self_checks.not_resolved(verdicts)) == 2


@pytest.mark.parametrize("effect", [0.0, 2 * math.log(61 / 60)])
def test_a_injected_slowdown_that_is_missed_makes_the_run_invalid(effect: float) -> None:
    verdicts = self_checks.judge(CASES, run(effect=effect))
    assert [v.state for v in verdicts] == ["passed", "failed"]
    assert "+1.67 %" in self_checks.reasons_against(verdicts)[0]


def test_copies_that_differ_steadily_widen_what_is_compared_and_others_do_not() -> None:
    assert self_checks.aa_excess(self_checks.judge(CASES, run(copy=-0.02))) == pytest.approx(0.02, rel=0.03)
    assert self_checks.aa_excess(self_checks.judge(CASES, run())) == 0.0
    assert self_checks.aa_excess([]) == 0.0


def test_one_process_says_nothing() -> None:
    assert self_checks.judge(CASES, run().filter(process=0)) == []


def test_a_process_without_its_reference_is_left_out() -> None:
    found = run().filter((pl.col("case") != 1) | (pl.col("process") > 1))
    assert [v.processes for v in self_checks.judge(CASES, found)] == [3, 3]


@pytest.mark.parametrize("cases", [[], CASES, CASES[:1]])
def test_a_run_in_which_nothing_was_measured_has_no_verdict(cases: list[dict[str, Any]]) -> None:
    assert self_checks.judge(cases, run().clear()) == []


def test_noise_in_which_no_effect_was_found_is_not_resolved_and_no_proof() -> None:
    verdicts = self_checks.judge(CASES, run(effect=0.0, wobble=150.0))
    assert verdicts[1].low < 1 < verdicts[1].high
    assert [v.state for v in verdicts] == ["not resolved", "not resolved"]


def test_a_process_that_kept_few_batches_does_not_make_a_sound_run_invalid() -> None:
    logs = run().with_columns(
        log_canaries=pl.when((pl.col("process") == 4) & (pl.col("case") == 3)).then(0.06).otherwise("log_canaries"),
        error=pl.when(pl.col("process") == 4).then(0.04).otherwise(0.0002),
        kept=pl.when(pl.col("process") == 4).then(1000).otherwise(24),
    )
    verdicts = self_checks.judge(CASES, logs)
    assert [v.state for v in verdicts] == ["passed", "passed"]
    assert verdicts[1].measured == pytest.approx(61 / 60, abs=1e-3)
