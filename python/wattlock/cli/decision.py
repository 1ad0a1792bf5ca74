"""Writes the decision record of `wattlock advise`: HTML, Markdown or JSON, by the name's end."""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING, Any

from wattlock import extras
from wattlock.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from wattlock.advise.advice import Advice

ENDS = (".html", ".md", ".json")


def check(path: Path) -> None:
    """Raises InputError where the record could not be written by that name."""
    if path.suffix not in ENDS:
        raise InputError(f"--record {path}: is no {', '.join(ENDS)}", hint="the name's end says what it becomes")
    if not path.parent.is_dir():
        raise InputError(f"--record {path}: there is no folder {path.parent}", hint="make it first")
    if path.suffix == ".html":
        extras.require("report")


def write(of: Advice, more: Mapping[str, Sequence[Mapping[str, Any]]], path: Path) -> None:
    """Write the record to `path`, over what is there."""
    from wattlock.advise import record

    parts = record.sections(of, more, command())
    heading = record.title(of)
    if path.suffix == ".html":
        from wattlock.report.decision import decision_page

        written = decision_page(heading, parts)
    elif path.suffix == ".md":
        written = record.markdown(heading, parts)
    else:
        whole = {"title": heading, "command": command(), **record.as_object(of), **more}
        written = json.dumps(finite(whole), indent=2, ensure_ascii=False)
    path.write_text(written, encoding="utf-8")


def command() -> str:
    """The command line that was given, as it can be given again."""
    return shlex.join(["wattlock", *sys.argv[1:]])


def finite(value: Any) -> Any:
    """Numbers that are none become null, as JSON has it."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):  # noqa: PLR0124 - nan
        return None
    if isinstance(value, dict):
        return {key: finite(one) for key, one in value.items()}
    if isinstance(value, list):
        return [finite(one) for one in value]
    return value
