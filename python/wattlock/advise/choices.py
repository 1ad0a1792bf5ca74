"""Whole choices: cipher, tag, framing, encoding, messages in a packet, the link's protection, whole tags spread."""

import math
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import product
from typing import Annotated, Literal, NamedTuple, cast

from pydantic import Field

from wattlock.advise.cipher_costs import CipherCost
from wattlock.advise.question import Question, spoken
from wattlock.definitions import Table, Text, shipped_text, suggestion, validated
from wattlock.definitions.toml import tables_of
from wattlock.errors import InputError
from wattlock.link.designs import P8_B, REPORT_ROUNDS, Design, compared
from wattlock.link.payload import Encoding, PayloadParts, expanded
from wattlock.security import Cited, SecurityStatus, status_of
from wattlock.security.status import Globs, Octets, first, matches, rules
from wattlock.study.cases import CatalogueRow

MOST_AGGREGATED = 64

AMORTISED = ["tally"]
"""The framings whose tags have less bits when a message arrives than later: only by consent."""

OPEN = "open"
"""The link's protection of an advertisement: it has none, and none could be chosen."""

PROTECTIONS = {
    "802.11": ["ccmp", "none", "gcmp", "ccmp256", "gcmp256", "tkip", "wep"],
    "ble": ["ccm", "none"],
    "802.15.4": ["5", "none", "1", "2", "3", "4", "6", "7"],
    "lorawan": ["lorawan"],
}
"""The link's own encryption by technology, the usual one first."""

USUAL = {OPEN, *(names[0] for names in PROTECTIONS.values())}
"""The link's own protection that a label need not say."""


class Framing(Table):
    """What a sealed packet carries beside its ciphertext and its tag; the file's head says what each key means."""

    title: Text
    source: Text
    header_B: Octets
    nonce: Literal["full", "implicit", "record"]
    nonce_B: Octets = 0
    record: list[Text] = Field(default_factory=list)
    inner_B: Octets = 0
    block_B: Annotated[int, Field(ge=1)] = 1
    ciphers: Globs
    state: Text
    downlink: bool
    lost_most: Annotated[int, Field(ge=1)] | None = None
    amortised_bits: Annotated[int, Field(ge=32)] | None = None
    counter_log2: Annotated[int, Field(ge=1)] | None = None

    @property
    def opens_alone(self) -> bool:
        """Whether any listener with the key opens any message, whenever it joins and whatever was lost."""
        return self.lost_most is None and not self.downlink

    @property
    def needs(self) -> str:
        """What it needs of the other end, in a sentence."""
        lost = "" if self.lost_most is None else f"; at most {self.lost_most} lost in a row"
        return f"the other end keeps {self.state}{lost}{'; it needs a way back to the device' * self.downlink}"

    def carries(self, cipher: str) -> bool:
        """Whether it is defined for a cipher."""
        return matches(cipher, self.ciphers)

    def in_front_B(self, cipher: str, iv_B: int) -> int:
        """Octets in front of the ciphertext."""
        if self.nonce == "full":
            return self.header_B + iv_B
        sent = self.nonce == "implicit" or matches(cipher, self.record)
        return self.header_B + (self.nonce_B if sent else 0)

    def inside_B(self, plain_B: int) -> int:
        """Octets that are encrypted for `plain_B` of plaintext."""
        return -(-(plain_B + self.inner_B) // self.block_B) * self.block_B


class Choice(NamedTuple):
    """One way to protect the traffic.

    * `row`: the cipher's in the catalogue; `stands`: its security status; `cost`: on the device.
    * `tag_bits`: as sent. `aggregate`: messages in one packet. `resumed`: sessions begin by resumption.
    """

    row: CatalogueRow
    security: SecurityStatus
    cost: CipherCost
    tag_bits: int
    framing: str
    encoding: Encoding
    aggregate: int
    protection: str
    resumed: bool

    @property
    def cipher(self) -> str:
        """The cipher's id."""
        return self.cost.cipher

    @property
    def provider(self) -> str:
        """Whose code, or what hardware."""
        return self.cost.provider

    @property
    def frame(self) -> Framing:
        """Its framing's numbers."""
        return framings()[self.framing]

    @property
    def label(self) -> str:
        """In words, with what is not usual about it."""
        return f"{self.cipher}, {self.way}"

    @property
    def way(self) -> str:
        """How the cipher is used, in words, with what is not usual about it."""
        tag = f"tag {self.tag_bits}, " if self.tag_bits != self.row["tag_bits"] else ""
        return f"{tag}{self.beside_tag}"

    @property
    def beside_tag(self) -> str:
        """The same without the tag's length."""
        parts = [self.framing]
        if self.encoding != "raw":
            parts.append(self.encoding)
        if self.aggregate > 1:
            parts.append(f"{self.aggregate} together")
        if self.protection not in USUAL:
            parts.append(f"link: {short(self.protection)}")
        if self.resumed:
            parts.append("resumed")
        return ", ".join(parts)

    @property
    def memory_B(self) -> int | None:
        """Octets of round keys and state, with what its framing keeps; None where no source says it."""
        rule = first(self.cipher, rules().memory)
        kept_B = compared().design["tally"].state_B or 0 if self.frame.amortised_bits is not None else 0
        return rule.octets_B + kept_B if rule else None

    @property
    def _seal(self) -> "_Seal":
        row = self.row
        return _Seal(
            self.cipher,
            row["mode"],
            row["block_bits"],
            self.frame.in_front_B(self.cipher, row["iv_B"]),
            self.tag_bits,
            self.framing,
            self.encoding,
        )

    def sealed(self, plain_B: int) -> PayloadParts:
        """A packet of `plain_B` octets of plaintext as it is handed to the link."""
        return _sealed(self._seal, plain_B)

    @property
    def around_B(self) -> int:
        """Octets of a packet with one octet of plaintext, that one left out."""
        return self.sealed(1).wire_B - 1

    def room_B(self, packet_B: int) -> int:
        """Octets of plaintext that fit into a packet of `packet_B`; 0 where none does."""
        return _room_B(self._seal, packet_B)

    def packets(self, plain_B: int, packet_B: int) -> list[tuple[int, int]]:
        """Sizes of plaintext and how many packets of each a message takes."""
        room_B = self.room_B(packet_B)
        if not room_B:
            raise InputError(
                f"{self.label}: what is around a message takes more than a packet of {packet_B} octets",
                hint="take a framing with less, or larger packets",
            )
        full, rest_B = divmod(plain_B, room_B)
        return [(size_B, count) for size_B, count in ((room_B, full), (rest_B, 1 if rest_B else 0)) if count] or [
            (0, 1)
        ]

    def messages_a_key(self, octets_B: float) -> float:
        """Packets of so many octets that one key may protect, by the least that a source allows."""
        by_packets, by_octets = self.security.messages_log2, self.security.data_limit_log2_B
        limits = [2.0**by_packets] if by_packets is not None else []
        if self.frame.counter_log2 is not None:
            limits.append(2.0**self.frame.counter_log2)
        if by_octets is not None:
            limits.append(2.0**by_octets / max(octets_B, 1.0))
        return min(limits, default=math.inf)


class _Seal(NamedTuple):
    """All that the octets of a sealed packet go by: many choices share it."""

    cipher: str
    mode: str
    block_bits: int
    front_B: int
    tag_bits: int
    framing: str
    encoding: Encoding


@lru_cache(maxsize=1 << 16)
def _sealed(by: _Seal, plain_B: int) -> PayloadParts:
    row = {"id": by.cipher, "mode": by.mode, "block_bits": by.block_bits, "iv_B": by.front_B, "tag_bits": by.tag_bits}
    return expanded(framings()[by.framing].inside_B(plain_B), cast("CatalogueRow", row), by.encoding)


@lru_cache(maxsize=1 << 12)
def _room_B(by: _Seal, packet_B: int) -> int:
    low_B, high_B = 0, packet_B
    while low_B < high_B:
        middle_B = (low_B + high_B + 1) // 2
        low_B, high_B = (middle_B, high_B) if _sealed(by, middle_B).wire_B <= packet_B else (low_B, middle_B - 1)
    return low_B


def candidates(
    question: Question,
    costs: list[CipherCost],
    rows: Mapping[str, CatalogueRow],
    protections: list[str],
    tally: CipherCost | None = None,
) -> list[Choice]:
    """All choices, sound or not: `exclude` takes out what the floor forbids.

    * `rows`: the catalogue's, by id. `protections`: of the link, to be compared. `tally`: what its records cost, where
      they were counted; else they are priced by its cipher.

    Raises InputError where an option names what there is not.
    """
    _refuse_unknown(question, costs)
    options = question.choices
    chosen = [
        cost
        for cost in costs
        if cost.cipher in rows
        and (options.ciphers is None or matches(cost.cipher, options.ciphers))
        and (options.providers is None or matches(cost.provider, options.providers))
    ]
    resumed = [False, True] if question.session and question.session.resumption else [False]
    found = []
    for cost in chosen:
        row = rows[cost.cipher]
        security = status_of(row)
        framed = [
            (tag, name)
            for name in [*options.framings, *(AMORTISED if options.amortised else [])]
            if framings()[name].carries(cost.cipher)
            for tag in _tags(question, row, framings()[name])
        ]
        for (tag, frame), encoding, many, protection, again in product(
            dict.fromkeys(framed), options.encodings, aggregates(question), protections, resumed
        ):
            by = tally if tally and frame in AMORTISED else cost
            found.append(Choice(row, security, by, tag, frame, encoding, many, protection, again))
    return found


def aggregates(question: Question) -> list[int]:
    """How many messages a packet may hold: as asked, else 1 and powers of two that the latency leaves time for."""
    if question.choices.aggregate:
        return question.choices.aggregate
    slowest = max((flow.every for flow in question.flow if flow.direction == "send"), default=math.inf)
    return [1, *_powers(question.floor.latency, slowest)]


def _powers(latency_s: float | None, every_s: float) -> Iterator[int]:
    many = 2
    while latency_s is not None and many <= MOST_AGGREGATED and (many - 1) * every_s < latency_s:
        yield many
        many *= 2


def _tags(question: Question, row: CatalogueRow, frame: Framing) -> list[int]:
    if frame.amortised_bits is not None:
        return [frame.amortised_bits]
    rule = first(row["id"], rules().tag)
    whole = row["tag_bits"]
    if not (rule and question.choices.truncate and whole):
        return [whole]
    least = min((bits for bits in rule.bits if bits >= question.floor.tag), default=whole)
    return [whole] if least >= whole else [whole, least]


def _refuse_unknown(question: Question, costs: list[CipherCost]) -> None:
    for name in question.choices.framings:
        if name in AMORTISED and not question.choices.amortised:
            hint = "--allow-amortised (choices.amortised) says that less may do until they are"
            raise InputError(f"choices.framings: {name}'s messages have all their bits only later", hint=hint)
    known = {
        "choices.framings": (question.choices.framings, sorted(framings())),
        "choices.ciphers": (question.choices.ciphers or [], sorted({cost.cipher for cost in costs})),
        "choices.providers": (question.choices.providers or [], sorted({cost.provider for cost in costs})),
    }
    for key, (named, there) in known.items():
        for name in named:
            if not any(matches(unknown, [name]) for unknown in there):
                raise InputError(f'{key}: no "{name}" with a cost', hint=suggestion(name, there, "there are"))


@cache
def framings() -> dict[str, Framing]:
    """The framings by name."""
    name = "framings/session.toml"
    tables = tables_of(shipped_text(name), name)
    return {framing: validated(Framing, table, f"{name}: {framing}") for framing, table in tables.items()}


SPOKEN = {
    "802.11": {name: name.upper() for name in PROTECTIONS["802.11"]},
    "ble": {"ccm": "AES-CCM of Bluetooth LE, with a tag of 32 bits"},
    "802.15.4": {
        str(level): f"security level {level} of IEEE 802.15.4: {what}"
        for level, what in enumerate(
            (
                "none",
                "a tag of 32 bits",
                "a tag of 64 bits",
                "a tag of 128 bits",
                "encryption alone",
                "encryption with a tag of 32 bits",
                "encryption with a tag of 64 bits",
                "encryption with a tag of 128 bits",
            )
        )
    },
}
"""What each is, in a sentence."""


def short(protection: str) -> str:
    """A protection in a word or two."""
    return f"level {protection}" if protection.isdigit() else protection


# Where nobody counted a report, its work is that of so many octets more in a long message of Ascon.
WORK_B, SHORT_B, LONG_B = round(REPORT_ROUNDS / P8_B), 64, 1024
REQUESTED = "the question"
"""Who says what a requirement forbids."""


def design() -> Design:
    """Its own numbers."""
    return compared().design["tally"]


def messages_a_report() -> int:
    """Messages from one report to the next."""
    return compared().tally.report_every


def report_B() -> int:
    """Octets of a report, which the device receives."""
    return compared().tally.report_B


def report(cost: CipherCost, what: Literal["open_J", "open_cycles"]) -> float:
    """Joules or cycles of opening a report and deriving keys by it: as counted, else as so many rounds of Ascon."""
    more = cost.of(what, LONG_B) - cost.of(what, SHORT_B)
    if cost.report_cycles is None:
        return WORK_B * more / (LONG_B - SHORT_B)
    return cost.report_cycles * more / (cost.of("open_cycles", LONG_B) - cost.of("open_cycles", SHORT_B))


def wait_s(question: Question, choice: Choice) -> float:
    """The longest that a message waits for the tag's bits that are required, where nothing is lost.

    The first message after a report waits for all until the next one, then for as many as lift it.
    """
    lifts = -(-max(question.floor.tag, 1) // design().bits) - 1
    per_s = sum(rate for flow in question.flow if flow.direction == "send" for _, rate in flow.rates)
    return (messages_a_report() - 1 + lifts) * choice.aggregate / per_s


def reasons(question: Question, choice: Choice) -> Iterator[Cited]:
    """What the requirements say against it."""
    floor = question.floor
    if any(flow.direction == "receive" for flow in question.flow):
        yield Cited("framing", "tally seals what the device sends, and it receives messages", design().source, "", True)
        return
    if design().bits < floor.release:
        reason = f"{design().bits} bits when a message arrives are less than {floor.release}"
        yield Cited("release", reason, REQUESTED, "", True)
    if floor.wait is not None and wait_s(question, choice) > floor.wait:
        waits, allowed = spoken(wait_s(question, choice)), spoken(floor.wait)
        reason = f"{waits} until a message has {floor.tag} bits where nothing is lost, {allowed} allowed"
        yield Cited("wait", reason, REQUESTED, "", True)


def described(question: Question, choice: Choice) -> str:
    """What its tag is worth, and when."""
    waits = spoken(wait_s(question, choice))
    return (
        f"{choice.tag_bits} bits are sent; a message has {design().bits} when it arrives and is provisional: it may be "
        f"shown, and must cause nothing. It has {max(question.floor.tag, design().bits)} at most {waits} later, where "
        "nothing is lost; nobody outside has reviewed tally, and it is no product's security yet"
    )
