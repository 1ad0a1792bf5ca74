"""A frame on standard output: for eyes, or as JSON or CSV for programs."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, TextIO

import typer

from wattlock.cli.echo import echo
from wattlock.text import harmless

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

# Where no terminal cuts the lines; Rich asks for some width.
ENDLESS = 10_000
LONG = 24
"""Letters of a column that has to be narrowed."""
USUAL = 80
"""Letters of a line where a terminal says none."""


class Format(StrEnum):
    """How a table is printed."""

    table = "table"
    json = "json"
    csv = "csv"


def show(frame: pl.DataFrame, form: Format) -> None:
    """Print `frame` on standard output.

    * `form`: `json` is one array with one object a row, null where a number is missing or not finite; `csv` has a
      header line, and a list or an object in a field as JSON.
    """
    if form is Format.table:
        _show_to_eyes(frame)
        return
    from wattlock.report.written import csv_text, json_array

    if form is Format.json:
        echo(json_array(frame))
    else:
        echo(csv_text(frame), nl=False)


def show_filled(rows: Sequence[dict[str, Any]], title: str = "") -> None:
    """Print rows for eyes below a title, without columns in which nothing stands."""
    import polars as pl

    frame = pl.DataFrame(rows, infer_schema_length=None)
    kept = [name for name in frame.columns if frame[name].null_count() < frame.height]
    if title:
        echo(f"\n{title}")
    _show_to_eyes(frame.select(kept))


def show_aside(frame: pl.DataFrame) -> None:
    """Print `frame` for eyes on standard error, beside what a program may read."""
    _show_to_eyes(frame, sys.stderr)


FACTORS = ("keying", "encoding", "placement", "pattern", "readiness")
"""Factors that most studies leave at one value for an operation."""


def short(columns: list[str], cases: pl.DataFrame) -> list[str]:
    """The columns for eyes, and behind `payload_B` those that tell cases of the frame apart.

    They are the factors of which an operation has several values, `aad_B` where one has associated data, and the kinds
    of core where there are several.
    """
    factors = [name for name in FACTORS if cases.select("operation", name).n_unique() > cases["operation"].n_unique()]
    sides = ("core_class",) if "core_class" in cases.columns else ("core_class_a", "core_class_b")
    kinds = {kind for side in sides for kind in cases[side].drop_nulls()}
    more = [*factors, *(["aad_B"] if any(cases["aad_B"]) else []), *(sides if len(kinds) > 1 else ())]
    behind = columns.index("payload_B") + 1
    return [*columns[:behind], *more, *columns[behind:]]


def markdown(frame: pl.DataFrame) -> str:
    """A frame as a table of Markdown, numbers to the right."""
    kinds = frame.schema.values()
    lines = [frame.columns, ["---:" if kind.is_numeric() else "---" for kind in kinds]]
    lines += [[_cell(value).replace("|", "\\|") for value in row] for row in frame.iter_rows()]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _show_to_eyes(frame: pl.DataFrame, to: TextIO | None = None) -> None:
    to = to or sys.stdout
    room = _width(to) if to.isatty() or "COLUMNS" in os.environ else ENDLESS
    cells = {name: [_cell(value) for value in frame[name].to_list()] for name in frame.columns}
    widths = narrowed({name: max(map(len, (name, *column))) for name, column in cells.items()}, room)
    columns = [_fitted([name, *cells[name]], width, frame.schema[name]) for name, width in widths.items()]
    head, *rows = ("  ".join(row) for row in zip(*columns, strict=True)) if columns else [""]
    typer.secho(harmless(head), file=to, bold=True)
    echo("".join(f"{row}\n" for row in rows), err=to is sys.stderr, nl=False)
    if left_out := [name for name in frame.columns if name not in widths]:
        echo(f"not shown in {room} columns: {', '.join(left_out)}; --format json has all", err=True)


def _width(to: TextIO) -> int:
    """Letters of a line: what COLUMNS says, else what the terminal has."""
    if os.environ.get("COLUMNS", "").isdigit():
        return int(os.environ["COLUMNS"])
    return (os.get_terminal_size(to.fileno()) if to.isatty() else get_terminal_size()).columns or USUAL


def _fitted(column: list[str], width: int, kind: pl.DataType) -> list[str]:
    """The cells of a column, each as wide as it is: a longer one cut with a mark, numbers to the right."""
    found = []
    for text in column:
        if text.isascii() and text.isprintable():
            shown, taken = (text, len(text)) if len(text) <= width else (f"{text[: width - 1]}…", width)
        else:
            shown, taken = _cut(text, width)
        room = " " * (width - taken)
        found.append(room + shown if kind.is_numeric() else shown + room)
    return found


def _cut(text: str, width: int) -> tuple[str, int]:
    """Text on one line, and its width there: some letters take two columns."""
    from rich.cells import cell_len, set_cell_size

    plain = " ".join(text.expandtabs().splitlines())
    taken = cell_len(plain)
    return (plain, taken) if taken <= width else (f"{set_cell_size(plain, width - 1)}…", width)


def narrowed(widths: dict[str, int], room: int) -> dict[str, int]:
    """The columns that fit beside each other, and how wide each is: the first ones, a long one cut.

    * `widths`: of each column what its longest cell takes, in letters; `room`: letters of a line.
    * Returns at least the first column. What is cut ends with a mark, what is left out is for the caller to name.
    """
    cut = {name: min(width, LONG) for name, width in widths.items()} if _line(widths) > room else widths
    shown = dict(cut)
    while len(shown) > 1 and _line(shown) > room:
        shown.popitem()
    first = next(iter(shown), None)
    if first is not None and len(shown) == 1:
        shown[first] = min(shown[first], room)
    # What the columns that fell away leave is for those that were cut.
    for name, width in shown.items():
        shown[name] = width + min(widths[name] - width, max(0, room - _line(shown)))
    return shown


def _line(widths: dict[str, int]) -> int:
    """Letters of a line: the columns and two spaces between each two."""
    return sum(widths.values()) + 2 * max(0, len(widths) - 1)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.5g}" if isinstance(value, float) else harmless(str(value))
