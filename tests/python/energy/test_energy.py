"""Device cards and E = Vcc * I * T."""

import math
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.energy_cards import device, estimates, number
from wattlock.analysis.distributions import COVERAGE
from wattlock.energy import device_cards
from wattlock.energy.valuing import COLUMNS, value, without_card
from wattlock.errors import EvidenceError, InputError


def test_the_papers_sample_calculation_gives_7_71_uJ_and_5_71e_3_mAs() -> None:
    # Prasithsangaree and Krishnamurthy: 20,000 cycles at 700 MHz, 200 mA, 1.35 V.
    laptop = device_cards.load("pentium3-mobile-700")
    energy_uJ = value(estimates(), laptop, isa="x86_64", allow_assumed=True)["energy_uJ"].item()
    assert energy_uJ == pytest.approx(7.714, abs=0.001)
    assert laptop.card.voltage is not None
    charge_mAs = energy_uJ / laptop.card.voltage.value / 1e3
    assert charge_mAs == pytest.approx(5.71e-3, abs=0.005e-3)


def test_power_times_the_measured_time_is_the_energy_of_this_machine() -> None:
    row = value(estimates(), device(power=number(2.0, "W")), isa="x86_64").row(0, named=True)
    assert row["energy_uJ"] == pytest.approx(2.0 * 1000e-9 * 1e6)
    assert row["energy_uJ_per_byte"] == pytest.approx(row["energy_uJ"] / 100)


def test_a_card_with_a_frequency_values_cycles_and_not_the_time_of_the_measured_machine() -> None:
    card = device(power=number(2.0, "W"), frequency=number(100.0, "MHz"))
    slow = estimates(time_ns=[9e9], time_low_ns=[9e9], time_high_ns=[9e9])
    assert value(slow, card, isa="x86_64")["energy_uJ"].item() == pytest.approx(2.0 * 20_000 / 100e6 * 1e6)


def test_a_coefficient_counts_the_voltage_twice_and_leaves_the_clock_out() -> None:
    fast = device(
        voltage=number(1.2, "V", off=0.03),
        dynamic_power_coefficient=number(436.0, "uW/MHz/V^2", off=0.4),
        frequency=number(1800.0, "MHz", off=0.5, confidence="assumed"),
    )
    joules, log_sigma = fast.card.rate
    assert joules == pytest.approx(436e-6 / 1e6 * 1.2**2)
    assert log_sigma == pytest.approx(math.hypot(2 * math.log(1.03), math.log(1.4)))
    assert fast.card.evidence == "modelled", "a number that cancels can't spoil the evidence"


def test_a_current_per_MHz_gives_the_energy_of_a_cycle_at_each_clock() -> None:
    nordic = device_cards.load("nrf52840")
    assert nordic.card.counts_cycles
    assert nordic.card.rate.joules == pytest.approx(52e-6 * 3.0 / 1e6)


def test_a_uniform_factor_of_two_has_the_standard_uncertainty_of_a_rectangle_on_the_logarithm() -> None:
    assert number(1.0, "W", off=1.0, distribution="uniform").log_sigma == pytest.approx(2 * math.log(2) / math.sqrt(12))


def test_the_interval_joins_the_cases_and_the_cards_in_squares_each_side_for_itself() -> None:
    uneven = estimates(time_low_ns=[900.0], time_high_ns=[1300.0])
    row = value(uneven, device(power=number(1.0, "W", off=0.2)), isa="x86_64").row(0, named=True)
    card = COVERAGE * math.log(1.2)
    assert math.log(row["energy_uJ"] / row["energy_low_uJ"]) == pytest.approx(math.hypot(math.log(1 / 0.9), card))
    assert math.log(row["energy_high_uJ"] / row["energy_uJ"]) == pytest.approx(math.hypot(math.log(1.3), card))


@given(
    volts=st.floats(0.5, 5),
    milliamperes=st.floats(1, 1e4),
    off=st.lists(st.floats(0, 2), min_size=3, max_size=3),
    spread=st.floats(1, 3),
)
def test_the_interval_holds_the_energy_and_is_never_narrower_than_the_cases(
    volts: float, milliamperes: float, off: list[float], spread: float
) -> None:
    card = device(
        voltage=number(volts, "V", off=off[0]),
        current=number(milliamperes, "mA", off=off[1]),
        frequency=number(700.0, "MHz", off=off[2]),
    )
    row = value(estimates(cycles_low=[20_000 / spread], cycles_high=[20_000 * spread]), card, isa="x86_64").row(
        0, named=True
    )
    assert row["energy_low_uJ"] <= row["energy_uJ"] / spread * (1 + 1e-9)
    assert row["energy_high_uJ"] >= row["energy_uJ"] * spread * (1 - 1e-9)


def test_a_card_that_is_95_percent_sure_covers_95_percent_of_simulated_devices() -> None:
    import numpy as np

    rng = np.random.default_rng(7)
    off = {"voltage": 0.05, "current": 0.3, "frequency": 0.02}
    true = {name: rng.normal(0, math.log1p(r), 20_000) for name, r in off.items()}
    card = device(
        voltage=number(1.35, "V", off=off["voltage"]),
        current=number(200.0, "mA", off=off["current"]),
        frequency=number(700.0, "MHz", off=off["frequency"]),
    )
    sure = estimates(cycles_low=[20_000.0], cycles_high=[20_000.0])
    row = value(sure, card, isa="x86_64").row(0, named=True)
    drawn_uJ = row["energy_uJ"] * np.exp(true["voltage"] + true["current"] - true["frequency"])
    inside = float(np.mean((row["energy_low_uJ"] <= drawn_uJ) & (drawn_uJ <= row["energy_high_uJ"])))
    assert inside == pytest.approx(0.95, abs=0.006)


def test_an_unverified_number_is_refused_by_name_until_the_user_asks_for_it() -> None:
    server = device_cards.load("x86-server-assumed")
    with pytest.raises(EvidenceError, match=r"power 10 W \(assumed\)") as refusal:
        value(estimates(), server, isa="x86_64")
    assert "--allow-assumed" in refusal.value.hint
    requested = value(estimates(), server, isa="x86_64", allow_assumed=True)
    assert requested["energy_evidence"].to_list() == ["assumed"]


def test_the_guessed_server_is_wide_by_a_factor_of_two_at_least() -> None:
    row = value(estimates(), device_cards.load("x86-server-assumed"), isa="x86_64", allow_assumed=True).row(
        0, named=True
    )
    assert row["energy_uJ"] == pytest.approx(10.0 * 1e-6 * 1e6)
    assert row["energy_low_uJ"] <= row["energy_uJ"] / 2
    assert row["energy_high_uJ"] >= row["energy_uJ"] * 2


def test_the_time_of_a_page_is_valued_by_a_card_of_its_browser_alone() -> None:
    known = device(power=number(2.0, "W"))
    browser = device_cards.Device("browser", known.card.model_copy(update={"isa": "wasm32"}))
    assert value(estimates(), browser, isa="wasm32")["energy_uJ"].item() == pytest.approx(2.0 * 1000e-9 * 1e6)
    with pytest.raises(EvidenceError, match="seconds of x86_64, the run's are of wasm32") as error:
        value(estimates(), known, isa="wasm32")
    assert 'isa = "wasm32"' in error.value.hint
    with pytest.raises(EvidenceError, match="of wasm32, the run's are of x86_64"):
        value(estimates(), browser, isa="x86_64")


@pytest.mark.parametrize("isa", ["x86_64", "aarch64", "thumbv6m"])
def test_cycles_of_another_instruction_set_are_refused(isa: str) -> None:
    with pytest.raises(EvidenceError, match=f"cycles of thumbv7em, the run's are of {isa}"):
        value(estimates(), device_cards.load("nrf52840"), isa=isa, allow_assumed=True)


def test_the_two_x86_sets_may_stand_for_each_other() -> None:
    assert value(estimates(), device(power=number(1.0, "W")), isa="x86")["energy_uJ"].item() > 0


def test_a_run_without_cycles_is_refused_by_a_card_that_values_cycles() -> None:
    unknown = estimates(cycles=[None], cycles_low=[None], cycles_high=[None])
    with pytest.raises(EvidenceError, match="core clock of the machine that was measured is unknown") as refusal:
        value(unknown, device_cards.load("pentium3-mobile-700"), isa="x86_64", allow_assumed=True)
    assert "--device core-ultra-7-265h or x86-server-assumed values the time" in refusal.value.hint
    by_time = value(unknown, device(power=number(1.0, "W")), isa="x86_64")
    assert by_time["energy_uJ"].item() == pytest.approx(1.0)


@pytest.mark.parametrize("name", [one for one in device_cards.names() if device_cards.load(one).card.isa == "aarch64"])
def test_an_aarch64_run_without_cycles_has_a_card_that_values_its_time_and_every_refusal_names_it(name: str) -> None:
    unknown = estimates(cycles=[None], cycles_low=[None], cycles_high=[None])
    if name == "aarch64-core-assumed":
        row = value(unknown, device_cards.load(name), isa="aarch64", allow_assumed=True).row(0, named=True)
        assert row["energy_uJ"] == pytest.approx(1.0), "a watt for a microsecond"
        assert row["energy_low_uJ"] <= 0.2
        assert row["energy_high_uJ"] >= 5.0
        return
    with pytest.raises(EvidenceError) as refusal:
        value(unknown, device_cards.load(name), isa="aarch64", allow_assumed=True)
    assert "--device aarch64-core-assumed values the time measured" in refusal.value.hint


def test_a_failed_case_has_no_energy_and_no_evidence_of_one() -> None:
    nothing: list[object] = [None]
    frame = estimates(**{name: nothing for name in estimates().columns if name not in {"case", "payload_B"}})
    for card in (device_cards.load("pentium3-mobile-700"), device(power=number(1.0, "W"))):
        valued = value(frame, card, isa="x86_64", allow_assumed=True)
        assert valued.select(*COLUMNS).row(0) == (None,) * len(COLUMNS)


def test_a_key_setup_has_energy_but_none_a_byte() -> None:
    row = value(estimates(payload_B=[0]), device(power=number(1.0, "W")), isa="x86_64").row(0, named=True)
    assert row["energy_uJ"] > 0
    assert row["energy_uJ_per_byte"] is None
    assert row["energy_high_uJ_per_byte"] is None


def test_without_a_card_the_energy_is_null_in_the_same_columns() -> None:
    valued = value(estimates(), device(power=number(1.0, "W")), isa="x86_64")
    assert without_card(estimates()).schema == valued.schema
    assert without_card(estimates()).select(*COLUMNS).row(0) == (None,) * len(COLUMNS)


def test_a_frame_that_was_valued_already_is_valued_anew() -> None:
    once = value(estimates(), device(power=number(1.0, "W")), isa="x86_64")
    again = value(once, device(power=number(3.0, "W")), isa="x86_64")
    assert again.columns == once.columns
    assert again["energy_uJ"].item() == pytest.approx(3.0)


@pytest.mark.parametrize("name", device_cards.names())
def test_every_card_can_be_read_and_gives_a_power_between_a_milliwatt_and_a_kilowatt(name: str) -> None:
    card = device_cards.load(name).card
    joules = card.rate.joules
    clock_Hz = card.frequency.in_SI if card.frequency else 80e6
    power_W = joules * clock_Hz if card.counts_cycles else joules
    assert 1e-3 < power_W < 1e3


def test_an_unknown_card_names_the_nearest_one() -> None:
    with pytest.raises(InputError, match="no device card pentium3-mobile-800") as refusal:
        device_cards.load("pentium3-mobile-800")
    assert refusal.value.hint == 'did you mean "pentium3-mobile-700"?'


GOOD = """
title = "t"
isa = "x86_64"
note = "n"
narrowed_by = "b"
[power]
value = 2.0
unit = "W"
source = "s"
confidence = "primary"
relative_uncertainty = 0.1
distribution = "normal"
because = "b"
conditions = "c"
"""


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ('source = "s"', "", "power.source: is missing"),
        ('unit = "W"', 'unit = "V"', "power.unit is V, must be W"),
        ("value = 2.0", "value = -2.0", "power.value: must be more than 0"),
        ("[power]", "[current]", "has current; it needs power, or voltage and current"),
        ("[power]", "[powr]", "powr: unknown key"),
        ('confidence = "primary"', 'confidence = "sure"', 'power.confidence: no confidence "sure"'),
        ('isa = "x86_64"', "isa = ", "not TOML"),
    ],
)
def test_a_card_with_a_fault_names_the_key_and_the_fault(tmp_path: Path, right: str, wrong: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(GOOD)
    assert device_cards.load(path).name == "mine"
    path.write_text(GOOD.replace(right, wrong))
    with pytest.raises(InputError) as refusal:
        device_cards.load(path)
    assert message in refusal.value.message
    assert str(path) in refusal.value.message


def test_a_case_in_main_memory_has_no_joules_by_a_card_of_cycles_and_the_others_have() -> None:
    in_memory = estimates(cycles=[None], cycles_low=[None], cycles_high=[None])
    both = pl.concat([estimates(), in_memory], how="vertical_relaxed")
    valued = value(both, device_cards.load("pentium3-mobile-700"), isa="x86_64", allow_assumed=True)
    assert valued["energy_uJ"].is_null().to_list() == [False, True]
    assert valued["energy_evidence"].to_list() == ["assumed", None]
