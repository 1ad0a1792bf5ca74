"""The link: ledgers that add up, joules by hand, poor signals, and what a mistake gets."""

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from support.links import TOOLBOX, catalogue, described, octets_of, time_of
from support.tree import require_programs
from wattlock.energy import device_cards
from wattlock.energy.radio_cards import load as load_radio
from wattlock.errors import EvidenceError, InputError, WattlockError
from wattlock.link import ledger, scenario, wifi, wifi_air
from wattlock.link.ledger import STATES
from wattlock.link.wifi import evaluate, groups_of
from wattlock.link.wifi_air import LINES
from wattlock.targets.toolbox import Toolbox

ONE = {"payload.data_B": 1500, "payload.payload_B": 1500, "transport": "udp", "engine": "closed-form"}


@pytest.fixture(autouse=True, scope="module")
def program() -> None:
    require_programs()


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
    answer = described(name, {"payload.data_B": 300_000, "radio": "intel-5300", **changes}, allow_assumed=True)
    lines = answer.ledger.lines
    assert time_of(answer) == answer.duration_ns
    assert min(line.time_ns for line in lines) >= 0
    assert [line.what for line in lines] == sorted((line.what for line in lines), key=LINES.index)
    summed = ledger.ledger_rows(answer)
    assert math.isclose(summed[-1]["energy_J"], answer.total_J or 0, rel_tol=1e-9)
    assert sum(row["time_ns"] for row in summed[:-1]) == summed[-1]["time_ns"] == answer.duration_ns
    assert sum(row["octets_B"] for row in summed[:-1]) == summed[-1]["octets_B"]
    assert math.isclose(sum(row["time_ns"] for row in ledger.hop_rows(answer)), answer.duration_ns)


@pytest.mark.parametrize(("name", "changes"), SHAPES)
def test_what_radios_do_in_the_lines_is_what_the_air_says_they_did(name: str, changes: dict[str, Any]) -> None:
    sent = described(name, {"payload.data_B": 300_000, **changes}, allow_assumed=True).ledger
    waits = ("host: ", "cipher: sender", "cipher: receiver")
    for role, states in sent.states_ns.items():
        on_air = [line.states_ns[role] for line in sent.lines if not line.what.startswith(waits)]
        assert {state: sum(one.get(state, 0) for one in on_air) for state in STATES} == states
        assert sum(states.values()) == pytest.approx(sent.air_ns, abs=5)
        # Without collisions each nanosecond of each line is one in which every node does one thing.
        for line in sent.lines:
            if line.what != "collisions":
                assert sum(line.states_ns[role].values()) == line.time_ns


@pytest.mark.parametrize(("name", "changes"), SHAPES)
def test_the_octets_of_a_hop_are_those_of_the_frames_that_the_air_sent(name: str, changes: dict[str, Any]) -> None:
    named = scenario.load(name, {"payload.data_B": 300_000, **changes})
    groups = groups_of(named, catalogue())
    case = wifi.signal_points(named)[0]
    requested = [(named, wifi_air.question(named, group, case.signal, number)) for number, group in enumerate(groups)]
    came = wifi_air.evaluate(TOOLBOX, requested)
    answer = evaluate([named], TOOLBOX, catalogue(), allow_assumed=True)[0]
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
    if answer.ledger.delivered == answer.ledger.requested:
        plain_B = sum(group.parts.plain_B for group in groups)
        assert octets_of(answer, "payload") == plain_B * (2 if named.scenario.topology == "bss" else 1)


def test_a_frame_of_1564_octets_at_11_Mb_s_is_1330_us_and_its_exchange_1903() -> None:
    answer = described(changes=ONE)
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
    answer = described(changes=ONE | changes)
    assert time_of(answer, "ACK and CTS") == 1_000 * ack_us
    gone = time_of(answer, "gaps and back-off", "ACK and CTS", "beacons")
    assert answer.duration_ns - gone == 1_000 * frame_us


@pytest.mark.parametrize(
    ("protection", "octets_B"),
    [("none", 0), ("wep", 8), ("tkip", 20), ("ccmp", 16), ("ccmp256", 24), ("gcmp", 24), ("gcmp256", 24)],
)
def test_protection_is_so_many_octets_a_packet(protection: str, octets_B: int) -> None:
    answer = described(changes=ONE | {"protection": protection})
    assert octets_of(answer, "protection") == octets_B
    assert time_of(answer, "protection") == pytest.approx(octets_B * 8_000 / 11, abs=1)


def test_joules_are_power_by_time_of_each_state() -> None:
    answer = described("bss-open", {"payload.data_B": 200_000, "radio": "intel-5300"})
    for one in answer.by_states:
        s = {state: 1e-9 * time for state, time in answer.ledger.states_ns[one.role].items()}
        # Its card: 1.14 W sending, 0.94 W receiving, 0.82 W listening.
        by_hand = 1.14 * s["tx"] + 0.94 * (s["rx"] + s["cca"]) + 0.82 * s["idle"]
        assert pytest.approx(by_hand, rel=1e-3) == one.total.J
        assert one.floor_J == pytest.approx(0.82 * answer.duration_ns * 1e-9, rel=1e-9)
        assert pytest.approx(by_hand - one.floor_J, rel=1e-9) == one.marginal.J
        assert one.total.low_J < one.total.J < one.total.high_J
        assert one.marginal.low_J < one.marginal.J < one.marginal.high_J <= one.total.high_J


def test_an_interval_joins_what_the_states_share_and_what_they_do_not() -> None:
    answer = described(changes={"payload.data_B": 100_000, "transport": "udp", "radio": "esp32-c3-wifi"})
    sender = answer.by_states[0]
    s = {state: 1e-9 * time for state, time in answer.ledger.states_ns["sender"].items()}
    card = load_radio("esp32-c3-wifi").card
    assert card.rx is not None
    assert card.idle is not None
    assert card.voltage is not None
    tx = card.sending(11.0)
    assert tx is not None
    each = [(tx, s["tx"]), (card.rx, s["rx"]), (card.idle, s["idle"])]
    joules = [3.3 * number.value * 1e-3 * seconds for number, seconds in each]
    assert pytest.approx(sum(joules)) == sender.total.J
    own = math.hypot(*(J * number.log_sigma for J, (number, _) in zip(joules, each, strict=True)))
    relative = math.hypot(own, sum(joules) * card.voltage.log_sigma) / sum(joules)
    assert sender.total.high_J == pytest.approx(sum(joules) * math.exp(1.96 * relative))
    assert sender.total.low_J == pytest.approx(sum(joules) / math.exp(1.96 * relative))
    # Above idling, what idling draws is uncertain too; receiving costs no more than that on this card.
    over = [joules[0], joules[1], -joules[2] * (s["tx"] + s["rx"]) / s["idle"]]
    assert pytest.approx(sum(over)) == sender.marginal.J
    assert sender.marginal.high_J > sender.marginal.J


@pytest.mark.parametrize(
    ("changes", "frame_us", "answer_us", "silent_us"),
    [
        # 1536 octets at 54 Mb/s: 20 + 4 * ceil((22 + 8 * 1536) / 216) us; an ACK at 24 Mb/s: 20 + 4 * ceil(134 / 96).
        ({"phy": "g", "rate_Mb_s": 54}, 248, 28, 6),
        ({"phy": "a", "rate_Mb_s": 54}, 248, 28, 0),
        ({"phy": "b", "rate_Mb_s": 11, "preamble": "long"}, 1310, 203, 0),
    ],
)
def test_nobody_sends_in_the_signal_extension_of_2_4_GHz_and_nobody_pays_for_it(
    changes: dict[str, Any], frame_us: int, answer_us: int, silent_us: int
) -> None:
    one = {"payload.data_B": 14_720, "payload.payload_B": 1472, "transport": "udp", "engine": "closed-form"}
    answer = described(changes=one | changes | {"radio": "esp32-wifi"})
    sender, receiver = (answer.ledger.states_ns[role] for role in ("sender", "receiver"))
    assert (sender["tx"], sender["rx"]) == (10 * frame_us * 1000, 10 * answer_us * 1000)
    assert (receiver["rx"], receiver["tx"]) == (sender["tx"], sender["rx"])
    assert sender["tx"] + sender["rx"] + sender["idle"] == answer.ledger.air_ns
    on_air_ns = time_of(answer) - time_of(answer, "gaps and back-off")
    assert on_air_ns == 10 * 1000 * (frame_us + answer_us + 2 * silent_us), "the air is taken all the same"


def test_of_an_aggregate_of_2_4_GHz_the_extension_stands_once_and_once_in_its_block_acknowledgement() -> None:
    answer = described(changes={"phy": "n", "rate_Mb_s": None, "mcs": 7, "transport": "udp", "radio": "intel-5300"})
    sent_ns = sum(line.states_ns["sender"].get("tx", 0) for line in answer.ledger.lines)
    counted_ns = sum(one.time_ns for one in answer.ledger.lines if one.states_ns["sender"].get("tx"))
    # Block acknowledgements at 24 Mb/s take 38 us, and one frame that was left is acknowledged in 34; 6 us are silent.
    answered_ns = time_of(answer, "ACK and CTS")
    answers = 1 + (answered_ns - 34_000) // 38_000
    assert answered_ns == 34_000 + 38_000 * (answers - 1)
    assert counted_ns - sent_ns == 6_000 * answers
    assert answer.ledger.states_ns["receiver"]["tx"] == answered_ns - 6_000 * answers


def test_the_linear_model_is_a_constant_a_packet_and_a_price_an_octet_above_idling() -> None:
    changes = {"transport": "udp", "payload.data_B": 14_720, "radio": "wavelan-11"}
    answer = described(changes=changes, allow_assumed=True)
    sender, receiver = answer.by_states
    assert (sender.model, sender.evidence, answer.evidence) == ("linear", "assumed", "assumed")
    # Ten packets of 1500 octets from IP up.
    assert pytest.approx(1e-6 * (10 * 431 + 0.48 * 15_000)) == sender.marginal.J
    assert pytest.approx(1e-6 * (10 * 316 + 0.12 * 15_000)) == receiver.marginal.J
    assert pytest.approx(sender.marginal.J + 0.741 * answer.duration_ns * 1e-9) == sender.total.J
    assert ledger.ledger_rows(answer)[-1]["energy_J"] == pytest.approx(answer.total_J)


def test_through_an_access_point_the_linear_model_charges_each_hop_to_its_two_ends() -> None:
    changes = {"transport": "udp", "payload.data_B": 14_720, "radio": "wavelan-11"}
    by_role = {one.role: one.marginal.J for one in described("bss-open", changes, allow_assumed=True).by_states}
    assert by_role["access-point"] == pytest.approx(by_role["sender"] + by_role["receiver"], rel=1e-12)


def test_fragments_of_a_packet_are_one_packet_of_the_linear_model() -> None:
    cut = {"transport": "udp", "payload.data_B": 14_720, "radio": "wavelan-11", "air.fragment_B": 500}
    sender, receiver = described(changes=cut | {"engine": "closed-form"}, allow_assumed=True).by_states
    # Ten packets of 1500 octets from IP up, each in four frames.
    assert pytest.approx(1e-6 * (10 * 431 + 0.48 * 15_000), rel=1e-12) == sender.marginal.J
    assert pytest.approx(1e-6 * (10 * 316 + 0.12 * 15_000), rel=1e-12) == receiver.marginal.J


def test_more_octets_never_take_less_time_or_fewer_joules() -> None:
    sizes = [1, 100, 1_472, 1_473, 5_000, 50_000, 50_001]
    requested = [
        scenario.load(
            "adhoc-open",
            {"transport": "udp", "engine": "closed-form", "radio": "intel-5300", "payload.data_B": size_B},
        )
        for size_B in sizes
    ]
    answers = evaluate(requested, TOOLBOX, {})
    for less, more in pairwise(answers):
        assert less.duration_ns <= more.duration_ns
        assert (less.total_J or 0) <= (more.total_J or 0)
        assert (less.marginal_J or 0) <= (more.marginal_J or 0)


@pytest.mark.parametrize("name", [name for name in scenario.names() if not scenario.is_message(scenario.read(name)[1])])
def test_every_scenario_that_comes_along_has_an_answer_and_costs_more_in_all_than_above_idling(name: str) -> None:
    answer = described(name, {"payload.data_B": 30_000, "radio": "intel-5300"})
    assert 0 < (answer.marginal_J or 0) <= (answer.total_J or 0)
    assert len(ledger.sentences(answer)) < 4


POOR = {"payload.data_B": 50_000, "signal.positions": 40, "radio": "intel-5300"}


def test_a_poor_signal_is_a_distribution_with_3_dB_beside_it() -> None:
    answer = described("adhoc-poor", POOR)
    fixed = {"air.rate_control": None, "rate_Mb_s": 5.5, "transport": "udp", "engine": "closed-form"}
    own, stronger, weaker = described("adhoc-poor", POOR | fixed).positions
    assert stronger.duration_s.median <= own.duration_s.median <= weaker.duration_s.median
    assert stronger.complete >= own.complete >= weaker.complete
    own, stronger, weaker = answer.positions
    assert (own.offset_dB, stronger.offset_dB, weaker.offset_dB) == (0, 3, -3)
    assert own.duration_s.low <= own.duration_s.median <= own.duration_s.high
    assert own.energy_J is not None
    assert own.energy_J.low < own.energy_J.high
    # The ledger is that of a position in the middle.
    assert answer.duration_ns * 1e-9 == pytest.approx(own.duration_s.median, rel=0.05)
    assert described("adhoc-poor", POOR) == answer
    assert any("of the median position" in one for one in ledger.sentences(answer))
    assert described("adhoc-poor", POOR | {"seed": 2}) != answer


def test_positions_fill_their_law_evenly() -> None:
    law = {"law": "normal", "mean": 60, "sigma": 5}
    named = scenario.load("adhoc-poor", {"signal.distance_m": law, "signal.positions": 200})
    own = [case for case in wifi.signal_points(named) if case.offset_dB == 0]
    drawn = sorted(case.signal["distance_m"] for case in own)
    walls = sorted(case.signal["walls_dB"] for case in own)
    assert sum(drawn) / 200 == pytest.approx(60, abs=0.01)
    assert sum(one < 60 - 1.959964 * 5 for one in drawn) == 5
    assert max(abs(one - (4 + 8 * (i + 0.5) / 200)) for i, one in enumerate(walls)) < 1e-9
    # In an order of their own: near ones don't always have the thin walls.
    pairs = [(case.signal["distance_m"] < 60, case.signal["walls_dB"] < 8) for case in own]
    assert 30 < sum(near and thin for near, thin in pairs) < 70


def test_three_decibels_move_the_received_power_by_three() -> None:
    by_power = wifi.signal_points(scenario.load("adhoc-open", {"signal.rssi_dBm": -80}))
    assert [case.signal["rssi_dBm"] for case in by_power] == [-80, -77, -83]
    far = {"signal.distance_m": 60, "transport": "udp", "payload.data_B": 1_000_000}
    answer = described(changes=far | {"air.tx_power_dBm": 5})
    assert answer.positions[1].duration_s == described(changes=far | {"air.tx_power_dBm": 8}).positions[0].duration_s


def test_all_scenarios_are_asked_of_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    answers = Toolbox.answers

    def counted(net: Toolbox, verb: str, lines: list[Any]) -> list[Any]:
        calls.append(len(lines))
        return answers(net, verb, lines)

    monkeypatch.setattr(Toolbox, "answers", counted)
    names = ["adhoc-open", "adhoc-wep", "bss-open"]
    assert len(evaluate([scenario.load(name) for name in names], TOOLBOX, {})) == 3
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
        ({"air.seed": 3}, InputError, "air.seed can't be set: set seed in its place", ""),
        ({"air.rssi_dBm": -60}, InputError, "air.rssi_dBm can't be set: set signal.rssi_dBm in its place", ""),
        ({"air.power_save": True}, InputError, "air.power_save can't be set: a transfer is asked", ""),
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
        described(changes=changes)
    assert words in caught.value.message
    assert hint in caught.value.hint


def test_a_card_without_what_a_node_needs_is_named_with_what_it_lacks(tmp_path: Path) -> None:
    source = (Path(device_cards.__file__).parents[1] / "data" / "radios" / "intel-5300.toml").read_text()
    (tmp_path / "radios").mkdir()
    (tmp_path / "radios" / "silent.toml").write_text(source.split("[idle]")[0])
    with pytest.raises(EvidenceError, match="radio card silent has no idle"):
        described(changes={"radio": "silent"}, user_cards=tmp_path)
    assert load_radio("silent", tmp_path).card.idle is None


@pytest.mark.parametrize("name", ["bss-tkip", "bss-ccmp", "adhoc-wep", "adhoc-open"])
def test_the_octets_of_acknowledgements_of_tcp_are_those_of_their_frames(name: str) -> None:
    named = scenario.load(name, {"payload.data_B": 300_000, "transport": "tcp", "phy": "g", "rate_Mb_s": 54})
    group = groups_of(named, catalogue())[0]
    question = wifi_air.question(named, group, wifi.signal_points(named)[0].signal, 0)
    [came] = wifi_air.evaluate(TOOLBOX, [(named, question)])
    answer = evaluate([named], TOOLBOX, catalogue(), allow_assumed=True)[0]
    octets = came["resolved"]["octets"]
    around_B = sum(octets[f"{part}_B"] for part in ("llc", "msdu_protection", "mpdu_protection", "mac"))
    empty_B = around_B + octets["transport_B"] + octets["ip_B"]
    packets = sum(leg["packets"] for leg in came["legs"] if leg["acknowledgements"])
    assert octets_of(answer, "TCP acknowledgements") == packets * empty_B > 0
