"""Designs of secure links compared: the model of loss, rows of all designs."""

from typing import Any

import pytest

from support.links import TOOLBOX
from support.tree import require_programs
from wattlock.cli.link_designs import less, verified
from wattlock.energy.radio_cards import load
from wattlock.link import designs, lowpower
from wattlock.link.designs import (
    LOSSES,
    Computing,
    DesignFrame,
    FrameCost,
    SensorTraffic,
    SensorWork,
    compared,
    frame_costs,
    rows,
)
from wattlock.link.ledger import Interval
from wattlock.link.scenario import Named, message_of

DESIGNS, RADIOS, TALLY = compared().design, compared().radio, compared().tally


@pytest.fixture(autouse=True, scope="module")
def program() -> None:
    require_programs()


@pytest.mark.parametrize("share", [0.01, 0.1, 0.2])
def test_tags_over_several_messages_verify_as_often_as_all_of_those_arrive(share: float) -> None:
    arrive = 1 - share
    expected = {
        # Of a group the three others; of a sliding window the three on both sides.
        ("one-in-4", 64): arrive**3,
        ("one-in-4", 128): arrive**3,
        ("promac", 128): arrive**6,
        ("whole", 128): 1.0,
        ("dtls13-ccm8", 64): 1.0,
        ("dtls13-ccm8", 128): 0.0,
        ("link", 64): 0.0,
    }
    for (name, bits), chance in expected.items():
        assert designs.outcome(DESIGNS[name], bits, share).share == pytest.approx(chance, rel=1e-12), (name, bits)
    assert designs.outcome(DESIGNS["one-in-4"], 128, share).wait == pytest.approx(1.5)
    assert designs.outcome(DESIGNS["promac"], 128, 0.0) == (1.0, 3.0)


def test_sp_mac_keeps_more_at_half_strength_than_promac_and_all_without_loss() -> None:
    sp_mac, promac = DESIGNS["sp-mac"], DESIGNS["promac"]
    assert designs.outcome(sp_mac, 128, 0.0).share == 1.0
    assert designs.outcome(sp_mac, 64, 0.1).share > designs.outcome(promac, 64, 0.1).share
    # Every bit has a ruler of its own, so that what is verified lies near the mean: 288 bits, each with eight others.
    assert 2 * 288 * 0.8**8 < 128
    assert designs.outcome(sp_mac, 128, 0.2).share < 0.05


def test_sp_mac_covers_as_many_messages_as_verify_most_at_a_tenth_lost() -> None:
    sp_mac = DESIGNS["sp-mac"]
    marks = sp_mac.rulers
    assert marks
    shares = {
        some: designs.outcome(sp_mac.model_copy(update={"rulers": some}), 128, 0.1).share
        for some in range(4, marks + 1)
    }
    assert max(shares, key=lambda some: shares[some]) == marks
    span = designs.shortest_rulers(marks, sp_mac.bits)[-1][-1]
    assert sp_mac.state_B == 16 + 4 + span * marks * sp_mac.bits // 8


@pytest.mark.parametrize(("marks", "length"), [(4, 6), (5, 11), (6, 17), (7, 25), (9, 44)])
def test_the_shortest_rulers_are_the_known_optimal_ones_and_no_two_marks_are_equally_far_apart(
    marks: int, length: int
) -> None:
    rulers = designs.shortest_rulers(marks, 32)
    assert rulers[0][-1] == length
    assert len(set(rulers)) == 32
    for ruler in rulers:
        apart = [high - low for place, high in enumerate(ruler) for low in ruler[:place]]
        assert len(ruler) == marks
        assert len(set(apart)) == len(apart) == marks * (marks - 1) // 2


def work(cycles: float, *, assumed: bool = False) -> SensorWork:
    J = 1e-9 * cycles
    return SensorWork(cycles, Interval(J, J / 1.1, J * 1.1), assumed)


computing = Computing(
    seal=lambda _, size_B: work(1_000.0 + 10 * size_B),
    record=lambda size_B: work(1_100.0 + 10 * size_B),
    report=work(8_000.0),
)


@pytest.fixture(scope="module")
def found() -> list[dict[str, Any]]:
    return rows(SensorTraffic(16, 600.0), computing, TOOLBOX)


def of(found: list[dict[str, Any]], radio: str, design: str, share: float) -> dict[str, Any]:
    (row,) = (one for one in found if (one["radio"], one["design"], one["loss"]) == (radio, design, share))
    return row


def test_there_is_a_row_for_each_design_radio_and_loss(found: list[dict[str, Any]]) -> None:
    assert len(RADIOS) == 5
    assert len(found) == len(LOSSES) * sum(
        design.is_for(radio) for design in DESIGNS.values() for radio in RADIOS.values()
    )


def test_joules_of_a_row_are_those_of_its_message_reports_and_computing(found: list[dict[str, Any]]) -> None:
    for row in found:
        own_uJ = row["message_uJ"] + row["computing_uJ"]
        if row["report_uJ"] is None:
            assert row["delivered_uJ"] == pytest.approx(own_uJ / (1 - row["loss"]))
        elif row["loss"] == 0.0:
            assert row["delivered_uJ"] == pytest.approx(own_uJ + row["report_uJ"] / TALLY.report_every)
        for bits in (64, 128):
            verified_uJ, share = row[f"verified_{bits}_uJ"], row[f"verified_{bits}_share"]
            if share:
                assert verified_uJ == pytest.approx(row["delivered_uJ"] / share)
                assert row[f"verified_{bits}_low_uJ"] < verified_uJ < row[f"verified_{bits}_high_uJ"]
            else:
                assert verified_uJ is None


def test_on_slow_lora_at_a_tenth_lost_tally_takes_12_percent_less_than_any_design_that_has_128_bits(
    found: list[dict[str, Any]],
) -> None:
    at = {row["design"]: row for row in found if (row["radio"], row["loss"]) == ("lora-sf12", 0.1)}
    verified_uJ = {name: row["verified_128_uJ"] for name, row in at.items() if not name.endswith("-bare")}
    reached = {name: uJ for name, uJ in verified_uJ.items() if uJ}
    assert set(verified_uJ) - set(reached) == {
        "link",
        "whole-8",
        "oscore",
        *(key for key in at if key.endswith("ccm8")),
    }
    assert min(reached, key=reached.__getitem__) == "tally"
    assert reached["tally"] <= 0.88 * min(uJ for name, uJ in reached.items() if name != "tally")


def test_no_octet_is_saved_on_wifi_and_none_within_bles_own_encryption(found: list[dict[str, Any]]) -> None:
    whole, dtls = (of(found, "wifi", name, 0.0) for name in ("whole", "dtls13"))
    assert whole["adds_B"] < dtls["adds_B"]
    assert whole["message_uJ"] == pytest.approx(dtls["message_uJ"])
    assert of(found, "wifi", "tally", 0.0)["delivered_uJ"] > whole["delivered_uJ"]
    assert of(found, "wifi", "link", 0.0)["bits_at_release"] == 64
    link, tally = (of(found, "ble", name, 0.0) for name in ("link", "tally"))
    assert link["adds_B"] == 4 <= tally["adds_B"]
    assert link["delivered_uJ"] < tally["delivered_uJ"]


def test_a_session_that_ends_before_the_next_message_is_made_anew_for_it(found: list[dict[str, Any]]) -> None:
    wireguard = of(found, "ble", "wireguard", 0.0)
    assert wireguard["handshakes_a_day"] == pytest.approx(86_400 / 600)
    assert of(found, "ble", "dtls13", 0.0)["handshakes_a_day"] == 1
    assert wireguard["handshake_percent"] == pytest.approx(100 * wireguard["handshake_uJ"] / wireguard["message_uJ"])


def test_what_no_frame_of_lora_holds_has_no_row_and_leaves_the_others_theirs() -> None:
    found = rows(SensorTraffic(250, 600.0), computing, TOOLBOX)
    designs = {row["design"] for row in found if row["radio"] == "lora-sf7"}
    assert {name for name, design in DESIGNS.items() if design.is_for(RADIOS["lora-sf7"]) and name not in designs} == {
        "whole-bare",
        "whole-8-bare",
        "tally-bare",
    }
    assert of(found, "lora-sf12", "tally", 0.0)["frames"] == 5
    assert of(found, "ble", "tally", 0.0)["frames"] == 2


@pytest.mark.parametrize(
    ("every_s", "sf12", "sf7"), [(600.0, None, None), (60.0, "duty cycle", None), (1.0, "channel", "duty cycle")]
)
def test_traffic_over_the_duty_cycle_or_the_channel_is_marked(
    every_s: float, sf12: str | None, sf7: str | None
) -> None:
    # 16 octets are 1.6 to 2.8 s on the air at SF12, 0.07 to 0.11 s at SF7; the band allows 1 %.
    found = rows(SensorTraffic(16, every_s), computing, TOOLBOX)
    over = {(row["radio"], row["over"]) for row in found}
    assert over == {("lora-sf12", sf12), ("lora-sf7", sf7), ("802.15.4", None), ("ble", None), ("wifi", None)}


@pytest.mark.parametrize(("value_uJ", "shown"), [(0.5, "0.5"), (999.7, "1000"), (9_999.0, "10000")])
def test_joules_for_eyes_have_three_digits_and_no_exponent(
    found: list[dict[str, Any]], value_uJ: float, shown: str
) -> None:
    row = of(found, "ble", "dtls13", 0.0) | {f"verified_128_{part}uJ": value_uJ for part in ("", "low_", "high_")}
    (line,) = verified([row], 128)
    assert line == {"design": "dtls13", "0%": f"{shown} {shown}-{shown}"}


def test_a_saving_too_small_for_its_digit_is_zero_without_a_sign() -> None:
    assert (less(1.0, 1.0), less(1.0001, 1.0), less(1.1, 1.0), less(None, 1.0)) == ("0.0", "0.0", "-10.0", None)


# What designs put on the air: octets by specification, and what a frame takes of the sensor.


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


def spent(radio: str, *frames: DesignFrame) -> list[FrameCost]:
    """What each of them takes."""
    found = frame_costs(RADIOS[radio], frames, None, allow_assumed=False)
    return [found[frame] for frame in frames]


def test_a_frame_received_over_802154_takes_a_data_request_of_12_octets_too() -> None:
    radio = RADIOS["802.15.4"]
    keys = {"sender": radio.card, "receiver": radio.card, "tx_power_dBm": radio.tx_power_dBm}
    received = lowpower.evaluate(Named("", message_of({**keys, "payload_B": 14, "link": radio.link}, "report"), {}))
    bare = {**(radio.link or {}), "adaptation": "none"}
    request = lowpower.evaluate(Named("", message_of({**keys, "payload_B": 1, "link": bare}, "request"), {}))
    # 6 octets of the PHY, 12 of the request; its acknowledgement is 11.
    assert request.ledger.octets_B == 6 + 12 + 11
    (report,) = spent("802.15.4", DesignFrame(14, way="receive"))
    assert pytest.approx(received.radios[1].total.J + request.radios[0].total.J) == report.joules.J


def test_a_report_takes_what_its_way_makes_the_sensor_listen_longer() -> None:
    rx_W = {name: card.power_W(card.rx) for name in ("ble", "802.15.4") if (card := load(RADIOS[name].card).card).rx}
    # Behind the headers of L2CAP and ATT 14 octets, 8 us each, in place of an empty PDU.
    (in_place,) = spent("ble", DesignFrame(14, way="report"))
    assert pytest.approx((4 + 3 + 14) * 8e-6 * rx_W["ble"]) == in_place.joules.J
    # The element's head 2, its vendor 3; 32 us each.
    (in_answer,) = spent("802.15.4", DesignFrame(14, way="acknowledged"))
    assert pytest.approx((2 + 3 + 14) * 32e-6 * rx_W["802.15.4"]) == in_answer.joules.J
    asked, polled, report = spent("802.15.4", *(DesignFrame(14, way=way) for way in ("receive", "polled", "report")))
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
        DesignFrame(110, way="receive"),
        DesignFrame(51, way="receive"),
        DesignFrame(110 - 2 * 51, way="receive"),
        DesignFrame(0),
    )
    assert (flight.frames, first.frames) == (3, 1)
    expected_J = 2 * first.joules.J + last.joules.J + 2 * empty.joules.J
    assert pytest.approx(expected_J) == flight.joules.J
    (up,) = spent("lora-sf12", DesignFrame(110))
    assert up.frames == 3
