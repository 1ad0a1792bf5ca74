"""Joules from blocks: simulated loads whose truth is known, drawn from the meters' own uncertainty laws."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pytest

from wattlock.analysis import comparison, weighing

LOADS = 200
"""For each of the five meters: a thousand in all."""


@dataclass(frozen=True)
class Law:
    """How a meter errs: quantum, update period, gain, and how far the power itself wanders from block to block."""

    quantum_nJ: float
    period_ns: float
    gain: float
    wander: float


LAWS = {
    "powercap": Law(61_035.0, 1e6, 0.05, 0.01),
    "perf": Law(0.233, 1e6, 0.05, 0.02),
    "battery": Law(36e9, 1e9, 0.02, 0.01),
    "hwmon": Law(25_000.0, 2e6, 0.01, 0.02),
    "ppk2": Law(10.0, 1e4, 0.003, 0.01),
}


def simulated(law: Law, loads: int, seed: int) -> tuple[pl.DataFrame, np.ndarray[Any, np.dtype[np.float64]]]:
    """Blocks of so many loads, a cell each, and the net nanojoules of one call in truth."""
    draw = np.random.default_rng(seed)
    least_ns = weighing.block_length_ns(int(law.period_ns), 41_000_000, 1.0)
    rows, truths = [], []
    for load in range(loads):
        idle_W, net_W, call_ns = draw.uniform(1, 4), draw.uniform(0.5, 8), draw.uniform(100, 1e6)
        gain = 1 + law.gain * draw.standard_normal()
        truths.append(net_W * call_ns)
        drift = draw.uniform(-0.02, 0.02)
        for process in range(8):
            for place, cell in enumerate([None, load, None, load, None]):
                window = least_ns + draw.uniform(0, law.period_ns)
                power = idle_W + (net_W if cell is not None else 0.0)
                power = power * (1 + law.wander * draw.standard_normal()) + drift * place
                width = law.period_ns / 20
                seen = window + draw.uniform(-width / 2, width / 2) + draw.uniform(-width / 2, width / 2)
                energy = power * window * gain
                start = draw.uniform(0, law.quantum_nJ)
                counted = math.floor((start + energy) / law.quantum_nJ) * law.quantum_nJ
                uncertainty = width * math.sqrt(2 / 12)
                run = window + width
                rows.append(
                    (load * 8 + process, 0, 0, cell, run / call_ns, run, seen, uncertainty, float(counted), None)
                )
    return pl.DataFrame(rows, schema=weighing.BLOCK_COLUMNS, orient="row"), np.array(truths)


def test_intervals_of_a_thousand_simulated_loads_hold_their_truths_and_are_not_much_wider_than_they_need_be() -> None:
    held: list[bool] = []
    for seed, (name, law) in enumerate(LAWS.items()):
        blocks, truths = simulated(law, LOADS, seed)
        found = weighing.estimates(weighing.by_process(blocks, law.quantum_nJ), law.gain, {}, 2.0)
        assert found["energy_uJ"].null_count() < LOADS / 20, name
        known = found.filter(pl.col("energy_uJ").is_not_null())
        truth = truths[known["cell"].to_numpy()] / 1e3
        low, middle, high = (known[f"energy{side}_uJ"].to_numpy() for side in ("_low", "", "_high"))
        inside = (low <= truth) & (truth <= high)
        assert inside.mean() >= 0.90, f"{name}: {inside.mean():.1%}"
        held.extend(inside)
        exact = np.diff(np.quantile(middle / truth, [0.025, 0.975]))[0]
        width = np.median((high - low) / truth)
        assert width <= 1.3 * exact, f"{name}: {width:.4f} and {exact:.4f}"
    assert np.mean(held) >= 0.93


def steady(net_W: float, wander: float = 0.0, processes: int = 8, first_cell: int = 0) -> pl.DataFrame:
    """Blocks of one cell on a steady load over 3 W, a call a microsecond."""
    draw = np.random.default_rng(7)
    rows = []
    for process in range(processes):
        for cell in (None, first_cell, None, first_cell, None):
            power = 3.0 + (net_W if cell is not None else 0.0) + wander * draw.standard_normal()
            gross = power * 41e6
            rows.append((process, 0, 0, cell, 41e3, 41e6, 41e6, 1e4, float(gross), None))
    return pl.DataFrame(rows, schema=weighing.BLOCK_COLUMNS, orient="row")


def one(blocks: pl.DataFrame, gain: float = 0.05) -> dict[str, Any]:
    return weighing.estimates(weighing.by_process(blocks, 61_035.0), gain, {}, 2.0).row(0, named=True)


def test_a_steady_load_is_what_it_is_above_its_baseline() -> None:
    found = one(steady(5.0))
    assert found["energy_uJ"] == pytest.approx(5.0, rel=1e-9)
    assert found["energy_gross_uJ"] == pytest.approx(8.0, rel=1e-9)
    assert (found["power_net_W"], found["power_baseline_W"]) == pytest.approx((5.0, 3.0))
    assert found["energy_state"] == "resolved"
    # The gain of 5 % is all that is unsure, twice.
    assert found["energy_high_uJ"] / found["energy_uJ"] == pytest.approx(1.098, abs=0.002)


def test_values_that_happen_to_agree_are_no_surer_than_quantum_and_edges_allow() -> None:
    assert one(steady(5.0), gain=0.0)["energy_random_percent"] > 0.01


def test_a_net_power_below_three_times_its_uncertainty_is_inconclusive_and_has_no_joules() -> None:
    found = one(steady(0.02, wander=0.1))
    assert (found["energy_state"], found["energy_uJ"]) == ("inconclusive", None)
    assert "times as many blocks" in found["energy_reason"] or "doesn't see it" in found["energy_reason"]


def test_a_cell_that_draws_less_than_its_baseline_is_inconclusive_and_not_negative() -> None:
    found = one(steady(-0.5))
    assert (found["energy_state"], found["energy_uJ"]) == ("inconclusive", None)


def test_a_block_with_an_error_does_not_count_and_a_cell_without_any_says_why() -> None:
    blocks = steady(5.0).with_columns(error=pl.when(pl.col("cell") == 0).then(pl.lit("it wrapped")))
    found = weighing.estimates(weighing.by_process(blocks, 1.0), 0.05, {0: "it wrapped"}, 2.0).row(0, named=True)
    assert (found["energy_state"], found["energy_reason"], found["energy_uJ"]) == ("failed", "it wrapped", None)


def test_two_processes_are_not_enough() -> None:
    found = one(steady(5.0, processes=2))
    assert found["energy_uJ"] is None
    assert "the least is 3" in found["energy_reason"]


def test_a_steady_drift_falls_on_cell_and_baseline_alike() -> None:
    drifted = steady(5.0).with_columns(
        gross_nJ=pl.col("gross_nJ") + pl.int_range(pl.len()).mod(5).cast(pl.Float64) * 0.5 * 41e6
    )
    assert one(drifted)["energy_uJ"] == pytest.approx(5.0, rel=1e-9)


def test_the_gain_cancels_in_the_ratio_of_two_cells_of_one_meter() -> None:
    rows = [one(steady(power, wander=0.05)) for power in (6.0, 3.0)]
    middle, low, high = weighing.ratio(*rows)
    assert middle == pytest.approx(2.0, rel=0.05)
    assert low < 2.0 < high
    own = [row["energy_high_uJ"] / row["energy_uJ"] for row in rows]
    assert high / middle < min(own)


@pytest.mark.parametrize(("period_ns", "length_ns"), [(1_000_000, 41_000_000), (1_000_000_000, 40_824_829_047)])
def test_a_block_is_the_shortest_whose_edges_leave_one_percent(period_ns: int, length_ns: int) -> None:
    assert weighing.block_length_ns(period_ns, 41_000_000, 1.0) == pytest.approx(length_ns, rel=1e-6)


def test_a_block_holds_five_updates_also_where_the_target_is_coarse() -> None:
    assert weighing.block_length_ns(10**9, 41_000_000, 50.0) == 5 * 10**9


def test_the_window_lies_between_the_middles_of_its_edges() -> None:
    def edge(before: int, after: int) -> dict[str, int]:
        return {"not_before_ns": before, "not_after_ns": after, "counter_nJ": 0, "suspended_ns": 0}

    block = {
        "process": 0,
        "superblock": 0,
        "attempt": 0,
        "cell": 1,
        "calls": 10,
        "run_ns": 100,
        "start": edge(0, 20),
        "end": edge(100, 140),
        "gross_nJ": 5,
        "error": None,
    }
    row = weighing.blocks([block]).row(0, named=True)
    assert row["window_ns"] == 110
    assert row["window_u_ns"] == pytest.approx(math.hypot(20, 40) / math.sqrt(12))


def test_two_cells_that_one_meter_weighed_are_compared_in_joules_without_its_gain() -> None:
    def cell(energy_uJ: float | None) -> pl.DataFrame:
        row = dict.fromkeys(("cipher", *comparison.FACTORS), "x") | dict.fromkeys(comparison.SIDE, None)
        row |= {"state": "resolved", "processes": 5, "deviation": 0.01, "cycles": 100.0, "time_ns": 50.0}
        row |= {"energy_uJ": energy_uJ, "energy_random_percent": 3.0, "reason": None}
        return pl.DataFrame([row], schema_overrides={"energy_uJ": pl.Float64})

    keys = ["cipher", *comparison.FACTORS]
    (row,) = comparison.compare(cell(2.0), cell(3.0), keys).to_dicts()
    assert row["energy_ratio"] == pytest.approx(1.5)
    assert row["energy_ratio_high"] / row["energy_ratio"] == pytest.approx(
        math.exp(math.hypot(*[math.log1p(0.03)] * 2))
    )
    (row,) = comparison.compare(cell(2.0), cell(None), keys).to_dicts()
    assert row["energy_ratio"] is None
