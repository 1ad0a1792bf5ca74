"""The one answer of every link: lines of octets and nanoseconds that add up, joules of its radios, and their rows."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from wattlock.analysis.distributions import COVERAGE
from wattlock.energy.number import Number, refuse_doubted
from wattlock.energy.radio_cards import CURRENT, Radio
from wattlock.energy.tasks import weakest
from wattlock.link.framing import Role, State
from wattlock.link.payload import PacketGroup
from wattlock.link.scenario import Named, RadioMessage, RefusedScenario

States = dict[Role, dict[State, int]]
Row = dict[str, Any]
STATES: tuple[State, ...] = ("tx", "rx", "cca", "idle", "sleep")
PER_PACKET = ("packets by the linear model", None)
"""The line of the linear model's constant, which no octet has."""


class LedgerLine(NamedTuple):
    """One line.

    * `hop`: 1, or behind an access point 2; None for what belongs to no hop.
    * `octets_B`: of frames that carry packets. `states_ns`: what the radios do meanwhile, by node.
    """

    what: str
    hop: int | None
    octets_B: int
    time_ns: int
    states_ns: States


class Packets(NamedTuple):
    """Packets that a node sends or receives, for the linear model: how many, and their octets from IP up."""

    packets: int = 0
    octets_B: int = 0


class Ledger(NamedTuple):
    """What sending came down to; octets and nanoseconds are the sums of its lines, exactly.

    * `air_ns`: without the time in which the air waits for hosts. `states_ns`: of each node's radio meanwhile.
    * `requested`, `delivered`: packets. `sent`, `received`: by node, retries among those sent.
    """

    lines: list[LedgerLine]
    air_ns: int
    states_ns: States
    frames: int
    retries: int = 0
    requested: int = 1
    delivered: int = 1
    sent: Mapping[Role, Packets] = {}
    received: Mapping[Role, Packets] = {}

    @property
    def octets_B(self) -> int:
        """Octets on the air."""
        return sum(line.octets_B for line in self.lines)

    @property
    def time_ns(self) -> int:
        """From the first back-off to the last gap, idle time and waiting included."""
        return sum(line.time_ns for line in self.lines)

    @property
    def complete(self) -> bool:
        """Whether every packet arrives: what loses some ends sooner, and its duration is no other's equal."""
        return self.delivered >= self.requested


def states_of(lines: Iterable[LedgerLine], role: Role) -> Counter[State]:
    """How long a node's radio is in each state over all lines, in nanoseconds."""
    total: Counter[State] = Counter()
    for line in lines:
        # Not `update`, which is slow for a handful of keys.
        for state, time_ns in line.states_ns.get(role, {}).items():
            total[state] += time_ns
    return total


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
    """What one node's radio spends.

    * `by_line_J`: joules by the ledger's lines, as (what, hop); with `floor_J` they add up to the total.
    * `total`: all; `marginal`: less what the same time takes at rest. `floor_J`: that rest, where no line has it.
    * `doubted`: the card's numbers in use that nobody verified.
    """

    role: Role
    card: str
    model: Literal["states", "linear"]
    by_line_J: dict[tuple[str, int | None], float]
    floor_J: float
    total: Interval
    marginal: Interval
    doubted: list[str]

    @property
    def evidence(self) -> str:
        """By the card's numbers."""
        return "assumed" if self.doubted else "modelled"


class Term(NamedTuple):
    """Joules of a line, as (what, hop), by one number of a card, and the nanoseconds in which they replace rest."""

    line: tuple[str, int | None]
    key: str
    number: Number
    J: float
    instead_ns: int


def radio_energy(
    radio: Radio,
    role: Role,
    model: Literal["states", "linear"],
    terms: Iterable[Term],
    *,
    rest: tuple[str, Number] | None,
    duration_ns: int,
    allow_assumed: bool,
) -> RadioEnergy:
    """The joules of one node's radio, with their intervals.

    * `terms`: of all that is not rest. `rest`: the card's key and number of what it draws else, over `duration_ns`.

    Numbers of a card are taken as independent, and its voltage as common to its currents.

    Raises EvidenceError for numbers that nobody verified, without `allow_assumed`.
    """
    rest_W = radio.card.power_W(rest[1]) if rest else 0.0
    floor_J = rest_W * duration_ns * 1e-9
    by_line: dict[tuple[str, int | None], float] = {}
    above_J: dict[str, float] = {}
    numbers: dict[str, Number] = {}
    covered_ns = 0
    for line, key, number, J, instead_ns in terms:
        by_line[line] = by_line.get(line, 0.0) + J - rest_W * instead_ns * 1e-9
        above_J[key] = above_J.get(key, 0.0) + J
        numbers[key] = number
        covered_ns += instead_ns
    total_J = above_J
    if rest:
        # What is not covered by another state rests.
        key = rest[0]
        numbers[key] = rest[1]
        above_J[key] = 0.0 - rest_W * (1e-9 * covered_ns)
        total_J = {**above_J, key: above_J[key] + floor_J}
    if radio.card.voltage and any(number.unit in CURRENT for number in numbers.values()):
        numbers["voltage"] = radio.card.voltage
    refuse_doubted(f"radio card {radio.name}", numbers, allow_assumed=allow_assumed)
    doubted = sorted(key for key, number in numbers.items() if number.doubted)
    intervals = interval(total_J, numbers), interval(above_J, numbers)
    return RadioEnergy(role, radio.name, model, by_line, floor_J, *intervals, doubted)


def interval(by_key_J: Mapping[str, float], numbers: Mapping[str, Number]) -> Interval:
    """95 %: shares of independent numbers add up in squares. On the logarithmic scale where that keeps its sign."""
    total_J = math.fsum(by_key_J.values())
    shares = [J * numbers[key].log_sigma for key, J in by_key_J.items()]
    if "voltage" in numbers:
        of_currents = math.fsum(J for key, J in by_key_J.items() if numbers[key].unit in CURRENT)
        shares.append(of_currents * numbers["voltage"].log_sigma)
    sigma_J = math.hypot(*shares)
    if total_J <= 0 or sigma_J > total_J / 2:
        return Interval(total_J, total_J - COVERAGE * sigma_J, total_J + COVERAGE * sigma_J)
    factor = math.exp(COVERAGE * sigma_J / total_J)
    return Interval(total_J, total_J / factor, total_J * factor)


class HostWork(NamedTuple):
    """What one node computes: `what` is the ledger's line.

    * `energy`: None where no card and no meter says it. `evidence`: of the joules, else of the time.
    * `basis`: what the figures are from.
    """

    what: str
    role: Role
    busy_ns: int
    energy: Interval | None
    evidence: str
    basis: str


class Distribution(NamedTuple):
    """A quantity over positions: median and 95 % of them."""

    median: float
    low: float
    high: float


class Position(NamedTuple):
    """A transfer over the positions of a poor signal, or at one signal and 3 dB above and below it.

    * `duration_s`, `energy_J`: of all nodes' radios, their median and 95 % of the positions; null joules without cards.
    * `delivered`: share of the packets that arrive; a transfer that loses some ends with those that are left.
    * `ended_s`: as `duration_s`, where a transfer that loses some never ends.
    * `complete`: share of the positions from which everything arrives.
    """

    offset_dB: float
    positions: int
    duration_s: Distribution
    energy_J: Distribution | None
    delivered: Distribution
    complete: float
    ended_s: Distribution


class LinkAnswer(NamedTuple):
    """What a scenario costs.

    * `ledger`: with the waiting for hosts among its lines; `duration_ns`: with it. Where positions are drawn, it is
      that of the position with the median duration, where those that lose packets come last.
    * `radios`: by the states, and by the linear model, of each card that has it.
    * `groups`, `rate_Mb_s`, `works`, `positions`: of 802.11; positions as drawn, 3 dB stronger, 3 dB weaker; empty
      without a signal, or where only the first was asked for.
    """

    named: Named[Any]
    ledger: Ledger
    duration_ns: int
    radios: list[RadioEnergy]
    groups: Sequence[PacketGroup] = ()
    rate_Mb_s: float | None = None
    works: Sequence[HostWork] = ()
    positions: Sequence[Position] = ()

    @property
    def message(self) -> RadioMessage | None:
        """The message of a radio that is not 802.11."""
        scenario = self.named.scenario
        return scenario if isinstance(scenario, RadioMessage) else None

    @property
    def evidence(self) -> str:
        """The weakest of all. What the air took is computed by a model of it, whatever the cards are."""
        return weakest("modelled", *(radio.evidence for radio in self.radios), *(work.evidence for work in self.works))

    @property
    def by_states(self) -> list[RadioEnergy]:
        """A radio a node: by states where its card has them."""
        first: dict[Role, RadioEnergy] = {}
        for radio in self.radios:
            first.setdefault(radio.role, radio)
        return list(first.values())

    @property
    def total_J(self) -> float | None:
        """Joules of all radios and of what hosts compute; None where no node has a card."""
        return self._sum([radio.total.J for radio in self.by_states])

    @property
    def marginal_J(self) -> float | None:
        """The same without the radios' rest."""
        return self._sum([radio.marginal.J for radio in self.by_states])

    def _sum(self, radios_J: list[float]) -> float | None:
        computed_J = [work.energy.J for work in self.works if work.energy]
        return sum(radios_J) + sum(computed_J) if radios_J else None

    def joules_of(self, line: LedgerLine) -> float | None:
        """Joules of one line of the ledger, of all nodes, by `RadioEnergy.by_line_J`."""
        if not self.by_states:
            return None
        found = [radio.by_line_J.get((line.what, line.hop), 0.0) for radio in self.by_states]
        found += [work.energy.J for work in self.works if work.what == line.what and work.energy]
        return sum(found)

    @property
    def cipher(self) -> Interval | None:
        """What the cipher spends at both ends, joined on the safe side."""
        found = [work.energy for work in self.works if work.what.startswith("cipher") and work.energy]
        return Interval(*map(sum, zip(*found, strict=True))) if found else None


# Answers as rows: a summary of each, its ledger, its nodes; of 802.11 its hops, its hosts' work, its positions too.


def summary(answer: LinkAnswer, first: LinkAnswer) -> Row:
    """One row of a scenario, compared with `first`.

    * `ratio`: of durations; None where one of the two loses packets for good, as it ends sooner for that.
      `no_ratio`: why there is none.
    """
    found, why = figures(answer), no_ratio(answer, first)
    ratio = None if why or not first.duration_ns else answer.duration_ns / first.duration_ns
    row = {"scenario": answer.named.label, "duration_s": found.pop("duration_s"), "ratio": ratio}
    if answer.message is None:
        return row | {"no_ratio": why} | {key: value for key, value in found.items() if key != "frames"}
    row |= {"octets_B": found["octets_B"], "frames": found["frames"]}
    row |= {f"{name}_uJ": 1e6 * found[f"{name}_J"] for name in ("total", "marginal")}
    return row | {"evidence": found["evidence"]}


def figures(answer: LinkAnswer) -> Row:
    """What a scenario takes.

    * `payload_Mb_s`: of the plaintext in the share of packets that arrive.
    """
    sent = answer.ledger
    spent = {"total_J": answer.total_J, "marginal_J": answer.marginal_J}
    around = {"octets_B": sent.octets_B, "frames": sent.frames}
    if answer.message is not None:
        return {"duration_s": answer.duration_ns * 1e-9, **around, **spent, "evidence": answer.evidence}
    plain_B = sum(group.parts.plain_B for group in answer.groups)
    cipher, radios = answer.cipher, answer.by_states
    low, high = _share_interval(cipher, radios)
    return {
        "duration_s": answer.duration_ns * 1e-9,
        "payload_Mb_s": plain_B * 8e3 / answer.duration_ns * sent.delivered / sent.requested,
        **around,
        "delivered_percent": 100 * sent.delivered / sent.requested,
        "retries": sent.retries,
        **spent,
        "cipher_J": cipher.J if cipher else None,
        "cipher_share": _share(cipher, radios),
        "cipher_share_low": low,
        "cipher_share_high": high,
        "evidence": answer.evidence,
    }


def refused(refusal: RefusedScenario) -> Row:
    """The row of a scenario that can't be: why, in place of numbers."""
    return {"scenario": refusal.label, "refused": refusal.reason}


def no_ratio(answer: LinkAnswer, first: LinkAnswer) -> str | None:
    """Why a duration has no ratio to that of `first`; None where it has one."""
    for held, whose in ((answer, ""), (first, "the first ")):
        if not held.ledger.complete:
            # Never rounded to all of them.
            percent = math.floor(1000 * held.ledger.delivered / held.ledger.requested) / 10
            return f"{whose}delivers {percent:g} % of its packets"
    return None


def record(answer: LinkAnswer, first: LinkAnswer) -> Row:
    """All of it, nested, for programs."""
    found = summary(answer, first) | {"title": answer.named.title}
    tables = {"ledger": ledger_rows(answer), "nodes": node_rows(answer)}
    if answer.message is not None:
        return found | {"payload_B": answer.message.payload_B, **tables}
    return {
        **found,
        "duration_ns": answer.duration_ns,
        "engine": answer.named.scenario.engine,
        "seed": answer.named.scenario.seed,
        "ledger": tables["ledger"],
        "hops": hop_rows(answer),
        "nodes": tables["nodes"],
        "works": work_rows(answer),
        "positions": position_rows(answer),
        "notes": sentences(answer),
    }


def ledger_rows(answer: LinkAnswer) -> list[Row]:
    """A row a line, then one of their sums, which are the octets, nanoseconds and joules of all."""
    if answer.message is not None:
        return _rows_by_node(answer)
    found = [
        _line_row(line.what, line.hop, line.octets_B, line.time_ns, of_ns=answer.duration_ns, J=answer.joules_of(line))
        for line in answer.ledger.lines
    ]
    if any(PER_PACKET in radio.by_line_J for radio in answer.by_states):
        found.append(
            _line_row(PER_PACKET[0], J=sum(radio.by_line_J.get(PER_PACKET, 0.0) for radio in answer.by_states))
        )
    if answer.by_states:
        found.append(_line_row("idle floor", J=sum(radio.floor_J for radio in answer.by_states)))
    octets_B, time_ns = (sum(row[key] for row in found) for key in ("octets_B", "time_ns"))
    total_J = math.fsum(row["energy_J"] for row in found) if answer.by_states else None
    return [*found, _line_row("total", None, octets_B, time_ns, J=total_J) | {"time_percent": 100.0}]


def _rows_by_node(answer: LinkAnswer) -> list[Row]:
    def row(what: str, octets_B: int, time_ns: int, by_node_J: Mapping[Role, float]) -> Row:
        spent = {f"{node}_uJ": 1e6 * J for node, J in by_node_J.items()}
        return {"line": what, "octets_B": octets_B, "time_ns": time_ns, **spent}

    def spent_J(what: str) -> dict[Role, float]:
        return {radio.role: radio.by_line_J.get((what, None), 0.0) for radio in answer.radios}

    found = [row(line.what, line.octets_B, line.time_ns, spent_J(line.what)) for line in answer.ledger.lines]
    total_J = {radio.role: radio.total.J for radio in answer.radios}
    return [*found, row("total", answer.ledger.octets_B, answer.ledger.time_ns, total_J)]


def _line_row(
    what: str, hop: int | None = None, octets_B: int = 0, time_ns: int = 0, *, of_ns: int = 1, J: float | None
) -> Row:
    row: Row = {"line": what, "hop": hop, "octets_B": octets_B, "time_ns": time_ns}
    return row | {"time_percent": 100 * time_ns / of_ns, "energy_J": J}


def node_rows(answer: LinkAnswer) -> list[Row]:
    """A row a node and model of its card, from where the data comes; one without joules where a node has no card."""
    if answer.message is not None:
        return [_node_in_uJ(radio) for radio in answer.radios]
    found: list[Row] = []
    for role in answer.named.scenario.roles:
        radios = [_node_row(answer, radio) for radio in answer.radios if radio.role == role]
        found += radios or [{"node": role, "card": None, **_seconds(answer, role)}]
    return found


def _node_row(answer: LinkAnswer, radio: RadioEnergy) -> Row:
    return {
        "node": radio.role,
        "card": radio.card,
        "model": radio.model,
        **_seconds(answer, radio.role),
        **_interval_row("total", radio.total),
        **_interval_row("marginal", radio.marginal),
        "evidence": radio.evidence,
        "assumed": ", ".join(radio.doubted) or None,
    }


def _node_in_uJ(radio: RadioEnergy) -> Row:
    keys = ("total_uJ", "low_uJ", "high_uJ", "marginal_uJ", "marginal_low_uJ", "marginal_high_uJ")
    spent = {key: 1e6 * J for key, J in zip(keys, (*radio.total, *radio.marginal), strict=True)}
    by_line = {what: 1e6 * J for (what, _), J in radio.by_line_J.items()}
    row: Row = {"node": radio.role, "card": radio.card, "model": radio.model, "by_line_uJ": by_line}
    return row | spent | {"evidence": radio.evidence, "assumed": radio.doubted}


def _seconds(answer: LinkAnswer, role: Role) -> Row:
    states = answer.ledger.states_ns[role]
    # While the air waits for hosts, radios idle.
    waited_ns = answer.duration_ns - answer.ledger.air_ns
    return {f"{state}_s": (states[state] + (waited_ns if state == "idle" else 0)) * 1e-9 for state in STATES}


def hop_rows(answer: LinkAnswer) -> list[Row]:
    """A row a hop, and one of what belongs to none."""
    found: list[Row] = []
    for hop in sorted({line.hop for line in answer.ledger.lines}, key=lambda hop: hop or math.inf):
        lines = [line for line in answer.ledger.lines if line.hop == hop]
        joules = [J for line in lines if (J := answer.joules_of(line)) is not None]
        octets_B, time_ns = sum(line.octets_B for line in lines), sum(line.time_ns for line in lines)
        marginal_J = sum(joules) if joules else None
        found.append({"hop": hop, "octets_B": octets_B, "time_ns": time_ns, "marginal_J": marginal_J})
    return found


def position_rows(answer: LinkAnswer) -> list[Row]:
    """Duration and joules of the radios over positions: as drawn, then 3 dB stronger and 3 dB weaker.

    A transfer that loses packets has no end: where the median, or a limit, is one of those, it is None.
    """

    def spread(name: str, unit: str, value: Distribution | None) -> Row:
        keys = (f"{name}_{unit}", f"{name}_low_{unit}", f"{name}_high_{unit}")
        finite = [end if math.isfinite(end) else None for end in value] if value else (None, None, None)
        return dict(zip(keys, finite, strict=True))

    return [
        {
            "signal_dB": position.offset_dB,
            "positions": position.positions,
            **spread("duration", "s", position.ended_s),
            **spread("energy", "J", position.energy_J),
            "delivered_percent": 100 * position.delivered.median,
            "delivered_low_percent": 100 * position.delivered.low,
            "complete_percent": 100 * position.complete,
        }
        for position in answer.positions
    ]


def work_rows(answer: LinkAnswer) -> list[Row]:
    """What hosts compute: time, joules, evidence."""
    return [
        {"work": work.what, "node": work.role, "busy_ns": work.busy_ns, **_interval_row("energy", work.energy)}
        | {"evidence": work.evidence, "basis": work.basis}
        for work in answer.works
    ]


def _interval_row(name: str, value: Interval | None) -> Row:
    keys = (f"{name}_J", f"{name}_low_J", f"{name}_high_J")
    return dict(zip(keys, value or (None, None, None), strict=True))


def _share(cipher: Interval | None, radios: Sequence[RadioEnergy]) -> float | None:
    """The cipher's joules as a share of the cipher's and the radios' marginal ones."""
    marginal_J = sum(radio.marginal.J for radio in radios)
    return cipher.J / (cipher.J + marginal_J) if cipher and marginal_J > 0 else None


def _share_interval(cipher: Interval | None, radios: Sequence[RadioEnergy]) -> tuple[float | None, float | None]:
    """95 % of that share: both sides at their far ends at once, which is wide on the safe side."""
    low_J, high_J = (sum(getattr(radio.marginal, side) for radio in radios) for side in ("low_J", "high_J"))
    if cipher is None or low_J <= 0:
        return None, None
    return cipher.low_J / (cipher.low_J + high_J), cipher.high_J / (cipher.high_J + low_J)


def notes(answers: Sequence[LinkAnswer]) -> list[str]:
    """What a reader should hear beside the numbers of several answers; what is not of all of them says of which."""
    whose: dict[str, list[str]] = {}
    for answer in answers:
        for sentence in sentences(answer):
            whose.setdefault(sentence, []).append(answer.named.label)
    return [
        sentence if len(labels) == len(answers) else f"{'; '.join(labels)}: {sentence}"
        for sentence, labels in whose.items()
    ]


def sentences(answer: LinkAnswer) -> list[str]:
    """What a reader should hear beside the numbers of one answer."""
    if answer.message is not None:
        return []
    found = []
    sent = answer.ledger
    if not sent.complete:
        lost = f"{sent.requested - sent.delivered} of {sent.requested} packets are lost for good"
        found.append(f"{lost}: the duration is the sender's until it gave up, and is compared with none")
    if not answer.by_states:
        found.append("no joules: name a radio card with --radio (`wattlock devices --kind radio`)")
    if answer.named.scenario.payload.cipher and not answer.works:
        hint = "--run names a run that measured it; or --device CARD --set cost.cycles_per_B=20 --allow-assumed"
        found.append(f"the cipher's own cost is not counted: {hint}")
    if answer.positions and answer.positions[0].positions > 1:
        found.append("ledger, nodes and hops are of the median position; the signal's rows are of all of them")
    if answer.positions and len({position.offset_dB for position in answer.positions}) > 1:
        found.append("errors by noise are cliffs in this model: read the rows 3 dB stronger and weaker too")
    return found
