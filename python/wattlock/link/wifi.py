"""A transfer over 802.11 from scenario to answer: packets, the air's time, hosts' work, joules, and its positions.

A poor signal is a distribution: positions are drawn by a law, and what 3 dB more and less would do stands beside them.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wattlock.analysis.distributions import COVERAGE, normal_quantiles
from wattlock.definitions import suggestion
from wattlock.energy import device_cards, radio_cards
from wattlock.energy.device_cards import Device
from wattlock.energy.number import Number, refuse_doubted
from wattlock.energy.radio_cards import Radio
from wattlock.energy.tasks import BACKWARD, FORWARD, weakest
from wattlock.energy.valuing import clock_of, valued
from wattlock.energy.valuing import refuse as refuse_card
from wattlock.errors import EvidenceError, InputError
from wattlock.link import payload, wifi_air
from wattlock.link.framing import Role, State
from wattlock.link.ledger import (
    PER_PACKET,
    Distribution,
    HostWork,
    Interval,
    Ledger,
    LedgerLine,
    LinkAnswer,
    Packets,
    Position,
    RadioEnergy,
    Term,
    radio_energy,
)
from wattlock.link.payload import PACKET_B, PacketGroup
from wattlock.link.scenario import Named, PositionLaw, RefusedScenario, Scenario, or_refused
from wattlock.link.wifi_air import HEADERS, PAYLOAD, PLACE, AirAnswer, AirQuestion, transfer
from wattlock.run.result import Result
from wattlock.study.cases import CatalogueRow
from wattlock.targets.toolbox import Toolbox

Ciphers = Mapping[str, CatalogueRow]
OFFSETS_dB = (0.0, 3.0, -3.0)
QUANTILES = (0.5, 0.025, 0.975)
# No radio is nearer than that to another, and no wall amplifies.
LEAST = {"distance_m": 0.1, "walls_dB": 0.0}
# The linear model counts what is inside a frame's body from IP up; the constant stands for all around it.
COUNTED = {*PAYLOAD, *HEADERS[:2]}
POWER_OF: dict[State, str] = {"tx": "tx", "rx": "rx", "cca": "rx", "idle": "idle", "sleep": "sleep"}
"""Which power a state draws: a radio that hears a collision decodes as one that receives."""


def evaluate(
    requested: Sequence[Named[Scenario]],
    net: Toolbox,
    ciphers: Ciphers,
    *,
    measured: "Measured | None" = None,
    user_cards: Path | None = None,
    allow_assumed: bool = False,
) -> list[LinkAnswer]:
    """What scenarios cost; the probe is started once.

    * `ciphers`: the catalogue's rows of the ciphers that they name. `user_cards`: the user's folder of cards.

    Raises InputError for what is wrong with a scenario, EvidenceError for numbers that need consent or are missing.
    """
    found = []
    for answer in evaluate_each(
        requested, net, ciphers, measured=measured, user_cards=user_cards, allow_assumed=allow_assumed
    ):
        if isinstance(answer, RefusedScenario):
            raise answer.error
        found.append(answer)
    return found


def evaluate_each(
    requested: Sequence[Named[Scenario]],
    net: Toolbox,
    ciphers: Ciphers,
    *,
    measured: "Measured | None" = None,
    user_cards: Path | None = None,
    allow_assumed: bool = False,
    shifted: bool = True,
) -> list[LinkAnswer | RefusedScenario]:
    """As `evaluate`, but that a scenario which can't be has its refusal among the answers, and the others go on.

    * `shifted`: whether a signal is asked about 3 dB stronger and weaker too, for `LinkAnswer.positions`.
    """
    shelves = _Shelves(*(cache(partial(room.load, cards=user_cards)) for room in (radio_cards, device_cards)))
    plans: list[_Prepared | RefusedScenario] = [
        or_refused(named.label, _prepared, named, ciphers, shelves, shifted) for named in requested
    ]
    questions = [question for plan in plans if isinstance(plan, _Prepared) for question in plan.questions]
    answers = iter(wifi_air.answers(net, questions))

    def answer(plan: _Prepared) -> LinkAnswer:
        by_point = [[next(answers) for _ in plan.groups] for _ in plan.points]
        refusal = next((part for parts in by_point for part in parts if isinstance(part, InputError)), None)
        if refusal:
            raise refusal
        for device in plan.devices.values():
            if measured:
                refuse_card(device, isa=measured.isa, allow_assumed=allow_assumed)
        works = _works(plan, measured, allow_assumed=allow_assumed)
        valued = [[part for part in parts if not isinstance(part, InputError)] for parts in by_point]
        return _over_positions(
            plan, [_at_one_point(plan, works, parts, allow_assumed=allow_assumed) for parts in valued]
        )

    return [plan if isinstance(plan, RefusedScenario) else or_refused(plan.named.label, answer, plan) for plan in plans]


def simulated(requested: Sequence[Named[Scenario]], ciphers: Ciphers) -> int:
    """Packets that the simulator is asked for, at all positions, by those that can be; the closed forms count none."""

    def packets(named: Named[Scenario]) -> int:
        return sum(group.packets for group in groups_of(named, ciphers)) * len(signal_points(named))

    counts = [or_refused(named.label, packets, named) for named in requested if named.scenario.engine == "dcf"]
    return sum(count for count in counts if not isinstance(count, RefusedScenario))


def largest_question(named: Named[Scenario], ciphers: Ciphers) -> AirQuestion:
    """What the air is asked of most of a scenario's packets, at its first position: for another engine to answer too.

    Raises InputError as `groups_of`.
    """
    number, group = max(enumerate(groups_of(named, ciphers)), key=lambda pair: pair[1].packets)
    return {"id": named.label, **wifi_air.question(named, group, signal_points(named)[0].signal, number)}


def groups_of(named: Named[Scenario], ciphers: Ciphers) -> list[PacketGroup]:
    """The packets of a scenario.

    Raises InputError where the cipher is not known, a message doesn't fit into a packet, or the file can't be read.
    """
    sent = named.scenario.payload
    if sent.cipher is not None and sent.cipher not in ciphers:
        hint = "`wattlock ciphers` lists all of them"
        raise InputError(f"link {named.label}: payload.cipher: no cipher {sent.cipher!r}", hint=hint)
    cipher = None if sent.cipher is None else ciphers[sent.cipher]
    room_B = PACKET_B[named.scenario.transport]
    try:
        if sent.sizes is not None:
            return payload.packets(((each_B, count) for each_B, count in sent.sizes), cipher, sent.encoding)
        data_B = sent.data_B if sent.data_B is not None else payload.size_B(sent.file or "")
        if sent.encrypt == "file":
            return payload.whole(data_B, sent.payload_B or room_B, cipher, sent.encoding)
        plain_B = sent.payload_B or payload.largest_plain_B(room_B, cipher, sent.encoding)
        return payload.packets(payload.equal(data_B, plain_B), cipher, sent.encoding)
    except InputError as error:
        raise InputError(f"link {named.label}: {error.message}", hint=error.hint) from error


class SignalPoint(NamedTuple):
    """One signal that the air is asked about: `offset_dB` above what the scenario says."""

    offset_dB: float
    signal: dict[str, float]


def signal_points(named: Named[Scenario], *, shifted: bool = True) -> list[SignalPoint]:
    """The signals to ask about: those of the scenario, then with `shifted` the same 3 dB stronger and 3 dB weaker.

    Positions are drawn as a Latin square from the scenario's seed: each hundredth of each law once, in an order of its
    user_cards, so that a hundred of them stand for the law better than a hundred free draws.

    Raises InputError where a law leaves what can be.
    """
    signal = named.scenario.signal
    if not (signal.laws or signal.numbers):
        return [SignalPoint(0.0, {})]
    count = signal.positions if signal.laws else 1
    drawn = {}
    if signal.laws:
        random = np.random.default_rng(named.scenario.seed)
        drawn = {key: _drawn(named, key, law, random, count) for key, law in signal.laws.items()}
    at_hand = [{**signal.numbers, **{key: float(values[i]) for key, values in drawn.items()}} for i in range(count)]
    offsets_dB = OFFSETS_dB if shifted else OFFSETS_dB[:1]
    return [SignalPoint(by_dB, _shifted(named, position, by_dB)) for by_dB in offsets_dB for position in at_hand]


def _drawn(
    named: Named[Scenario], key: str, law: PositionLaw, random: np.random.Generator, count: int
) -> NDArray[np.float64]:
    shares = (random.permutation(count) + 0.5) / count
    if law.law == "uniform":
        low, high = law.low or 0.0, law.high or 0.0
        values = low + shares * (high - low)
    else:
        values = (law.mean or 0.0) + (law.sigma or 0.0) * normal_quantiles(shares)
    least = LEAST.get(key)
    if least is not None and law.low is not None and law.low < least:
        raise InputError(f"link {named.label}: signal.{key}.low is {law.low:g}, the least is {least:g}")
    return np.asarray(values if least is None else np.maximum(values, least), dtype=np.float64)


def _shifted(named: Named[Scenario], signal: dict[str, float], by_dB: float) -> dict[str, float]:
    """The same position with a stronger sender: that many decibels at every distance."""
    if not by_dB:
        return signal
    if "rssi_dBm" in signal:
        return {**signal, "rssi_dBm": signal["rssi_dBm"] + by_dB}
    # 40 mW, the air's own default.
    return {**signal, "tx_power_dBm": float(named.scenario.air.get("tx_power_dBm", 16.0206)) + by_dB}


class _Shelves(NamedTuple):
    """What reads a card by its name, each once."""

    radio: Callable[[str], Radio]
    device: Callable[[str], Device]


class _Prepared(NamedTuple):
    """A scenario made ready for the air: its packets, its positions, its cards."""

    named: Named[Scenario]
    groups: list[PacketGroup]
    points: list[SignalPoint]
    radios: dict[Role, Radio]
    devices: dict[Role, Device]

    @property
    def questions(self) -> list[tuple[Named[Scenario], AirQuestion]]:
        return [
            (self.named, wifi_air.question(self.named, group, point.signal, number))
            for point in self.points
            for number, group in enumerate(self.groups)
        ]


def _prepared(named: Named[Scenario], ciphers: Ciphers, shelves: _Shelves, shifted: bool) -> _Prepared:
    # Cards first: what they refuse, nobody needs to wait for.
    points, groups, scenario = signal_points(named, shifted=shifted), groups_of(named, ciphers), named.scenario
    radios = {role: shelves.radio(name) for role in scenario.roles if (name := scenario.radio_of(role))}
    ends: dict[Role, str | None] = {
        scenario.roles[0]: scenario.cost.sender,
        scenario.roles[-1]: scenario.cost.receiver,
    }
    devices = {role: shelves.device(name) for role, name in ends.items() if name}
    return _Prepared(named, groups, points, radios, devices)


def _over_positions(plan: _Prepared, answers: list[LinkAnswer]) -> LinkAnswer:
    """The answer of the median position, with the positions."""
    by_offset = {
        by_dB: [answer for answer, point in zip(answers, plan.points, strict=True) if point.offset_dB == by_dB]
        for by_dB in dict.fromkeys(point.offset_dB for point in plan.points)
    }
    unshifted = by_offset[0.0]
    by_duration = sorted(unshifted, key=lambda answer: (not answer.ledger.complete, answer.duration_ns))
    middle = by_duration[(len(unshifted) - 1) // 2]
    if len(by_offset) == 1:
        return middle
    return middle._replace(positions=[_position(by_dB, several) for by_dB, several in by_offset.items()])


def _position(offset_dB: float, answers: list[LinkAnswer]) -> Position:
    joules = [sum(radio.total.J for radio in answer.by_states) for answer in answers]
    complete = sum(answer.ledger.complete for answer in answers)
    return Position(
        offset_dB,
        len(answers),
        _distribution([answer.duration_ns * 1e-9 for answer in answers]),
        _distribution(joules) if answers[0].by_states else None,
        _distribution([answer.ledger.delivered / answer.ledger.requested for answer in answers]),
        complete / len(answers),
        _distribution([answer.duration_ns * 1e-9 if answer.ledger.complete else math.inf for answer in answers]),
    )


def _distribution(values: Sequence[float]) -> Distribution:
    """Median and 95 % of values that are equally likely; some may be infinite."""
    if len(values) == 1:
        return Distribution(values[0], values[0], values[0])
    drawn = np.asarray(values, dtype=np.float64)
    # Between a number and infinity there is nothing to interpolate.
    method: Literal["linear", "inverted_cdf"] = "linear" if np.isfinite(drawn).all() else "inverted_cdf"
    return Distribution(*(float(value) for value in np.quantile(drawn, QUANTILES, method=method)))


def _at_one_point(
    plan: _Prepared, works: list[HostWork], answers: list[AirAnswer], *, allow_assumed: bool
) -> LinkAnswer:
    named = plan.named
    sent = transfer(plan.groups, answers)
    waits = _waits(works, sent.air_ns, list(sent.states_ns), overlapped=named.scenario.host.overlapped)
    lines = sorted([*sent.lines, *waits], key=lambda line: PLACE[line.what]) if waits else sent.lines
    duration_ns = sum(line.time_ns for line in lines)
    rate_Mb_s = answers[0]["resolved"]["rate_bit_s"] / 1e6
    models: tuple[Literal["states", "linear"], ...] = ("states", "linear")
    energies = [
        energy_of(radio, role, sent, model, duration_ns=duration_ns, rate_Mb_s=rate_Mb_s, allow_assumed=allow_assumed)
        for role, radio in plan.radios.items()
        for model in models
        if (radio.card.has_states if model == "states" else radio.card.is_linear)
    ]
    return LinkAnswer(named, sent._replace(lines=lines), duration_ns, energies, plan.groups, rate_Mb_s, works)


# Joules of a radio: power by state times time, or a packet's constant and octets, above idling.


def energy_of(
    radio: Radio,
    role: Role,
    sent: Ledger,
    model: Literal["states", "linear"],
    *,
    duration_ns: int,
    rate_Mb_s: float,
    allow_assumed: bool,
) -> RadioEnergy:
    """The joules of one node's radio over a transfer.

    * `duration_ns`: with the time in which the air waits for hosts, when radios idle.
    * `rate_Mb_s`: of data frames; it picks the power of sending, also for acknowledgements.

    Raises InputError where the card is of no 802.11 radio or has no such model, EvidenceError where it lacks a number
    that is needed, or has one that nobody verified.
    """
    if radio.card.technology != "802.11":
        hint = '`wattlock devices --kind radio` lists the others; phy = "linear" is for those that are not 802.11'
        raise InputError(f"radio card {radio.name} is for {radio.card.technology}, this scenario for 802.11", hint=hint)
    terms = list(
        _by_packets(radio, role, sent) if model == "linear" else _by_states(radio, role, sent.lines, rate_Mb_s)
    )
    if radio.card.idle is None:
        raise _lacks(radio, "idle", role)
    rest = "idle", radio.card.idle
    return radio_energy(radio, role, model, terms, rest=rest, duration_ns=duration_ns, allow_assumed=allow_assumed)


def _by_states(radio: Radio, role: Role, lines: list[LedgerLine], rate_Mb_s: float) -> Iterator[Term]:
    drawn: dict[str, tuple[Number, float]] = {}
    for line in lines:
        for state, time_ns in line.states_ns.get(role, {}).items():
            if state == "idle" or not time_ns:
                continue
            key = POWER_OF[state]
            if key not in drawn:
                found = radio.card.sending(rate_Mb_s) if key == "tx" else getattr(radio.card, key)
                if found is None:
                    raise _lacks(radio, key, role)
                drawn[key] = found, radio.card.power_W(found)
            number, power_W = drawn[key]
            yield Term((line.what, line.hop), key, number, power_W * time_ns * 1e-9, time_ns)


def _by_packets(radio: Radio, role: Role, sent: Ledger) -> Iterator[Term]:
    """By the linear model, whose joules come on top of idling: E = packets * constant + octets * price."""
    ways: tuple[tuple[str, State, Packets], ...] = (
        ("send", "tx", sent.sent[role]),
        ("receive", "rx", sent.received[role]),
    )
    for way, state, packets in ways:
        if not packets.packets:
            continue
        constant, byte = (getattr(radio.card, f"{way}_{part}") for part in ("packet", "byte"))
        if constant is None or byte is None:
            raise _lacks(radio, f"{way}_packet", role)
        left_B = packets.octets_B
        yield Term(PER_PACKET, f"{way}_packet", constant, constant.in_SI * packets.packets, 0)
        for line in sent.lines:
            if line.what in COUNTED and _concerns(line, role, state):
                left_B -= line.octets_B
                yield Term((line.what, line.hop), f"{way}_byte", byte, byte.in_SI * line.octets_B, 0)
        # Acknowledgements of TCP, and packets sent again.
        yield Term(PER_PACKET, f"{way}_byte", byte, byte.in_SI * left_B, 0)


def _concerns(line: LedgerLine, role: Role, state: State) -> bool:
    """Whether a node sends a line, or is the one that it is sent to; others on the air hear it and are not charged."""
    if state == "tx":
        return bool(line.states_ns.get(role, {}).get("tx"))
    sender = next((node for node, states in line.states_ns.items() if states.get("tx")), None)
    if sender == "sender":
        return role == ("access-point" if "access-point" in line.states_ns else "receiver")
    return sender == "access-point" and role == "receiver"


def _lacks(radio: Radio, key: str, role: Role) -> EvidenceError:
    return EvidenceError(
        f"radio card {radio.name} has no {key}, and the {role} needs it",
        hint=f"take another card, or add {key} with its source to a copy of this one (--cards DIR)",
    )


# What the hosts compute: the cipher, and a packet's way through the stack.


class Measured(NamedTuple):
    """A run's estimates, valued in joules as far as they can be.

    * `isa`: of its cycles; `counts_cycles`, `clock_Hz`: of the card that valued it, whose time is cycles / clock.
    """

    estimates: pl.DataFrame
    isa: str
    counts_cycles: bool = False
    clock_Hz: float | None = None


def measured(
    result: Result, device: str | None, *, user_cards: Path | None = None, allow_assumed: bool = False
) -> Measured:
    """A run's estimates, valued by a device card, else by the run's meter or its own card.

    Raises EvidenceError for numbers that need consent.
    """
    clock = clock_of(result, device, user_cards)
    estimates = valued(result, device, allow_assumed=allow_assumed, cards=user_cards)
    return Measured(estimates, result.isa, clock.counts_cycles, clock.Hz)


def speeds_B_per_s(run: Measured) -> dict[str, float]:
    """Octets a second of each cipher that a run encrypted with, in its largest payload."""
    rows = run.estimates.filter(pl.col("operation").is_in(["encrypt", "seal"]), pl.col("time_ns") > 0)
    largest = rows.sort("payload_B").group_by("cipher", maintain_order=True).last()
    return {row["cipher"]: row["payload_B"] / row["time_ns"] * 1e9 for row in largest.iter_rows(named=True)}


def _works(plan: _Prepared, measured: Measured | None, *, allow_assumed: bool) -> list[HostWork]:
    """All that hosts compute, as far as the scenario, a run or a card says it.

    Raises InputError where the run has no such case, EvidenceError where a figure needs consent.
    """
    named, devices, requested = plan.named, plan.devices, plan.named.scenario
    found = []
    for role in requested.roles:
        us = requested.host.us(role)
        if us:
            packets = sum(group.packets for group in plan.groups)
            _consent(named, f"host.{role.replace('-', '_')}_us {us:g} us", allow_assumed=allow_assumed)
            seconds = us * 1e-6 * packets
            energy = _by_power(devices[role], seconds, allow_assumed=allow_assumed) if role in devices else None
            found.append(
                HostWork(f"host: {role}", role, round(seconds * 1e9), energy, "assumed", f"{us:g} us a packet")
            )
    if requested.payload.cipher:
        last = requested.roles[-1]
        for role in (requested.roles[0], last):
            work = _cipher_work(plan, measured, role, allow_assumed=allow_assumed)
            if work:
                found.append(work)
    return found


def _waits(found: list[HostWork], air_ns: int, roles: list[Role], *, overlapped: bool) -> list[LedgerLine]:
    """The lines of work by which a transfer gets longer, while all radios idle.

    * `overlapped`: the slowest of air and nodes sets the pace, so that only what the slowest node needs beyond the air
      is waited for; without it all work is. The filling of the pipeline by its first packet is not counted.
    """
    waited = {(work.what, work.role): work.busy_ns for work in found}
    if overlapped:
        busy = {role: sum(work.busy_ns for work in found if work.role == role) for role in roles}
        slowest = max(roles, key=lambda role: busy[role])
        over_ns = max(0, busy[slowest] - air_ns)
        of_slowest = [key for key in waited if key[1] == slowest]
        shares = {key: over_ns * waited[key] // busy[slowest] for key in of_slowest}
        waited = dict.fromkeys(waited, 0) | shares
        if of_slowest and over_ns:
            waited[of_slowest[-1]] += over_ns - sum(waited.values())
    return [
        LedgerLine(what, None, 0, time_ns, {role: {"idle": time_ns} for role in roles})
        for (what, _), time_ns in waited.items()
    ]


def _consent(named: Named[Scenario], figure: str, *, allow_assumed: bool) -> None:
    if not allow_assumed:
        raise EvidenceError(
            f"link {named.label}: {figure} has no source that could be checked",
            hint="--allow-assumed takes it, and the result says so",
        )


def _by_power(device: Device, seconds: float, *, allow_assumed: bool) -> Interval:
    """Joules of a device that works for so long; where its card values cycles, at its clock."""
    refuse_doubted(
        f"device card {device.name}",
        {key: number for key, number, _ in device.card.factors()},
        allow_assumed=allow_assumed,
    )
    each = device.card.rate
    clock = 1.0
    if device.card.counts_cycles:
        if not device.card.frequency:
            raise EvidenceError(
                f"device card {device.name} has no frequency, and time can't be valued by cycles alone",
                hint="take a card with a frequency or a power",
            )
        clock = device.card.frequency.in_SI
    return _interval(each.joules * clock * seconds, each.log_sigma)


def _cipher_work(plan: _Prepared, measured: Measured | None, role: Role, *, allow_assumed: bool) -> HostWork | None:
    named, groups, device, requested = plan.named, plan.groups, plan.devices.get(role), plan.named.scenario
    what = f"cipher: {'sender' if role == 'sender' else 'receiver'}"
    if measured is not None:
        return _by_run(named, groups, measured, role, what)
    if requested.cost.cycles_per_B is None:
        return None
    _consent(named, f"cost.cycles_per_B {requested.cost.cycles_per_B:g}", allow_assumed=allow_assumed)
    if device is None:
        return None
    if not (device.card.counts_cycles and device.card.frequency):
        hint = "take a card that values cycles and has a frequency"
        raise InputError(f"device card {device.name} can't value cost.cycles_per_B", hint=hint)
    plain_B = sum(group.parts.plain_B for group in groups)
    seconds = requested.cost.cycles_per_B * plain_B / device.card.frequency.in_SI
    energy = _by_power(device, seconds, allow_assumed=allow_assumed)
    return HostWork(
        what, role, round(seconds * 1e9), energy, "assumed", f"{requested.cost.cycles_per_B:g} cycles a byte"
    )


def _by_run(named: Named[Scenario], groups: list[PacketGroup], measured: Measured, role: Role, what: str) -> HostWork:
    """The case whose payload is nearest to the message's, at its price a byte."""
    sent = named.scenario.payload
    plain_B = sum(group.parts.plain_B for group in groups)
    message_B = plain_B
    if sent.encrypt == "packet":
        message_B = max(1, plain_B // sum(group.packets for group in groups))
    operations = FORWARD if role == "sender" else BACKWARD
    rows = measured.estimates.filter(
        pl.col("operation").is_in(operations), pl.col("payload_B") > 0, pl.col("time_ns").is_not_null()
    )
    ciphers = sorted(set(rows["cipher"]))
    rows = rows.filter(pl.col("cipher") == sent.cipher)
    if rows.is_empty():
        wanted = " or ".join(sorted(operations))
        hint = suggestion(sent.cipher or "", ciphers, "it has")
        if not ciphers:
            forward, backward = sorted(FORWARD)[0], sorted(BACKWARD)[0]
            hint = f'a study with operation = ["{forward}", "{backward}"] has both directions, as first-look does'
        raise InputError(f"link {named.label}: the run has no case that measured {wanted} of {sent.cipher}", hint=hint)
    # A transfer has one key; what the encoding costs is counted where the run has measured it.
    for alike in (pl.col("encoding") == sent.encoding, pl.col("keying") == "ready"):
        same = rows.filter(alike)
        rows = rows if same.is_empty() else same
    far = (pl.col("payload_B").cast(pl.Float64).log() - math.log(message_B)).abs()
    row = rows.sort(far, maintain_order=True).row(0, named=True)
    times = plain_B / row["payload_B"]
    seconds = row["time_ns"] * 1e-9
    if measured.counts_cycles and measured.clock_Hz and row["cycles"] is not None:
        seconds = row["cycles"] / measured.clock_Hz
    energy, evidence = None, row["time_evidence"]
    if row["energy_uJ"] is not None:
        log_sigma = math.log(row["energy_high_uJ"] / row["energy_low_uJ"]) / (2 * COVERAGE)
        energy = _interval(row["energy_uJ"] * 1e-6 * times, log_sigma)
        evidence = weakest(row["energy_evidence"])
    basis = f"{row['cipher']} of {row['provider']}, {row['operation']}, {row['payload_B']} B, {row['encoding']}"
    return HostWork(what, role, round(seconds * times * 1e9), energy, evidence, basis)


def _interval(J: float, log_sigma: float) -> Interval:
    factor = math.exp(COVERAGE * log_sigma)
    return Interval(J, J / factor, J * factor)
