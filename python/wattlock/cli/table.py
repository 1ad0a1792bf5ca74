"""A frame on standard output: for eyes, or as JSON or CSV for programs."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from enum import StrEnum
from itertools import pairwise
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import typer

from wattlock.cli.echo import echo
from wattlock.text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

# Where no terminal cuts the lines; Rich asks for some width.
ENDLESS = 10_000
LONG = 24
"""Letters of a column that has to be narrowed."""
USUAL = 80
"""Letters of a line where a terminal says none."""
HEAD_LINES = 3
"""Lines over a table where its columns' names are wider than what stands below them."""
ROWS_OF_A_SECTION = 4
"""A column is made a line between rows where so many rows share it, in the mean."""
NOTHING = "-"
MOST_PLAIN = 1e9
"""From here on a number is written with its power of ten."""


class Format(StrEnum):
    """How a table is printed."""

    table = "table"
    json = "json"
    csv = "csv"


def show(frame: pl.DataFrame, form: Format, answer: Sequence[str] = ()) -> None:
    """Print `frame` on standard output.

    * `form`: `json` is one array with one object a row, null where a number is missing or not finite; `csv` has a
      header line, and a list or an object in a field as JSON.
    * `answer`: columns that stand before the others where a line has no room for all, and are never left out; what
      stands left of the first of them says which row it is, and stays too. Without them no column is left out.
    """
    if form is Format.table:
        _show_to_eyes(frame, answer)
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
    _show_to_eyes(frame, to=sys.stderr)


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
    lines += [
        [_cell(value, name).replace("|", "\\|") for name, value in zip(frame.columns, row, strict=True)]
        for row in frame.iter_rows()
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _show_to_eyes(frame: pl.DataFrame, answer: Sequence[str] = (), to: TextIO | None = None) -> None:
    to = to or sys.stdout
    room = _width(to) if to.isatty() or "COLUMNS" in os.environ else ENDLESS
    columns = {
        name: TextColumn(name, [_cell(value, name) for value in frame[name].to_list()], frame.schema[name].is_numeric())
        for name in frame.columns
    }
    layout = laid_out(columns, [name for name in answer if name in columns], room)
    for line in layout.above:
        echo(line, err=to is sys.stderr)
    shown = [columns[name] for name in layout.widths]
    for head in _head(shown, layout.widths):
        typer.secho(harmless(head), file=to, bold=True)
    cells = (column.fitted(layout.widths[column.name]) for column in shown)
    rows = ("  ".join(row) for row in zip(*cells, strict=True)) if shown else iter(())
    below = [columns[name] for name in layout.below]
    sections = [columns[name] for name in layout.sections]
    text = (
        f"{_section(sections, number)}{row}\n{''.join(under(below, number, room))}" for number, row in enumerate(rows)
    )
    echo("".join(text), err=to is sys.stderr, nl=False)
    if layout.left_out:
        echo(f"not shown in {room} columns: {', '.join(layout.left_out)}; --format json has all", err=True)


class TextColumn(NamedTuple):
    """A column as text; `is_number`: it stands to the right."""

    name: str
    cells: list[str]
    is_number: bool

    @property
    def width(self) -> int:
        """Letters of the longest cell."""
        return max(map(len, self.cells), default=0)

    @property
    def changes(self) -> int:
        """How many cells differ from the one above."""
        return sum(above != below for above, below in pairwise(self.cells)) if len(self.cells) > 1 else 1

    def placed(self, text: str, width: int) -> str:
        """A text at its side of the column."""
        return text.rjust(width) if self.is_number else text.ljust(width)

    def fitted(self, width: int) -> list[str]:
        """The cells, each as wide as the column: a longer one cut with a mark, numbers to the right."""
        found = []
        for text in self.cells:
            shown, taken = (text, len(text)) if text.isascii() and text.isprintable() else _measured(text)
            if taken > width:
                shown, taken = _cut(shown, width), width
            room = " " * (width - taken)
            found.append(room + shown if self.is_number else shown + room)
        return found


def _width(to: TextIO) -> int:
    """Letters of a line: what COLUMNS says, else what the terminal has."""
    if os.environ.get("COLUMNS", "").isdigit():
        return int(os.environ["COLUMNS"])
    return (os.get_terminal_size(to.fileno()) if to.isatty() else get_terminal_size()).columns or USUAL


def _measured(text: str) -> tuple[str, int]:
    """Text on one line, and its width there: some letters take two columns."""
    from rich.cells import cell_len

    plain = " ".join(text.expandtabs().splitlines())
    return plain, cell_len(plain)


def _cut(text: str, width: int) -> str:
    """A text that is too long, so that it and its mark fill the width."""
    if text.isascii():
        return f"{text[: width - 1]}…"
    from rich.cells import set_cell_size

    return f"{set_cell_size(text, width - 1)}…"


class TableLayout(NamedTuple):
    """How a table fits its line.

    * `above`: what is the same in all rows, as lines of words; `widths`: the columns that stand beside each other.
    * `sections`: columns that change seldom and stand as a line above the rows that share them.
    * `below`: columns that stand under each row, with their names; `left_out`: what is not shown.
    """

    above: list[str]
    widths: dict[str, int]
    sections: list[str]
    below: list[str]
    left_out: list[str]


def laid_out(columns: Mapping[str, TextColumn], answer: Sequence[str], room: int) -> TableLayout:
    """A table in lines of `room` letters: `answer` and the columns left of it are always there, as of `show`.

    What all rows share goes above and long names take several lines, then what many rows share becomes a line of its
    own, then long cells are cut or stand below their row.
    """
    whole = {name: max(len(name), column.width) for name, column in columns.items()}
    if _line(whole) <= room:
        return TableLayout([], whole, [], [], [])
    first = next((place for place, name in enumerate(columns) if name in answer), len(columns))
    needed = [name for place, name in enumerate(columns) if not answer or place < first or name in answer]
    widths = {name: max(column.width, _head_width(name, column.width)) for name, column in columns.items()}
    shared = [name for name in columns if name not in answer and columns[name].changes == 0]
    left = {name: widths[name] for name in needed if name not in shared}
    sections = _sections([columns[name] for name in left if name not in answer], left, room)
    beside = [name for name in left if name not in sections]
    wide = [name for name in beside[1:] if widths[name] > max(LONG, room // 3) and not columns[name].is_number]
    fitting = _fitting({name: widths[name] for name in beside if name not in wide}, room)
    below = [name for name in beside if name not in fitting]
    more = [name for name in columns if name not in needed and name not in shared]
    for name in more if not below else ():
        if _line(fitting) + 2 + min(widths[name], LONG) <= room:
            fitting[name] = min(widths[name], LONG)
    shown = {name: fitting[name] for name in columns if name in fitting}
    # What is left of the line is for those that were cut, then for names on several lines.
    for name, width in shown.items():
        shown[name] = width + min(widths[name] - width, max(0, room - _line(shown)))
    for name, width in shown.items():
        shown[name] = whole[name] if width == widths[name] and _line(shown) + whole[name] - width <= room else width
    same = ", ".join(f"{name} {columns[name].cells[0]}" for name in shared if columns[name].cells[0] != NOTHING)
    above = textwrap.wrap(f"all rows: {same}", room) if same else []
    return TableLayout(above, shown, sections, below, [name for name in more if name not in shown])


def _sections(columns: Sequence[TextColumn], widths: Mapping[str, int], room: int) -> list[str]:
    """Which of the columns become lines between rows, so that the others fit: those that change most seldom."""
    folded: list[TextColumn] = []
    for column in sorted(columns[1:], key=lambda column: column.changes):
        beside = {name: width for name, width in widths.items() if name not in {fold.name for fold in folded}}
        if _line(beside) <= room or column.changes > len(column.cells) // ROWS_OF_A_SECTION:
            break
        folded.append(column)
    return [column.name for column in columns if column in folded]


def _fitting(widths: Mapping[str, int], room: int) -> dict[str, int]:
    """The first columns that fit beside each other, long cells cut."""
    if _line(widths) <= room:
        return dict(widths)
    shown = {name: min(width, LONG) for name, width in widths.items()}
    while len(shown) > 1 and _line(shown) > room:
        shown.popitem()
    return {name: min(width, room) for name, width in shown.items()}


def _head(columns: Sequence[TextColumn], widths: Mapping[str, int]) -> list[str]:
    """The names over their columns, the long ones on several lines that end beside the short ones."""
    names = [_wrapped(column.name, widths[column.name]) for column in columns]
    height = max(map(len, names), default=1)
    lines = zip(*([""] * (height - len(parts)) + parts for parts in names), strict=True)
    return [
        "  ".join(column.placed(part, widths[column.name]) for column, part in zip(columns, line, strict=True)).rstrip()
        for line in lines
    ]


def _section(columns: Sequence[TextColumn], row: int) -> str:
    """The line above a row that shares less with the one before."""
    if all(row and column.cells[row] == column.cells[row - 1] for column in columns):
        return ""
    named = [f"{column.name} {column.cells[row]}" for column in columns if column.cells[row] != NOTHING]
    return f"-- {', '.join(named)}\n"


def under(columns: Sequence[TextColumn], row: int, room: int) -> Iterator[str]:
    """The lines under a row: names and cells of the columns for which it has no room, each text by itself."""
    filled = [column for column in columns if column.cells[row] != NOTHING]
    numbers = ", ".join(f"{column.name} {column.cells[row]}" for column in filled if column.width <= LONG)
    texts = (f"{column.name}: {column.cells[row]}" for column in filled if column.width > LONG)
    for text in (numbers, *texts):
        for line in textwrap.wrap(text, room, initial_indent="    ", subsequent_indent="    "):
            yield f"{line}\n"


def _head_width(name: str, least: int) -> int:
    """The width that a name needs over a column: its longest part, or what puts it on `HEAD_LINES` lines."""
    return (
        next(width for width in range(max(least, 1), len(name) + 1) if _fits(name, width))
        if len(name) > least
        else least
    )


def _fits(name: str, width: int) -> bool:
    parts = _wrapped(name, width)
    return len(parts) <= HEAD_LINES and all(len(part) <= width for part in parts)


def _wrapped(name: str, width: int) -> list[str]:
    """A name on lines of at most `width` letters where its words allow it: `half_width_`, `percent`."""
    lines = [""]
    for part in re.findall("[^_]*_*", name)[:-1]:
        if lines[-1] and len(lines[-1] + part) > width:
            lines.append("")
        lines[-1] += part
    return lines


def _line(widths: Mapping[str, int]) -> int:
    """Letters of a line: the columns and two spaces between each two."""
    return sum(widths.values()) + 2 * max(0, len(widths) - 1)


def _cell(value: object, name: str = "") -> str:
    """A value for eyes: four digits of a number, five of a ratio, and its thousands apart."""
    if value is None:
        return NOTHING
    if not isinstance(value, float):
        return harmless(str(value))
    digits = 5 if "ratio" in name else 4
    text = f"{value:.{digits}g}"
    return f"{float(text):,.0f}" if "e+" in text and abs(value) < MOST_PLAIN else text
