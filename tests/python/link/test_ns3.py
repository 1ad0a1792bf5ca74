"""ns-3 as the second engine: both answers agree where ns-3 is there, and its absence is told where it isn't."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.tools import needs_ns3
from wattlock.energy import radio_cards
from wattlock.errors import InputError, ProbeError
from wattlock.link import ns3
from wattlock.link.framing import State
from wattlock.link.ledger import STATES, Ledger, LedgerLine
from wattlock.link.ns3 import EXTRA
from wattlock.link.wifi import energy_of
from wattlock.targets import toolbox

# How far apart the two may be, in percent.
ADHOC, ACCESS_POINT, TWO_HOPS, TWO_HOPS_11, FILE, STREAM, SATURATED = 0.5, 1.0, 1.5, 4.0, 1.5, 6.0, 2.0
SCENARIOS: list[tuple[dict[str, Any], float]] = [
    *(({"phy": phy, "duration_s": 10}, ADHOC) for phy in "bga"),
    ({"phy": "b", "preamble": "short", "duration_s": 10}, ADHOC),
    ({"phy": "b", "rate_Mb_s": 2, "duration_s": 10}, ADHOC),
    ({"phy": "n", "band": "5", "duration_s": 3}, ADHOC),
    ({"phy": "ac", "duration_s": 3}, ADHOC),
    # The beacons of 2.4 GHz go at 1 Mb/s.
    ({"phy": "n", "topology": "to-ap", "duration_s": 5}, ACCESS_POINT),
    ({"phy": "n", "topology": "bss", "duration_s": 5}, TWO_HOPS),
    ({"phy": "a", "protection": "ccmp", "duration_s": 10}, ADHOC),
    ({"phy": "b", "protection": "tkip", "duration_s": 10}, ADHOC),
    *(({"phy": phy, "topology": "to-ap", "duration_s": 10}, ACCESS_POINT) for phy in "bga"),
    *(({"phy": phy, "topology": "bss", "duration_s": 10}, TWO_HOPS) for phy in "ga"),
    ({"phy": "b", "topology": "bss", "duration_s": 20}, TWO_HOPS_11),
    *(({"phy": "a", "topology": topology, "datagrams": 10_000}, FILE) for topology in ("adhoc", "to-ap", "bss")),
    ({"phy": "g", "rssi_dBm": -60, "datagrams": 5_000}, FILE),
    ({"phy": "a", "transport": "tcp", "datagrams": 7_000}, STREAM),
    ({"phy": "b", "transport": "tcp", "datagrams": 3_000, "topology": "bss"}, STREAM),
    ({"phy": "a", "stations": 5, "duration_s": 10}, SATURATED),
]


def ours(questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    text = "\n".join(json.dumps(question) for question in questions)
    done = subprocess.run([toolbox.find().program, "air"], input=text, capture_output=True, text=True, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


DEAD: dict[str, Any] = {"phy": "a", "datagrams": 20, "rssi_dBm": -110}


@pytest.fixture(scope="module")
def both() -> list[ns3.Ns3Comparison]:
    """Every scenario and the dead one, from one process: ns-3 takes its time to start."""
    questions = [*(question for question, _ in SCENARIOS), DEAD]
    return ns3.compare(questions, ours(questions))


@needs_ns3
def test_both_engines_agree_on_the_same_scenarios(both: list[ns3.Ns3Comparison]) -> None:
    far = {
        json.dumps(question): round(one.apart_percent, 3)
        for one, (question, most) in zip(both, SCENARIOS, strict=False)
        if abs(one.apart_percent) > most
    }
    assert far == {}


@needs_ns3
def test_both_engines_count_the_same_time_on_the_air(both: list[ns3.Ns3Comparison]) -> None:
    for one in both[: len(SCENARIOS)]:
        for node in (*one.ours_s, *one.theirs_s):
            assert min(node.values()) >= 0
        ours_share, theirs_share = (
            one.ours_s[1]["tx"] / one.our_duration_s,
            one.theirs_s[1]["tx"] / one.their_duration_s,
        )
        assert ours_share == pytest.approx(theirs_share, abs=0.02)


@needs_ns3
def test_a_signal_that_nobody_hears_delivers_nothing_in_both(both: list[ns3.Ns3Comparison]) -> None:
    dead = both[-1]
    assert (dead.our_delivered_per_s, dead.their_delivered_per_s, dead.apart_percent) == (0, 0, 0)


@needs_ns3
def test_joules_of_equal_states_are_those_of_ns3() -> None:
    radio = radio_cards.load("intel-5300")
    card = radio.card
    assert card.rx
    assert card.idle
    sending = card.sending(54.0)
    assert sending
    watts = {"tx_W": card.power_W(sending), "rx_W": card.power_W(card.rx), "cca_W": card.power_W(card.rx)}
    watts["idle_W"] = card.power_W(card.idle)
    questions: list[dict[str, Any]] = [
        {"phy": "a", "datagrams": 3_000},
        {"phy": "b", "topology": "bss", "transport": "tcp", "datagrams": 1_000},
        {"phy": "g", "stations": 5, "duration_s": 2},
    ]
    requested = [
        ns3.described(question, answer)[0] | watts for question, answer in zip(questions, ours(questions), strict=True)
    ]
    for theirs in ns3.answers_of(requested):
        for node in theirs["nodes"]:
            states: dict[State, int] = {state: round(node[f"{state}_s"] * 1e9) for state in STATES[:4]}
            duration_ns = sum(states.values())
            line = LedgerLine("collisions", None, 0, duration_ns, {"sender": states})
            sent = Ledger([line], duration_ns, {"sender": states}, 1)
            found = energy_of(
                radio, "sender", sent, "states", duration_ns=duration_ns, rate_Mb_s=54.0, allow_assumed=False
            )
            assert pytest.approx(node["J"], rel=0.001) == found.total.J


@needs_ns3
def test_a_scenario_on_which_ns3_gives_up_is_told_and_ends_no_one_else() -> None:
    question = {"phy": "b", "duration_s": 1}
    answer = ours([question])[0]
    answer["resolved"]["rate_bit_s"] = 77_000_000
    with pytest.raises(ProbeError, match=r"at scenario 1 of 1: .*Rate77Mbps"):
        ns3.compare([question], [answer])


def test_without_ns3_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ns3.VARIABLE, raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    question = {"phy": "b", "duration_s": 1}
    with pytest.raises(InputError, match="needs the package ns3") as refusal:
        ns3.compare([question], ours([question]))
    assert EXTRA in refusal.value.hint


def test_a_python_that_is_named_and_has_no_ns3_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    question = {"phy": "b", "duration_s": 1}
    answers = ours([question])
    monkeypatch.setenv(ns3.VARIABLE, str(tmp_path / "python"))
    with pytest.raises(ProbeError, match="No such file"):
        ns3.compare([question], answers)
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -I "$@"\n')
    bare.chmod(0o755)
    monkeypatch.setenv(ns3.VARIABLE, str(bare))
    with pytest.raises(ProbeError, match="bare has no ns3"):
        ns3.compare([question], answers)


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ({"fragment_B": 500}, "fragment_B"),
        ({"rate_control": "arf"}, "rate_control"),
        ({"power_save": True, "topology": "to-ap", "interval_us": 100_000}, "power_save"),
        ({"eifs": True}, "eifs"),
        ({"preamble": "short", "topology": "to-ap"}, "preamble"),
        ({"stations": 2, "rssi_dBm": [-50, -60]}, "signal"),
    ],
)
def test_what_ns3s_side_does_not_know_is_refused_by_key(more: dict[str, Any], key: str) -> None:
    question = {"phy": "b", "duration_s": 1, **more}
    with pytest.raises(InputError, match=f"^{key}: ns-3's"):
        ns3.described(question, ours([question])[0])


def test_what_is_so_anyway_is_not_refused() -> None:
    question = {"phy": "a", "duration_s": 1, "eifs": False, "rate_control": "fixed", "fragment_B": 0, "streams": 1}
    words, notes = ns3.described(question, ours([question])[0])
    assert (words["mode"], words["control"], notes) == ("OfdmRate54Mbps", "OfdmRate24Mbps", [])


@pytest.mark.parametrize(("protection", "added_B"), [("none", 0), ("wep", 8), ("tkip", 20), ("ccmp", 16), ("gcmp", 24)])
def test_what_protection_adds_is_in_ns3s_packet_and_said(protection: str, added_B: int) -> None:
    question = {"phy": "b", "duration_s": 1, "protection": protection, "payload_B": 1000}
    words, notes = ns3.described(question, ours([question])[0])
    assert words["packet_B"] == 1028 + added_B
    assert bool(notes) == bool(added_B)


def test_other_basic_rates_than_ns3s_are_said() -> None:
    question = {"phy": "b", "duration_s": 1, "basic_rates_Mb_s": [1, 2]}
    _, notes = ns3.described(question, ours([question])[0])
    assert notes == ["ns-3 acknowledges at 11 Mb/s, we at 2"]


def test_what_ns3_leaves_out_of_vht_frames_is_said() -> None:
    said = {
        phy: ns3.described(question := {"phy": phy, "duration_s": 1}, ours([question])[0])[1] for phy in ("n", "ac")
    }
    assert said == {"n": [], "ac": ["ns-3 leaves the 4 us of VHT-SIG-B out of each VHT frame"]}


def test_the_child_needs_nothing_of_wattlock() -> None:
    text = Path(ns3.__file__).with_name("ns3_child.py").read_text()
    assert "import wattlock" not in text
    assert "from wattlock" not in text


def test_a_failure_of_the_first_engine_is_not_taken_for_an_answer() -> None:
    question = {"phy": "b", "rate_Mb_s": 54, "duration_s": 1}
    with pytest.raises(InputError, match="rate"):
        ns3.described(question, ours([question])[0])
