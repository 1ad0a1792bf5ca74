"""What is wrong with a study, said in one line: the key's path, the value, and what to do."""

import json
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from wattlock.errors import StudyError

SHOWN_LETTERS = 60

# Pydantic's kinds of error in our words; `{}` is the bound that was missed.
MUST_BE = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "list_type": "a list",
    "model_type": "a table",
    "dict_type": "a table",
    "greater_than": "more than {}",
    "greater_than_equal": "at least {}",
    "less_than": "less than {}",
    "less_than_equal": "at most {}",
    "string_too_short": "at least {} letter long",
    "string_too_long": "at most {} letters long",
    "string_pattern_mismatch": "lower-case letters, digits and single hyphens",
}


class Problem(NamedTuple):
    """One thing that is wrong: `path` as in `grid[0].cipher[3]`, empty for the file as a whole."""

    path: str
    what: str
    hint: str = ""


def refusal(origin: str, problems: Sequence[Problem]) -> StudyError:
    """The error that names the first of `problems`, and how many follow.

    * `origin`: the study's file as the user knows it.
    """
    path, what, hint = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    place = f"{path}: " if path else ""
    return StudyError(f"study {origin}: {place}{what}{more}", hint=hint)


def nearest(word: str, among: Iterable[str]) -> str | None:
    """The entry of `among` that looks most like `word`; None where none is like it."""
    close = get_close_matches(word, list(among), n=1)
    return close[0] if close else None


def suggestion(word: str, among: Sequence[str], otherwise: str) -> str:
    """A hint: the nearest entry of `among`, or else all of them behind the words `otherwise`."""
    close = nearest(word, among)
    return f'did you mean "{close}"?' if close else f"{otherwise}: {', '.join(among)}"


def shown(value: object) -> str:
    """A value of a study as the user wrote it, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN_LETTERS else text[: SHOWN_LETTERS - 1] + "…"


def path_of(location: Iterable[str | int]) -> str:
    """`("grid", 0, "cipher")` as `grid[0].cipher`."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return "".join(parts).removeprefix(".")


def translated(error: Mapping[str, Any], keys: Sequence[str]) -> Problem:
    """One of Pydantic's errors in our words.

    * `keys`: the keys that the table allows in which the error lies.
    """
    kind, value, location = error["type"], error["input"], error["loc"]
    path = path_of(location)
    if kind == "missing":
        return Problem(path, "is missing")
    if kind == "extra_forbidden":
        return Problem(path, "unknown key", _key_hint(str(location[-1]), keys))
    if kind == "too_short":
        return Problem(path, "is empty")
    if kind == "literal_error":
        return _unknown_choice(location, path, value, error["ctx"]["expected"])
    if kind not in MUST_BE:
        return Problem(path, f"{error['msg']}, is {shown(value)}")
    bound = next((v for k, v in error.get("ctx", {}).items() if k != "pattern"), "")
    bound = f"{bound:g}" if isinstance(bound, float) else bound
    return Problem(path, f"must be {MUST_BE[kind].format(bound)}, is {shown(value)}", _type_hint(kind, location, value))


def _key_hint(word: str, keys: Sequence[str]) -> str:
    hint = suggestion(word, keys, "the keys are")
    return f"{hint} sizes are in bytes" if hint.endswith('_B"?') else hint


def _unknown_choice(location: Sequence[str | int], path: str, value: object, expected: str) -> Problem:
    choices = expected.replace(" or ", ", ").replace("'", "").split(", ")
    name = next((part for part in reversed(location) if isinstance(part, str)), "value")
    return Problem(path, f"no {name} {shown(value)}", suggestion(str(value), choices, "there are"))


def _type_hint(kind: str, location: Sequence[str | int], value: object) -> str:
    if kind == "list_type":
        return "write [[grid]] in two brackets" if location == ("grid",) else f"write [{shown(value)}]"
    sizes = any(str(part).endswith("_B") for part in location)
    return "sizes are whole bytes, without a unit: 16_384" if kind == "int_type" and sizes else ""
