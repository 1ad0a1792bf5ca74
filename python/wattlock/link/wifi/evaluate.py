"""From scenarios to answers: packets, the air's time, the hosts' work, joules, and how far the position moves them."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from wattlock.energy import cards, radio_cards
from wattlock.energy.radio_cards import Radio
from wattlock.energy.tasks import weakest
from wattlock.errors import EvidenceError, InputError, WattlockError
from wattlock.link import payload
from wattlock.link.joules import RadioEnergy, radio_energy
from wattlock.link.ledger import Line
from wattlock.link.payload import Group
from wattlock.link.scenario import Named, Role
from wattlock.link.wifi import air, position, work
from wattlock.link.wifi.position import Case, Distribution
from wattlock.link.wifi.transfer import PLACE, Transfer, transfer
from wattlock.link.wifi.work import Measured, Work
from wattlock.study.cases import CatalogueRow
from wattlock.targets.toolbox import Toolbox

# UDP's and TCP's own octets with those of IP; TCP with its timestamps (RFC 768, 791, 9293, 7323).
PACKET_B = {"udp": 1_500 - 28, "tcp": 1_500 - 52}
Ciphers = Mapping[str, CatalogueRow]


class Position(NamedTuple):
    """A transfer over the positions of a poor signal, or at one signal and 3 dB beside it.

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


class Answer(NamedTuple):
    """What a scenario costs.

    * `transfer`: with the waiting for hosts among its lines; `duration_ns`: with it. Where positions are drawn, it is
      that of the position with the median duration, where those that lose packets come last.
    * `radios`: by the states, and by the linear model, of each card that has it.
    * `positions`: as drawn, 3 dB stronger, 3 dB weaker; empty without a signal, or where only the first was asked for.
    """

    named: Named
    groups: list[Group]
    transfer: Transfer
    duration_ns: int
    rate_Mb_s: float
    radios: list[RadioEnergy]
    works: list[Work]
    positions: list[Position]
    evidence: str

    @property
    def by_states(self) -> list[RadioEnergy]:
        """A radio a node: by states where its card has them."""
        first: dict[Role, RadioEnergy] = {}
        for one in self.radios:
            first.setdefault(one.role, one)
        return list(first.values())

    @property
    def total_J(self) -> float | None:
        """Joules of all radios and of what hosts compute; None where no node has a card."""
        return self._sum([one.total.J for one in self.by_states])

    @property
    def marginal_J(self) -> float | None:
        """The same without the radios' idling."""
        return self._sum([one.marginal.J for one in self.by_states])

    def _sum(self, radios: list[float]) -> float | None:
        computed = [one.energy.J for one in self.works if one.energy]
        return sum(radios) + sum(computed) if radios else None

    def joules_of(self, line: Line) -> float | None:
        """Marginal joules of one line of the ledger, of all nodes."""
        if not self.by_states:
            return None
        found = [one.by_line_J.get((line.what, line.hop), 0.0) for one in self.by_states]
        found += [one.energy.J for one in self.works if one.what == line.what and one.energy]
        return sum(found)


def groups_of(named: Named, ciphers: Ciphers) -> list[Group]:
    """The packets of a scenario.

    Raises InputError where the cipher is not known, a message doesn't fit into a packet, or the file can't be read.
    """
    requested = named.scenario.payload
    cipher = _cipher(named, ciphers)
    room_B = PACKET_B[named.scenario.transport]
    try:
        if requested.sizes is not None:
            return payload.packets(((each_B, count) for each_B, count in requested.sizes), cipher, requested.encoding)
        data_B = requested.data_B if requested.data_B is not None else payload.size_B(requested.file or "")
        if requested.encrypt == "file":
            return payload.whole(data_B, requested.payload_B or room_B, cipher, requested.encoding)
        plain_B = requested.payload_B or payload.largest_plain_B(room_B, cipher, requested.encoding)
        return payload.packets(payload.equal(data_B, plain_B), cipher, requested.encoding)
    except InputError as error:
        raise InputError(f"link {named.label}: {error.message}", hint=error.hint) from error


def largest_question(named: Named, ciphers: Ciphers) -> air.Question:
    """What the air is asked of most of a scenario's packets, at its first position: for another engine to answer too.

    Raises InputError as `groups_of`.
    """
    number, group = max(enumerate(groups_of(named, ciphers)), key=lambda pair: pair[1].packets)
    requested = air.question(named, group, position.cases(named)[0].signal, number)
    return {"id": named.label, **requested}


class Refused(NamedTuple):
    """A scenario that can't be asked for, and why."""

    label: str
    error: WattlockError


def simulated(every: Sequence[Named], ciphers: Ciphers) -> int:
    """Packets that the simulator is asked for, at all positions, by those that can be; the closed forms count none."""

    def packets(named: Named) -> int:
        return sum(group.packets for group in groups_of(named, ciphers)) * len(position.cases(named))

    requested = [one for one in every if one.scenario.engine == "dcf"]
    counted = [_or_refused(named, packets, named) for named in requested]
    return sum(one for one in counted if not isinstance(one, Refused))


def evaluate(
    every: Sequence[Named],
    net: Toolbox,
    ciphers: Ciphers,
    *,
    measured: Measured | None = None,
    own: Path | None = None,
    allow_assumed: bool = False,
) -> list[Answer]:
    """What scenarios cost; the probe is started once.

    * `ciphers`: the catalogue's rows of the ciphers that they name. `own`: the user's folder of cards.

    Raises InputError for what is wrong with a scenario, EvidenceError for numbers that need consent or are missing.
    """
    found = []
    for one in evaluate_each(every, net, ciphers, measured=measured, own=own, allow_assumed=allow_assumed):
        if isinstance(one, Refused):
            raise one.error
        found.append(one)
    return found


def evaluate_each(
    every: Sequence[Named],
    net: Toolbox,
    ciphers: Ciphers,
    *,
    measured: Measured | None = None,
    own: Path | None = None,
    allow_assumed: bool = False,
    beside: bool = True,
) -> list[Answer | Refused]:
    """As `evaluate`, but that a scenario which can't be has its refusal among the answers, and the others go on.

    * `beside`: whether a signal is asked about 3 dB stronger and weaker too, for `Answer.positions`.
    """
    shelves = _Shelves(*(cache(partial(room.load, own=own)) for room in (radio_cards, cards)))
    plans: list[_Plan | Refused] = [_or_refused(one, _plan, one, ciphers, shelves, beside) for one in every]
    questions = [question for plan in plans if isinstance(plan, _Plan) for question in plan.questions]
    came = iter(air.answers(net, questions))

    def answer(plan: _Plan) -> Answer:
        described = [[next(came) for _ in plan.groups] for _ in plan.requested]
        refused = next((one for case in described for one in case if isinstance(one, InputError)), None)
        if refused:
            raise refused
        named, groups = plan.named, plan.groups
        work.check_devices(plan.devices, measured, allow_assumed=allow_assumed)
        computed = work.works(named, groups, measured, plan.devices, allow_assumed=allow_assumed)
        parts = _Parts(named, groups, plan.radios, computed, allow_assumed)
        return _answer(
            parts, plan.requested, [[one for one in case if not isinstance(one, InputError)] for case in described]
        )

    return [plan if isinstance(plan, Refused) else _or_refused(plan.named, answer, plan) for plan in plans]


class _Shelves(NamedTuple):
    """What reads a card by its name, each once."""

    radio: Callable[[str], Radio]
    device: Callable[[str], cards.Device]


class _Plan(NamedTuple):
    """A scenario made ready for the air: its packets, its positions, its cards."""

    named: Named
    groups: list[Group]
    requested: list[Case]
    radios: dict[Role, Radio]
    devices: dict[Role, cards.Device]

    @property
    def questions(self) -> list[tuple[Named, air.Question]]:
        return [
            (self.named, air.question(self.named, group, case.signal, number))
            for case in self.requested
            for number, group in enumerate(self.groups)
        ]


def _plan(named: Named, ciphers: Ciphers, shelves: _Shelves, beside: bool) -> _Plan:
    # Cards first: what they refuse, nobody needs to wait for.
    requested = position.cases(named, beside=beside)
    return _Plan(named, groups_of(named, ciphers), requested, *_cards(named, shelves))


def _or_refused(named: Named, act: Callable[..., Any], *what: Any) -> Any:
    """What is made of a scenario, or its refusal."""
    try:
        return act(*what)
    except (InputError, EvidenceError) as error:
        return Refused(named.label, error)


class _Parts(NamedTuple):
    named: Named
    groups: list[Group]
    radios: dict[Role, Radio]
    works: list[Work]
    allow_assumed: bool


def _answer(parts: _Parts, requested: list[Case], came: list[list[air.Answer]]) -> Answer:
    costs = [_cost(parts, answers) for answers in came]
    first = [one for one, case in zip(costs, requested, strict=True) if not case.offset_dB]
    by_duration = sorted(first, key=lambda one: (not one.transfer.complete, one.duration_ns))
    middle = by_duration[(len(first) - 1) // 2]
    offsets = dict.fromkeys(case.offset_dB for case in requested)
    if len(offsets) == 1:
        return middle
    positions = [
        _position(by_dB, [one for one, case in zip(costs, requested, strict=True) if case.offset_dB == by_dB])
        for by_dB in offsets
    ]
    return middle._replace(positions=positions)


def _position(offset_dB: float, costs: list[Answer]) -> Position:
    joules = [sum(radio.total.J for radio in one.by_states) for one in costs]
    whole = sum(one.transfer.complete for one in costs)
    return Position(
        offset_dB,
        len(costs),
        position.distribution([one.duration_ns * 1e-9 for one in costs]),
        position.distribution(joules) if costs[0].by_states else None,
        position.distribution([one.transfer.delivered / one.transfer.requested for one in costs]),
        whole / len(costs),
        position.distribution([one.duration_ns * 1e-9 if one.transfer.complete else math.inf for one in costs]),
    )


def _cost(parts: _Parts, answers: list[air.Answer]) -> Answer:
    named, groups, radios, works, allow_assumed = parts
    sent = transfer(groups, answers)
    waits = work.waits(works, sent.duration_ns, list(sent.states_ns), overlapped=named.scenario.host.overlapped)
    lines = sorted([*sent.lines, *waits], key=lambda line: PLACE[line.what]) if waits else sent.lines
    duration_ns = sum(line.time_ns for line in lines)
    rate_Mb_s = answers[0]["resolved"]["rate_bit_s"] / 1e6
    models: tuple[Literal["states", "linear"], ...] = ("states", "linear")
    energies = [
        radio_energy(
            radio,
            role,
            sent,
            duration_ns=duration_ns,
            rate_Mb_s=rate_Mb_s,
            allow_assumed=allow_assumed,
            model=model,
        )
        for role, radio in radios.items()
        for model in models
        if (radio.card.has_states if model == "states" else radio.card.is_linear)
    ]
    # What the air took is computed by a model of it, whatever the cards are.
    evidence = weakest("modelled", *(one.evidence for one in energies), *(one.evidence for one in works))
    whole = sent._replace(lines=lines)
    return Answer(named, groups, whole, duration_ns, rate_Mb_s, energies, works, [], evidence)


def _cards(named: Named, shelves: _Shelves) -> tuple[dict[Role, Radio], dict[Role, cards.Device]]:
    requested = named.scenario
    radios = {role: shelves.radio(name) for role in requested.roles if (name := requested.radio_of(role))}
    names: dict[Role, str | None] = {
        requested.roles[0]: requested.cost.sender,
        requested.roles[-1]: requested.cost.receiver,
    }
    return radios, {role: shelves.device(name) for role, name in names.items() if name}


def _cipher(named: Named, ciphers: Ciphers) -> CatalogueRow | None:
    name = named.scenario.payload.cipher
    if name is None:
        return None
    if name not in ciphers:
        raise InputError(
            f"link {named.label}: payload.cipher: no cipher {name!r}", hint="`wattlock ciphers` lists all of them"
        )
    return ciphers[name]
