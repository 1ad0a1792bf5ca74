"""Memory and time of the Python side for a run of a million batches: `python benchmarks/memory.py [BATCHES]`.

Each step runs in a process of its own, so that its peak is its own. The aims at a million batches: 400 MB in
each step, 20 s for the report.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

AIM_MB = 400
BATCHES = 1_000_000
PROCESSES = 30
ROUND = 2_000
CASES = 300


def make(folder: Path, batches: int) -> None:
    """Write a run of the first look's cases as thirty probes would, round by round; the headers are a real probe's."""
    from wattlock.run.process import VISITS, Order, measure, self_checks
    from wattlock.store import RunFolder, plan_lines
    from wattlock.study import expand, load
    from wattlock.targets import local, probe

    study, target = load("first-look"), local.find()
    rows, nearest = probe.catalogue(target, list(study.ciphers()))
    own = [case for case in expand(study, rows, (), nearest) if case.data in ("random", "none")][: CASES - 4]
    watch = self_checks(first=len(own))
    visits = {case.case: VISITS for case in own}
    created = datetime.now(UTC)
    plan = plan_lines(
        study, [*own, *watch], id=folder.name, created=created, seed=1, probe_sha256="00" * 32, device=None
    )
    lines: list[bytes] = []
    prepared = Order(0, 0, own, None, watch, visits).plan({}, measured=False)
    measure(target, prepared, 0, lines.append)
    header = json.loads(b"".join(lines).splitlines()[0])
    calls = [case["calls"] for case in sorted(header["cases"], key=lambda case: case["case"])]
    with RunFolder.create(folder, plan) as run:
        for process in range(PROCESSES):
            share = batches * (process + 1) // PROCESSES - batches * process // PROCESSES
            run.append(_line({**header, "process": process, "quiet_ppm": 377_000}))
            for first in range(0, share, ROUND):
                run.append(_batches(process, first // ROUND, min(ROUND, share - first), calls))
            run.append(_line({"kind": "end", "process": process, "batches": share, "wall_ns": 1}))


def seal(folder: Path, _batches: int) -> None:
    """Compact it to Parquet and seal it."""
    from wattlock.store import RunFolder

    run = RunFolder.open(folder)
    run.seal()
    run.verify()
    _expect(len(run.complete()), PROCESSES)


def scan(folder: Path, batches: int) -> None:
    """Ask it for the median of each case in each process."""
    import polars as pl

    from wattlock.store import RunFolder

    frame = RunFolder.open(folder).scan().filter("complete", "clean")
    medians = frame.group_by("process", "case").agg(pl.col("ticks").median(), pl.len()).collect(engine="streaming")
    _expect(int(medians["len"].sum()), batches)


def report(folder: Path, _batches: int) -> None:
    """Read it as estimates and draw the report."""
    from wattlock.energy.valuing import valued
    from wattlock.report.run_page import write_report
    from wattlock.run.result import read
    from wattlock.store import RunFolder

    result = read(RunFolder.open(folder))
    write_report(folder / "report.html", result, valued(result, None, allow_assumed=False))
    _expect(result.processes, PROCESSES)


STEPS: dict[str, Callable[[Path, int], None]] = {"make": make, "seal": seal, "scan": scan, "report": report}


def _line(record: dict[str, object]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def _batches(process: int, number: int, count: int, calls: Sequence[int]) -> bytes:
    import numpy as np
    import polars as pl

    from wattlock.store.record_schema import batch_columns

    draw = np.random.default_rng([process, number])
    canary = draw.normal(25_000, 20, count).astype(int)
    case = np.arange(count) % len(calls)
    known = {
        "case": case,
        "process": np.full(count, process),
        "round": np.full(count, number),
        "calls": np.asarray(calls)[case],
        "ticks": (draw.normal(250_000, 500, count)).astype(int),
        "wall_ns": np.full(count, 100_000),
        "cpu_ns": np.full(count, 100_200),
        "canary_before_ticks": canary,
        "canary_after_ticks": canary,
        "burst_before_ticks": (canary * 0.377).astype(int),
        "burst_after_ticks": (canary * 0.377).astype(int),
        "clean": np.full(count, fill_value=True),
    }
    columns = {
        name: pl.Series(name, known.get(name, [None if kind == pl.String else 0] * count), dtype=kind)
        for name, kind in batch_columns().items()
    }
    frame = pl.DataFrame(columns)
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
