"""ns-3 as a second engine: the same scenarios of the air in ns-3 3.44, beside the first engine's answers.

A process of its own, as ns-3 ends a process on an error of its own, and as it is under the GPL: nothing of it is
imported here. What it is asked comes from what the first engine's answer says its scenario came down to.
"""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, NamedTuple

from wattlock.errors import InputError, ProbeError
from wattlock.extras import install
from wattlock.link.scenario import KEYS

VARIABLE = "WATTLOCK_NS3_PYTHON"
"""Names another Python, which has ns-3: its wheel is for some versions of Python only."""
EXTRA = f"{install('ns3')}, or set WATTLOCK_NS3_PYTHON to a Python that has ns3 3.44"
# What ns-3's side is told; a scenario with any other key that asks for something is refused.
KNOWN = {*KEYS} - {"power_save"}
KNOWN |= {"channel_MHz", "interval_us", "tcp_window_B", "rts", "ampdu_B", "path_loss_exponent", "tx_power_dBm"}
# A key whose value says what is so without it too.
HARMLESS: dict[str, tuple[Any, ...]] = {
    "streams": (1,),
    "gi_ns": (800,),
    "rate_control": ("fixed",),
    "retry_limit": (7,),
    "eifs": (False,),
    "power_save": (False,),
    "fragment_B": (0,),
    "tcp_timestamps": (True,),
    "noise_figure_dB": (7, 7.0),
    "path_loss_exponent": (3, 3.0),
}
FAMILY = {"b": "Dsss", "g": "ErpOfdm", "a": "Ofdm", "n": "Ht", "ac": "Vht", "ax": "He"}
DSSS = {1_000_000: "1", 2_000_000: "2", 5_500_000: "5_5", 11_000_000: "11"}
LLC_B, FCS_B = 8, 4
# Everybody hears everybody so well that nothing is lost.
CLEAR_dBm = -40.0
# Times the duration of ours: more than any scenario on which the two agree.
PATIENCE = 10
# Of ns-3's generator (MRG32k3a), which takes no zero.
LARGEST_SEED = 4_294_944_443
# By SIGTERM or SIGKILL no program ends itself.
ENDED_FROM_OUTSIDE = (-signal.SIGTERM, -signal.SIGKILL)
# Each station offers a little more than the air carries in all, so that one is always waiting.
HASTE = 0.8


class Ns3Comparison(NamedTuple):
    """One scenario in both engines.

    * durations in seconds and datagrams or segments delivered a second; `apart_percent`: our time for each beside
      ns-3's.
    * `ours_s`, `theirs_s`: by node and state the seconds, where `rx` is all that is heard: ns-3 counts preambles as
      busy, we as received.
    * `notes`: in what the two scenarios are not the same.
    """

    id: str | None
    our_duration_s: float
    their_duration_s: float
    our_delivered_per_s: float
    their_delivered_per_s: float
    apart_percent: float
    ours_s: list[dict[str, float]]
    theirs_s: list[dict[str, float]]
    their_wall_s: float
    notes: list[str]

    def row(self) -> dict[str, Any]:
        """A record for a table: both answers and their difference."""
        return {
            "scenario": self.id,
            "wattlock_s": self.our_duration_s,
            "ns3_s": self.their_duration_s,
            "wattlock_per_s": self.our_delivered_per_s,
            "ns3_per_s": self.their_delivered_per_s,
            "apart_percent": self.apart_percent,
            "ns3_wall_s": self.their_wall_s,
            "notes": "; ".join(self.notes),
        }


def python() -> Path | None:
    """The Python that has ns-3: the one that is named, else this one; None where it has none."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    return Path(sys.executable) if importlib.util.find_spec("ns3") and importlib.util.find_spec("ns") else None


def compare(questions: Sequence[Mapping[str, Any]], answers: Sequence[Mapping[str, Any]]) -> list[Ns3Comparison]:
    """Ask ns-3 what was asked of `wattlock-net air`, and put its answers beside those.

    * `questions`: scenarios of the air; `answers`: the results of the first engine, in their order.

    One process answers all; it takes some 20 s to start. Raises InputError where ns-3 is missing or its side can't
    carry a scenario out, naming the key; ProbeError where ns-3 gives up.
    """
    requested = [_named(question, answer) for question, answer in zip(questions, answers, strict=True)]
    found = answers_of([words for words, _ in requested])
    return [
        compared(answer, theirs, notes) for answer, theirs, (_, notes) in zip(answers, found, requested, strict=True)
    ]


def _named(question: Mapping[str, Any], answer: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    try:
        return described(question, answer)
    except InputError as error:
        name = question.get("id")
        raise InputError(f"link {name}: {error.message}" if name else error.message, hint=error.hint) from error


def described(question: Mapping[str, Any], answer: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """A scenario in ns-3's words, and in what it differs.

    Raises InputError naming the first key that its side does not know.
    """
    _refuse(question, answer)
    resolved = answer["resolved"]
    phy, topology = question["phy"], question.get("topology", "adhoc")
    tcp = question.get("transport") == "tcp"
    signals = {node["rssi_dBm"] for node in answer["nodes"] if node["rssi_dBm"] is not None}
    if len(signals) > 1:
        raise InputError("signal: ns-3's side has one signal for all", hint="give one distance_m or rssi_dBm")
    # ns-3 protects nothing: what protection adds is added to the packet.
    packet_B = resolved["packet_B"] + _protection_B(question, resolved)
    words: dict[str, Any] = {
        "phy": phy,
        "topology": topology,
        "mode": _mode(phy, resolved["rate_bit_s"], question),
        "control": _control(phy, resolved["response_rate_bit_s"], question),
        "transport": question.get("transport", "udp"),
        "stations": question.get("stations", 1),
        "packet_B": packet_B,
        "interval_us": question.get("interval_us") or _interval_us(answer),
        "rts": int(question.get("rts", False)),
        "seed": question.get("seed", 1) % LARGEST_SEED or 1,
        "short_preamble": int(question.get("preamble") == "short"),
        "rss_dBm": signals.pop() if signals else CLEAR_dBm,
        "band": question.get("band", "5" if phy == "ac" else "2.4"),
        "width_MHz": question.get("channel_MHz", 20),
    }
    words |= {key: question[key] for key in ("datagrams", "duration_s") if question.get(key)}
    # Where nothing comes any more, ns-3 need not wait for it.
    words["limit_s"] = 10 + PATIENCE * answer["duration_ns"] * 1e-9
    if tcp:
        words["window_B"] = question.get("tcp_window_B", 65_535)
    if phy in {"n", "ac", "ax"}:
        words["ampdu_B"] = question.get("ampdu_B", 65_535)
    notes = []
    if resolved["packet_B"] != packet_B:
        notes.append(
            "protection's octets are in ns-3's payload" + (", its TCP acknowledgements have none" if tcp else "")
        )
    if phy == "ac":
        notes.append("ns-3 leaves the 4 us of VHT-SIG-B out of each VHT frame")
    theirs = _their_response(phy, topology, resolved["rate_bit_s"])
    if theirs is not None and theirs != resolved["response_rate_bit_s"]:
        notes.append(f"ns-3 acknowledges at {theirs / 1e6:g} Mb/s, we at {resolved['response_rate_bit_s'] / 1e6:g}")
    return words, notes


def _refuse(question: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
    if answer.get("kind") != "result":
        raise InputError(f"{answer.get('key', 'scenario')}: {answer.get('message', 'has no answer to compare')}")
    for key, value in question.items():
        if value is None or key in KNOWN or value in HARMLESS.get(key, ()):
            continue
        raise InputError(f"{key}: ns-3's side knows none", hint="leave it out, or take the engine dcf")
    if question.get("preamble") == "short" and question.get("topology", "adhoc") != "adhoc":
        raise InputError("preamble: ns-3's access points keep to long ones", hint='compare with preamble = "long"')


def _protection_B(question: Mapping[str, Any], resolved: Mapping[str, Any]) -> int:
    """Octets of protection in the frame, as those that are neither header nor packet."""
    if question.get("protection", "none") == "none":
        return 0
    mac_B = 26 if question["phy"] in {"n", "ac", "ax"} else 24
    return int(resolved["psdu_B"] - resolved["packet_B"] - LLC_B - FCS_B - mac_B)


def _mode(phy: str, rate_bit_s: int, question: Mapping[str, Any]) -> str:
    if phy in {"n", "ac", "ax"}:
        highest = {"n": 7, "ac": 8, "ax": 11}[phy]
        return f"{FAMILY[phy]}Mcs{question.get('mcs', highest)}"
    return _control(phy, rate_bit_s, question)


def _control(phy: str, rate_bit_s: int, question: Mapping[str, Any]) -> str:
    if rate_bit_s in DSSS and phy != "a":
        return f"DsssRate{DSSS[rate_bit_s]}Mbps"
    low_band = phy == "g" or (phy in {"n", "ax"} and question.get("band", "2.4") == "2.4")
    return f"{'ErpOfdm' if low_band else 'Ofdm'}Rate{rate_bit_s // 1_000_000}Mbps"


def _their_response(phy: str, topology: str, rate_bit_s: int) -> int | None:
    """Rate of ns-3's acknowledgements of b, g and a, which its own basic rates give."""
    if phy in {"n", "ac", "ax"}:
        return None
    if rate_bit_s in DSSS and phy != "a":
        return rate_bit_s if topology == "adhoc" else min(rate_bit_s, 2_000_000)
    return max(rate for rate in (6_000_000, 12_000_000, 24_000_000) if rate <= rate_bit_s)


def _interval_us(answer: Mapping[str, Any]) -> int:
    each_ns = answer["duration_ns"] / max(answer["delivered"], 1)
    return max(1, int(HASTE * each_ns / 1e3))


def answers_of(requested: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What ns-3 says to scenarios in its own words, from one process.

    Raises InputError where there is no ns-3, ProbeError where it gives up.
    """
    return _ask(requested)


def answers_apart(requested: Sequence[Mapping[str, Any]]) -> list[dict[str, Any] | ProbeError]:
    """As `answers_of`, but each in a process of its own: where ns-3 gives one up, the others go on.

    Raises InputError where there is no ns-3, ProbeError where a process was ended from outside.
    """
    found: list[dict[str, Any] | ProbeError] = []
    for answer in _ask(requested, "apart"):
        code = answer.get("ended")
        if code in ENDED_FROM_OUTSIDE:
            raise ProbeError(f"ns-3 ended with signal {-code}, from outside", hint="the same command asks it again")
        found.append(answer if code is None else _gave_up(code, answer["said"]))
    return found


def version() -> str:
    """The version of ns-3 that answers.

    Raises InputError where there is none, ProbeError where the Python that is named has none or can't be started.
    """
    program = _needed()
    command: list[str | Path] = [program, "-P", "-c", "from importlib.metadata import version; print(version('ns3'))"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise _unstarted(program, error) from error
    if done.returncode:
        raise ProbeError(f"{program} has no ns3", hint=EXTRA)
    return str(done.stdout).strip()


def _needed() -> Path:
    program = python()
    if program is None:
        raise InputError("the engine ns3 needs the package ns3, which is not installed", hint=EXTRA)
    return program


def _ask(requested: Sequence[Mapping[str, Any]], *how: str) -> list[dict[str, Any]]:
    program = _needed()
    child = Path(__file__).with_name("ns3_child.py")
    lines = "".join(json.dumps(words) + "\n" for words in requested)
    with as_file(files("wattlock") / "data" / "ns3" / "transfer.cc") as source, tempfile.TemporaryFile("w+") as errors:
        # Without -P Python would take this room's ns3 for the package of that name.
        command: list[str | Path] = [program, "-P", child, source, *how]
        try:
            done = subprocess.run(command, input=lines, stdout=subprocess.PIPE, stderr=errors, text=True, check=False)
        except OSError as error:
            raise _unstarted(program, error) from error
        errors.seek(0)
        complaints = errors.read()
    found = [json.loads(line) for line in done.stdout.splitlines()]
    if len(found) < len(requested):
        if _has_none(complaints):
            raise ProbeError(f"{program} has no ns3", hint=EXTRA)
        raise _gave_up(done.returncode, complaints, f" at scenario {len(found) + 1} of {len(requested)}")
    return found


def _unstarted(program: Path, error: OSError) -> ProbeError:
    return ProbeError(f"{program}: {error.strerror}", hint=f"{VARIABLE} names it")


def _has_none(complaints: str) -> bool:
    return any(words in complaints for words in ("No module named 'ns", "Install the ns3 package"))


def _gave_up(code: int, complaints: str, where: str = "") -> ProbeError:
    # ns-3's own complaint stands before its stack; behind a stack there is nothing to learn.
    lines = (line.strip() for line in complaints.splitlines())
    cause = next((line for line in lines if "NS_ASSERT" in line or "Error" in line or "Could not" in line), "")
    what = f": {cause[:200]}" if cause else ""
    ended = f"signal {-code}" if code < 0 else f"exit code {code}"
    return ProbeError(
        f"ns-3 ended with {ended}{where}{what}",
        hint="ns-3 may not know such a scenario; the engine dcf answers it without ns-3",
    )


def compared(answer: Mapping[str, Any], theirs: Mapping[str, Any], notes: list[str]) -> Ns3Comparison:
    """Ns-3's answer to a scenario beside the first engine's.

    * `notes`: in what the two scenarios are not the same.
    """
    our_s = answer["duration_ns"] * 1e-9
    ours_per_s = answer["delivered"] / our_s if our_s else 0.0
    theirs_per_s = theirs["packets_per_s"]
    if theirs_per_s <= 0 or ours_per_s <= 0:
        apart_percent = 0.0 if theirs_per_s == ours_per_s else float("inf")
    else:
        apart_percent = 100 * (theirs_per_s / ours_per_s - 1)
    if not theirs_per_s and not ours_per_s:
        notes = [*notes, "nothing arrives in either"]
    return Ns3Comparison(
        answer.get("id"),
        our_s,
        theirs["duration_s"],
        ours_per_s,
        theirs_per_s,
        apart_percent,
        [
            {"tx": node["tx_ns"] * 1e-9, "rx": (node["rx_ns"] + node["cca_ns"]) * 1e-9, "idle": node["idle_ns"] * 1e-9}
            for node in answer["nodes"]
        ],
        [{"tx": node["tx_s"], "rx": node["rx_s"] + node["cca_s"], "idle": node["idle_s"]} for node in theirs["nodes"]],
        theirs["wall_s"],
        notes,
    )
