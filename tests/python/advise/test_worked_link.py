"""What stands around the traffic, worked by hand: what keeps a link, why a packet ends, the supply stage, evidence."""

import math
import re
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from support.advice import BASE, ask
from wattlock.advise import checked, days, inputs
from wattlock.advise.choices import Framing, framings
from wattlock.advise.days import _asleep
from wattlock.advise.question import Question, SupplyOptions
from wattlock.advise.sending import Sender
from wattlock.energy import radio_cards
from wattlock.errors import InputError

FLOW = BASE["flow"]


def settled(radio: str, changes: dict[str, Any]) -> tuple[Question, list[str]]:
    question = checked("kept", {"flow": [{"message": "20B", "every": "1h"}], "radio": {"card": radio}}, changes)
    assumed: list[str] = []
    return inputs.settled(question, Sender(radio_cards.load(radio), question.radio), assumed), assumed


def test_a_station_asleep_listens_three_milliseconds_to_each_third_beacon() -> None:
    asleep, assumed = settled("esp32-wifi", {"radio.sleep": "50uW", "radio.rest": "sleep"})
    assert asleep.association
    assert (asleep.association.every, asleep.association.time) == pytest.approx((3 * 0.1024, 0.003))
    assert "wakes each 307 ms and listens 3 ms for a beacon" in assumed[0]
    awake, assumed = settled("esp32-wifi", {"radio.rest": "idle"})
    assert (awake.association, assumed) == (None, [])
    own = {"radio.sleep": "50uW", "radio.rest": "sleep", "association.every": "1s", "association.time": "5ms"}
    assert settled("esp32-wifi", own)[1] == []


@pytest.mark.parametrize(("every", "asks"), [("240s", False), ("241s", True), ("1h", True), ("1min", False)])
def test_a_child_asks_its_parent_once_it_is_silent_for_longer_than_240_seconds(every: str, asks: bool) -> None:
    described, assumed = settled("nrf52840-802154", {"flow[0].every": every})
    assert bool(described.keep_alive) == asks == bool(assumed)
    if described.keep_alive:
        assert (described.keep_alive.every, described.keep_alive.message) == (240.0, 0)


def test_a_keep_alive_without_data_seals_nothing_and_one_with_data_what_it_holds() -> None:
    thread: dict[str, Any] = {"radio": {"card": "nrf52840-802154"}}

    def sealing_W(message: str) -> dict[str, float]:
        described = ask(
            {"keep_alive": {"every": "30s", "message": message}, "choices.framings": ["implicit-nonce"]}, **thread
        )
        choice, load = described.choices[0], described.loads[0]
        every = {names[0]: watts for (group, names), watts in load.terms_W.items() if group == "upkeep"}
        found = {name: watts for name, watts in every.items() if name.startswith("cipher")}
        return {"drawn": sum(found.values()), "worked": choice.cost.of("seal_J", 20) / 30}

    assert sealing_W("0B")["drawn"] == 0
    sealed = sealing_W("20B")
    assert sealed["drawn"] == pytest.approx(sealed["worked"])


@pytest.mark.parametrize(
    ("tables", "described"),
    [
        ({"wake_up": {"time": "2ms"}}, True),
        ({"session": {"every": "1h", "sent": "1B", "received": "1B", "computing": "2ms"}}, True),
        ({"session": {"every": "1h", "sent": "1B", "received": "1B"}}, False),
        ({}, False),
    ],
)
def test_what_computes_on_a_core_without_a_clock_is_left_out_and_told(tables: dict[str, Any], described: bool) -> None:
    for device, clockless in (("stm32l476", True), ("nrf52840", False)):
        question = checked(
            "clock", {"flow": FLOW, "device": {"card": device}, "radio": {"card": "nrf52840-ble"}} | tables
        )
        found = inputs.inputs(question, cards=None, allow_assumed=True)
        assert any("the device's clock is not known" in one for one in found.assumed) == (described and clockless)


def test_a_connection_that_nobody_gave_listens_longer_for_clocks_that_are_70_ppm_off() -> None:
    # 20 ppm of a peripheral's crystal and 50 of a phone's; a message a second leaves no event to be kept.
    described = ask({"device.sleep": "10uW"}, radio={"card": "nrf52840-ble"})
    radio = described.inputs.sender.radio.card
    assert radio.rx
    assert described.loads[0].group_W("upkeep") == pytest.approx(70e-6 * radio.power_W(radio.rx))


def test_lorawan_idles_until_its_windows_only_where_the_radio_has_no_power_asleep() -> None:
    with_sleep = settled("sx1262-lora", {"radio.rest": "off"})[1]
    assert with_sleep == ["switched on again the radio knows its network: the device has kept session and settings"]
    assert settled("sx1262-lora", {"radio.rest": "sleep"})[1] == []
    question, radio = checked("kept", {"flow": FLOW}), radio_cards.load("sx1262-lora")
    bare = radio._replace(card=radio.card.model_copy(update={"sleep": None}))
    described: list[str] = []
    assert inputs.settled(question, Sender(bare, question.radio), described) is question
    assert described[0] == (
        "the radio idles until its receive windows: sx1262-lora has no power asleep (radio.sleep gives it)"
    )
    with pytest.raises(InputError, match="connection: is of Bluetooth LE, the radio is for lorawan"):
        settled("sx1262-lora", {"connection.interval": "1s"})


@pytest.mark.parametrize(
    ("radio", "link", "why"),
    [
        ("nrf52840-ble", {}, " by an ATT MTU of 247"),
        ("nrf52840-ble", {"att_mtu_B": 100}, " by an ATT MTU of 100"),
        ("nrf52840-ble", {"advertising": True}, ", an advertisement"),
        ("nrf52840-802154", {}, ""),
        ("esp32-wifi", {}, ""),
        ("sx1262-lora", {"data_rate": 0}, " at data rate 0 of EU868, and LoRaWAN cuts no message itself"),
    ],
)
def test_why_a_packet_holds_no_more_is_said_in_the_words_of_its_link(
    radio: str, link: dict[str, Any], why: str
) -> None:
    question = checked("why", {"flow": FLOW, "radio": {"link": link}}).radio
    assert Sender(radio_cards.load(radio), question).why == why


@pytest.mark.parametrize(
    ("radio", "link", "most_B"),
    [
        ("sx1262-lora", {"data_rate": 5}, 242),
        ("sx1262-lora", {"region": "US915", "data_rate": 0}, 11),
        ("sx1262-lora", {"region": "US915", "data_rate": 0, "options_B": 10}, 1),
        ("sx1262-lora", {"region": "US915", "data_rate": 0, "options_B": 15}, 1),
        ("nrf52840-ble", {"att_mtu_B": 23}, 20),
        ("nrf52840-802154", {}, 1280 - 48),
    ],
)
def test_a_packet_holds_what_the_links_options_and_headers_leave_and_never_nothing(
    radio: str, link: dict[str, Any], most_B: int
) -> None:
    question = checked("room", {"flow": FLOW, "radio": {"link": link}}).radio
    assert Sender(radio_cards.load(radio), question).packet_B == most_B


def test_a_network_that_loses_19_of_20_is_refused_with_what_arrives() -> None:
    question = checked("lossy", BASE).radio
    for signal, described in (
        (None, "radio.air: 4.0 % of the packets arrive"),
        (-91.0, "4.0 % of the packets arrive at -91"),
    ):
        sender = Sender(radio_cards.load("esp32-wifi"), question.model_copy(update={"rssi_dBm": signal}))
        sender.rate_Mb_s = 54.0
        sent: Any = SimpleNamespace(delivered=4, requested=100)
        with pytest.raises(InputError, match=re.escape(described)):
            sender._over_wifi(sent, "send")


def test_a_packet_over_wifi_takes_the_mean_of_what_arrived() -> None:
    sender = Sender(radio_cards.load("esp32-wifi"), checked("mean", BASE).radio)
    sent: Any = SimpleNamespace(
        requested=1000,
        delivered=500,
        air_ns=2_000_000_000,
        octets_B=75_000,
        states_ns={"sender": {"tx": 500_000_000, "rx": 100_000_000, "cca": 400_000_000}, "ap": {"rx": 250_000_000}},
        sent={"sender": SimpleNamespace(packets=1000, octets_B=64_000)},
        received={"ap": SimpleNamespace(packets=750, octets_B=32_000)},
    )
    # What is heard of a busy channel is received; sent anew, each of the 500 takes twice its time.
    described = sender._over_wifi(sent, "send")
    assert described.states_s == pytest.approx({"tx": 1e-3, "rx": 1e-3, "idle": 0.0, "sleep": 0.0})
    assert (described.octets_B, described.packets, described.packet_B) == (150.0, 2.0, 128.0)
    assert (described.busy_s, described.air_s, described.left_s, described.next_s) == pytest.approx(
        (4e-3, 1e-3, 4e-3, 4e-3)
    )
    heard = sender._over_wifi(sent, "receive")
    assert (heard.packets, heard.packet_B) == (1.5, 64.0)
    assert heard.states_s == pytest.approx({"tx": 0.0, "rx": 0.5e-3, "idle": 0.0, "sleep": 0.0})


@pytest.mark.parametrize(
    ("isa", "sleep_W", "described"),
    [
        ("thumbv7em", 10e-6, "asleep the device draws 10 uW, or 1 uW to 100 uW: nobody gave it"),
        ("aarch64", 0.3, "asleep the device draws 300 mW, or 30 mW to 3 W: nobody gave it"),
    ],
)
def test_what_a_device_draws_asleep_is_assumed_by_its_kind_within_ten_times_either_way(
    isa: str, sleep_W: float, described: str
) -> None:
    assumed: list[str] = []
    question = checked("asleep", BASE)
    card: Any = SimpleNamespace(card=SimpleNamespace(isa=isa, idle_power=None))
    assert _asleep(question, card, assumed) == pytest.approx((sleep_W, math.log(10)))
    assert assumed[0].startswith(described)
    given = checked("asleep", BASE, {"device.sleep": "33uW"})
    assert _asleep(given, card, assumed) == pytest.approx((33e-6, 0.0))
    assert len(assumed) == 1


def test_the_rail_is_the_radios_else_the_devices_else_a_cores_own() -> None:
    def rail_V(device: str, radio: str) -> float | None:
        question = checked("rail", {"flow": FLOW, "device": {"card": device}, "radio": {"card": radio}})
        return inputs.inputs(question, cards=None, allow_assumed=True).stage.rail_V

    assert rail_V("nrf52840", "sx1262-lora") == 3.3
    assert rail_V("nrf52840", "nrf52840-ble") == 3.0
    assert rail_V("nrf52840", "intel-5300") == 3.0, "that radio's card has no voltage"
    assert rail_V("cortex-a53-rk3399", "nrf52840-ble") == 1.125


@pytest.mark.parametrize(("radio", "evidence"), [("nrf52840-ble", "modelled"), ("wavelan-11", "assumed")])
def test_the_radios_evidence_is_that_of_the_numbers_in_use(radio: str, evidence: str) -> None:
    more: dict[str, Any] = {"radio.air": {"phy": "b"}} if radio == "wavelan-11" else {}
    described = ask({"radio.card": radio, **more}, allow_assumed=True)
    assert described.evidence["radio"] == evidence


WIDE = "the converter keeps 88 %, or 81 to 96 %: nobody gave it (supply.efficiency)"
OWN = "what the supply stage draws by itself is not counted: nobody gave it (supply.quiescent)"
NOBODY = ": nobody gave it (supply.stage: direct, ldo or dcdc)"


@pytest.mark.parametrize(
    ("question", "battery_V", "rail_V", "described"),
    [
        ({}, 3.7, 3.0, ["an LDO stands between 3.7 V and 3 V and takes 23 % more from the battery" + NOBODY, OWN]),
        ({}, 3.0, 3.0, ["the parts hang on the battery itself: 3 V for cards at 3 V" + NOBODY]),
        ({}, 3.3, 3.0, ["the parts hang on the battery itself: 3.3 V for cards at 3 V" + NOBODY]),
        ({}, 6.0, 3.0, ["an LDO stands between 6 V and 3 V and takes 100 % more from the battery" + NOBODY, OWN]),
        ({}, 6.1, 3.0, ["a DC/DC converter stands between 6.1 V and 3 V and keeps 88 %" + NOBODY, OWN]),
        ({}, 3.7, 1.9, ["a DC/DC converter stands between 3.7 V and 1.9 V and keeps 88 %" + NOBODY, OWN]),
        (
            {},
            3.7,
            None,
            ["no card says at which voltage its watts are drawn: the battery gives them without loss" + NOBODY],
        ),
        ({"stage": "dcdc"}, 3.7, 3.0, [WIDE, OWN]),
        ({"stage": "dcdc", "efficiency": 0.9, "quiescent": "1uW"}, 3.7, 3.0, []),
        ({"stage": "ldo", "quiescent": "1uW"}, 3.7, 3.0, []),
        ({"stage": "direct"}, 3.7, 3.0, []),
    ],
)
def test_a_supply_stage_is_told_with_what_it_takes_and_what_nobody_gave(
    question: dict[str, Any], battery_V: float, rail_V: float | None, described: list[str]
) -> None:
    assumed: list[str] = []
    days.by_voltages(SupplyOptions.model_validate(question), battery_V, rail_V, assumed)
    assert assumed == described


def test_no_framing_has_fewer_than_no_octets() -> None:
    table = framings()["full-nonce"].model_dump()
    with pytest.raises(ValidationError, match="greater than or equal to 0"):
        Framing.model_validate(table | {"header_B": -1})
    assert Framing.model_validate(table | {"header_B": 0}).in_front_B("aes128-gcm", 12) == 12
