"""A card of this machine from measured loads whose truth is known."""

import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from wattlock.energy import calibration, device_cards
from wattlock.errors import EvidenceError

METER = {"name": "powercap:package-0", "scope": "the package", "gain_source": "ours", "baseline": "idle"}


def loads(nJ_per_cycle: list[float], **changed: Any) -> pl.DataFrame:
    rows = [
        {
            "cipher": f"cipher{number}",
            "operation": "encrypt",
            "payload_B": 64,
            "cycles": 1000.0 * (number + 1),
            "energy_uJ": each * (number + 1),
            "energy_random_percent": 1.0,
            "power_baseline_W": 3.0,
            "energy_reason": None,
        }
        | changed
        for number, each in enumerate(nJ_per_cycle)
    ]
    return pl.DataFrame(rows, schema_overrides={"energy_uJ": pl.Float64, "energy_reason": pl.String})


def test_the_fit_is_the_middle_of_the_loads_and_says_how_far_each_is_off() -> None:
    found = calibration.fit(loads([2.0, 2.0, 2.0, 2.0 * 1.1]), gain=0.05, GHz=4.0)
    assert found.nJ_per_cycle == pytest.approx(2.0 * 1.1**0.25)
    assert found.power_W == pytest.approx(8.0 * 1.1**0.25)
    assert found.loads[3].off_percent == pytest.approx(100 * (1.1**0.75 - 1))
    assert found.log_spread == pytest.approx(math.log(1.1) / 2)


def test_a_new_program_is_less_sure_than_the_mean_of_those_seen() -> None:
    found = calibration.fit(loads([1.8, 2.0, 2.2, 2.1]), gain=0.05, GHz=4.0)
    assert found.log_sigma > max(found.log_spread, math.log1p(0.05))


def test_the_card_that_is_written_is_read_back_and_values_cycles_as_the_fit_does(tmp_path: Path) -> None:
    found = calibration.fit(loads([1.8, 2.0, 2.2, 2.1]), gain=0.05, GHz=4.0)
    card = calibration.card(found, isa="x86_64", machine='A "quoted" Zürich CPU', run="tiny-1", meter=METER)
    path = tmp_path / "this.toml"
    path.write_text(calibration.as_toml(card), encoding="utf-8")
    assert tomllib.loads(path.read_text(encoding="utf-8"))["power"]["unit"] == "W"
    assert 'title = "This machine: A \\"quoted\\" Zürich CPU"' in path.read_text(encoding="utf-8"), (
        "as a reader writes it"
    )
    read = device_cards.load(path)
    assert read.card == card
    assert read.card.evidence == "modelled"
    valued = read.card.rate
    assert valued.joules == pytest.approx(found.nJ_per_cycle * 1e-9, rel=1e-3)
    assert valued.log_sigma == pytest.approx(found.log_sigma, rel=0.01)


def test_three_loads_are_no_card() -> None:
    with pytest.raises(EvidenceError, match="3 loads have joules, a card needs 4"):
        calibration.fit(loads([2.0, 2.0, 2.0]), gain=0.05, GHz=4.0)


def test_loads_without_joules_say_why() -> None:
    nothing = loads([2.0] * 5, energy_uJ=None, energy_reason="it wrapped")
    with pytest.raises(EvidenceError, match=r"0 loads .*it wrapped"):
        calibration.fit(nothing, gain=0.05, GHz=4.0)


def test_a_core_whose_clock_is_not_known_gets_no_card() -> None:
    with pytest.raises(EvidenceError, match="clock"):
        calibration.fit(loads([2.0] * 5), gain=0.05, GHz=None)


def test_one_more_program_lies_within_the_factor_in_95_of_100_also_where_few_loads_were_weighed() -> None:
    draw = np.random.default_rng(1)
    for count in (4, 8):
        held = 0
        for _ in range(2000):
            logs = draw.normal(0.0, 0.1, count + 1)
            load = calibration.FitLoad("aes128-cbc", "encrypt", 64, 1.0, 1.0, 0.0)
            found = calibration.PowerFit(1.0, float(np.std(logs[:-1], ddof=1)), 0.0, 1.0, 1.0, [load] * count)
            held += abs(logs[-1] - logs[:-1].mean()) <= 1.96 * found.log_sigma
        assert 0.93 <= held / 2000 <= 0.97, count


def test_the_power_and_the_factor_are_told_with_what_they_rest_on() -> None:
    load = calibration.FitLoad("aes128-cbc", "encrypt", 64, 2.0, 1.0, 0.0)
    found = calibration.PowerFit(2.0, 0.1, 0.05, 4.0, 3.0, [load] * 4)
    # Student's t of 3 degrees for 95 % is 3.1824: 0.1 * 3.1824 * sqrt(1 + 1 / 4) = 0.35581, and ln 1.05 = 0.04879.
    assert found.log_sigma == pytest.approx(math.hypot(0.35581 / 1.96, 0.04879), rel=1e-4)
    assert calibration.notes(found) == [
        "2 nJ a cycle, 8 W above the baseline of 3 W at 4.00 GHz",
        "another program's joules lie within a factor of 1.45 (95 %): loads differ by 11 %, the gain by 5 %",
    ]


def test_the_card_states_the_power_to_four_digits_and_the_clock_in_MHz() -> None:
    load = calibration.FitLoad("aes128-cbc", "encrypt", 64, 2.0, 1.0, 0.0)
    found = calibration.PowerFit(2.123456, 0.1, 0.05, 3.123456, 3.0, [load] * 4)
    card = calibration.card(found, isa="aarch64", machine="a board", run="tiny-1", meter=METER)
    assert card.power is not None
    assert card.frequency is not None
    assert (card.isa, card.title) == ("aarch64", "This machine: a board")
    assert (card.power.value, card.power.unit, card.power.distribution) == (6.633, "W", "normal")
    assert card.power.relative_uncertainty == pytest.approx(math.expm1(found.log_sigma), rel=5e-3)
    assert card.power.because == "loads differ by 11 %, the meter's gain by 5 % (ours)"
    assert card.power.conditions == "one core busy, net of the baseline idle; the package"
    assert card.power.source == "wattlock calibrate: run tiny-1, meter powercap:package-0, 4 loads"
    assert (card.frequency.value, card.frequency.relative_uncertainty) == (3123.5, 0.001)
    assert card.frequency.distribution == "uniform"
    assert card.power.confidence == card.frequency.confidence == "primary"


def test_cases_without_joules_or_cycles_are_none_of_the_loads_and_the_baseline_is_the_mean_of_those_left() -> None:
    metered = loads([2.0] * 7).with_columns(
        energy_uJ=pl.Series([None, *[2.0 * (place + 1) for place in range(1, 7)]]),
        cycles=pl.Series([*[1000.0 * (place + 1) for place in range(6)], None]),
        power_baseline_W=pl.Series([90.0, 1.0, 2.0, 3.0, 4.0, 5.0, 90.0]),
    )
    found = calibration.fit(metered, gain=0.05, GHz=4.0)
    assert [load.cipher for load in found.loads] == ["cipher1", "cipher2", "cipher3", "cipher4", "cipher5"]
    assert found.idle_W == pytest.approx(3.0)
    assert [load.nJ_per_cycle for load in found.loads] == pytest.approx([2.0] * 5)
    assert {(load.random_percent, load.payload_B, load.operation) for load in found.loads} == {(1.0, 64, "encrypt")}
    with pytest.raises(EvidenceError) as refusal:
        calibration.fit(metered.head(4), gain=0.05, GHz=4.0)
    assert refusal.value.message == "3 loads have joules, a card needs 4", "nobody said why"
    assert len(calibration.fit(loads([2.0] * 4), gain=0.05, GHz=4.0).loads) == 4
