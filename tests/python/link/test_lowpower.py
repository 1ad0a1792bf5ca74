"""Radios that are not 802.11: times that the standards print, ledgers that add up, joules by hand."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from wattlock.energy import radio_cards
from wattlock.errors import EvidenceError, InputError
from wattlock.link import ble, lorawan, lowpower
from wattlock.link.ble import Ble
from wattlock.link.framing import cut
from wattlock.link.ieee802154 import Ieee802154
from wattlock.link.ledger import LinkAnswer, ledger_rows
from wattlock.link.lorawan import Lorawan, Modulation, airtime_us
from wattlock.link.scenario import Named, RadioMessage, message_of, read

LINKS = st.one_of(
    st.builds(
        Ble,
        phy=st.sampled_from(["1M", "2M", "S2", "S8"]),
        encrypted=st.booleans(),
        max_pdu_B=st.integers(27, 251),
        att_mtu_B=st.integers(23, 517),
    ),
    st.builds(
        Ieee802154,
        addressing=st.sampled_from(["short", "extended"]),
        security_level=st.integers(0, 7),
        key_id_mode=st.integers(0, 3),
        adaptation=st.sampled_from(["none", "6lowpan"]),
        acknowledged=st.booleans(),
    ),
    st.builds(Lorawan, data_rate=st.integers(0, 6), confirmed=st.booleans(), options_B=st.integers(0, 15)),
    st.builds(Lorawan, region=st.just("US915"), data_rate=st.integers(1, 4), confirmed=st.booleans()),
)
CARD = {"ble": "nrf52840-ble", "802.15.4": "nrf52840-802154", "lorawan": "sx1276-lora"}


def message(link: Any, payload_B: int = 20, **more: Any) -> RadioMessage:
    return RadioMessage(payload_B=payload_B, sender=CARD[link.technology], link=link, **more)


def evaluate(requested: RadioMessage, **more: Any) -> LinkAnswer:
    return lowpower.evaluate(Named("message", requested, {}), **more)


@pytest.mark.parametrize(
    ("phy", "payload_B", "expected_us"),
    # Bluetooth Core 5.4, Vol 6, Part B, 4.5.10: the least and the greatest time of a data PDU.
    [("1M", 251, 2120), ("2M", 251, 1064), ("S2", 251, 4542), ("S8", 251, 17040), ("1M", 27, 328), ("S8", 27, 2704)],
)
def test_a_full_pdu_of_bluetooth_takes_what_the_specification_says(phy: Any, payload_B: int, expected_us: int) -> None:
    facts = ble.framing()
    psdu_B = facts.header + payload_B + facts.mic + facts.crc
    assert Ble(phy=phy).airtime_ns(psdu_B) == expected_us * 1000


def test_a_full_frame_of_802_15_4_takes_4256_us_and_its_acknowledgement_352() -> None:
    assert Ieee802154().airtime_ns(127) == 4_256_000
    assert Ieee802154().airtime_ns(5) == 352_000


@pytest.mark.parametrize(
    ("spreading_factor", "payload_B", "expected_us"),
    # Printed by public calculators of AN1200.13's formula (164.864, 41.216 and 577.536 ms; 72, 144, 289 and 991 ms): at
    # 125 kHz and 4/5 with 8 symbols of preamble, header and CRC, low data rate optimisation at SF11 and SF12.
    [
        (9, 13, 164_864),
        (7, 10, 41_216),
        (8, 10, 72_192),
        (9, 10, 144_384),
        (10, 10, 288_768),
        (11, 10, 577_536),
        (12, 10, 991_232),
    ],
)
def test_a_lora_packet_takes_what_semtechs_formula_gives(
    spreading_factor: int, payload_B: int, expected_us: int
) -> None:
    assert airtime_us(Modulation(spreading_factor, 125), payload_B) == expected_us


def test_more_redundancy_lengthens_each_block_of_a_lora_packet_by_a_symbol() -> None:
    # 13 octets at SF7: ceil((104 - 28 + 28 + 16) / 28) = 5 blocks of 1024 us a symbol.
    times = [airtime_us(Modulation(7, 125), 13, coding_rate=rate) for rate in (1, 2, 3, 4)]
    assert {after - before for before, after in itertools.pairwise(times)} == {5 * 1024}


@pytest.mark.parametrize("data_rate", range(5))
def test_the_longest_uplink_of_the_us_stays_within_400_ms(data_rate: int) -> None:
    link = Lorawan(region="US915", data_rate=data_rate)
    assert 0 < link.airtime_ns(link.room_B + 13) <= 400_000_000


@given(link=LINKS, sizes=st.tuples(st.integers(0, 2000), st.integers(0, 60), st.integers(0, 900)))
def test_a_ledger_adds_up_to_its_frames_in_octets_and_nanoseconds(link: Any, sizes: tuple[int, int, int]) -> None:
    sent = lowpower.ledger(message(link, sizes[0], cipher_B=sizes[1], encoding_B=sizes[2]))
    frames = list(link.frames(sum(sizes)))
    around = [
        event
        for place, frame in enumerate(frames)
        for event in link.around(frame, link.airtime_ns(sum(frame)), last=place == len(frames) - 1)
    ]
    time_ns = sum(link.airtime_ns(sum(frame)) for frame in frames) + sum(event.time_ns for event in around)
    assert sent.frames == len(frames)
    assert sent.time_ns == time_ns
    assert sent.octets_B == sum(sum(f) + link.phy_B for f in frames) + sum(event.octets_B for event in around)
    by_line = {line.what: line.octets_B for line in sent.lines}
    assert tuple(by_line.get(what, 0) for what in lowpower.DATA) == sizes
    for states in sent.states_ns.values():
        assert sum(states.values()) == time_ns


@given(link=LINKS, payload_B=st.integers(0, 3000), more_B=st.integers(0, 300))
def test_more_bytes_never_take_less_time(link: Any, payload_B: int, more_B: int) -> None:
    less, more = (lowpower.ledger(message(link, size)) for size in (payload_B, payload_B + more_B))
    assert less.time_ns <= more.time_ns
    assert less.octets_B <= more.octets_B


@given(link=LINKS, payload_B=st.integers(0, 3000))
def test_no_frame_is_longer_than_its_standard_allows(link: Any, payload_B: int) -> None:
    for frame in link.frames(payload_B):
        if isinstance(link, Ble):
            assert frame.data_B + frame.transport_B <= link.max_pdu_B
        elif isinstance(link, Ieee802154):
            assert sum(frame) <= 127
        else:
            assert frame.data_B <= link.room_B


def test_fragments_of_6lowpan_but_the_last_carry_multiples_of_eight_octets() -> None:
    # 127 less 11 of MAC and 10 of security leave 106: FRAG1 4 and headers 6 leave 96, FRAGN 5 leaves 96 of 101.
    frames = list(Ieee802154(security_level=5, key_id_mode=1).frames(300))
    assert [(frame.data_B, frame.transport_B) for frame in frames] == [(96, 10), (96, 5), (96, 5), (12, 5)]


def test_a_message_that_fits_into_one_frame_is_no_fragment() -> None:
    assert [frame.transport_B for frame in Ieee802154().frames(100)] == [6]
    assert len(list(Ieee802154().frames(101))) == 2


@pytest.mark.parametrize(("level", "mic_B"), [(1, 4), (2, 8), (3, 16), (4, 0), (5, 4), (6, 8), (7, 16)])
def test_security_of_802_15_4_costs_its_octets_at_32_us_each(level: int, mic_B: int) -> None:
    bare, protected = (lowpower.ledger(message(Ieee802154(security_level=one))) for one in (0, level))
    added_B = 1 + 4 + 1 + mic_B
    assert protected.octets_B - bare.octets_B == added_B
    assert protected.time_ns - bare.time_ns == added_B * 32_000


def test_the_mic_of_bluetooth_costs_32_us_at_1_Mb_s_and_256_at_S8() -> None:
    for phy, expected_ns in (("1M", 32_000), ("2M", 16_000), ("S2", 64_000), ("S8", 256_000)):
        times = [lowpower.ledger(message(Ble(phy=phy, encrypted=one))).time_ns for one in (False, True)]  # type: ignore[arg-type]
        assert times[1] - times[0] == expected_ns


def test_a_tag_that_does_not_fit_costs_a_second_frame() -> None:
    link = Ble(max_pdu_B=27, att_mtu_B=23)
    assert lowpower.ledger(message(link, 20)).frames == 1
    with_tag = lowpower.ledger(message(link, 20, cipher_B=16))
    assert with_tag.frames == 2
    assert {line.what: line.octets_B for line in with_tag.lines}["acknowledgements"] == 20


def test_two_uplinks_at_one_percent_start_a_hundred_airtimes_apart() -> None:
    link = Lorawan(data_rate=0)
    sent = lowpower.ledger(message(link, 102))
    assert sent.frames == 2
    frame_ns = link.airtime_ns(51 + 13)
    windows_ns = lowpower.ledger(message(link, 51)).time_ns - frame_ns
    assert sent.time_ns == 100 * frame_ns + frame_ns + windows_ns


def test_a_confirmed_uplink_has_one_window_and_an_answer() -> None:
    open_, answered = (lowpower.ledger(message(Lorawan(confirmed=one))) for one in (False, True))
    assert {line.what for line in open_.lines} - {line.what for line in answered.lines} == {"receive windows"}
    answer = next(line for line in answered.lines if line.what == "acknowledgements")
    assert answer.time_ns == airtime_us(Modulation(7, 125), 12, crc=False) * 1000


def test_joules_of_one_pdu_are_power_times_time_by_hand() -> None:
    answer = evaluate(message(Ble(), 20, receiver=CARD["ble"]))
    sender, receiver = answer.radios
    # 1 + 4 + 2 + 4 + 3 + 20 + 4 + 3 = 41 octets; the empty PDU has 10.
    tx_us, rx_us, idle_us = 328, 80, 300
    assert (
        pytest.approx(3.0 * (6.4e-3 * tx_us + 6.26e-3 * rx_us + 6.26e-3 * idle_us), rel=1e-12) == 1e6 * sender.total.J
    )
    assert (
        pytest.approx(3.0 * (6.26e-3 * tx_us + 6.4e-3 * rx_us + 6.26e-3 * idle_us), rel=1e-12) == 1e6 * receiver.total.J
    )
    assert pytest.approx(3.0 * (6.4e-3 - 6.26e-3) * tx_us, rel=1e-9) == 1e6 * sender.marginal.J


def test_joules_of_one_frame_of_802154_are_power_times_time_by_hand() -> None:
    answer = evaluate(message(Ieee802154(security_level=0, adaptation="none"), 20, receiver=CARD["802.15.4"]))
    sender, receiver = answer.radios
    # 32 us an octet. A mean back-off of 3.5 periods of 20 symbols, 8 symbols of listening whether the channel is clear,
    # 12 to turn round, the frame, 12 to turn round, an acknowledgement of 5 + 6 octets; a symbol is 16 us.
    back_off_us, clear_us, turn_us, answer_us = 1120, 128, 192, 352
    frame_us = answer.ledger.states_ns["sender"]["tx"] / 1000
    assert frame_us == 32 * (6 + 20 + Ieee802154().mac_B)
    idle_us = back_off_us + 2 * turn_us
    assert answer.ledger.states_ns["sender"] == {
        "tx": frame_us * 1000,
        "rx": (clear_us + answer_us) * 1000,
        "idle": idle_us * 1000,
    }
    heard_uJ = 3.0 * 6.53e-3 * (clear_us + answer_us + idle_us)
    assert pytest.approx(3.0 * 6.4e-3 * frame_us + heard_uJ, rel=1e-12) == 1e6 * sender.total.J
    assert (
        pytest.approx(3.0 * (6.53e-3 * (frame_us + clear_us + idle_us) + 6.4e-3 * answer_us), rel=1e-12)
        == 1e6 * receiver.total.J
    )


def test_a_margin_that_the_card_cannot_tell_from_nothing_reaches_below_zero() -> None:
    sender = evaluate(message(Ble(), 20)).radios[0]
    margin = sender.marginal
    assert margin.low_J < 0 < margin.J < margin.high_J < sender.total.J
    above, below = margin.high_J - margin.J, margin.J - margin.low_J
    assert above == pytest.approx(below)


@given(link=LINKS, payload_B=st.integers(0, 400))
def test_lines_add_up_to_the_total_and_the_margin_is_at_most_that(link: Any, payload_B: int) -> None:
    one = evaluate(message(link, payload_B)).radios[0]
    assert sum(one.by_line_J.values()) == pytest.approx(one.total.J)
    # At 0 dBm the nRF52840 draws less while it sends 802.15.4 than while it listens (6.40 and 6.53 mA).
    assert one.marginal.J <= one.total.J
    assert one.marginal.J >= 0 or link.technology == "802.15.4"
    assert one.total.low_J < one.total.J < one.total.high_J


def test_what_a_message_takes_every_ten_minutes_fills_ten_minutes() -> None:
    answer = evaluate(message(Lorawan(), 20, period_us=600_000_000, tx_power_dBm=13.0))
    assert answer.ledger.time_ns == 600_000_000_000
    idle_ns = next(line.time_ns for line in answer.ledger.lines if line.what == "idle")
    assert answer.radios[0].by_line_J["idle", None] == pytest.approx(3.3 * 0.2e-6 * idle_ns * 1e-9, rel=1e-9)


def test_a_period_shorter_than_the_message_is_refused() -> None:
    with pytest.raises(InputError, match="period_us: 10 is shorter than the message, which takes 708 us"):
        evaluate(message(Ble(), 20, period_us=10))


def test_more_power_takes_more_current_where_the_card_knows_it() -> None:
    spent = [evaluate(message(Lorawan(), 20, tx_power_dBm=dBm)).radios[0].total.J for dBm in (7.0, 13.0, 16.0)]
    assert spent == sorted(spent)
    assert len(set(spent)) == 3


def test_a_power_between_two_figures_lies_on_the_line_between_them_with_what_the_line_leaves_open() -> None:
    card = radio_cards.load("sx1276-lora").card
    first, second = (card.sending(power_dBm=dBm) for dBm in (7.0, 13.0))
    between = card.at_power(10.0).sending()
    assert first
    assert second
    assert between
    assert between.value == pytest.approx((first.value + second.value) / 2)
    # By milliwatts 10 dBm lies a third of the way: (10 - 5.01) / (19.95 - 5.01).
    other = first.value + (second.value - first.value) * 0.3339
    own = max(first.relative_uncertainty, second.relative_uncertainty)
    assert between.relative_uncertainty == pytest.approx(own + 1 - other / between.value, rel=1e-3)
    assert card.at_power(7.0).sending() == first


def test_a_region_forbids_more_than_its_power() -> None:
    with pytest.raises(InputError, match="20 dBm is more than is allowed") as refusal:
        evaluate(message(Lorawan(), 20, tx_power_dBm=20.0))
    assert "14 dBm ERP" in refusal.value.hint
    assert evaluate(message(Lorawan(region="US915", data_rate=3), 20, tx_power_dBm=20.0)).radios[0].total.J > 0


@pytest.mark.parametrize(
    ("link", "power_dBm", "hint"),
    [(Lorawan(), 30.0, "for 7, 13, 17, 20 dBm"), (Lorawan(), 6.0, "for 7, 13"), (Ble(), 90.0, "for -40, 0, 8 dBm")],
)
def test_a_power_that_the_card_does_not_name_is_refused(link: Any, power_dBm: float, hint: str) -> None:
    with pytest.raises(InputError, match="tx_power_dBm") as refusal:
        evaluate(message(link, 20, tx_power_dBm=power_dBm))
    assert hint in refusal.value.hint


def test_a_gateway_has_no_card() -> None:
    raw = {"payload_B": 1, "sender": "sx1262-lora", "receiver": "sx1262-lora", "link": {"standard": "lorawan"}}
    with pytest.raises(InputError, match="a gateway of LoRaWAN is on the mains"):
        message_of(raw, "m.toml")


LINEAR_CARD = """
title = "a radio by packets and bytes"
technology = "ble"
note = "made up"
narrowed_by = "nothing"
"""


def linear_card(folder: Path, confidence: str = "primary") -> Path:
    numbers = {
        "send_packet": (100.0, "uJ"),
        "send_byte": (2.0, "uJ/B"),
        "receive_packet": (50.0, "uJ"),
        "receive_byte": (1.0, "uJ/B"),
        "packet_time": (300.0, "us"),
        "byte_time": (8.0, "us/B"),
        "idle": (10.0, "mW"),
    }
    text = LINEAR_CARD
    for key, (value, unit) in numbers.items():
        text += f'[{key}]\nvalue = {value}\nunit = "{unit}"\nsource = "made up"\nconfidence = "{confidence}"\n'
        text += 'relative_uncertainty = 0.1\ndistribution = "normal"\nbecause = "made up"\nconditions = "none"\n'
    path = folder / "made-up.toml"
    path.write_text(text)
    return path


def by_card(path: Path) -> RadioMessage:
    card = {"sender": str(path), "receiver": str(path)}
    return RadioMessage(payload_B=300, cipher_B=28, link=Ble(), **card)  # type: ignore[arg-type]


def test_a_card_of_packets_and_bytes_gives_time_and_joules_of_its_own(tmp_path: Path) -> None:
    answer = evaluate(by_card(linear_card(tmp_path)))
    # 328 octets in two values of 244 at most: 251 and 91 with their headers, and a MIC each.
    octets = 251 + 91 + 2 * 4
    time_us = 2 * 300 + octets * 8
    assert answer.ledger.time_ns == time_us * 1000
    sender, receiver = answer.radios
    assert pytest.approx(2 * 100 + octets * 2) == 1e6 * sender.marginal.J
    assert pytest.approx(2 * 50 + octets) == 1e6 * receiver.marginal.J
    assert pytest.approx(10e-3 * time_us) == 1e6 * sender.total.J - 1e6 * sender.marginal.J


def test_numbers_that_nobody_verified_need_consent_and_are_named(tmp_path: Path) -> None:
    doubted = by_card(linear_card(tmp_path, "assumed"))
    with pytest.raises(EvidenceError, match="nobody verified: send_packet 100 uJ"):
        evaluate(doubted)
    sender = evaluate(doubted, allow_assumed=True).radios[0]
    assert (sender.evidence, sender.doubted) == ("assumed", ["idle", "send_byte", "send_packet"])


def test_a_card_that_lacks_a_state_is_named_with_the_state(tmp_path: Path) -> None:
    text = (Path(lowpower.__file__).parents[1] / "data/radios/sx1276-lora.toml").read_text()
    path = tmp_path / "restless.toml"
    path.write_text(text[: text.index("[idle]")])
    restless = RadioMessage(payload_B=20, sender=str(path), link=Lorawan())
    with pytest.raises(EvidenceError, match="restless has no power for sleep"):
        evaluate(restless)


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ({"standard": "lora"}, 'm.toml: link.standard: no standard "lora"'),
        ({}, "m.toml: link.standard: is missing"),
        ({"standard": "ble", "mtu": 3}, "m.toml: link.mtu: unknown key"),
        ({"standard": "ble", "max_pdu_B": 300}, "m.toml: link.max_pdu_B: must be 27 to 251, is 300"),
        ({"standard": "ble", "phy": "4M"}, 'm.toml: link.phy: no phy "4M"'),
        ({"standard": "802.15.4", "security_level": 8}, "m.toml: link.security_level: must be at most 7, is 8"),
        ({"standard": "lorawan", "data_rate": 7}, "data_rate must be at most 6 in EU868, is 7"),
        ({"standard": "lorawan", "region": "EU433"}, 'link.region: no region "EU433"'),
    ],
)
def test_a_link_that_cannot_be_is_refused_by_key(link: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refusal:
        message_of({"payload_B": 1, "sender": "nrf52840-ble", "link": link}, "m.toml")
    assert said in refusal.value.message


def test_a_card_of_another_technology_is_refused_with_those_that_fit() -> None:
    wrong = RadioMessage(payload_B=1, sender="esp32-wifi", link=Ble())
    with pytest.raises(InputError, match=r"esp32-wifi is for 802\.11, the message goes by ble") as refusal:
        evaluate(wrong)
    assert "nrf52840-ble" in refusal.value.hint


def test_a_message_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text('payload_B = 20\nsender = "nrf52840-ble"\n[link]\nstandard = "ble"\nphy = "2M"\n')
    assert message_of(read(path)[1], "m").link == Ble(phy="2M")
    path.write_text("payload_B = ")
    with pytest.raises(InputError, match="not TOML"):
        read(path)
    with pytest.raises(InputError, match=r"none\.toml: there is no such file"):
        read(tmp_path / "none.toml")


def test_the_rows_of_an_answer_end_with_their_sums() -> None:
    *lines, total = ledger_rows(evaluate(message(Ble(), 500, cipher_B=28, receiver=CARD["ble"])))
    for key in ("octets_B", "time_ns", "sender_uJ", "receiver_uJ"):
        assert total[key] == pytest.approx(sum(line[key] for line in lines))


def test_every_data_rate_of_a_region_has_all_its_numbers() -> None:
    for region in lorawan.framing().region.values():
        lengths = {
            len(column)
            for column in (
                region.bandwidth_kHz,
                region.application_most_B,
                region.answer_spreading_factor,
                region.answer_bandwidth_kHz,
            )
        }
        assert lengths == {len(region.spreading_factor)}


def test_cutting_loses_nothing_and_an_empty_message_is_one_frame() -> None:
    assert cut(0, 5) == [0]
    assert cut(5, 5) == [5]
    assert cut(11, 5) == [5, 5, 1]


def test_every_linear_card_that_comes_along_can_carry_a_message() -> None:
    links = {"ble": Ble(), "802.15.4": Ieee802154(), "lorawan": Lorawan()}
    for name in radio_cards.RADIOS.names():
        technology = radio_cards.load(name).card.technology
        if technology in links:
            one = RadioMessage(payload_B=20, sender=name, link=links[technology])  # type: ignore[arg-type]
            assert evaluate(one, allow_assumed=True).radios[0].total.J > 0


def test_an_advertisement_goes_out_on_three_channels_and_nobody_answers() -> None:
    full = evaluate(message(Ble(advertising=True), 27)).ledger
    by_line = {line.what: line for line in full.lines}
    # A full legacy PDU: 1 + 4 + 2 + 6 + 31 + 3 octets at 1 Mb/s.
    assert full.frames == 1
    assert by_line["repeats"].states_ns["sender"] == {"tx": 2 * 376_000}
    assert full.states_ns["sender"] == {"tx": 3 * 376_000, "idle": 2 * 150_000}
    assert full.octets_B == 3 * 47
    assert {"acknowledgements", "security"} & set(by_line) == set()
    assert evaluate(message(Ble(advertising=True), 28)).ledger.frames == 2


def test_legacy_advertisements_go_at_1M_alone() -> None:
    with pytest.raises(ValidationError, match="legacy advertisements go at 1M, phy is 2M"):
        Ble(advertising=True, phy="2M")
