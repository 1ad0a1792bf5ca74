"""TOML that somebody else wrote, within limits: what is deeper or longer would take minutes, or overflow the stack."""

import re
import tomllib
from typing import Any

from wattlock.errors import InputError, WattlockError

MOST_B = 4 * 2**20
MOST_VALUES = 100_000
"""Lines and commas together, so that reading takes a second at most."""

MOST_PARTS = 100
"""Parts of one key: reading it takes the square of them."""

_BETWEEN = re.compile(r"[=,{}\[\]\n]")


class Refused(tomllib.TOMLDecodeError):
    """TOML beyond the limits, as an error of TOML."""


def loads(text: str) -> dict[str, Any]:
    """The tables of a text.

    Raises tomllib.TOMLDecodeError where it is no TOML, nested too deep, or too much.
    """
    if len(text) > MOST_B:
        raise Refused(f"{len(text):,} letters are more than {MOST_B:,}")
    if text.count("\n") + text.count(",") > MOST_VALUES:
        raise Refused(f"more than {MOST_VALUES:,} lines and values")
    if max(part.count(".") for part in _BETWEEN.split(text)) >= MOST_PARTS:
        raise Refused(f"a key of more than {MOST_PARTS} parts")
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))  # a mark that editors of Windows put before UTF-8
    except RecursionError:
        raise Refused("nested too deep") from None


def tables_of(text: str | bytes, label: str, error_class: type[WattlockError] = InputError) -> dict[str, Any]:
    """The tables of a text.

    * `label`: what the text is called in errors.

    Raises `error_class` where it is no TOML, or beyond the limits.
    """
    try:
        return loads(text if isinstance(text, str) else text.decode())
    except ValueError as error:
        raise error_class(f"{label}: not TOML: {error}") from error
