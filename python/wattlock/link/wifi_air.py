"""What `wattlock-net air` is asked of a transfer over 802.11, and the ledger that its answers make.

The nanoseconds of a frame's octets are theirs at the rate; what is left of the frame is the PHY's: preamble, header,
padding. What is left of the transfer beside frames, answers, beacons and collisions is gaps and back-off. So lines add
up to the transfer, and the ledger of one scenario less that of another is what their difference costs.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from wattlock.definitions import suggestion
from wattlock.errors import InputError
from wattlock.link.framing import Role, State
from wattlock.link.ledger import PER_PACKET, STATES, Ledger, LedgerLine, Packets, States
from wattlock.link.payload import PacketGroup, apportioned
from wattlock.link.scenario import KEYS, Named, Scenario
from wattlock.targets.toolbox import Toolbox

# What air's keys are called in a scenario.
PLACES = {key: f"signal.{key}" for key in ("distance_m", "walls_dB", "rssi_dBm")} | {"payload_B": "payload.payload_B"}
PLACES |= {"datagrams": "payload, in packets"}
UNKNOWN = re.compile("`([^`]+)`")
# A key with its value in a hint, as the probe's JSON has it.
IN_JSON = re.compile(r'"(\w+)": "?([\w.-]+)"?')
# Where the probe names a key alone.
OTHERWISE = {("rate_Mb_s", "mcs"): "--set mcs=7 in its place, and --set air.streams=2 for two streams"}
# What a transfer has no use for: it ends when all is sent.
BY_TIME = ', or a "duration_s"'
AirQuestion = dict[str, Any]
AirAnswer = dict[str, Any]
STATE_KEYS = tuple((state, f"{state}_ns") for state in STATES)
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
    PER_PACKET[0],
    "idle floor",
)
"""The ledger's lines in its order."""
PLACE = {what: place for place, what in enumerate(LINES)}
# IEEE Std 802.11-2020, 18.3.2.4 (aSignalExtension); with it 802.11b's SIFS of 10 us fits, which 5 GHz does not have.
EXTENSION_ns, SIFS_ns = 6_000, 10_000
DSSS_bit_s = {1_000_000, 2_000_000, 5_500_000, 11_000_000}
# Preamble and extension, bits of SERVICE and tail, octets of a block acknowledgement (17.3.2, 9.3.1.8).
AROUND_ns, SYMBOL_ns, BITS, BLOCK_ACK_B = 26_000, 4_000, 22, 32


def question(named: Named[Scenario], group: PacketGroup, signal: dict[str, float], number: int) -> AirQuestion:
    """One line for the air: a group of equal packets at one position.

    * `signal`: what takes the place of the scenario's signal. `number`: of the group, so that each draws for itself.
    """
    requested = named.scenario
    whole = {
        "phy": requested.phy,
        "topology": requested.topology,
        "band": requested.band,
        "rate_Mb_s": requested.rate_Mb_s,
        "mcs": requested.mcs,
        "preamble": requested.preamble,
        "basic_rates_Mb_s": requested.basic_rates_Mb_s,
        "protection": requested.protection,
        "transport": requested.transport,
        "engine": requested.engine,
        "seed": requested.seed + number,
        "payload_B": group.wire_B,
        "datagrams": group.packets,
        **requested.air,
        **signal,
    }
    return {key: value for key, value in whole.items() if value is not None}


def evaluate(net: Toolbox, questions: Sequence[tuple[Named[Scenario], AirQuestion]]) -> list[AirAnswer]:
    """The answers, in the order of the questions, from one process.

    Raises InputError naming scenario and key of the first that can't be, ProbeError where the toolbox fails.
    """
    found = []
    for answer in answers(net, questions):
        if isinstance(answer, InputError):
            raise answer
        found.append(answer)
    return found


def answers(net: Toolbox, questions: Sequence[tuple[Named[Scenario], AirQuestion]]) -> list[AirAnswer | InputError]:
    """As `evaluate`, but that a question which can't be has its refusal among the answers."""
    found = net.answers("air", [question for _, question in questions])
    return [
        refusal(named, requested, answer) if answer["kind"] == "failure" else answer
        for (named, requested), answer in zip(questions, found, strict=True)
    ]


def refusal(named: Named[Scenario], requested: AirQuestion, failure: AirAnswer) -> InputError:
    """The probe's failure to answer, in the words of a scenario of `wattlock link`."""
    key = failure["key"]
    if "unknown field" in failure["message"]:
        known = [name for name in UNKNOWN.findall(failure["message"])[1:] if name not in KEYS]
        return InputError(f"link {named.label}: air.{key}: unknown key", hint=suggestion(key, known, "there are"))
    place = f"air.{key}" if key in named.scenario.air else PLACES.get(key, key)
    hint = IN_JSON.sub(_as_option, (failure["hint"] or "").replace(BY_TIME, ""))
    if key == "payload_B" and named.scenario.payload.encrypt == "packet":
        hint = f"{hint} with what cipher and encoding add: less plaintext a packet"
    value = requested.get(key)
    text = f"{value:g}" if isinstance(value, float) else str(value)
    shown = f" (is {text})" if value is not None and text not in failure["message"] else ""
    hint = OTHERWISE.get((key, hint), hint)
    return InputError(f"link {named.label}: {place}: {failure['message']}{shown}", hint=hint)


def _as_option(matched: re.Match[str]) -> str:
    """A key of the air with its value as `wattlock link` is told it."""
    key, value = matched.groups()
    if key in {"engine", "transport", "topology", "protection", "phy"}:
        return f"--{key} {value}"
    return f"--set {PLACES.get(key, key if key in KEYS else f'air.{key}')}={value}"


def transfer(groups: Sequence[PacketGroup], answers: Sequence[Mapping[str, Any]]) -> Ledger:
    """The ledger of groups of equal packets, one group after the other.

    * `answers`: of each group a result of `wattlock-net air`.
    """
    builder = _LedgerBuilder([node["role"] for node in answers[0]["nodes"]])
    for group, answer in zip(groups, answers, strict=True):
        builder.enter(group, answer)
    air_ns, frames, retries, delivered = (
        sum(answer[key] for answer in answers) for key in ("duration_ns", "frames", "retries", "delivered")
    )
    return Ledger(
        builder.lines(),
        air_ns,
        builder.totals,
        frames,
        retries,
        requested=sum(group.packets for group in groups),
        delivered=delivered,
        sent={role: Packets(*counts) for role, counts in builder.sent.items()},
        received={role: Packets(*counts) for role, counts in builder.received.items()},
    )


class _LedgerBuilder:
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

    def enter(self, group: PacketGroup, answer: Mapping[str, Any]) -> None:
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
            for state, key in STATE_KEYS:
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

    def lines(self) -> list[LedgerLine]:
        """In the ledger's order, without those that are empty."""
        found: dict[tuple[str, int | None], LedgerLine] = {}
        for (what, hop, sender), (octets_B, time_ns, silent_ns) in self._booked.items():
            line = LedgerLine(what, hop, octets_B, time_ns, self._states(sender, time_ns, silent_ns))
            before = found.get((what, hop))
            found[what, hop] = _joined(before, line) if before else line
        # In a collision some send and the others hear it; means of a closed form are rounded to nanoseconds.
        left = {role: dict(states) for role, states in self.totals.items()}
        for line in found.values():
            for role, states in line.states_ns.items():
                for state, time_ns in states.items():
                    left[role][state] -= time_ns
        lines = [*found.values(), LedgerLine("collisions", None, 0, self._collisions_ns, left)]
        filled = [line for line in lines if line.octets_B or line.time_ns or _any(line.states_ns)]
        return sorted(filled, key=lambda line: (PLACE[line.what], line.hop or 0))

    def _states(self, sender: Role | None, time_ns: int, silent_ns: int) -> States:
        """What all do in a line."""
        if sender is None:
            return {role: {"idle": time_ns} for role in self.totals}
        silence: dict[State, int] = {"idle": silent_ns} if silent_ns else {}
        found: States = {role: {"rx": time_ns - silent_ns, **silence} for role in self.totals}
        found[sender] = {"tx": time_ns - silent_ns, **silence}
        return found


def _any(states: States) -> bool:
    return any(any(times.values()) for times in states.values())


def _joined(first: LedgerLine, second: LedgerLine) -> LedgerLine:
    """Two lines of one name and hop, whose senders differ."""
    states: States = {role: dict(times) for role, times in first.states_ns.items()}
    for role, times in second.states_ns.items():
        for state, time_ns in times.items():
            states[role][state] = states[role].get(state, 0) + time_ns
    return LedgerLine(*first[:2], first.octets_B + second.octets_B, first.time_ns + second.time_ns, states)


def _packet_B(resolved: Mapping[str, Any], leg: Mapping[str, Any]) -> int:
    octets = resolved["octets"]
    headers_B = octets["transport_B"] + octets["ip_B"]
    return cast(int, headers_B + (0 if leg["acknowledgements"] else octets["payload_B"]))


def _leg(builder: _LedgerBuilder, group: PacketGroup, leg: Mapping[str, Any], resolved: Mapping[str, Any]) -> None:
    """All that goes over one hop in one direction, but for beacons, collisions and gaps."""
    hop, sender, packets = leg["hop"], leg["from"], leg["packets"]
    again_ns = leg["sent_ns"] - leg["data_ns"]
    silent = _silence(leg, resolved)
    # As many of them end frames that brought something new as the time of those is of all.
    silent_ns = silent.data_ns * leg["data_ns"] // leg["sent_ns"] if leg["sent_ns"] else 0
    if leg["acknowledgements"]:
        # None of them is longer than what makes a frame be cut.
        octets_B = packets * (_packet_B(resolved, leg) + _around_B(resolved, fragments=1))
        builder.add("TCP acknowledgements", hop, octets_B, leg["data_ns"], sender, silent_ns=silent_ns)
        again_B = (leg["sent"] - packets) * (octets_B // packets) if packets else 0
    else:
        again_B, more_ns = _data(builder, group, leg, resolved, silent_ns)
        again_ns += more_ns
    builder.add(
        "sent again", hop, max(0, again_B), again_ns, sender, silent_ns=min(silent.data_ns - silent_ns, again_ns)
    )
    builder.add("RTS", hop, 0, leg["rts_ns"], sender, silent_ns=silent.rts_ns)
    builder.add("ACK and CTS", hop, 0, leg["response_ns"], leg["to"], silent_ns=silent.answers_ns)


def _around_B(resolved: Mapping[str, Any], fragments: int) -> int:
    octets = resolved["octets"]
    each_B = octets["mpdu_protection_B"] + octets["mac_B"]
    return cast(int, octets["llc_B"] + octets["msdu_protection_B"] + fragments * each_B)


def _data(
    builder: _LedgerBuilder, group: PacketGroup, leg: Mapping[str, Any], resolved: Mapping[str, Any], silent_ns: int
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
        builder.add(what, leg["hop"], size_B, time_ns, leg["from"])
    around_ns = data_ns - octets_ns
    builder.add("PHY preamble and padding", leg["hop"], 0, around_ns, leg["from"], silent_ns=min(silent_ns, around_ns))
    return leg["sent"] * frame_B // fragments - new * frame_B, leg["data_ns"] - data_ns


class _Silence(NamedTuple):
    """Nanoseconds of one hop and direction in which a frame counts as on the air and nobody sends."""

    data_ns: int = 0
    rts_ns: int = 0
    answers_ns: int = 0


def _silence(leg: Mapping[str, Any], resolved: Mapping[str, Any]) -> _Silence:
    """What of a leg is signal extension: an OFDM frame in 2.4 GHz ends with 6 us in which no radio pays.

    * `leg`, `resolved`: of a result of `wattlock-net air`.

    Where rates were mixed, as Minstrel does, nobody counted the OFDM frames: all of it stays sending.
    """
    if resolved["sifs_ns"] != SIFS_ns:
        return _Silence()
    aggregated = resolved["ampdu_B"] > 0
    if not aggregated and not leg["acknowledgements"] and leg["data_ns"] != leg["packets"] * resolved["data_ns"]:
        return _Silence()
    answered_OFDM = resolved["response_rate_bit_s"] not in DSSS_bit_s
    answer_ns = _block_ack_ns(resolved["response_rate_bit_s"]) if aggregated else resolved["response_ns"]
    # What is left of the last aggregate may go alone and be answered by an acknowledgement, which is a little shorter.
    answers = round(leg["response_ns"] / answer_ns)
    rts = answers // 2 if leg["rts_ns"] else 0
    frames = answers if aggregated else leg["sent"]
    return _Silence(
        EXTENSION_ns * frames if resolved["rate_bit_s"] not in DSSS_bit_s else 0,
        EXTENSION_ns * rts if answered_OFDM else 0,
        EXTENSION_ns * answers if answered_OFDM else 0,
    )


def _block_ack_ns(rate_bit_s: int) -> int:
    bits_a_symbol = rate_bit_s * SYMBOL_ns // 1_000_000_000
    return AROUND_ns + -(-(BITS + 8 * BLOCK_ACK_B) // bits_a_symbol) * SYMBOL_ns
