"""Do printed intervals hold the truth? `make bench-conditions`, or `python benchmarks/conditions.py [CONDITION]...`.

The same study is carried out over and over in each condition of the machine: idle, beside busy loops, a build of this
project, a program on the same processor. What its runs say together is the long-run truth of that condition; each run's
interval holds it or does not. Runs that follow each other are compared as a user would, and what they tell apart is a
false alarm. README.md beside this file says how to read the tables.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl

from wattlock.analysis.distributions import t_quantile
from wattlock.analysis.estimate import UNSEEN_ERROR
from wattlock.run import begin
from wattlock.run.result import Result, open_run
from wattlock.run.run_comparison import compare
from wattlock.store import RunFolder

RUNS = 20
STUDY = """
id = "conditions"
title = "Sixteen cases, again and again"
question = "Do the intervals hold what the runs say together?"
looks = [5, 10, 20]
target_percent = 1

[[grid]]
cipher = ["aes128-cbc", "aes256-ctr", "des-cbc", "rc4-128"]
provider = ["rustcrypto", "openssl"]
operation = ["encrypt"]
payload_B = [64, 1500]
"""
PAIR = """
id = "pair"
title = "Two cases, again and again"
question = "Are runs of the same two cases told apart?"
target_percent = 1

[[grid]]
cipher = ["aes128-cbc", "des-cbc"]
operation = ["encrypt"]
payload_B = [1500]
"""
STUDIES = {"conditions": STUDY, "pair": PAIR}
DRAWS = 2000

SPIN = "while True: pass"
HOG = "import array\na = array.array('d', bytes(2**28))\nwhile True: b = a[:]"
THIRD = """
import sys, time
while True:
    begun = time.monotonic()
    while time.monotonic() - begun < 0.003: pass
    time.sleep(0.007)
"""


@contextlib.contextmanager
def programs(code: str, count: int, processor: int | None = None) -> Iterator[None]:
    """Programs beside the run; on one processor where one is named."""
    words = [sys.executable, "-c", code]
    if processor is not None:
        words = ["taskset", "-c", str(processor), *words]
    beside = [subprocess.Popen(words) for _ in range(count)]
    try:
        yield
    finally:
        for program in beside:
            program.kill()
            program.wait()


@contextlib.contextmanager
def one_processor() -> Iterator[None]:
    """Only the last processor may be used."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextlib.contextmanager
def from_half(length_s: float) -> Iterator[None]:
    """Two busy loops that begin when half of a run has passed."""
    ended = threading.Event()

    def late() -> None:
        if not ended.wait(length_s / 2):
            with programs(SPIN, 2):
                ended.wait()

    thread = threading.Thread(target=late)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextlib.contextmanager
def build(_: float) -> Iterator[None]:
    """A release build of this project, begun anew as long as a run lasts, in a folder of its own."""
    root = Path(__file__).parent.parent
    with tempfile.TemporaryDirectory(prefix="wattlock-build-") as folder:
        once = f"cargo build --quiet --release --locked --target-dir {folder}; rm -rf {folder}/release"
        words = ["bash", "-c", f"cd {root}; while true; do {once}; done"]
        beside = subprocess.Popen(words, start_new_session=True, stderr=subprocess.DEVNULL)
        try:
            time.sleep(5)
            yield
        finally:
            os.killpg(beside.pid, signal.SIGKILL)
            beside.wait()


CONDITIONS: dict[str, Callable[[float], contextlib.AbstractContextManager[None]]] = {
    "as it is": lambda _: contextlib.nullcontext(),
    "two busy loops": lambda _: programs(SPIN, 2),
    "a release build": build,
    "a program that copies 256 MiB": lambda _: programs(HOG, 1),
    "30 % of the same processor": lambda _: programs(THIRD, 1, max(os.sched_getaffinity(0))),
    "one processor": lambda _: one_processor(),
    "two busy loops from half on": from_half,
}


@dataclass
class Found:
    """The runs of one condition: their results, and how long each took."""

    results: list[Result] = field(default_factory=list)
    took_s: list[float] = field(default_factory=list)

    def line(self, name: str) -> str:
        """A row of the table."""
        errors, widths = self._errors()
        held = np.abs(errors) <= widths
        low, high = np.quantile(np.random.default_rng(1).choice(held, (DRAWS, held.size)).mean(axis=1), (0.025, 0.975))
        clean = statistics.median(result.clean_share for result in self.results)
        return (
            f"| {name} | {held.size} | {100 * held.mean():.1f} ({100 * low:.1f} to {100 * high:.1f}) |"
            f" {100 * np.median(widths):.3f} | {np.median(self._over_exact()):.2f} "
            f"| {100 * np.median(np.abs(errors)):.3f} | {100 * np.quantile(np.abs(errors), 0.95):.3f} "
            f"| {100 * (1 - clean):.0f} "
            f"| {statistics.median(self.took_s):.1f} |"
        )

    def _over_exact(self) -> list[float]:
        """Of each run and case: the printed half-width over that of the exact interval, of one look and 95 %."""
        rows = (row for result in self.results for row in result.across.iter_rows(named=True))
        return [
            row["half_width"] / (t_quantile(row["freedom"], 0.975) * own)
            for row in rows
            if row["freedom"] and (own := math.sqrt(max(row["error"] ** 2 - UNSEEN_ERROR**2, 0)))
        ]

    def validity(self, name: str) -> str:
        """A row of the second table: valid, warned and invalid runs, and cases within 1 %."""
        invalid = sum(bool(result.reasons) for result in self.results)
        warned = sum(
            not result.reasons and any(check.state == "not resolved" for check in result.verdicts)
            for result in self.results
        )
        cases = sum(result.estimates.height for result in self.results)
        known = sum(result.estimates.filter(pl.col("half_width_percent") <= 1).height for result in self.results)
        took = statistics.median(self.took_s)
        runs = len(self.results)
        numbers = f"{runs} | {runs - warned - invalid} | {warned} | {invalid}"
        return f"| {name} | {numbers} | {100 * known / cases:.1f} | {took:.0f} |"

    def _errors(self) -> tuple[np.ndarray, np.ndarray]:
        """Of each run and case with a number: how far from the truth, and the half-width printed (both of the log)."""
        said: dict[int, list[tuple[float, float]]] = {}
        for result in self.results:
            numbers = result.estimates.filter(result.estimates["cycles"].is_not_null())["case"].to_list()
            rows = result.across.select("case", "log_canaries", "half_width").iter_rows()
            for case, log, width in rows:
                if case in numbers:
                    said.setdefault(case, []).append((log, width))
        errors, widths = [], []
        for pairs in said.values():
            truth = statistics.fmean(log for log, _ in pairs)
            errors += [log - truth for log, _ in pairs]
            widths += [width for _, width in pairs]
        return np.array(errors), np.array(widths)

    def alarms(self) -> tuple[int, int]:
        """Pairs of one case in runs that follow each other, and how many are called slower or faster."""
        pairs = alarms = 0
        for first, second in pairwise(self.results):
            table = compare(first, [second]).table
            pairs += table.height
            alarms += table.filter(table["verdict"].is_in(["slower", "faster"])).height
        return pairs, alarms

    def checks(self) -> tuple[int, int, float]:
        """Injected slowdowns, those seen (their interval excludes 1), and their mean miss in points."""
        found = [check for result in self.results for check in result.verdicts if check.name == "injected slowdown"]
        seen = sum(check.low > 1 for check in found)
        miss = statistics.fmean(math.log(check.measured / check.truth) for check in found)
        return len(found), seen, 100 * miss


def measure(names: Sequence[str], runs: int, folder: Path, study: str) -> None:
    """The runs that the folder lacks, in shuffled order, after one that tells how long a run takes."""
    if study in STUDIES:
        definition = folder / f"{study}.toml"
        definition.write_text(STUDIES[study])
        study = str(definition)
    length = folder / "length_s"
    if not length.is_file():
        begun = time.monotonic()
        begin.measure(begin.Request(study), out=folder / "first")
        length.write_text(f"{time.monotonic() - begun}")
    length_s = float(length.read_text())
    order = [(name, number) for name in names for number in range(runs)]
    missing = [(name, number) for name, number in order if not is_there(path_of(folder, name, number))]
    random.shuffle(missing)
    for count, (name, number) in enumerate(missing):
        print(f"\rrun {count + 1} of {len(missing)}", end="\r", file=sys.stderr, flush=True)
        out = path_of(folder, name, number)
        shutil.rmtree(out, ignore_errors=True)
        with CONDITIONS[name](length_s):
            begin.measure(begin.Request(study), out=out)


def path_of(folder: Path, name: str, number: int) -> Path:
    """Where a run of a condition lies."""
    return folder / f"{[*CONDITIONS].index(name)}-{number}"


def is_there(path: Path) -> bool:
    """Whether a run was carried out to its end."""
    return path.is_dir() and RunFolder.open(path).is_sealed


def kept(folder: Path) -> dict[str, Found]:
    """The runs of a folder."""
    found: dict[str, Found] = {}
    for number, name in enumerate(CONDITIONS):
        paths = sorted(folder.glob(f"{number}-*"), key=lambda path: int(path.name.partition("-")[2]))
        results = [open_run(path) for path in paths if is_there(path)]
        if results:
            found[name] = Found(results, [result.wall_s for result in results])
    return found


def show(found: dict[str, Found]) -> None:
    """Prints the tables."""
    print(
        "| condition | case-runs | held, % | half-width, % | over exact | error, % | 95th percentile | disturbed, % "
        "| s a run |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name, runs in found.items():
        print(runs.line(name))
    print("\n| condition | runs | valid | warned | invalid | cases within 1 %, % | s a run |")
    print("|---|---|---|---|---|---|---|")
    for name, runs in found.items():
        print(runs.validity(name))
    print("\n| condition | pairs alike | told apart | slowdowns of 1.67 % | seen | mean miss, points |")
    print("|---|---|---|---|---|---|")
    for name, runs in found.items():
        (pairs, alarms), (checks, seen, miss) = runs.alarms(), runs.checks()
        print(f"| {name} | {pairs} | {alarms} | {checks} | {seen} | {miss:+.3f} |")


def main() -> None:
    """Measures in the conditions asked for, or reads the runs that stayed in a folder."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no program beside is left behind
    parser = argparse.ArgumentParser(description="Do printed intervals hold the truth, in several conditions?")
    parser.add_argument(
        "conditions", nargs="*", metavar="CONDITION", help=f"of {', '.join(CONDITIONS)}; all without".replace("%", "%%")
    )
    parser.add_argument(
        "--runs", type=int, default=RUNS, metavar="N", help=f"of each condition ({RUNS}); 0 reads alone"
    )
    parser.add_argument("--study", default="conditions", metavar="STUDY", help=f"of {', '.join(STUDIES)}, or any other")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the runs stay; those there are not repeated")
    requested = parser.parse_args()
    if unknown := [name for name in requested.conditions if name not in CONDITIONS]:
        parser.error(f"no such condition: {', '.join(unknown)}")
    with tempfile.TemporaryDirectory(prefix="wattlock-conditions-") as name:
        folder = requested.keep or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        if requested.runs:
            measure(requested.conditions or [*CONDITIONS], requested.runs, folder, requested.study)
        show(kept(folder))


if __name__ == "__main__":
    main()
