"""A run on disk: its journal while it is measured, batches compacted and sealed at its end, and an index of it.

While measuring: `plan.jsonl` and `records.jsonl`, which only grows. At the end: `plan.jsonl`, `batches.parquet` and
`headers.jsonl` (every record that is no batch), sealed by `SHA256SUMS`. Appending does not wait for the disk: a killed
process loses nothing, a pulled plug may lose the last seconds. Sealing does wait.
"""

import fcntl
import json
import os
import shlex
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple, Self

import polars as pl
from polars.io.plugins import register_io_source

from wattlock.errors import StoreError
from wattlock.store import bounds, run_plan
from wattlock.store.bounds import LONGEST_LINE_B, NotARecord, weigh
from wattlock.store.disk import PART, named, settle, sync, write_whole
from wattlock.store.record_schema import check_version, required_columns
from wattlock.store.records import BATCH, Other, Recovery, parse, slice_columns
from wattlock.study import Case
from wattlock.study.cases import sha256

ROWS_OF_A_GROUP = 2**16  # a slice of 16 MiB has about as many

GROUP = ROWS_OF_A_GROUP


class Journal:
    """Appends whole lines, one writer at a time, and reads them in slices."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None

    def append(self, data: bytes) -> None:
        """Adds whole lines at the end.

        Where the system refuses a part of them, the file is cut behind the last whole line that it took.
        Raises DiskFull, or StoreError where another process writes to this run.
        """
        if not data:
            return
        if not data.endswith(b"\n"):
            raise ValueError("only whole lines are appended")
        with named(self.path.parent):
            handle = self._writer()
            end = os.fstat(handle).st_size
            written = 0
            try:
                while written < len(data):
                    written += os.write(handle, data[written:] if written else data)
            except OSError:
                os.ftruncate(handle, end + data.rfind(b"\n", 0, written) + 1)
                raise

    def cut(self) -> int:
        """Cuts a last line that was not written to its end; gives how many bytes that were."""
        with named(self.path.parent):
            handle = self._writer()
            size = os.fstat(handle).st_size
            whole = self._end_of_last_line(size)
            if whole < size:
                os.ftruncate(handle, whole)
            return size - whole

    def slices(self, start: int = 0) -> Iterator[tuple[int, bytes]]:
        """Whole lines from byte `start` on, about 16 MiB at a time, each with where it begins."""
        with self._reader() as file:
            file.seek(start)
            rest = b""
            while block := file.read(SLICE_B):
                data = rest + block
                end = data.rfind(b"\n") + 1
                if end:
                    yield start, data[:end]
                start, rest = start + end, data[end:]
                if len(rest) > LONGEST_LINE_B:
                    what = f"begins a line of more than {LONGEST_LINE_B} B, the limit"
                    what = f"run {self.path.parent}: byte {start} of {self.path.name} {what}"
                    raise StoreError(what, hint="the records before it are whole; cut the file there, in a copy")

    def read(self, start: int, size_B: int) -> bytes:
        """`size_B` bytes from byte `start` on."""
        with self._reader() as file:
            file.seek(start)
            return file.read(size_B)

    def close(self) -> None:
        """Lets another process write."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _reader(self) -> BinaryIO:
        try:
            return self.path.open("rb")
        except OSError as error:
            what = f"run {self.path.parent}: {self.path.name} can't be read: {error.strerror}"
            raise StoreError(what, hint="check its permissions") from error

    def _writer(self) -> int:
        if self._handle is None:
            handle = os.open(self.path, os.O_RDWR | os.O_APPEND)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
                hint = "wait until it ends, or stop it"
                raise StoreError(f"run {self.path.parent}: another wattlock is measuring into it", hint=hint) from None
            self._handle = handle
        return self._handle

    def _end_of_last_line(self, size: int) -> int:
        end, step = size, 64 * 2**10
        while end > 0:
            start = max(0, end - step)
            newline = self.read(start, end - start).rfind(b"\n")
            if newline >= 0:
                return start + newline + 1
            end = start
        return 0


class JournalSpan(NamedTuple):
    """Whole lines of the journal, about 16 MiB or fewer, and the processes whose batches are among them."""

    start: int
    size_B: int
    processes: frozenset[int]


@dataclass
class Index:
    """The records of a run but for its batches, and where those are.

    * `others`: every record that is no batch, in its order; `headers`: those of them that are headers, parsed.
    * `batches`: how many batches each process has; `blocks`: how many blocks of energy; `counts`: how many counts.
    * `left_out`: processes that broke their contract: what they wrote before does not count.
    """

    folder: Path
    spans: list[JournalSpan] = field(default_factory=list)
    others: list[Other] = field(default_factory=list)
    headers: list[dict[str, Any]] = field(default_factory=list)
    batches: Counter[int] = field(default_factory=Counter)
    blocks: Counter[int] = field(default_factory=Counter)
    counts: Counter[int] = field(default_factory=Counter)
    left_out: set[int] = field(default_factory=set)
    _began: set[int] = field(default_factory=set)
    _ended: dict[int, tuple[int, int]] = field(default_factory=dict)
    _end_B: int = 0
    _lines: int = 0
    _values: int = 0

    def follow(self, journal: Journal) -> None:
        """Reads what was appended since the last time.

        Raises StoreError naming the line that is no record, or a schema version that is not known.
        """
        for start, data in journal.slices(self._end_B):
            try:
                self._values = weigh(data, self._values, BATCH)
                batches, others, lines, parsed = parse(data)
            except NotARecord as error:
                what = f"line {self._lines + error.index + 1} of {journal.path.name} {error}"
                hint = "the file was changed; take it from a copy, or take this line out"
                raise StoreError(f"run {self.folder}: {what}", hint=hint) from error
            for other, record in zip(others, parsed, strict=True):
                self._note(other, record, journal.path.name)
            counts = dict(batches["process"].value_counts().iter_rows())
            self.batches.update(counts)
            self.spans.append(JournalSpan(start, len(data), frozenset(counts)))
            self._end_B = start + len(data)
            self._lines += lines

    def _note(self, other: Other, record: dict[str, Any], file: str) -> None:
        """Takes in a record of `file` that is no batch; raises StoreError where it is not as the schema has it."""
        self.others.append(other)
        if other.kind == "header":
            check_version(str(self.folder), record.get("schema"))
        process = record.get("process", -1)
        match other.kind:
            case "header" if process in self._began:
                raise self._damaged(f"{file} has two headers of process {process}")
            case "header":
                self._began.add(process)
                self.headers.append(record)
            case "energy_block":
                self.blocks[process] += 1
            case "count" | "board":
                self.counts[process] += 1
            case "left_out":
                self.left_out.add(process)
            case "end":
                self._ended[process] = record["batches"], record["energy_blocks"]

    def _damaged(self, what: str) -> StoreError:
        return StoreError(f"run {self.folder}: {what}", hint="the file was changed; take it from a copy")

    @property
    def complete(self) -> frozenset[int]:
        """Processes with a header, an end, and as many batches and blocks as the end says."""
        ended = (
            process
            for process, (batches, blocks) in self._ended.items()
            if batches == self.batches[process] and blocks == self.blocks[process]
        )
        return frozenset(self._began.intersection(ended) - self.left_out)

    @property
    def without_batches(self) -> frozenset[int]:
        """Those of them that measured energy, or counted."""
        return (frozenset(process for process, (_, blocks) in self._ended.items() if blocks) | set(self.counts)) & (
            self.complete
        )

    @property
    def seen(self) -> frozenset[int]:
        """Processes of which there is any record."""
        return frozenset(self._began | set(self._ended) | set(self.batches) | self.left_out)

    def frames(self, journal: Journal, process: int | None = None) -> Iterator[pl.DataFrame]:
        """The batches slice by slice, only those of `process` where it is given."""
        for span in tuple(self.spans):
            if process is None or process in span.processes:
                batches = parse(journal.read(span.start, span.size_B)).batches
                yield batches if process is None else batches.filter(pl.col("process") == process)


class RunFolder:
    """One run: a study carried out on one device once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._journal = Journal(path / RECORDS)

    @classmethod
    def create(cls, path: str | Path, plan_lines: Iterable[dict[str, Any]]) -> Self:
        """Makes the folder of a new run, with its plan.

        Raises StoreError where the folder holds something, DiskFull where there is no room.
        """
        path = Path(path)
        with named(path):
            path.mkdir(parents=True, exist_ok=True)
            try:
                if any(path.iterdir()):
                    raise FileExistsError
                # Of several that begin here at a time one makes this file, and the run is its own.
                (path / RECORDS).open("xb").close()
            except FileExistsError:
                hint = "give another folder, or go on with `--resume`"
                raise StoreError(f"run {path}: the folder is not empty", hint=hint) from None
            write_whole(path / run_plan.NAME, run_plan.encode(plan_lines))
        return cls.open(path)

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Opens a run, sealed or not: the one door to what it holds.

        A sealed run is what was sealed, each byte, and the plan of another is what was planned; none holds more than a
        reader has room for. Raises StoreError where that is not so, where it is no run, lacks a file, or has an unknown
        schema version.
        """
        run = cls(Path(path))
        if run.is_sealed:
            verify(run.path)
        run.plan()
        if run.is_sealed:
            refuse_foreign(run.path, pl.scan_parquet(run.path / BATCHES))
        else:
            run_plan.refuse_without_sum(run.path)
            if not (run.path / RECORDS).is_file():
                what = f"run {run.path}: {RECORDS} is missing"
                raise StoreError(what, hint="take it from a copy, or measure again")
        return run

    @property
    def showing(self) -> str:
        """The command that shows it, as a shell takes it."""
        return f"wattlock show {shlex.quote(str(self.path))}"

    @property
    def reporting(self) -> str:
        """The command that draws its report, as a shell takes it."""
        return f"wattlock report {shlex.quote(str(self.path))}"

    @property
    def resuming(self) -> str:
        """The command that goes on with it, as a shell takes it."""
        return f"wattlock run --resume {shlex.quote(str(self.path))}"

    @property
    def id(self) -> str:
        """The run's id."""
        return str(self.plan()[0].get("id", self.path.name))

    @property
    def is_sealed(self) -> bool:
        """Whether the run is finished for good."""
        return (self.path / SUMS).is_file()

    def plan(self) -> list[dict[str, Any]]:
        """The lines of the plan: the study first, then inputs and cases."""
        return self._plan

    def cases(self) -> list[Case]:
        """The cases as planned."""
        return run_plan.cases_of(self.path, self.plan())

    def append(self, data: bytes) -> None:
        """Adds whole record lines as a probe wrote them.

        Raises DiskFull where there is no room: what fits whole is kept; StoreError where the run is sealed.
        """
        self._refuse_sealed()
        self._journal.append(data)

    def leave_out(self, process: int, why: str) -> None:
        """Notes that a process broke off or broke its contract: nothing of it counts, whatever it wrote."""
        self.append(json.dumps({"kind": "left_out", "process": process, "why": why}).encode() + b"\n")

    def recover(self) -> Recovery:
        """Cuts a last line that was not written to its end, notes that among the records, and says what is there.

        Raises StoreError naming a line that is no record, or where the run is sealed.
        """
        self._refuse_sealed()
        cut_B = self._journal.cut()
        if cut_B:
            self._journal.append(b'{"kind":"cut","cut_B":%d}\n' % cut_B)
        index = self._followed()
        seen = index.seen
        return Recovery(cut_B, index.complete, seen - index.complete, max(seen, default=-1) + 1)

    def complete(self) -> frozenset[int]:
        """The processes that ended with all their batches, blocks of energy or counts."""
        if not self.is_sealed:
            return self._followed().complete
        ended = frozenset(process for process, complete in self._stretches if complete)
        return ended | self._sealed_index.without_batches

    def records(self, kind: str) -> list[dict[str, Any]]:
        """All records of a kind that is not `batch`, in their order, unknown fields included."""
        return [other.parsed() for other in self._read_index.others if other.kind == kind]

    def others(self) -> list[dict[str, Any]]:
        """All records that are no batches, in their order, unknown fields included."""
        return [other.parsed() for other in self._read_index.others]

    def headers(self) -> list[dict[str, Any]]:
        """The header of each process, complete or not; nobody may change one, as all readers share it."""
        return list(self._read_index.headers)

    def failures(self) -> list[dict[str, Any]]:
        """The cases that could not be measured, and why."""
        return self.records("failure")

    def scan(self) -> pl.LazyFrame:
        """All batches: the columns of a batch record, `extra` (unknown fields as JSON or null), `complete`.

        `complete` says whether the batch's process ended. The frame of an unsealed run shows what there is now.
        """
        if self.is_sealed:
            return self._sealed_batches
        return lazy(self._followed(), self._journal)

    def batches_of(self, process: int) -> pl.DataFrame:
        """The batches of one process: the columns of `scan` but for `complete`."""
        if self.is_sealed:
            return self._sealed_batches_of(process)
        frames = list(self._followed().frames(self._journal, process))
        return pl.concat(frames) if frames else pl.DataFrame(schema=slice_columns())

    def seal(self) -> None:
        """Compacts the records and seals the run. May be cut off anywhere and called again.

        Raises DiskFull or StoreError; the records are kept then.
        """
        if not self.is_sealed:
            self.recover()
            compact(self.path, self._index, self._journal)
        self.close()
        drop_records(self.path)

    def verify(self) -> None:
        """Hashes the files of a sealed run again; raises StoreError naming the one that differs."""
        verify(self.path)

    def close(self) -> None:
        """Lets another process append to this run."""
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @cached_property
    def _plan(self) -> list[dict[str, Any]]:
        return run_plan.read(self.path)

    @cached_property
    def _index(self) -> Index:
        return Index(self.path)

    def _followed(self) -> Index:
        self._index.follow(self._journal)
        return self._index

    @property
    def _read_index(self) -> Index:
        return self._sealed_index if self.is_sealed else self._followed()

    @cached_property
    def _sealed_batches(self) -> pl.LazyFrame:
        """The batches of a sealed run; those of a small one are read once, whatever is asked of them, and kept."""
        batches = pl.scan_parquet(self.path / BATCHES)
        absent = slice_columns().keys() - batches.collect_schema().keys()  # each of them may be null
        batches = batches.with_columns(pl.lit(None, dtype=slice_columns()[name]).alias(name) for name in sorted(absent))
        is_small = batches.select(pl.len()).collect().item() <= ROWS_OF_A_GROUP
        return batches.collect().lazy() if is_small else batches

    @cached_property
    def _stretches(self) -> dict[tuple[int, bool], list[tuple[int, int]]]:
        """Where batches lie in a sealed run, by their process and whether it is complete: first rows, and how many."""
        whole = pl.struct("process", "complete").rle()
        runs = self.scan().select(whole.alias("run")).collect().unnest("run").unnest("value")
        start = pl.col("len").cum_sum() - pl.col("len")
        found: dict[tuple[int, bool], list[tuple[int, int]]] = {}
        for process, complete, *rows in runs.select("process", "complete", start.alias("start"), "len").iter_rows():
            found.setdefault((process, complete), []).append((rows[0], rows[1]))
        return found

    def _sealed_batches_of(self, process: int) -> pl.DataFrame:
        here = (self._stretches.get((process, complete), []) for complete in (True, False))
        parts = [
            self._group(number).slice(max(start - number * GROUP, 0), rows - max(number * GROUP - start, 0))
            for start, rows in sorted(chain(*here))
            for number in range(start // GROUP, (start + rows - 1) // GROUP + 1)
        ]
        return pl.concat(parts) if parts else self._group(0).clear()

    @cached_property
    def _group(self) -> Callable[[int], pl.DataFrame]:
        """Rows of a sealed run as they are packed, by their number; the last two are kept, as most ask in order."""

        def group(number: int) -> pl.DataFrame:
            rows = self.scan().slice(number * GROUP, GROUP)
            return rows.drop("complete").collect()

        return lru_cache(maxsize=2)(group)

    @cached_property
    def _sealed_index(self) -> Index:
        return sealed_index(self.path)

    def _refuse_sealed(self) -> None:
        if self.is_sealed:
            raise StoreError(f"run {self.path}: a sealed run never changes", hint="`wattlock run` makes a new one")


SLICE_B = 16 * 2**20

RECORDS = "records.jsonl"

BATCHES = "batches.parquet"

HEADERS = "headers.jsonl"

SUMS = "SHA256SUMS"

SEALED = (run_plan.NAME, BATCHES, HEADERS)

FILES = (SUMS, *SEALED)
"""All that a sealed run is made of."""

MOST_B = {SUMS: 2**12, run_plan.NAME: run_plan.MOST_B, HEADERS: 2**26, BATCHES: 2**28}
"""The files of a sealed run, and the most bytes that each may have.

A run of 304 cases has 1 MB in all, one of a million batches 30 MB of them. Parsed, a plan and records take ten times
their size.
"""

MOST_OF_A_PROCESS = 2**18
"""Batches: a process is read back whole. One of 300 cases that are visited 96 times has 29,000."""


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
    bounds.refuse_large_parquet(folder / BATCHES)


def refuse_foreign(folder: Path, batches: pl.LazyFrame) -> None:
    """Raises StoreError where a column of the batches is none of theirs or is missing, or a process has too many.

    * `batches`: all of a sealed run.
    """
    columns, known = batches.collect_schema(), {**slice_columns(), "complete": pl.Boolean}
    wrong = [name for name, kind in columns.items() if known.get(name) != kind]
    wrong += [name for name in (*required_columns(), "complete") if name not in columns]
    if wrong:
        what = f"run {folder}: {BATCHES} has foreign columns or lacks some: {wrong[0][:40]!r}"
        raise StoreError(what, hint=bounds.OTHER)
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


def sealed_index(folder: Path) -> Index:
    """The records of a sealed run that are no batches."""
    index = Index(folder)
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


def sums_sha256(run: RunFolder) -> str:
    """The hash that names a sealed run: that of its `SHA256SUMS`.

    Raises StoreError where it is not sealed.
    """
    if not run.is_sealed:
        raise StoreError(f"run {run.path}: is not finished", hint=f"`{run.resuming}` goes on with it")
    return sha256(run.path / SUMS)


def derive(run: RunFolder, path: Path, first: Mapping[str, Any], records: Iterable[Mapping[str, Any]]) -> RunFolder:
    """Makes the folder: the plan with another first line, other records, the batches as they are; sealed as a run is.

    Raises StoreError where the folder holds something, DiskFull where there is no room.
    """
    lines = [dict(first), *run.plan()[1:]]
    with named(path):
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise StoreError(f"{path}: the folder is not empty", hint="name another one with --out")
        write_whole(path / run_plan.NAME, run_plan.encode(lines))
        shutil.copyfile(run.path / BATCHES, path / BATCHES)
        write_whole(path / HEADERS, (_line(record) for record in records))
        write_sums(path)
    return RunFolder.open(path)


def _line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
