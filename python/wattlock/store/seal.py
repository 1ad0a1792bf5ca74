"""The end of a run: its batches compacted to Parquet, its files sealed by their hashes.

The steps may be cut off anywhere and begun again. The records' own file goes last, when all that was in it is on the
disk under other names: until `SHA256SUMS` is there it is the run, from then on the sealed files are.
"""

from collections.abc import Iterator
from pathlib import Path

import polars as pl
from polars.io.plugins import register_io_source

from wattlock.errors import StoreError
from wattlock.store import plan
from wattlock.store.disk import PART, named, settle, sync, write_whole
from wattlock.store.index import Index
from wattlock.store.journal import Journal
from wattlock.store.records import slice_columns
from wattlock.study.inputs import sha256

RECORDS = "records.jsonl"
BATCHES = "batches.parquet"
HEADERS = "headers.jsonl"
SUMS = "SHA256SUMS"
SEALED = (plan.NAME, BATCHES, HEADERS)
FILES = (SUMS, *SEALED)
"""All that a sealed run is made of."""
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

    Raises StoreError naming the first file that is missing or is not what was sealed.
    """
    sums = _sums(folder)
    for name in SEALED:
        if name not in sums:
            raise StoreError(f"run {folder}: {SUMS} does not name {name}", hint="it was changed after the sealing")
        if not (folder / name).is_file():
            raise StoreError(f"run {folder}: {name} is missing", hint="take it from a copy, or measure again")
        if _sha256(folder / name) != sums[name]:
            hint = "it was changed after the sealing; take it from a copy, or measure again"
            raise StoreError(f"run {folder}: {name} is not what was sealed", hint=hint)


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
        lines = (folder / SUMS).read_text(encoding="utf-8", errors="replace").splitlines()
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
