"""How long a lab of many runs takes: a person's pages, and the index made again.

Call: `PYTHONPATH=tests/python .venv/bin/python benchmarks/lab.py [RUNS] [CASES]`, else 1000 runs of 300 cases. One
run is measured in virtual time and copied under other ids, so that every folder is a sealed run of its own.
"""

import json
import os
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl

from support.labs import asking, hash_of
from support.scripted_probe import install
from support.virtual_runs import study_of, write_study
from wattlock.lab.collection import RUNS, Collection
from wattlock.run.begin import measure
from wattlock.store import RunFolder, run_folder, run_plan

CIPHERS = ["aes128-cbc", "aes256-cbc", "des-cbc", "rc4-128", "3des-cbc"]
REPEATS = 5


def measured(place: Path, cases: int) -> Path:
    """A sealed run of about so many cases, in virtual time."""
    os.environ["WATTLOCK_PROBE"] = str(install(place / "probe"))
    payloads_B = [64 * (number + 1) for number in range(max(1, cases // (2 * len(CIPHERS))))]
    write_study(place / "v.toml", study_of(cipher=CIPHERS, operation=["encrypt", "decrypt"], payload_B=payloads_B))
    measure(str(place / "v.toml"), out=place / "run")
    return place / "run"


def copied(run: Path, to: Path, number: int) -> str:
    """A copy under another id, sealed; gives its hash."""
    folder = to / "copy"
    shutil.copytree(run, folder)
    first, *others = RunFolder.open(folder).plan()
    plan_lines = run_plan.encode([{**first, "id": f"{first['id']}-{number}"}, *others])
    (folder / run_plan.NAME).write_bytes(b"".join(plan_lines))
    run_folder.write_sums(folder)
    name = hash_of(folder)
    folder.rename(to / name)
    return name


def decoded(folder: Path) -> None:
    """The least that reading a run back takes: its files hashed, its lines parsed, its columns decoded."""
    run_folder.verify(folder)
    for name in (run_plan.NAME, run_folder.HEADERS):
        for line in (folder / name).read_bytes().splitlines():
            json.loads(line)
    pl.read_parquet(folder / run_folder.BATCHES)


def seconds(work: Callable[[], object], repeats: int = REPEATS) -> str:
    """The median of some repeats with the least and the most, and the processor time of one, its processes included."""
    times, begun_cpu_s = [], cpu_s()
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    used_s = (cpu_s() - begun_cpu_s) / repeats
    spread = f"{min(times):.3f} to {max(times):.3f}, {repeats} repeats"
    return f"{statistics.median(times):.3f} s ({spread}), {used_s:.3f} s of processor time"


def cpu_s() -> float:
    """Processor time of this process and of those that it started and that ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def main(runs: int, cases: int) -> None:
    """Prints a line a figure."""
    with tempfile.TemporaryDirectory() as place:
        run = measured(Path(place), cases)
        lab = Collection.open(Path(place) / "lab")
        names = [copied(run, lab.data / RUNS, number) for number in range(runs)]
        print(f"{runs} runs of {len(RunFolder.open(run).cases())} cases, {os.cpu_count()} processors")
        print(f"reindex: {seconds(lab.reindex, 1)}", flush=True)
        folders = [lab.data / RUNS / name for name in names]
        print(f"hashed, parsed and decoded alone: {seconds(lambda: any(map(decoded, folders)), 1)}", flush=True)
        print(f"a start: {seconds(lambda: Collection.open(lab.data).catch_up(), 1)}", flush=True)
        client = asking(lab)
        print(f"overview: {seconds(lambda: client.get('/').raise_for_status())}", flush=True)
        print(f"runs: {seconds(lambda: client.get('/runs').raise_for_status())}", flush=True)
        pairs = iter(zip(names[::2], names[1::2], strict=False))

        def compare() -> None:
            client.get("/compare", params={"run": next(pairs)}).raise_for_status()

        print(f"compare, of runs that nobody looked at: {seconds(compare)}", flush=True)
        again = {"run": names[:2]}
        print(f"compare, again: {seconds(lambda: client.get('/compare', params=again).raise_for_status())}", flush=True)


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]), *(1000, 300)[len(sys.argv) - 1 :])
