"""The law of keys: what a person sets changes the answer, is refused, or is told to be without effect."""

from typing import Any, get_args

import pytest

from support.advice import TODAY
from wattlock.advise import Advice, advise, as_object, checked, question
from wattlock.advise.question import Question
from wattlock.definitions import Table
from wattlock.energy import radio_cards
from wattlock.errors import WattlockError

# A value or two for each key of a question: unlike what is usual, so that it has something to say.
VALUES: dict[str, list[Any]] = {
    "decrypt_share": [0.5],
    "device.sleep": ["33uW", "7uA"],
    "device.accelerator": [False],
    "device.accelerator_idle": ["5uW"],
    "radio.rest": ["off", "sleep", "idle"],
    "radio.sleep": ["55uW"],
    "radio.protection": [["none"], ["ccm"], ["5"], ["gcmp"]],
    "radio.tx_power_dBm": [-40.0, 0.0, 8.0, 13.0, 20.0, 33.0],
    "radio.rssi_dBm": [-75.0],
    "radio.bit_errors": [1e-4],
    "radio.link.phy": ["2M"],
    "radio.link.advertising": [True],
    "radio.link.att_mtu_B": [23],
    "radio.link.max_pdu_B": [27],
    "radio.link.addressing": ["extended"],
    "radio.link.data_rate": [0],
    "radio.link.confirmed": [True],
    "radio.air.phy": ["g"],
    "battery.card": ["aa-pair", "lipo-1000"],
    "battery.model": ["peukert", "kibam", "tremblay"],
    "battery.temperature_C": [-10.0, 45.0],
    "battery.temperature_sigma_C": [1.0],
    "supply.stage": ["direct", "ldo", "dcdc"],
    "supply.voltage_V": [2.5],
    "supply.efficiency": [0.7],
    "supply.quiescent": ["2uW", "1uA"],
    "connection.interval": ["500ms"],
    "connection.latency": [1],
    "connection.supervision": ["30s"],
    "connection.clock_ppm": [500.0],
    "connection.kept": [False],
    "session": [{"every": "1h", "sent": "90B", "received": "80B", "computing": "3ms"}],
    "keep_alive": [{"every": "1min"}, {"every": "1min", "message": "4B"}],
    "wake_up": [{"time": "4ms"}],
    "association": [{"every": "10s", "time": "20ms"}],
    "floor.strength": [1.0, 192.0],
    "floor.authenticated": [False],
    "floor.approved": ["nist"],
    "floor.tag": [1, 128],
    "floor.lifetime": ["1y", "30y"],
    "floor.latency": ["1h", "90ms"],
    "floor.memory": ["200B", "1MB"],
    "floor.release": [24],
    "floor.wait": ["1h"],
    "choices.ciphers": [["aes128-ccm"]],
    "choices.providers": [["*"]],
    "choices.framings": [["full-nonce"]],
    "choices.encodings": [["hex"]],
    "choices.aggregate": [[3]],
    "choices.truncate": [False],
    "choices.packet": ["60B", "1MB"],
    "choices.amortised": [True],
}
# What names something, or brings what the others are about: tested where they are used.
ELSEWHERE = {
    "device.card",
    "device.run",
    "device.costs",
    "device.currents_A",
    "radio.currents_A",
    "supply.currents_A",
    "radio.card",
    "radio.link",
    "radio.air",
}
RADIOS = [name for name in radio_cards.RADIOS.names(None) if name != "wavelan-11"]
# A card of each instruction set that ciphers' costs are published for.
PRICED = ["nrf52840", "stm32u5a9", "esp32", "rp2040", "esp32-c3"]
FEW: dict[str, Any] = {"choices": {"ciphers": ["aes128-ccm", "ascon-aead128", "chacha20-poly1305"]}, "draws": 100}


def answer(tables: dict[str, Any], changes: dict[str, Any]) -> Advice:
    return advise(checked("law", tables, changes), allow_assumed=True, today=TODAY)


def bare(tables: dict[str, Any], changes: dict[str, Any]) -> Advice:
    """The answer without asking which keys have no effect: that takes an answer more for each of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wattlock.advise.answer.unused_keys", lambda *_: [])
        return answer(tables, changes)


def said(tables: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any] | None:
    """What a person set; None where it can't be."""
    try:
        return checked("law", tables, changes).model_dump(exclude_unset=True)
    except WattlockError:
        return None


def seen(described: Advice) -> Any:
    """All that a person reads of an answer but for its notes."""
    record = as_object(described)
    return [record[key] for key in ("ranked", "excluded", "assumed", "answer")]


def silent(tables: dict[str, Any], among: set[str] | None = None) -> list[str]:
    """The keys that change nothing and say nothing."""
    base = seen(bare(tables, {}))
    found = []
    for key, values in VALUES.items():
        if key.partition(".")[0] not in (among or {key.partition(".")[0]}):
            continue
        for value in values:
            if said(tables, {key: value}) == said(tables, {}):
                continue
            try:
                described = bare(tables, {key: value})
            except WattlockError:
                continue
            if seen(described) == base and key not in answer(tables, {key: value}).unused_keys:
                found.append(f"{key} = {value}")
    return found


def few(tables: dict[str, Any]) -> dict[str, Any]:
    return {**tables, **FEW, "choices": {**tables.get("choices", {}), **FEW["choices"]}}


def test_every_key_of_a_question_is_under_the_law() -> None:
    kinds = {name: get_args(field.annotation) or (field.annotation,) for name, field in Question.model_fields.items()}
    tables = {name: kind[0] for name, kind in kinds.items() if issubclass(kind[0], Table) and name != "flow"}
    plain = set(Question.model_fields) - set(tables) - {"title", "note", "source", "flow", "seed", "draws"}
    keys = plain | {f"{name}.{key}" for name in tables for key in tables[name].model_fields}
    whole = {key for key in VALUES if key in tables}
    under = {key for key in keys if key in VALUES or key in ELSEWHERE or key.partition(".")[0] in whole}
    assert keys == under


@pytest.mark.parametrize("name", question.names())
def test_no_key_leaves_a_scenarios_answer_as_it_is_without_a_note(name: str) -> None:
    assert silent(few(question.read(name))) == []


@pytest.mark.parametrize("radio", RADIOS)
def test_no_key_leaves_the_answer_over_any_radio_as_it_is_without_a_note(radio: str) -> None:
    flow = [{"message": "24B", "every": "1h"}]
    assert silent(few({"flow": flow, "device": {"card": "nrf52840"}, "radio": {"card": radio}})) == []


@pytest.mark.parametrize("device", PRICED)
def test_no_key_of_the_device_leaves_the_answer_as_it_is_without_a_note(device: str) -> None:
    tables = few({"flow": [{"message": "24B", "every": "10min"}], "radio": {"card": "nrf52840-ble"}})
    tables["device"] = {"card": device}
    assert silent(tables, {"device", "supply", "wake_up"}) == []


def test_a_key_without_effect_is_named_and_one_with_effect_is_not() -> None:
    tables = {"flow": [{"message": "24B", "every": "1h"}], "device": {"card": "nrf52840"}}
    described = answer(few(tables), {"floor.memory": "1MB", "device.sleep": "5uW"})
    assert described.unused_keys == ["floor.memory"]
    assert any("set and without effect here: floor.memory" in one for one in as_object(described)["notes"])
