"""A transfer as a ledger: octets and nanoseconds by whose they are, and what each radio does meanwhile.

The nanoseconds of a frame's octets are theirs at the rate; what is left of the frame is the PHY's: preamble, header,
padding. What is left of the transfer beside frames, answers, beacons and collisions is gaps and back-off. So lines add
up to the transfer, and the ledger of one scenario less that of another is what their difference costs.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from wattlock.link.ledger import Line, State, States
from wattlock.link.payload import Group, apportioned
from wattlock.link.scenario import Role
from wattlock.link.wifi.extension import silence

STATES: tuple[State, ...] = ("tx", "rx", "cca", "idle", "sleep")
KEYS = tuple((state, f"{state}_ns") for state in STATES)
"""States, and what the air calls their times."""
PAYLOAD = ("payload", "cipher: IV", "cipher: padding", "cipher: tag", "encoding")
HEADERS = ("transport", "IP", "LLC", "protection", "MAC header and FCS")
LINES = (
    *PAYLOAD,
    *HEADERS,
    "PHY preamble and padding",
    "TCP acknowledgements",
    "sent again",
    "RTS",
    "ACK and CTS",
    "beacons",
    "collisions",
    "gaps and back-off",
    "host: sender",
    "host: access-point",
    "host: receiver",
    "cipher: sender",
    "cipher: receiver",
    "packets by the linear model",
    "idle floor",
)
"""The ledger's lines in its order."""
PLACE = {what: place for place, what in enumerate(LINES)}


class Packets(NamedTuple):
    """Packets that a node sends or receives, for the linear model: how many, and their octets from IP up."""

    packets: int = 0
    octets_B: int = 0


class Transfer(NamedTuple):
    """What a scenario came down to.

    * `duration_ns`: of the air; work that the air waits for is lines of `work.waits`.
    * `states_ns`: of each node's radio, as the air says; the lines' states add up to them.
    * `sent`, `received`: by node, retries among those sent.
    * `requested`, `delivered`: packets.
    """

    duration_ns: int
    lines: list[Line]
    states_ns: States
    sent: dict[Role, Packets]
    received: dict[Role, Packets]
    requested: int
    delivered: int
    frames: int
    retries: int

    @property
    def complete(self) -> bool:
        """Whether every packet arrives: what loses some ends sooner, and its duration is no other's equal."""
        return self.delivered >= self.requested


def transfer(group: Group, answer: Mapping[str, Any]) -> Transfer:
    """The ledger of equal packets.

    * `answer`: a result of `wattlock-net air`.
    """
    totals: States = {node["role"]: {state: node[key] for state, key in KEYS} for node in answer["nodes"]}
    book = _Book(list(totals))
    sent: dict[Role, Packets] = dict.fromkeys(totals, Packets())
    received: dict[Role, Packets] = dict.fromkeys(totals, Packets())
    for leg in answer["legs"]:
        _leg(book, group, leg, answer["resolved"])
        octets_B = _packet_B(answer["resolved"], leg)
        fragments = answer["resolved"]["fragments"]
        attempts = -(-leg["sent"] // fragments)
        sent[leg["from"]] = _more(sent[leg["from"]], Packets(attempts, attempts * octets_B))
        received[leg["to"]] = _more(received[leg["to"]], Packets(leg["packets"], leg["packets"] * octets_B))
    first: Role = answer["nodes"][0]["role"]
    book.add("beacons", None, 0, answer["beacon_ns"], first)
    gaps_ns = answer["duration_ns"] - book.time_ns - answer["collision_ns"]
    book.add("gaps and back-off", None, 0, gaps_ns, None)
    # In a collision some send and the others hear it; means of a closed form are rounded to nanoseconds.
    book.fall_silent(totals)
    left = book.left(totals)
    if answer["collision_ns"] or _any(left):
        book.put(Line("collisions", None, 0, answer["collision_ns"], left))
    return Transfer(
        answer["duration_ns"],
        book.lines(),
        totals,
        sent,
        received,
        group.packets,
        answer["delivered"],
        answer["frames"],
        answer["retries"],
    )


def together(transfers: Iterable[Transfer]) -> Transfer:
    """Transfers one after the other."""
    every = list(transfers)
    first = every[0]
    if len(every) == 1:
        return first
    book = _Book(list(first.states_ns))
    for one in every:
        for line in one.lines:
            book.put(line)
    return Transfer(
        sum(one.duration_ns for one in every),
        book.lines(),
        _sum([one.states_ns for one in every]),
        {role: _more(*(one.sent[role] for one in every)) for role in first.sent},
        {role: _more(*(one.received[role] for one in every)) for role in first.received},
        sum(one.requested for one in every),
        sum(one.delivered for one in every),
        sum(one.frames for one in every),
        sum(one.retries for one in every),
    )


class _Book:
    """Lines that add up as they come."""

    def __init__(self, roles: list[Role]) -> None:
        self.roles = roles
        self._silent: States = {role: {} for role in roles}
        self._states: States = {role: dict.fromkeys(STATES, 0) for role in roles}
        self._lines: dict[tuple[str, int | None], Line] = {}

    @property
    def time_ns(self) -> int:
        return sum(line.time_ns for line in self._lines.values())

    def left(self, totals: States) -> States:
        """What the radios did beside what `add` was told of."""
        return {
            role: {state: totals[role][state] - booked_ns for state, booked_ns in states.items()}
            for role, states in self._states.items()
        }

    def add(
        self, what: str, hop: int | None, octets_B: int, time_ns: int, sender: Role | None, *, silent_ns: int = 0
    ) -> None:
        """A line in which `sender` sends and all others receive; without one nobody does anything.

        * `silent_ns`: of that time, in which all idle.
        """
        if not (octets_B or time_ns or silent_ns):
            return
        states: States = {}
        for role in self.roles:
            state: State = "idle" if sender is None else "tx" if role == sender else "rx"
            states[role] = {state: time_ns - silent_ns}
            self._states[role][state] += time_ns - silent_ns
            if silent_ns:
                states[role]["idle"] = silent_ns
                self._states[role]["idle"] += silent_ns
                self._silent[role][state] = self._silent[role].get(state, 0) + silent_ns
        self.put(Line(what, hop, octets_B, time_ns, states))

    def fall_silent(self, totals: States) -> None:
        """Takes what was silent out of the states of the radios, which the air counts as sending and receiving."""
        for role, states in self._silent.items():
            for state, silent_ns in states.items():
                # One that dozed heard less of it.
                time_ns = min(silent_ns, totals[role][state])
                totals[role][state] -= time_ns
                totals[role]["idle"] += time_ns

    def put(self, line: Line) -> None:
        key = line.what, line.hop
        if before := self._lines.get(key):
            states = _sum((before.states_ns, line.states_ns))
            line = Line(*key, before.octets_B + line.octets_B, before.time_ns + line.time_ns, states)
        self._lines[key] = line

    def lines(self) -> list[Line]:
        """In the ledger's order, without those that are empty."""
        every = (line for line in self._lines.values() if line.octets_B or line.time_ns or _any(line.states_ns))
        return sorted(every, key=lambda line: (PLACE[line.what], line.hop or 0))


def _any(states: States) -> bool:
    return any(any(one.values()) for one in states.values())


def _sum(every: Sequence[States]) -> States:
    # Not by Counter, which is slow for a handful of keys, and whose `+` drops what is negative.
    first, *others = every
    total: States = {role: dict(one) for role, one in first.items()}
    for states in others:
        for role, one in states.items():
            of_role = total.setdefault(role, {})
            for state, time_ns in one.items():
                of_role[state] = of_role.get(state, 0) + time_ns
    return total


def _more(*every: Packets) -> Packets:
    return Packets(sum(one.packets for one in every), sum(one.octets_B for one in every))


def _packet_B(resolved: Mapping[str, Any], leg: Mapping[str, Any]) -> int:
    octets = resolved["octets"]
    headers_B = octets["transport_B"] + octets["ip_B"]
    return cast(int, headers_B + (0 if leg["acknowledgements"] else octets["payload_B"]))


def _leg(book: _Book, group: Group, leg: Mapping[str, Any], resolved: Mapping[str, Any]) -> None:
    """All that goes over one hop in one direction, but for beacons, collisions and gaps."""
    hop, sender, packets = leg["hop"], leg["from"], leg["packets"]
    again_ns = leg["sent_ns"] - leg["data_ns"]
    silent = silence(leg, resolved)
    # As many of them end frames that brought something new as the time of those is of all.
    silent_ns = silent.data_ns * leg["data_ns"] // leg["sent_ns"] if leg["sent_ns"] else 0
    if leg["acknowledgements"]:
        # None of them is longer than what makes a frame be cut.
        octets_B = packets * (_packet_B(resolved, leg) + _around_B(resolved, fragments=1))
        book.add("TCP acknowledgements", hop, octets_B, leg["data_ns"], sender, silent_ns=silent_ns)
        again_B = (leg["sent"] - packets) * (octets_B // packets) if packets else 0
    else:
        again_B, more_ns = _data(book, group, leg, resolved, silent_ns)
        again_ns += more_ns
    book.add("sent again", hop, max(0, again_B), again_ns, sender, silent_ns=min(silent.data_ns - silent_ns, again_ns))
    book.add("RTS", hop, 0, leg["rts_ns"], sender, silent_ns=silent.rts_ns)
    book.add("ACK and CTS", hop, 0, leg["response_ns"], leg["to"], silent_ns=silent.answers_ns)


def _around_B(resolved: Mapping[str, Any], fragments: int) -> int:
    octets = resolved["octets"]
    each_B = octets["mpdu_protection_B"] + octets["mac_B"]
    return cast(int, octets["llc_B"] + octets["msdu_protection_B"] + fragments * each_B)


def _data(
    book: _Book, group: Group, leg: Mapping[str, Any], resolved: Mapping[str, Any], silent_ns: int
) -> tuple[int, int]:
    """The lines of frames with payload; gives octets and nanoseconds of those that brought nothing new."""
    octets, fragments = resolved["octets"], resolved["fragments"]
    frame_B = resolved["packet_B"] + _around_B(resolved, fragments)
    # A segment that TCP sends once more though it came is no new payload.
    new = min(leg["packets"], group.packets)
    data_ns, octets_ns = (leg[key] * new // (leg["packets"] or 1) for key in ("data_ns", "octets_ns"))
    headers = [octets["transport_B"], octets["ip_B"], octets["llc_B"]]
    headers += [octets["msdu_protection_B"] + fragments * octets["mpdu_protection_B"], fragments * octets["mac_B"]]
    sizes = [*apportioned(new * group.wire_B, group.parts), *(new * size_B for size_B in headers)]
    for what, size_B, time_ns in zip((*PAYLOAD, *HEADERS), sizes, apportioned(octets_ns, sizes), strict=True):
        book.add(what, leg["hop"], size_B, time_ns, leg["from"])
    around_ns = data_ns - octets_ns
    book.add("PHY preamble and padding", leg["hop"], 0, around_ns, leg["from"], silent_ns=min(silent_ns, around_ns))
    return leg["sent"] * frame_B // fragments - new * frame_B, leg["data_ns"] - data_ns
