"""A sweep beside bare processes of `wattlock-net` that are asked the same: `python benchmarks/sweep.py [--rounds N]`.

What is compared is the share of the throughput that `wattlock sweep` keeps of that of as many bare processes as there
are processors, each given its part of the same questions at once. Both are timed in turns, start included. On a machine
that does something else besides, the processors' time tells more than that of the clock. The aim is 80 %.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from wattlock.link import wifi_air
from wattlock.link.wifi import groups_of, signal_points
from wattlock.sweep import plan
from wattlock.sweep.answers import asked
from wattlock.targets import or_this_machine, toolbox

AIM_PERCENT = 80


def questions(of: plan.SweepPlan) -> list[str]:
    """What the rows ask of the air, as lines."""
    lines = []
    for grid in of.grids:
        for combination in grid.combinations(0, grid.rows):
            named = asked(of, grid, *combination)
            [first, *_] = signal_points(named)
            groups = enumerate(groups_of(named, of.ciphers))
            lines += [json.dumps(wifi_air.question(named, group, first.signal, number)) for number, group in groups]
    return lines


class Took(NamedTuple):
    """Seconds by the clock, and of the processors."""

    wall_s: float
    busy_s: float


@contextmanager
def timed(into: list[Took]) -> Iterator[None]:
    """Adds what the programs took that were begun and ended meanwhile."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    yield
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    into.append(Took(time.perf_counter() - began, busy_s))


def bare(program: Path, parts: list[Path]) -> None:
    """Bare processes side by side, one a part."""
    children = []
    for part in parts:
        with part.open("rb") as given:
            children.append(subprocess.Popen([program, "air"], stdin=given, stdout=subprocess.DEVNULL))
    codes = {child.wait() for child in children}
    if codes != {0}:
        sys.exit("error: wattlock-net failed")


def swept(file: Path, out: Path, workers: int) -> None:
    """The sweep."""
    words = ["sweep", str(file), "--out", str(out), "--workers", str(workers)]
    subprocess.run([sys.executable, "-m", "wattlock", *words], check=True, stderr=subprocess.DEVNULL)
    shutil.rmtree(out)


def main() -> None:
    """Both in turns, and the share that is kept."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--draws", type=int, default=2, help="of the sweep's 16: 6,250 rows each")
    options = arguments.parse_args()
    workers = len(os.sched_getaffinity(0))
    whole = plan.SWEEPS.text(plan.SWEEPS.find("tag-or-cipher")).decode()
    head, _, rest = whole.partition('"seed" = [')
    net = toolbox.find()
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch, "sweep.toml")
        file.write_text(f'{head}"seed" = {list(range(1, options.draws + 1))}{rest.partition("]")[2]}')
        of = plan.planned(plan.load(file), or_this_machine(None))
        lines = questions(of)
        parts = [Path(scratch, f"part-{number}") for number in range(workers)]
        for number, part in enumerate(parts):
            part.write_text("\n".join(lines[number::workers]) + "\n")
        print(f"{sum(grid.rows for grid in of.grids):,} rows, {len(lines):,} questions, {workers} processes")
        print("by the clock: bare s, sweep s, kept; of the processors: the same")
        alone: list[Took] = []
        together: list[Took] = []
        for _ in range(options.rounds):
            with timed(alone):
                bare(net.program, parts)
            with timed(together):
                swept(file, Path(scratch, "out"), workers)
            one, other = alone[-1], together[-1]
            pairs = zip(one, other, strict=True)
            print("   ".join(f"{a:6.1f} {b:6.1f} {100 * a / b:4.0f} %" for a, b in pairs), flush=True)
    for what, place in (("by the clock", 0), ("of the processors", 1)):
        kept = statistics.median(100 * a[place] / b[place] for a, b in zip(alone, together, strict=True))
        print(f"kept {what}: {kept:.0f} %, aim {AIM_PERCENT} %")


if __name__ == "__main__":
    main()
