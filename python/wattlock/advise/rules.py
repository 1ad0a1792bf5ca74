"""What advice rests on beside numbers: `data/advise.toml` and `data/framings/session.toml`, with their sources."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from wattlock.advise.standing import Authority, Cited, load
from wattlock.definitions import Table, Text, shipped, shipped_text, validated
from wattlock.definitions.toml import tables_of

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


class Memory(Sourced):
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


class Rules(Table):
    """The whole of `data/advise.toml`."""

    approved: list[Approved]
    lifetime: list[Lifetime]
    tag: list[Tag]
    memory: list[Memory]
    forbidden: list[Forbidden]
    sleep: list[Sleep]


class Framing(Table):
    """What a sealed packet carries beside its ciphertext and its tag; the file's head says what each key means."""

    title: Text
    source: Text
    header_B: Octets
    nonce: Literal["explicit", "counter", "record"]
    nonce_B: Octets = 0
    record: list[Text] = Field(default_factory=list)
    inner_B: Octets = 0
    block_B: Annotated[int, Field(ge=1)] = 1
    ciphers: Globs
    state: Text
    downlink: bool
    lost_most: Annotated[int, Field(ge=1)] | None = None
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
        if self.nonce == "explicit":
            return self.header_B + iv_B
        sent = self.nonce == "counter" or matches(cipher, self.record)
        return self.header_B + (self.nonce_B if sent else 0)

    def inside_B(self, plain_B: int) -> int:
        """Octets that are encrypted for `plain_B` of plaintext."""
        return -(-(plain_B + self.inner_B) // self.block_B) * self.block_B


G = TypeVar("G", Approved, Tag, Memory)


def first(cipher: str, rules: Sequence[G]) -> G | None:
    """The first rule that is for a cipher."""
    return next((rule for rule in rules if matches(cipher, rule.ciphers)), None)


def matches(name: str, globs: Sequence[str]) -> bool:
    """Whether a name is one of the globs."""
    return any(fnmatchcase(name, glob) for glob in globs)


@cache
def rules() -> Rules:
    """The rules that come with wattlock."""
    return shipped("advise.toml", Rules)


@cache
def framings() -> dict[str, Framing]:
    """The framings by name."""
    name = "framings/session.toml"
    tables = tables_of(shipped_text(name), name)
    return {framing: validated(Framing, table, f"{name}: {framing}") for framing, table in tables.items()}
