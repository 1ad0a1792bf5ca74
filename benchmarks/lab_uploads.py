"""Sends hostile packs to a lab, and counts what is refused, how much memory that takes, and what is left behind.

Call: `PYTHONPATH=tests/python .venv/bin/python benchmarks/lab_uploads.py [--tries 100000] [--first 0] [--served 200]`.
Each try is a pack of its own seed, carried through the same code as an upload, and read in a process of the limits of a
lab's child that stays for many. `--served` of them go over http to `wattlock lab` itself, each read by a child.
Ends with 1 where a pack was taken that is none, or anything was left.
"""

import argparse
import collections
import http.client
import multiprocessing
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from support.hostile_packs import hostile
from support.hostile_tries import is_taken, read_here
from support.labs import COUNTED, MEASURED, files_of
from wattlock.lab import child, pack
from wattlock.lab.collection import Collection

RUNS = (COUNTED / "m4", MEASURED)
TRIES_OF_A_LAB = 100
"""A lab is begun anew after so many: those that it took would make each listing longer."""
WORKERS = os.cpu_count() or 1
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - a disk that wears out is no part of it


def work(seeds: range, told: Connection) -> None:
    """Tries each seed; sends it before, and then kind, whether it was taken, seconds, KiB of memory at most, fault."""
    resource.setrlimit(resource.RLIMIT_AS, (child.ROOM_B, child.ROOM_B))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # Polars prints where it gives up
    read_here(pytest.MonkeyPatch())
    runs = [dict(files_of(run)) for run in RUNS]
    for first in range(0, len(seeds), TRIES_OF_A_LAB):
        with tempfile.TemporaryDirectory(dir=MEMORY) as place:
            lab = Collection.open(Path(place) / "outer" / "lab")
            outside = around(Path(place))
            for seed in seeds[first : first + TRIES_OF_A_LAB]:
                told.send(seed)
                sent, fault, taken = hostile(runs[seed % len(runs)], seed), "", False
                begun = time.process_time()
                try:
                    taken = is_taken(lab, sent)
                except Exception as error:  # noqa: BLE001 - a fault of the lab's, which is counted
                    fault = f"seed {seed}, {sent.kind}: {type(error).__name__}: {str(error)[:200]}"
                peak_KiB = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                told.send((sent.kind, taken, time.process_time() - begun, peak_KiB, fault))
            if around(Path(place)) != outside:
                told.send(("files outside", False, 0.0, 0, f"seeds from {seeds[first]}: files outside of the lab"))
            lab.engine.dispose()
    told.close()


def around(place: Path) -> list[str]:
    """All files outside of a lab's own folders."""
    inside = place / "outer" / "lab"
    return sorted(str(path) for path in place.rglob("*") if inside not in path.parents)


@dataclass
class Tally:
    """What came of the tries: counts by kind and whether taken, faults, KiB of memory at most, processor time."""

    counts: collections.Counter[tuple[str, bool]] = field(default_factory=collections.Counter)
    faults: list[str] = field(default_factory=list)
    peak_KiB: int = 0
    cpu_s: float = 0.0

    def note(self, kind: str, taken: bool, used_s: float, used_KiB: int, fault: str) -> None:
        """Counts one try in."""
        self.counts[kind, taken] += 1
        self.cpu_s += used_s
        self.peak_KiB = max(self.peak_KiB, used_KiB)
        if fault:
            self.faults.append(fault)
            print(fault, flush=True)


def tried(seeds: range, tally: Tally) -> None:
    """Tries these seeds in a process of their own, and in another one from where the limits ended it."""
    context = multiprocessing.get_context("spawn")
    while seeds:
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(seeds, theirs), daemon=True)
        process.start()
        theirs.close()
        current = seeds[0]
        try:
            while True:
                if not ours.poll(child.WALL_s):
                    process.kill()
                message = ours.recv()
                if isinstance(message, int):
                    current = message
                else:
                    tally.note(*message)
        except EOFError:
            process.join()
        if not process.exitcode:
            return
        tally.counts["ended by the limits, as a child is", False] += 1
        seeds = seeds[seeds.index(current) + 1 :]


def served(first: int, tries: int) -> tuple[collections.Counter[int], int, int]:
    """Sends packs to a server; gives the counts of its answers, and its KiB of memory before and at most."""
    answers: collections.Counter[int] = collections.Counter()
    runs = [dict(files_of(run)) for run in RUNS]
    with tempfile.TemporaryDirectory(dir=MEMORY) as place:
        command = [str(Path(sys.executable).with_name("wattlock")), "lab", "--data", place, "--bind", "127.0.0.1:0"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
            try:
                line = server.stderr.readline() if server.stderr else ""
                address = line.partition("http://")[2].partition(" ")[0]
                before = peak(server.pid)
                for seed in range(first, first + tries):
                    sent = hostile(runs[seed % len(runs)], seed)
                    connection = http.client.HTTPConnection(address, timeout=child.WALL_s + 30)
                    headers = {"Content-Type": pack.MEDIA_TYPE}
                    connection.request("PUT", f"/runs/{sent.announced}", sent.content, headers)
                    status = connection.getresponse().status
                    connection.close()
                    answers[status] += 1
                    if status != 422 and not (sent.is_forged and status in {200, 201}):
                        sys.exit(f"seed {seed}, {sent.kind}: {status}")
                return answers, before, peak(server.pid)
            finally:
                server.terminate()


def peak(process: int) -> int:
    """The KiB of memory that a process had at most."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+)", status)[0])


def main() -> int:
    """Prints a line a kind, then the figures; gives 1 where there were faults."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--tries", type=int, default=100_000)
    asked.add_argument("--first", type=int, default=0)
    asked.add_argument("--served", type=int, default=200)
    given = asked.parse_args()
    begun = time.monotonic()
    tally = Tally()
    with ThreadPoolExecutor(WORKERS) as pool:
        parts = [range(given.first + part, given.first + given.tries, WORKERS) for part in range(WORKERS)]
        list(pool.map(lambda part: tried(part, tally), parts))
    counts = tally.counts
    for kind in sorted({kind for kind, _ in counts}):
        print(f"{kind}: {counts[kind, False]} refused, {counts[kind, True]} taken under their own hash")
    print(f"{sum(counts.values())} tries, {sum(count for (_, taken), count in counts.items() if taken)} taken")
    print(f"{len(tally.faults)} faults; {tally.peak_KiB // 1024} MiB at most in a process that reads")
    print(f"{tally.cpu_s:.0f} s of processor time, {time.monotonic() - begun:.0f} s on {WORKERS} processors")
    if given.served:
        answers, before, most = served(given.first + given.tries, given.served)
        print(f"served: {dict(sorted(answers.items()))}")
        print(f"{before // 1024} MiB of memory in the server at first, {most // 1024} MiB at most")
    return bool(tally.faults)


if __name__ == "__main__":
    sys.exit(main())
