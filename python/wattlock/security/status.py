"""How a cipher stands: strength, status, limits, composed for one id from the sourced statements of `security.toml`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from wattlock.errors import InputError
from wattlock.security.book import (
    WORST_LAST,
    Book,
    CipherEntry,
    Floor,
    Limit,
    Mode,
    Rule,
    Statement,
    Status,
    StatusRule,
    load,
)

R = TypeVar("R", bound=Rule)


class Cited(NamedTuple):
    """A sentence of a standing: what it is about, what is said, and who says it."""

    about: str
    says: str
    source: str
    url: str
    read: bool


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
    ruled: list[StatusRule | Floor] = [_first(name, entry.status, facts), *([mode.status] if mode else [])]
    ruled += [floor for floor in book.floor if bits < floor.below_bits]
    worst = max(ruled, key=lambda rule: WORST_LAST.index(rule.status))
    limits = [one for one in [*entry.limit, *(mode.limit if mode else [])] if one.holds(facts)]
    limits += _block_limits(facts, mode, book)
    of_key = [one for one in limits if one.per == "key"]
    counted, random = ([one for one in of_key if one.nonces == how] for how in ("any", "random"))
    block_bits = facts.get("block_bits") or 0
    nonce = mode.nonce if mode else entry.nonce
    # What is said of a block cipher is not said of its every mode.
    of_cipher = entry.authority
    if mode:
        of_cipher = [one.model_copy(update={"says": f"{entry.name} itself: {one.says}"}) for one in of_cipher]
    authorities = [*of_cipher, *(mode.authority if mode else [])]
    statements: list[tuple[str, Statement]] = [("status", worst)]
    statements += [("status", rule) for rule in ruled if rule is not worst]
    statements += [("strength", strength), ("quantum", quantum), *([("nonce", nonce)] if nonce else [])]
    statements += [("limit", limit) for limit in limits]
    statements += [("advantage", book.advantage)] if any(_figures(one) for one in limits) else []
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
        messages_log2=_least(one.messages_log2 for one in counted),
        random_messages_log2=_least(one.messages_log2 for one in of_key) if random else None,
        nonce_limit_log2_B=_least(_log2_B((one for one in limits if one.per == "nonce"), block_bits)),
        forgeries_log2=_least(one.forgeries_log2 for one in counted),
        advantage_log2=book.advantage.log2,
        statements=[_cited(about, statement, book) for about, statement in statements],
    )


def _found(name: str, book: Book) -> tuple[CipherEntry, Mode | None]:
    whole = _entry(name, book)
    if whole:
        return whole, None
    for mode in sorted(book.mode, key=lambda one: -len(one.suffix)):
        entry = _entry(name.removesuffix(f"-{mode.suffix}"), book) if name.endswith(f"-{mode.suffix}") else None
        if entry:
            return entry, mode
    raise InputError(f'security.toml says nothing of "{name}"', hint="add a [[cipher]] or a [[mode]] with its sources")


def _entry(name: str, book: Book) -> CipherEntry | None:
    return next((one for one in book.cipher if any(re.fullmatch(pattern, name) for pattern in one.ids)), None)


def _first(name: str, rules: Iterable[R], facts: Mapping[str, Any]) -> R:
    for rule in rules:
        if rule.holds(facts):
            return rule
    raise InputError(f'security.toml: no rule holds for "{name}"', hint="end each list with a rule without `when`")


def _block_limits(facts: Mapping[str, Any], mode: Mode | None, book: Book) -> list[Limit]:
    if mode is None:
        return []
    mine = [one for one in book.block_limit if mode.suffix in one.modes and one.holds(facts)]
    return [one.of(facts.get("block_bits") or 0, book.advantage) for one in mine]


def _figures(limit: Limit) -> list[float]:
    all_of_it = (limit.blocks_log2, limit.bytes_log2, limit.messages_log2, limit.forgeries_log2)
    return [one for one in all_of_it if one is not None]


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
