"""A radio's joules over a transfer: power by state times time, or a packet's constant and octets, with intervals."""

import math
from typing import Literal, NamedTuple

from wattlock.analysis.draws import COVERAGE
from wattlock.energy.number import Number, refuse_doubted
from wattlock.energy.radio_cards import CURRENT, Radio
from wattlock.errors import EvidenceError, InputError
from wattlock.link.ledger import Line, State
from wattlock.link.scenario import Role
from wattlock.link.wifi.transfer import HEADERS, PAYLOAD, Packets, Transfer

Evidence = Literal["modelled", "assumed"]
# The linear model counts what is inside a frame's body from IP up; the constant stands for all around it.
COUNTED = {*PAYLOAD, *HEADERS[:2]}
PER_PACKET = "packets by the linear model"
KEYS: dict[State, str] = {"tx": "tx", "rx": "rx", "cca": "rx", "idle": "idle", "sleep": "sleep"}
"""Which power a state draws: a radio that hears a collision decodes as one that receives."""


class Interval(NamedTuple):
    """Joules and their 95 % interval."""

    J: float
    low_J: float
    high_J: float

    @property
    def log_sigma(self) -> float:
        """Standard uncertainty of the logarithm; infinite where zero is inside."""
        return math.log(self.high_J / self.low_J) / (2 * COVERAGE) if self.low_J > 0 else math.inf


class RadioEnergy(NamedTuple):
    """What one node's radio spends over a transfer.

    * `by_line_J`: marginal joules by the ledger's lines, as (what, hop); with `floor_J` they add up to the total.
    * `total`: all; `marginal`: less idle over the same time. `floor_J`: that idle.
    """

    role: Role
    card: str
    model: Literal["states", "linear"]
    by_line_J: dict[tuple[str, int | None], float]
    floor_J: float
    total: Interval
    marginal: Interval
    evidence: Evidence
    doubted: list[str]


def radio_energy(
    radio: Radio,
    role: Role,
    transfer: Transfer,
    *,
    duration_ns: int,
    rate_Mb_s: float,
    allow_assumed: bool,
    model: Literal["states", "linear"],
) -> RadioEnergy:
    """The joules of one node's radio.

    * `duration_ns`: with the time in which the air waits for hosts, when radios idle.
    * `rate_Mb_s`: of data frames; it picks the power of sending, also for acknowledgements.

    Numbers of a card are taken as independent, and its voltage as common to its currents.

    Raises InputError where the card is of no 802.11 radio or has no such model, EvidenceError where it lacks a number
    that is needed, or has one that nobody verified.
    """
    if radio.card.technology != "802.11":
        hint = '`wattlock devices --kind radio` lists the others; phy = "linear" is for those that are not 802.11'
        raise InputError(f"radio card {radio.name} is for {radio.card.technology}, this scenario for 802.11", hint=hint)
    terms, used = _terms(radio, role, transfer, rate_Mb_s, model)
    idle = radio.card.idle
    if idle is None:
        raise _lacks(radio, "idle", role)
    used = {**used, "idle": idle}
    if radio.card.voltage and any(number.unit in CURRENT for number in used.values()):
        used["voltage"] = radio.card.voltage
    refuse_doubted(f"radio card {radio.name}", used, allow_assumed=allow_assumed)
    idle_W = radio.card.power_W(idle)
    floor_J = idle_W * duration_ns * 1e-9
    by_line: dict[tuple[str, int | None], float] = {}
    by_key: dict[str, float] = {}
    all_covered_ns = 0
    for line, key, J, covered_ns in terms:
        by_line[line] = by_line.get(line, 0.0) + J - idle_W * covered_ns * 1e-9
        by_key[key] = by_key.get(key, 0.0) + J
        all_covered_ns += covered_ns
    # What is not covered by another state idles.
    covered_s = 1e-9 * all_covered_ns
    marginal_by_key = {**by_key, "idle": by_key.get("idle", 0.0) - idle_W * covered_s}
    total_by_key = {**marginal_by_key, "idle": marginal_by_key["idle"] + floor_J}
    doubted = sorted(key for key, number in used.items() if number.doubted)
    return RadioEnergy(
        role,
        radio.name,
        model,
        by_line,
        floor_J,
        interval(total_by_key, used),
        interval(marginal_by_key, used),
        "assumed" if doubted else "modelled",
        doubted,
    )


Term = tuple[tuple[str, int | None], str, float, int]
"""A line, the card's key, joules, and the nanoseconds in which they take the place of idling."""


def _terms(
    radio: Radio, role: Role, transfer: Transfer, rate_Mb_s: float, model: Literal["states", "linear"]
) -> tuple[list[Term], dict[str, Number]]:
    if model == "linear":
        return _by_packets(radio, role, transfer)
    return _by_states(radio, role, transfer.lines, rate_Mb_s)


def _by_states(radio: Radio, role: Role, lines: list[Line], rate_Mb_s: float) -> tuple[list[Term], dict[str, Number]]:
    terms: list[Term] = []
    used: dict[str, Number] = {}
    power_W: dict[str, float] = {}
    for line in lines:
        for state, time_ns in line.states_ns.get(role, {}).items():
            if state == "idle" or not time_ns:
                continue
            key = KEYS[state]
            if key not in used:
                number = radio.card.sending(rate_Mb_s) if key == "tx" else getattr(radio.card, key)
                if number is None:
                    raise _lacks(radio, key, role)
                used[key], power_W[key] = number, radio.card.power_W(number)
            terms.append(((line.what, line.hop), key, power_W[key] * time_ns * 1e-9, time_ns))
    return terms, used


def _by_packets(radio: Radio, role: Role, transfer: Transfer) -> tuple[list[Term], dict[str, Number]]:
    """By the linear model, whose joules come on top of idling: E = packets * constant + octets * price."""
    terms: list[Term] = []
    used: dict[str, Number] = {}
    ways: tuple[tuple[str, Packets], ...] = (("send", transfer.sent[role]), ("receive", transfer.received[role]))
    for way, packets in ways:
        if not packets.packets:
            continue
        constant, byte = (getattr(radio.card, f"{way}_{of}") for of in ("packet", "byte"))
        if constant is None or byte is None:
            raise _lacks(radio, f"{way}_packet", role)
        used |= {f"{way}_packet": constant, f"{way}_byte": byte}
        left_B = packets.octets_B
        terms.append(((PER_PACKET, None), f"{way}_packet", constant.in_SI * packets.packets, 0))
        for line in transfer.lines:
            state: State = "tx" if way == "send" else "rx"
            if line.what in COUNTED and _concerns(line, role, state):
                left_B -= line.octets_B
                terms.append(((line.what, line.hop), f"{way}_byte", byte.in_SI * line.octets_B, 0))
        # Acknowledgements of TCP, and packets sent again.
        terms.append(((PER_PACKET, None), f"{way}_byte", byte.in_SI * left_B, 0))
    return terms, used


def _concerns(line: Line, role: Role, state: State) -> bool:
    """Whether a node sends a line, or is the one that it is sent to; others on the air hear it and are not charged."""
    if state == "tx":
        return bool(line.states_ns.get(role, {}).get("tx"))
    sender = next((one for one, states in line.states_ns.items() if states.get("tx")), None)
    if sender == "sender":
        return role == ("access-point" if "access-point" in line.states_ns else "receiver")
    return sender == "access-point" and role == "receiver"


def interval(by_key: dict[str, float], used: dict[str, Number]) -> Interval:
    """95 %: shares of independent numbers add up in squares. On the logarithmic scale where that keeps its sign."""
    total_J = math.fsum(by_key.values())
    shares = [J * used[key].log_sigma for key, J in by_key.items()]
    if "voltage" in used:
        shares.append(
            math.fsum(J for key, J in by_key.items() if used[key].unit in CURRENT) * used["voltage"].log_sigma
        )
    sigma_J = math.hypot(*shares)
    if total_J <= 0 or sigma_J > total_J / 2:
        return Interval(total_J, total_J - COVERAGE * sigma_J, total_J + COVERAGE * sigma_J)
    factor = math.exp(COVERAGE * sigma_J / total_J)
    return Interval(total_J, total_J / factor, total_J * factor)


def _lacks(radio: Radio, key: str, role: Role) -> EvidenceError:
    return EvidenceError(
        f"radio card {radio.name} has no {key}, and the {role} needs it",
        hint=f"take another card, or add {key} with its source to a copy of this one (--cards DIR)",
    )
