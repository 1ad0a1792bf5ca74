"""How batteries empty: known answers of the four models, laws of lifetimes, and the tasks of a run."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad, solve_ivp

from support.batteries import CELL, by_hand, case, certain, plan
from wattlock import cli
from wattlock.energy import battery_cards, tasks
from wattlock.energy.battery_cards import (
    Model,
    Surroundings,
    Tremblay,
    kibam_s,
    linear_s,
    peukert_s,
    with_self_discharge,
)
from wattlock.energy.number import YEAR_s
from wattlock.errors import EvidenceError, InputError

MINUTE_s = 60.0
# Panasonic CGR18650DA as ns-3.44 has it.
NS3 = Tremblay.from_points(
    capacity_Ah=2.33,
    resistance_ohm=0.083,
    typical_A=0.466,
    full_V=4.17,
    exponential=(1.74, 3.714),
    nominal=(2.14, 3.57),
)


@pytest.mark.parametrize(
    ("capacity_A_min", "current_A", "minutes"),
    [(5.5, 0.25, 4.53), (5.5, 0.5, 2.02), (11.0, 0.25, 12.16), (11.0, 0.5, 4.53)],
)
def test_kibam_gives_the_lifetimes_quoted_from_jongerden_and_others(
    capacity_A_min: float, current_A: float, minutes: float
) -> None:
    # Jongerden, Bohnenkamp, Haverkort and Katoen, DSN 2009, as quoted: batteries B1 and B2, loads CL 250 and CL 500.
    life_s = kibam_s(capacity_A_min * MINUTE_s, current_A, 0.166, 0.122 / MINUTE_s)
    assert float(life_s) / MINUTE_s == pytest.approx(minutes, abs=0.006)


def test_kibam_gives_91_minutes_for_the_cell_of_cloth_and_others() -> None:
    # Cloth, Jongerden and Haverkort, DSN 2007: 7200 A s, c = 0.625, k = 4.5e-5 / s, 0.96 A without a break, as quoted.
    c = 0.625
    assert float(kibam_s(7200.0, 0.96, c, 4.5e-5 / (c * (1 - c)))) / MINUTE_s == pytest.approx(91, abs=0.5)


def kibam_available_C(time_s: Any, capacity_C: Any, current_A: Any, available_share: Any, exchange_per_s: Any) -> float:
    """Coulombs in the available well after `time_s` of a constant load; negative where it was empty before."""
    height = (1.0 - np.exp(-exchange_per_s * np.asarray(time_s))) * current_A / (available_share * exchange_per_s)
    left = capacity_C - current_A * np.asarray(time_s)
    return float(available_share * left - available_share * (1.0 - available_share) * height)


@given(
    capacity_C=st.floats(100, 20_000),
    hours=st.floats(0.05, 100),
    share=st.floats(0.05, 0.95),
    exchange=st.floats(1e-6, 1e-1),
)
def test_kibams_closed_form_empties_the_available_well(
    capacity_C: float, hours: float, share: float, exchange: float
) -> None:
    current_A = capacity_C / (hours * 3600)
    life_s = kibam_s(capacity_C, current_A, share, exchange)
    left = kibam_available_C(life_s, capacity_C, current_A, share, exchange)
    assert left == pytest.approx(0, abs=1e-6 * capacity_C)
    assert share * 0.999 <= float(life_s) * current_A / capacity_C <= 1.001


def test_kibams_closed_form_agrees_with_an_ode_solver() -> None:
    capacity_C, current_A, c, exchange = 330.0, 0.4, 0.166, 0.122 / MINUTE_s
    k = exchange * c * (1 - c)

    def flow(_: float, wells: Any) -> Any:
        over = k * (wells[1] / (1 - c) - wells[0] / c)
        return [over - current_A, -over]

    def empty(_: float, wells: Any) -> float:
        return float(wells[0])

    empty.terminal = True  # type: ignore[attr-defined]
    path = solve_ivp(flow, (0, 1e4), [c * capacity_C, (1 - c) * capacity_C], events=empty, rtol=1e-10, atol=1e-10)
    assert float(kibam_s(capacity_C, current_A, c, exchange)) == pytest.approx(path.t[-1], rel=1e-7)
    middle = path.t[-1] / 2
    at_middle = float(np.interp(middle, path.t, path.y[0]))
    assert kibam_available_C(middle, capacity_C, current_A, c, exchange) == pytest.approx(at_middle, rel=1e-2)


def test_tremblay_passes_through_the_full_and_the_nominal_point() -> None:
    assert float(NS3.voltage_V(0.0, 0.466, settled_A=0.0)) == pytest.approx(4.17, abs=1e-12)
    assert float(NS3.voltage_V(2.14, 0.466)) == pytest.approx(3.57, abs=1e-12)


def test_tremblay_misses_the_exponential_point_by_less_than_20_mV() -> None:
    assert float(NS3.voltage_V(1.74, 0.466)) == pytest.approx(3.714, abs=0.02)


def test_tremblay_falls_to_3_V_when_ns3s_own_test_says_so() -> None:
    # ns-3.44, test suite of the generic battery model: 2.33 A for 3459 s, 3.0 V within 10 mV.
    assert float(NS3.voltage_V(2.33 * 3459 / 3600, 2.33)) == pytest.approx(3.0, abs=0.01)
    assert float(NS3.until_Ah(2.33, 3.0)) / 2.33 * 3600 == pytest.approx(3459, abs=2)


@pytest.mark.parametrize("power_W", [0.05, 1.0, 5.0, 12.0])
def test_tremblay_under_constant_power_is_the_integral_of_time_over_charge(power_W: float) -> None:
    end = float(NS3.until_Ah(power_W / 3.0, 3.0))
    seconds, _ = quad(lambda drawn: float(NS3.under_power_V(drawn, power_W)) / power_W * 3600, 0, end, epsabs=1e-9)
    assert float(NS3.seconds(power_W, 3.0)) == pytest.approx(seconds, rel=1e-5)
    assert float(NS3.under_power_V(end, power_W)) == pytest.approx(3.0, abs=1e-9)


def test_tremblay_starts_below_the_cut_off_where_the_load_is_too_large() -> None:
    assert float(NS3.until_Ah(20.0, 3.0)) == 0.0
    just = float(NS3.until_Ah(13.0, 3.0))
    assert 0 < just < 0.5
    assert float(NS3.voltage_V(just, 13.0)) == pytest.approx(3.0, abs=1e-6)


def test_peukert_at_the_rated_current_is_linear_and_never_gives_more_than_the_capacity() -> None:
    assert float(peukert_s(3600.0, 0.2, 0.2, 1.2)) == pytest.approx(float(linear_s(3600.0, 0.2)))
    assert float(peukert_s(3600.0, 0.4, 0.2, 1.2)) == pytest.approx(9000 * 0.5**0.2)
    assert float(peukert_s(3600.0, 0.001, 0.2, 1.2)) == pytest.approx(float(linear_s(3600.0, 0.001)))


def test_self_discharge_solves_its_equation_and_none_changes_nothing() -> None:
    life_s, per_s = 5e6, 1e-7
    left = solve_ivp(
        lambda _, q: -1.0 - per_s * q, (0, float(with_self_discharge(life_s, per_s))), [life_s], rtol=1e-10
    )
    assert float(left.y[0, -1]) == pytest.approx(0, abs=1.0)
    assert float(with_self_discharge(life_s, 0.0)) == life_s


@pytest.mark.parametrize("model", battery_cards.MODELS)
def test_a_larger_load_never_lasts_longer(model: Model) -> None:
    power_W = np.geomspace(1e-3, 12, 40)[:, None] * np.ones(100)
    life_s = battery_cards.seconds(CELL, model, certain(model), power_W)[:, 0]
    assert np.all(np.diff(life_s) < 0)
    assert np.all(np.diff(life_s * power_W[:, 0]) <= 1e-6 * life_s[0]), "nor does it give more energy"


@pytest.mark.parametrize("model", battery_cards.MODELS)
def test_the_curve_begins_full_and_ends_empty_when_the_life_does(model: Model) -> None:
    drawn = certain(model)
    curve = battery_cards.curve(CELL, model, drawn, 4.0)
    assert curve.level_percent[0] == 100
    assert curve.level_percent[-1] == 0
    assert np.all(np.diff(curve.level_percent) <= 0)
    life_s = battery_cards.seconds(CELL, model, drawn, np.full(100, 4.0))[0]
    assert curve.time_s[-1] == pytest.approx(life_s, rel=1e-4)


def test_kibam_dies_with_charge_left_and_the_linear_battery_does_not() -> None:
    assert battery_cards.curve(CELL, "kibam", certain("kibam"), 10.0).level_percent[-2] > 20
    assert battery_cards.curve(CELL, "linear", certain("linear"), 10.0).level_percent[-2] == pytest.approx(0, abs=1e-9)


def test_each_law_takes_from_the_life() -> None:
    power_W = np.full(2000, 1e-3)
    new = float(
        np.median(
            battery_cards.seconds(CELL, "linear", battery_cards.drawn(CELL, "linear", [], draws=2000, seed=1), power_W)
        )
    )
    for law in [law for law in CELL.card.laws() if law != "shelf-life"]:
        drawn = battery_cards.drawn(CELL, "linear", [law], draws=2000, seed=1, at=Surroundings(0.0, 5.0))
        assert float(np.median(battery_cards.seconds(CELL, "linear", drawn, power_W))) < 0.97 * new, law


def test_a_battery_is_given_up_at_the_end_of_its_shelf_life_whatever_it_still_holds() -> None:
    coin = battery_cards.load("aa-pair")
    power_W = np.array([[1e-9], [1e-6], [1.0]]) * np.ones(2000)
    drawn = battery_cards.drawn(coin, "linear", ["shelf-life"], draws=2000, seed=1)
    idle_s, slow_s, fast_s = battery_cards.seconds(coin, "linear", drawn, power_W)
    assert np.array_equal(idle_s, slow_s)
    assert np.median(idle_s) == pytest.approx(7.1 * YEAR_s, rel=0.02)
    assert (battery_cards.by_charge(coin, "linear", drawn, power_W)[0] > 100 * idle_s).all()
    without = battery_cards.drawn(coin, "linear", [], draws=2000, seed=1)
    assert np.array_equal(fast_s, battery_cards.seconds(coin, "linear", without, power_W)[2]), "nothing else is moved"
    assert battery_cards.curve(coin, "linear", drawn, 1e-6).time_s[-1] == pytest.approx(7.1 * YEAR_s, rel=0.02)


def test_95_percent_of_the_batteries_lie_between_the_ends_that_are_printed() -> None:
    frame = pl.DataFrame([case("aes128-cbc", "encrypt", 100.0, energy_low_uJ=100.0, energy_high_uJ=100.0)])
    # 1001 batteries evenly from half to all of the capacity: 2.5 % lie below share 0.5125 and 2.5 % above 0.9875.
    row = tasks.answer(tasks.from_estimates(frame), tasks.Duty(), by_hand(np.linspace(0.5, 1.0, 1001)), seed=1).row(
        0, named=True
    )
    whole = 2.33 * 3600 * 3.78 / 100e-6
    assert row["operations"] == pytest.approx(0.75 * whole, rel=1e-9)
    assert row["operations_low"] == pytest.approx(0.5125 * whole, rel=1e-9)
    assert row["operations_high"] == pytest.approx(0.9875 * whole, rel=1e-9)


@pytest.mark.parametrize(("mean_C", "kelvin"), [(60.0, 0), (25.0, 0), (24.0, 1), (20.0, 5), (0.0, 25)])
def test_cold_takes_its_share_of_each_kelvin_below_25_C_and_warmth_gives_none(mean_C: float, kelvin: float) -> None:
    drawn = battery_cards.drawn(CELL, "linear", ["temperature"], draws=500, seed=1, at=Surroundings(mean_C, 0.0))
    assert drawn.capacity_share == pytest.approx(1 - drawn.numbers["capacity_per_kelvin"] * kelvin, rel=1e-12)


@pytest.mark.parametrize(("value", "unit", "per_s"), [(1.0, "%/year", 3.16888e-10), (1.0, "%/month", 3.80265e-9)])
def test_a_percent_a_year_and_a_month_are_these_parts_of_a_second(value: float, unit: str, per_s: float) -> None:
    # A Gregorian year has 31,556,952 seconds in the mean.
    number = CELL.card.self_discharge
    assert number is not None
    assert number.model_copy(update={"value": value, "unit": unit}).in_SI == pytest.approx(per_s, rel=1e-5)


def test_a_cell_that_loses_1_percent_a_year_lasts_as_long_as_the_differential_equation_says() -> None:
    # 225 mAh at 2.9 V under 1 uW: 652,500 h alone; ln(1 + 0.01 * 74.436 y) / 0.01 = 55.64 years.
    coin = battery_cards.load("cr2032")
    numbers = {key: np.full(1, number.in_SI) for key, number in coin.card.numbers("linear", ["self-discharge"]).items()}
    batteries = battery_cards.BatterySamples(numbers, np.ones(1), numbers["self_discharge"])
    (life_s,) = battery_cards.seconds(coin, "linear", batteries, np.array([1e-6]))
    assert life_s / YEAR_s == pytest.approx(55.64, rel=1e-3)


def test_capacities_are_drawn_from_the_law_on_the_card() -> None:
    drawn = battery_cards.drawn(CELL, "linear", [], draws=20_000, seed=3)
    far = np.log(drawn.numbers["capacity"] / CELL.card.capacity.in_SI)
    assert np.std(far) == pytest.approx(CELL.card.capacity.log_sigma, rel=0.02)
    assert np.max(np.abs(far)) <= math.log1p(CELL.card.capacity.relative_uncertainty)


@pytest.mark.parametrize(
    ("power_W", "message"),
    [(0.0, "it never discharges"), (-1.0, "not discharging"), (50.0, "gives at most 4.66 A")],
)
def test_a_load_that_cannot_be_is_refused(power_W: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        battery_cards.seconds(CELL, "linear", certain("linear"), np.full(100, power_W))


def test_a_model_whose_numbers_the_card_lacks_is_refused_by_their_names() -> None:
    coin = battery_cards.load("cr2032")
    with pytest.raises(InputError, match="cr2032 has no available_share, exchange_rate") as refusal:
        coin.require("kibam", [], allow_assumed=True)
    assert "linear" in refusal.value.hint


def test_a_battery_that_nobody_verified_needs_consent_and_makes_the_answer_assumed() -> None:
    handheld = battery_cards.load("pxa270-handheld")
    with pytest.raises(EvidenceError, match=r"capacity 1300 mAh \(unverified\)"):
        handheld.require("linear", [], allow_assumed=False)
    assert handheld.require("linear", [], allow_assumed=True) == "assumed"
    assert CELL.require("tremblay", ["self-discharge"], allow_assumed=False) == "modelled"
    with pytest.raises(EvidenceError, match="aged_capacity"):
        CELL.require("tremblay", ["ageing"], allow_assumed=False)


BOTH = pl.DataFrame([case("aes128-cbc", "encrypt", 100.0), case("aes128-cbc", "decrypt", 300.0)])


@pytest.mark.parametrize(("share", "energy_uJ"), [(1.0, 100.0), (0.0, 300.0), (0.5, 200.0), (0.25, 250.0)])
def test_a_mix_of_encrypting_and_decrypting_costs_its_share_of_both(share: float, energy_uJ: float) -> None:
    work = tasks.from_estimates(BOTH, encrypt_share=share)
    row = tasks.answer(work, tasks.Duty(), plan(), seed=1).row(0, named=True)
    assert row["energy_uJ"] == pytest.approx(energy_uJ)
    joules = CELL.card.capacity.in_SI * CELL.card.voltage.in_SI
    assert row["operations"] == pytest.approx(joules / (energy_uJ * 1e-6), rel=0.01)
    assert row["operations_low"] < row["operations"] < row["operations_high"]
    assert row["hours"] == pytest.approx(row["operations"] * 1e-3 / 3600)
    assert row["evidence"] == "modelled", "a measured cost on a battery from a card"


def test_a_file_costs_its_bytes_at_the_price_of_the_largest_payload() -> None:
    small = case("aes128-cbc", "encrypt", 1e6, payload_B=10)
    work = tasks.from_estimates(pl.concat([BOTH, pl.DataFrame([small])]), file_B=5_000_000)
    assert [task.payload_B for task in work] == [5_000_000]
    assert work[0].shares[0][1].energy_J == pytest.approx(100e-6 * 5000)
    assert work[0].time_s == pytest.approx(5.0)


def test_half_the_duty_lasts_twice_as_long_and_an_idle_draw_takes_from_it() -> None:
    work = tasks.from_estimates(BOTH)
    full, half, idle = (
        tasks.answer(work, duty, plan(), seed=1)["hours"].item()
        for duty in (tasks.Duty(), tasks.Duty(0.5), tasks.Duty(0.5, idle_W=0.05))
    )
    assert half == pytest.approx(2 * full)
    assert idle == pytest.approx(full, rel=2e-3), "0.05 W of work and 0.05 W of idling are the 0.1 W of work alone"


def test_more_operations_a_second_than_fit_are_refused() -> None:
    with pytest.raises(InputError, match="2000 operations a second of aes128-cbc take 2 s"):
        tasks.answer(tasks.from_estimates(BOTH), tasks.Duty(per_second=2000), plan(), seed=1)


def test_a_card_of_cycles_without_a_clock_needs_a_rate() -> None:
    work = tasks.from_estimates(BOTH, counts_cycles=True)
    with pytest.raises(InputError, match="is not known") as refusal:
        tasks.answer(work, tasks.Duty(), plan(), seed=1)
    assert "--per-second" in refusal.value.hint
    assert tasks.answer(work, tasks.Duty(per_second=1.0), plan(), seed=1)["days"].item() > 0
    slow = tasks.from_estimates(BOTH, counts_cycles=True, clock_Hz=1e6)
    assert slow[0].time_s == pytest.approx(2.0)


def test_a_run_without_joules_and_a_mix_without_decryption_are_refused() -> None:
    with pytest.raises(EvidenceError, match="no case of the run has energy"):
        tasks.from_estimates(BOTH.with_columns(energy_uJ=pl.lit(None, pl.Float64)))
    with pytest.raises(InputError, match=r"encryption share of 0\.5"):
        tasks.from_estimates(BOTH.head(1), encrypt_share=0.5)
    with pytest.raises(InputError, match="payload of 999 B"):
        tasks.from_estimates(BOTH, payload_B=999)


def test_dearer_tasks_do_fewer_operations_in_every_quantile() -> None:
    frame = pl.DataFrame([case(f"rc5-32-{n}-128-cbc", "encrypt", 100.0 + n) for n in range(5)])
    rows = tasks.answer(tasks.from_estimates(frame), tasks.Duty(per_second=1.0), plan(), seed=1)
    for column in ("operations", "operations_low", "operations_high"):
        assert rows[column].is_sorted(descending=True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--energy-uJ", "1e-300", "--per-second", "1"], "below 1e-12 W nothing discharges it"),
        (["--energy-uJ", "1e300", "--per-second", "1"], "gives at most"),
        (["--energy-uJ", "1", "--time-us", "1e-300"], "--time-us is 1e-300"),
    ],
)
def test_a_load_out_of_this_world_is_one_line_and_no_warning(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder
) -> None:
    assert cli.answer(["battery", "cgr18650da", *words, "--allow-assumed"]) == InputError.exit_code
    said = capsys.readouterr()
    assert message in said.err
    assert said.out == ""
    assert len(said.err.splitlines()) == 2, "the error and its hint"
    assert not recwarn.list


@pytest.mark.parametrize(
    "words", [["--temperature-C", "-41"], ["--temperature-C", "300"], ["--temperature-sigma-C", "90"]]
)
def test_a_temperature_at_which_no_battery_works_is_refused(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    requested = ["battery", "pxa270-handheld", "--energy-uJ", "12", "--time-us", "80", "--allow-assumed"]
    assert cli.answer([*requested, *words]) == InputError.exit_code
    said = capsys.readouterr()
    assert said.out == ""
    assert "batteries work at -40 to 60 °C" in said.err
    assert cli.answer([*requested, "--temperature-C", "-40"]) == 0


@pytest.mark.parametrize("option", ["--energy-uJ", "--time-us", "--idle-W", "--per-second", "--temperature-C"])
@pytest.mark.parametrize("value", ["nan", "inf"])
def test_what_is_no_number_gets_no_life(option: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["battery", "pxa270-handheld", "--energy-uJ", "12", "--time-us", "80", "--allow-assumed", option, value]
    assert cli.answer(words) != 0
    said = capsys.readouterr()
    assert said.out == ""
    assert option in said.err


@pytest.mark.parametrize(
    "words",
    [
        ["--only", "aes*"],
        ["--payload-B", "64"],
        ["--file-B", "5000"],
        ["--encrypt-share", "0.5"],
        ["--device", "pxa270-520"],
        ["--duty", "0.5", "--per-second", "4"],
    ],
)
def test_an_option_that_would_change_nothing_is_refused_and_not_passed_over(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    own = ["battery", "pxa270-handheld", "--energy-uJ", "12", "--time-us", "80", "--allow-assumed"]
    assert cli.answer([*own, *words]) != 0
    assert words[0] in capsys.readouterr().err
