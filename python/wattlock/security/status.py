"""How a cipher stands, composed for one id from the sourced statements of `security.toml`, and what advice follows."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeVar, get_args

from pydantic import Field, model_validator

from wattlock.definitions import Table, Text, shipped, shipped_text
from wattlock.definitions.shelf import parsed
from wattlock.errors import InputError

Fact = Literal["key_bits", "effective_bits", "block_bits", "rounds"]


class Statement(Table):
    """One sentence and the place that says it."""

    says: Text
    source: Text
    where: str = ""


class Rule(Statement):
    """A statement for some parameters: `when` gives the least and the greatest value of a fact of the catalogue."""

    when: dict[Fact, Annotated[list[int], Field(min_length=2, max_length=2)]] = Field(default_factory=dict)

    def holds(self, facts: Mapping[str, Any]) -> bool:
        """Whether every fact lies in its range; one that the catalogue doesn't know lies in none."""
        return all(
            facts.get(name) is not None and least <= facts[name] <= most for name, (least, most) in self.when.items()
        )


R = TypeVar("R", bound=Rule)


class Cited(NamedTuple):
    """A sentence of a standing: what it is about, what is said, and who says it."""

    about: str
    says: str
    source: str
    url: str
    read: bool


Status = Literal["approved", "acceptable", "legacy", "broken", "none"]


@dataclass(frozen=True)
class SecurityStatus:
    """How one cipher id stands.

    * `strength_bits`: after the best published attack; `attack_bits`: of an attack that only shortens the search of
      the key, None where there is none; `quantum_strength_bits`, `quantum_category`: against a quantum computer.
    * `public_key`: it establishes keys or signs; `authenticated` and `tag_bits` are None then, as it seals no messages.
    * `tag_bits`: 0 where nothing is authenticated; `data_limit_log2_B`, `messages_log2`, `forgeries_log2`: the least
      that a source allows one key, None where none gives a figure; nonces are counted. `random_messages_log2`: the same
      with random nonces, None where no source tells them apart; `nonce_limit_log2_B`: of one nonce.
    * `advantage_log2`: what an attacker has by then, over guessing.
    """

    id: str
    cipher: str
    mode: str | None
    status: Status
    strength_bits: float
    attack_bits: float | None
    quantum_strength_bits: float
    quantum_category: int | None
    public_key: bool
    authenticated: bool | None
    block_bits: int | None
    nonce_bits: int | None
    tag_bits: int | None
    data_limit_log2_B: float | None
    messages_log2: float | None
    forgeries_log2: float | None
    statements: list[Cited]
    random_messages_log2: float | None = None
    nonce_limit_log2_B: float | None = None
    advantage_log2: float | None = None


def status_of(facts: Mapping[str, Any], book: Book | None = None) -> SecurityStatus:
    """How the cipher of a catalogue row stands.

    * `facts`: `id`, and as far as it has them `key_bits`, `effective_bits`, `block_bits`, `rounds`, `iv_B`, `tag_bits`.

    Raises InputError where the file says nothing of that id.
    """
    book = book or load()
    name = str(facts["id"])
    entry, mode = _found(name, book)
    strength = _first(name, entry.strength, facts)
    quantum = _first(name, [*entry.quantum, book.quantum], facts)
    # The length of a public key bounds no strength.
    effective = 0 if entry.public_key else facts.get("effective_bits") or facts.get("key_bits") or 0
    bits = float(effective) if strength.bits == "key" else strength.bits
    bits = min(bits, effective) if effective else bits
    quantum_bits = effective / 2 if quantum.bits == "half" else quantum.bits
    ruled: list[StatusRule | StrengthFloor] = [_first(name, entry.status, facts), *([mode.status] if mode else [])]
    ruled += [floor for floor in book.floor if bits < floor.below_bits]
    worst = max(ruled, key=lambda rule: WORST_LAST.index(rule.status))
    limits = [limit for limit in [*entry.limit, *(mode.limit if mode else [])] if limit.holds(facts)]
    limits += _block_limits(facts, mode, book)
    of_key = [limit for limit in limits if limit.per == "key"]
    counted, random = ([limit for limit in of_key if limit.nonces == how] for how in ("any", "random"))
    block_bits = facts.get("block_bits") or 0
    nonce = mode.nonce if mode else entry.nonce
    # What is said of a block cipher is not said of its every mode.
    of_cipher = entry.authority
    if mode:
        of_cipher = [rule.model_copy(update={"says": f"{entry.name} itself: {rule.says}"}) for rule in of_cipher]
    authorities = [*of_cipher, *(mode.authority if mode else [])]
    statements: list[tuple[str, Statement]] = [("status", worst)]
    statements += [("status", rule) for rule in ruled if rule is not worst]
    statements += [("strength", strength), ("quantum", quantum), *([("nonce", nonce)] if nonce else [])]
    statements += [("limit", limit) for limit in limits]
    statements += [("advantage", book.advantage)] if any(_figures(limit) for limit in limits) else []
    statements += [(rule.authority, rule) for rule in authorities if rule.holds(facts)]
    return SecurityStatus(
        id=name,
        cipher=entry.name,
        mode=mode.name if mode else None,
        status=worst.status,
        strength_bits=bits,
        attack_bits=strength.attack_bits,
        quantum_strength_bits=min(quantum_bits, bits),
        quantum_category=quantum.category,
        public_key=entry.public_key,
        authenticated=None if entry.public_key else entry.authenticated or bool(mode and mode.authenticated),
        block_bits=facts.get("block_bits") or None,
        nonce_bits=8 * facts["iv_B"] if facts.get("iv_B") else None,
        tag_bits=None if entry.public_key else facts.get("tag_bits") or 0,
        data_limit_log2_B=_least(_log2_B(counted, block_bits)),
        messages_log2=_least(limit.messages_log2 for limit in counted),
        random_messages_log2=_least(limit.messages_log2 for limit in of_key) if random else None,
        nonce_limit_log2_B=_least(_log2_B((limit for limit in limits if limit.per == "nonce"), block_bits)),
        forgeries_log2=_least(limit.forgeries_log2 for limit in counted),
        advantage_log2=book.advantage.log2,
        statements=[_cited(about, statement, book) for about, statement in statements],
    )


def _found(name: str, book: Book) -> tuple[CipherEntry, Mode | None]:
    whole = _entry(name, book)
    if whole:
        return whole, None
    for mode in sorted(book.mode, key=lambda mode: -len(mode.suffix)):
        entry = _entry(name.removesuffix(f"-{mode.suffix}"), book) if name.endswith(f"-{mode.suffix}") else None
        if entry:
            return entry, mode
    raise InputError(f'security.toml says nothing of "{name}"', hint="add a [[cipher]] or a [[mode]] with its sources")


def _entry(name: str, book: Book) -> CipherEntry | None:
    return next((entry for entry in book.cipher if any(re.fullmatch(pattern, name) for pattern in entry.ids)), None)


def _first(name: str, rules: Iterable[R], facts: Mapping[str, Any]) -> R:
    for rule in rules:
        if rule.holds(facts):
            return rule
    raise InputError(f'security.toml: no rule holds for "{name}"', hint="end each list with a rule without `when`")


def _block_limits(facts: Mapping[str, Any], mode: Mode | None, book: Book) -> list[Limit]:
    if mode is None:
        return []
    mine = [limit for limit in book.block_limit if mode.suffix in limit.modes and limit.holds(facts)]
    return [limit.of(facts.get("block_bits") or 0, book.advantage) for limit in mine]


def _figures(limit: Limit) -> list[float]:
    all_of_it = (limit.blocks_log2, limit.bytes_log2, limit.messages_log2, limit.forgeries_log2)
    return [figure for figure in all_of_it if figure is not None]


def _log2_B(limits: Iterable[Limit], block_bits: int) -> Iterator[float | None]:
    for limit in limits:
        yield limit.bytes_log2
        if limit.blocks_log2 is not None and block_bits:
            yield limit.blocks_log2 + math.log2(block_bits / 8)


def _least(values: Iterable[float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _cited(about: str, statement: Statement, book: Book) -> Cited:
    source = book.sources[statement.source]
    place = f", {statement.where}" if statement.where else ""
    return Cited(about, statement.says, f"{source.title}{place}", source.url, source.read)


Authority = Literal["nist", "ietf", "iso", "bsi", "cryptrec", "ecrypt"]

Log2 = Annotated[float, Field(ge=0)]

Bits = Annotated[float, Field(ge=0)]

WORST_LAST: tuple[Status, ...] = get_args(Status)


class Source(Table):
    """A document.

    * `read`: its text or abstract was read for this file; otherwise the statements rest on what is commonly cited.
    """

    title: Text
    url: str
    read: bool


class Strength(Rule):
    """Bits after the best published attack."""

    bits: Bits | Literal["key"]
    attack_bits: Bits | None = None


class Quantum(Rule):
    """Bits against a quantum computer."""

    bits: Bits | Literal["half"]
    category: Annotated[int, Field(ge=1, le=5)] | None = None


class StatusRule(Rule):
    """A status."""

    status: Status


class StrengthFloor(Statement):
    """The best status that a strength below `below_bits` allows."""

    below_bits: Bits
    status: Status


class AuthorityRule(Rule):
    """What one authority says."""

    authority: Authority


class Advantage(Statement):
    """What an attacker may gain over guessing, as a logarithm to base 2: one for all limits by a bound."""

    log2: Annotated[float, Field(lt=0)]


class Limit(Rule):
    """How much one key may protect, as logarithms to base 2; one without a figure says it in words.

    * `per`: of what: a key, or one nonce. `nonces`: whether it is of random ones alone.
    """

    per: Literal["key", "nonce"] = "key"
    nonces: Literal["any", "random"] = "any"
    blocks_log2: Log2 | None = None
    bytes_log2: Log2 | None = None
    messages_log2: Log2 | None = None
    forgeries_log2: Log2 | None = None


class BlockLimit(Limit):
    """A limit by the block, of modes without a tag; `birthday`: where the square over 2^(n + 1) is the advantage."""

    modes: list[Text]
    birthday: bool = False

    def of(self, block_bits: int, advantage: Advantage) -> Limit:
        """The limit of blocks of that size."""
        if not self.birthday:
            return self
        blocks = (block_bits + 1 + advantage.log2) / 2
        return self.model_copy(update={"blocks_log2": blocks, "says": f"2^{blocks:g} blocks: {self.says}"})


class Mode(Table):
    """A mode of operation, known by what ends an id."""

    suffix: Text
    name: Text
    authenticated: bool = False
    status: StatusRule
    nonce: Statement
    limit: list[Limit] = Field(default_factory=list)
    authority: list[AuthorityRule] = Field(default_factory=list)


class CipherEntry(Table):
    """A cipher: `ids` are regular expressions for an id without its mode; `public_key` ones establish keys or sign."""

    name: Text
    ids: list[str] = Field(min_length=1)
    authenticated: bool = False
    public_key: bool = False
    strength: list[Strength] = Field(min_length=1)
    status: list[StatusRule] = Field(min_length=1)
    quantum: list[Quantum] = Field(default_factory=list)
    nonce: Statement | None = None
    limit: list[Limit] = Field(default_factory=list)
    authority: list[AuthorityRule] = Field(default_factory=list)


class Book(Table):
    """The whole file."""

    sources: dict[str, Source]
    floor: list[StrengthFloor]
    quantum: Quantum
    advantage: Advantage
    mode: list[Mode]
    block_limit: list[BlockLimit]
    cipher: list[CipherEntry]

    @model_validator(mode="after")
    def _every_source_is_known(self) -> Self:
        for where, statement in statements(self):
            if statement.source not in self.sources:
                raise ValueError(f"{where}.source: no source {statement.source!r}")
        return self


@cache
def load() -> Book:
    """The file that comes with wattlock.

    Raises InputError naming the path of the first key that is wrong.
    """
    return parse(shipped_text("security.toml"))


def parse(text: str) -> Book:
    """A file like `security.toml`, validated.

    Raises InputError naming the path of the first key that is wrong.
    """
    return parsed("security.toml", text, Book)


def statements(book: Book) -> Iterator[tuple[str, Statement]]:
    """Every statement of the file with the path of its key."""
    yield "quantum", book.quantum
    yield "advantage", book.advantage
    for number, floor in enumerate(book.floor):
        yield f"floor[{number}]", floor
    for number, limit in enumerate(book.block_limit):
        yield f"block_limit[{number}]", limit
    tables: list[tuple[str, Mode | CipherEntry]] = [(f"mode[{n}]", mode) for n, mode in enumerate(book.mode)]
    tables += [(f"cipher[{n}]", cipher) for n, cipher in enumerate(book.cipher)]
    for path, table in tables:
        for key in type(table).model_fields:
            value = getattr(table, key)
            several = value if isinstance(value, list) else [value]
            yield from ((f"{path}.{key}", statement) for statement in several if isinstance(statement, Statement))


Globs = Annotated[list[Text], Field(min_length=1)]
Octets = Annotated[int, Field(ge=0)]


class Sourced(Table):
    """A statement of the file: `source` is a key of `security.toml`."""

    source: Text
    where: str = ""

    def cited(self, about: str, says: str) -> Cited:
        """With its source in words."""
        source = load().sources[self.source]
        place = f", {self.where}" if self.where else ""
        return Cited(about, says, f"{source.title}{place}", source.url, source.read)


class Approved(Sourced):
    """Ciphers that an authority approves."""

    authority: Authority
    ciphers: Globs
    says: Text


class Lifetime(Sourced):
    """Bits that data needs which must stay secret beyond a year."""

    beyond_year: int
    bits: float
    says: Text


class Tag(Sourced):
    """Lengths of a tag that a standard allows, the whole one first."""

    ciphers: Globs
    bits: Annotated[list[int], Field(min_length=1)]
    says: Text


class StateMemory(Sourced):
    """Octets that a cipher keeps between messages."""

    ciphers: Globs
    octets_B: Octets


class Forbidden(Sourced):
    """Ciphers that a protocol may not carry."""

    framing: Text
    ciphers: Globs
    says: Text


class Sleep(Table):
    """What a device of an instruction set is taken to draw asleep; nobody verified it."""

    isa: Globs
    value_uW: Annotated[float, Field(gt=0)]
    relative_uncertainty: Annotated[float, Field(ge=0)]
    because: Text


class AdviceRules(Table):
    """The whole of `data/advise.toml`."""

    approved: list[Approved]
    lifetime: list[Lifetime]
    tag: list[Tag]
    memory: list[StateMemory]
    forbidden: list[Forbidden]
    sleep: list[Sleep]


G = TypeVar("G", Approved, Tag, StateMemory)


def first(cipher: str, rules: Sequence[G]) -> G | None:
    """The first rule that is for a cipher."""
    return next((rule for rule in rules if matches(cipher, rule.ciphers)), None)


def matches(name: str, globs: Sequence[str]) -> bool:
    """Whether a name is one of the globs."""
    return any(fnmatchcase(name, glob) for glob in globs)


@cache
def rules() -> AdviceRules:
    """The rules that come with wattlock."""
    return shipped("advise.toml", AdviceRules)
