"""`wattlock.toml`: options that a person always gives, written once; the command line goes before them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattlock.cli.echo import echo
from wattlock.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection

NAME = "wattlock.toml"
CARDS = "cards"
"""The key beside the verbs' tables: a folder of the user's own cards and studies, where `WATTLOCK_CARDS` names none."""


def file() -> Path | None:
    """The settings that count: of the working folder, else the user's (XDG Base Directory Specification 0.8)."""
    try:
        home = Path(os.environ.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser()) / "wattlock"
    except RuntimeError:  # a user without a home
        home = Path()
    return next((folder / NAME for folder in (Path(), home) if (folder / NAME).is_file()), None)


def defaults(verb: str, parameters: list[Any], verbs: Collection[str]) -> dict[str, Any]:
    """What the settings have of this verb, by the names of its parameters; names the user's folder of cards.

    * `verbs`: all that a table may be called.

    Raises InputError where the file can't be read, or has what no verb or option is called.
    """
    if (path := file()) is None:
        return {}
    from wattlock.definitions import toml

    tables = toml.tables_of(_content(path), str(path), InputError)
    for name, table in tables.items():
        if name != CARDS and (name not in verbs or not isinstance(table, dict)):
            hint = toml.suggestion(
                name, list(verbs), f"a table of each verb, as [advise], or {CARDS} = FOLDER; the verbs are"
            )
            raise InputError(f"{path}: {name}: is no table of a verb", hint=hint)
    if isinstance(folder := tables.get(CARDS), str):
        os.environ.setdefault("WATTLOCK_CARDS", str((path.parent / folder).absolute()))
    options = {name.removeprefix("--"): param for param in parameters for name in param.opts if name.startswith("--")}
    for key in (table := tables.get(verb, {})):
        if key not in options:
            hint = toml.suggestion(key, sorted(options), "its options are")
            raise InputError(f"{path}: {verb}.{key}: `wattlock {verb}` has no option --{key}", hint=hint)
    return {str(options[key].name): value for key, value in table.items()}


def say(context: Any) -> None:
    """Says on standard error which options the settings gave."""
    taken = [
        param.opts[-1] if (value := context.params[param.name]) is True else f"{param.opts[-1]} {value}"
        for param in context.command.params
        if getattr(context.get_parameter_source(param.name), "name", "") == "DEFAULT_MAP"
    ]
    if taken:
        echo(f"{file()}: {', '.join(taken)}", err=True)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}", hint="look at who may read it") from error
