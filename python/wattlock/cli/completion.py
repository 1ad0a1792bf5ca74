"""What completes a word on the command line: names of what comes with wattlock, and of runs."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

SHIPPED = {
    "device": "devices",
    "radio": "radios",
    "battery": "batteries",
    "study": "studies",
    "scenario": "links",
    "profile": "profiles",
}
"""Parameters that name an entry, and its folder of `data`."""
RUNS = {"RUN", "RUN..."}


def completer(parameter: Any) -> Callable[[Any, str], list[Any]] | None:
    """What completes a parameter's value; None where Typer does, or nothing can."""
    if parameter.metavar in RUNS:
        return _runs
    folder = SHIPPED.get(parameter.name)
    return (lambda _, begun: _items(_shipped(folder), begun)) if folder else None


def _items(names: list[str], begun: str) -> list[Any]:
    from typer.core import CompletionItem  # type: ignore[attr-defined] # no public name has it

    known = [CompletionItem(name) for name in names if name.startswith(begun)]
    return known or [CompletionItem(begun, type="file")]


def _shipped(folder: str) -> list[str]:
    root = Path(str(files("wattlock") / "data" / folder))
    return sorted(file.relative_to(root).with_suffix("").as_posix() for file in root.rglob("*.toml"))


def _runs(_: Any, begun: str) -> list[Any]:
    from wattlock.store.shelf import LAST, runs

    return _items([LAST, *(run.name for run in reversed(runs()))], begun)
