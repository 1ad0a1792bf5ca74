"""The sourced statements of `security.toml`: statuses, strengths, limits, authorities; read and validated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, model_validator

from wattlock.definitions import Table, Text, shipped_text
from wattlock.definitions.shipped import parsed

Status = Literal["approved", "acceptable", "legacy", "broken", "none"]
Authority = Literal["nist", "ietf", "iso", "bsi", "cryptrec", "ecrypt"]
Fact = Literal["key_bits", "effective_bits", "block_bits", "rounds"]
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


class Floor(Statement):
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
    floor: list[Floor]
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
            yield from ((f"{path}.{key}", one) for one in several if isinstance(one, Statement))
