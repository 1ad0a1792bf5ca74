"""Joules from blocks: simulated loads whose truth is known, drawn from the meters' own uncertainty laws."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from wattlock.analysis import comparison, energy_blocks
from wattlock.run.metering import LEAST_POWER_W, MeterChoice, block_length_ns, describe, least_s
from wattlock.targets import local, probe
from wattlock.targets.local import Local

LOADS = 200
"""For each of the five meters: a thousand in all."""

WANDER = {"powercap": 0.01, "perf": 0.02, "battery": 0.01, "hwmon": 0.02, "ppk2": 0.01}
"""How far the power itself goes from block to block."""

TREE = {
    "class/powercap/intel-rapl:0/name": "package-0",
    "class/powercap/intel-rapl:0/energy_uj": "1",
    "devices/power/type": "21",
    "devices/power/cpumask": "0",
    "devices/power/events/energy-pkg": "event=0x02",
    "devices/power/events/energy-pkg.scale": "2.3283064365386962890625e-10",
    "devices/power/events/energy-pkg.unit": "Joules",
    "class/power_supply/BAT0/type": "Battery",
    "class/power_supply/BAT0/status": "Discharging",
    "class/power_supply/BAT0/energy_now": "50000000",
    "class/hwmon/hwmon0/name": "ina3221",
    "class/hwmon/hwmon0/in1_input": "5000",
    "class/hwmon/hwmon0/curr1_input": "600",
}
"""A made-up machine with one meter of each kind that is files."""


def ppk2_recording() -> bytes:
    """A second of 600 mA, give or take one step of the converter, in the coarsest range of 0.043 ohm."""
    one = {"R": 0.043, "GS": 0, "GI": 1, "O": 0, "S": 0, "I": 0, "UG": 1}
    ranges = "".join(f"{name}{at}: {value}\n" for at in range(5) for name, value in one.items())
    at = np.arange(100_000, dtype="<u4")
    words = (587 + at % 2) | 4 << 14 | (at % 64) << 18
    return f"{ranges}mode: 1\nEND\n".encode() + words.astype("<u4").tobytes()


@pytest.fixture(scope="module")
def laws(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What the probe says of a meter of each kind: quantum, update period, gain."""
    root = tmp_path_factory.mktemp("sys")
    for name, text in TREE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text + "\n")
    rows = probe.ask(local.find(), "meters", "--format", "json", "--sys-root", str(root))
    recording = root / "ppk2.bin"
    recording.write_bytes(ppk2_recording())
    stream = describe(local.find(), MeterChoice("ppk2:3300mV", stream=recording))
    return {row["kind"]: row for row in (*rows, stream)}


def simulated(
    law: dict[str, Any], wander: float, loads: int, seed: int
) -> tuple[pl.DataFrame, np.ndarray[Any, np.dtype[np.float64]]]:
    """Blocks of so many loads, a case each, and the net nanojoules of one call in truth."""
    draw = np.random.default_rng(seed)
    least_ns = block_length_ns(law)
    period_ns, quantum_nJ = law["update_period_ns"], law["quantum_nJ"]
    rows, truths = [], []
    for load in range(loads):
        idle_W, net_W, call_ns = draw.uniform(1, 4), draw.uniform(0.5, 8), draw.uniform(100, 1e6)
        gain = 1 + law["gain_relative_uncertainty"] * draw.standard_normal()
        truths.append(net_W * call_ns)
        drift = draw.uniform(-0.02, 0.02)
        for process in range(8):
            for place, case in enumerate([None, load, None, load, None]):
                window = least_ns + draw.uniform(0, period_ns)
                power = idle_W + (net_W if case is not None else 0.0)
                power = power * (1 + wander * draw.standard_normal()) + drift * place
                width = period_ns / 20
                seen = window + draw.uniform(-width / 2, width / 2) + draw.uniform(-width / 2, width / 2)
                energy = power * window * gain
                start = draw.uniform(0, quantum_nJ)
                counted = math.floor((start + energy) / quantum_nJ) * quantum_nJ
                uncertainty = width * math.sqrt(2 / 12)
                run = window + width
                rows.append(
                    (load * 8 + process, 0, 0, case, run / call_ns, run, seen, uncertainty, float(counted), None, None)
                )
    return pl.DataFrame(rows, schema=energy_blocks.BLOCK_COLUMNS, orient="row"), np.array(truths)


def test_intervals_of_a_thousand_simulated_loads_hold_their_truths_and_are_not_much_wider_than_they_need_be(
    laws: dict[str, dict[str, Any]],
) -> None:
    held: list[bool] = []
    assert laws.keys() == WANDER.keys()
    for seed, (name, wander) in enumerate(WANDER.items()):
        law = laws[name]
        blocks, truths = simulated(law, wander, LOADS, seed)
        processes = energy_blocks.by_process(blocks, law["quantum_nJ"])
        found = energy_blocks.by_case(processes, law["gain_relative_uncertainty"], {}, 2.0)
        assert found["energy_uJ"].null_count() < LOADS / 20, name
        known = found.filter(pl.col("energy_uJ").is_not_null())
        truth = truths[known["case"].to_numpy()] / 1e3
        low, middle, high = (known[f"energy{side}_uJ"].to_numpy() for side in ("_low", "", "_high"))
        inside = (low <= truth) & (truth <= high)
        assert inside.mean() >= 0.90, f"{name}: {inside.mean():.1%}"
        held.extend(inside)
        exact = np.diff(np.quantile(middle / truth, [0.025, 0.975]))[0]
        width = np.median((high - low) / truth)
        assert width <= 1.3 * exact, f"{name}: {width:.4f} and {exact:.4f}"
    assert np.mean(held) >= 0.93


def steady(net_W: float, wander: float = 0.0, processes: int = 8, first_case: int = 0) -> pl.DataFrame:
    """Blocks of one case on a steady load over 3 W, a call a microsecond."""
    draw = np.random.default_rng(7)
    rows = []
    for process in range(processes):
        for case in (None, first_case, None, first_case, None):
            power = 3.0 + (net_W if case is not None else 0.0) + wander * draw.standard_normal()
            gross = power * 41e6
            rows.append((process, 0, 0, case, 41e3, 41e6, 41e6, 1e4, float(gross), None, None))
    return pl.DataFrame(rows, schema=energy_blocks.BLOCK_COLUMNS, orient="row")


def one(blocks: pl.DataFrame, gain: float = 0.05) -> dict[str, Any]:
    return energy_blocks.by_case(energy_blocks.by_process(blocks, 61_035.0), gain, {}, 2.0).row(0, named=True)


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


def test_the_joules_of_a_case_begin_at_three_standard_uncertainties() -> None:
    def state(known_u_nJ: float) -> str:
        numbers = {"net_nJ": 100.0, "gross_nJ": 400.0, "baseline_W": 3.0, "net_W": 1.0, "known_u_nJ": known_u_nJ}
        numbers["alignment_u_nJ"] = 0.0
        rows = [{"process": process, "case": 0, **numbers} for process in range(4)]
        return str(energy_blocks.by_case(pl.DataFrame(rows), 0.0, {}, 1000.0)["energy_state"][0])

    # The mean of four has half the uncertainty of one: 2.9 of them, and 3.1.
    assert (state(2 * 100 / 2.9), state(2 * 100 / 3.1)) == ("inconclusive", "resolved")


def test_what_the_quantum_leaves_unsure_is_a_triangles_of_two_readings() -> None:
    quantum_nJ, window_ns, call_ns = 6e6, 41e6, 1e3
    blocks = steady(5.0, processes=1).with_columns(window_u_ns=pl.lit(0.0))
    (known_u_nJ,) = energy_blocks.by_process(blocks, quantum_nJ)["known_u_nJ"]
    # Variance of a difference of two readings: q^2 / 6. Two blocks of the case stand over three of the baseline.
    power_u_W = math.sqrt(quantum_nJ**2 / 6) / window_ns
    assert known_u_nJ == pytest.approx(call_ns * power_u_W * math.sqrt(1 / 2 + 1 / 3), rel=1e-12)


def test_a_case_that_draws_less_than_its_baseline_is_inconclusive_and_not_negative() -> None:
    found = one(steady(-0.5))
    assert (found["energy_state"], found["energy_uJ"]) == ("inconclusive", None)


def test_a_block_with_an_error_does_not_count_and_a_case_without_any_says_why() -> None:
    blocks = steady(5.0).with_columns(error=pl.when(pl.col("case") == 0).then(pl.lit("it wrapped")))
    found = energy_blocks.by_case(energy_blocks.by_process(blocks, 1.0), 0.05, {0: "it wrapped"}, 2.0).row(
        0, named=True
    )
    assert (found["energy_state"], found["energy_reason"], found["energy_uJ"]) == ("failed", "it wrapped", None)


def test_two_processes_are_not_enough() -> None:
    found = one(steady(5.0, processes=2))
    assert found["energy_uJ"] is None
    assert "the least is 3" in found["energy_reason"]


def test_a_steady_drift_falls_on_case_and_baseline_alike() -> None:
    drifted = steady(5.0).with_columns(
        gross_nJ=pl.col("gross_nJ") + pl.int_range(pl.len()).mod(5).cast(pl.Float64) * 0.5 * 41e6
    )
    assert one(drifted)["energy_uJ"] == pytest.approx(5.0, rel=1e-9)


def test_the_gain_cancels_in_the_ratio_of_two_cases_of_one_meter() -> None:
    rows = [one(steady(power, wander=0.05)) for power in (6.0, 3.0)]
    middle, low, high = energy_blocks.ratio(*rows)
    assert middle == pytest.approx(2.0, rel=0.05)
    assert low < 2.0 < high
    own = [row["energy_high_uJ"] / row["energy_uJ"] for row in rows]
    assert high / middle < min(own)


@pytest.mark.parametrize(
    ("period_ns", "quantum_nJ", "length_ns"),
    [(10**6, 61_035.0, 41_000_000), (10**9, 0.0, 40_824_829_047), (10**9, 36e9, 296_760_285_000)],
)
def test_a_block_is_the_shortest_whose_edges_and_quantum_leave_one_percent(
    period_ns: int, quantum_nJ: float, length_ns: int
) -> None:
    found = energy_blocks.block_length_ns(period_ns, quantum_nJ, 5.0, 41_000_000, 1.0)
    assert found == pytest.approx(length_ns, rel=1e-5)


def test_what_a_block_of_a_battery_leaves_of_its_stated_power_is_what_is_said(laws: dict[str, dict[str, Any]]) -> None:
    battery = laws["battery"]
    window_ns = block_length_ns(battery)
    u_edges = battery["update_period_ns"] / math.sqrt(6) / window_ns
    u_quantum = battery["quantum_nJ"] / math.sqrt(6) / (LEAST_POWER_W * window_ns)
    assert math.hypot(u_edges, u_quantum) == pytest.approx(0.01, rel=1e-6)


def test_energy_by_a_battery_is_known_to_take_hours_and_by_a_counter_seconds(laws: dict[str, dict[str, Any]]) -> None:
    assert least_s(laws["battery"], 1) == pytest.approx(8 * 5 * 296.76, rel=1e-4)
    assert least_s(laws["powercap"], 20) == pytest.approx(8 * 43 * 0.041)


def test_the_processor_that_weighs_is_in_the_package_of_the_one_that_the_meter_was_asked_for(tmp_path: Path) -> None:
    for cpu, package in enumerate("0101"):
        folder = tmp_path / f"devices/system/cpu/cpu{cpu}/topology"
        folder.mkdir(parents=True)
        (folder / "physical_package_id").write_text(f"{package}\n")
    choice, here = MeterChoice("powercap:package-1", sys_root=tmp_path, cpu=3), Local(Path("no-probe"))
    assert choice.processor(here, [2, 1, 0, 3]) == 1
    assert choice.processor(here, [2, 0]) == 3
    assert MeterChoice("powercap", sys_root=tmp_path).processor(here, [2, 0]) == 2


def test_a_block_holds_five_updates_also_where_the_target_is_coarse() -> None:
    assert energy_blocks.block_length_ns(10**9, 0.0, 5.0, 41_000_000, 50.0) == 5 * 10**9


def test_the_window_lies_between_the_middles_of_its_edges() -> None:
    def edge(before: int, after: int) -> dict[str, int]:
        return {"not_before_ns": before, "not_after_ns": after, "counter_nJ": 0, "suspended_ns": 0}

    block = {
        "process": 0,
        "superblock": 0,
        "attempt": 0,
        "case": 1,
        "calls": 10,
        "run_ns": 100,
        "start": edge(0, 20),
        "end": edge(100, 140),
        "gross_nJ": 5,
        "error": None,
    }
    row = energy_blocks.blocks([block]).row(0, named=True)
    assert row["window_ns"] == 110
    assert row["window_u_ns"] == pytest.approx(math.hypot(20, 40) / math.sqrt(12))


def test_two_cases_that_one_meter_weighed_are_compared_in_joules_without_its_gain() -> None:
    def case(energy_uJ: float | None) -> pl.DataFrame:
        row = dict.fromkeys(("cipher", *comparison.FACTORS), "x") | dict.fromkeys(comparison.SIDE, None)
        row |= {"state": "resolved", "processes": 5, "deviation": 0.01, "cycles": 100.0, "time_ns": 50.0}
        row |= {"energy_uJ": energy_uJ, "energy_random_percent": 3.0, "reason": None}
        return pl.DataFrame([row], schema_overrides={"energy_uJ": pl.Float64})

    keys = ["cipher", *comparison.FACTORS]
    (row,) = comparison.compare(case(2.0), case(3.0), keys).to_dicts()
    assert row["energy_ratio"] == pytest.approx(1.5)
    assert row["energy_ratio_high"] / row["energy_ratio"] == pytest.approx(
        math.exp(math.hypot(*[math.log1p(0.03)] * 2))
    )
    (row,) = comparison.compare(case(2.0), case(None), keys).to_dicts()
    assert row["energy_ratio"] is None
