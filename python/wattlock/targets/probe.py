"""What is asked of a probe beside measuring: its catalogue, its meters, and how fit its machine is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_type_hints

from wattlock.errors import InputError, ProbeError
from wattlock.study import CatalogueRow
from wattlock.targets.hearing import Limits
from wattlock.targets.programs import read
from wattlock.targets.target import Target

LONGEST_ANSWER_S = 300.0
"""The catalogue proves nothing and takes a second."""

MOST_ANSWER_B = 16 * 2**20
"""The whole catalogue has about 1 MB."""


def ask(target: Target, *words: str, most_s: float = LONGEST_ANSWER_S) -> Any:
    """What a verb of the probe answers as JSON.

    * `most_s`: the time that it may take.

    Raises ProbeError where it fails, or takes longer.
    """
    limits = Limits(most_s, most_s, most_s, MOST_ANSWER_B)
    written: list[bytes] = []
    code, complaints = target.start(words, b"", limits, written.append, who=f"{target.name} {words[0]}")
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
    own = {name: target.push(path) for name, path in (libraries or {}).items()}
    words = [word for name, place in own.items() for word in ("--library", f"{name}={place}")]
    answer = ask(target, "catalogue", "--format", "json", *words, *(["--cipher", *ids] if ids else []))
    if not isinstance(answer, list) or not all(_is_row(row) for row in answer):
        raise _no_rows(target, "catalogue")
    rows: dict[str, list[CatalogueRow]] = {}
    for row in answer:
        if "error" not in row:
            rows.setdefault(row["id"], []).append(row)
    return rows, {row["id"]: row["nearest"] for row in answer if "error" in row}


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


def _is_row(row: object) -> bool:
    """Whether this is a row of the catalogue, or says that an id is not known."""
    if not isinstance(row, dict) or not isinstance(row.get("id"), str):
        return False
    if "error" in row:
        return isinstance(row.get("nearest"), str | None)
    types: dict[str, Any] = get_type_hints(CatalogueRow)
    return all(name in row and isinstance(row[name], types[name]) for name in CatalogueRow.__required_keys__)
