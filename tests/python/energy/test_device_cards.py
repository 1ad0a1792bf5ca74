"""Device cards by hand: the ways to a power, operating points, cards kept in a run, and those in a folder."""

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support.energy_cards import device, estimates, number
from wattlock.definitions import shelf
from wattlock.energy import battery_cards, device_cards
from wattlock.energy.device_cards import OperatingPoints
from wattlock.energy.valuing import measured, value
from wattlock.errors import EvidenceError, InputError

WATT, VOLT, MILLI = number(2.0, "W"), number(3.0, "V"), number(40.0, "mA")
PER_MHZ, COEFFICIENT, CLOCK = number(50.0, "uA/MHz"), number(400.0, "uW/MHz/V^2"), number(200.0, "MHz")


@pytest.mark.parametrize(
    ("numbers", "joules", "cycles"),
    [
        ({"power": WATT}, 2.0, False),
        ({"power": WATT, "frequency": CLOCK}, 1e-8, True),
        ({"voltage": VOLT, "current": MILLI}, 0.12, False),
        ({"voltage": VOLT, "current": MILLI, "frequency": CLOCK}, 6e-10, True),
        ({"voltage": VOLT, "current": PER_MHZ}, 1.5e-10, True),
        ({"voltage": VOLT, "current": PER_MHZ, "frequency": CLOCK}, 1.5e-10, True),
        ({"voltage": VOLT, "dynamic_power_coefficient": COEFFICIENT}, 3.6e-9, True),
        ({"voltage": VOLT, "dynamic_power_coefficient": COEFFICIENT, "frequency": CLOCK}, 3.6e-9, True),
    ],
)
def test_each_way_to_a_power_values_cycles_or_time(numbers: dict[str, Any], joules: float, cycles: bool) -> None:
    card = device(**numbers).card
    assert card.rate.joules == pytest.approx(joules)
    assert card.counts_cycles is cycles


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({}, "has no power; it needs power"),
        ({"voltage": VOLT}, "has voltage; it needs"),
        ({"current": MILLI}, "has current; it needs"),
        ({"dynamic_power_coefficient": COEFFICIENT}, "has dynamic_power_coefficient; it needs"),
        ({"power": WATT, "voltage": VOLT}, "has power and voltage; it needs"),
        (
            {"voltage": VOLT, "current": MILLI, "dynamic_power_coefficient": COEFFICIENT},
            "has voltage and current and dyn",
        ),
        ({"power": VOLT}, "power.unit is V, must be W"),
        ({"power": WATT, "frequency": VOLT}, "frequency.unit is V, must be MHz"),
        ({"power": WATT, "idle_power": VOLT}, "idle_power.unit is V, must be W or mW"),
        ({"voltage": VOLT, "current": number(1.0, "A")}, "current.unit is A, must be mA or uA/MHz"),
        ({"voltage": VOLT, "dynamic_power_coefficient": WATT}, "dynamic_power_coefficient.unit is W"),
        ({"voltage": WATT, "current": MILLI}, "voltage.unit is W, must be V"),
    ],
)
def test_another_way_to_a_power_is_none(numbers: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        device(**numbers)


def test_factors_have_their_keys_and_exponents_and_doubts_are_those_in_use() -> None:
    doubted = number(200.0, "MHz", confidence="assumed")
    by_current = device(voltage=VOLT, current=MILLI, frequency=doubted, idle_power=number(1.0, "mW")).card
    assert [(one.key, one.exponent) for one in by_current.factors()] == [
        ("voltage", 1),
        ("current", 1),
        ("frequency", -1),
    ]
    assert (by_current.doubted(), by_current.evidence) == (["frequency"], "assumed")
    scaled = device(voltage=VOLT, dynamic_power_coefficient=COEFFICIENT, frequency=doubted).card
    assert [(one.key, one.exponent) for one in scaled.factors()] == [("dynamic_power_coefficient", 1), ("voltage", 2)]
    assert (scaled.doubted(), scaled.evidence) == ([], "modelled")
    idle = device(power=WATT, idle_power=number(1.0, "W", confidence="assumed")).card
    assert (idle.doubted(), idle.evidence) == ([], "modelled"), "what idles enters no joules of a program"


def points(*pairs: tuple[float, float]) -> OperatingPoints:
    words = {
        key: one for key, one in number(1.0, "V", off=0.1).model_dump().items() if key not in {"value", "unit", "under"}
    }
    return OperatingPoints.model_validate(
        {**words, "at": [{"frequency_MHz": clock, "voltage_V": volts} for clock, volts in pairs]}
    )


@pytest.mark.parametrize(
    "pairs",
    [
        [(200.0, 1.0), (200.0, 1.1)],
        [(200.0, 1.0), (100.0, 1.1)],
        [(200.0, 1.0), (300.0, 0.9)],
        [(100.0, 1.0), (200.0, 1.0), (300.0, 0.9)],
    ],
)
def test_points_whose_clock_stands_or_voltage_falls_are_refused(pairs: list[tuple[float, float]]) -> None:
    with pytest.raises(ValueError, match="points must rise"):
        points(*pairs)


@pytest.mark.parametrize("pairs", [[], [(0.0, 1.0)], [(1.0, 0.0)], [(-1.0, 1.0)]])
def test_no_point_and_a_point_at_nothing_are_refused(pairs: list[tuple[float, float]]) -> None:
    with pytest.raises(ValueError, match=r"at least 1 item|greater than 0"):
        points(*pairs)


@pytest.mark.parametrize("name", ["cortex-a72-rk3399", "nrf52840"])
def test_a_card_kept_in_a_run_is_the_card_and_a_damaged_one_is_refused(name: str) -> None:
    card = device_cards.load(name).card
    assert device_cards.kept(name, card.model_dump()) == device_cards.Device(name, card)
    with pytest.raises(InputError, match="the run's device_card: has") as refusal:
        device_cards.kept(name, card.model_dump() | {"voltage": None, "power": None})
    assert "--device" in refusal.value.hint


def test_a_card_by_its_path_is_named_by_its_file_and_one_by_name_is_not_looked_for_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = json.loads(json.dumps(device(power=WATT).card.model_dump(exclude_none=True)))
    lines = [f"{key} = {json.dumps(one)}" for key, one in text.items() if key != "power"]
    lines += ["[power]", *(f"{key} = {json.dumps(one)}" for key, one in text["power"].items())]
    (tmp_path / "nrf52840").write_text("\n".join(lines))
    (tmp_path / "devices").mkdir()
    (tmp_path / "devices" / "own.toml").write_text("\n".join(lines))
    (tmp_path / "devices" / "readme.md").write_text("no card")
    monkeypatch.chdir(tmp_path)
    assert device_cards.load("nrf52840").card.power is None, "the card that comes along"
    assert device_cards.load(Path("nrf52840")).card.power == WATT, "the file"
    assert device_cards.load(str(tmp_path / "nrf52840")).name == "nrf52840"
    assert device_cards.load("own", tmp_path).card.power == WATT
    assert set(device_cards.names(tmp_path)) - set(device_cards.names()) == {"own"}
    assert device_cards.names(tmp_path) == sorted(device_cards.names(tmp_path))
    assert "own" not in device_cards.DEVICES.shipped()
    assert battery_cards.BATTERIES.names(tmp_path) == battery_cards.BATTERIES.shipped()
    with pytest.raises(InputError, match="there is no device card nowhere"):
        device_cards.load("nowhere", tmp_path)


def test_a_folder_of_costs_alone_is_a_folder_of_cards_and_the_one_given_goes_before_the_environments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shelf.own_folder() is None
    monkeypatch.setenv(shelf.VARIABLE, "")
    assert shelf.own_folder() is None
    for name in ("costs", "radios"):
        (tmp_path / name / name).mkdir(parents=True)
        assert shelf.own_folder(tmp_path / name) == tmp_path / name
    monkeypatch.setenv(shelf.VARIABLE, str(tmp_path / "costs"))
    assert shelf.own_folder() == tmp_path / "costs"
    assert shelf.own_folder(tmp_path / "radios") == tmp_path / "radios"


LIPO = (Path(device_cards.__file__).parents[1] / "data" / "batteries" / "lipo-1000.toml").read_text()


@pytest.mark.parametrize(
    ("right", "wrong", "message", "hint"),
    [
        (
            'conditions = "continuous"',
            'condition = "continuous"',
            "max_current.condition: unknown key",
            '"conditions"?',
        ),
        ("[max_current]", "[max_curent]", "max_curent: unknown key", 'did you mean "max_current"?'),
        ('chemistry = "li-polymer"', 'chemistry = "li-polymr"', 'chemistry: no chemistry "li-polymr"', '"li-polymer"?'),
        ("value = 1000.0", "value = inf", "capacity.value: must be a finite number", ""),
        ('note = "', 'note = ""\n# ', "note: must be at least 1 letter long", ""),
    ],
)
def test_a_fault_is_told_by_its_key_and_by_what_was_meant(
    tmp_path: Path, right: str, wrong: str, message: str, hint: str
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(LIPO.replace(right, wrong, 1))
    with pytest.raises(InputError) as refusal:
        battery_cards.load(path)
    assert f"battery card {path}: {message}" in refusal.value.message
    assert hint in refusal.value.hint


@pytest.mark.parametrize("value", ['"1000"', "true", "nan"])
def test_what_is_no_number_is_not_made_one(tmp_path: Path, value: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(LIPO.replace("value = 1000.0", f"value = {value}", 1))
    with pytest.raises(InputError, match=r"capacity\.value: must be a"):
        battery_cards.load(path)


def test_a_card_that_was_read_and_its_shelf_stay_as_they_are() -> None:
    card = device_cards.load("nrf52840").card
    with pytest.raises(ValueError, match="frozen"):
        card.title = "another"
    with pytest.raises(ValueError, match="frozen"):
        card.voltage.value = 1.0  # type: ignore[union-attr]
    with pytest.raises(AttributeError, match="cannot assign"):
        device_cards.DEVICES.folder = "radios"  # type: ignore[misc]


def test_a_card_that_no_text_editor_wrote_is_not_toml(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not TOML"):
        battery_cards.load(path)


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("value = 0.8", "value = 1.0", "aged_capacity is 1, must be a share below 1"),
        ("value = 0.8", "value = 0.99", None),
        ("value = 1.05", "value = 1.0", None),
        ("value = 1.05", "value = 0.99", "peukert_exponent is 0.99, must be at least 1"),
        ("value = 0.2\n", "value = 0.205\n", "rated_current is 0.205 A, must be 0.2 A"),
        ("value = 0.2\n", "value = 0.195\n", "rated_current is 0.195 A, must be 0.2 A"),
        ("value = 0.2\n", "value = 0.203\n", None),
        (", current_A = 0.2", "", None),
    ],
)
def test_the_ends_of_what_a_battery_may_be(tmp_path: Path, right: str, wrong: str, message: str | None) -> None:
    path = tmp_path / "mine.toml"
    assert right in LIPO
    path.write_text(LIPO.replace(right, wrong, 1))
    if message is None:
        assert battery_cards.load(path).name == "mine"
        return
    with pytest.raises(InputError, match=message):
        battery_cards.load(path)


def test_a_battery_has_the_models_and_laws_of_its_numbers() -> None:
    lipo, case = battery_cards.load("lipo-1000").card, battery_cards.load("cgr18650da").card
    assert lipo.models() == ["linear", "peukert"]
    assert case.models() == ["linear", "peukert", "kibam", "tremblay"]
    assert set(lipo.numbers("peukert", ["ageing"])) == {
        "capacity",
        "voltage",
        "peukert_exponent",
        "rated_current",
        "aged_capacity",
    }
    bare = lipo.model_copy(update={"aged_capacity": None, "peukert_exponent": None})
    assert bare.models() == ["linear"]
    assert "ageing" not in bare.laws()
    with pytest.raises(InputError, match="battery card bare has no aged_capacity"):
        battery_cards.Battery("bare", bare).require("linear", ["ageing"], allow_assumed=True)


def test_the_user_is_told_which_cards_value_the_time_of_the_same_instructions() -> None:
    unknown = estimates(cycles=[None], cycles_low=[None], cycles_high=[None])
    for name, isa, said in (
        ("pentium3-mobile-700", "x86", "--device core-ultra-7-265h or x86-server-assumed values the time measured; a"),
        ("nrf52840", "thumbv7em", "none here values the time of thumbv7em; a card of your own does too"),
    ):
        with pytest.raises(EvidenceError) as refusal:
            value(unknown, device_cards.load(name), isa=isa, allow_assumed=True)
        assert refusal.value.hint.startswith(said)


def test_a_meters_joules_join_their_cases_and_no_other() -> None:
    cases = pl.DataFrame({"case": [2, 0, 1], "payload_B": [100, 0, 50]})
    metered = pl.DataFrame(
        {
            "case": [0, 1, 2],
            "energy_uJ": [7.0, None, 500.0],
            "energy_low_uJ": [6.0, None, 400.0],
            "energy_high_uJ": [8.0, None, 600.0],
            "energy_gross_uJ": [9.0, 9.0, 900.0],
            "energy_random_percent": [1.0, 2.0, 3.0],
            "power_net_W": [1.0, 2.0, 3.0],
            "power_baseline_W": [4.0, 5.0, 6.0],
            "energy_state": ["conclusive", "inconclusive", "conclusive"],
            "energy_reason": [None, "it wrapped", None],
            "energy_processes": [3, 3, 3],
        }
    )
    described = measured(cases, metered, scope="the package", baseline="idle")
    assert described["case"].to_list() == [2, 0, 1]
    assert described["energy_uJ_per_byte"].to_list() == [5.0, None, None]
    assert described["energy_low_uJ_per_byte"].to_list() == [4.0, None, None]
    assert described["energy_high_uJ_per_byte"].to_list() == [6.0, None, None]
    assert described["energy_evidence"].to_list() == ["measured", "measured", None]
    assert described["energy_scope"].to_list() == ["the package", "the package", None]
    assert described["energy_baseline"].to_list() == ["idle", "idle", None]
    assert described["energy_state"].to_list() == ["conclusive", "conclusive", "inconclusive"]
    unweighed = measured(cases, metered.head(2), scope="s", baseline="b").row(0, named=True)
    assert (unweighed["energy_uJ"], unweighed["energy_state"], unweighed["energy_scope"]) == (None, "failed", None)


def test_a_byte_costs_the_share_of_one_in_the_payload_on_each_side() -> None:
    row = value(estimates(), device(power=number(2.0, "W", off=0.1)), isa="x86_64").row(0, named=True)
    for side in ("", "_low", "_high"):
        assert row[f"energy{side}_uJ_per_byte"] == pytest.approx(row[f"energy{side}_uJ"] / 100)
    assert math.log(row["energy_high_uJ"] / row["energy_uJ"]) == pytest.approx(
        math.hypot(math.log(1.01), 1.96 * math.log(1.1))
    )
    one = value(estimates(payload_B=[1]), device(power=WATT), isa="x86_64").row(0, named=True)
    assert one["energy_uJ_per_byte"] == one["energy_uJ"]
