"""Do printed intervals hold the truth? `make bench-conditions`, or `python benchmarks/conditions.py [CONDITION]...`.

The same small study is carried out over and over in each of six conditions. What its runs say together is the long-run
truth of that condition; each run's interval holds it or does not. Runs that follow each other are compared as a user
would, and what they tell apart is a false alarm. README.md beside this file says how to read the table.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import random
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

from wattlock.run import begin
from wattlock.run.compare import compare
from wattlock.run.result import Result, open_run, read
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


CONDITIONS: dict[str, Callable[[float], contextlib.AbstractContextManager[None]]] = {
    "as it is": lambda _: contextlib.nullcontext(),
    "two busy loops": lambda _: programs(SPIN, 2),
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
            f"| {name} | {held.size} | {100 * held.mean():.1f} ({100 * low:.1f} to {100 * high:.1f}) "
            f"| {100 * np.median(widths):.3f} | {100 * np.median(np.abs(errors)):.3f} "
            f"| {100 * np.quantile(np.abs(errors), 0.95):.3f} | {100 * (1 - clean):.0f} "
            f"| {statistics.median(self.took_s):.1f} |"
        )

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


def measure(names: Sequence[str], runs: int, folder: Path) -> dict[str, Found]:
    """All runs of all conditions in one shuffled order, after one that tells how long a run takes."""
    study = folder / "conditions.toml"
    study.write_text(STUDY)
    found = {name: Found() for name in names}
    begun = time.monotonic()
    begin.measure(begin.Request(str(study)), out=folder / "first")
    length_s = time.monotonic() - begun
    order = [(name, number) for name in names for number in range(runs)]
    random.shuffle(order)
    for count, (name, number) in enumerate(order):
        print(f"\rrun {count + 1} of {len(order)}", end="\r", file=sys.stderr, flush=True)
        out = folder / f"{[*CONDITIONS].index(name)}-{number}"
        begun = time.monotonic()
        with CONDITIONS[name](length_s):
            done = begin.measure(begin.Request(str(study)), out=out)
        found[name].took_s.append(time.monotonic() - begun)
        found[name].results.append(read(done))
    return found


def kept(folder: Path) -> dict[str, Found]:
    """Runs of an earlier call that stayed in a folder."""
    found: dict[str, Found] = {}
    for number, name in enumerate(CONDITIONS):
        paths = sorted(folder.glob(f"{number}-*"), key=lambda path: int(path.name.partition("-")[2]))
        results = [open_run(path) for path in paths if RunFolder.open(path).is_sealed]
        if results:
            found[name] = Found(results, [result.wall_s for result in results])
    return found


def show(found: dict[str, Found]) -> None:
    """Prints both tables."""
    print("| condition | case-runs | held, % | half-width, % | error, % | 95th percentile | disturbed, % | s a run |")
    print("|---|---|---|---|---|---|---|---|")
    for name, of in found.items():
        print(of.line(name))
    print("\n| condition | pairs alike | told apart | slowdowns of 1.67 % | seen | mean miss, points |")
    print("|---|---|---|---|---|---|")
    for name, of in found.items():
        (pairs, alarms), (checks, seen, miss) = of.alarms(), of.checks()
        print(f"| {name} | {pairs} | {alarms} | {checks} | {seen} | {miss:+.3f} |")


def main() -> None:
    """Measures in the conditions asked for, or reads the runs that stayed in a folder."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no program beside is left behind
    parser = argparse.ArgumentParser(description="Do printed intervals hold the truth, in six conditions?")
    parser.add_argument("conditions", nargs="*", metavar="CONDITION", help=f"of {', '.join(CONDITIONS)}; all without")
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N", help=f"of each condition ({RUNS})")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the runs stay; those there are read again")
    asked = parser.parse_args()
    if unknown := [name for name in asked.conditions if name not in CONDITIONS]:
        parser.error(f"no such condition: {', '.join(unknown)}")
    if asked.keep and asked.keep.is_dir():
        show(kept(asked.keep))
        return
    with tempfile.TemporaryDirectory(prefix="wattlock-conditions-") as name:
        folder = asked.keep or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        show(measure(asked.conditions or [*CONDITIONS], asked.runs, folder))


if __name__ == "__main__":
    main()
