"""Measured durations of transfers: the tables that a paper prints, or a person's own CSV."""

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple, Self

from pydantic import Field, model_validator

from wattlock.definitions import Shelf, Table, Text
from wattlock.errors import InputError

PLAIN = "none"
"""The cipher of what is sent unencrypted."""
COLUMNS = ("data", "cipher", "condition", "duration_s")
OPTIONAL = ("size_B",)
Seconds = Annotated[float, Field(gt=0)]


class Duration(NamedTuple):
    """How long one set of data took, under one cipher and condition; several runs are several of these.

    * `size_B`: the plain bytes of the set, where somebody knows them.
    """

    data: str
    cipher: str
    condition: str
    duration_s: float
    size_B: float | None = None

    @property
    def name(self) -> str:
        """The cell in words."""
        return f"{self.data} {self.cipher} {self.condition}"


class Printed(Table):
    """Durations as a paper prints them: by data and cipher, a column a condition."""

    source: Text
    conditions: Annotated[list[Text], Field(min_length=1)]
    duration_s: dict[str, dict[str, list[Seconds]]]

    @model_validator(mode="after")
    def _rows_are_full(self) -> Self:
        for data, rows in self.duration_s.items():
            for cipher, row in rows.items():
                if len(row) != len(self.conditions):
                    raise ValueError(f"{data}.{cipher} has {len(row)} of {len(self.conditions)} durations")
        return self


PRINTED = Shelf("table of durations", "tables", "published", Printed, marked_by="duration_s")


def names() -> list[str]:
    """The printed durations that come along."""
    return PRINTED.names()


def printed(name: str) -> tuple[list[Duration], str]:
    """Printed durations and their source.

    Raises InputError where there are none of that name.
    """
    _, tables = PRINTED.load(name)
    cells = [
        Duration(data, cipher, condition, duration_s)
        for data, rows in tables.duration_s.items()
        for cipher, row in rows.items()
        for condition, duration_s in zip(tables.conditions, row, strict=True)
    ]
    return cells, tables.source


def read_csv(path: Path) -> list[Duration]:
    """Durations of a CSV with the columns data, cipher, condition, duration_s and, where it is known, size_B.

    The cipher of what was sent plain is `none`. Raises InputError with line and column of what is wrong.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            missing = [name for name in COLUMNS if name not in (reader.fieldnames or [])]
            between = next(
                (one for one in (";", "\t") if missing and any(one in name for name in reader.fieldnames or [])), None
            )
            if between:
                named = {";": "semicolons", "\t": "tabs"}[between]
                raise InputError(
                    f"{path}: its columns are separated by {named}, not by commas",
                    hint="save it with commas between columns and a point in numbers",
                )
            if missing:
                raise InputError(
                    f"{path}: has no column {missing[0]}", hint=f"the columns are {', '.join((*COLUMNS, *OPTIONAL))}"
                )
            return [_row(path, reader.line_num, row) for row in reader]
    except OSError as error:
        hint = f"a CSV with the columns {', '.join(COLUMNS)}, or one of {', '.join(names())}"
        raise InputError(f"{path}: can't be read: {error.strerror}", hint=hint) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: not CSV: {error}") from error


def of(name_or_path: str) -> tuple[list[Duration], str]:
    """Durations by the name of a publication or the path of a CSV, and their source."""
    path = Path(name_or_path)
    if name_or_path in names() or not (path.suffix or path.exists()):
        return printed(name_or_path)
    return read_csv(path), str(path)


def check(cells: Iterable[Duration], origin: str) -> None:
    """Raises InputError where ciphertext has no plain transfer of the same data and condition beside it."""
    cells = list(cells)
    plain = {(cell.data, cell.condition) for cell in cells if cell.cipher == PLAIN}
    alone = [cell for cell in cells if (cell.data, cell.condition) not in plain]
    if alone:
        raise InputError(
            f"{origin}: {alone[0].name} has no plain transfer beside it",
            hint=f"a row of {alone[0].data}, {PLAIN}, {alone[0].condition} says what it is compared with",
        )
    sized = sum(cell.size_B is not None for cell in cells)
    if 0 < sized < len(cells):
        raise InputError(
            f"{origin}: size_B is known of {sized} of {len(cells)} durations", hint="give it of all of them, or of none"
        )
    if all(cell.cipher == PLAIN for cell in cells):
        raise InputError(f"{origin}: has no ciphertext to explain", hint="rows of a cipher beside those of none")


def labels(cells: Sequence[Duration]) -> list[str]:
    """A name for each: the cell's, with its number behind where it was measured several times."""
    times: Counter[str] = Counter()
    often = Counter(cell.name for cell in cells)
    found = []
    for cell in cells:
        times[cell.name] += 1
        found.append(f"{cell.name} #{times[cell.name]}" if often[cell.name] > 1 else cell.name)
    return found


def _row(path: Path, line: int, row: dict[str, str | None]) -> Duration:
    words = {key: (row[key] or "").strip() for key in COLUMNS[:3]}
    for key, word in words.items():
        if not word:
            raise InputError(f"{path}: line {line}: {key} is empty")
    size = (row.get("size_B") or "").strip()
    size_B = _positive(path, line, "size_B", size) if size else None
    return Duration(**words, duration_s=_positive(path, line, "duration_s", row["duration_s"] or ""), size_B=size_B)


def _positive(path: Path, line: int, key: str, word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise InputError(f"{path}: line {line}: {key} must be a number above 0, is {word!r}")
    return value
