"""Data that comes with wattlock and is no choice of the user's: its text, and its tables validated."""

from importlib.resources import files
from pathlib import PurePosixPath
from typing import TypeVar

from wattlock.definitions.shelf import validated
from wattlock.definitions.table import Table
from wattlock.definitions.toml import tables_of

Kind = TypeVar("Kind", bound=Table)


def shipped_text(path: str) -> str:
    """The text of a file, by its path under `data/`."""
    return (files("wattlock") / "data").joinpath(*PurePosixPath(path).parts).read_text(encoding="utf-8")


def shipped(path: str, model: type[Kind]) -> Kind:
    """A file by its path under `data/`, validated.

    Raises InputError naming the file and every key that is wrong.
    """
    return parsed(path, shipped_text(path), model)


def parsed(name: str, text: str, model: type[Kind]) -> Kind:
    """A text like that of the file `name`, validated.

    Raises InputError as `shipped`.
    """
    return validated(model, tables_of(text, name), name)
