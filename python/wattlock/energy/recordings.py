"""Recordings of instruments: CSV as Otii, Joulescope and nRF Connect export it, and generic columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from wattlock.analysis.draws import Array
from wattlock.errors import InputError

HOLE = 3.5
"""A step of time longer than this many usual ones is a hole in the recording."""

FEWEST_SAMPLES = 5
"""Of a block: the samples at its edges are cut."""

PREFIXES = {"": 1.0, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "n": 1e-9}
QUANTITIES = {"time": "s", "power": "W", "current": "A", "voltage": "V"}
"""What a recording has columns of, and their units without a prefix."""

COLUMNS_HINT = "columns such as time_s,current_A,voltage_V or Timestamp(ms),Current(uA)"
BLOCK_COLUMNS = ["block", "start_s", "end_s"]
LINE = "line of the file"


class Block(NamedTuple):
    """A stretch of a recording."""

    block: str
    start_s: float
    end_s: float


class Recording(NamedTuple):
    """Power over time, a moment each; `marker`: where it is on, null without one."""

    time_s: Array
    power_W: Array
    marker: np.typing.NDArray[np.bool_] | None = None

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
            found |= {"energy_uJ": energy_J * 1e6, "mean_power_mW": energy_J / (block.end_s - block.start_s) * 1e3}
        except InputError as error:
            found["error"] = error.message
        samples = int(np.sum((self.time_s >= block.start_s) & (self.time_s <= block.end_s)))
        return {**block._asdict(), "samples": samples, **found}


def integrate(
    file: Path, *, blocks: Path | None = None, marker: str | None = None, voltage_V: float | None = None
) -> pl.DataFrame:
    """The joules of a recording, a row a block.

    * `file`: columns of time and of current and voltage, or power, with their units.
    * `blocks`: a CSV of block, start_s, end_s in the recording's time; `marker`: else the column that is on in them.
      Without either the whole recording is one block.
    * `voltage_V`: where the recording has current alone.

    Raises InputError where a file can't be read, with line and value, or a column or unit is missing, with what there
    is.
    """
    recording = read(file, voltage_V=voltage_V, marker=marker)
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
    return pl.DataFrame(
        rows, schema={**schema, "energy_uJ": pl.Float64, "mean_power_mW": pl.Float64, "error": pl.String}
    )


def read(
    file: Path, *, voltage_V: float | None = None, marker: str | None = None, units: Mapping[str, str] | None = None
) -> Recording:
    """A recording as power over time. Parameters and errors as those of `integrate`.

    * `units`: by quantity (`QUANTITIES`), where a column's head doesn't tell its unit.
    """
    names = _head(file)
    kind, time, factors = _columns(file, names, units or {}, is_fed=voltage_V is not None)
    columns = [time, *factors]
    marks = [] if marker is None else [_marker_column(file, names, marker)]
    # Numbers are read as such, in a tenth of the memory that text takes; what is none is looked for as text.
    cells = _typed_cells(file, [name for name, _ in columns], marks)
    if cells is None:
        cells = _cells(file, COLUMNS_HINT)
    time_s, *products = _numbers(file, cells, columns, COLUMNS_HINT)
    if len(time_s) < 2:
        raise InputError(f"{file}: {len(time_s)} samples", hint=COLUMNS_HINT)
    back = np.flatnonzero(np.diff(time_s) <= 0)
    if len(back):
        line = cells[LINE][int(back[0]) + 1] if LINE in cells.columns else int(back[0]) + 3
        raise InputError(f"{file}: line {line}: time {time_s[back[0] + 1]:.9g} s does not rise", hint=COLUMNS_HINT)
    power_W = products[0] if len(products) == 1 else products[0] * products[1]
    if kind == "current" and voltage_V is not None:
        power_W = power_W * voltage_V
    return Recording(time_s, power_W, _marker(cells, marks[0], marker) if marker is not None else None)


def parse_units(words: Sequence[str]) -> dict[str, str]:
    """The units of `COLUMN=UNIT`, by quantity.

    Raises InputError where one is none.
    """
    found = {}
    for word in words:
        quantity, _, unit = word.partition("=")
        base = QUANTITIES.get(quantity)
        if base is None or not unit.endswith(base) or unit.removesuffix(base) not in PREFIXES:
            raise InputError(f"--unit {word}: is no unit of a column", hint="--unit time=ms, --unit current=uA")
        found[quantity] = unit
    return found


def _columns(
    file: Path, names: Sequence[str], units: Mapping[str, str], *, is_fed: bool
) -> tuple[str, tuple[str, float], list[tuple[str, float]]]:
    """The columns of time, and of what multiplies to power, each with the factor to its SI unit.

    * Returns first what the power is made of: `power`, `both` current and voltage, or `current` alone.
    * `is_fed`: whether a current alone will do.
    """
    if len(names) == 1:
        for mark, called in ((";", "semicolons"), ("\t", "tabs")):
            if mark in names[0]:
                hint = "save it with commas between columns and a point in numbers"
                raise InputError(f"{file}: its columns are separated by {called}, not by commas", hint=hint)
    if not names:
        raise InputError(f"{file}: is empty", hint=COLUMNS_HINT)
    listed = ", ".join(names)
    time = _column(file, names, ("time", "timestamp"), "s", units.get("time"))
    if time is None:
        raise InputError(f"{file}: no column of time in {listed}", hint=COLUMNS_HINT)
    power, current, voltage = (
        _column(file, names, (quantity,), QUANTITIES[quantity], units.get(quantity))
        for quantity in ("power", "current", "voltage")
    )
    if power is None and current is None:
        raise InputError(f"{file}: no column of current or power in {listed}", hint=COLUMNS_HINT)
    if power is None and voltage is None and not is_fed:
        raise InputError(f"{file}: current without a voltage", hint="--voltage 3.3 tells what fed the circuit")
    if power is not None:
        return "power", time, [power]
    return "current" if voltage is None else "both", time, [column for column in (current, voltage) if column]


def _head(file: Path) -> list[str]:
    """The names of the columns."""
    if file.suffix.lower() == ".jls":
        raise InputError(f"{file}: JLS is not read", hint="export it as CSV in the Joulescope UI")
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            first = lines.readline().strip("\ufeff\r\n ")
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}", hint=COLUMNS_HINT) from error
    if not first:
        return []
    try:
        columns = pl.read_csv(first.encode() + b"\n", infer_schema=False).columns
    except pl.exceptions.PolarsError as error:
        raise InputError(f"{file}: {str(error).splitlines()[0]}", hint=COLUMNS_HINT) from error
    return [name.strip() for name in columns]


def _typed_cells(file: Path, numbers: Sequence[str], texts: Sequence[str]) -> pl.DataFrame | None:
    """These columns, parsed as they are read; null where not every row of them is a number."""
    try:
        scan = pl.scan_csv(file, infer_schema=False, truncate_ragged_lines=True)
        names = {name.strip(): name for name in scan.collect_schema().names()}
        types = {names[name]: pl.Float64 for name in numbers}
        found = (
            pl.scan_csv(file, schema_overrides=types, infer_schema=False, truncate_ragged_lines=True)
            .select(pl.col(names[name]).alias(name) for name in (*numbers, *texts))
            .collect(engine="streaming")
        )
    except (OSError, KeyError, pl.exceptions.PolarsError):
        return None
    is_whole = all(found[name].is_finite().all(ignore_nulls=False) for name in numbers)
    return found.rechunk() if is_whole else None


def _cells(file: Path, hint: str) -> pl.DataFrame:
    """The cells of a CSV as text, with the `LINE` that each row stands on; empty lines are left out."""
    try:
        found = pl.read_csv(file, infer_schema=False, truncate_ragged_lines=True, raise_if_empty=False)
        found = found.select(pl.all().str.strip_chars().name.map(str.strip)).with_row_index(LINE, offset=2)
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}", hint=hint) from error
    except pl.exceptions.PolarsError as error:
        raise InputError(f"{file}: {str(error).splitlines()[0]}", hint=hint) from error
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


def _column(
    file: Path, names: Sequence[str], words: tuple[str, ...], unit: str, given: str | None = None
) -> tuple[str, float] | None:
    """The first column that begins with one of `words` or has one of them in it, and the factor to its SI unit.

    * `given`: its unit, where the head doesn't count.
    """
    plain = [name.lstrip("# \ufeff").lower() for name in names]
    begins = [name for name, low in zip(names, plain, strict=True) if low.startswith(words)]
    holds = [name for name, low in zip(names, plain, strict=True) if any(word in low for word in words)]
    if not (begins or holds):
        return None
    name = (begins or holds)[0]
    written = re.search(r"[(\[]([^(\[]*?)[)\] ]*$", name) or re.search(r"_([^_]*)$", name)
    in_unit = given or (written[1] if written else unit)
    prefix = in_unit.removesuffix(unit)
    if not in_unit.endswith(unit) or prefix not in PREFIXES:
        units = f"{unit}, m{unit}, u{unit} or n{unit}"
        raise InputError(f'{file}: column "{name}" is in "{in_unit}", not in {units}', hint=COLUMNS_HINT)
    return name, PREFIXES[prefix]


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
    cells = _cells(file, hint)
    if missing := [name for name in BLOCK_COLUMNS if name not in cells.columns]:
        raise InputError(f"{file}: no column {missing[0]}", hint=hint)
    start_s, end_s = _numbers(file, cells, [("start_s", 1.0), ("end_s", 1.0)], hint)
    return [Block(name or "", float(a), float(b)) for name, a, b in zip(cells["block"], start_s, end_s, strict=True)]
