"""Cards of devices, radios and batteries: every number has a source, faults are named, the user's own join in."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from support.tree import TREE
from wattlock import cli
from wattlock.definitions import shelf
from wattlock.energy import battery_cards, device_cards, published_power, radio_cards
from wattlock.energy.device_cards import OperatingPoints
from wattlock.energy.number import IN_SI, Number
from wattlock.errors import EvidenceError, InputError, UsageError

DATA = TREE / "python" / "wattlock" / "data"
SHELVES = (device_cards.DEVICES, radio_cards.RADIOS, battery_cards.BATTERIES)
EVERY = [(one, name) for one in SHELVES for name in one.names()]


def numbers_in(table: Any) -> list[dict[str, Any]]:
    """Every table of a card that is a number, at any depth."""
    if isinstance(table, list):
        return [number for one in table for number in numbers_in(one)]
    if not isinstance(table, dict):
        return []
    return [table] if "unit" in table else [number for one in table.values() for number in numbers_in(one)]


@pytest.mark.parametrize(("of", "name"), EVERY, ids=[name for _, name in EVERY])
def test_every_number_of_every_card_has_unit_source_conditions_and_a_reason(of: Any, name: str) -> None:
    of.load(name)
    raw = tomllib.loads((DATA / of.folder / f"{name}.toml").read_text())
    found = numbers_in(raw)
    assert found
    for number in found:
        assert all(number[key] for key in ("unit", "source", "conditions", "because")), number


def test_the_cards_of_the_papers_machines_come_along() -> None:
    papers = {"486dx2-40", "strongarm-206", "pentium3-mobile-700", "pentium-m-1500", "pentium4-m-2400", "pxa270-520"}
    assert papers <= set(device_cards.names())
    for name in papers:
        assert device_cards.load(name).card.evidence == "assumed", "no paper's machine has all its numbers verified"


def test_the_strongarm_takes_1_31_nJ_a_cycle_and_an_esp32_byte_at_1_Mb_s_10_uJ() -> None:
    assert device_cards.load("strongarm-206").card.rate.joules == pytest.approx(1.31e-9, rel=0.005)
    radio = radio_cards.load("esp32-wifi").card
    sending = radio.sending(1.0)
    assert sending is not None
    assert radio.power_W(sending) * 8e-6 == pytest.approx(10.0e-6, rel=0.01)


def test_a_radio_takes_the_draw_of_the_rate_nearest_to_the_one_asked_for() -> None:
    radio = radio_cards.load("esp32-wifi").card
    assert [radio.sending(rate).value for rate in (1.0, 11.0, 54.0, 300.0)] == [379, 379, 276, 258]  # type: ignore[union-attr]
    first = radio.sending()
    assert first is not None
    assert first.value == 379


def test_operating_points_that_do_not_rise_are_refused() -> None:
    points = device_cards.load("cortex-a72-rk3399").card.operating_points
    assert points is not None
    falling = points.model_dump() | {"at": [one.model_dump() for one in reversed(points.at)]}
    with pytest.raises(ValueError, match="points must rise"):
        OperatingPoints.model_validate(falling)


def test_every_unit_has_its_size_in_SI() -> None:
    assert set(Number.model_json_schema()["properties"]["unit"]["enum"]) == set(IN_SI)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder with one good battery card and three broken cards."""
    good = (DATA / "batteries" / "lipo-1000.toml").read_text()
    (tmp_path / "batteries").mkdir()
    for name, text in {
        "mine": good,
        "no-source": good.replace('source = "wattlock\'s own assumption"\n', "", 1),
        "negative": good.replace("value = 1000.0", "value = -1000.0"),
        "cr2032": good,
    }.items():
        (tmp_path / "batteries" / f"{name}.toml").write_text(text)
    return tmp_path


def test_a_users_card_joins_and_a_broken_one_is_named_by_file_and_key(own: Path) -> None:
    read, faults = battery_cards.BATTERIES.all(own)
    assert {"mine", "cr2032", "cgr18650da"} <= set(read)
    described = sorted(fault.message for fault in faults)
    assert len(described) == 3
    assert "cr2032.toml: the name cr2032 is taken" in described[0]
    assert "negative.toml: capacity.value: must be more than 0, is -1000.0" in described[1]
    assert "no-source.toml: capacity.source: is missing" in described[2]
    assert read["cr2032"].capacity.value == 225, "the card that comes along stays"


def test_the_folder_may_come_from_the_environment(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="no battery card mine"):
        battery_cards.load("mine")
    monkeypatch.setenv(shelf.VARIABLE, str(own))
    assert battery_cards.load("mine").card.capacity.value == 1000
    monkeypatch.setenv(shelf.VARIABLE, str(own / "nowhere"))
    with pytest.raises(InputError, match="nowhere: is no folder"):
        battery_cards.load("mine")


def test_a_folder_without_cards_is_an_error_and_not_an_empty_shelf(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no folder of cards") as refusal:
        battery_cards.load("mine", tmp_path)
    assert "batteries" in refusal.value.hint


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ('unit = "mAh"', 'unit = "W"', "capacity.unit is W, must be Ah or mAh"),
        ("value = 1000.0", "value = 1e96", "capacity.value is 1e+96 mAh, must lie between 0.001 and 1e+09 mAh"),
        ('chemistry = "li-polymer"', 'chemistry = "lead"', 'chemistry: no chemistry "lead"'),
        ("value = 0.8", "value = 1.8", "aged_capacity is 1.8, must be a share below 1"),
        ("value = 1.05", "value = 0.9", "peukert_exponent is 0.9, must be at least 1"),
        ("[max_current]", "[maximum]", "maximum: unknown key"),
    ],
)
def test_a_battery_that_cannot_be_is_refused(tmp_path: Path, right: str, wrong: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text((DATA / "batteries" / "lipo-1000.toml").read_text().replace(right, wrong))
    with pytest.raises(InputError) as refusal:
        battery_cards.load(path)
    assert message in refusal.value.message


def test_tremblays_points_must_fall(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    text = (DATA / "batteries" / "cgr18650da.toml").read_text()
    path.write_text(text.replace("value = 3.714", "value = 3.5"))
    with pytest.raises(InputError, match="nominal_voltage must be below exponential_voltage"):
        battery_cards.load(path)


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ('unit = "uJ/B"', 'unit = "uJ"', "send_byte.unit is uJ, must be uJ/B"),
        ('technology = "802.11"', 'technology = "802.3"', 'technology: no technology "802.3"'),
    ],
)
def test_a_radio_that_cannot_be_is_refused(tmp_path: Path, right: str, wrong: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text((DATA / "radios" / "wavelan-11.toml").read_text().replace(right, wrong, 1))
    with pytest.raises(InputError) as refusal:
        radio_cards.load(path)
    assert message in refusal.value.message


def test_a_radio_that_can_only_send_and_one_with_a_current_and_no_voltage_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    linear = (DATA / "radios" / "wavelan-11.toml").read_text()
    path.write_text(linear[: linear.index("[receive_packet]")])
    with pytest.raises(InputError, match="needs tx and rx, or send_packet"):
        radio_cards.load(path)
    states = (DATA / "radios" / "esp32-wifi.toml").read_text()
    path.write_text(states[: states.index("[voltage]")] + states[states.index("[[tx]]") :])
    with pytest.raises(InputError, match="has a current and no voltage"):
        radio_cards.load(path)


def test_all_18_rows_of_toldinas_come_out_within_15_percent_from_their_times() -> None:
    found = published_power.published("toldinas", allow_assumed=True)
    assert len(found.cases) == 18
    for case in found.cases:
        assert case.by_power_percent == pytest.approx(case.battery_percent, rel=0.15), case
    assert found.worst_percent == pytest.approx(13.32, abs=0.01)


def test_the_law_of_rounds_and_block_fits_toldinas_percentages() -> None:
    encrypting, decrypting = published_power.published("toldinas", allow_assumed=True).laws
    assert encrypting.r_squared == pytest.approx(0.986, abs=0.0005)
    assert decrypting.r_squared == pytest.approx(0.991, abs=0.0005)
    assert encrypting.b > 0
    assert encrypting.c > 0


def test_the_time_that_stands_three_times_and_the_far_rates_are_named() -> None:
    cases = published_power.published("toldinas", allow_assumed=True).cases
    assert [case.time_s for case in cases if "8821 s stands 3 times" in case.why] == [8821.0] * 3
    far = {(case.operation, case.block_bits, case.key_bits) for case in cases if "spreads above" in case.why}
    assert far == {("encrypt", 192, 256), ("encrypt", 256, 128)}


def test_the_handhelds_card_holds_the_fitted_power() -> None:
    power = device_cards.load("pxa270-520").card.power
    assert power is not None
    found = published_power.published("toldinas", allow_assumed=True)
    assert power.value == pytest.approx(found.power_W, abs=0.0005)
    assert found.evidence == "assumed"


def test_a_fit_on_a_battery_that_nobody_verified_needs_consent_and_an_unknown_run_is_named() -> None:
    with pytest.raises(EvidenceError, match="pxa270-handheld has numbers that nobody verified: capacity"):
        published_power.published("toldinas")
    with pytest.raises(InputError, match="no published run toldina") as refusal:
        published_power.published("toldina", allow_assumed=True)
    assert refusal.value.hint == 'did you mean "toldinas"?'


def rows_of(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    assert cli.answer([*words, "--format", "json"]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return rows


@pytest.mark.parametrize("kind", ["device", "radio", "battery"])
def test_devices_lists_each_kind(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    listed = {row[kind] for row in rows_of(capsys, "devices", "--kind", kind)}
    assert listed == {name for one in SHELVES if one.kind == f"{kind} card" for name in one.names()}


def test_devices_lists_the_users_cards_and_warns_of_the_broken_ones(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(["devices", "--kind", "battery", "--cards", str(own), "--format", "csv"]) == 0
    said = capsys.readouterr()
    assert "\nmine," in said.out
    assert said.err.count("warning: battery card") == 3


def test_devices_shows_each_number_with_its_source_and_the_operating_points(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = rows_of(capsys, "devices", "cortex-a53-mt8183")
    assert {"voltage at 1989 MHz", "dynamic_power_coefficient"} <= {row["number"] for row in rows}
    assert all(row["source"] and row["conditions"] and row["confidence"] for row in rows)
    assert [row["number"] for row in rows_of(capsys, "devices", "--kind", "radio", "esp32-wifi")][1] == "tx[0]"


def test_calibrate_prints_the_fit_in_words_and_18_rows(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["calibrate", "--published", "toldinas", "--allow-assumed", "--format", "csv"]
    assert cli.answer(words) == 0
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 19
    assert "power 1.167 W" in said.err
    assert "R^2 0.986" in said.err
    assert cli.answer(words[:3]) == EvidenceError.exit_code


def test_battery_answers_for_an_operation_of_the_users_own(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["battery", "cgr18650da", "--energy-uJ", "100", "--per-second", "10", "--allow-assumed"]
    (row,) = rows_of(capsys, *words)
    assert row["days"] == pytest.approx(row["operations"] / 10 / 86_400)
    assert row["evidence"] == "assumed"
    assert set(row["laws"]) == {"ageing", "temperature", "self-discharge", "shelf-life"}
    (new,) = rows_of(capsys, *words, "--without", "ageing", "--without", "self-discharge")
    assert new["days"] > row["days"]


def test_joules_of_the_users_own_need_no_consent_and_stay_assumed(capsys: pytest.CaptureFixture[str]) -> None:
    laws = ("ageing", "temperature", "self-discharge", "shelf-life")
    without = [word for law in laws for word in ("--without", law)]
    (row,) = rows_of(capsys, "battery", "cgr18650da", "--energy-uJ", "100", "--per-second", "1", *without)
    assert row["evidence"] == "assumed"


def test_battery_warns_of_pulses_that_a_cell_does_not_give(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["battery", "cr2032", "--energy-uJ", "9000", "--per-second", "0.01", "--allow-assumed", "--time-us"]
    assert cli.answer([*words, "100000"]) == 0
    said = capsys.readouterr().err
    assert "warning: your own draws 31 mA while it works, battery cr2032 gives 3 mA: a capacitor must carry" in said
    assert cli.answer([*words, "9000000"]) == 0
    assert "warning: " not in capsys.readouterr().err


def test_battery_values_cycles_of_the_users_own_by_a_device_card(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["battery", "cgr18650da", "--cycles", "64e6", "--device", "nrf52840", "--allow-assumed"]
    (row,) = rows_of(capsys, *words)
    assert row["power_W"] == pytest.approx(64 * 52e-6 * 3, rel=0.01), "64 MHz without a break, 52 uA/MHz at 3 V"
    assert row["operations"] == pytest.approx(row["hours"] * 3600), "one a second"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cgr18650da", "--cycles", "9", "--allow-assumed"], "--cycles needs a card"),
        (["cgr18650da", "--cycles", "9", "--energy-uJ", "9"], "name either a run or"),
        (["cgr18650da", "--cycles", "9", "--device", "x86-server-assumed", "--allow-assumed"], "values time"),
        (["cgr18650d", "--energy-uJ", "1"], "no battery card cgr18650d"),
        (["cgr18650da"], "name either a run or"),
        (["cgr18650da", "--energy-uJ", "1", "--allow-assumed"], "is not known"),
        (["cgr18650da", "--cycles", "9", "--device", "nrf52840"], "--cycles 9 has no source"),
        (["cgr18650da", "--energy-uJ", "1", "--model", "kibm", "--allow-assumed"], 'no battery model "kibm"'),
        (["cgr18650da", "--energy-uJ", "1", "--without", "rust", "--allow-assumed"], 'no law "rust"'),
        (["cr2032", "--energy-uJ", "9e5", "--per-second", "1", "--allow-assumed"], "gives at most 0.003 A"),
        (["cr2032", "--energy-uJ", "0", "--per-second", "1", "--allow-assumed"], "never discharges"),
    ],
)
def test_battery_names_what_cannot_be(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["battery", *words]) in {InputError.exit_code, UsageError.exit_code, EvidenceError.exit_code}
    said = capsys.readouterr()
    assert message in said.err
    assert said.out == ""
