"""What lies where in the records of a run: read once, slice by slice, and carried on as the file grows."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from wattlock.errors import StoreError
from wattlock.store import schema_1
from wattlock.store.bounds import NotARecord, weigh
from wattlock.store.faults import fault
from wattlock.store.journal import Journal
from wattlock.store.records import BATCH, Other, parse
from wattlock.store.schema import SCHEMA, check_version


class Span(NamedTuple):
    """Whole lines of the journal, about 16 MiB or fewer, and the processes whose batches are among them."""

    start: int
    size_B: int
    processes: frozenset[int]


@dataclass
class Index:
    """The records of a run but for its batches, and where those are.

    * `schema`: the version of the run.
    * `others`: every record that is no batch, in its order; `headers`: those of them that are headers, parsed.
    * `batches`: how many batches each process has; `blocks`: how many blocks of energy; `counts`: how many counts.
    * `left_out`: processes that broke their contract: what they wrote before does not count.
    """

    folder: Path
    schema: int = SCHEMA
    spans: list[Span] = field(default_factory=list)
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
                batches, others, lines, parsed = parse(self._of_today(data))
            except NotARecord as error:
                what = f"line {self._lines + error.index + 1} of {journal.path.name} {error}"
                hint = "the file was changed; take it from a copy, or take this line out"
                raise StoreError(f"run {self.folder}: {what}", hint=hint) from error
            for other, record in zip(others, parsed, strict=True):
                self._note(other, record, journal.path.name)
            counts = dict(batches["process"].value_counts().iter_rows())
            self.batches.update(counts)
            self.spans.append(Span(start, len(data), frozenset(counts)))
            self._end_B = start + len(data)
            self._lines += lines

    def _note(self, other: Other, record: dict[str, Any], file: str) -> None:
        """Takes in a record of `file` that is no batch; raises StoreError where it is not as the schema has it."""
        self.others.append(other)
        if other.kind == "header":
            check_version(str(self.folder), record.get("schema"))
        elif other.kind == "end":
            record.setdefault("energy_blocks", 0)  # an end of before there were any
        if (wrong := fault(record)) is not None:
            raise self._damaged(f"a {other.kind} record of {file} is not as the schema has it: {wrong}")
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

    def _of_today(self, data: bytes) -> bytes:
        return schema_1.lines(data) if self.schema == schema_1.VERSION else data

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
                batches = parse(self._of_today(journal.read(span.start, span.size_B))).batches
                yield batches if process is None else batches.filter(pl.col("process") == process)
