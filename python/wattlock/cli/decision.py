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
    from wattlock.advise.document import Section

ENDS = (".html", ".md", ".json")


def check(path: Path) -> None:
    """Raises InputError where the record could not be written by that name."""
    if path.suffix not in ENDS:
        raise InputError(f"--record {path}: is no {', '.join(ENDS)}", hint="the name's end says what it becomes")
    if not path.parent.is_dir():
        raise InputError(f"--record {path}: there is no folder {path.parent}", hint="make it first")
    if path.suffix == ".html":
        extras.require("report")


def write(
    of: Advice, more: Mapping[str, Sequence[Mapping[str, Any]]], path: Path, decider: str | None = None
) -> list[Path]:
    """Write the record to `path`, over what is there, and say which files were written.

    Markdown holds no figures: they stand beside it as SVG, named by the record.
    """
    from wattlock.advise import record
    from wattlock.store.disk import write_out

    heading = record.title(of)
    if path.suffix == ".json":
        whole = record.whole(of, more, command(), decider)
        write_out(path, json.dumps(whole, indent=2, ensure_ascii=False), "--record")
        return [path]
    parts = record.sections(of, more, command(), decider)
    if path.suffix == ".html":
        from wattlock.report.decision import decision_page

        write_out(path, decision_page(heading, parts), "--record")
        return [path]
    return _markdown(heading, parts, path)


def _markdown(heading: str, parts: Sequence[Section], path: Path) -> list[Path]:
    from wattlock.advise.document import markdown
    from wattlock.report.decision_figures import drawn
    from wattlock.report.drawing import standalone
    from wattlock.store.disk import write_out

    figures = {name: figure for part in parts for name, figure in part.figures.items()}
    beside = {name: path.with_name(f"{path.stem}-{name}.svg") for name in figures}
    write_out(path, markdown(heading, parts, {name: file.name for name, file in beside.items()}), "--record")
    for name, figure in figures.items():
        write_out(beside[name], standalone(drawn(figure)), "--record")
    return [path, *beside.values()]


def command() -> str:
    """The command line that was given, as it can be given again."""
    return shlex.join(["wattlock", *sys.argv[1:]])
