"""The engine beside `openssl speed` and criterion: `python benchmarks/against_peers.py [--repeats N] [--load]`.

Each tool tells how many times as long DES takes as AES, over and over, in shuffled order; README.md beside this file
says what is compared and how to read it. Nothing is asserted: figures stand beside aims.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from wattlock.analysis import estimate, within
from wattlock.errors import WattlockError
from wattlock.run import process
from wattlock.run.process import BATCH_NS, LEAST_VISITS, SELF_CHECKS, Order, self_checks
from wattlock.study import Case
from wattlock.targets import local

MESSAGE_B = 16 * 1024
SMALL_B = 16
AES, DES = "aes128-cbc", "des-cbc"
FACTORS = ("encrypt", "ready", "raw", "hot", "independent")

PROCESSES = 5
MOST_PROCESSES = 10
"""A repeat goes on beyond its five processes where some were too disturbed to tell anything."""
CASE_NS = 38_000_000 / PROCESSES
"""What the cases of a cipher may take of one process; the rest to 50 ms is for batches that are tried again."""
SMALL_SHARE = 0.15
"""Of that, what goes to the small message."""
WARM_NS, EDGES_NS = 20_000, 30_000
"""Warm-up before a visit; canaries and bursts around a batch."""

SPEED_S = 3
"""The default of `openssl speed`."""
CRITERION_WARM_S, CRITERION_S = 1, 3
"""Criterion's defaults are 3 s and 5 s."""

AIM_PERCENT = 0.15
AIM_TIMES = 5
DRAWS = 2000
"""Bootstrap draws of an error's interval."""

CRITERION = Path(__file__).parent / "criterion"


class Absent(Exception):
    """A tool that this machine does not have, and why."""


@dataclass(frozen=True)
class Repeat:
    """One answer of a tool: DES/AES, None where nothing can be said; seconds a case and in all."""

    ratio: float | None
    case_s: float
    total_s: float


class Tool(Protocol):
    """What is compared: a name, and what it times: tools of one pair time the same code."""

    name: str
    pair: str

    def repeat(self) -> Repeat:
        """Measures once. Raises Absent."""


def _processors() -> list[int]:
    """The processors that may be used, the last first; none where the system does not pin."""
    return sorted(os.sched_getaffinity(0), reverse=True) if hasattr(os, "sched_getaffinity") else []


@dataclass
class Machine:
    """What the engine's processes learn from one another: where it is quiet, and, within a repeat, how quiet."""

    processors: list[int] = field(default_factory=_processors)
    quiet_ppm: int | None = None
    model: str = "unknown processor"

    def elsewhere(self) -> None:
        """Goes to the next processor."""
        self.processors = self.processors[1:] + self.processors[:1]

    def learn(self, header: dict[str, Any]) -> None:
        """Takes in what a process found."""
        found = [ppm for ppm in (self.quiet_ppm, header["quiet_ppm"]) if ppm is not None]
        self.quiet_ppm = min(found, default=None)
        self.model = header["fingerprint"]["hardware"]["model_name"] or self.model


@dataclass
class Process:
    """What one process of the engine wrote."""

    header: dict[str, Any]
    batches: pl.DataFrame

    def canaries(self, quiet_ppm: int | None) -> dict[int, tuple[float, float]]:
        """Canaries a call by case, and their standard error; cases that were too disturbed are missing."""
        rows = within.summarise(self.batches, self.header, quiet_ppm)
        found = rows.with_columns(error=estimate.errors_of(rows)).select("case", "log_canaries", "error")
        return {case: (math.exp(log), math.exp(log) * error) for case, log, error in found.iter_rows()}

    def case_s(self) -> float:
        """Time of a cipher's cases, with warm-up, canaries, bursts and all tries: the mean of the two ciphers."""
        edges = [f"{what}_{side}_ticks" for what in ("canary", "burst") for side in ("before", "after")]
        ticks_per_ns = self.header["ticks_per_second"] / 1e9
        # The warm-up goes on in steps of a sixteenth of a batch, at least one call, until it has its time.
        step = pl.col("ticks") / pl.col("calls") * (pl.col("calls") // 16).clip(1)
        warm = (pl.lit(WARM_NS * ticks_per_ns) / step).ceil() * step
        is_visit = (pl.col("segment") == 0) & (pl.col("attempt") == 0)
        of_study = self.batches.filter(pl.col("case") < len(self.header["cases"]) - len(SELF_CHECKS))
        ticks = of_study.select((pl.sum_horizontal("ticks", *edges) + warm * is_visit).sum()).item()
        return float(ticks / ticks_per_ns / 1e9 / 2)


class Engine:
    """This project's engine on one provider's ciphers.

    * `per_byte`: from the message and a small one beside it, the cost of a byte without that of a message, as
      `openssl speed` tells it, which sets no IV and ends no message.
    """

    def __init__(self, provider: str, machine: Machine, pair: str, *, per_byte: bool) -> None:
        self.name, self.pair, self.machine, self.per_byte = f"wattlock, {provider}", pair, machine, per_byte
        sizes = (MESSAGE_B, SMALL_B) if per_byte else (MESSAGE_B,)
        self.cases = [
            Case(number, "study", cipher, provider, *FACTORS, size, "random")
            for number, (cipher, size) in enumerate((cipher, size) for size in sizes for cipher in (AES, DES))
        ]
        self.target = local.find()
        self.visits: dict[int, int] = {}
        self.number = 0

    def repeat(self) -> Repeat:
        """Five processes, more where some were disturbed."""
        self.visits = self.visits or self._visits()
        # A repeat is a run of its own: one mistaken quiet level must not judge all that come after.
        self.machine.quiet_ppm = None
        start, described = time.perf_counter(), 0
        done: list[Process] = []
        while described < PROCESSES and len(done) < MOST_PROCESSES:
            process = self._process(self.visits, measured=True)
            self.machine.learn(process.header)
            done.append(process)
            if self._log_ratio(process) is None:
                self.machine.elsewhere()
            else:
                described += 1
        ratio = self._ratio(done)
        return Repeat(ratio, sum(one.case_s() for one in done), time.perf_counter() - start)

    def _ratio(self, done: Sequence[Process]) -> float | None:
        logs = [log for log in map(self._log_ratio, done) if log is not None]
        return math.exp(estimate.joined(*zip(*logs, strict=True))[0]) if len(logs) >= 2 else None

    def _log_ratio(self, process: Process) -> tuple[float, float] | None:
        """Log of DES over AES in a process, and its standard error."""
        found = process.canaries(self.machine.quiet_ppm)
        if any(case.case not in found for case in self.cases):
            return None
        nothing = (0.0, 0.0)
        small = (found[2], found[3]) if self.per_byte else (nothing, nothing)
        costs = [large[0] - less[0] for large, less in zip((found[0], found[1]), small, strict=True)]
        errors = [math.hypot(large[1], less[1]) for large, less in zip((found[0], found[1]), small, strict=True)]
        relative = (error / cost for error, cost in zip(errors, costs, strict=True))
        return math.log(costs[1] / costs[0]), math.hypot(*relative)

    def _visits(self) -> dict[int, int]:
        """Visits that fill the case's share of a process, from how often its message is cut into segments."""
        header = self._process(dict.fromkeys(range(len(self.cases)), 0), measured=False).header
        self.machine.learn(header)
        segments = {case["case"]: case["segments"] for case in header["cases"]}
        # The least warm-up is one segment, which is about a batch.
        warm = {number: BATCH_NS if count > 1 else WARM_NS for number, count in segments.items()}
        a_visit = {number: warm[number] + count * (BATCH_NS + EDGES_NS) for number, count in segments.items()}
        large = 1 - SMALL_SHARE if self.per_byte else 1
        shares = {case.case: large if case.payload_B == MESSAGE_B else SMALL_SHARE for case in self.cases}
        # A case that is not cut has half batches too: one for six visits.
        halves = {number: 1.1 if segments[number] == 1 else 1 for number in shares}
        return {
            number: max(LEAST_VISITS, int(CASE_NS * share / a_visit[number] / halves[number]))
            for number, share in shares.items()
        }

    def _process(self, visits: dict[int, int], *, measured: bool) -> Process:
        self.number += 1
        order = Order(
            self.number,
            random.getrandbits(63),
            self.cases,
            next(iter(self.machine.processors), None),
            self_checks(len(self.cases)) if measured else [],
            visits,
            self.machine.quiet_ppm,
        )
        plan = order.plan({}, measured=measured)
        written: list[bytes] = []
        process.measure(self.target, plan, self.number, written.append)
        records = [json.loads(line) for line in b"".join(written).splitlines()]
        # What was never timed left no output that could be checked afterwards.
        if measured and (failed := [record["error"] for record in records if record["kind"] == "failure"]):
            raise Absent(failed[0])
        batches = [record for record in records if record["kind"] == "batch"]
        return Process(records[0], pl.DataFrame(batches, infer_schema_length=None))


class Speed:
    """`openssl speed`, user time, as it is by default."""

    name, pair = "openssl speed", "openssl"

    def repeat(self) -> Repeat:
        """DES and AES in either order."""
        start, bytes_a_second = time.perf_counter(), {}
        legacy = ["-provider", "legacy", "-provider", "default"]
        cases = [("des-cbc", legacy), ("aes-128-cbc", [])]
        for name, providers in random.sample(cases, len(cases)):
            bytes_a_second[name] = self._measure(name, providers)
        ratio = bytes_a_second["aes-128-cbc"] / bytes_a_second["des-cbc"]
        return Repeat(ratio, SPEED_S, time.perf_counter() - start)

    def _measure(self, name: str, providers: Sequence[str]) -> float:
        if shutil.which("openssl") is None:
            raise Absent("there is no program openssl on PATH; it is in the package openssl")
        words = [
            "openssl",
            "speed",
            "-mr",
            "-seconds",
            str(SPEED_S),
            "-bytes",
            str(MESSAGE_B),
            *providers,
            "-evp",
            name,
        ]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        found = [line.rsplit(":", 1)[1] for line in done.stdout.splitlines() if line.startswith("+F:")]
        if done.returncode or not found:
            said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
            raise Absent(f"`{' '.join(words)}` ended with {done.returncode} and said: {said}")
        return float(found[0])


class Criterion:
    """A criterion benchmark of the entry functions that the engine times for provider `rustcrypto`."""

    name, pair = "criterion", "rustcrypto"

    def __init__(self) -> None:
        self.program: Path | None = None

    def repeat(self) -> Repeat:
        """Both ciphers, in criterion's order."""
        self.program = self.program or self._build()
        start = time.perf_counter()
        times = {"--warm-up-time": CRITERION_WARM_S, "--measurement-time": CRITERION_S, "--nresamples": 1000}
        words = [str(self.program), "--bench", "--noplot", *(str(part) for pair in times.items() for part in pair)]
        with tempfile.TemporaryDirectory(prefix="wattlock-criterion-") as home:
            environment = {**os.environ, "CRITERION_HOME": home}
            subprocess.run(words, env=environment, capture_output=True, check=True)
            time_of = {cipher: self._estimate(Path(home), cipher) for cipher in (AES, DES)}
        ratio = time_of[DES] / time_of[AES]
        return Repeat(ratio, CRITERION_WARM_S + CRITERION_S, time.perf_counter() - start)

    def _build(self) -> Path:
        manifest = CRITERION / "Cargo.toml"
        words = ["cargo", "build", "--release", "--locked", "--message-format=json", "--manifest-path", str(manifest)]
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False)
        except OSError as error:
            raise Absent(f"cargo: {error.strerror}") from None
        if done.returncode:
            raise Absent(f"it does not build: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
        messages = map(json.loads, done.stdout.splitlines())
        return next(Path(message["executable"]) for message in messages if message.get("executable"))

    def _estimate(self, home: Path, cipher: str) -> float:
        """What criterion prints: the slope where it fitted one, the mean elsewhere."""
        estimates = json.loads((home / cipher / "new" / "estimates.json").read_bytes())
        headline = estimates["slope"] or estimates["mean"]
        return float(headline["point_estimate"])


@contextlib.contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Programs beside that do nothing, as fast as they can."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def measure(tools: Sequence[Tool], repeats: int, of_peers: int) -> tuple[dict[str, list[Repeat]], dict[str, str]]:
    """All repeats of all tools in one shuffled order; beside it why a tool is absent."""
    done: dict[str, list[Repeat]] = {tool.name: [] for tool in tools}
    absent: dict[str, str] = {}
    order = [tool for tool in tools for _ in range(repeats if isinstance(tool, Engine) else of_peers)]
    random.shuffle(order)
    for number, tool in enumerate(order):
        if sys.stderr.isatty():
            print(f"\rrepeat {number + 1} of {len(order)}", end="\r", file=sys.stderr, flush=True)
        if tool.name in absent:
            continue
        try:
            done[tool.name].append(tool.repeat())
        except Absent as reason:
            absent[tool.name] = str(reason)
    return done, absent


@dataclass(frozen=True)
class Errors:
    """95th percentile of the absolute relative error in percent, and where 95 of a hundred bootstrap draws have it."""

    percent: float
    low: float
    high: float

    @classmethod
    def of(cls, ratios: Sequence[float], truth: float | None = None) -> Errors:
        """The truth is the median of the ratios (of each draw) where none is given."""
        found = np.array(ratios)
        draws = np.random.default_rng(1).choice(found, (DRAWS, len(found)))

        def errors(of: np.ndarray) -> np.ndarray:
            middle = np.median(of, axis=-1, keepdims=True) if truth is None else truth
            return np.asarray(np.quantile(np.abs(of / middle - 1), 0.95, axis=-1) * 100)

        low, high = np.quantile(errors(draws), (0.025, 0.975))
        return cls(float(errors(found)), float(low), float(high))

    def __str__(self) -> str:
        return f"{self.percent:.3f} ({self.low:.3f} to {self.high:.3f})"


def show(tools: Sequence[Tool], done: dict[str, list[Repeat]], absent: dict[str, str]) -> None:
    """Prints a row a tool, and how the engine stands to its aims."""
    ratios = {name: [ratio for one in all_of if (ratio := one.ratio) is not None] for name, all_of in done.items()}
    errors: dict[str, float] = {}
    print(f"{'':22}{'repeats':>9}{'DES/AES':>10}{'error, %':>27}{'of pair, %':>27}{'s a case':>10}{'s in all':>10}")
    for tool in tools:
        own, every = ratios[tool.name], done[tool.name]
        if tool.name in absent or len(own) < 2:
            print(f"{tool.name:22}no figure: {absent.get(tool.name, 'fewer than two repeats gave a ratio')}")
            continue
        pooled = statistics.fmean(
            [statistics.median(r) for peer in tools if peer.pair == tool.pair and (r := ratios[peer.name])]
        )
        error = Errors.of(own)
        errors[tool.name] = error.percent
        case_s, total_s = statistics.fmean(one.case_s for one in every), sum(one.total_s for one in every)
        print(
            f"{tool.name:22}{f'{len(own)}/{len(every)}':>9}{statistics.median(own):10.3f}{error!s:>27}"
            f"{Errors.of(own, pooled)!s:>27}{case_s:10.3f}{total_s:10.1f}"
        )
    for engine in (tool.name for tool in tools if isinstance(tool, Engine) and tool.name in errors):
        peers = [
            f"{name} errs {errors[name] / errors[engine]:.1f} times as much"
            for name in errors
            if not name.startswith("wattlock")
        ]
        print(f"{engine}: {'; '.join([f'{errors[engine]:.3f} % (aim {AIM_PERCENT} %)', *peers])}")


def main() -> int:
    """Measures alone and, where asked for, beside two busy loops."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no program beside is left behind
    parser = argparse.ArgumentParser(description="DES/AES by wattlock, openssl speed and criterion.")
    parser.add_argument("--repeats", type=int, default=200, metavar="N", help="of the engine (200)")
    parser.add_argument("--peers", type=int, default=20, metavar="N", help="of each other tool (20)")
    parser.add_argument("--load", action="store_true", help="then all of it again beside two busy loops")
    requested = parser.parse_args()
    machine = Machine()
    tools: list[Tool] = [
        Engine("openssl", machine, "openssl", per_byte=True),
        Speed(),
        Engine("rustcrypto", machine, "rustcrypto", per_byte=False),
        Criterion(),
    ]
    for loops in (0, 2) if requested.load else (0,):
        with busy_loops(loops):
            done, absent = measure(tools, requested.repeats, requested.peers)
        beside = f"beside {loops} busy loops" if loops else "no busy loops"
        host = f"{machine.model}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"
        print(f"\n{host}, {beside}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC")
        show(tools, done, absent)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except WattlockError as error:
        sys.exit(f"error: {error}\nhint: {error.hint}")
