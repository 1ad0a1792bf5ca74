"""What a byte costs in the median process and at the quartiles."""

import math
from typing import Any

import polars as pl
import pytest

from wattlock.analysis.quartiles import counted_per_byte, per_byte

CASE: dict[str, Any] = {"case": 0, "payload_B": 64, "placement": "hot", "state": "resolved", "cycles": 640.0}
CASE |= {"time_ns": 200.0}


def one(case: dict[str, Any], canaries: list[float], wall_ns: list[float]) -> dict[str, Any]:
    summaries = pl.DataFrame({"case": 0, "log_canaries": [math.log(value) for value in canaries], "wall_ns": wall_ns})
    kinds = pl.Schema({"case": pl.Int64, "payload_B": pl.Int64, "placement": pl.String, "state": pl.String})
    numbers = {"cycles": pl.Float64, "time_ns": pl.Float64}
    return per_byte(pl.DataFrame([case], schema={**kinds, **numbers}), summaries).row(0, named=True)


def test_quartiles_of_five_processes_are_the_second_third_and_fourth() -> None:
    canaries = [1.0, 2.0, 4.0, 8.0, 16.0]
    row = one(CASE, canaries, [1.0] * 5)
    # The mean of their logs is that of the third, to which the estimate of 10 cycles a byte belongs.
    assert (row["unit"], row["per_byte"]) == ("cycles/B", pytest.approx(10))
    assert (row["per_byte_q1"], row["per_byte_q3"]) == (pytest.approx(5), pytest.approx(20))


def test_the_median_is_not_the_mean_where_one_process_is_far_off() -> None:
    row = one(CASE, [1.0, 1.0, 1.0, 1.0, 32.0], [1.0] * 5)
    assert row["per_byte"] == row["per_byte_q1"] == row["per_byte_q3"] == pytest.approx(5)


def test_a_case_without_cycles_has_nanoseconds_and_one_in_memory_its_wall_times() -> None:
    row = one({**CASE, "cycles": None}, [1.0, 1.0, 1.0], [9.0] * 3)
    assert (row["unit"], row["per_byte"]) == ("ns/B", pytest.approx(200 / 64))
    row = one({**CASE, "cycles": None, "placement": "DRAM"}, [1.0, 1.0, 1.0], [64.0, 128.0, 640.0])
    assert (row["unit"], row["per_byte"]) == ("ns/B", 2)
    assert (row["per_byte_q1"], row["per_byte_q3"]) == (1.5, 6)


@pytest.mark.parametrize("change", [{"state": "failed"}, {"state": "invalid"}, {"payload_B": 0}, {"case": 1}])
def test_a_case_without_a_number_or_payload_has_none(change: dict[str, Any]) -> None:
    row = one({**CASE, **change}, [1.0, 2.0, 3.0], [1.0] * 3)
    assert [row[name] for name in ("per_byte_q1", "per_byte", "per_byte_q3")] == [None] * 3


def test_a_count_has_no_quartiles() -> None:
    row = counted_per_byte(pl.DataFrame({"payload_B": [16, 0], "cycles": [320, 9]}), "cycles")
    assert row["per_byte"].to_list() == [20, None]
    assert row["per_byte_q1"].null_count() == row["per_byte_q3"].null_count() == 2
