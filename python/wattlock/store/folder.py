"""A run on disk.

While measuring: `plan.jsonl` and `records.jsonl`, which only grows. At the end: `plan.jsonl`, `batches.parquet` and
`headers.jsonl` (every record that is no batch), sealed by `SHA256SUMS`. Appending does not wait for the disk: a killed
process loses nothing, a pulled plug may lose the last seconds. Sealing does wait.
"""

import json
import shlex
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import polars as pl

from wattlock.errors import StoreError
from wattlock.store import plan, schema_1, seal
from wattlock.store.disk import named, write_whole
from wattlock.store.index import Index
from wattlock.store.journal import Journal
from wattlock.store.records import Recovery, slice_columns
from wattlock.study import Case

GROUP = seal.ROWS_OF_A_GROUP


class RunFolder:
    """One run: a study carried out on one device once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._journal = Journal(path / seal.RECORDS)

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
                (path / seal.RECORDS).open("xb").close()
            except FileExistsError:
                hint = "give another folder, or go on with `--resume`"
                raise StoreError(f"run {path}: the folder is not empty", hint=hint) from None
            write_whole(path / plan.NAME, plan.encode(plan_lines))
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
            seal.verify(run.path)
        run.plan()
        if run.is_sealed:
            is_old = run._schema == schema_1.VERSION
            seal.refuse_foreign(run.path, run._scanned, may_lack=is_old)
        else:
            plan.refuse_without_sum(run.path)
            if not (run.path / seal.RECORDS).is_file():
                what = f"run {run.path}: {seal.RECORDS} is missing"
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
        return (self.path / seal.SUMS).is_file()

    def plan(self) -> list[dict[str, Any]]:
        """The lines of the plan: the study first, then inputs and cases."""
        return self._plan

    def cases(self) -> list[Case]:
        """The cases as planned."""
        return plan.cases_of(self.path, self.plan())

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
        return seal.lazy(self._followed(), self._journal)

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
            seal.compact(self.path, self._index, self._journal)
        self.close()
        seal.drop_records(self.path)

    def verify(self) -> None:
        """Hashes the files of a sealed run again; raises StoreError naming the one that differs."""
        seal.verify(self.path)

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
        return plan.read(self.path)

    @property
    def _schema(self) -> int:
        return int(self._plan[0]["schema"])

    @cached_property
    def _index(self) -> Index:
        return Index(self.path, self._schema)

    def _followed(self) -> Index:
        self._index.follow(self._journal)
        return self._index

    @property
    def _read_index(self) -> Index:
        return self._sealed_index if self.is_sealed else self._followed()

    @cached_property
    def _sealed_batches(self) -> pl.LazyFrame:
        """The batches of a sealed run; those of a small one are read once, whatever is asked of them, and kept."""
        batches = self._scanned
        is_small = batches.select(pl.len()).collect().item() <= seal.ROWS_OF_A_GROUP
        return batches.collect().lazy() if is_small else batches

    @property
    def _scanned(self) -> pl.LazyFrame:
        batches = pl.scan_parquet(self.path / seal.BATCHES)
        return schema_1.batches(batches) if self._schema == schema_1.VERSION else batches

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
        return seal.sealed_index(self.path, self._schema)

    def _refuse_sealed(self) -> None:
        if self.is_sealed:
            raise StoreError(f"run {self.path}: a sealed run never changes", hint="`wattlock run` makes a new one")
