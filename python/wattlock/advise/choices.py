"""Whole choices: cipher, provider, tag, framing, encoding, messages in a packet, the link's protection, resumption."""

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product
from typing import NamedTuple, cast

from wattlock.advise.costs import Cost
from wattlock.advise.framings import Framing, framings
from wattlock.advise.protections import OPEN, PROTECTIONS, short
from wattlock.advise.question import Question
from wattlock.definitions import suggestion
from wattlock.errors import InputError
from wattlock.link.designs import compared
from wattlock.link.payload import Encoding, PayloadParts, expanded
from wattlock.security import SecurityStatus, status_of
from wattlock.security.rules import first, matches, rules
from wattlock.study.cases import CatalogueRow

MOST_AGGREGATED = 64
AMORTISED = ["tally"]
"""The framings whose tags have less bits when a message arrives than later: only by consent."""
USUAL = {OPEN, *(every[0] for every in PROTECTIONS.values())}
"""The link's own protection that a label need not say."""


class Choice(NamedTuple):
    """One way to protect the traffic.

    * `row`: the cipher's in the catalogue; `stands`: its security status; `cost`: on the device.
    * `tag_bits`: as sent. `aggregate`: messages in one packet. `resumed`: sessions begin by resumption.
    """

    row: CatalogueRow
    security: SecurityStatus
    cost: Cost
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
    costs: list[Cost],
    rows: Mapping[str, CatalogueRow],
    protections: list[str],
    tally: Cost | None = None,
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


def _refuse_unknown(question: Question, costs: list[Cost]) -> None:
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
            if not any(matches(one, [name]) for one in there):
                raise InputError(f'{key}: no "{name}" with a cost', hint=suggestion(name, there, "there are"))
