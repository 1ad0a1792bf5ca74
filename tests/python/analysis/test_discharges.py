"""Falls of made-up batteries whose truth is known."""

import math
from typing import Any

import pytest

from wattlock.analysis.discharges import FullCharge, curves, discharges

GAUGE = {"quantum_nJ": 3.6e10, "gain_relative_uncertainty": 0.0, "update_period_ns": 1_000_000_000}


def line(process: int, second: int, calls: int, percent: int | None, **described: Any) -> dict[str, Any]:
    empty = {"energy_nJ": None, "charge_uAh": None, "voltage_uV": None, "error": None}
    at = {"process": process, "case": 0, "unix_ns": second * 1_000_000_000}
    return {**empty, **at, "repeats_done": calls, "level_percent": percent, **described}


def only(levels: list[dict[str, Any]]) -> dict[str, Any]:
    rows = discharges(levels, GAUGE)
    assert rows.height == 1
    return rows.row(0, named=True)


def test_what_was_charged_between_two_parts_does_not_enter() -> None:
    row = only(
        [
            line(5, 0, 0, 90, energy_nJ=900 * 10**12),
            line(5, 1000, 100, 60, energy_nJ=600 * 10**12),
            # Charged, and begun anew.
            line(6, 9000, 100, 100, energy_nJ=1000 * 10**12),
            line(6, 9500, 150, 85, energy_nJ=850 * 10**12),
        ]
    )
    assert (row["calls"], row["drawn_percent"], row["energy_uJ"]) == (150, 45.0, 450e9 / 150)
    assert row["hours"] == pytest.approx(1500 / 3600)
    assert row["energy_low_uJ"] < row["energy_uJ"] < row["energy_high_uJ"]


def test_a_line_that_tells_why_a_part_ended_is_no_end_of_the_part() -> None:
    row = only([line(1, 0, 0, 90), line(1, 60, 40, 80), line(1, 70, 50, 81, error="the battery is not discharging")])
    assert (row["calls"], row["drawn_percent"]) == (40, 10.0)


def test_charge_and_voltage_make_joules_where_the_battery_counts_none() -> None:
    # 0.1 Ah at a mean of 3.8 V.
    row = only(
        [
            line(1, 0, 0, 90, charge_uAh=900_000, voltage_uV=4_000_000),
            line(1, 600, 10, 80, charge_uAh=800_000, voltage_uV=3_600_000),
        ]
    )
    assert row["energy_uJ"] == pytest.approx(0.1 * 3600 * 3.8 / 10 * 1e6)


def test_a_level_alone_gives_calls_per_percent_and_no_joules() -> None:
    row = only([line(1, 0, 0, 90), line(1, 60, 400, 80)])
    assert (row["calls_per_percent"], row["energy_uJ"], row["state"]) == (40.0, None, "resolved")
    assert "no joules" in row["reason"]


def test_a_level_alone_and_what_is_full_give_joules_as_sure_as_step_gauge_and_card() -> None:
    levels = [line(1, 0, 0, 90), line(1, 3600, 400, 80)]
    gauge = LAW | {"gain_relative_uncertainty": 0.03}
    row = discharges(levels, gauge, FullCharge(36_000, 0.04, "assumed")).row(0, named=True)
    assert row["energy_uJ"] == pytest.approx(3600 / 400 * 1e6)
    assert (row["state"], row["reason"], row["energy_evidence"]) == ("resolved", None, "assumed")
    assert relative(row) == pytest.approx(math.hypot(0.03, 0.04, 0.1 / math.sqrt(6)))


def test_what_a_gauge_counts_is_measured_whatever_a_card_says() -> None:
    levels = parts_of((100, 60))
    by_card = discharges(levels, LAW, FullCharge(1.0, 0.5, "assumed")).row(0, named=True)
    assert by_card == of_law(levels)
    assert by_card["energy_evidence"] == "measured"


def test_a_level_that_fell_by_four_percent_has_no_joules_by_a_card_either() -> None:
    row = discharges([line(1, 0, 0, 84), line(1, 60, 400, 80)], LAW, FullCharge(36_000, 0.04, "modelled")).row(
        0, named=True
    )
    assert (row["state"], row["energy_uJ"], row["energy_evidence"]) == ("inconclusive", None, None)


@pytest.mark.parametrize("discharged", [0, 4])
def test_fewer_than_five_steps_are_inconclusive_and_never_zero_joules(discharged: int) -> None:
    drawn = int(discharged * GAUGE["quantum_nJ"])
    row = only([line(1, 0, 0, 90, energy_nJ=10**15), line(1, 60, 400, 90, energy_nJ=10**15 - drawn)])
    assert (row["state"], row["energy_uJ"]) == ("inconclusive", None)
    assert "5 are the least" in row["reason"]


def test_the_curve_is_the_log_line_by_line() -> None:
    drawn = curves([line(1, 0, 0, 90), line(1, 60, 400, 80), line(1, 90, 500, None)], {0: ("des-cbc", 4096)})
    assert drawn["operations"].to_list() == [0, 400]
    assert drawn["level_percent"].to_list() == [90.0, 80.0]


JOULE_nJ = 10**9
LAW = {"quantum_nJ": 2 * JOULE_nJ, "gain_relative_uncertainty": 0.0, "update_period_ns": 0}


def of_law(levels: list[dict[str, Any]], **changed: float) -> dict[str, Any]:
    """The only row of these lines by a gauge in steps of 2 J, which is sure of the rest."""
    return discharges(levels, LAW | changed).row(0, named=True)


def parts_of(*joules: tuple[float, float], hours: int = 1) -> list[dict[str, Any]]:
    """Parts of a fall that last so long, of a call a second each."""
    second = hours * 3600
    return [
        line(number, number * 10**6 + at * second, at * second, None, energy_nJ=int(ends[at] * JOULE_nJ))
        for number, ends in enumerate(joules)
        for at in (0, 1)
    ]


def relative(row: dict[str, Any]) -> float:
    """The standard uncertainty that an interval tells of, both of whose ends lie as far off by their ratio."""
    assert row["energy_high_uJ"] / row["energy_uJ"] == pytest.approx(row["energy_uJ"] / row["energy_low_uJ"])
    return math.expm1(math.log(row["energy_high_uJ"] / row["energy_uJ"]) / 1.959964)


def test_each_cause_of_doubt_in_a_fall_has_its_own_size() -> None:
    one, two = parts_of((1000, 900)), parts_of((1000, 950), (990, 940))
    # A step of 2 of 100 J, over the root of six; twice as much in squares for two parts.
    assert relative(of_law(one)) == pytest.approx(0.02 / math.sqrt(6))
    assert relative(of_law(two)) == pytest.approx(0.02 / math.sqrt(3))
    fine = {"quantum_nJ": 1e-6}
    # An update of 6 minutes in an hour, and in two parts of an hour each.
    assert relative(of_law(one, update_period_ns=360e9, **fine)) == pytest.approx(0.1 / math.sqrt(6))
    assert relative(of_law(two, update_period_ns=360e9, **fine)) == pytest.approx(0.05 / math.sqrt(3))
    assert relative(of_law(two, gain_relative_uncertainty=0.03, **fine)) == pytest.approx(0.03)
    joined = math.hypot(0.02 / math.sqrt(3), 0.05 / math.sqrt(3), 0.03)
    assert relative(of_law(two, update_period_ns=360e9, gain_relative_uncertainty=0.03)) == pytest.approx(joined)


def test_a_fall_of_two_parts_is_told_from_its_first_line_to_its_last() -> None:
    levels = [line(1, 0, 0, 90), line(1, 1800, 40, 80), line(2, 7200, 40, 95), line(2, 9000, 90, 60)]
    row = of_law(levels)
    assert (row["from_percent"], row["to_percent"], row["drawn_percent"]) == (90, 60, 45)
    assert row["drawn_percent_half_width"] == pytest.approx(1.959964 / math.sqrt(3))
    assert (row["hours"], row["calls"], row["calls_per_percent"]) == (1.0, 90, 2.0)
    assert [row[f"energy{side}_uJ"] for side in ("", "_low", "_high")] == [None] * 3


def test_five_steps_are_enough_and_a_little_less_is_not() -> None:
    enough, less = of_law(parts_of((100, 90))), of_law(parts_of((100, 90.1)))
    assert (enough["state"], enough["reason"]) == ("resolved", None)
    assert enough["energy_uJ"] == pytest.approx(10 / 3600 * 1e6)
    assert less["state"] == "inconclusive"
    assert less["reason"].startswith("the gauge fell by 4.95 steps; 5 are the least")


@pytest.mark.parametrize(
    ("levels", "described"),
    [
        ([line(1, 0, 0, 90), line(1, 60, 40, 86)], "4 steps"),
        ([line(1, 0, 0, 80), line(1, 60, 40, 90)], "0 steps"),
        ([line(1, 0, 0, None), line(1, 60, 40, 50)], "nothing"),
        ([line(1, 0, 0, 90), line(1, 60, 0, 50)], "40 steps"),
    ],
)
def test_a_fall_that_is_too_small_is_told_in_steps(levels: list[dict[str, Any]], described: str) -> None:
    row = of_law(levels)
    assert (row["state"], row["calls_per_percent"], row["energy_uJ"]) == ("inconclusive", None, None)
    assert row["reason"].startswith(f"the gauge fell by {described};")


def test_a_battery_that_counts_joules_and_no_percents_has_joules_alone() -> None:
    row = of_law(parts_of((100, 50)))
    assert (row["state"], row["calls_per_percent"], row["drawn_percent"]) == ("resolved", None, None)
    assert row["drawn_percent_half_width"] is None


def test_charges_are_summed_from_line_to_line_each_by_its_own_voltage() -> None:
    charges, volts = (9_000, 8_000, 5_000), (5, 3, 1)
    levels = [
        line(1, 600 * at, 10 * at, 90, charge_uAh=charge, voltage_uV=volt * 10**6)
        for at, (charge, volt) in enumerate(zip(charges, volts, strict=True))
    ]
    # 1 mAh at 4 V and 3 mAh at 2 V: 10 mWh, which are 36 J.
    assert of_law(levels)["energy_uJ"] == pytest.approx(36e6 / 20, rel=1e-12)
    for key in ("charge_uAh", "voltage_uV"):
        row = of_law([levels[0], levels[1] | {key: None}, levels[2]])
        assert (row["energy_uJ"], row["state"]) == (None, "inconclusive")


def test_cases_are_told_in_their_order_and_lines_in_that_of_their_time() -> None:
    second = [one | {"case": 7} for one in parts_of((100, 50))]
    levels = [*second, *reversed(parts_of((100, 80)))]
    found = discharges(levels, LAW)
    assert found["case"].to_list() == [0, 7]
    assert found["energy_uJ"].to_list() == pytest.approx([20e6 / 3600, 50e6 / 3600])
    assert discharges([], LAW).is_empty()


def test_curves_name_each_line_by_its_case() -> None:
    levels = [line(1, 0, 0, 90), line(1, 5, 9, 80) | {"case": 1}]
    found = curves(levels, {0: ("des-cbc", 64), 1: ("aes128-cbc", 1)})
    assert found.rows() == [("des-cbc", 64, 0, 90.0, "measured"), ("aes128-cbc", 1, 9, 80.0, "measured")]
