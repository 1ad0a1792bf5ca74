"""What designs of secure links put on the air: octets by specification, and what a frame takes of the sensor."""

import pytest

from wattlock.energy.radio_cards import load
from wattlock.link.designs import frames
from wattlock.link.designs.frames import Carried, Spent
from wattlock.link.designs.rules import compared
from wattlock.link.lowpower import linear

DESIGNS, RADIOS = compared().design, compared().radio


@pytest.mark.parametrize(
    ("name", "payload_B", "adds_B"),
    # Overhead in draft-ietf-iotops-security-protocol-comparison for CCM_8, none or an octet of connection ID, empty
    # sender IDs; WireGuard's 32 and its padding to 16; Noise's tag and an octet of counter.
    [
        ("dtls13-ccm8", 16, 11),
        ("dtls13", 16, 19),
        ("dtls13-cid-ccm8", 16, 12),
        ("dtls13-cid", 16, 20),
        ("dtls12-ccm8", 16, 29),
        ("tls13", 16, 14 + 8),
        ("noise", 16, 17),
        ("oscore", 16, 13),
        ("oscore-ccm16", 16, 21),
        ("wireguard", 16, 32),
        ("wireguard", 17, 47),
    ],
)
def test_a_design_adds_the_octets_that_its_specification_says(name: str, payload_B: int, adds_B: int) -> None:
    assert DESIGNS[name].sealed_B(payload_B, RADIOS["ble"]) == payload_B + adds_B


def test_dtls_handshakes_differ_by_tags_and_connection_ids_alone() -> None:
    least = DESIGNS["dtls13-ccm8"].flights_B
    assert least == [180, 186, 55]
    # Two protected flights; an extension in both hellos.
    tags, ids = [0, 8, 8], [6, 6 + 1, 1]
    assert DESIGNS["dtls13"].flights_B == [sum(parts) for parts in zip(least, tags, strict=True)]
    assert DESIGNS["dtls13-cid-ccm8"].flights_B == [sum(parts) for parts in zip(least, ids, strict=True)]
    assert DESIGNS["dtls13-cid"].flights_B == [sum(parts) for parts in zip(least, tags, ids, strict=True)]


def spent(radio: str, *carried: Carried) -> list[Spent]:
    """What each of them takes."""
    found = frames.spent(RADIOS[radio], carried, None, allow_assumed=False)
    return [found[one] for one in carried]


def test_a_frame_received_over_802154_takes_a_data_request_of_12_octets_too() -> None:
    radio = RADIOS["802.15.4"]
    keys = {"sender": radio.card, "receiver": radio.card, "tx_power_dBm": radio.tx_power_dBm}
    received = linear.evaluate(linear.message_of({**keys, "payload_B": 14, "link": radio.link}, "report"))
    bare = {**(radio.link or {}), "adaptation": "none"}
    request = linear.evaluate(linear.message_of({**keys, "payload_B": 1, "link": bare}, "request"))
    # 6 octets of the PHY, 12 of the request; its acknowledgement is 11.
    assert request.ledger.octets_B == 6 + 12 + 11
    (report,) = spent("802.15.4", Carried(14, way="receive"))
    expected_uJ = received.energies[1].total_uJ + request.energies[0].total_uJ
    assert pytest.approx(expected_uJ) == 1e6 * report.joules.J


def test_a_report_takes_what_its_way_makes_the_sensor_listen_longer() -> None:
    rx_W = {name: card.power_W(card.rx) for name in ("ble", "802.15.4") if (card := load(RADIOS[name].card).card).rx}
    # Behind the headers of L2CAP and ATT 14 octets, 8 us each, in place of an empty PDU.
    (in_place,) = spent("ble", Carried(14, way="report"))
    assert pytest.approx((4 + 3 + 14) * 8e-6 * rx_W["ble"]) == in_place.joules.J
    # The element's head 2, its vendor 3; 32 us each.
    (in_answer,) = spent("802.15.4", Carried(14, way="acknowledged"))
    assert pytest.approx((2 + 3 + 14) * 32e-6 * rx_W["802.15.4"]) == in_answer.joules.J
    asked, polled, report = spent("802.15.4", *(Carried(14, way=way) for way in ("receive", "polled", "report")))
    assert asked == report
    assert in_answer.joules.J < polled.joules.J < asked.joules.J


def test_other_ways_of_a_report_are_on_802154_alone() -> None:
    there = {name: {radio for radio in RADIOS if DESIGNS[name].is_for(RADIOS[radio])} for name in DESIGNS}
    assert there["tally-polled"] == there["tally-ack"] == {"802.15.4"}
    assert there["tally"] == set(RADIOS)


def test_a_flight_down_lorawan_is_cut_and_an_uplink_asks_for_each_frame_but_the_first() -> None:
    # 51 octets of application at data rate 0 of EU868.
    flight, first, last, empty = spent(
        "lora-sf12",
        Carried(110, way="receive"),
        Carried(51, way="receive"),
        Carried(110 - 2 * 51, way="receive"),
        Carried(0),
    )
    assert (flight.frames, first.frames) == (3, 1)
    expected_J = 2 * first.joules.J + last.joules.J + 2 * empty.joules.J
    assert pytest.approx(expected_J) == flight.joules.J
    (up,) = spent("lora-sf12", Carried(110))
    assert up.frames == 3
