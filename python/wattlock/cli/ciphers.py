"""`wattlock ciphers`: the ciphers that can be measured, with their security status."""

from __future__ import annotations

import shutil
import sys
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wattlock.cli.echo import echo
from wattlock.cli.options import chosen
from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table
from wattlock.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wattlock.security import SecurityStatus
    from wattlock.study import CatalogueRow

FACTS = ["key_bits", "effective_bits", "block_bits", "rounds", "iv_B", "tag_bits"]
"""What the catalogue says of an id, whoever provides it."""

WIRE = ["operations", "public_key_B", "message_B"]
"""What it says beside of one that establishes keys or signs: what can be done, and the bytes that each sends."""

SENT = {"agree": "the other public key", "encrypt": "ciphertext", "encapsulate": "ciphertext", "sign": "signature"}
"""What `message_B` counts, by the operation that makes it."""

TABLES = "-tables"
"""How providers end whose code reads tables although there is better: for what papers measured, not for use."""

PIPED_WIDTH = 100
TOPIC_WIDTH = 12


def ciphers(
    patterns: Annotated[
        list[str] | None, typer.Argument(metavar="ID...", help="Only these, as 'aes*-gcm'; all without.")
    ] = None,
    *,
    status: Annotated[
        str | None,
        typer.Option("--status", metavar="WORD", help="Only those of a status: approved, acceptable, legacy, broken."),
    ] = None,
    provider: Annotated[
        str | None, typer.Option("--provider", metavar="NAME", help="Only those that this library has here.")
    ] = None,
    cipher: Annotated[
        str | None, typer.Option("--show", metavar="ID", help="Print all that is known of one cipher.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """List the ciphers that can be measured, or print all that is known of one: who has it, its status, sources.

    Examples: wattlock ciphers 'aes*' --status approved --provider openssl;
    wattlock ciphers --show rc5-32-12-128-cbc
    """
    import polars as pl

    from wattlock.security import status_of
    from wattlock.targets import probe

    rows, nearest = probe.catalogue(chosen(), [cipher] if cipher else [])
    if not rows or cipher == "":
        raise probe.unknown(cipher or "", nearest.get(cipher or ""))
    if cipher is None:
        whole = form is not Format.table
        kept = _kept(rows, patterns or [], status, provider)
        listed = [row for several in kept for row in (_whole(several) if whole else [_line(several)])]
        print_table(pl.DataFrame(listed, infer_schema_length=None), form)
        return
    (several,) = rows.values()
    security = status_of(several[0])
    if form is Format.json:
        print_table(pl.DataFrame([_object(several, security)], infer_schema_length=None), form)
    elif form is Format.csv:
        print_table(pl.DataFrame(list(_facts(several, security)), infer_schema_length=None), form)
    else:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPED_WIDTH
        for line in _page(several, security, max(width, 60)):
            echo(line)


def _kept(
    rows: Mapping[str, list[CatalogueRow]], patterns: Sequence[str], status: str | None, provider: str | None
) -> list[list[CatalogueRow]]:
    """The rows of each cipher that is asked for.

    Raises InputError where none is.
    """
    from wattlock.security import status_of

    named = [
        several for name, several in rows.items() if not patterns or any(fnmatch(name, pattern) for pattern in patterns)
    ]
    statuses = {name: status_of(several[0]).status for name, several in rows.items()} if status else {}
    kept = [several for several in named if status in {None, statuses.get(several[0]["id"])}]
    if provider:
        has = ([row for row in several if row["provider"] == provider and row["available"]] for several in kept)
        kept = [several for several in has if several]
    if not kept:
        asked = [
            *patterns,
            *([f"--status {status}"] if status else []),
            *([f"--provider {provider}"] if provider else []),
        ]
        providers = sorted({row["provider"] for several in rows.values() for row in several})
        words = f"; statuses: {', '.join(sorted({*statuses.values()}))}" if status else ""
        hint = f"`wattlock ciphers` lists all; providers: {', '.join(providers)}{words}"
        raise InputError(f"no cipher is {' '.join(asked)}", hint=hint)
    return kept


def _line(rows: Sequence[CatalogueRow]) -> dict[str, Any]:
    """One line for eyes: the id, its security status, who has it."""
    from wattlock.security import status_of

    first, security = rows[0], status_of(rows[0])
    known = {name: value for name, value in _known(first).items() if name != "effective_bits"}
    has = ", ".join(row["provider"] for row in rows if row["available"])
    return {
        "id": first["id"],
        **known,
        "status": security.status,
        "strength_bits": security.strength_bits,
        "providers": has,
    }


def _whole(rows: Sequence[CatalogueRow]) -> Iterator[dict[str, Any]]:
    from wattlock.analysis.effects import kind_of
    from wattlock.security import status_of

    security = status_of(rows[0])
    for row in rows:
        yield {
            **row,
            **_known(row),
            "kind": kind_of(row["path"]),
            "status": security.status,
            "strength_bits": security.strength_bits,
        }


def _object(rows: Sequence[CatalogueRow], security: SecurityStatus) -> dict[str, Any]:
    from dataclasses import asdict

    first = rows[0]
    known = {**{name: first.get(name) for name in ("card", "family", *WIRE, "proof", "source")}, **_known(first)}
    statements = [statement._asdict() for statement in security.statements]
    return {**known, **asdict(security), "statements": statements, "providers": [_provider(row) for row in rows]}


def _known(row: CatalogueRow) -> dict[str, Any]:
    """The facts of an id; the length of a public key is no key size to set beside the others."""
    known = {name: row.get(name) for name in FACTS}
    return {**known, "key_bits": None, "effective_bits": None, "tag_bits": None} if row.get("public_key_B") else known


def _provider(row: CatalogueRow) -> dict[str, Any]:
    from wattlock.analysis.effects import kind_of

    names = ("provider", "available", "reason", "version", "path", "of", "file", "file_sha256", "timing")
    return {**{name: row.get(name) for name in names}, "kind": kind_of(row["path"])}


def _facts(rows: Sequence[CatalogueRow], security: SecurityStatus) -> Iterator[dict[str, Any]]:
    """One row a fact: what it is about, what is said, and who says it."""
    for about, fact in _figures(rows, security):
        yield {"about": about, "says": fact, "source": "the catalogue", "url": ""}
    for row in rows:
        yield {"about": "provider", "says": _implementation(row), "source": "this machine", "url": ""}
    for statement in security.statements:
        yield {"about": statement.about, "says": statement.says, "source": statement.source, "url": statement.url}


def _figures(rows: Sequence[CatalogueRow], security: SecurityStatus) -> Iterator[tuple[str, str]]:
    first = rows[0]
    yield "status", security.status
    attack = f"; the best attack takes 2^{security.attack_bits:g}" if security.attack_bits else ""
    category = f", NIST category {security.quantum_category}" if security.quantum_category else ""
    yield "strength", f"{security.strength_bits:g} bits{attack}"
    yield "quantum", f"{security.quantum_strength_bits:g} bits{category}"
    operations = first.get("operations") or []
    if first.get("public_key_B"):
        yield from _exchange(first, operations)
    else:
        effective = f", {first['effective_bits']} effective" if first["effective_bits"] != first["key_bits"] else ""
        yield "key", f"{first['key_bits']} bits{effective}"
        if operations:
            yield "operations", ", ".join(operations)
    for name, bits in (("block", security.block_bits), ("nonce", security.nonce_bits)):
        if bits:
            yield name, f"{bits} bits"
    if first["rounds"]:
        yield "rounds", str(first["rounds"])
    if security.authenticated is not None:
        yield "tag", f"{security.tag_bits} bits, authenticated" if security.authenticated else "none: not authenticated"
    counted = " with counted nonces" if security.random_messages_log2 is not None else ""
    for name, log2, unit in (
        ("data", security.data_limit_log2_B, "bytes a key"),
        ("data", security.nonce_limit_log2_B, "bytes a nonce"),
        ("messages", security.messages_log2, f"messages a key{counted}"),
        ("messages", security.random_messages_log2, "messages a key with random nonces"),
        ("forgeries", security.forgeries_log2, "forgery attempts a key"),
    ):
        if log2 is not None:
            yield name, f"at most 2^{log2:g} {unit}"
    yield "proof", first["proof"]
    yield "defined in", first["source"]


def _exchange(row: CatalogueRow, operations: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What can be done with a public key, and what that puts on the wire."""
    sent = next(SENT[operation] for operation in operations if operation in SENT)
    yield "key", f"public key of {row['public_key_B']} bytes"
    yield "operations", ", ".join(operations)
    yield "wire", f"public key {row['public_key_B']} bytes, {sent} {row['message_B']} bytes"


def _implementation(row: CatalogueRow) -> str:
    from wattlock.analysis.effects import kind_of

    if not row["available"]:
        return f"{row['provider']}: missing: {row['reason']}"
    timing = "constant time" if row["timing"] == "constant" else row["timing"] and f"timing varies: {row['timing']}"
    use = "not constant-time: for history" if row["provider"].endswith(TABLES) else None
    how = ", ".join(part for part in (row["path"], row["of"], kind_of(row["path"]), timing, use) if part)
    return f"{row['provider']} {row['version'] or ''} ({how})"


def _page(rows: Sequence[CatalogueRow], security: SecurityStatus, width: int) -> Iterator[str]:
    from textwrap import wrap

    def block(topic: str, text: str) -> Iterator[str]:
        indent = " " * TOPIC_WIDTH
        yield from wrap(
            text,
            width,
            initial_indent=f"{topic:<{TOPIC_WIDTH}}",
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )

    yield f"{security.id}: {security.cipher}{f', {security.mode}' if security.mode else ''}"
    yield ""
    for about, fact in _figures(rows, security):
        yield from block(about, fact)
    yield ""
    for number, row in enumerate(rows):
        yield from block("" if number else "providers", _implementation(row))
    yield ""
    sources = list(
        dict.fromkeys((statement.source, statement.url, statement.read) for statement in security.statements)
    )
    last = ""
    for statement in security.statements:
        number = sources.index((statement.source, statement.url, statement.read)) + 1
        yield from block("" if statement.about == last else statement.about, f"{statement.says} [{number}]")
        last = statement.about
    yield ""
    for number, (source, url, read) in enumerate(sources, 1):
        yield from block(f"[{number}]", f"{source}{f' <{url}>' if url else ''}{'' if read else ' (as commonly cited)'}")
