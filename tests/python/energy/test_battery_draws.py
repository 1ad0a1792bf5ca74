"""Batteries drawn from a hand-made card: what each law takes, where it ends, and which loads are none."""

import math
from typing import Any

import numpy as np
import pytest

from support.energy_cards import number
from wattlock.energy import battery_cards
from wattlock.energy.battery_cards import (
    Battery,
    BatteryCard,
    Law,
    Model,
    Surroundings,
    Tremblay,
    kibam_s,
    linear_s,
    with_self_discharge,
)
from wattlock.errors import EvidenceError, InputError

NUMBERS = {
    "capacity": (1.0, "Ah"),
    "voltage": (2.0, "V"),
    "max_current": (1.0, "A"),
    "peukert_exponent": (1.2, "1"),
    "rated_current": (0.25, "A"),
    "available_share": (0.5, "1"),
    "exchange_rate": (0.06, "1/min"),
    "cut_off_voltage": (1.5, "V"),
    "internal_resistance": (0.1, "ohm"),
    "full_voltage": (2.4, "V"),
    "exponential_voltage": (2.2, "V"),
    "exponential_capacity": (0.25, "Ah"),
    "nominal_voltage": (2.0, "V"),
    "nominal_capacity": (0.75, "Ah"),
    "typical_current": (0.2, "A"),
    "aged_capacity": (0.5, "1"),
    "capacity_per_kelvin": (0.01, "1/K"),
    "self_discharge": (12.0, "%/year"),
    "shelf_life": (10.0, "y"),
}


def battery(**changed: Any) -> Battery:
    """1 Ah at 2 V, 1 A at most; every number is certain but those that are changed."""
    words = {"title": "t", "chemistry": "nimh", "note": "n", "narrowed_by": "b"}
    certain = {key: number(value, unit) for key, (value, unit) in NUMBERS.items()}
    return Battery("mine", BatteryCard.model_validate({**words, **certain, **changed}))


def drawn(
    *laws: Law, model: Model = "linear", draws: int = 1024, at: Surroundings = battery_cards.INDOORS, **changed: Any
) -> battery_cards.BatterySamples:
    return battery_cards.drawn(battery(**changed), model, list(laws), draws=draws, seed=1, at=at)


def life_s(model: Model, power_W: float, *laws: Law, **changed: Any) -> float:
    batteries = drawn(*laws, model=model, draws=4, **changed)
    return float(battery_cards.seconds(battery(**changed), model, batteries, np.full(4, power_W))[0])


def test_a_full_battery_of_a_card_without_doubt_and_ageing_holds_capacity_times_voltage() -> None:
    found = battery_cards.full(battery(aged_capacity=None), allow_assumed=False)
    assert found == pytest.approx((7200.0, 0.0, "modelled"), abs=1e-9)


def test_a_full_battery_is_as_unsure_as_its_numbers_and_its_age() -> None:
    capacity = number(1.0, "Ah", off=0.1, confidence="assumed")
    found = battery_cards.full(battery(capacity=capacity), allow_assumed=True)
    # A share that is uniform from a half to 1 has a logarithm of mean ln 2 - 1 and variance 1 - 2 (ln 2)^2.
    assert math.log(found.energy_J / 7200) == pytest.approx(math.log(2) - 1, rel=0.01)
    sigma = math.hypot(math.log(1.1), math.sqrt(1 - 2 * math.log(2) ** 2))
    assert found.relative_uncertainty == pytest.approx(math.expm1(sigma), rel=0.01)
    assert found.evidence == "assumed"
    with pytest.raises(EvidenceError, match="nobody verified"):
        battery_cards.full(battery(capacity=capacity), allow_assumed=False)


def test_a_card_without_doubt_and_laws_gives_one_battery_over_and_over() -> None:
    found = drawn()
    assert set(found.numbers) == {"capacity", "voltage"}
    assert np.array_equal(found.numbers["capacity"], np.full(1024, 3600.0))
    assert np.array_equal(found.capacity_share, np.ones(1024))
    assert np.array_equal(found.self_discharge_per_s, np.zeros(1024))
    assert found.shelf_life_s == np.inf


def test_ageing_leaves_a_share_evenly_between_that_at_the_end_of_life_and_all() -> None:
    assert np.sort(drawn("ageing").capacity_share) == pytest.approx(0.5 + 0.5 * (np.arange(1024) + 0.5) / 1024)


def test_an_aged_battery_never_holds_more_than_a_new_one() -> None:
    share = drawn("ageing", aged_capacity=number(0.9, "1", off=0.5)).capacity_share
    assert share.max() == 1
    assert 0.3 < share.min() < 0.6


def test_cold_is_drawn_about_20_C_by_5_K_and_each_kelvin_below_25_takes_its_share() -> None:
    share = drawn("temperature", draws=4096).capacity_share
    assert float(np.median(share)) == pytest.approx(0.95, abs=1e-3)
    assert float(np.quantile(share, 0.15866)) == pytest.approx(0.90, abs=1e-3)
    assert float(np.quantile(share, 0.84134)) == pytest.approx(1.0, abs=1e-3)
    assert share.max() == 1


@pytest.mark.parametrize(
    ("per_kelvin", "mean_C", "share"),
    [
        (0.01, -40.0, 0.35),
        (0.01, 24.0, 0.99),
        (0.01, 25.0, 1.0),
        (0.01, 60.0, 1.0),
        (0.02, -40.0, 0.05),
        (0.5, 0.0, 0.05),
    ],
)
def test_the_cold_leaves_a_twentieth_at_least(per_kelvin: float, mean_C: float, share: float) -> None:
    found = drawn("temperature", at=Surroundings(mean_C, 0.0), capacity_per_kelvin=number(per_kelvin, "1/K"))
    assert found.capacity_share == pytest.approx(share, abs=1e-12)


def test_ageing_and_cold_take_from_what_the_other_leaves() -> None:
    both = drawn("ageing", "temperature", at=Surroundings(15.0, 0.0)).capacity_share
    assert np.sort(both) == pytest.approx(0.9 * np.sort(drawn("ageing").capacity_share))


@pytest.mark.parametrize(("mean_C", "sigma_C"), [(-40.0, 0.0), (60.0, 0.0), (20.0, 20.0), (20.0, 0.0), (-39.5, 0.5)])
def test_the_ends_of_the_temperatures_are_taken(mean_C: float, sigma_C: float) -> None:
    assert drawn("temperature", at=Surroundings(mean_C, sigma_C)).capacity_share.size == 1024


@pytest.mark.parametrize(
    ("mean_C", "sigma_C"), [(-40.01, 0.0), (60.01, 0.0), (20.0, 20.01), (20.0, -0.01), (math.nan, 1.0), (1.0, math.nan)]
)
def test_beyond_the_ends_of_the_temperatures_no_law_holds(mean_C: float, sigma_C: float) -> None:
    with pytest.raises(InputError, match="batteries work at -40 to 60 °C") as refusal:
        drawn(at=Surroundings(mean_C, sigma_C))
    assert refusal.value.hint == "--temperature-C -40 to 60, --temperature-sigma-C 0 to 20"


def test_shares_and_exponents_stay_where_their_models_hold() -> None:
    share = drawn(model="kibam", available_share=number(0.9, "1", off=0.5)).numbers["available_share"]
    assert share.max() == 0.999
    assert 0.2 < share.min() < 0.7
    exponent = drawn(model="peukert", peukert_exponent=number(1.1, "1", off=0.5)).numbers["peukert_exponent"]
    assert exponent.min() == 1
    assert exponent.max() > 2.5


def test_the_points_of_a_discharge_curve_move_together_and_what_is_set_stays() -> None:
    off: dict[str, Any] = {
        "capacity": number(1.0, "Ah", off=0.1),
        "full_voltage": number(2.4, "V", off=0.05),
        **{
            key: number(*NUMBERS[key], off=0.3)
            for key in ("exponential_voltage", "nominal_voltage", "nominal_capacity")
        },
        **{
            key: number(*NUMBERS[key], off=0.3)
            for key in ("exponential_capacity", "cut_off_voltage", "typical_current")
        },
        "internal_resistance": number(0.1, "ohm", off=0.2),
    }
    found = drawn(model="tremblay", **off).numbers
    by_volts, by_charge = found["full_voltage"] / 2.4, found["capacity"] / 3600
    assert np.std(by_volts) > 0.03
    assert np.std(by_charge) > 0.08
    assert found["exponential_voltage"] == pytest.approx(2.2 * by_volts, rel=1e-12)
    assert found["nominal_voltage"] == pytest.approx(2.0 * by_volts, rel=1e-12)
    assert found["exponential_capacity"] == pytest.approx(900 * by_charge, rel=1e-12)
    assert found["nominal_capacity"] == pytest.approx(2700 * by_charge, rel=1e-12)
    assert np.array_equal(found["cut_off_voltage"], np.full(1024, 1.5))
    assert np.array_equal(found["typical_current"], np.full(1024, 0.2))
    assert np.std(np.log(found["internal_resistance"])) == pytest.approx(math.log(1.2), rel=0.02)
    lone = drawn(capacity=off["capacity"]).numbers
    assert np.std(np.log(lone["capacity"])) == pytest.approx(math.log(1.1), rel=0.02)


def test_lives_by_hand() -> None:
    # 1 Ah at 2 V: 1 W draws 0.5 A. Peukert: (0.25 / 0.5)^0.2 of the 7200 s.
    assert life_s("linear", 1.0) == pytest.approx(7200)
    assert life_s("peukert", 1.0) == pytest.approx(7200 * 0.5**0.2)
    assert life_s("peukert", 0.25) == pytest.approx(28_800), "below the rated current the capacity, and no more"
    assert life_s("kibam", 1.0) == pytest.approx(float(kibam_s(3600.0, 0.5, 0.5, 0.001)))
    year_s = 31_556_952.0
    assert life_s("linear", 1e-4, "self-discharge") == pytest.approx(
        math.log1p(0.12 * 72_000_000 / year_s) * year_s / 0.12
    )
    assert life_s("linear", 1e-6, "shelf-life") == pytest.approx(10 * year_s)
    assert life_s("linear", 1.0, "shelf-life") == pytest.approx(7200)


def test_by_kibam_a_battery_of_which_less_is_left_holds_less_in_both_wells() -> None:
    half = drawn(model="kibam", draws=4)._replace(capacity_share=np.full(4, 0.5))
    lives_s = battery_cards.seconds(battery(), "kibam", half, np.full(4, 1.0))
    assert lives_s == pytest.approx(float(kibam_s(1800.0, 0.5, 0.5, 0.001)))


def test_a_discharge_curve_shrinks_with_the_share_that_is_left() -> None:
    def until_Ah(share: float) -> float:
        curve = Tremblay.from_points(
            capacity_Ah=share,
            resistance_ohm=0.1,
            typical_A=0.2,
            full_V=2.4,
            exponential=(0.25 * share, 2.2),
            nominal=(0.75 * share, 2.0),
        )
        return float(curve.seconds(0.4, 1.5))

    for share in (1.0, 0.5):
        batteries = drawn(model="tremblay", draws=4)._replace(capacity_share=np.full(4, share))
        assert battery_cards.seconds(battery(), "tremblay", batteries, np.full(4, 0.4)) == pytest.approx(
            until_Ah(share)
        )


@pytest.mark.parametrize(("model", "most_W"), [("linear", 2.0), ("peukert", 2.0), ("kibam", 2.0), ("tremblay", 1.5)])
def test_the_largest_current_is_carried_and_no_more(model: Model, most_W: float) -> None:
    volts = 1.5 if model == "tremblay" else 2.0
    battery_cards.refuse_load(battery(), model, most_W, 1e-3)
    with pytest.raises(InputError, match=f"draws 1.25 A at {volts:g} V, battery mine gives at most 1 A"):
        battery_cards.refuse_load(battery(), model, most_W * 1.25, 1e-3)
    with pytest.raises(InputError, match="gives at most"):
        battery_cards.refuse_load(battery(), model, most_W * (1 + 1e-9), 1e-3)


@pytest.mark.parametrize(
    ("least_W", "message"),
    [
        (-1e-15, "the load is -1e-15 W: the battery mine is not discharging"),
        (-0.5, "the load is -0.5 W"),
        (0.0, "is 0 W: it never discharges"),
        (9.99e-13, "is 9.99e-13 W: below 1e-12 W nothing discharges it"),
    ],
)
def test_a_load_that_empties_nothing_is_named(least_W: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        battery_cards.refuse_load(battery(), "linear", 1.0, least_W)
    battery_cards.refuse_load(battery(), "linear", 1e-12, 1e-12)


def test_a_load_is_too_large_by_its_median_and_none_by_its_least_draw() -> None:
    batteries = drawn(draws=100)
    loads_W = np.full((2, 100), 0.5)
    loads_W[1, :40] = 50.0
    assert battery_cards.seconds(battery(), "linear", batteries, loads_W).shape == (2, 100)
    loads_W[1, :60] = 3.0
    with pytest.raises(InputError, match=r"draws 1\.5 A at 2 V"):
        battery_cards.seconds(battery(), "linear", batteries, loads_W)
    loads_W[:] = 0.5
    loads_W[0, 3] = -0.1
    with pytest.raises(InputError, match="not discharging"):
        battery_cards.seconds(battery(), "linear", batteries, loads_W)


def of_median(model: Model, shares: Any, **changed: Any) -> battery_cards.BatterySamples:
    return drawn(model=model, draws=len(shares))._replace(capacity_share=np.asarray(shares), **changed)


@pytest.mark.parametrize("model", ["linear", "peukert"])
def test_a_curve_falls_evenly_from_full_to_empty_over_the_median_life(model: Model) -> None:
    curve = battery_cards.curve(battery(), model, of_median(model, [0.1, 0.8, 1.0]), 0.5)
    steps = np.arange(200) / 199
    assert curve.time_s[:-1] == pytest.approx(0.8 * 14_400 * steps)
    assert curve.level_percent[:-1] == pytest.approx(100 * (1 - steps), abs=1e-9)
    assert (curve.time_s.size, curve.time_s[-1], curve.level_percent[-1]) == (201, curve.time_s[-2], 0)


def test_a_curve_by_kibam_ends_with_the_charge_that_is_bound() -> None:
    curve = battery_cards.curve(battery(), "kibam", of_median("kibam", [0.1, 0.8, 1.0]), 1.0)
    life = float(kibam_s(0.8 * 3600, 0.5, 0.5, 0.001))
    assert curve.time_s[-1] == pytest.approx(life)
    assert curve.level_percent[-2] == pytest.approx(100 * (1 - life * 0.5 / (0.8 * 3600)))
    assert curve.level_percent[-2] > 5


def test_a_curve_by_tremblay_ends_with_the_charge_that_lies_below_the_cut_off() -> None:
    curve = battery_cards.curve(battery(), "tremblay", of_median("tremblay", [0.1, 1.0, 1.0]), 1.2)
    shape = Tremblay.from_points(
        capacity_Ah=1.0, resistance_ohm=0.1, typical_A=0.2, full_V=2.4, exponential=(0.25, 2.2), nominal=(0.75, 2.0)
    )
    drawn_Ah = float(shape.until_Ah(0.8, 1.5))
    assert 0.5 < drawn_Ah < 0.999
    assert curve.level_percent[-2] == pytest.approx(100 * (1 - drawn_Ah), abs=1e-6)
    assert curve.time_s[-1] == pytest.approx(float(shape.seconds(1.2, 1.5)), rel=1e-4)
    assert np.diff(curve.level_percent[:-1]) == pytest.approx(-100 * drawn_Ah / 199, rel=1e-9)


def test_self_discharge_and_the_shelf_bring_the_end_of_a_curve_nearer() -> None:
    losing = of_median("linear", [1.0], self_discharge_per_s=np.full(1, 1e-4))
    curve = battery_cards.curve(battery(), "linear", losing, 1.0)
    assert curve.time_s[-1] == pytest.approx(math.log1p(0.72) / 1e-4)
    assert curve.level_percent[-2] == pytest.approx(0, abs=1e-9)
    given_up = of_median("linear", [1.0, 1.0, 1.0], shelf_life_s=np.array([100.0, 3600.0, 9e9]))
    curve = battery_cards.curve(battery(), "linear", given_up, 1.0)
    assert curve.time_s[-1] == 3600
    assert curve.time_s[1] == pytest.approx(7200 / 199)
    with pytest.raises(InputError, match="gives at most"):
        battery_cards.curve(battery(), "linear", given_up, 2.5)
    with pytest.raises(InputError, match="never discharges"):
        battery_cards.curve(battery(), "linear", given_up, 0.0)


# One ampere-hour is gone of two; no power of the curve's terms is 0 or 1.
SHAPE = Tremblay(4.0, 0.1, 0.2, 3.0, 0.1, 2.0)


def test_tremblays_voltage_by_hand() -> None:
    rest_V = 0.2 * math.exp(-3.0)
    assert float(SHAPE.voltage_V(1.0, 0.5)) == pytest.approx(4 - 0.05 - 0.2 * 1.5 + rest_V)
    assert float(SHAPE.voltage_V(1.0, 0.5, settled_A=0.0)) == pytest.approx(4 - 0.05 - 0.2 + rest_V)
    open_V = 3.8 + rest_V
    under_V = float(SHAPE.under_power_V(1.0, 2.0))
    assert under_V == pytest.approx((open_V + math.sqrt(open_V**2 - 4 * 0.3 * 2)) / 2)
    assert float(SHAPE.voltage_V(1.0, 2.0 / under_V)) == pytest.approx(under_V), "the current that makes the power"
    assert float(SHAPE.under_power_V(1.0, 100.0)) == pytest.approx(open_V / 2), "no more than this can be carried"


def test_tremblays_numbers_from_three_points_by_hand() -> None:
    shape = Tremblay.from_points(
        capacity_Ah=2.0, resistance_ohm=0.1, typical_A=0.5, full_V=4.2, exponential=(0.5, 3.9), nominal=(1.5, 3.6)
    )
    discharge = 3.95 - 3.6 - 0.05 + 0.3 * math.exp(-9)
    assert [float(one) for one in shape] == pytest.approx([3.95, discharge * 0.5 / (2 * 2.0), 0.3, 6.0, 0.1, 2.0])


def test_the_cut_off_is_met_for_each_battery_by_itself() -> None:
    drawn_Ah = SHAPE.until_Ah(np.array([0.1, 1.0, 3.0, 30.0]), np.array([3.0, 3.0, 3.5, 3.0]))
    assert [
        float(SHAPE.voltage_V(charge, amps)) for charge, amps in zip(drawn_Ah[:3], (0.1, 1.0, 3.0), strict=True)
    ] == (pytest.approx([3.0, 3.0, 3.5], abs=1e-9))
    assert drawn_Ah[3] == 0
    assert np.all((drawn_Ah[:3] > 0) & (drawn_Ah[:3] < 2))


def test_only_the_batteries_that_lose_charge_end_sooner() -> None:
    lives_s = with_self_discharge(np.array([1000.0, 1000.0, 500.0]), np.array([0.0, 1e-3, 2e-3]))
    assert lives_s == pytest.approx([1000, math.log(2) * 1000, math.log(2) * 500])
    assert float(linear_s(7200.0, 2.0)) == 3600
