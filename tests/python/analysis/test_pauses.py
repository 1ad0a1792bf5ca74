"""The first call after a pause beside calls one after another: told apart, compared, and said in a sentence."""

from typing import Any

import numpy as np
import polars as pl

from support.made_up_batches import Numbers, case, summaries
from wattlock.analysis import comparison, estimate
from wattlock.report.run_answer import after_pause

CLOCK: dict[str | None, estimate.CanaryClock] = {None: estimate.CanaryClock(12_000.0, 36_000, 2.9, 3.0, 3.1)}
FIVE = np.array([0.001, -0.001, 0.0, 0.002, -0.002])
TWINS = [case(0), case(1, cipher="cipher-0", readiness="after-pause"), case(2, readiness="after-pause")]


def found(cases: list[dict[str, Any]], *logs: float) -> tuple[pl.DataFrame, pl.DataFrame]:
    values: Numbers = np.array(logs)[:, None] + FIVE
    across = estimate.across_processes(summaries(values), [5], 1.0)
    return estimate.estimates(cases, across, CLOCK, {}), across


def test_a_case_after_a_pause_has_a_ratio_to_its_steady_twin_and_none_without_a_twin() -> None:
    compared = comparison.compare_after_pause(*found(TWINS, 0.0, np.log(3.1), 0.0))
    [row] = compared.to_dicts()
    assert abs(row["ratio"] - 3.1) < 0.02
    assert row["ratio_low"] < 3.1 < row["ratio_high"]
    [said] = after_pause(compared)
    assert said.startswith("A single packet after 2 ms of other work costs, beside one of many: cipher-0 3.1")
    assert after_pause(compared.clear()) == []


def test_a_first_call_after_a_pause_is_never_ranked_with_calls_one_after_another() -> None:
    estimates, across = found(TWINS[:2], 0.0, 1.0)
    ranked = comparison.rank(estimates, across, 0.0)
    assert ranked.select("readiness", "tie_group").rows() == [("after-pause", 1), ("steady", 1)]


def test_a_case_of_a_run_that_knew_no_pauses_is_steady() -> None:
    cases = [{**case(0), "readiness": None}, {name: value for name, value in case(1).items() if name != "readiness"}]
    assert found(cases, 0.0, 1.0)[0]["readiness"].to_list() == ["steady", "steady"]
