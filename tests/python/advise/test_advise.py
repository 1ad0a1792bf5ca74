"""`wattlock advise`: floors and their rules, costs, radios, framings, ties, history, what would narrow it."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.advice import BASE, TODAY, ask
from wattlock.advise import Advice, advise, checked, prose
from wattlock.advise.choices import framings
from wattlock.advise.rank import ranked, tied
from wattlock.advise.sending import PricedPacket, Sender
from wattlock.energy import device_cards, radio_cards
from wattlock.errors import EvidenceError, InputError
from wattlock.link import lowpower
from wattlock.link.scenario import Named, message_of
from wattlock.security import load as book
from wattlock.security import statements
from wattlock.security import status as books
from wattlock.security import status as statuses
from wattlock.security.status import rules
from wattlock.targets import toolbox
from wattlock.targets.toolbox import Toolbox


@pytest.fixture(scope="module")
def answer() -> Advice:
    return ask()


def test_what_is_not_given_is_assumed_and_told(answer: Advice) -> None:
    described = " ".join(answer.inputs.assumed)
    for said in ("nrf52840-ble", "1000 mAh", "asleep"):
        assert said in described
    assert answer.evidence["answer"] == "assumed"


def test_shares_of_the_energy_add_up_to_one(answer: Advice) -> None:
    frame = answer.ranked
    shares = [name for name in frame.columns if name.endswith("_share") and name != "radio_busy_share"]
    assert frame.select(shares).sum_horizontal().to_list() == pytest.approx([1.0] * frame.height)


def test_broken_and_legacy_ciphers_are_history_and_never_ranked(answer: Advice) -> None:
    assert {choice.security.status for choice in answer.choices} <= {"approved", "acceptable"}
    assert all(choice.security.authenticated for choice in answer.choices)
    past = {one.cipher: one for one in answer.history}
    assert set(past) == {"blowfish128-cbc", "rc6-20-128-cbc"}, "64 octets are too few for the advice on RC4"
    assert all(one.at_most and "nothing notices a changed message" in one.not_done for one in past.values())


def test_rc4_is_told_of_from_100_octets_on() -> None:
    described = ask(flow=[{"message": "100B", "every": "1s"}])
    assert "rc4-128" in {one.cipher for one in described.history}


def test_every_rule_names_a_source_that_is_in_the_book() -> None:
    known = book().sources
    every = [*rules().approved, *rules().lifetime, *rules().tag, *rules().memory, *rules().forbidden]
    assert all(one.source in known for one in every)
    assert len(list(statements(book()))) > 100


def test_nist_excludes_chacha_with_a_citation_and_keeps_aes_and_ascon() -> None:
    described = ask({"floor.approved": "nist"})
    assert {one.choice.cipher for one in described.excluded if one.reasons[0].about == "approved"} == {
        "aes128-eax",
        "aes128-gcm-siv",
        "aes128-ocb3",
        "aes256-eax",
        "aes256-gcm-siv",
        "aes256-ocb3",
        "chacha20-poly1305",
        "xchacha20-poly1305",
    }
    assert {"aes128-gcm", "ascon-aead128"} <= {choice.cipher for choice in described.choices}


def test_contradicting_floors_name_the_rules_and_the_nearest_choice() -> None:
    with pytest.raises(InputError, match=r"no choice is left of .*strength") as caught:
        ask({"floor.strength": 512})
    assert "nearest is aes256" in caught.value.hint or "nearest is chacha20" in caught.value.hint
    with pytest.raises(InputError, match="latency") as late:
        ask({"floor.latency": "1us"})
    assert "1 us allowed" in late.value.hint
    with pytest.raises(InputError, match="memory") as large:
        ask({"floor.memory": "8B"})
    # Of all ciphers with a cost Ascon keeps the fewest octets, AES-256 the most.
    assert "nearest is ascon-aead128" in large.value.hint


def test_a_radio_that_cannot_carry_the_traffic_says_by_how_much() -> None:
    with pytest.raises(InputError, match="radio") as caught:
        ask(flow=[{"message": "100kB", "every": "100ms"}])
    assert "times the time there is" in caught.value.hint
    with pytest.raises(InputError, match="duty cycle") as quiet:
        ask({"radio.card": "sx1262-lora", "radio.link": {"data_rate": 0}}, flow=[{"message": "20B", "every": "20s"}])
    assert "the band allows 1 %" in quiet.value.hint


def test_missing_card_values_are_named_with_what_to_measure(tmp_path: Path) -> None:
    text = (Path(radio_cards.__file__).parents[1] / "data/radios/nrf52840-ble.toml").read_text()
    bare = text[: text.index("[idle]")]
    (tmp_path / "radios").mkdir()
    (tmp_path / "radios" / "bare.toml").write_text(bare)
    question = checked("test", BASE, {"radio.card": "bare"})
    with pytest.raises(EvidenceError, match="radio card bare has no idle") as caught:
        advise(question, cards=tmp_path, today=TODAY)
    assert "measure" in caught.value.hint


def test_an_instruction_set_without_published_cycles_needs_consent_and_says_so() -> None:
    tables: dict[str, Any] = {"device": {"card": "cortex-a53-rk3399"}, "radio": {"card": "nrf52840-ble"}}
    with pytest.raises(EvidenceError, match="nobody counted it on aarch64: borrowed from cortex-m4"):
        ask(**tables)


def test_the_radio_that_a_device_card_names_has_a_card() -> None:
    named = {radio for name in device_cards.names() if (radio := device_cards.load(name).card.radio)}
    assert named
    assert named <= set(radio_cards.RADIOS.names())


def test_a_doubted_battery_is_refused_where_it_was_named_and_nobody_consented() -> None:
    with pytest.raises(EvidenceError, match="battery card lipo-1000"):
        ask({"battery.card": "lipo-1000"})


def test_lives_that_differ_by_less_than_1_percent_are_tied_and_surely_longer_ones_are_not() -> None:
    draw = np.random.default_rng(1)
    common = draw.lognormal(10, 0.5, 2_000)
    places = ranked(np.array([common * 0.8, common * 0.995, common, common * draw.lognormal(-0.02, 0.2, 2_000)]))
    assert [place.number for place in places][:2] == [2, 1]
    assert {place.number: place.group for place in places}[1] == 1
    assert not tied(common, common * 0.8), "in the same world a difference shows, however wide the interval is"
    assert {place.number: place.group for place in places}[0] > 1


def test_the_radios_joules_are_the_links_own() -> None:
    radio = radio_cards.load("nrf52840-802154")
    sender = Sender(radio, checked("test", BASE).radio)
    packet = PricedPacket(90, "send", "5")
    spent = sender.evaluate([packet], None)[packet]
    joules = sum(
        time_s * radio.card.power_W(sender.number(state)) for state, time_s in spent.states_s.items() if time_s
    )
    question = {"payload_B": 90, "sender": radio.name, "link": {"standard": "802.15.4", "security_level": 5}}
    described = lowpower.evaluate(Named("test", message_of(question, "test"), {}))
    assert joules == pytest.approx(described.radios[0].total.J)
    answered_B = next(line.octets_B for line in described.ledger.lines if line.what == "acknowledgements")
    assert spent.octets_B == described.ledger.octets_B - answered_B


def test_what_the_other_side_answers_is_no_octet_of_a_message_on_any_radio() -> None:
    # BLE: preamble 1, access address 4, header 2, L2CAP 4, ATT 3, MIC 4, CRC 3.
    ble = Sender(radio_cards.load("nrf52840-ble"), checked("test", BASE).radio)
    assert ble.evaluate([PricedPacket(20, "send", "ccm")], None)[PricedPacket(20, "send", "ccm")].octets_B == 20 + 21
    # Wi-Fi: QoS data header 26, CCMP 16, LLC 8, IPv4 20, UDP 8, FCS 4.
    wifi = Sender(radio_cards.load("esp32-wifi"), checked("test", BASE).radio)
    packet = PricedPacket(20, "send", "ccmp")
    assert wifi.evaluate([packet], toolbox.find())[packet].octets_B == pytest.approx(20 + 82, abs=0.01)


def test_frames_that_arrive_wrong_are_sent_again_in_the_mean() -> None:
    radio = radio_cards.load("nrf52840-ble")
    clean, bad = (Sender(radio, checked("test", BASE, {"radio.bit_errors": errors}).radio) for errors in (0.0, 1e-4))
    packet = PricedPacket(80, "send", "ccm")
    octets_B = clean.evaluate([packet], None)[packet].octets_B
    # The empty PDU that answers it may arrive wrong too: preamble 1, access address 4, header 2, CRC 3.
    again = 1 / (1 - 1e-4) ** (8 * (octets_B + 10))
    assert bad.evaluate([packet], None)[packet].octets_B == pytest.approx(octets_B * again)


@pytest.mark.parametrize(
    ("framing", "cipher", "around_B"),
    [
        ("full-nonce", "aes128-gcm", 12),
        ("implicit-nonce", "aes128-gcm", 1),
        ("dtls13", "aes128-gcm", 3),
        ("dtls12", "aes128-gcm", 21),
        ("dtls12", "chacha20-poly1305", 13),
        ("wireguard", "chacha20-poly1305", 16),
    ],
)
def test_framings_put_the_octets_of_their_standards_in_front(framing: str, cipher: str, around_B: int) -> None:
    assert framings()[framing].carries(cipher)
    assert framings()[framing].in_front_B(cipher, 12) == around_B


def test_wireguard_pads_to_16_and_dtls_13_seals_its_content_type() -> None:
    assert [framings()["wireguard"].inside_B(size) for size in (0, 1, 16, 17)] == [0, 16, 16, 32]
    assert framings()["dtls13"].inside_B(64) == 65


def test_a_latency_lets_messages_be_gathered_and_never_longer_than_it_allows() -> None:
    described = ask({"floor.latency": "5s"})
    assert {choice.aggregate for choice in described.choices} == {1, 2, 4}
    assert all(load.latency_s <= 5 for load in described.loads)
    many = described.choices[described.best.number].aggregate
    assert many > 1, "fewer packets last longer"


def test_the_measurement_that_narrows_most_is_that_of_sleep_where_nobody_gave_it(answer: Advice) -> None:
    assert answer.information[0].number == "sleep"
    given = ask({"device.sleep": "10uW"})
    assert "sleep" not in {one.number for one in given.information if one.narrower > 0.01}
    wide, narrow = (one.best.high_s / one.best.low_s for one in (answer, given))
    assert narrow < wide


def test_a_latency_that_cannot_be_known_excludes_and_says_why() -> None:
    tables: dict[str, Any] = {
        "device": {"card": "stm32l476"},
        "radio": {"card": "nrf52840-ble"},
        "floor": {"latency": "1s"},
    }
    with pytest.raises(InputError) as caught:
        ask(**tables, allow_assumed=True)
    assert "no clock" in caught.value.hint


def test_decryptions_here_cost_their_joules_and_no_octet() -> None:
    once, often = ask({"device.sleep": "1uW"}), ask({"device.sleep": "1uW", "decrypt_share": 3.0})
    for choice, first, second in zip(once.choices, once.loads, often.loads, strict=True):
        seals_J, opens_J = (choice.cost.of(what, choice.frame.inside_B(64)) for what in ("seal_J", "open_J"))
        assert second.octets_B == first.octets_B
        assert second.group_W("cipher") / first.group_W("cipher") == pytest.approx(1 + 3 * opens_J / seals_J)


def test_limits_on_one_key_ask_for_new_ones_and_cost_handshakes(monkeypatch: pytest.MonkeyPatch) -> None:
    # No sound cipher's own limit is reached at these rates within ten years: one of 2^32 messages is.
    own = (files("wattlock") / "data" / "security.toml").read_text(encoding="utf-8")
    tighter = books.parse(own.replace("messages_log2 = 41.5", "messages_log2 = 32"))
    monkeypatch.setattr(statuses, "load", lambda: tighter)
    session = {"every": "100y", "sent": "100B", "received": "100B"}
    flow = [{"message": "16B", "every": "4ms"}]
    described = ask({"session": session, "choices.ciphers": ["aes128-gcm"]}, flow=flow)
    load = described.loads[described.best.number]
    assert described.ranked["packets_a_key"][0] == 2.0**32
    assert load.rekeys_per_s == pytest.approx(250 / 2**32)
    assert load.group_W("handshake") > 0
    assert any(
        "ask for a new one every 199 d; a handshake is counted for each" in one for one in prose.notes(described)
    )
    alone = ask({"choices.ciphers": ["aes128-gcm"]}, flow=flow)
    assert any("not counted, as the question has no session" in one for one in prose.notes(alone))


def test_a_limit_of_random_nonces_asks_no_new_key_of_a_counter() -> None:
    described = ask({"choices.ciphers": ["aes128-gcm"]}, flow=[{"message": "16B", "every": "4ms"}])
    # Of 2^32 random nonces there would be a new key every 199 days.
    assert described.ranked["packets_a_key"][0] > 2.0**41
    assert not any("ask for a new one" in one for one in prose.notes(described))


def test_a_card_of_packets_and_octets_is_valued_by_its_linear_model() -> None:
    described = ask({"radio.card": "wavelan-11", "radio.air": {"phy": "b"}}, allow_assumed=True)
    names = {name for _, factors in described.loads[0].terms_W for name in factors}
    assert {"radio send_packet", "radio send_byte", "radio idle"} <= names


def test_a_signal_that_lets_nothing_through_is_refused_with_its_share() -> None:
    with pytest.raises(InputError, match=r"0\.0 % of the packets arrive at -95 dBm"):
        ask({"device.card": "esp32-c3", "radio.rssi_dBm": -95.0}, allow_assumed=True)
    with pytest.raises(InputError, match="bit_errors: is for radios that are not"):
        ask({"device.card": "esp32-c3", "radio.bit_errors": 1e-5}, allow_assumed=True)


def test_a_weaker_signal_costs_more_of_wifi() -> None:
    question = checked("test", BASE, {"radio.air": {"phy": "g", "rate_Mb_s": 54.0}})
    strong, weak = (
        Sender(radio_cards.load("esp32-c3-wifi"), question.radio.model_copy(update={"rssi_dBm": signal}))
        for signal in (-50.0, -72.0)
    )
    packet = PricedPacket(800, "send", "ccmp")
    first, second = (one.evaluate([packet], toolbox.find())[packet].states_s["tx"] for one in (strong, weak))
    assert second > 1.01 * first


def test_wifis_air_is_asked_in_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    answers = Toolbox.answers

    def counted(net: Toolbox, verb: str, lines: Any) -> list[Any]:
        question = list(lines)
        calls.append(len({json.dumps(line, sort_keys=True) for line in question}) == len(question))
        return answers(net, verb, question)

    monkeypatch.setattr(Toolbox, "answers", counted)
    described = ask({"device.card": "esp32-c3"}, allow_assumed=True)
    assert calls == [True], "one process, and no question twice"
    assert described.inputs.sender.technology == "802.11"


def test_a_current_is_a_power_at_the_cards_voltage_as_data_sheets_state_it() -> None:
    # The nRF52840's cards stand at 3 V.
    currents = ask({"device.sleep": "3uA", "radio.rest": "sleep", "radio.sleep": "1uA"})
    powers = ask({"device.sleep": "9uW", "radio.rest": "sleep", "radio.sleep": "3uW"})
    assert currents.best.seconds == pytest.approx(powers.best.seconds, rel=1e-12)
    assert (
        currents.best.seconds < ask({"device.sleep": "3uW", "radio.rest": "sleep", "radio.sleep": "1uW"}).best.seconds
    )
    with pytest.raises(InputError, match=r"device\.sleep is a current, and the voltage of the supply is not known"):
        ask({"device.card": "cortex-a53-rk3399", "device.sleep": "3uA"}, allow_assumed=True)
    with pytest.raises(InputError, match=r'device\.sleep: "3uV" is no power'):
        ask({"device.sleep": "3uV"})
