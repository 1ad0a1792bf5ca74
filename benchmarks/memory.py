"""Memory and time of the Python side for a run of a million batches: `python benchmarks/memory.py [BATCHES]`.

Each step runs in a process of its own, so that its peak is its own. The aim is 400 MB at a million batches.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

AIM_MB = 400
BATCHES = 1_000_000
PROCESSES = 30
ROUND = 2_000
CELLS = 300


def make(folder: Path, batches: int) -> None:
    """Write a run as thirty probes would, round by round."""
    from wattlock.store import RunFolder, plan_lines
    from wattlock.study import Cell, load

    study = load("quick")
    factors = ("rustcrypto", "encrypt", "ready", "raw", "hot", "independent")
    cells = [Cell(number, "study", "aes128-cbc", *factors, 64, "random") for number in range(CELLS)]
    created = datetime.now(UTC)
    plan = plan_lines(study, cells, id=folder.name, created=created, seed=1, probe_sha256="00" * 32, device=None)
    with RunFolder.create(folder, plan) as run:
        for process in range(PROCESSES):
            share = batches * (process + 1) // PROCESSES - batches * process // PROCESSES
            run.append(_line({"kind": "header", "schema": 1, "process": process, "cells": [], "seed": process}))
            for first in range(0, share, ROUND):
                run.append(_batches(process, first // ROUND, min(ROUND, share - first)))
            run.append(_line({"kind": "end", "process": process, "batches": share, "wall_ns": 1}))


def seal(folder: Path, _batches: int) -> None:
    """Compact it to Parquet and seal it."""
    from wattlock.store import RunFolder

    run = RunFolder.open(folder)
    run.seal()
    run.verify()
    _expect(len(run.complete()), PROCESSES)


def scan(folder: Path, batches: int) -> None:
    """Ask it for the median of each cell in each process."""
    import polars as pl

    from wattlock.store import RunFolder

    frame = RunFolder.open(folder).scan().filter("complete", "clean")
    medians = frame.group_by("process", "cell").agg(pl.col("ticks").median(), pl.len()).collect(engine="streaming")
    _expect(int(medians["len"].sum()), batches)


STEPS: dict[str, Callable[[Path, int], None]] = {"make": make, "seal": seal, "scan": scan}


def _line(record: dict[str, object]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def _batches(process: int, number: int, count: int) -> bytes:
    import numpy as np
    import polars as pl

    from wattlock.store.schema import batch_columns

    draw = np.random.default_rng([process, number])
    columns = {
        name: pl.Series(name, draw.integers(1, 250_000, count) if kind == pl.Int64 else [None] * count, dtype=kind)
        for name, kind in batch_columns().items()
    }
    frame = pl.DataFrame(columns).with_columns(
        cell=pl.int_range(count, dtype=pl.Int64) % CELLS,
        process=pl.lit(process, pl.Int64),
        round=pl.lit(number, pl.Int64),
        clean=pl.lit(True),
    )
    return frame.select(pl.lit("batch").alias("kind"), pl.all()).write_ndjson().encode()


def _expect(found: int, expected: int) -> None:
    if found != expected:
        raise SystemExit(f"error: {found} where {expected} were written")


def _measured(step: str, folder: Path, batches: int) -> dict[str, float]:
    """Carry out one step in a process of its own; gives seconds and peak MB."""
    command = [sys.executable, __file__, step, str(folder), str(batches)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def _in_this_process(step: str, folder: Path, batches: int) -> None:
    start = time.perf_counter()
    STEPS[step](folder, batches)
    seconds = time.perf_counter() - start
    # Linux counts kibibytes, macOS bytes.
    unit_B = 1 if sys.platform == "darwin" else 1024
    peak_MB = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit_B / 1e6
    print(json.dumps({"seconds": seconds, "peak_MB": peak_MB}))


def main() -> int:
    """Carry out all steps and print what each took; 1 where a step is over the aim."""
    if len(sys.argv) == 4:
        _in_this_process(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
        return 0
    batches = int(sys.argv[1]) if len(sys.argv) > 1 else BATCHES
    worst_MB = 0.0
    with tempfile.TemporaryDirectory(prefix="wattlock-memory-") as place:
        folder = Path(place) / "run"
        print(f"{batches} batches of {PROCESSES} processes; aim: {AIM_MB} MB")
        for step in STEPS:
            measured = _measured(step, folder, batches)
            size_MB = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
            worst_MB = max(worst_MB, measured["peak_MB"])
            print(
                f"{step:6} {measured['seconds']:6.1f} s  peak {measured['peak_MB']:4.0f} MB  folder {size_MB:6.1f} MB"
            )
    return int(worst_MB > AIM_MB)


if __name__ == "__main__":
    sys.exit(main())
