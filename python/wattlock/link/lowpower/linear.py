"""A message over a radio that is not 802.11, as a ledger: octets, time and joules of payload and all around."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeAlias

from pydantic import Field, create_model, model_validator

from wattlock.definitions import Form, Table, Text, suggestion, validated
from wattlock.energy import radio_cards
from wattlock.energy.number import Number, refuse_doubted
from wattlock.energy.radio_cards import CURRENT, Radio, RadioCard
from wattlock.errors import EvidenceError, InputError
from wattlock.link.joules import interval
from wattlock.link.ledger import Line, State, states_of
from wattlock.link.lowpower.ble import Ble
from wattlock.link.lowpower.exchange import Frame
from wattlock.link.lowpower.ieee802154 import Ieee802154
from wattlock.link.lowpower.lorawan import Lorawan
from wattlock.link.scenario import read

Standard: TypeAlias = Annotated[Ble | Ieee802154 | Lorawan, Field(discriminator="standard")]
Whole = Annotated[int, Field(ge=0)]
Node = Literal["sender", "receiver"]
# A frame at a time is walked through: more than this is a file for another radio.
MOST_B = 16 * 1024 * 1024
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


class Message(Table):
    """What is sent and by what.

    * `payload_B`: the plain message; `cipher_B`: nonce, padding and tag that an application's cipher adds;
      `encoding_B`: what base64 or hexadecimal adds on top.
    * `sender`, `receiver`: radio cards, or a path; without a receiver its joules are nobody's.
    * `period_us`: a message every so often, the rest of the time is idle; 0 counts the message alone.
    * `tx_power_dBm`: the sender's, where its card knows several.
    """

    phy: Literal["linear"] = "linear"
    title: Text = "a message"
    note: str = ""
    payload_B: Annotated[int, Field(ge=0, le=MOST_B)]
    cipher_B: Annotated[int, Field(ge=0, le=MOST_B)] = 0
    encoding_B: Annotated[int, Field(ge=0, le=MOST_B)] = 0
    period_us: Whole = 0
    sender: Text
    receiver: Text | None = None
    tx_power_dBm: float | None = None
    link: Standard

    @model_validator(mode="after")
    def _a_gateway_has_no_card(self) -> Self:
        if self.receiver and self.link.standard == "lorawan":
            raise ValueError("a gateway of LoRaWAN is on the mains; leave receiver out")
        return self


def _form(name: str, title: str, standard: type[Table], radio: str) -> Form:
    # In a file both keys must be there, by which the model is chosen.
    tag: Any = (standard.model_fields["standard"].annotation, ...)
    linear: Any = (Literal["linear"], ...)
    link = create_model(standard.__name__, __base__=standard, standard=tag)
    model = create_model(f"{standard.__name__}Message", __base__=Message, phy=linear, link=(link, ...))
    words = {"standard": name, "title": title, "radio": radio}
    return Form(name, f"A message over {title}.", model, ("message", f"message-{name}"), words)


FORMS = {
    form.name: form
    for form in (
        _form("ble", "Bluetooth Low Energy", Ble, "nrf52840-ble"),
        _form("802154", "IEEE 802.15.4", Ieee802154, "nrf52840-802154"),
        _form("lorawan", "LoRaWAN", Lorawan, "sx1262-lora"),
    )
}
"""By the name of the standard, as `wattlock link --template` takes it."""


class Ledger(NamedTuple):
    """All lines; octets and nanoseconds of a message are their sums, exactly."""

    frames: int
    lines: list[Line]

    @property
    def octets_B(self) -> int:
        """Octets on the air."""
        return sum(line.octets_B for line in self.lines)

    @property
    def time_ns(self) -> int:
        """From the first back-off to the last gap, idle time included."""
        return sum(line.time_ns for line in self.lines)

    def states_ns(self, node: Node) -> dict[State, int]:
        """How long a node's radio is in each state."""
        return dict(states_of(self.lines, node))


class Energy(NamedTuple):
    """What one node's radio spends.

    * `by_line_uJ`: by the ledger's lines; they add up to `total_uJ`.
    * `marginal_uJ`: what is left without the same time at rest (asleep where the card knows sleep, else idle).
    * low and high: 95 %, by the uncertainty of the card's numbers, as those of `joules.RadioEnergy`.
    * `assumed`: the card's numbers in use that nobody verified.
    """

    node: Node
    card: str
    model: Literal["states", "linear"]
    by_line_uJ: dict[str, float]
    total_uJ: float
    low_uJ: float
    high_uJ: float
    marginal_uJ: float
    marginal_low_uJ: float
    marginal_high_uJ: float
    evidence: Literal["modelled", "assumed"]
    assumed: list[str]


class Answer(NamedTuple):
    """A message's ledger and the joules of its nodes."""

    message: Message
    ledger: Ledger
    energies: list[Energy]

    def rows(self) -> list[dict[str, Any]]:
        """A record a line of the ledger that is not empty, then the total."""
        by_node = {energy.node: energy for energy in self.energies}
        rows = [
            {
                "line": line.what,
                "octets_B": line.octets_B,
                "time_ns": line.time_ns,
                **{f"{node}_uJ": energy.by_line_uJ.get(line.what, 0.0) for node, energy in by_node.items()},
            }
            for line in self.ledger.lines
        ]
        total = {"line": "total", "octets_B": self.ledger.octets_B, "time_ns": self.ledger.time_ns}
        return [*rows, total | {f"{node}_uJ": energy.total_uJ for node, energy in by_node.items()}]


def message_of(raw: dict[str, Any], origin: str) -> Message:
    """A message from a table of TOML.

    Raises InputError that names `origin` and every key that is wrong.
    """
    return validated(Message, raw, origin)


def load(name_or_path: str | Path) -> Message:
    """Read a message from a scenario of that name, or from a TOML file.

    Raises InputError where the file can't be read or isn't one.
    """
    name, raw = read(name_or_path)
    return message_of(raw, f"link {name}")


def evaluate(message: Message, *, allow_assumed: bool = False, own: Path | None = None) -> Answer:
    """The ledger of a message and the joules of its nodes.

    * `own`: the user's folder of cards.

    Raises InputError for a card that isn't there or is of another technology, EvidenceError for numbers that nobody
    verified or that a card lacks.
    """
    named: list[tuple[Node, str]] = [("sender", message.sender)]
    if message.receiver:
        named.append(("receiver", message.receiver))
    cards = [(node, _card(name, message.link, own)) for node, name in named]
    cards[0] = ("sender", at_power(cards[0][1], message.tx_power_dBm, message.link, "tx_power_dBm"))
    sent = ledger(message, cards[0][1].card)
    energies = [energy(sent, message, radio, node, allow_assumed=allow_assumed) for node, radio in cards]
    return Answer(message, sent, energies)


def ledger(message: Message, card: RadioCard | None = None) -> Ledger:
    """Octets and nanoseconds of a message, line by line.

    Within a frame the lines follow one another: what a line takes is how much longer the frame is on the air because of
    it, after those before. A line that makes another frame necessary shows there and in `framing`.

    * `card`: where it has `packet_time` and `byte_time`, they are the time of a frame, its surroundings included.
    """
    link = message.link
    sizes = (message.payload_B, message.cipher_B, message.encoding_B)
    octets: Counter[str] = Counter()
    sender: dict[str, Counter[State]] = {what: Counter() for what in LINES}
    receiver: dict[str, Counter[State]] = {what: Counter() for what in LINES}
    kinds = Counter(_framed(link, sizes))
    for (parts, frame, last), times in kinds.items():
        octets.update({what: times * size for what, size in _octets(link, parts, frame).items()})
        if card and card.packet_time and card.byte_time:
            spent = _by_card(card, _octets(link, parts, frame))
        else:
            spent = _by_standard(link, parts, frame)
            for event in link.around(frame, link.airtime_ns(sum(frame)), last=last):
                octets[event.what] += times * event.octets_B
                sender[event.what][event.sender] += times * event.time_ns
                receiver[event.what][event.receiver] += times * event.time_ns
        for what, time_ns in spent.items():
            sender[what]["tx"] += times * time_ns
            receiver[what]["off" if link.technology == "lorawan" else "rx"] += times * time_ns
    busy_ns = sum(sum(states.values()) for states in sender.values())
    if message.period_us:
        rest_ns = message.period_us * 1_000 - busy_ns
        if rest_ns < 0:
            raise InputError(
                f"period_us: {message.period_us} is shorter than the message, which takes {-(-busy_ns // 1_000)} us",
                hint="send less often, or less",
            )
        sender["idle"]["sleep"] += rest_ns
        receiver["idle"]["sleep" if link.technology != "lorawan" else "off"] += rest_ns
    lines = [
        Line(
            what,
            None,
            octets[what],
            sum(sender[what].values()),
            {"sender": dict(sender[what]), "receiver": dict(receiver[what])},
        )
        for what in LINES
        if octets[what] or sender[what]
    ]
    return Ledger(sum(kinds.values()), lines)


def energy(sent: Ledger, message: Message, radio: Radio, node: Node, *, allow_assumed: bool = False) -> Energy:
    """The joules of one node's radio: power by state times time, or the card's linear model where it has no states.

    By the linear model a packet's term stands in `framing` and the power at rest, over all the time, in `idle`.

    Raises EvidenceError for numbers that nobody verified, without `allow_assumed`, and for those that the card lacks.
    """
    model: Literal["states", "linear"] = "states" if radio.card.has_states else "linear"
    terms = _by_states(sent, message, radio, node) if model == "states" else _by_packets(sent, radio, node)
    resting, rest_key = _drawn(radio, "sleep", message)
    floor_uJ = radio.card.power_W(resting) * sent.time_ns * 1e-3 if resting else 0.0
    used = {key: number for _, key, number, _ in terms}
    if resting:
        used[rest_key] = resting
    if radio.card.voltage and any(number.unit in CURRENT for number in used.values()):
        used["voltage"] = radio.card.voltage
    refuse_doubted(f"radio card {radio.name}", used, allow_assumed=allow_assumed)
    by_line: defaultdict[str, float] = defaultdict(float)
    by_number: defaultdict[str, float] = defaultdict(float)
    for what, key, _, spent_uJ in terms:
        by_line[what] += spent_uJ
        by_number[key] += spent_uJ
    total = interval(by_number, used)
    if resting:
        by_number[rest_key] -= floor_uJ
    marginal = interval(by_number, used)
    assumed = sorted(key for key, number in used.items() if number.doubted)
    return Energy(
        node,
        radio.name,
        model,
        {what: by_line[what] for what in LINES if what in by_line},
        *total,
        *marginal,
        "assumed" if assumed else "modelled",
        assumed,
    )


Parts: TypeAlias = tuple[int, int, int]
"""Of a frame's data the octets of payload, cipher and encoding."""
Term: TypeAlias = tuple[str, str, Number, float]
"""A line, the card's key, its number, and uJ."""


def _framed(link: Standard, sizes: tuple[int, int, int]) -> Iterator[tuple[Parts, Frame, bool]]:
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


def _octets(link: Standard, parts: Parts, frame: Frame) -> dict[str, int]:
    rest = {"transport": frame.transport_B, "security": frame.security_B, "framing": frame.mac_B + link.phy_B}
    return dict(zip(DATA, parts, strict=True)) | rest


def _by_standard(link: Standard, parts: Parts, frame: Frame) -> dict[str, int]:
    """Nanoseconds of a frame by line: what each group of octets adds to those before it."""
    spent: dict[str, int] = {}
    octets_B, before_ns = 0, link.airtime_ns(0)
    header_ns = before_ns
    groups = {"transport": frame.transport_B, "security": frame.security_B, "framing": frame.mac_B}
    for what, size in [*zip(DATA, parts, strict=True), *groups.items()]:
        octets_B += size
        after_ns = link.airtime_ns(octets_B)
        spent[what] = after_ns - before_ns
        before_ns = after_ns
    spent["framing"] += header_ns
    return {what: time_ns for what, time_ns in spent.items() if time_ns}


def _by_card(card: RadioCard, octets: dict[str, int]) -> dict[str, int]:
    """Nanoseconds of a frame by a card's own times: bytes are all but the framing, which is the packet's."""
    packet, byte = card.packet_time, card.byte_time
    if packet is None or byte is None:
        return {}
    spent = {what: round(size * byte.in_SI * 1e9) for what, size in octets.items() if size and what != "framing"}
    return spent | {"framing": round(packet.in_SI * 1e9)}


def _by_states(sent: Ledger, message: Message, radio: Radio, node: Node) -> list[Term]:
    terms: list[Term] = []
    for line in sent.lines:
        for state, time_ns in line.states_ns[node].items():
            if state == "off" or not time_ns:
                continue
            number, key = _drawn(radio, state, message)
            if number is None:
                raise EvidenceError(
                    f"radio card {radio.name} has no power for {state}; the {node} is there for {time_ns / 1e3:g} us",
                    hint=f"add {state} to a card of your own",
                )
            terms.append((line.what, key, number, radio.card.power_W(number) * time_ns * 1e-3))
    return terms


def _by_packets(sent: Ledger, radio: Radio, node: Node) -> list[Term]:
    card = radio.card
    keys = ("send_packet", "send_byte") if node == "sender" else ("receive_packet", "receive_byte")
    packet, byte = (getattr(card, key) for key in keys)
    terms: list[Term] = [("framing", keys[0], packet, packet.value * sent.frames)]
    counted = (line for line in sent.lines if line.what in {*DATA, "transport", "security"})
    terms += [(line.what, keys[1], byte, byte.value * line.octets_B) for line in counted]
    if card.idle:
        terms.append(("idle", "idle", card.idle, card.power_W(card.idle) * sent.time_ns * 1e-3))
    return terms


def _drawn(radio: Radio, state: State, message: Message) -> tuple[Number | None, str]:
    """A card's number for a state and its key; who can't sleep idles, and idles where it can't sleep."""
    card = radio.card
    if state == "tx":
        return card.sending(message.link.rate_Mb_s, message.tx_power_dBm), "tx"
    if state == "rx":
        return card.rx, "rx"
    first, second = (card.sleep, card.idle) if state == "sleep" else (card.idle, None)
    other: Literal["idle", "sleep"] = "idle" if state == "sleep" else "sleep"
    return (first, state) if first else (second, other)


def at_power(radio: Radio, tx_power_dBm: float | None, link: Standard, key: str) -> Radio:
    """A radio with what it draws at the power asked for, or its own where none is.

    * `key`: what the power is called in errors.

    Raises InputError where its card has no figures there, or where the region or the standard forbids the power.
    """
    try:
        card = radio.card if tx_power_dBm is None else radio.card.at_power(tx_power_dBm)
    except ValueError as error:
        what, hint = error.args
        raise InputError(f"{key}: radio card {radio.name} has {what}", hint=hint) from error
    sent = card.sending(link.rate_Mb_s)
    most, rule = link.most_power
    if sent and sent.power_dBm is not None and most is not None and sent.power_dBm > most:
        raise InputError(f"{key}: {sent.power_dBm:g} dBm is more than is allowed", hint=rule)
    return Radio(radio.name, card)


def _card(name: str, link: Standard, own: Path | None) -> Radio:
    radio = radio_cards.load(name, own)
    if radio.card.technology != link.technology:
        fit = [one for one in radio_cards.RADIOS.names(own) if _technology(one, own) == link.technology]
        raise InputError(
            f"radio card {name} is for {radio.card.technology}, the message goes by {link.technology}",
            hint=suggestion(name, fit, "cards for it are"),
        )
    return radio


def _technology(name: str, own: Path | None) -> str:
    try:
        return radio_cards.load(name, own).card.technology
    except InputError:
        return "unreadable"
