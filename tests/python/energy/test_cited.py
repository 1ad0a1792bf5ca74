"""Cards against what their sources print: the value follows from the cited figure, and conditions don't mix."""

import math
import tomllib
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel

from wattlock.energy import battery_cards, device_cards, published_power, radio_cards
from wattlock.energy.number import IN_SI, Number
from wattlock.errors import InputError

DATA = Path(str(files("wattlock") / "data"))
CITED = tomllib.loads((DATA / "cited.toml").read_text())
SHELVES = {shelf.folder: shelf for shelf in (device_cards.DEVICES, radio_cards.RADIOS, battery_cards.BATTERIES)}
EVERY = [f"{folder}/{name}" for folder, shelf in SHELVES.items() for name in shelf.names()]
# What sources print in, beside the units of cards.
PRINTED = IN_SI | {"uV": 1e-6, "Hz": 1.0, "GHz": 1e9, "nA": 1e-9, "A min": 60.0}
# A card rounds to three digits at least.
ROUNDED = 0.003


def numbers(card: str) -> dict[str, Number]:
    folder, name = card.split("/")
    return numbers_of(SHELVES[folder].load(name)[1])


def numbers_of(read: BaseModel) -> dict[str, Number]:
    found: dict[str, Number] = {}
    for key in type(read).model_fields:
        held = getattr(read, key)
        if isinstance(held, Number):
            found[key] = held
        elif key == "cores":
            found |= {f"{one.core_class}.{name}": number for one in held for name, number in numbers_of(one).items()}
        elif isinstance(held, list):
            found |= {f"{key}[{place}]": one for place, one in enumerate(held)}
    return found


def curves_mean_V() -> float:
    """Mean voltage over charge of the case's curve at its typical current, down to its cut-off."""
    case = battery_cards.load("cgr18650da")
    of = {key: number.in_SI for key, number in case.card.numbers("tremblay", []).items()}
    from wattlock.energy.battery_cards import Tremblay

    curve = Tremblay.from_points(
        capacity_Ah=of["capacity"] / 3600,
        resistance_ohm=of["internal_resistance"],
        typical_A=of["typical_current"],
        full_V=of["full_voltage"],
        exponential=(of["exponential_capacity"] / 3600, of["exponential_voltage"]),
        nominal=(of["nominal_capacity"] / 3600, of["nominal_voltage"]),
    )
    drawn_Ah = np.linspace(0, float(curve.until_Ah(of["typical_current"], of["cut_off_voltage"])), 10_001)
    return float(np.mean(curve.voltage_V(drawn_Ah, of["typical_current"])))


CONVERSIONS: dict[str, Callable[[list[float]], float]] = {
    "as it stands": lambda figures: figures[0],
    "mean": lambda figures: sum(figures) / len(figures),
    "middle": lambda figures: math.sqrt(figures[0] * figures[-1]),
    "two in series": lambda figures: 2 * math.sqrt(figures[0] * figures[-1]),
    "peukert": lambda of: 1 + math.log(of[1] / of[3]) / math.log(of[2] / of[0]),
    "cold": lambda of: math.sqrt(of[0] / (25 - of[1]) * of[2] / (25 - of[3])) / 100,
    "largest": max,
    "product": math.prod,
    "curve": lambda _: curves_mean_V(),
    "fitted": lambda _: published_power.published("toldinas", allow_assumed=True).power_W,
}


@pytest.mark.parametrize("card", EVERY)
def test_every_number_of_a_card_follows_from_the_figure_that_its_source_prints(card: str) -> None:
    found, cited = numbers(card), CITED.get(card, {})
    own = {key for key, number in found.items() if number.confidence == "assumed"}
    assert set(found) - own == set(cited), "a figure for each number that is not our own assumption, and none besides"
    for key, figure in cited.items():
        followed = CONVERSIONS[figure["by"]](figure["figures"]) * PRINTED[figure["unit"]]
        assert found[key].in_SI == pytest.approx(followed, rel=ROUNDED), f"{card} {key}: {figure}"


def test_the_table_of_cited_figures_names_no_card_that_is_not_there() -> None:
    assert set(CITED) <= set(EVERY)


@pytest.mark.parametrize("card", EVERY)
def test_every_electrical_number_of_a_card_that_comes_along_has_its_conditions_as_data(card: str) -> None:
    wanted = {"V", "A", "mA", "uA", "uA/MHz", "W", "mW", "uW", "uW/MHz/V^2"}
    if card.startswith("batteries/"):
        assert numbers(card)["capacity"].under
        return
    missing = [key for key, number in numbers(card).items() if number.unit in wanted and not number.under]
    assert not missing


def changed(tmp_path: Path, card: str, right: str, wrong: str, *, times: int = 1) -> Path:
    text = (DATA / f"{card}.toml").read_text()
    assert right in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(right, wrong, times))
    return path


MIXED = [
    (
        "radios/nrf52840-ble",
        'regulator = "dcdc", supply_V',
        'regulator = "ldo", supply_V',
        "under.regulator is ldo, must be dcdc",
    ),
    ("radios/nrf52840-ble", "supply_V = 3.0", "supply_V = 1.8", "under.supply_V is 1.8, must be 3 as voltage"),
    (
        "devices/nrf52840",
        'scope = "chip", regulator = "dcdc", supply_V',
        'scope = "battery", regulator = "dcdc", supply_V',
        "under.scope is battery, must be chip as that of voltage",
    ),
    ("devices/stm32u5a9", "value = 3.3", "value = 3.0", "current.under.supply_V is 3.3, must be 3 as voltage"),
    (
        "devices/nrf54l15",
        "supply_V = 3.0, temperature_C = 25.0",
        "supply_V = 3.0, temperature_C = 85.0",
        "under.temperature_C is 85, must be 25",
    ),
    (
        "radios/esp32-wifi",
        "supply_V = 3.3, temperature_C = 25.0 }",
        "supply_V = 3.3, temperature_C = 25.0, duty = 0.5 }",
        "under.duty is 0.5, must be 1: a mean over pauses",
    ),
    ("radios/sx1276-lora", 'regulator = "direct", supply_V = 3.3', "supply_V = 3.3", "under.regulator: is missing"),
    (
        "radios/sx1276-lora",
        'under = { scope = "radio", regulator = "direct", supply_V = 3.3, temperature_C = 25.0 }\n',
        "",
        "under: is missing; voltage has one",
    ),
    ("batteries/cgr18650da", "current_A = 0.466", "current_A = 2.33", "rated_current is 0.466 A, must be 2.33 A"),
]


@pytest.mark.parametrize(("card", "right", "wrong", "message"), MIXED, ids=[one[3][:40] for one in MIXED])
def test_a_card_that_mixes_conditions_is_refused_by_file_key_value_and_what_it_must_be(
    tmp_path: Path, card: str, right: str, wrong: str, message: str
) -> None:
    path = changed(tmp_path, card, right, wrong)
    with pytest.raises(InputError) as refusal:
        SHELVES[card.split("/", maxsplit=1)[0]].load(path)
    assert message in refusal.value.message
    assert str(path) in refusal.value.message


def test_behind_a_linear_regulator_a_current_goes_with_every_voltage_in_front_of_it(tmp_path: Path) -> None:
    path = changed(tmp_path, "devices/stm32l476", "value = 3.3", "value = 1.8")
    voltage: Any = device_cards.load("stm32l476").card.voltage
    assert device_cards.load(path).card.voltage == voltage.model_copy(update={"value": 1.8})


def test_a_users_card_without_conditions_as_data_is_taken_as_it_was(tmp_path: Path) -> None:
    text = (DATA / "devices" / "nrf52840.toml").read_text()
    path = tmp_path / "mine.toml"
    path.write_text("\n".join(line for line in text.splitlines() if not line.startswith("under")))
    assert device_cards.load(path).card.factors()
    nothing: Any = device_cards.load(path).card.voltage
    assert nothing.under is None
