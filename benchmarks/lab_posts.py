"""Sends hostile posts to every door of a lab but that of packs, and counts how they are answered.

Call: `PYTHONPATH=tests/python .venv/bin/python benchmarks/lab_posts.py [--tries 10000] [--first 0]`. Each try has a
seed of its own. Ends with 1 where the lab failed, gave no reason, or was changed by what it refused. Packs are those of
`benchmarks/lab_uploads.py`.
"""

import argparse
import collections
import sys
import tempfile
import time
from pathlib import Path

from support.hostile_doors import Tally, hostile_lab

TRIES_OF_A_LAB = 500
"""A lab is begun anew after so many: what it took would make each look at its tables longer."""
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - a disk that wears out is no part of it


def tried(seeds: range) -> tuple[Tally, int]:
    """Tries these seeds at one lab; gives the answers by door and status, and how many faults there were."""
    faults = 0
    with tempfile.TemporaryDirectory(dir=MEMORY) as place, hostile_lab(Path(place)) as hostile:
        for seed in seeds:
            try:
                hostile.carry_out(seed)
            except AssertionError as error:
                faults += 1
                print(str(error)[:500], flush=True)
        return hostile.tally, faults


def main() -> int:
    """Prints a line a door; gives 1 where there were faults."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--tries", type=int, default=10_000)
    asked.add_argument("--first", type=int, default=0)
    given = asked.parse_args()
    begun, tally, faults = time.monotonic(), Tally(), 0
    for first in range(given.first, given.first + given.tries, TRIES_OF_A_LAB):
        found, more = tried(range(first, min(first + TRIES_OF_A_LAB, given.first + given.tries)))
        tally += found
        faults += more
    for door in sorted({door for door, _ in tally}):
        by_status = collections.Counter({status: count for (of, status), count in tally.items() if of == door})
        print(f"{door}: {', '.join(f'{status} {count}' for status, count in sorted(by_status.items()))}")
    taken = sum(count for (_, status), count in tally.items() if status < 400)
    print(f"{sum(tally.values())} tries, {taken} taken, {faults} faults, {time.monotonic() - begun:.0f} s")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
