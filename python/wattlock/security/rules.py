"""The rules of advice that follow from how ciphers stand: `data/advise.toml`, with their sources."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Annotated, TypeVar

from pydantic import Field

from wattlock.definitions import Table, Text, shipped
from wattlock.security.book import Authority, load
from wattlock.security.status import Cited

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
