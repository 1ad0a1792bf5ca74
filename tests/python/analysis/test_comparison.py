"""Cases against cases: what an interval of a ratio lets one say."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from wattlock.analysis.comparison import ENERGY, FACTORS, Rules, compare, log_ratio, lost, verdict


@pytest.mark.parametrize(
    ("gap", "half_width", "said"),
    [
        (0.0, 0.001, "equivalent"),
        (0.03, 0.01, "slower"),
        (-0.03, 0.01, "faster"),
        (0.03, 0.04, "undecided"),
        (0.004, 0.003, "equivalent"),
        (0.004, 0.02, "undecided"),
        (0.012, 0.001, "slower"),
        (0.012, 0.003, "undecided"),
        (-0.012, 0.001, "faster"),
        (0.0086, 0.003, "undecided"),
        (0.0086, 0.001, "equivalent"),
    ],
)
def test_a_verdict_follows_from_the_interval(gap: float, half_width: float, said: str) -> None:
    assert verdict(gap, half_width, smallest=0.01) == said


def test_the_interval_of_a_ratio_covers_the_truth_as_often_as_it_says() -> None:
    generator, missed, tries = np.random.default_rng(7), 0, 2000
    for _ in range(tries):
        sides = []
        for mean, deviation, count in ((0.0, 0.002, 5), (0.01, 0.006, 8)):
            drawn = generator.normal(mean, deviation, count)
            sides.append({"log_cost": drawn.mean(), "deviation": drawn.std(ddof=1), "processes": count})
        gap, half_width = log_ratio(*sides)
        missed += abs(gap - 0.01) > half_width
    assert missed / tries < 0.05 + 3 * math.sqrt(0.05 * 0.95 / tries)


def test_the_interval_of_a_ratio_equals_that_of_welch_worked_by_hand() -> None:
    a = {"log_cost": 1.0, "deviation": 0.02, "processes": 5}
    # Two alike: 8 degrees of freedom, t(0.975; 8) = 2.306004.
    gap, half = log_ratio(a, a | {"log_cost": 1.3})
    assert (gap, half) == pytest.approx((0.3, 2.306004 * math.sqrt(2 * 4e-4 / 5)))
    # Variances of 5e-5 and 2.25e-4.
    few = {"log_cost": 0.0, "deviation": 0.01, "processes": 2}
    gap, half = log_ratio(few, {"log_cost": -0.5, "deviation": 0.03, "processes": 4})
    freedom = 2.75e-4**2 / (2.5e-9 + 2.25e-4**2 / 3)
    assert (gap, half) == pytest.approx((-0.5, stats.t.ppf(0.975, freedom) * math.sqrt(2.75e-4)))
    assert log_ratio(a | {"deviation": 0.0}, a | {"deviation": 0.0, "log_cost": 3.0}) == (2.0, 0.0)


def test_a_difference_of_a_bound_itself_is_the_same_and_is_not_claimed() -> None:
    bound = math.log1p(0.01)
    assert verdict(bound, 0.0, smallest=0.01) == "equivalent"
    assert verdict(bound / 2, bound / 2, smallest=0.01) == "equivalent"
    assert verdict(bound, 0.0, smallest=0.01, has_equivalence=False) == "undecided"
    assert verdict(-0.25, 0.25, smallest=0.01) == "undecided"
    assert (verdict(0.25, 0.2401, 0.01), verdict(-0.25, 0.2401, 0.01)) == ("undecided", "undecided")
    assert (verdict(0.25, 0.23, 0.01), verdict(-0.25, 0.23, 0.01)) == ("slower", "faster")


def test_a_verdict_is_the_place_of_the_whole_interval_and_noise_only_undecides() -> None:
    generator = np.random.default_rng(5)
    for gap, half_width, share in zip(
        generator.normal(0, 0.02, 3000),
        generator.exponential(0.008, 3000),
        generator.uniform(0, 0.05, 3000),
        strict=True,
    ):
        low, high, margin = gap - half_width, gap + half_width, math.log1p(share)
        places = {"slower": low > margin, "faster": high < -margin, "equivalent": -margin <= low and high <= margin}
        (described,) = [name for name, holds in places.items() if holds] or ["undecided"]
        assert verdict(gap, half_width, share) == described
        assert verdict(gap, half_width * 2 + 1e-4, share) in {described, "undecided"}


KEYS = ["cipher", *FACTORS]


def cases(*changes: dict[str, Any]) -> pl.DataFrame:
    """Cases of 100 cycles each, with what is changed in them."""
    every: dict[str, Any] = dict.fromkeys(FACTORS, "x") | {"payload_B": 64, "aad_B": None, "cipher": "c"}
    every |= {"provider": "p", "version": "1", "path": "fixsliced", "of": None, "state": "resolved", "processes": 5}
    every |= {
        "deviation": 0.01,
        "cycles": 100.0,
        "cycles_per_byte": 2.0,
        "time_ns": 40.0,
        "reason": None,
        "core_class": None,
    }
    kinds = {"deviation": pl.Float64, "cycles": pl.Float64, "reason": pl.String, "aad_B": pl.Int64}
    return pl.DataFrame([every | change for change in changes], schema_overrides=kinds)


def test_cases_that_agree_in_all_keys_are_compared_in_cycles_with_what_each_is() -> None:
    a = cases({}, {"cipher": "d"}, {"cipher": "e"})
    b = cases({"cipher": "e"}, {"cycles": 150.0, "time_ns": 10.0, "provider": "q", "processes": 5}, {"payload_B": 1})
    first, second = compare(a, b, KEYS).to_dicts()
    assert (first["cipher"], second["cipher"]) == ("c", "e")
    assert (first["provider_a"], first["provider_b"]) == ("p", "q")
    assert (first["time_ns_a"], first["time_ns_b"], first["payload_B"]) == (40, 10, 64)
    half = 2.306004 * math.sqrt(2 * 1e-4 / 5)
    assert Rules().smallest == 0.005
    assert (first["ratio"], first["ratio_low"], first["ratio_high"]) == pytest.approx(
        (1.5, 1.5 * math.exp(-half), 1.5 * math.exp(half))
    )
    assert (first["verdict"], first["reason"]) == ("slower", None)
    assert (second["ratio"], second["verdict"], second["reason"]) == (
        1,
        "undecided",
        "the interval holds an end of the margin",
    )
    assert compare(b, a, KEYS)["ratio"].to_list() == pytest.approx([1, 1 / 1.5])


@pytest.mark.parametrize("side", [0, 1])
def test_a_pair_of_which_one_side_has_no_cycles_is_compared_in_times(side: int) -> None:
    pair: list[dict[str, Any]] = [{"time_ns": 40.0}, {"time_ns": 30.0, "cycles": 900.0}]
    pair[side] = pair[side] | {"cycles": None}
    (row,) = compare(cases(pair[0]), cases(pair[1]), KEYS).to_dicts()
    assert row["ratio"] == pytest.approx(0.75)
    assert row["verdict"] == "faster"


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"state": "failed", "reason": "no such key"}, "no such key"),
        ({"state": "invalid", "reason": "bent"}, "bent"),
        ({"processes": 1}, "1 complete processes"),
        ({"processes": 0, "deviation": None, "cycles": None}, "0 complete processes"),
        ({"deviation": None}, "5 complete processes"),
    ],
)
def test_a_pair_of_which_one_side_says_nothing_has_no_ratio_and_the_reason(
    side: int, change: dict[str, Any], why: str
) -> None:
    pair: list[dict[str, Any]] = [{}, {}]
    pair[side] = change | {"provider": "other"}
    (row,) = compare(cases(pair[0]), cases(pair[1]), KEYS).to_dicts()
    assert (row["verdict"], row["reason"]) == ("undecided", f"other: {why}")
    assert [row[name] for name in ("ratio", "ratio_low", "ratio_high")] == [None] * 3


def test_two_processes_on_each_side_have_a_ratio() -> None:
    (row,) = compare(cases({"processes": 2}), cases({"processes": 2, "state": "unresolved"}), KEYS).to_dicts()
    # t(0.975; 2) = 4.302653.
    assert row["ratio_high"] == pytest.approx(math.exp(4.302653 * 0.01))


def test_energies_are_compared_only_where_both_have_one() -> None:
    metered, not_weighed = ({"energy_uJ": value, "energy_random_percent": 3.0} for value in (2.0, None))
    for pair in ((metered, not_weighed), (not_weighed, metered)):
        a, b = (cases(one).with_columns(pl.col("energy_uJ").cast(pl.Float64)) for one in pair)
        (row,) = compare(a, b, KEYS).to_dicts()
        assert [row[name] for name in ENERGY] == [None] * 3
    (row,) = compare(cases(metered), cases(metered | {"energy_uJ": 5.0}), KEYS).to_dicts()
    half = math.log(1.03) * math.sqrt(2)
    assert [row[name] for name in ENERGY] == pytest.approx([2.5, 2.5 * math.exp(-half), 2.5 * math.exp(half)])
    assert row["energy_verdict"] == "more"


def test_the_interval_of_joules_of_two_meters_holds_both_gains() -> None:
    def metered(middle: float, spread: float) -> pl.DataFrame:
        ends = {"energy_low_uJ": middle / spread, "energy_high_uJ": middle * spread}
        return cases({"energy_uJ": middle, "energy_random_percent": 0.1} | ends)

    (row,) = compare(metered(2.0, 1.1), metered(1.0, 1.2), KEYS, Rules(one_meter=False)).to_dicts()
    half = math.hypot(math.log(1.1), math.log(1.2))
    assert [row[name] for name in ENERGY] == pytest.approx([0.5, 0.5 * math.exp(-half), 0.5 * math.exp(half)])
    assert row["energy_verdict"] == "less"
    (row,) = compare(metered(2.0, 1.1), metered(1.0, 3.0), KEYS, Rules(one_meter=False)).to_dicts()
    assert row["energy_verdict"] == "undecided"
    without_a_lower_end = metered(1.0, 3.0).with_columns(energy_low_uJ=pl.lit(0.0))
    (row,) = compare(metered(2.0, 1.1), without_a_lower_end, KEYS, Rules(one_meter=False)).to_dicts()
    assert [row[name] for name in (*ENERGY, "energy_verdict")] == [None] * 4


def test_times_are_compared_where_they_are_requested_and_cycles_are_there() -> None:
    a, b = cases({"time_ns": 40.0}), cases({"time_ns": 20.0, "cycles": 300.0})
    found = [compare(a, b, KEYS, Rules(quantity=quantity)).row(0, named=True) for quantity in ("cycles", "time")]
    assert [(row["quantity"], row["verdict"]) for row in found] == [("cycles", "slower"), ("time", "faster")]
    assert [row["ratio"] for row in found] == pytest.approx([3.0, 0.5])


def test_a_case_is_lost_where_its_like_has_no_number_and_had_one() -> None:
    a = cases(*({"cipher": name} for name in "abcd"), {"cipher": "e", "state": "failed"})
    b = cases({"cipher": "a"}, {"cipher": "b", "state": "failed"}, {"cipher": "c", "state": "unresolved"})
    assert lost(a, b, KEYS)["cipher"].to_list() == ["b", "d"]
    assert lost(a, cases({"cipher": "a", "state": "invalid"}), KEYS)["cipher"].to_list() == ["a", "b", "c", "d"]


def test_no_cases_make_an_empty_comparison_of_the_same_columns() -> None:
    found = compare(cases({}), cases({"cipher": "another"}), KEYS)
    assert found.is_empty()
    assert found.columns == compare(cases({}), cases({}), KEYS).columns
