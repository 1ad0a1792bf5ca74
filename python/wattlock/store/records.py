"""Record lines, a slice at a time: judged by the schema, batches as a frame, everything else as it was written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from wattlock.store.bounds import NotARecord
from wattlock.store.record_schema import (
    UnfitRecordError,
    batch_columns,
    causes,
    least_values,
    record_of,
    required_columns,
)

if TYPE_CHECKING:
    import polars as pl

# The probe writes the kind first; a line that begins otherwise is parsed to learn what it is.
BATCH = b'{"kind":"batch",'
_NAME_END = b'":'


class Other(NamedTuple):
    """A record that is no batch: its kind, and its line as it was written, without the line's end."""

    kind: str
    line: bytes

    def parsed(self) -> dict[str, Any]:
        """The record as a dictionary, unknown fields included; what may be null is there."""
        return record_of(self.line)


class Parsed(NamedTuple):
    """A slice: its batches (columns of `slice_columns`), its other records, and how many lines it has.

    * `parsed`: the other records as dictionaries; whoever keeps `others` need not keep these.
    """

    batches: pl.DataFrame
    others: list[Other]
    lines: int
    parsed: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Recovery:
    """What a run holds that was interrupted.

    * `cut_B`: bytes of a last line that was not written to its end, and is cut.
    * `complete`: processes that ended with all their batches; the estimates rest on these.
    * `incomplete`: processes that began and did not end.
    * `next_process`: the number for the next process; numbers are not used twice.
    """

    cut_B: int
    complete: frozenset[int]
    incomplete: frozenset[int]
    next_process: int


def is_timed(header: Mapping[str, Any]) -> bool:
    """Whether the process of this header measures time, rather than energy or a battery."""
    return not header.get("meter") and not header.get("battery")


def slice_columns() -> dict[str, type[pl.DataType]]:
    """The columns of a batch record, and `extra`: its unknown fields as a JSON object, null where there are none."""
    return {**batch_columns(), "extra": pl.String}


def parse(data: bytes) -> Parsed:
    """Reads whole lines.

    Raises NotARecord with the index of the first line that is no record, or none that the schema knows.
    """
    lines = data.split(b"\n")
    lines.pop()
    batches, others, parsed = [], [], []
    for index, line in enumerate(lines):
        if line.startswith(BATCH):
            batches.append(line)
            continue
        record = _record(line, index)
        if record["kind"] == "batch":
            batches.append(line)
        else:
            others.append(Other(record["kind"], line))
            parsed.append(record)
    try:
        frame = _frame(batches)
    except (pl.exceptions.PolarsError, ValueError):
        _name_the_line(lines)
        raise
    return Parsed(frame, others, len(lines), parsed)


def _record(line: bytes, index: int) -> dict[str, Any]:
    try:
        return record_of(line)
    except UnfitRecordError as error:
        raise NotARecord(index, str(error)) from None


def _frame(lines: Sequence[bytes]) -> pl.DataFrame:
    if not lines:
        return pl.DataFrame(schema=slice_columns())
    text = b"\n".join(lines)
    frame = pl.read_ndjson(text, schema=batch_columns())
    missing = frame.select(pl.col(required_columns()).null_count()).row(0)
    if frame.height != len(lines) or any(missing):
        raise ValueError("a batch without all of its fields")
    if frame.select(_out_of_bounds()).item():
        raise ValueError("a batch with a number or a cause that can't be")
    return frame.with_columns(_extras(text, lines))


def _out_of_bounds() -> pl.Expr:
    low = [pl.col(name) < least for name, least in least_values().items()]
    return pl.any_horizontal(*low, ~pl.col("cause").is_in(causes())).any()


def _extras(text: bytes, lines: Sequence[bytes]) -> pl.Series:
    """Unknown fields of each line, where all required ones are there.

    Only where the text has more names than the known ones is each line parsed.
    """
    known = {"kind", *batch_columns()}
    optional = known.difference(required_columns(), ["kind"])
    expected = len(lines) * (1 + len(required_columns())) + sum(text.count(b'"%s":' % n.encode()) for n in optional)
    if text.count(_NAME_END) == expected:
        return pl.Series("extra", [None], dtype=pl.String).new_from_index(0, len(lines))
    unknown = ({k: v for k, v in json.loads(line).items() if k not in known} for line in lines)
    return pl.Series("extra", [json.dumps(field) if field else None for field in unknown], dtype=pl.String)


def _name_the_line(lines: Sequence[bytes]) -> None:
    for index, line in enumerate(lines):
        if _record(line, index)["kind"] == "batch":
            try:
                _frame([line])
            except (pl.exceptions.PolarsError, ValueError):
                raise NotARecord(index, "is no batch that the schema knows") from None
