"""What stands around the traffic: supply stage, link's upkeep, radio's rest and power; what can't be is refused."""

import math
from typing import Any

import numpy as np
import pytest

from support.advice import ask
from wattlock.advise import Advice, days
from wattlock.advise.days import DIRECT
from wattlock.errors import InputError, WattlockError

QUIET = {"device.sleep": "10uW"}
COIN: dict[str, Any] = {"battery": {"card": "cr2032"}}
HOURLY: dict[str, Any] = {"flow": [{"message": "20B", "every": "1h"}]}


def question(changes: dict[str, Any] | None = None, **tables: Any) -> Advice:
    return ask(QUIET | (changes or {}), allow_assumed=True, **tables)


def assumed(described: Advice, word: str) -> list[str]:
    return [one for one in described.inputs.assumed if word in one]


def at_the_battery(described: Advice) -> Any:
    """How many times the load's watts the battery gives."""
    return days.power_W(described.loads[:1], described.monte_carlo) / days.power_W(
        described.loads[:1], described.monte_carlo._replace(stage=DIRECT)
    )


def test_an_ldo_draws_the_loads_current_at_the_batterys_own_voltage() -> None:
    described = question({"supply.stage": "ldo"})
    volts = described.monte_carlo.batteries.numbers["voltage"]
    assert np.allclose(at_the_battery(described), volts / 3.0)
    direct = question({"supply.stage": "direct"})
    assert direct.best.charge_s > described.best.charge_s
    assert not assumed(described, "supply.stage")


def test_a_converter_draws_the_loads_watts_over_its_efficiency_and_a_stages_own_draw_comes_on_top() -> None:
    described = question({"supply.stage": "dcdc", "supply.efficiency": 0.5})
    assert np.allclose(at_the_battery(described), 2.0)
    more = question({"supply.stage": "dcdc", "supply.efficiency": 0.5, "supply.quiescent": "7uW"})
    added = days.power_W(more.loads[:1], more.monte_carlo) - days.power_W(described.loads[:1], described.monte_carlo)
    assert np.allclose(added, 7e-6)
    amperes = question({"supply.stage": "dcdc", "supply.efficiency": 0.5, "supply.quiescent": "2uA"})
    assert amperes.inputs.stage.quiescent_W == pytest.approx(2e-6 * 3.7)
    unknown = question({"supply.stage": "dcdc"})
    assert assumed(unknown, "supply.efficiency")
    assert {"supply efficiency"} <= {one.number for one in unknown.information}


@pytest.mark.parametrize(
    ("battery", "device", "kind"),
    [("lipo-1000", "nrf52840", "ldo"), ("cr2032", "nrf52840", "direct"), ("lipo-1000", "cortex-a53-rk3399", "dcdc")],
)
def test_a_stage_that_nobody_gave_is_assumed_by_the_voltages_and_told(battery: str, device: str, kind: str) -> None:
    described = question(battery={"card": battery}, device={"card": device}, radio={"card": "nrf52840-ble"})
    assert described.inputs.stage.kind == kind
    assert assumed(described, "supply.stage")


def test_a_stage_that_cant_be_is_refused() -> None:
    with pytest.raises(InputError, match=r"an LDO makes no 3 V of a battery of 2\.9 V"):
        question({"supply.stage": "ldo"}, **COIN)
    with pytest.raises(InputError, match="efficiency is a converter's"):
        question({"supply.efficiency": 0.9})


def test_shares_of_the_energy_add_up_with_self_discharge_and_supply_among_them() -> None:
    described = question(**HOURLY)
    shares = described.shares(described.best.number)
    assert math.fsum(shares.values()) == pytest.approx(1)
    assert shares["self-discharge"] > 0.5
    assert shares["supply"] > 0


def test_the_share_that_goes_by_itself_is_that_of_a_charge_followed_hour_by_hour() -> None:
    described = question(**HOURLY)
    leaked = days.leaked(described.charge_s[0], described.life_s[0], described.monte_carlo)
    volts = described.monte_carlo.batteries.numbers["voltage"]
    amperes = days.power_W(described.loads[:1], described.monte_carlo)[0] / volts
    for draw in (0, 1, 2):
        left = full = (
            described.monte_carlo.batteries.numbers["capacity"][draw]
            * described.monte_carlo.batteries.capacity_share[draw]
        )
        gone, step_s = 0.0, 600.0
        for _ in range(int(described.life_s[0][draw] / step_s)):
            own = left * described.monte_carlo.batteries.self_discharge_per_s[draw] * step_s
            gone += own
            left -= own + amperes[draw] * step_s
        assert leaked[draw] == pytest.approx(gone / (full - left), abs=0.002)


def test_a_rest_that_the_card_has_no_power_for_is_refused_and_the_key_gives_it() -> None:
    wifi: dict[str, Any] = {"radio": {"card": "esp32-wifi"}, "device": {"card": "esp32"}}
    with pytest.raises(InputError, match="radio card esp32-wifi has no power for sleep") as refusal:
        question({"radio.rest": "sleep"}, **wifi)
    assert "radio.sleep = 10uW" in refusal.value.hint
    idle = question({"radio.rest": "idle"}, **wifi)
    asleep = question({"radio.rest": "sleep", "radio.sleep": "50uW"}, **wifi)
    assert asleep.best.charge_s > 10 * idle.best.charge_s
    assert assumed(asleep, "association.every"), "beacons are listened to"
    with pytest.raises(InputError, match="0 W is no power"):
        question({"radio.sleep": "0uW"}, **wifi)


def test_a_station_that_was_off_must_join_again_and_pays_for_it() -> None:
    wifi: dict[str, Any] = {"radio": {"card": "esp32-wifi"}, "device": {"card": "esp32"}} | HOURLY
    with pytest.raises(InputError, match="must join its network again") as refusal:
        question({"radio.rest": "off"}, **wifi)
    assert "association.every = 3600s" in refusal.value.hint
    assert "3s with scan and DHCP" in refusal.value.hint
    off = {"radio.rest": "off", "association.every": "1h"}
    short, long_ = (question({**off, "association.time": time}, **wifi) for time in ("200ms", "3s"))
    card = long_.inputs.sender.radio.card
    assert card.rx
    listening_W = card.power_W(card.rx) * (3 - 0.2) / 3600
    more_W = long_.loads[0].group_W("upkeep") - short.loads[0].group_W("upkeep")
    assert more_W == pytest.approx(listening_W)
    with pytest.raises(InputError, match=r"association\.every is 2 h, messages go each 1 h"):
        question({**off, "association.every": "2h", "association.time": "1s"}, **wifi)


def test_a_sleeping_child_that_is_silent_for_longer_than_its_parent_waits_asks_it() -> None:
    thread: dict[str, Any] = {"radio": {"card": "nrf52840-802154"}}
    described = question(**HOURLY, **thread)
    assert assumed(described, "keep_alive.every")
    assert described.loads[0].group_W("upkeep") > 0
    often = question({"flow[0].every": "3min"}, **HOURLY, **thread)
    assert often.loads[0].group_W("upkeep") == 0
    own = question({"keep_alive.every": "2min"}, **HOURLY, **thread)
    assert own.loads[0].group_W("upkeep") == pytest.approx(2 * described.loads[0].group_W("upkeep"))
    assert not assumed(own, "keep_alive.every")


def test_a_connection_pays_an_empty_exchange_for_each_event_and_listens_longer_by_its_clocks() -> None:
    described = question({"connection.interval": "1s", "connection.latency": 3, "connection.clock_ppm": 50}, **HOURLY)
    card = described.inputs.sender.radio.card
    assert card.voltage
    assert card.rx
    assert card.idle
    volts, sent = card.voltage.in_SI, card.sending(1.0)
    assert sent
    # 10 octets of an empty PDU at 1 Mb/s each way, and T_IFS of 150 us twice.
    event_J = volts * (80e-6 * sent.in_SI + 80e-6 * card.rx.in_SI + 300e-6 * card.idle.in_SI)
    events_per_s = (3600 / 4 - 1) / 3600
    upkeep_W = event_J * events_per_s + 50e-6 * volts * card.rx.in_SI
    assert described.loads[0].group_W("upkeep") == pytest.approx(upkeep_W, rel=1e-9)


def test_a_connection_that_nobody_gave_is_assumed_with_its_events_and_one_of_frequent_messages_needs_no_more() -> None:
    described = question(**HOURLY)
    assert assumed(described, "connection.interval")
    assert described.question.connection
    assert described.question.connection.every_s == pytest.approx(31 * 0.06)
    busy = question({"connection.clock_ppm": 0})
    assert busy.loads[0].group_W("upkeep") == 0, "a message a second is an event a second"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"connection.interval": "1h"}, "interval: must be at most 4 s"),
        ({"connection.interval": "5ms"}, "interval: must be at least 7.5 ms"),
        ({"connection.interval": "8ms"}, "interval: goes in steps of 1.25 ms, and 8ms lies between two: write 7.5ms"),
        ({"connection.supervision": "33s"}, "supervision: must be at most 32 s"),
        ({"connection.supervision": "6.005s"}, "supervision: goes in steps of 10 ms"),
        ({"connection.interval": "4s", "connection.latency": 10}, "at most 32 s"),
        ({"connection.interval": "1s", "connection.latency": 2, "connection.supervision": "6s"}, "more than twice"),
        ({"connection.kept": False}, "must be made anew"),
        ({"keep_alive.every": "1h"}, "kept by its events"),
        ({"radio.link.advertising": True, "connection.interval": "1s"}, "an advertisement has none"),
        ({"radio.card": "nrf52840-802154", "connection.interval": "1s"}, "is of Bluetooth LE"),
    ],
)
def test_a_connection_that_cant_be_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as refusal:
        question(changes, **HOURLY)
    assert says in str(refusal.value)


def test_a_connection_made_anew_pays_its_making_and_the_message_waits_for_it() -> None:
    anew = {"connection.kept": False, "association.every": "1h", "association.time": "30ms"}
    described, kept = question(anew, **HOURLY), question({"connection.interval": "100ms"}, **HOURLY)
    radio = described.inputs.sender.radio.card
    assert radio.rx
    assert described.loads[0].group_W("upkeep") == pytest.approx(radio.power_W(radio.rx) * 0.03 / 3600)
    assert kept.loads[0].latency_s - described.loads[0].latency_s == pytest.approx(0.07)


def test_what_a_sleeping_peripheral_receives_waits_for_the_event_it_listens_in() -> None:
    flow = [{"message": "20B", "every": "1h", "direction": "receive"}]
    short, long_ = (question({"connection.latency": left_out}, flow=flow).loads[0].latency_s for left_out in (0, 9))
    assert long_ - short == pytest.approx(9 * 0.06)


@pytest.mark.parametrize(
    ("octets", "waits_s"),
    [
        # SF9 at 125 kHz, symbols of 4.096 ms, 12.25 of preamble: 34 octets take 48 more.
        (12, (12.25 + 48) * 4.096e-3),
        # 128 octets take 153, then 99 times that is silence, then 41 octets take 58.
        (125, 100 * (12.25 + 153) * 4.096e-3 + (12.25 + 58) * 4.096e-3),
    ],
)
def test_a_message_over_lorawan_has_left_before_its_windows_and_after_the_bands_silence(
    octets: int, waits_s: float
) -> None:
    lora: dict[str, Any] = {"radio": {"card": "sx1262-lora", "link": {"data_rate": 3}}}
    only = {"choices.ciphers": ["aes128-ccm8"], "choices.framings": ["implicit-nonce"], "device.accelerator": False}
    described = question(only, flow=[{"message": f"{octets}B", "every": "1h"}], **lora)
    assert described.loads[0].latency_s == pytest.approx(waits_s, abs=1e-3)


def test_an_answer_without_wake_ups_says_that_it_takes_them_for_nothing() -> None:
    assert assumed(question(), "wake_up.time")
    assert not assumed(question({"wake_up.time": "2ms"}), "wake_up.time")


def test_a_rail_that_is_asked_for_above_the_batterys_voltage_is_made_by_a_converter() -> None:
    described = question({"supply.voltage_V": 5.0}, battery={"card": "lipo-1000"})
    assert described.inputs.stage.kind == "dcdc"
    assert assumed(described, "between 3.7 V and 5 V")


@pytest.mark.parametrize("radio", ["nrf52840-ble", "sx1276-lora", "esp32-wifi", "nrf52840-802154"])
def test_a_power_without_a_figure_is_refused_on_every_radio(radio: str) -> None:
    with pytest.raises(InputError, match=r"radio.tx_power_dBm: .* no draw at 90 dBm"):
        question({"radio.card": radio, "radio.tx_power_dBm": 90.0, "radio.rest": "off"})


def test_a_power_between_the_cards_figures_is_taken_and_told() -> None:
    lora: dict[str, Any] = {"radio": {"card": "sx1276-lora"}, "flow": [{"message": "12B", "every": "10min"}]}
    low, between, high = (question({"radio.tx_power_dBm": dBm}, **lora) for dBm in (7.0, 10.0, 13.0))
    watts = [one.loads[0].group_W("radio") for one in (low, between, high)]
    assert watts == sorted(watts)
    assert watts[0] < watts[1] < watts[2]
    assert assumed(between, "between 7 and 13 dBm")
    assert not assumed(low, "dBm lies between")
    assert assumed(question(**lora), "radio.tx_power_dBm")
    with pytest.raises(WattlockError, match="more than is allowed"):
        question({"radio.tx_power_dBm": 20.0}, **lora)
