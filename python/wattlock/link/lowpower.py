"""A message over a radio that is not 802.11, as a ledger and joules: octets and time of payload and all around it."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

from wattlock.definitions import suggestion
from wattlock.energy import radio_cards
from wattlock.energy.number import Number
from wattlock.energy.radio_cards import Radio, RadioCard
from wattlock.errors import EvidenceError, InputError
from wattlock.link.framing import RadioFrame, Role, State
from wattlock.link.ledger import Ledger, LedgerLine, LinkAnswer, RadioEnergy, Term, radio_energy, states_of
from wattlock.link.scenario import Named, RadioMessage, RefusedScenario, Standard, or_refused

DATA = ("payload", "cipher expansion", "encoding")
LINES = (
    *DATA,
    "transport",
    "security",
    "framing",
    "acknowledgements",
    "repeats",
    "receive windows",
    "gaps",
    "duty cycle",
    "idle",
)
"""The ledger's lines, in its order."""
Piece: TypeAlias = tuple[int, int, int]
"""Of a frame's data the octets of payload, cipher and encoding."""


def evaluate_each(
    requested: Sequence[Named[RadioMessage] | RefusedScenario],
    *,
    user_cards: Path | None = None,
    allow_assumed: bool = False,
) -> list[LinkAnswer | RefusedScenario]:
    """As `evaluate` of each, but that a message which can't be has its refusal among the answers."""
    act = partial(evaluate, user_cards=user_cards, allow_assumed=allow_assumed)
    return [named if isinstance(named, RefusedScenario) else or_refused(named.label, act, named) for named in requested]


def evaluate(named: Named[RadioMessage], *, user_cards: Path | None = None, allow_assumed: bool = False) -> LinkAnswer:
    """The ledger of a message and the joules of its nodes.

    * `user_cards`: the user's folder of cards.

    Raises InputError for a card that isn't there or is of another technology, EvidenceError for numbers that nobody
    verified or that a card lacks.
    """
    message = named.scenario
    radios: dict[Role, Radio] = {"sender": _radio(message.sender, message.link, user_cards)}
    if message.receiver:
        radios["receiver"] = _radio(message.receiver, message.link, user_cards)
    radios["sender"] = at_power(radios["sender"], message.tx_power_dBm, message.link, "tx_power_dBm")
    sent = ledger(message, radios["sender"].card)
    energies = [_energy(sent, message, radio, role, allow_assumed=allow_assumed) for role, radio in radios.items()]
    return LinkAnswer(named, sent, sent.air_ns, energies)


def ledger(message: RadioMessage, card: RadioCard | None = None) -> Ledger:
    """Octets and nanoseconds of a message, line by line.

    Within a frame the lines follow one another: what a line takes is how much longer the frame is on the air because of
    it, after those before. A line that makes another frame necessary shows there and in `framing`.

    * `card`: where it has `packet_time` and `byte_time`, they are the time of a frame, its surroundings included.
    """
    link = message.link
    away: State = "off" if link.technology == "lorawan" else "rx"
    octets: Counter[str] = Counter()
    sender: dict[str, Counter[State]] = {what: Counter() for what in LINES}
    receiver: dict[str, Counter[State]] = {what: Counter() for what in LINES}
    kinds = Counter(_frames(link, (message.payload_B, message.cipher_B, message.encoding_B)))
    for (piece, frame, last), times in kinds.items():
        by_line_B = _octets(link, piece, frame)
        octets.update({what: times * size for what, size in by_line_B.items()})
        if card and card.packet_time and card.byte_time:
            spent = _by_card(card.packet_time, card.byte_time, by_line_B)
        else:
            spent = _by_standard(link, piece, frame)
            for event in link.around(frame, link.airtime_ns(sum(frame)), last=last):
                octets[event.what] += times * event.octets_B
                sender[event.what][event.sender] += times * event.time_ns
                receiver[event.what][event.receiver] += times * event.time_ns
        for what, time_ns in spent.items():
            sender[what]["tx"] += times * time_ns
            receiver[what][away] += times * time_ns
    busy_ns = sum(sum(states.values()) for states in sender.values())
    if message.period_us:
        rest_ns = message.period_us * 1_000 - busy_ns
        if rest_ns < 0:
            raise InputError(
                f"period_us: {message.period_us} is shorter than the message, which takes {-(-busy_ns // 1_000)} us",
                hint="send less often, or less",
            )
        sender["idle"]["sleep"] += rest_ns
        receiver["idle"]["sleep" if away == "rx" else "off"] += rest_ns
    lines = [
        LedgerLine(what, None, octets[what], states.total(), {"sender": dict(states), "receiver": dict(receiver[what])})
        for what, states in sender.items()
        if octets[what] or states
    ]
    roles: tuple[Role, Role] = ("sender", "receiver")
    states_ns = {role: dict(states_of(lines, role)) for role in roles}
    return Ledger(lines, sum(line.time_ns for line in lines), states_ns, kinds.total())


def at_power(radio: Radio, tx_power_dBm: float | None, link: Standard | None, key: str) -> Radio:
    """A radio with what it draws at the power requested, or its own where none is.

    * `link`: whose region or standard limits the power. `key`: what it is called in errors.

    Raises InputError where its card has no figures there, or where it is more than is allowed.
    """
    try:
        card = radio.card if tx_power_dBm is None else radio.card.at_power(tx_power_dBm)
    except ValueError as error:
        what, hint = error.args
        raise InputError(f"{key}: radio card {radio.name} has {what}", hint=hint) from error
    if link is None:
        return Radio(radio.name, card)
    sent = card.sending(link.rate_Mb_s)
    most, rule = link.most_power
    if sent and sent.power_dBm is not None and most is not None and sent.power_dBm > most:
        raise InputError(f"{key}: {sent.power_dBm:g} dBm is more than is allowed", hint=rule)
    return Radio(radio.name, card)


def _radio(name: str, link: Standard, user_cards: Path | None) -> Radio:
    radio = radio_cards.load(name, user_cards)
    if radio.card.technology != link.technology:
        fit = [
            other for other in radio_cards.RADIOS.names(user_cards) if _technology(other, user_cards) == link.technology
        ]
        raise InputError(
            f"radio card {name} is for {radio.card.technology}, the message goes by {link.technology}",
            hint=suggestion(name, fit, "cards for it are"),
        )
    return radio


def _technology(name: str, user_cards: Path | None) -> str:
    try:
        return radio_cards.load(name, user_cards).card.technology
    except InputError:
        return "unreadable"


def _frames(link: Standard, sizes: Piece) -> Iterator[tuple[Piece, RadioFrame, bool]]:
    """Each frame with what its data is, and whether it is the last one."""
    left = list(sizes)
    frames = link.frames(sum(sizes))
    frame = next(frames, None)
    while frame:
        following = next(frames, None)
        parts = []
        room_B = frame.data_B
        for place, size in enumerate(left):
            parts.append(min(size, room_B))
            left[place] -= parts[-1]
            room_B -= parts[-1]
        yield (parts[0], parts[1], parts[2]), frame, following is None
        frame = following


def _octets(link: Standard, piece: Piece, frame: RadioFrame) -> dict[str, int]:
    rest = {"transport": frame.transport_B, "security": frame.security_B, "framing": frame.mac_B + link.phy_B}
    return dict(zip(DATA, piece, strict=True)) | rest


def _by_standard(link: Standard, piece: Piece, frame: RadioFrame) -> dict[str, int]:
    """Nanoseconds of a frame by line: what each group of octets adds to those before it."""
    spent: dict[str, int] = {}
    octets_B, before_ns = 0, link.airtime_ns(0)
    header_ns = before_ns
    for what, size in (_octets(link, piece, frame) | {"framing": frame.mac_B}).items():
        octets_B += size
        after_ns = link.airtime_ns(octets_B)
        spent[what] = after_ns - before_ns
        before_ns = after_ns
    spent["framing"] += header_ns
    return {what: time_ns for what, time_ns in spent.items() if time_ns}


def _by_card(packet: Number, byte: Number, octets: dict[str, int]) -> dict[str, int]:
    """Nanoseconds of a frame by a card's own times: bytes are all but the framing, which is the packet's."""
    spent = {what: round(size * byte.in_SI * 1e9) for what, size in octets.items() if size and what != "framing"}
    return spent | {"framing": round(packet.in_SI * 1e9)}


def _energy(sent: Ledger, message: RadioMessage, radio: Radio, role: Role, *, allow_assumed: bool) -> RadioEnergy:
    """The joules of one node's radio: power by state times time, or the card's linear model where it has no states.

    By the linear model a packet's term stands in `framing` and the power at rest, over all the time, in `idle`. Rest is
    asleep where the card knows sleep, else idle; lines have it too.

    Raises EvidenceError for numbers that nobody verified, without `allow_assumed`, and for those that the card lacks.
    """
    model: Literal["states", "linear"] = "states" if radio.card.has_states else "linear"
    terms = list(_by_states(sent, message, radio, role) if model == "states" else _by_packets(sent, radio, role))
    number, key = _drawn(radio, "sleep", message)
    rest = (key, number) if number else None
    above = [term for term in terms if term.key != key]
    spent = radio_energy(radio, role, model, above, rest=rest, duration_ns=sent.air_ns, allow_assumed=allow_assumed)
    by_line: defaultdict[tuple[str, int | None], float] = defaultdict(float)
    for term in sorted(terms, key=lambda term: LINES.index(term.line[0])):
        by_line[term.line] += term.J
    return spent._replace(by_line_J=dict(by_line), floor_J=0.0)


def _by_states(sent: Ledger, message: RadioMessage, radio: Radio, role: Role) -> Iterator[Term]:
    for line in sent.lines:
        for state, time_ns in line.states_ns[role].items():
            if state == "off" or not time_ns:
                continue
            number, key = _drawn(radio, state, message)
            if number is None:
                raise EvidenceError(
                    f"radio card {radio.name} has no power for {state}; the {role} is there for {time_ns / 1e3:g} us",
                    hint=f"add {state} to a card of your own",
                )
            yield Term((line.what, None), key, number, radio.card.power_W(number) * time_ns * 1e-9, time_ns)


def _by_packets(sent: Ledger, radio: Radio, role: Role) -> Iterator[Term]:
    card, way = radio.card, "send" if role == "sender" else "receive"
    packet, byte = (getattr(card, f"{way}_{part}") for part in ("packet", "byte"))
    yield Term(("framing", None), f"{way}_packet", packet, packet.in_SI * sent.frames, 0)
    for line in sent.lines:
        if line.what in {*DATA, "transport", "security"}:
            yield Term((line.what, None), f"{way}_byte", byte, byte.in_SI * line.octets_B, 0)
    if card.idle:
        yield Term(("idle", None), "idle", card.idle, card.power_W(card.idle) * sent.air_ns * 1e-9, sent.air_ns)


def _drawn(radio: Radio, state: State, message: RadioMessage) -> tuple[Number | None, str]:
    """A card's number for a state and its key; who can't sleep idles, and idles where it can't sleep."""
    card = radio.card
    if state == "tx":
        return card.sending(message.link.rate_Mb_s, message.tx_power_dBm), "tx"
    if state == "rx":
        return card.rx, "rx"
    first, second = (card.sleep, card.idle) if state == "sleep" else (card.idle, None)
    other: Literal["idle", "sleep"] = "idle" if state == "sleep" else "sleep"
    return (first, state) if first else (second, other)
