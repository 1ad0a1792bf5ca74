"""`KEY=VALUE`: what somebody asks for in place of what a definition says."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from wattlock.definitions import toml
from wattlock.definitions.toml import shown
from wattlock.errors import InputError

STEP = re.compile(r"(?P<key>\w+)(?:\[(?P<number>\d+)\])?", re.ASCII)


def assignment(text: str, example: str) -> tuple[str, Any]:
    """The path and the value of one `KEY=VALUE`; a value that is no TOML is text.

    * `example`: shown to whoever wrote something else.

    Raises InputError where there is no key or no equals sign.
    """
    key, equals, value = (part.strip() for part in text.partition("="))
    if not (equals and key):
        raise InputError(f'--set "{text}" is not KEY=VALUE', hint=f"for example {example}")
    try:
        return key, toml.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key, value


def with_changes(
    label: str, tables: Mapping[str, Any], changes: Mapping[str, Any], lists: Sequence[str] = ()
) -> dict[str, Any]:
    """A copy of tables with what is asked for in place of what they say.

    * `label`: what the tables are called in errors.
    * `changes`: values by path, as `floor.strength` or `flow[0].every`; the number may be left out where a list has one
      table. None takes a key away.
    * `lists`: keys of lists of tables, of which the first is made where there is none.

    Raises InputError naming the first path that leads nowhere.
    """
    raw = {key: _copy(value) for key, value in tables.items()}
    for path, value in changes.items():
        try:
            _change(raw, path.split("."), value, lists)
        except _Nowhere as error:
            raise InputError(f"{label}: {path}: {error.what}", hint=error.hint) from error
    return raw


class _Nowhere(Exception):
    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.what, self.hint = what, hint


def _copy(value: Any) -> Any:
    """A copy of tables, lists and what is in them."""
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def _change(table: dict[str, Any], path: Sequence[str], value: Any, lists: Sequence[str]) -> None:
    part, *rest = path
    key, number = _step(part)
    if not rest and number is None:
        if value is None:
            table.pop(key, None)
        else:
            table[key] = _copy(value)
        return
    found = table.setdefault(key, {})
    if key in lists and not found:
        found = table[key] = [{}]
    if isinstance(found, list):
        at = _place(key, number, found, rest)
        if rest:
            _change(found[at], rest, value, lists)
        else:
            found[at] = _copy(value)
    elif number is not None or not isinstance(found, dict):
        raise _Nowhere(f"{key} is no {'list' if number is not None else 'table'}", f"{key} is {shown(found)}")
    else:
        _change(found, rest, value, lists)


@cache
def _step(part: str) -> tuple[str, str | None]:
    written = STEP.fullmatch(part)
    if written is None:
        raise _Nowhere(f'"{part}" is no key', "a path is keys joined by dots, as floor.tag or flow[0].every")
    return written["key"], written["number"]


def _place(key: str, number: str | None, found: list[Any], rest: Sequence[str]) -> int:
    if rest and not all(isinstance(item, dict) for item in found):
        raise _Nowhere(f"{key} holds no tables", f"{key} is {shown(found)}")
    if number is None and len(found) > 1:
        raise _Nowhere(f"there are {len(found)} of {key}", f"say which: {key}[0] to {key}[{len(found) - 1}]")
    at = int(number or 0)
    if at >= len(found):
        last = f"the last is {key}[{len(found) - 1}]" if found else f"{key} is empty"
        raise _Nowhere(f"there is no {key}[{at}]", last)
    return at
