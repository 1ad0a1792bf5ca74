"""What is asked of a probe beside measuring: its catalogue, its meters, and how fit its machine is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from wattlock.errors import InputError, ProbeError
from wattlock.study import CatalogueRow
from wattlock.targets.target import Limits, Target, complaint_in, hint_in, read

LONGEST_ANSWER_S = 300.0
"""The catalogue proves nothing and takes a second."""

LONGEST_PROOF_S = 1800.0
"""Seconds at home; an emulator takes minutes."""

UNKNOWN = 3
"""The probe's exit code where a cipher or provider is known to nobody."""

PROOF = ("cipher", "provider", "version", "path", "proof", "vectors", "result", "detail")
"""What a row of the self-test says at least."""

MOST_ANSWER_B = 16 * 2**20
"""The whole catalogue has about 1 MB."""


def ask(target: Target, *words: str, most_s: float = LONGEST_ANSWER_S) -> Any:
    """What a verb of the probe answers as JSON.

    * `most_s`: the time that it may take.

    Raises InputError where it names a cipher or provider that nobody knows, ProbeError where it fails, or takes longer.
    """
    limits = Limits(most_s, most_s, most_s, MOST_ANSWER_B)
    written: list[bytes] = []
    code, complaints = target.start(words, b"", limits, written.append, who=f"{target.name} {words[0]}")
    if code == UNKNOWN and not written:
        hint = hint_in(complaints).replace("wattlock-probe catalogue", "wattlock ciphers")
        raise InputError(complaint_in(complaints).removeprefix("error: "), hint=hint)
    return read(written, json.loads, code, complaints, f"{target.name} {words[0]}")


def rows(target: Target, *words: str, needs: Sequence[str], most_s: float = LONGEST_ANSWER_S) -> list[dict[str, Any]]:
    """What a verb of the probe answers as rows that have at least the columns `needs`.

    Raises ProbeError where it answers something else.
    """
    answer: Any = ask(target, *words, most_s=most_s)
    if isinstance(answer, list) and all(isinstance(row, dict) and row.keys() >= set(needs) for row in answer):
        return answer
    raise _no_rows(target, words[0])


def _no_rows(target: Target, verb: str) -> ProbeError:
    return ProbeError(f"{target.name} {verb}: its answer is no list of rows", hint="`make setup` builds it anew")


def catalogue(
    target: Target, ids: Sequence[str] = (), libraries: Mapping[str, Path] | None = None
) -> tuple[dict[str, list[CatalogueRow]], dict[str, str | None]]:
    """The catalogue's rows by id, one a provider, and for each id that it doesn't know the one that looks most like it.

    * `ids`: only these; none asks for all that are listed. `libraries`: path of a user's own library by its name.
    """
    pushed = _pushed(target, libraries or {})
    answer = ask(target, "catalogue", "--format", "json", *pushed, *(["--cipher", *ids] if ids else []))
    if not isinstance(answer, list) or not all(_is_row(row) for row in answer):
        raise _no_rows(target, "catalogue")
    rows: dict[str, list[CatalogueRow]] = {}
    for row in answer:
        if "error" not in row:
            rows.setdefault(row["id"], []).append(row)
    return rows, {row["id"]: row["nearest"] for row in answer if "error" in row}


def proofs(
    target: Target, ids: Sequence[str], providers: Sequence[str], libraries: Mapping[str, Path]
) -> list[dict[str, Any]]:
    """A row a cipher and provider: whether it computes there what it should, and how that is proven.

    * `ids`, `providers`: only these; none stands for all. `libraries`: path of a user's own library by its name.

    Raises InputError for a cipher or provider that nobody knows.
    """
    words = ["selftest", "--format", "json", *_pushed(target, libraries)]
    words += [*(["--cipher", *ids] if ids else []), *(["--provider", *providers] if providers else [])]
    return rows(target, *words, needs=PROOF, most_s=LONGEST_PROOF_S)


def first_rows(target: Target, ids: Sequence[str]) -> dict[str, CatalogueRow]:
    """What the catalogue knows of ciphers, each by its first implementation.

    Raises InputError for an id that it has not, naming the nearest.
    """
    rows, nearest = catalogue(target, ids) if ids else ({}, {})
    for name in ids:
        if name not in rows:
            raise unknown(name, nearest.get(name))
    return {name: several[0] for name, several in rows.items()}


def unknown(cipher: str, nearest: str | None) -> InputError:
    """The error for an id that the catalogue has not; `nearest`: the one that looks most like it."""
    near = f'did you mean "{nearest}"? ' if nearest else ""
    return InputError(f'no cipher "{cipher[:80]}"', hint=f"{near}`wattlock ciphers` lists all of them")


def _pushed(target: Target, libraries: Mapping[str, Path]) -> list[str]:
    """The words that name libraries of the user's own by where they lie on the device."""
    places = {name: target.push(path) for name, path in libraries.items()}
    return [word for name, place in places.items() for word in ("--library", f"{name}={place}")]


def _is_row(row: object) -> bool:
    """Whether this is a row of the catalogue, or says that an id is not known."""
    if not isinstance(row, dict) or not isinstance(row.get("id"), str):
        return False
    if "error" in row:
        return isinstance(row.get("nearest"), str | None)
    types = _types()
    return all(name in row and isinstance(row[name], types[name]) for name in CatalogueRow.__required_keys__)


@cache
def _types() -> Mapping[str, Any]:
    return get_type_hints(CatalogueRow)
