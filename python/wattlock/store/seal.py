"""The end of a run: its batches compacted to Parquet, its files sealed by their hashes.

The steps may be cut off anywhere and begun again. The records' own file goes last, when all that was in it is on the
disk under other names: until `SHA256SUMS` is there it is the run, from then on the sealed files are.
"""

from collections.abc import Iterator
from pathlib import Path

import polars as pl
from polars.io.plugins import register_io_source

from wattlock.errors import StoreError
from wattlock.store import bounds, parquet, plan
from wattlock.store.disk import PART, named, settle, sync, write_whole
from wattlock.store.index import Index
from wattlock.store.journal import Journal
from wattlock.store.records import slice_columns
from wattlock.store.schema import required_columns
from wattlock.study.inputs import sha256

RECORDS = "records.jsonl"
BATCHES = "batches.parquet"
HEADERS = "headers.jsonl"
SUMS = "SHA256SUMS"
SEALED = (plan.NAME, BATCHES, HEADERS)
FILES = (SUMS, *SEALED)
"""All that a sealed run is made of."""
MOST_B = {SUMS: 2**12, plan.NAME: plan.MOST_B, HEADERS: 2**26, BATCHES: 2**28}
"""The files of a sealed run, and the most bytes that each may have.

A run of 304 cases has 1 MB in all, one of a million batches 30 MB of them. Parsed, a plan and records take ten times
their size.
"""
MOST_OF_A_PROCESS = 2**18
"""Batches: a process is read back whole. One of 300 cases that are visited 96 times has 29,000."""
ROWS_OF_A_GROUP = 2**16  # a slice of 16 MiB has about as many


def lazy(index: Index, journal: Journal) -> pl.LazyFrame:
    """The batches of a run that is not sealed, read slice by slice when they are collected.

    Columns: those of a batch record, `extra` (unknown fields as JSON) and `complete` (whether the process ended).
    """
    columns: dict[str, type[pl.DataType]] = {**slice_columns(), "complete": pl.Boolean}
    complete = list(index.complete)

    def source(
        wanted: list[str] | None, predicate: pl.Expr | None, rows: int | None, _batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        for batches in index.frames(journal):
            frame = batches.with_columns(complete=pl.col("process").is_in(complete))
            frame = frame if predicate is None else frame.filter(predicate)
            frame = frame if rows is None else frame.head(rows)
            rows = None if rows is None else rows - frame.height
            yield frame if wanted is None else frame.select(wanted)
            if rows == 0:
                return

    return register_io_source(source, schema=columns)


def compact(folder: Path, index: Index, journal: Journal) -> None:
    """Writes `batches.parquet`, `headers.jsonl` and, when both hold everything, `SHA256SUMS`.

    Raises DiskFull, and StoreError where what was written is not what was there; the records stay as they were.
    """
    part = folder / (BATCHES + PART)
    try:
        with named(folder):
            lazy(index, journal).sink_parquet(part, compression="zstd", row_group_size=ROWS_OF_A_GROUP)
            _check_rows(folder, part, index)
            settle(part, folder / BATCHES)
            write_whole(folder / HEADERS, (other.line + b"\n" for other in index.others))
            write_sums(folder)
    finally:
        part.unlink(missing_ok=True)


def write_sums(folder: Path) -> None:
    """Seals the files of a run."""
    write_whole(folder / SUMS, (f"{_sha256(folder / name)}  {name}\n".encode() for name in SEALED))


def drop_records(folder: Path) -> None:
    """Takes away the records' own file of a sealed run, and what an earlier attempt left."""
    with named(folder):
        for name in (RECORDS, *(name + PART for name in (*SEALED, SUMS))):
            (folder / name).unlink(missing_ok=True)
        sync(folder)


def verify(folder: Path) -> None:
    """Hashes the files of a sealed run again.

    Raises StoreError naming the first file that is missing, holds more than a reader has room for, or is not what was
    sealed.
    """
    sums = _sums(folder)
    for name in SEALED:
        if name not in sums:
            raise StoreError(f"run {folder}: {SUMS} does not name {name}", hint="it was changed after the sealing")
        if not (folder / name).is_file():
            raise StoreError(f"run {folder}: {name} is missing", hint="take it from a copy, or measure again")
        bounds.refuse_large(folder / name, MOST_B[name])
        if _sha256(folder / name) != sums[name]:
            hint = "it was changed after the sealing; take it from a copy, or measure again"
            raise StoreError(f"run {folder}: {name} is not what was sealed", hint=hint)
    parquet.refuse_large(folder / BATCHES)


def refuse_foreign(folder: Path, batches: pl.LazyFrame, *, may_lack: bool) -> None:
    """Raises StoreError where a column of the batches is none of theirs or is missing, or a process has too many.

    * `batches`: all of a sealed run, with today's columns. `may_lack`: whether its schema had fewer of them.
    """
    columns, known = batches.collect_schema(), {**slice_columns(), "complete": pl.Boolean}
    wrong = [name for name, kind in columns.items() if known.get(name) != kind]
    wrong += [name for name in (*required_columns(), "complete") if name not in columns and not may_lack]
    if wrong:
        what = f"run {folder}: {BATCHES} has foreign columns or lacks some: {wrong[0][:40]!r}"
        raise StoreError(what, hint=parquet.OTHER)
    if batches.select(pl.len()).collect().item() > MOST_OF_A_PROCESS:
        most = batches.group_by("process").len().max().collect(engine="streaming")["len"].item()
        if most > MOST_OF_A_PROCESS:
            what = f"run {folder}: a process has {most} batches, the limit is {MOST_OF_A_PROCESS}"
            raise StoreError(what, hint=bounds.SMALLER)


def refuse_uncommon(folder: Path) -> None:
    """Raises StoreError where the sums are not written as `write_sums` writes them: a run has one name, their hash."""
    sums = _sums(folder)
    written = "".join(f"{sums.get(name)}  {name}\n" for name in SEALED)
    if (folder / SUMS).read_bytes() != written.encode():
        raise StoreError(f"run {folder}: {SUMS} has other lines than those of a run", hint="take it from a copy")


def sealed_index(folder: Path, schema: int) -> Index:
    """The records of a sealed run that are no batches."""
    index = Index(folder, schema)
    index.follow(Journal(folder / HEADERS))
    return index


def _check_rows(folder: Path, part: Path, index: Index) -> None:
    written = pl.scan_parquet(part).group_by("process").len().collect(engine="streaming")
    if dict(written.iter_rows()) != dict(index.batches):
        what = f"{BATCHES} has {written['len'].sum()} rows for {index.batches.total()} batches"
        raise StoreError(f"run {folder}: {what}; {RECORDS} is kept", hint="check the disk, then seal the run again")


def _sums(folder: Path) -> dict[str, str]:
    try:
        lines = bounds.read(folder / SUMS, MOST_B[SUMS]).decode(errors="replace").splitlines()
    except FileNotFoundError:
        hint = f"`wattlock run --resume {folder}` finishes it"
        raise StoreError(f"run {folder}: is not sealed", hint=hint) from None
    except OSError as error:
        raise _unreadable(folder / SUMS, error) from error
    pairs = (line.partition("  ") for line in lines)
    return {name: digest for digest, _, name in pairs}


def _sha256(path: Path) -> str:
    try:
        return sha256(path)
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> StoreError:
    what = f"run {path.parent}: {path.name} can't be read: {error.strerror}"
    return StoreError(what, hint="check its permissions")
