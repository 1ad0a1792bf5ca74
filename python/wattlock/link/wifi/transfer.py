"""A transfer as a ledger: octets and nanoseconds by whose they are, and what each radio does meanwhile.

The nanoseconds of a frame's octets are theirs at the rate; what is left of the frame is the PHY's: preamble, header,
padding. What is left of the transfer beside frames, answers, beacons and collisions is gaps and back-off. So lines add
up to the transfer, and the ledger of one scenario less that of another is what their difference costs.
"""

from collections.abc import Mapping, Sequence
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


def transfer(groups: Sequence[Group], answers: Sequence[Mapping[str, Any]]) -> Transfer:
    """The ledger of groups of equal packets, one group after the other.

    * `answers`: of each group a result of `wattlock-net air`.
    """
    book = _Book([node["role"] for node in answers[0]["nodes"]])
    for group, answer in zip(groups, answers, strict=True):
        book.enter(group, answer)
    return Transfer(
        sum(answer["duration_ns"] for answer in answers),
        book.lines(),
        book.totals,
        {role: Packets(*counts) for role, counts in book.sent.items()},
        {role: Packets(*counts) for role, counts in book.received.items()},
        sum(group.packets for group in groups),
        sum(answer["delivered"] for answer in answers),
        sum(answer["frames"] for answer in answers),
        sum(answer["retries"] for answer in answers),
    )


class _Book:
    """Lines that add up as groups are entered.

    * `totals`: nanoseconds by node and state. `sent`, `received`: packets and octets by node.
    """

    def __init__(self, roles: list[Role]) -> None:
        self.totals: States = {role: dict.fromkeys(STATES, 0) for role in roles}
        self.sent = {role: [0, 0] for role in roles}
        self.received = {role: [0, 0] for role in roles}
        # By line, hop and who sends: octets, nanoseconds, and those of them that are silent.
        self._booked: dict[tuple[str, int | None, Role | None], list[int]] = {}
        self._collisions_ns = 0
        # Of the group under way, by who sends.
        self._silent_ns: dict[Role | None, int] = {}

    def enter(self, group: Group, answer: Mapping[str, Any]) -> None:
        """The lines of a group."""
        resolved = answer["resolved"]
        self._silent_ns = dict.fromkeys(self.totals, 0)
        gaps_ns = answer["duration_ns"] - answer["collision_ns"] - answer["beacon_ns"]
        for leg in answer["legs"]:
            _leg(self, group, leg, resolved)
            gaps_ns -= leg["sent_ns"] + leg["rts_ns"] + leg["response_ns"]
            octets_B = _packet_B(resolved, leg)
            attempts = -(-leg["sent"] // resolved["fragments"])
            for counts, packets in ((self.sent[leg["from"]], attempts), (self.received[leg["to"]], leg["packets"])):
                counts[0] += packets
                counts[1] += packets * octets_B
        self.add("beacons", None, 0, answer["beacon_ns"], answer["nodes"][0]["role"])
        self.add("gaps and back-off", None, 0, gaps_ns, None)
        self._collisions_ns += answer["collision_ns"]
        silent_ns = sum(self._silent_ns.values())
        for node in answer["nodes"]:
            total, own_silent_ns = self.totals[node["role"]], self._silent_ns[node["role"]]
            for state, key in KEYS:
                total[state] += node[key]
            # The air counts silence as sending and receiving; one that dozed heard less of it.
            sending_ns = min(own_silent_ns, node["tx_ns"])
            hearing_ns = min(silent_ns - own_silent_ns, node["rx_ns"])
            total["tx"] -= sending_ns
            total["rx"] -= hearing_ns
            total["idle"] += sending_ns + hearing_ns

    def add(
        self, what: str, hop: int | None, octets_B: int, time_ns: int, sender: Role | None, *, silent_ns: int = 0
    ) -> None:
        """A line in which `sender` sends and all others receive; without one nobody does anything.

        * `silent_ns`: of that time, in which all idle.
        """
        if not (octets_B or time_ns or silent_ns):
            return
        if silent_ns:
            self._silent_ns[sender] += silent_ns
        key = what, hop, sender
        if before := self._booked.get(key):
            before[0] += octets_B
            before[1] += time_ns
            before[2] += silent_ns
        else:
            self._booked[key] = [octets_B, time_ns, silent_ns]

    def lines(self) -> list[Line]:
        """In the ledger's order, without those that are empty."""
        found: dict[tuple[str, int | None], Line] = {}
        for (what, hop, sender), (octets_B, time_ns, silent_ns) in self._booked.items():
            line = Line(what, hop, octets_B, time_ns, self._states(sender, time_ns, silent_ns))
            before = found.get((what, hop))
            found[what, hop] = _joined(before, line) if before else line
        # In a collision some send and the others hear it; means of a closed form are rounded to nanoseconds.
        left = {role: dict(states) for role, states in self.totals.items()}
        for line in found.values():
            for role, states in line.states_ns.items():
                for state, time_ns in states.items():
                    left[role][state] -= time_ns
        every = [*found.values(), Line("collisions", None, 0, self._collisions_ns, left)]
        some = [line for line in every if line.octets_B or line.time_ns or _any(line.states_ns)]
        return sorted(some, key=lambda line: (PLACE[line.what], line.hop or 0))

    def _states(self, sender: Role | None, time_ns: int, silent_ns: int) -> States:
        """What all do in a line."""
        if sender is None:
            return {role: {"idle": time_ns} for role in self.totals}
        silence: dict[State, int] = {"idle": silent_ns} if silent_ns else {}
        found: States = {role: {"rx": time_ns - silent_ns, **silence} for role in self.totals}
        found[sender] = {"tx": time_ns - silent_ns, **silence}
        return found


def _any(states: States) -> bool:
    return any(any(one.values()) for one in states.values())


def _joined(first: Line, second: Line) -> Line:
    """Two lines of one name and hop, whose senders differ."""
    states: States = {role: dict(one) for role, one in first.states_ns.items()}
    for role, one in second.states_ns.items():
        for state, time_ns in one.items():
            states[role][state] = states[role].get(state, 0) + time_ns
    return Line(*first[:2], first.octets_B + second.octets_B, first.time_ns + second.time_ns, states)


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
