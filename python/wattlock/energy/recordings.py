"""Recordings of instruments: CSV as they export it, in whatever letters, and generic columns."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from wattlock.analysis.draws import Array
from wattlock.energy.instruments import COLUMNS_HINT, PREFIXES, QUANTITIES, Profile, columns, scale
from wattlock.errors import InputError

HOLE = 3.5
"""A step of time longer than this many usual ones is a hole in the recording."""

FEWEST_SAMPLES = 5
"""Of a block: the samples at its edges are cut."""

BLOCK_COLUMNS = ["block", "start_s", "end_s"]
LINE = "line of the file"

HEAD_B = 64 * 1024
"""The first octets of a file, in which its heads must stand."""


class Block(NamedTuple):
    """A stretch of a recording."""

    block: str
    start_s: float
    end_s: float


class Recording(NamedTuple):
    """Power over time, a moment each; `marker`: where it is on, null without one; `profile`: the instrument."""

    time_s: Array
    power_W: Array
    marker: np.typing.NDArray[np.bool_] | None = None
    profile: Profile | None = None

    def whole(self) -> Block:
        """The recording as one block."""
        return Block("all", float(self.time_s[0]), float(self.time_s[-1]))

    def marked(self) -> list[Block]:
        """Where the marker is on; stretches that the recording cuts are left out."""
        if self.marker is None:
            return []
        edges = np.diff(self.marker.astype(int))
        starts, ends = np.flatnonzero(edges == 1) + 1, np.flatnonzero(edges == -1) + 1
        ends = ends[ends > starts[0]] if len(starts) else ends[:0]
        pairs = zip(starts, ends, strict=False)  # the last start may have no end
        return [
            Block(str(at), float(self.time_s[start]), float(self.time_s[end])) for at, (start, end) in enumerate(pairs)
        ]

    def energy_J(self, block: Block) -> float:
        """Trapezoids between the samples, those at the edges cut.

        Raises InputError where the recording can't tell.
        """
        start_s, end_s = block.start_s, block.end_s
        _, first, last = self.whole()
        if start_s >= end_s:
            raise InputError(f"it ends at {end_s:.9g} s, before it begins at {start_s:.9g} s")
        if start_s < first or end_s > last:
            raise InputError(f"the recording is from {first:.9g} to {last:.9g} s")
        steps = np.diff(self.time_s)
        usual_s = float(np.sort(steps)[len(steps) // 2])
        if end_s - start_s < FEWEST_SAMPLES * usual_s:
            raise InputError(f"shorter than {FEWEST_SAMPLES} samples of {usual_s:.9g} s")
        within = (self.time_s[1:] > start_s) & (self.time_s[:-1] < end_s)
        holes = np.flatnonzero(within & (steps > HOLE * usual_s))
        if len(holes):
            left, right = self.time_s[holes[0]], self.time_s[holes[0] + 1]
            raise InputError(f"samples are missing between {left:.9g} and {right:.9g} s")
        inner = (self.time_s > start_s) & (self.time_s < end_s)
        at_s = np.concatenate([[start_s], self.time_s[inner], [end_s]])
        return float(np.trapezoid(np.interp(at_s, self.time_s, self.power_W), at_s))

    def row(self, block: Block) -> dict[str, Any]:
        """What a block took, or why that can't be told."""
        found: dict[str, Any] = {"energy_uJ": None, "mean_power_mW": None, "error": None}
        try:
            energy_J = self.energy_J(block)
            if energy_J <= 0:
                mean_mW = energy_J / (block.end_s - block.start_s) * 1e3
                raise InputError(f"its mean power is {mean_mW:.4g} mW, not above 0: leads, column or unit are wrong")
            found |= {"energy_uJ": energy_J * 1e6, "mean_power_mW": energy_J / (block.end_s - block.start_s) * 1e3}
        except InputError as error:
            found["error"] = error.message
        samples = int(np.sum((self.time_s >= block.start_s) & (self.time_s <= block.end_s)))
        return {**block._asdict(), "samples": samples, **found}


def integrate(
    file: Path,
    *,
    blocks: Path | None = None,
    marker: str | None = None,
    voltage_V: float | None = None,
    units: Mapping[str, str] | None = None,
    chosen: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """The joules of a recording, a row a block.

    * `file`: columns of time and of current and voltage, or power, with their units.
    * `blocks`: a CSV of block, start_s, end_s in the recording's time; `marker`: else the column that is on in them.
      Without either the whole recording is one block.
    * `voltage_V`: where the recording has current alone.
    * `units`, `chosen`: by quantity, where the heads of the columns don't tell a unit or leave a choice.

    Raises InputError where a file can't be read, with line and value, or a column or unit is missing, with what there
    is.
    """
    recording = read(file, voltage_V=voltage_V, marker=marker, units=units, chosen=chosen)
    if blocks is not None:
        stretches = _blocks(blocks)
    elif marker is not None:
        stretches = recording.marked()
    else:
        stretches = [recording.whole()]
    if not stretches and blocks is not None:
        raise InputError(f"{blocks}: has no block", hint=",".join(BLOCK_COLUMNS))
    if not stretches:
        raise InputError(f"{file}: the marker is never on", hint="see the column in the recording")
    rows = [recording.row(block) for block in stretches]
    schema = {"block": pl.String, "start_s": pl.Float64, "end_s": pl.Float64, "samples": pl.Int64}
    schema |= {"energy_uJ": pl.Float64, "mean_power_mW": pl.Float64, "error": pl.String}
    return pl.DataFrame(rows, schema=schema)


def read(
    file: Path,
    *,
    voltage_V: float | None = None,
    marker: str | None = None,
    units: Mapping[str, str] | None = None,
    chosen: Mapping[str, str] | None = None,
) -> Recording:
    """A recording as power over time. Parameters and errors as those of `integrate`."""
    sheet = _opened(file, COLUMNS_HINT)
    found = columns(file, sheet.names, sheet.above, chosen=chosen or {}, units=units or {}, voltage_V=voltage_V)
    used = [found.time, *found.factors]
    marks = [] if marker is None else [_marker_column(file, sheet.names, marker)]
    # Numbers are read as such, in a tenth of the memory that text takes; what is none is looked for as text.
    cells = _typed_cells(sheet, [column.name for column in used], marks)
    if cells is None:
        cells = _cells(sheet, COLUMNS_HINT)
    scales = [(column.name, column.factor or 1.0) for column in used]
    time_s, *products = _numbers(file, cells, scales, COLUMNS_HINT)
    power_W = products[0] if len(products) == 1 else products[0] * products[1]
    if voltage_V is not None:
        power_W = power_W * voltage_V
    on = None if marker is None else _marker(cells, marks[0], marker)
    if len(time_s) < 2:
        raise InputError(f"{file}: {len(time_s)} samples", hint=COLUMNS_HINT)
    lines = cells[LINE].to_numpy() if LINE in cells.columns else np.arange(len(time_s)) + sheet.line + 1
    if found.profile.packets:
        time_s, starts, counts = np.unique(time_s, return_index=True, return_counts=True)
        power_W, lines = np.add.reduceat(power_W, starts) / counts, lines[starts]
        on = None if on is None else on[starts]
    back = np.flatnonzero(np.diff(time_s) <= 0)
    if len(back):
        after = int(back[0]) + 1
        said = f"{file}: line {lines[after]}: time {time_s[after]:.9g} s does not rise"
        raise InputError(said, hint=COLUMNS_HINT)
    size = 1.0
    if (rate_Hz := found.rate_Hz) is not None:
        mean = float(time_s[-1] - time_s[0]) / (len(cells) - 1)
        size = min(set(PREFIXES.values()), key=lambda size: abs(np.log(mean * size * rate_Hz)))
    return Recording(time_s * size, power_W, on, found.profile)


def by_quantity(words: Sequence[str], option: str) -> dict[str, str]:
    """The names or units of `QUANTITY=WORD`, by quantity.

    Raises InputError where it is of no quantity, or no unit of it.
    """
    found = {}
    for word in words:
        quantity, _, value = word.partition("=")
        base = QUANTITIES.get(quantity)
        if base is None or not value:
            hint = f"{option} time=..., current=..., voltage=... or power=..."
            raise InputError(f"{option} {word}: is of no quantity", hint=hint)
        if option == "--unit" and scale(value, base) is None:
            raise InputError(f"--unit {word}: is no unit of a column", hint="--unit time=ms, --unit current=uA")
        found[quantity] = value
    return found


class Sheet(NamedTuple):
    """A CSV: its octets or where they are, the names of its columns, the lines before their values, and those above."""

    file: Path
    source: Path | bytes
    names: list[str]
    line: int
    above: list[str]


def _opened(file: Path, hint: str) -> Sheet:
    """A CSV in UTF-8, UTF-16 or cp1252, whose heads may stand below lines of text.

    Raises InputError where it can't be read, or has another separator.
    """
    if file.suffix.lower() == ".jls":
        raise InputError(f"{file}: JLS is not read", hint="export it as CSV in the Joulescope UI")
    try:
        with file.open("rb") as octets:
            start = octets.read(HEAD_B)
        wide = _wide(start)
        source: Path | bytes = file if wide is None else file.read_bytes().decode(wide, "replace").encode()
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}", hint=hint) from error
    if isinstance(source, bytes):
        start = source[:HEAD_B]
    try:
        text = start.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # A letter that the first octets cut in two is none of another alphabet.
        is_cut = len(start) >= HEAD_B and error.start > HEAD_B - 4
        text = start.decode("utf-8-sig" if is_cut else "cp1252", "replace")
    lines = re.split(r"\r?\n", text)
    at, names = _heads(lines)
    if not names:
        raise InputError(f"{file}: is empty", hint=hint)
    if len(names) == 1:
        for mark, called in ((";", "semicolons"), ("\t", "tabs")):
            if mark in names[0]:
                said = f"{file}: its columns are separated by {called}, not by commas"
                raise InputError(said, hint="save it with commas between columns and a point in numbers")
    first = next((below for below in range(at + 1, len(lines)) if lines[below].strip()), at + 1)
    return Sheet(file, source, names, first, lines[:at])


def _wide(start: bytes) -> str | None:
    """The name of UTF-16 where the octets are that, with a mark or by their noughts."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    evens, odds = start[:200:2], start[1:200:2]
    by_noughts = {"utf-16-be": evens, "utf-16-le": odds}
    return next((name for name, half in by_noughts.items() if half and half.count(0) * 2 > len(half)), None)


def _heads(lines: Sequence[str]) -> tuple[int, list[str]]:
    """The line of the heads, which is the last one of words above the first of numbers, and the names in it."""
    rows = [next(csv.reader([line]), []) for line in lines]
    written = [at for at, row in enumerate(rows) if any(cell.strip() for cell in row)]
    head = next((at for at in written if not re.match(r"\s*(;|//|#\s)", lines[at])), None)
    before = None
    for at in written:
        numbers = sum(_is_number(cell) for cell in rows[at])
        if numbers >= 2 and before is not None and not any(_is_number(cell) for cell in rows[before]):
            head = before
            break
        before = at
    if head is None:
        return 0, []
    names = rows[head]
    above = head - 1
    if all(re.fullmatch(r"\s*[(\[].*[)\]]\s*", name) for name in names) and above >= 0:
        # The units stand in a line of their own.
        names = [f"{name.strip()} {unit.strip()}" for name, unit in zip(rows[above], names, strict=False)]
    return head, _distinct([name.strip().lstrip("\ufeff") for name in names])


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _distinct(names: Sequence[str]) -> list[str]:
    """Names of which none stands twice; a comma at the end of a line makes a column without one."""
    found: list[str] = []
    for at, written in enumerate(names, start=1):
        name = written or f"column {at}"
        found.append(name if name not in found else f"{name}#{at}")
    return found


def _typed_cells(sheet: Sheet, numbers: Sequence[str], texts: Sequence[str]) -> pl.DataFrame | None:
    """These columns, parsed as they are read; null where not every row of them is a number."""
    try:
        found = _scanned(sheet, numbers).select(*numbers, *texts).collect(engine="streaming")
    except (OSError, pl.exceptions.PolarsError):
        return None
    is_whole = all(found[name].is_finite().all(ignore_nulls=False) for name in numbers)
    return found.rechunk() if is_whole else None


def _scanned(sheet: Sheet, numbers: Sequence[str] = ()) -> pl.LazyFrame:
    types = {name: pl.Float64() if name in numbers else pl.String() for name in sheet.names}
    return pl.scan_csv(
        sheet.source,
        has_header=False,
        skip_lines=sheet.line,
        schema=types,
        truncate_ragged_lines=True,
        missing_columns="insert",
        encoding="utf8-lossy",
        raise_if_empty=False,
    )


def _cells(sheet: Sheet, hint: str) -> pl.DataFrame:
    """The cells of a CSV as text, with the `LINE` that each row stands on; empty lines are left out."""
    try:
        found = _scanned(sheet).collect()
        found = found.select(pl.all().str.strip_chars()).with_row_index(LINE, offset=sheet.line + 1)
    except OSError as error:
        raise InputError(f"{sheet.file}: {error.strerror or error}", hint=hint) from error
    except pl.exceptions.PolarsError as error:
        raise InputError(f"{sheet.file}: {str(error).splitlines()[0]}", hint=hint) from error
    return found.filter(~pl.all_horizontal(pl.exclude(LINE).is_null()))


def _numbers(file: Path, cells: pl.DataFrame, columns: Sequence[tuple[str, float]], hint: str) -> Iterator[Array]:
    """The numbers of columns, each multiplied by its factor.

    Raises InputError with the first line that has text or no finite number in one of them.
    """
    parsed = [cells[name].cast(pl.Float64, strict=False) for name, _ in columns]
    if LINE not in cells.columns:
        return (
            (numbers.to_numpy() if scale == 1.0 else numbers.to_numpy() * scale)
            for numbers, (_, scale) in zip(parsed, columns, strict=True)
        )
    wrong = [np.flatnonzero(~numbers.is_finite().fill_null(value=False).to_numpy()) for numbers in parsed]
    if first := min(((int(rows[0]), at) for at, rows in enumerate(wrong) if len(rows)), default=None):
        row, at = first
        text = cells[columns[at][0]][row] or ""
        what = f'"{text}" is no number' if parsed[at][row] is None else text
        raise InputError(f"{file}: line {cells[LINE][row]}: {what}", hint=hint)
    return (numbers.to_numpy() * scale for numbers, (_, scale) in zip(parsed, columns, strict=True))


def _marker_column(file: Path, names: Sequence[str], marker: str) -> str:
    """The column that holds a marker: its own, or for `D0` to `D7` that of all eight channels."""
    if marker in names:
        return marker
    if re.fullmatch("D[0-7]", marker) and "D0-D7" in names:
        return "D0-D7"
    raise InputError(f'{file}: no column "{marker}"', hint="--marker D0, or the name of a column")


def _marker(cells: pl.DataFrame, column: str, marker: str) -> np.typing.NDArray[np.bool_]:
    """Where a column is on: a number that is not 0, or a digit of `D0-D7`, which holds eight channels, D0 first."""
    text = cells[column].fill_null("")
    if column != marker:
        # Without their leading zeros when a spreadsheet wrote them: eight digits, filled up.
        return (text.str.zfill(8).str.slice(int(marker[1]), 1) == "1").to_numpy()
    text = text.str.strip_chars()
    number = text.cast(pl.Float64, strict=False)
    return ((number.fill_null(0.0) != 0) | (number.is_null() & ~text.is_in(["", "false"]))).to_numpy()


def _blocks(file: Path) -> list[Block]:
    hint = ",".join(BLOCK_COLUMNS)
    cells = _cells(_opened(file, hint), hint)
    if missing := [name for name in BLOCK_COLUMNS if name not in cells.columns]:
        raise InputError(f"{file}: no column {missing[0]}", hint=hint)
    start_s, end_s = _numbers(file, cells, [("start_s", 1.0), ("end_s", 1.0)], hint)
    return [Block(name or "", float(a), float(b)) for name, a, b in zip(cells["block"], start_s, end_s, strict=True)]
