"""A card of this machine from weighed loads whose truth is known."""

import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from wattlock.energy import calibration, cards
from wattlock.energy.model import rate
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
    card = calibration.card(found, isa="x86_64", machine='A "quoted" CPU', run="tiny-1", meter=METER)
    path = tmp_path / "this.toml"
    path.write_text(calibration.as_toml(card), encoding="utf-8")
    assert tomllib.loads(path.read_text())["power"]["unit"] == "W"
    read = cards.load(path)
    assert read.card == card
    assert read.card.evidence == "modelled"
    valued = rate(read.card)
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
            load = calibration.Load("aes128-cbc", "encrypt", 64, 1.0, 1.0, 0.0)
            found = calibration.Fit(1.0, float(np.std(logs[:-1], ddof=1)), 0.0, 1.0, 1.0, [load] * count)
            held += abs(logs[-1] - logs[:-1].mean()) <= 1.96 * found.log_sigma
        assert 0.93 <= held / 2000 <= 0.97, count
