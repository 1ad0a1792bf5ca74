"""Made-up records of a run: what a probe would write, with every field that the schema requires."""

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from resource import RLIMIT_FSIZE, getrlimit, setrlimit
from typing import Any

import polars as pl
import pytest

from wattlock.errors import WattlockError
from wattlock.store import RunFolder, plan_lines
from wattlock.store.record_schema import batch_columns, required_columns
from wattlock.study import Case, Study

FILES_OF_A_SEALED_RUN = {"plan.jsonl", "batches.parquet", "headers.jsonl", "SHA256SUMS"}
CREATED = datetime(2026, 11, 21, 2, 16, tzinfo=UTC)
STUDY = Study.model_validate(
    {
        "id": "made-up",
        "title": "Made up",
        "question": "Is what was written what is read?",
        "grid": [{"cipher": ["aes128-cbc"], "operation": ["encrypt"], "payload_B": [64]}],
    }
)
CASE = Case(0, "study", "aes128-cbc", "rustcrypto", "encrypt", "ready", "raw", "hot", "independent", 64, "random")


def line(record: dict[str, Any]) -> bytes:
    """One record as the probe writes it."""
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def header(process: int, **changed: Any) -> dict[str, Any]:
    """The first record of a process."""
    whole = {"hardware": {}, "virtualisation": {}, "kernel": {"os": "none"}, "power": {}, "load": {}}
    whole["build"] = {"version": "0", "isa": "none"}
    counts = {"ticks_per_second": 1_000_000_000, "timer_ticks": 50}
    known = {"schema": 2, "process": process, "seed": 7, "fingerprint": whole, **counts, "cases": []}
    return {"kind": "header", **known} | changed


def end(process: int, batches: int) -> dict[str, Any]:
    """The last record of a process."""
    return {"kind": "end", "process": process, "batches": batches, "energy_blocks": 0, "wall_ns": 5}


def batch(process: int, number: int, **changed: Any) -> dict[str, Any]:
    """The record of one batch; every other one of its numbers is drawn from its own."""
    draw = random.Random(f"{process} {number}")
    record: dict[str, Any] = {"kind": "batch"}
    for name, kind in batch_columns().items():
        if kind == pl.Int64:
            record[name] = draw.randrange(1, 200_000)
        elif kind == pl.Boolean:
            record[name] = draw.random() < 0.9
        else:
            record[name] = None if name not in required_columns() else "x"
    return record | {"process": process, "case": 0, "round": number} | changed


def process_lines(process: int, batches: int) -> Iterator[bytes]:
    """All records of a process that ended."""
    yield line(header(process))
    for number in range(batches):
        yield line(batch(process, number))
    yield line(end(process, batches))


def new_run(path: Path) -> RunFolder:
    """An empty run."""
    plan = plan_lines(STUDY, [CASE], id=path.name, created=CREATED, seed=7, probe_sha256="ab" * 32, device=None)
    return RunFolder.create(path, plan)


def bytes_of(processes: int, batches: int = 6) -> bytes:
    """All records of some processes that ended."""
    return b"".join(part for process in range(processes) for part in process_lines(process, batches))


def names_in(run: RunFolder) -> set[str]:
    """The names of the files of a run."""
    return {file.name for file in run.path.iterdir()}


def message_of(caught: pytest.ExceptionInfo[WattlockError], run: RunFolder | Path) -> str:
    """The error's message without the run's name."""
    path = run.path if isinstance(run, RunFolder) else run
    return caught.value.message.removeprefix(f"run {path}: ")


@contextmanager
def room_for(size_B: int) -> Iterator[None]:
    """Lets no file grow beyond `size_B`: what a full disk looks like to one that writes."""
    soft, hard = getrlimit(RLIMIT_FSIZE)
    setrlimit(RLIMIT_FSIZE, (size_B, hard))
    try:
        yield
    finally:
        setrlimit(RLIMIT_FSIZE, (soft, hard))
