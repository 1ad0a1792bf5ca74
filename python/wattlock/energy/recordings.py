"""Recordings of instruments: CSV as they export it, in whatever letters, and generic columns."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field

from wattlock.analysis.distributions import Array
from wattlock.definitions.shelf import shipped
from wattlock.definitions.toml import Table
from wattlock.errors import InputError

HOLE = 3.5
"""A step of time longer than this many usual ones is a hole in the recording."""

FEWEST_SAMPLES = 5
"""Of a block: the samples at its edges are cut."""

BLOCK_COLUMNS = ["block", "start_s", "end_s"]

LINE = "line of the file"

MOST_OFF = 3.0
"""How far the mean step may be from that of the rate: a unit that is wrong is at least 30 times off."""

LATEST_S = 1e11
"""No recording is of so late a time, the year 5138: its numbers are no seconds."""

GREATEST_W = 1e15
"""No instrument records as much power: its numbers are no watts."""

MOST_WIDE_B = 2**26
"""Of a file in UTF-16, which is read as a whole."""

HEAD_B = 64 * 1024
"""The first octets of a file, in which its heads must stand."""


class Block(NamedTuple):
    """A stretch of a recording."""

    block: str
    start_s: float
    end_s: float


class Profile(Table):
    """An instrument; `data/instruments.toml` says what each key is."""

    name: str
    title: str
    comment: str | None = None
    columns: dict[str, str] = Field(default={})
    optional: dict[str, str] = Field(default={})
    interval: str | None = None
    rate_Hz: float | None = None
    packets: bool = False
    accuracy_percent: float | None = None
    source: str

    def fits(self, names: Sequence[str], above: Sequence[str]) -> bool:
        """Whether a file with these heads, and these lines above them, is of this instrument."""
        if self.comment is not None and not any(self.comment in line for line in above):
            return False
        return all(self.candidates(quantity, names) for quantity in self.columns)

    def candidates(self, quantity: str, names: Sequence[str]) -> list[str]:
        """The columns of a quantity."""
        pattern = self.columns.get(quantity) or self.optional.get(quantity)
        return [name for name in names if pattern and re.fullmatch(pattern, plain(name))]

    def output(self, quantity: str, name: str) -> str | None:
        """Which of several outputs or devices a column is of, where its head tells."""
        found = re.fullmatch(self.columns.get(quantity) or self.optional.get(quantity) or "", plain(name))
        return found[1] if found and found.re.groups else None


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
    with np.errstate(over="ignore"):
        power_W = products[0] if len(products) == 1 else products[0] * products[1]
    if voltage_V is not None:
        power_W = power_W * voltage_V
    on = None if marker is None else _marker(cells, marks[0], marker)
    lines = cells[LINE].to_numpy() if LINE in cells.columns else np.arange(len(time_s)) + sheet.line + 1
    if found.profile.packets:
        starts = np.flatnonzero(np.diff(time_s, prepend=np.nan))
        counts = np.diff(starts, append=len(time_s))
        power_W, time_s, lines = np.add.reduceat(power_W, starts) / counts, time_s[starts], lines[starts]
        on = None if on is None else on[starts]
    if len(time_s) < 2:
        raise InputError(f"{file}: {len(time_s)} samples", hint=COLUMNS_HINT)
    back = np.flatnonzero(np.diff(time_s) <= 0)
    if len(back):
        after = int(back[0]) + 1
        message = f"{file}: line {lines[after]}: time {time_s[after]:.9g} s does not rise"
        raise InputError(message, hint=COLUMNS_HINT)
    if (most_W := abs(power_W).max()) > GREATEST_W:
        raise InputError(f"{file}: {most_W:.4g} W is the power of no recording", hint="--unit power=mW tells its unit")
    size = 1.0
    if (rate_Hz := found.rate_Hz) is not None:
        mean = float(time_s[-1] - time_s[0]) / (len(cells) - 1)
        size = min(set(PREFIXES.values()), key=lambda size: abs(np.log(mean * size * rate_Hz)))
        if not 1 / MOST_OFF <= mean * size * rate_Hz <= MOST_OFF:
            message = f"{file}: steps of {mean:.4g} in time fit {rate_Hz:g} Hz in no unit"
            raise InputError(message, hint="--unit time=s or time=ms tells its unit")
    time_s = time_s * size
    if abs(time_s).max() > LATEST_S:
        raise InputError(
            f"{file}: time {time_s[-1]:.9g} s is that of no recording", hint="--unit time=ms tells its unit"
        )
    return Recording(time_s, power_W, on, found.profile)


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


class RecordingSheet(NamedTuple):
    """A CSV: its octets or where they are, the names of its columns, the lines before their values, and those above."""

    file: Path
    source: Path | bytes
    names: list[str]
    line: int
    above: list[str]


def _opened(file: Path, hint: str) -> RecordingSheet:
    """A CSV in UTF-8, UTF-16 or cp1252, whose heads may stand below lines of text.

    Raises InputError where it can't be read, or has another separator.
    """
    if file.suffix.lower() == ".jls":
        raise InputError(f"{file}: JLS is not read", hint="export it as CSV in the Joulescope UI")
    try:
        with file.open("rb") as octets:
            start = octets.read(HEAD_B)
        wide = _wide(start)
        source: Path | bytes = file if wide is None else _of_wide(file, wide)
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}", hint=hint) from error
    if isinstance(source, bytes):
        start = source[:HEAD_B]
    text = _letters(start)
    if "\r" in text and "\n" not in text:
        raise InputError(f"{file}: its lines end by a carriage return alone", hint="save it with line ends of today")
    lines = re.split(r"\r?\n", text)
    at, names = _heads(lines)
    if not names:
        why = f"has no heads in its first {HEAD_B >> 10} KiB" if start.strip() else "is empty"
        raise InputError(f"{file}: {why}", hint=hint)
    if len(names) == 1:
        for mark, called in ((";", "semicolons"), ("\t", "tabs")):
            if mark in names[0]:
                message = f"{file}: its columns are separated by {called}, not by commas"
                raise InputError(message, hint="save it with commas between columns and a point in numbers")
    first = next((below for below in range(at + 1, len(lines)) if lines[below].strip()), at + 1)
    cells = _row(lines[first]) if first < len(lines) else []
    if not any(cell.strip() for cell in cells[len(names) :]):
        # Lines that end with a comma, of which the heads know none.
        names = _distinct([*names, *cells[len(names) :]])
    return RecordingSheet(file, source, names, first, lines[:at])


def _letters(start: bytes) -> str:
    """The first octets of a file as text."""
    try:
        return start.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # A letter that the first octets cut in two is none of another alphabet.
        is_cut = len(start) >= HEAD_B and error.start > HEAD_B - 4
        return start.decode("utf-8-sig" if is_cut else "cp1252", "replace")


def _of_wide(file: Path, wide: str) -> bytes:
    """A file in UTF-16 as UTF-8. Raises InputError where it is too large."""
    with file.open("rb") as octets:
        read = octets.read(MOST_WIDE_B + 1)
    if len(read) > MOST_WIDE_B:
        raise InputError(f"{file}: has more than {MOST_WIDE_B >> 20} MiB of UTF-16", hint="save it as UTF-8")
    return read.decode(wide, "replace").encode()


def _row(line: str) -> list[str]:
    return next(csv.reader([line.replace("\r", " ")]), [])


def _wide(start: bytes) -> str | None:
    """The name of UTF-16 where the octets are that, with a mark or by their noughts."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    evens, odds = start[:200:2], start[1:200:2]
    by_noughts = {"utf-16-be": evens, "utf-16-le": odds}
    return next((name for name, half in by_noughts.items() if half and half.count(0) * 2 > len(half)), None)


def _heads(lines: Sequence[str]) -> tuple[int, list[str]]:
    """The line of the heads, which is the last one of words above the first of numbers, and the names in it."""
    rows = [_row(line) for line in lines]
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


def _typed_cells(sheet: RecordingSheet, numbers: Sequence[str], texts: Sequence[str]) -> pl.DataFrame | None:
    """These columns, parsed as they are read; null where not every row of them is a number."""
    try:
        found = _scanned(sheet, numbers).select(*numbers, *texts).collect(engine="streaming")
    except (OSError, pl.exceptions.PolarsError):
        return None
    is_whole = all(found[name].is_finite().all(ignore_nulls=False) for name in numbers)
    return found.rechunk() if is_whole else None


def _scanned(sheet: RecordingSheet, numbers: Sequence[str] = ()) -> pl.LazyFrame:
    types = {name: pl.Float64() if name in numbers else pl.String() for name in sheet.names}
    return pl.scan_csv(
        sheet.source,
        has_header=False,
        skip_lines=sheet.line,
        schema=types,
        truncate_ragged_lines=not numbers,
        missing_columns="insert",
        encoding="utf8-lossy",
        raise_if_empty=False,
    )


def _cells(sheet: RecordingSheet, hint: str) -> pl.DataFrame:
    """The cells of a CSV as text, with the `LINE` that each row stands on; empty lines are left out."""
    _refuse_more_cells(sheet)
    try:
        found = _scanned(sheet).collect()
        found = found.select(pl.all().str.strip_chars()).with_row_index(LINE, offset=sheet.line + 1)
    except OSError as error:
        raise InputError(f"{sheet.file}: {error.strerror or error}", hint=hint) from error
    except pl.exceptions.PolarsError as error:
        raise InputError(f"{sheet.file}: {str(error).splitlines()[0]}", hint=hint) from error
    return found.filter(~pl.all_horizontal(pl.exclude(LINE).is_null()))


def _refuse_more_cells(sheet: RecordingSheet) -> None:
    """Raises InputError where a line has more cells than there are heads, as numbers with a comma in them make."""
    try:
        opened = io.BytesIO(sheet.source) if isinstance(sheet.source, bytes) else sheet.source.open("rb")
        with opened as lines:
            for number, line in enumerate(lines, 1):
                if number <= sheet.line or line.count(b",") < len(sheet.names):
                    continue
                cells = _row(line[:HEAD_B].decode("utf-8", "replace").strip("\n"))
                if any(cell.strip() for cell in cells[len(sheet.names) :]):
                    message = f"{sheet.file}: line {number}: {len(cells)} values below {len(sheet.names)} heads"
                    raise InputError(message, hint="save it with commas between columns and a point in numbers")
    except OSError as error:
        raise InputError(f"{sheet.file}: {error.strerror or error}", hint=COLUMNS_HINT) from error


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


QUANTITIES = {"time": "s", "power": "W", "current": "A", "voltage": "V"}
"""What a recording has columns of, and their units without a prefix."""

COLUMNS_HINT = "columns such as time_s,current_A,voltage_V or Timestamp(ms),Current(uA)"

PREFIXES = {"": 1.0, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "n": 1e-9}

LONG_PREFIXES = {"": 1.0, "milli": 1e-3, "micro": 1e-6, "nano": 1e-9}

SHORT = {"s": ("s", "sec", "secs"), "W": ("W",), "A": ("A",), "V": ("V",)}

LONG = {
    "s": ("second", "seconds"),
    "W": ("watt", "watts"),
    "A": ("amp", "amps", "ampere", "amperes"),
    "V": ("volt", "volts"),
}

WORDS = re.compile(r"(?<![a-z])(time|power|current|curr|voltage|volt)")
"""The first of these in a head says what its column is of: the power of a current path is a power."""

NAMED_SO = {"curr": "current", "volt": "voltage"}

NO_UNIT = re.compile(r"time|power|curr(ent)?|volt(age)?|avg|average|mean|min|max|\d+")
"""What stands behind an underscore and is no unit."""

BRACKET = re.compile(r"[(\[]([^()\[\]]*)[)\]]\s*$")

NO_MEASURE = re.compile(r"(?<![a-z])(factor|good|state|status|mode|raw|range|limit|code|count|flag|zone)(?![a-z])")
"""Beside a quantity without a unit in brackets: a power factor is no power."""

SHUNT = re.compile(r"(?<![a-z])shunt(?![a-z])")
"""The voltage of a shunt is a current, and nothing that fed the circuit."""

PLAIN = Profile(name="plain", title="no instrument that is known", source="ours")


class Instruments(Table):
    """The instruments that are known."""

    instrument: list[Profile]


class SheetColumn(NamedTuple):
    """A column, and the factor to the SI unit; null where the time has to be found by the samples' rate."""

    name: str
    factor: float | None


class Columns(NamedTuple):
    """The columns whose product is power.

    * `rate_Hz`: the samples' rate, where the unit of the time has to be found by it.
    """

    profile: Profile
    time: SheetColumn
    factors: list[SheetColumn]
    rate_Hz: float | None


@cache
def profiles() -> list[Profile]:
    """The instruments that are known, from `data/instruments.toml`."""
    return shipped("instruments.toml", Instruments).instrument


def plain(name: str) -> str:
    """A head without what some instruments put before it, in small letters."""
    return name.lstrip("# \ufeff").casefold()


def columns(
    file: Path,
    names: Sequence[str],
    above: Sequence[str],
    *,
    chosen: Mapping[str, str],
    units: Mapping[str, str],
    voltage_V: float | None,
) -> Columns:
    """The columns of time and of power, or of what multiplies to power.

    * `above`: the lines above the heads. `chosen`, `units`: by quantity, the user's. `voltage_V`: for a current alone.

    Raises InputError where there is none, or more than one that could be meant, with their names.
    """
    profile = next((known for known in profiles() if known.fits(names, above)), PLAIN)
    found = {quantity: _named(file, names, profile, quantity, chosen.get(quantity)) for quantity in QUANTITIES}
    time, power, current, voltage = (found[quantity] for quantity in ("time", "power", "current", "voltage"))
    listed = ", ".join(names)
    if time is None:
        raise InputError(f"{file}: no column of time in {listed}", hint=f"--column time=NAME, or {COLUMNS_HINT}")
    if power is None and current is None:
        hint = f"--column current=NAME, or {COLUMNS_HINT}"
        raise InputError(f"{file}: no column of current or power in {listed}", hint=hint)
    if power is not None and ("power" in chosen or not {"current", "voltage"} & set(chosen)):
        by = {"power": power}
    else:
        # Whoever chooses a current and tells the voltage means those two.
        is_told = voltage_V is not None and "voltage" not in chosen and "current" in chosen
        by = {"current": current or "", "voltage": "" if is_told else voltage or ""}
    if not all(by.values()) and not by.get("current"):
        raise InputError(f"{file}: a voltage without a current in {listed}", hint="--column current=NAME")
    others = [name for quantity, name in by.items() if quantity != "current" and name]
    if voltage_V is not None and others:
        both = f'the column "{others[0]}" and --voltage {voltage_V:g} both say what fed the circuit'
        raise InputError(f"{file}: {both}", hint="leave --voltage out, or choose what to read: --column current=NAME")
    outputs = {profile.output(quantity, name) for quantity, name in by.items() if name}
    if len(outputs) > 1 and not set(by) <= set(chosen):
        both = " and ".join(f'"{name}"' for name in by.values())
        hint = "--column current=NAME with --column voltage=NAME or --voltage tells what fed the circuit"
        raise InputError(f"{file}: {both} are of two outputs", hint=hint)
    if voltage_V is None and by.get("voltage") == "":
        raise InputError(f"{file}: current without a voltage", hint="--voltage 3.3 tells what fed the circuit")
    factors = [SheetColumn(name, factor(file, name, q, units.get(q)) or 1.0) for q, name in by.items() if name]
    timed, rate_Hz = _time(file, time, above, profile, units.get("time"))
    return Columns(profile, timed, factors, rate_Hz)


def _named(file: Path, names: Sequence[str], profile: Profile, quantity: str, chosen: str | None) -> str | None:
    """The column of a quantity.

    Raises InputError where two could be, or the chosen one is not there.
    """
    if chosen is not None:
        if chosen in names:
            return chosen
        hint = f"there are {', '.join(names)}"
        raise InputError(f'{file}: --column {quantity}={chosen}: no column "{chosen}"', hint=hint)
    found = profile.candidates(quantity, names)
    if not found and not profile.columns:
        found = [name for name in names if _quantity(name) == quantity and _is_measured(name, quantity)]
        found = found or [name for name in names if _by_unit(name) == quantity]
    if len(found) > 1:
        quoted = " and ".join(f'"{name}"' for name in found)
        hint = f"--column '{quantity}={found[0]}' chooses the first of them"
        raise InputError(f"{file}: {len(found)} columns of {quantity}: {quoted}", hint=hint)
    return found[0] if found else None


def _quantity(name: str) -> str | None:
    found = WORDS.search(plain(name))
    return NAMED_SO.get(found[1], found[1]) if found else None


def _is_measured(name: str, quantity: str) -> bool:
    """Whether a column with the word of a quantity may hold it."""
    if quantity == "voltage" and SHUNT.search(plain(name)):
        return False
    return BRACKET.search(name) is not None or NO_MEASURE.search(plain(name)) is None


def _by_unit(name: str) -> str | None:
    """What a column without a word of a quantity is by its unit: `CH1 (V)`, or `mA`."""
    if _quantity(name) is not None:
        return None
    written = BRACKET.search(name)
    unit = written[1] if written else name.strip()
    return next((quantity for quantity, base in QUANTITIES.items() if scale(unit, base) is not None), None)


def scale(unit: str, base: str) -> float | None:
    """The factor of a unit to its SI unit: mA, microamps, sec; null where it is none of `base`."""
    text = unit.strip()
    symbols = {f"{prefix}{word}": size for prefix, size in PREFIXES.items() for word in SHORT[base]}
    words = {f"{prefix}{word}": size for prefix, size in LONG_PREFIXES.items() for word in LONG[base]}
    return symbols.get(text, symbols.get(text.lower()) if base == "s" else None) or words.get(text.lower())


def factor(file: Path, name: str, quantity: str, given: str | None = None) -> float | None:
    """The factor of a column to its SI unit; null where its head names none.

    * `given`: its unit, where the head doesn't count.

    Raises InputError where its unit is none of the quantity.
    """
    base = QUANTITIES[quantity]
    if given is not None:
        return scale(given, base)
    if (whole := scale(plain(name), base)) is not None or (whole := scale(name, base)) is not None:
        return whole
    bracket = re.search(r"[(\[]([^(\[]*?)[)\] ]*$", name)
    behind = re.search(r"_([^_]*)$", name)
    last = re.search(r"[\s,/]([^\s,/]+)$", name)
    if bracket is None and (behind is None or NO_UNIT.fullmatch(behind[1].lower())):
        return scale(last[1], base) if last else None
    unit = (bracket or behind)[1]  # type: ignore[index] # one of them is there
    if (size := scale(unit, base)) is None:
        units = f"{base}, m{base}, u{base} or n{base}"
        hint = f"--unit {quantity}=m{base} tells it"
        raise InputError(f'{file}: column "{name}" is in "{unit}", not in {units}', hint=hint)
    return size


def _time(
    file: Path, name: str, above: Sequence[str], profile: Profile, given: str | None
) -> tuple[SheetColumn, float | None]:
    """The column of time, and the rate that has to tell its unit where no unit does."""
    if given is not None:
        return SheetColumn(name, factor(file, name, "time", given)), None
    if profile.interval is not None:
        # A number behind which digits follow has a comma for its point.
        spelled = rf"{profile.interval}[^\w\n-]*?(\d*\.?\d+(?:[eE][-+]?\d+)?)(?![.,]*\d)[ \t]*([^\W\d]*)"
        shown = re.search(spelled, "\n".join(above))
        if shown is None or float(shown[1]) == 0:
            message = f"{file}: no {profile.interval} above its columns that is a number above 0"
            raise InputError(message, hint="export it with its first lines, and with a point in numbers")
        if (unit_s := scale(shown[2] or "s", "s")) is None:
            message = f'{file}: {profile.interval} {shown[1]} is in "{shown[2]}", not in s, ms, us or ns'
            raise InputError(message, hint="write it in seconds, without a unit")
        return SheetColumn(name, float(shown[1]) * unit_s), None
    if profile.rate_Hz is not None:
        return SheetColumn(name, None), profile.rate_Hz
    size = factor(file, name, "time")
    rate = re.search(r"(?i)sample\s*rate\W*(\d*\.?\d+)\s*([kMG]?)Hz", "\n".join(above))
    if size is None and rate is not None:
        return SheetColumn(name, None), float(rate[1]) * {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}[rate[2]]
    return SheetColumn(name, size or 1.0), None
