"""The link: ledgers that add up, joules by hand, expansions that are the cipher's own, and what a mistake gets."""

import base64
import csv
import io
import json
import math
import os
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wattlock import cli
from wattlock.energy import cards
from wattlock.energy.radio_cards import load as load_radio
from wattlock.errors import EvidenceError, InputError, WattlockError
from wattlock.link import air, durations, payload, position, rows, scenario, tables
from wattlock.link.ask import Answer, ask, groups_of
from wattlock.link.ledger import LINES, STATES
from wattlock.link.payload import Parts, apportioned, expanded, largest_plain_B, packets, whole
from wattlock.link.work import Measured
from wattlock.run import probe as probes
from wattlock.study.cells import CatalogueRow

PROBE = Path(os.environ.get("WATTLOCK_PROBE", Path(sys.prefix, "bin", "wattlock-probe")))
CIPHERS = [
    "aes128-cbc",
    "aes128-ecb",
    "aes128-ctr",
    "aes128-gcm",
    "aes128-ccm8",
    "3des-cbc",
    "rc4-128",
    "blowfish128-cbc",
]
CIPHERS += ["rc6-20-128-cbc", "chacha20-poly1305", "ascon-aead128", "xor", "rijndael256-192-cbc"]
ONE = {"payload.data_B": 1500, "payload.payload_B": 1500, "transport": "udp", "engine": "closed-form"}


@pytest.fixture(autouse=True, scope="module")
def program() -> None:
    """A missing program is a failure, not a reason to skip."""
    if not PROBE.is_file():
        pytest.fail(f"{PROBE} is missing: `make test` builds it")


@cache
def catalogue() -> dict[str, CatalogueRow]:
    return {name: of[0] for name, of in probes.catalogue(PROBE, CIPHERS)[0].items()}


def told(name: str = "adhoc-open", changes: dict[str, Any] | None = None, **more: Any) -> Answer:
    """The answer to a scenario that comes with wattlock, with some of its keys changed."""
    return ask([scenario.load(name, changes)], PROBE, catalogue(), **more)[0]


def time_of(answer: Answer, *what: str) -> int:
    return sum(line.time_ns for line in answer.transfer.lines if not what or line.what in what)


def octets_of(answer: Answer, *what: str) -> int:
    return sum(line.octets_B for line in answer.transfer.lines if not what or line.what in what)


SHAPES: list[tuple[str, dict[str, Any]]] = [
    ("adhoc-open", {}),
    ("adhoc-wep", {"transport": "udp"}),
    ("bss-tkip", {"phy": "g", "rate_Mb_s": 54}),
    ("bss-open", {"transport": "udp", "air.fragment_B": 500}),
    ("bss-ccmp", {"phy": "n", "rate_Mb_s": None}),
    ("bss-open", {"phy": "g", "rate_Mb_s": 54, "signal.rssi_dBm": -72.5, "air.fragment_B": 700}),
    ("bss-open", {"signal.rssi_dBm": -86, "transport": "udp"}),
    ("adhoc-open", {"phy": "ac", "rate_Mb_s": None, "signal.rssi_dBm": -60}),
    ("adhoc-open", {"air.rts": True, "transport": "udp"}),
    ("adhoc-wep", {"engine": "closed-form", "transport": "udp", "signal.rssi_dBm": -85}),
    ("adhoc-open", {"engine": "bianchi", "transport": "udp"}),
    ("sensor-readings", {"payload.encoding": "base64"}),
    ("bss-open", {"host.sender_us": 120, "host.access_point_us": 300, "host.receiver_us": 80}),
    ("bss-open", {"host.access_point_us": 5_000, "host.overlapped": True}),
]


@pytest.mark.parametrize(("name", "changes"), SHAPES)
def test_the_lines_of_a_ledger_add_up_to_the_transfer_in_nanoseconds_and_joules(
    name: str, changes: dict[str, Any]
) -> None:
    answer = told(name, {"payload.data_B": 300_000, "radio": "intel-5300", **changes}, allow_assumed=True)
    lines = answer.transfer.lines
    assert time_of(answer) == answer.duration_ns
    assert min(line.time_ns for line in lines) >= 0
    assert [line.what for line in lines] == sorted((line.what for line in lines), key=LINES.index)
    summed = rows.ledger(answer)
    assert math.isclose(summed[-1]["energy_J"], answer.total_J or 0, rel_tol=1e-9)
    assert sum(row["time_ns"] for row in summed[:-1]) == summed[-1]["time_ns"] == answer.duration_ns
    assert sum(row["octets_B"] for row in summed[:-1]) == summed[-1]["octets_B"]
    assert math.isclose(sum(row["time_ns"] for row in rows.hops(answer)), answer.duration_ns)


@pytest.mark.parametrize(("name", "changes"), SHAPES)
def test_what_radios_do_in_the_lines_is_what_the_air_says_they_did(name: str, changes: dict[str, Any]) -> None:
    sent = told(name, {"payload.data_B": 300_000, **changes}, allow_assumed=True).transfer
    waits = ("host: ", "cipher: sender", "cipher: receiver")
    for role, states in sent.states_ns.items():
        on_air = [line.states_ns[role] for line in sent.lines if not line.what.startswith(waits)]
        assert {state: sum(one.get(state, 0) for one in on_air) for state in STATES} == states
        assert sum(states.values()) == pytest.approx(sent.duration_ns, abs=5)
        # Without collisions each nanosecond of each line is one in which every node does one thing.
        for line in sent.lines:
            if line.what != "collisions":
                assert sum(line.states_ns[role].values()) == line.time_ns


@pytest.mark.parametrize(("name", "changes"), SHAPES)
def test_the_octets_of_a_hop_are_those_of_the_frames_that_the_air_sent(name: str, changes: dict[str, Any]) -> None:
    named = scenario.load(name, {"payload.data_B": 300_000, **changes})
    groups = groups_of(named, catalogue())
    case = position.cases(named)[0]
    asked = [(named, air.question(named, group, case.signal, number)) for number, group in enumerate(groups)]
    came = air.ask(PROBE, asked)
    answer = ask([named], PROBE, catalogue(), allow_assumed=True)[0]
    frames_B = 0
    for one in came:
        octets, fragments = one["resolved"]["octets"], one["resolved"]["fragments"]
        around_B = octets["llc_B"] + octets["msdu_protection_B"]
        around_B += fragments * (octets["mpdu_protection_B"] + octets["mac_B"])
        packets_over = sum(leg["packets"] for leg in one["legs"] if not leg["acknowledgements"])
        frames_B += packets_over * (one["resolved"]["packet_B"] + around_B)
        if fragments == 1:
            assert one["resolved"]["packet_B"] + around_B == one["resolved"]["psdu_B"]
    kinds = ("payload", "cipher: IV", "cipher: padding", "cipher: tag", "encoding", "transport", "IP", "LLC")
    new_B = octets_of(answer, *kinds, "protection", "MAC header and FCS")
    # What TCP sent once more though it had come is no payload; it stands with what was sent again.
    assert new_B <= frames_B <= new_B + octets_of(answer, "sent again")
    if answer.transfer.delivered == answer.transfer.asked:
        plain_B = sum(group.parts.plain_B for group in groups)
        assert octets_of(answer, "payload") == plain_B * (2 if named.scenario.topology == "bss" else 1)


def test_a_frame_of_1564_octets_at_11_Mb_s_is_1330_us_and_its_exchange_1903() -> None:
    answer = told(changes=ONE)
    frame = ("payload", "transport", "IP", "LLC", "MAC header and FCS", "PHY preamble and padding")
    assert (octets_of(answer), time_of(answer, *frame)) == (1_564, 1_330_000)
    assert time_of(answer, "payload") == pytest.approx(1_500 * 8_000 / 11, abs=2)
    # 192 us of long preamble, and the rest of the last microsecond.
    assert time_of(answer, "PHY preamble and padding") == 1_330_000 - 1_564 * 8_000 // 11
    assert time_of(answer, "ACK and CTS") == 203_000
    # DIFS 50, half of 31 slots of 20, SIFS 10.
    assert time_of(answer, "gaps and back-off") == 370_000
    assert answer.duration_ns == 1_903_000


@pytest.mark.parametrize(
    ("changes", "frame_us", "ack_us"),
    [
        ({"preamble": "short"}, 1_234, 107),
        ({"topology": "to-ap"}, 1_330, 248),
        ({"basic_rates_Mb_s": [1.0]}, 1_330, 304),
        ({"phy": "g", "rate_Mb_s": 54}, 262, 34),
        ({"phy": "a", "rate_Mb_s": 54}, 256, 28),
        ({"phy": "n", "rate_Mb_s": None, "payload.data_B": 1_500, "air.ampdu_B": 0}, 238, 34),
    ],
)
def test_frames_and_answers_of_other_networks_take_what_the_standard_says(
    changes: dict[str, Any], frame_us: int, ack_us: int
) -> None:
    answer = told(changes=ONE | changes)
    assert time_of(answer, "ACK and CTS") == 1_000 * ack_us
    gone = time_of(answer, "gaps and back-off", "ACK and CTS", "beacons")
    assert answer.duration_ns - gone == 1_000 * frame_us


@pytest.mark.parametrize(
    ("protection", "octets_B"),
    [("none", 0), ("wep", 8), ("tkip", 20), ("ccmp", 16), ("ccmp256", 24), ("gcmp", 24), ("gcmp256", 24)],
)
def test_protection_is_so_many_octets_a_packet(protection: str, octets_B: int) -> None:
    answer = told(changes=ONE | {"protection": protection})
    assert octets_of(answer, "protection") == octets_B
    assert time_of(answer, "protection") == pytest.approx(octets_B * 8_000 / 11, abs=1)


def test_joules_are_power_by_time_of_each_state() -> None:
    answer = told("bss-open", {"payload.data_B": 200_000, "radio": "intel-5300"})
    for one in answer.by_states:
        s = {state: 1e-9 * time for state, time in answer.transfer.states_ns[one.role].items()}
        # Its card: 1.14 W sending, 0.94 W receiving, 0.82 W listening.
        by_hand = 1.14 * s["tx"] + 0.94 * (s["rx"] + s["cca"]) + 0.82 * s["idle"]
        assert pytest.approx(by_hand, rel=1e-3) == one.total.J
        assert one.floor_J == pytest.approx(0.82 * answer.duration_ns * 1e-9, rel=1e-9)
        assert pytest.approx(by_hand - one.floor_J, rel=1e-9) == one.marginal.J
        assert one.total.low_J < one.total.J < one.total.high_J
        assert one.marginal.low_J < one.marginal.J < one.marginal.high_J <= one.total.high_J


def test_the_linear_model_is_a_constant_a_packet_and_a_price_an_octet_above_idling() -> None:
    changes = {"transport": "udp", "payload.data_B": 14_720, "radio": "wavelan-11"}
    answer = told(changes=changes, allow_assumed=True)
    sender, receiver = answer.by_states
    assert (sender.model, sender.evidence, answer.evidence) == ("linear", "assumed", "assumed")
    # Ten packets of 1500 octets from IP up.
    assert pytest.approx(1e-6 * (10 * 431 + 0.48 * 15_000)) == sender.marginal.J
    assert pytest.approx(1e-6 * (10 * 316 + 0.12 * 15_000)) == receiver.marginal.J
    assert pytest.approx(sender.marginal.J + 0.741 * answer.duration_ns * 1e-9) == sender.total.J
    assert rows.ledger(answer)[-1]["energy_J"] == pytest.approx(answer.total_J)


def test_through_an_access_point_the_linear_model_charges_each_hop_to_its_two_ends() -> None:
    changes = {"transport": "udp", "payload.data_B": 14_720, "radio": "wavelan-11"}
    by_role = {one.role: one.marginal.J for one in told("bss-open", changes, allow_assumed=True).by_states}
    assert by_role["access-point"] == pytest.approx(by_role["sender"] + by_role["receiver"], rel=0.05)


def test_more_octets_never_take_less_time_or_fewer_joules() -> None:
    sizes = [1, 100, 1_472, 1_473, 5_000, 50_000, 50_001]
    asked = [
        scenario.load(
            "adhoc-open",
            {"transport": "udp", "engine": "closed-form", "radio": "intel-5300", "payload.data_B": size_B},
        )
        for size_B in sizes
    ]
    answers = ask(asked, PROBE, {})
    for less, more in pairwise(answers):
        assert less.duration_ns <= more.duration_ns
        assert (less.total_J or 0) <= (more.total_J or 0)
        assert (less.marginal_J or 0) <= (more.marginal_J or 0)


@pytest.mark.parametrize("name", [name for name in scenario.names() if not scenario.is_linear(name)])
def test_every_scenario_that_comes_along_has_an_answer_and_costs_more_in_all_than_above_idling(name: str) -> None:
    answer = told(name, {"payload.data_B": 30_000, "radio": "intel-5300"})
    assert 0 < (answer.marginal_J or 0) <= (answer.total_J or 0)
    assert len(rows.sentences(answer)) < 4


@given(st.integers(0, 5_000))
def test_encodings_are_as_long_as_python_makes_them(size_B: int) -> None:
    data = bytes(size_B)
    assert payload.encoded_B(size_B, "base64") == len(base64.b64encode(data))
    assert payload.encoded_B(size_B, "base64x2") == len(base64.b64encode(base64.b64encode(data)))
    assert payload.encoded_B(size_B, "hex") == len(data.hex())
    assert payload.encoded_B(size_B, "raw") == size_B


def test_base64_of_a_multiple_of_three_is_four_thirds_on_the_air() -> None:
    answer = told(changes={"payload.encoding": "base64", "payload.data_B": 30_000})
    assert octets_of(answer, "payload", "encoding") * 3 == 30_000 * 4


@pytest.mark.parametrize("cipher", CIPHERS)
@pytest.mark.parametrize("plain_B", [1, 15, 16, 17, 1_500])
def test_a_message_grows_as_the_cipher_itself_makes_it(cipher: str, plain_B: int) -> None:
    row = catalogue()[cipher]
    words = ["apply", "--cipher", cipher, "--operation", "seal" if row["tag_bits"] else "encrypt"]
    words += ["--key", "01" * (row["key_bits"] // 8)] + (["--iv", "02" * row["iv_B"]] if row["iv_B"] else [])
    if cipher.startswith("3des"):
        words[words.index("--key") + 1] = "0123456789abcdef23456789abcdef01456789abcdef0123"
    done = subprocess.run([PROBE, *words], input=bytes(plain_B), capture_output=True, check=True)
    parts = expanded(plain_B, row)
    assert parts.padding_B + parts.tag_B == len(done.stdout) - plain_B
    assert parts.iv_B == row["iv_B"]


@given(st.sampled_from(CIPHERS), st.sampled_from(["raw", "base64", "hex", "base64x2"]), st.integers(80, 3_000))
def test_the_longest_plaintext_fits_and_one_octet_more_does_not(cipher: str, encoding: Any, room_B: int) -> None:
    row = catalogue()[cipher]
    longest_B = largest_plain_B(room_B, row, encoding)
    if longest_B:
        assert expanded(longest_B, row, encoding).wire_B <= room_B
    assert expanded(longest_B + 1, row, encoding).wire_B > room_B


@given(
    st.sampled_from(CIPHERS), st.sampled_from(["raw", "base64", "hex"]), st.integers(1, 100_000), st.integers(1, 2_000)
)
def test_the_packets_of_a_file_hold_all_of_its_ciphertext_and_no_more(
    cipher: str, encoding: Any, data_B: int, packet_B: int
) -> None:
    row = catalogue()[cipher]
    groups = whole(data_B, packet_B, row, encoding)
    assert Parts(*map(sum, zip(*(group.parts for group in groups), strict=True))) == expanded(data_B, row, encoding)
    for group in groups:
        assert group.parts.wire_B == group.wire_B * group.packets
        assert min(group.parts) >= 0
        assert group.wire_B <= packet_B


@given(st.integers(0, 10**12), st.lists(st.integers(0, 10**9), min_size=1))
def test_shares_add_up_and_none_is_further_than_one_from_its_own(total: int, weights: list[int]) -> None:
    if sum(weights) == 0:
        return
    shares = apportioned(total, weights)
    assert sum(shares) == total
    assert min(shares) >= 0
    for share, weight in zip(shares, weights, strict=True):
        assert abs(share * sum(weights) - total * weight) <= sum(weights)


def test_a_distribution_of_sizes_is_sent_size_by_size() -> None:
    changes = {"payload.data_B": None, "payload.sizes": [[64, 100], [1400, 20]], "payload.encrypt": "packet"}
    changes |= {"transport": "udp", "engine": "closed-form"}
    answer = told(changes=changes)
    each = [(64, 100), (1400, 20)]
    apart = [told(changes={**changes, "payload.sizes": [list(pair)]}).duration_ns for pair in each]
    assert answer.duration_ns == sum(apart)
    assert octets_of(answer, "payload") == 64 * 100 + 1_400 * 20
    assert packets(each, None, "raw")[1].parts.plain_B == 28_000


def test_hosts_that_wait_for_the_air_add_all_their_work_and_overlapped_ones_only_what_is_over() -> None:
    work = {"host.sender_us": 100, "host.receiver_us": 300}
    changes = {"payload.data_B": 147_200, "transport": "udp", "radio": "intel-5300"}
    bare = told(changes=changes)
    serial = told(changes=changes | work, allow_assumed=True)
    overlapped = told(changes=changes | work | {"host.overlapped": True}, allow_assumed=True)
    slow = {"host.receiver_us": 10_000, "host.overlapped": True}
    slowest = told(changes=changes | slow, allow_assumed=True)
    assert serial.duration_ns == bare.duration_ns + 100 * 400_000
    assert overlapped.duration_ns == bare.duration_ns
    assert slowest.duration_ns == 100 * 10_000_000
    # While the air waits, radios idle: nothing above the floor is spent.
    assert serial.marginal_J == pytest.approx(bare.marginal_J)
    assert (serial.total_J or 0) - (bare.total_J or 0) == pytest.approx(2 * 0.82 * 0.04)
    assert serial.evidence == "assumed"


def estimates(**columns: Any) -> Measured:
    cell = {"cipher": "aes128-ctr", "operation": "encrypt", "payload_B": 1_000, "encoding": "raw", "time_ns": 2_000.0}
    cell |= {"cycles": 5_000.0, "energy_uJ": 4.0, "energy_low_uJ": 3.0, "energy_high_uJ": 16 / 3}
    cell |= {"energy_evidence": "measured", "time_evidence": "measured"}
    cells = [cell | {"operation": one, **columns} for one in ("encrypt", "decrypt")]
    return Measured(pl.DataFrame([*cells, cells[0] | {"payload_B": 16, "time_ns": 900.0}]), "x86_64")


def test_the_cipher_of_a_run_stands_beside_the_radio_with_its_interval() -> None:
    changes = {"payload.cipher": "aes128-ctr", "payload.data_B": 500_000, "radio": "intel-5300"}
    answer = told(changes=changes, measured=estimates())
    # 2 us and 4 uJ a kilobyte, at both ends.
    assert [(one.what, one.busy_ns) for one in answer.works] == [
        ("cipher: sender", 1_000_000),
        ("cipher: receiver", 1_000_000),
    ]
    assert [one.energy.J for one in answer.works if one.energy] == pytest.approx([2e-3, 2e-3])
    radios_J = sum(one.marginal.J for one in answer.by_states)
    share, (low, high) = rows.share(answer), rows.share_interval(answer)
    assert share == pytest.approx(4e-3 / (4e-3 + radios_J))
    assert low is not None
    assert share is not None
    assert high is not None
    assert low < share < high
    assert time_of(answer, "cipher: sender", "cipher: receiver") == 2_000_000


def test_messages_of_a_packet_are_priced_by_the_cell_nearest_in_size() -> None:
    changes = {"payload.cipher": "aes128-ctr", "payload.data_B": 32_000, "payload.payload_B": 32}
    answer = told(changes={**changes, "payload.encrypt": "packet"}, measured=estimates())
    assert answer.works[0].busy_ns == pytest.approx(900 / 16 * 32_000)


def test_a_run_without_the_cipher_is_told_what_it_has() -> None:
    with pytest.raises(InputError, match="no cell that measured") as caught:
        told(changes={"payload.cipher": "aes128-cbc"}, measured=estimates())
    assert caught.value.hint == 'did you mean "aes128-ctr"?'


def test_cycles_of_ones_own_need_consent_and_a_card_with_a_clock() -> None:
    changes = {"payload.cipher": "aes128-ctr", "cost.cycles_per_B": 10, "cost.sender": "pentium3-mobile-700"}
    with pytest.raises(EvidenceError, match="cycles_per_B 10"):
        told(changes=changes)
    answer = told(changes=changes, allow_assumed=True)
    card = cards.load("pentium3-mobile-700").card
    assert card.frequency is not None
    assert answer.works[0].busy_ns == pytest.approx(5_000_000 * 10 / card.frequency.in_SI * 1e9, rel=1e-6)
    assert [one.role for one in answer.works] == ["sender"]


POOR = {"payload.data_B": 50_000, "signal.positions": 40, "radio": "intel-5300"}


def test_a_poor_signal_is_a_distribution_with_3_dB_beside_it() -> None:
    answer = told("adhoc-poor", POOR)
    fixed = {"air.rate_control": None, "rate_Mb_s": 5.5, "transport": "udp", "engine": "closed-form"}
    own, stronger, weaker = told("adhoc-poor", POOR | fixed).positions
    assert stronger.duration_s.median <= own.duration_s.median <= weaker.duration_s.median
    assert stronger.complete >= own.complete >= weaker.complete
    own, stronger, weaker = answer.positions
    assert (own.offset_dB, stronger.offset_dB, weaker.offset_dB) == (0, 3, -3)
    assert own.duration_s.low <= own.duration_s.median <= own.duration_s.high
    assert own.energy_J is not None
    assert own.energy_J.low < own.energy_J.high
    # The ledger is that of a position in the middle.
    assert answer.duration_ns * 1e-9 == pytest.approx(own.duration_s.median, rel=0.05)
    assert told("adhoc-poor", POOR) == answer
    assert told("adhoc-poor", POOR | {"seed": 2}) != answer


def test_positions_fill_their_law_evenly() -> None:
    law = {"law": "normal", "mean": 60, "sigma": 5}
    named = scenario.load("adhoc-poor", {"signal.distance_m": law, "signal.positions": 200})
    own = [case for case in position.cases(named) if case.offset_dB == 0]
    drawn = sorted(case.signal["distance_m"] for case in own)
    walls = sorted(case.signal["walls_dB"] for case in own)
    assert sum(drawn) / 200 == pytest.approx(60, abs=0.01)
    assert sum(one < 60 - 1.959964 * 5 for one in drawn) == 5
    assert max(abs(one - (4 + 8 * (i + 0.5) / 200)) for i, one in enumerate(walls)) < 1e-9
    # In an order of their own: near ones don't always have the thin walls.
    pairs = [(case.signal["distance_m"] < 60, case.signal["walls_dB"] < 8) for case in own]
    assert 30 < sum(near and thin for near, thin in pairs) < 70


def test_three_decibels_move_the_received_power_by_three() -> None:
    by_power = position.cases(scenario.load("adhoc-open", {"signal.rssi_dBm": -80}))
    assert [case.signal["rssi_dBm"] for case in by_power] == [-80, -77, -83]
    far = {"signal.distance_m": 60, "transport": "udp", "payload.data_B": 1_000_000}
    answer = told(changes=far | {"air.tx_power_dBm": 5})
    assert answer.positions[1].duration_s == told(changes=far | {"air.tx_power_dBm": 8}).positions[0].duration_s


def test_all_scenarios_are_asked_of_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    answers = probes.answers

    def counted(program: Path, verb: str, lines: list[Any]) -> list[Any]:
        calls.append(len(lines))
        return answers(program, verb, lines)

    monkeypatch.setattr(probes, "answers", counted)
    names = ["adhoc-open", "adhoc-wep", "bss-open"]
    assert len(ask([scenario.load(name) for name in names], PROBE, {})) == 3
    assert calls == [6]


@pytest.mark.parametrize(
    ("changes", "error", "words", "hint"),
    [
        ({"rate_Mb_s": 54}, InputError, "rate_Mb_s: 54 Mb/s is not of this PHY", "5.5"),
        ({"phy": "z"}, InputError, 'phy: no phy "z"', "ax"),
        ({"payload.payload_B": 3_000}, InputError, "payload.payload_B: ", "1 to 2244"),
        ({"signal.distance": 3}, InputError, "signal.distance: unknown key", "distance_m"),
        ({"signal.walls_dB": 3}, InputError, "signal: has walls_dB and no distance_m", ""),
        ({"signal.distance_m": {"law": "uniform", "low": 3}}, InputError, "signal.distance_m: high is missing", ""),
        ({"signal.distance_m": {"law": "gamma"}}, InputError, 'signal.distance_m.law: no law "gamma"', "normal"),
        ({"payload.encoding": "base46"}, InputError, 'payload.encoding: no encoding "base46"', "base64"),
        ({"payload.data_B": None}, InputError, "payload: has nothing to send", ""),
        ({"payload.cipher": "aes128cbc"}, InputError, "no cipher 'aes128cbc'", "wattlock ciphers"),
        ({"payload.file": "nowhere", "payload.data_B": None}, InputError, "payload.file nowhere", "path"),
        ({"air.fragments_B": 3}, InputError, "air.fragments_B: unknown key", "fragment_B"),
        ({"air.seed": 3}, InputError, "air.seed has a place of its own", ""),
        ({"air.retry_limit": 0}, InputError, "air.retry_limit: 0 transmissions", "1 to 255"),
        ({"radio": "intel-5200"}, InputError, "there is no radio card intel-5200", "intel-5300"),
        ({"radio": "nrf52840-ble"}, InputError, "radio card nrf52840-ble is for ble", "linear"),
        ({"radio": "wavelan-11"}, EvidenceError, "nobody verified: send_packet 431 uJ", "--allow-assumed"),
        ({"host.sender_us": 300}, EvidenceError, "host.sender_us 300 us has no source", "--allow-assumed"),
        ({"engine": "closed-form"}, InputError, "transport: this engine knows datagrams", "udp"),
    ],
)
def test_a_mistake_is_told_with_its_key_and_what_would_be_right(
    changes: dict[str, Any], error: type[WattlockError], words: str, hint: str
) -> None:
    with pytest.raises(error) as caught:
        told(changes=changes)
    assert words in caught.value.message
    assert hint in caught.value.hint


def test_a_card_without_what_a_node_needs_is_named_with_what_it_lacks(tmp_path: Path) -> None:
    source = (Path(cards.__file__).parents[1] / "data" / "radios" / "intel-5300.toml").read_text()
    (tmp_path / "radios").mkdir()
    (tmp_path / "radios" / "silent.toml").write_text(source.split("[idle]")[0])
    with pytest.raises(EvidenceError, match="radio card silent has no idle"):
        told(changes={"radio": "silent"}, own=tmp_path)
    assert load_radio("silent", tmp_path).card.idle is None


def test_the_verb_prints_a_ledger_and_several_scenarios_side_by_side(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    assert cli.answer(["link", "adhoc-open", "--radio", "intel-5300", "--data-B", "30000"]) == 0
    out = capsys.readouterr().out
    for word in ("PHY preamble and padding", "gaps and back-off", "idle floor", "marginal_J", "total"):
        assert word in out
    words = ["link", "bss-open", "--protection", "none,tkip", "--phy", "b,g", "--data-B", "30000", "--format"]
    assert cli.answer([*words, "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["scenario"] for row in found][:2] == [
        "bss-open phy=b protection=none data_B=30000",
        "bss-open phy=b protection=tkip data_B=30000",
    ]
    assert found[0]["ratio"] == 1
    assert sum(line["time_ns"] for line in found[3]["ledger"][:-1]) == found[3]["duration_ns"]
    assert cli.answer([*words, "csv"]) == 0
    assert len(list(csv.DictReader(io.StringIO(capsys.readouterr().out)))) == 4


def test_the_verb_lists_what_a_newcomer_can_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["link", "--list", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["scenario"] for row in found] == scenario.names()
    assert {"adhoc-open", "adhoc-wep", "adhoc-poor", "bss-open", "bss-tkip", "bss-ccmp"} <= set(scenario.names())


@pytest.mark.parametrize("name", [name for name in scenario.names() if scenario.is_linear(name)])
def test_a_linear_radio_is_asked_like_the_others(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    words = ["link", name, "--payload-B", "30", "--format", "json", "--allow-assumed"]
    ledgers = []
    for more in ([], ["--cipher", "aes128-gcm", "--encoding", "base64"]):
        assert cli.answer([*words, *more]) == 0
        ledgers.append(json.loads(capsys.readouterr().out)[0]["ledger"])
    plain, sealed = ledgers
    lines = {row["line"]: row["octets_B"] for row in sealed}
    # 12 of nonce, 16 of tag; 58 octets are 80 letters.
    assert (lines["payload"], lines["cipher expansion"], lines["encoding"]) == (30, 28, 22)
    assert sealed[-1]["time_ns"] > plain[-1]["time_ns"]
    assert sum(row["time_ns"] for row in plain[:-1]) == plain[-1]["time_ns"]
    assert cli.answer([*words, "--phy", "b"]) == 4
    assert cli.answer([*words, "adhoc-open"]) == 4


def test_the_explanation_is_printed_with_its_caveat(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["link", "--explain", "elminaam-wlan"]) == 0
    out = capsys.readouterr().out
    assert "an encoding for each cipher" in out
    assert "is not a fact" in out
    assert cli.answer(["link", "--explain", "elminam"]) == 4


@cache
def layers() -> list[tables.Layer]:
    """Of the tables' layers those of 802.11b with a long preamble and of 802.11g alone."""
    keys = [key for key in tables.asked(None) if key[0] in {"802.11b, long preamble", "802.11g alone"}]
    return tables.layers(keys, ask([key[-1] for key in keys], PROBE, {}))


def test_the_ratios_of_the_tables_are_those_that_the_paper_prints() -> None:
    cells, _ = durations.printed(tables.PAPER)
    found = {ratio.name: tables.printed(cells, ratio) for ratio in tables.RATIOS}
    assert found["BSS / ad hoc"] == pytest.approx((12.21 / 8.27, 43.24 / 27.67))
    assert found["WEP / open"] == pytest.approx((8.35 / 8.27, 28.22 / 27.67))
    assert found["TKIP / open"] == pytest.approx((17.71 / 16.1, 13.7 / 12.21))


def test_802_11g_gives_the_papers_ratio_of_an_access_point_and_802_11b_twice_the_time() -> None:
    cells, _ = durations.printed(tables.PAPER)
    by_layer = {layer.name: layer for layer in layers()}
    through, wep, tkip, _ = tables.RATIOS
    assert tables.gives(by_layer["802.11g alone, TCP, packets of 1024 octets"], through, cells)
    for name, layer in by_layer.items():
        if name.startswith("802.11b"):
            assert 1.9 < (layer.ratio(through) or 0) < 2.1
        # Protection is octets: a tenth more time is more than it can be.
        assert 0.99 < (layer.ratio(wep) or 0) < 1.02
        assert 0.99 < (layer.ratio(tkip) or 0) < 1.03
        assert not tables.gives(layer, tkip, cells)


def test_the_tables_are_told_as_one_layer_would_give_them_and_what_it_would_not() -> None:
    cells, _ = durations.printed(tables.PAPER)
    near = tables.nearest(layers(), cells)
    assert near.phy == "802.11g alone"
    found = tables.table_rows(near, cells)
    assert len(found) == 15
    for row in found:
        if row["condition"] == "adhoc_open":
            assert row["air_s"] == pytest.approx(row["paper_s"])
    said = tables.sentences(layers(), cells)
    assert any(one.startswith("TKIP / open") and "no mechanism of the air" in one for one in said)
    assert any("9 of 90 cells" in one for one in said)


def test_a_transfer_that_loses_too_much_has_no_duration_to_compare() -> None:
    layer = layers()[0]
    lost = layer.answers["adhoc_poor"]
    none = position.Distribution(0.5, 0.4, 0.6)
    cut = layer._replace(
        answers={**layer.answers, "adhoc_poor": lost._replace(positions=[lost.positions[0]._replace(delivered=none)])}
    )
    assert layer.seconds("adhoc_poor") is not None
    assert cut.seconds("adhoc_poor") is None
    assert cut.ratio(tables.RATIOS[3]) is None


def test_the_verb_without_a_scenario_says_where_there_are_some(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["link"]) == 4
    assert "wattlock link --list" in capsys.readouterr().err
