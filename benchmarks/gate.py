"""Does a gate tell two builds apart? `make bench-gate`, or `python benchmarks/gate.py [--repeats N] [CONDITION]...`.

`wattlock compare --libraries` judges builds of `examples/library/xtea.c` that differ by nothing, by 1.0 % and by 2.9 %,
each beside other programs too. The truth is a bare loop in C that opens both and times them in turn (`gate_loop.c`).
Results are appended to a file of JSON lines, so that a benchmark that was stopped goes on.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import random
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from conditions import SPIN, THIRD, programs

TREE = Path(__file__).parent.parent
SOURCE = TREE / "examples" / "library" / "xtea.c"
INCLUDE = TREE / "crates" / "providers" / "include"
LOOP = Path(__file__).with_name("gate_loop.c")
CTR, PAYLOAD_B = 1, 1504
"""The place of xtea-ctr in the library's list, and the message."""
REPEATS, LOOPS, PAIRS = 5, 9, 4000
"""Gates in each condition; fresh processes of the loop, and pairs of batches of each (half a second)."""

CALL = "        ctr(context, iv, input, input_B, output);"
EXTRA = """        static const volatile uint32_t extra = EXTRA;
        static volatile uint8_t zero;
        uint32_t left = output[input_B - 1], right = left;
        for (uint32_t round = extra; round > 0; round--) { left += mix(right) ^ 5; right += mix(left) ^ 7; }
        uint8_t late[BLOCK_B];
        for (int byte = 0; byte < BLOCK_B; byte++) late[byte] = iv[byte] ^ ((uint8_t)right & zero);
        iv = late;
"""
"""So many more rounds in each call, of which the output knows nothing. They begin with what the call before wrote last,
and the call waits for them: overlapped with other work they would take another time in each loop. How many is a value
in memory, so that the builds are one code: laid out otherwise, it runs at one of two speeds a process on some cores."""

STUDY = f"""
id = "gate"
title = "One message of XTEA"
question = "Is the new build slower?"

[[grid]]
cipher = ["xtea-ctr"]
operation = ["encrypt"]
payload_B = [{PAYLOAD_B}]
"""


class Gate(NamedTuple):
    """A change and what is asked of it: the share by which the new build is slower, and `--fail-above`."""

    slower: float
    fail_above: str
    right: int


GATES = {
    "unchanged, 0.5 %": Gate(0.0, "0.5%", 0),
    "unchanged, 2 %": Gate(0.0, "2%", 0),
    "+1.0 %, 0.5 %": Gate(0.01, "0.5%", 9),
    "+2.9 %, 2 %": Gate(0.029, "2%", 9),
}
CODES = {9: "red", 8: "can't judge", 0: "green"}


@contextlib.contextmanager
def building() -> Iterator[None]:
    """A release build of this tree's ciphers, over and over."""
    with tempfile.TemporaryDirectory(prefix="wattlock-gate-") as name:
        target = shlex.quote(name)
        cargo = f"cargo build --release --quiet -p wattlock-ciphers --target-dir {target}"
        words = f"while :; do {cargo}; rm -rf {target}/*; done"
        beside = subprocess.Popen(["sh", "-c", words], cwd=TREE, start_new_session=True, stderr=subprocess.DEVNULL)
        try:
            yield
        finally:
            os.killpg(beside.pid, signal.SIGKILL)
            beside.wait()
            time.sleep(0.5)  # so that nothing is written while the folder is removed


CONDITIONS: dict[str, Callable[[], contextlib.AbstractContextManager[None]]] = {
    "idle": contextlib.nullcontext,
    "two busy loops": lambda: programs(SPIN, 2),
    "cargo build": building,
    "30 % of the same processor": lambda: programs(THIRD, 1, max(os.sched_getaffinity(0))),
}


def build(folder: Path, extra: int) -> Path:
    """The example with so many more rounds in each call."""
    text = SOURCE.read_text()
    if CALL not in text:
        sys.exit(f"error: {SOURCE} has no line {CALL.strip()!r}")
    source, library = folder / f"xtea-{extra}.c", folder / f"xtea-{extra}.so"
    source.write_text(text.replace(CALL, EXTRA + CALL))
    words = ["cc", "-O2", "-shared", "-fPIC", "-I", str(INCLUDE), f"-DEXTRA={extra}", "-o", str(library), str(source)]
    subprocess.run(words, check=True)
    return library


def bare(folder: Path, old: Path, new: Path, loops: int = LOOPS) -> float:
    """What the bare loop says: the median ratio of fresh processes."""
    words = list(map(str, (folder / "gate_loop", old, new, CTR, PAYLOAD_B, PAIRS)))
    return statistics.median(float(subprocess.check_output(words)) for _ in range(loops))


def builds(folder: Path) -> dict[float, Path]:
    """The new build of each share, with as many more rounds as that takes; of 0 a copy of the old one."""
    subprocess.run(["cc", "-O2", "-o", folder / "gate_loop", LOOP, "-ldl", "-lm"], check=True)
    old = build(folder, 0)
    found = {0.0: Path(shutil.copy(old, folder / "xtea-unchanged.so"))}
    for share in sorted({gate.slower for gate in GATES.values()} - {0.0}):
        rounds = round(share * PAYLOAD_B / 8 * 32)  # by the rounds of the message itself
        for _ in range(4):
            measured = bare(folder, old, build(folder, rounds), 3) - 1
            if abs(measured - share) < 0.0005 or measured <= 0:
                break
            rounds = max(1, round(rounds * share / measured))
        found[share] = build(folder, rounds)
    return found


def judged(folder: Path, old: Path, new: Path, gate: Gate, budget: str) -> dict[str, Any]:
    """One gate: how it ended, in what time, and the ratio in its table."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        words = [f"{sys.prefix}/bin/wattlock", "compare", "--libraries", *map(str, (old, new, folder / "gate.toml"))]
        options = ["--fail-above", gate.fail_above, "--budget", budget, "--format", "json", "--out", f"{place}/run"]
        begun = time.monotonic()
        done = subprocess.run([*words, *options], capture_output=True, text=True, check=False)
        took_s = time.monotonic() - begun
    row = json.loads(done.stdout)[0] if done.stdout else {}
    kept = {name: row.get(name) for name in ("ratio", "ratio_low", "ratio_high", "verdict", "processes_b")}
    return {"code": done.returncode, "took_s": round(took_s, 2), **kept, "error": done.stderr.splitlines()[-2:]}


def measure(folder: Path, results: Path, conditions: Sequence[str], repeats: int, budget: str) -> None:
    """Every gate in every condition as often as is missing, in shuffled order; the loop beside, in no condition."""
    (folder / "gate.toml").write_text(STUDY)
    new, old = builds(folder), folder / "xtea-0.so"
    truths = {share: bare(folder, old, library) for share, library in new.items()}
    done = [(line["gate"], line["condition"]) for line in lines(results)]
    wanted = [(gate, condition) for gate in GATES for condition in conditions]
    order = [pair for pair in wanted for _ in range(repeats - done.count(pair))]
    random.shuffle(order)
    for count, (name, condition) in enumerate(order):
        print(f"\rgate {count + 1} of {len(order)}", end="", file=sys.stderr, flush=True)
        gate = GATES[name]
        with CONDITIONS[condition]():
            found = judged(folder, old, new[gate.slower], gate, budget)
        line = {"gate": name, "condition": condition, "truth": truths[gate.slower], "load": os.getloadavg()[0], **found}
        with results.open("a") as file:
            file.write(json.dumps(line) + "\n")


def lines(results: Path) -> list[dict[str, Any]]:
    """What is measured already."""
    return [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []


def show(found: Sequence[dict[str, Any]]) -> None:
    """Prints a row a gate and condition."""
    print(
        "| gate | condition | red | can't judge | green | else | median s | most s | truth, % | error, points | most |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name in GATES:
        for condition in CONDITIONS:
            rows = [row for row in found if (row["gate"], row["condition"]) == (name, condition)]
            if not rows:
                continue
            counts = [sum(row["code"] == code for row in rows) for code in CODES]
            took = [row["took_s"] for row in rows]
            errors = [100 * abs(math.log(row["ratio"] / row["truth"])) for row in rows if row["ratio"]] or [math.nan]
            truth = statistics.median(100 * (row["truth"] - 1) for row in rows)
            shown = " | ".join(map(str, [*counts, len(rows) - sum(counts)]))
            print(
                f"| {name} | {condition} | {shown} | {statistics.median(took):.1f} | {max(took):.1f} | {truth:+.2f} "
                f"| {statistics.median(errors):.3f} | {max(errors):.3f} |"
            )


def main() -> None:
    """Measures what is missing in the conditions asked for, and prints all that is there."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no program beside is left behind
    parser = argparse.ArgumentParser(description="Does a gate tell two builds apart, beside other programs too?")
    parser.add_argument(
        "conditions", nargs="*", metavar="CONDITION", help=f"of {', '.join(CONDITIONS)}; all without".replace("%", "%%")
    )
    parser.add_argument("--repeats", type=int, default=REPEATS, metavar="N", help=f"of each gate in each ({REPEATS})")
    parser.add_argument("--budget", default="60s", metavar="60s", help="as of the verb")
    results = TREE / "build" / "gate" / "results.jsonl"
    parser.add_argument("--results", type=Path, default=results, metavar="FILE", help="JSON lines that it goes on with")
    asked = parser.parse_args()
    if unknown := [name for name in asked.conditions if name not in CONDITIONS]:
        parser.error(f"no such condition: {', '.join(unknown)}")
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="wattlock-gate-") as folder:
        measure(Path(folder), asked.results, asked.conditions or [*CONDITIONS], asked.repeats, asked.budget)
    show(lines(asked.results))


if __name__ == "__main__":
    main()
