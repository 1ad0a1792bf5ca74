"""How long the verbs take that read a first look, in times of `python -c "import polars"`: `make bench-verbs`.

Whole processes take turns, so that what else the machine does is in all of them. Wall-clock time beside processor time:
the latter says the same on a busy machine. Compiled Python and the charts' engine are kept in a folder of this run's,
and the first round, which fills it, does not count.
    python benchmarks/verbs.py [--run RUN] [--other RUN] [--rounds N]
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median

USUAL = "import polars"
AIMS = {"show": 2, "advise": 3, "report": 6, "compare": 3}
"""At most so many times the import of Polars."""


def commands(run: str, other: str, folder: Path) -> dict[str, list[str]]:
    """What is timed, by its name."""
    verbs = {
        "show": ["show", run],
        "advise": ["advise", "gas-meter", "--allow-assumed"],
        "report": ["report", run, "--out", str(folder / "report.html")],
        "compare": ["compare", run, other],
    }
    return {USUAL: [sys.executable, "-c", USUAL]} | {
        verb: [sys.executable, "-m", "wattlock", *words] for verb, words in verbs.items()
    }


def took(command: list[str], environment: Mapping[str, str]) -> tuple[float, float]:
    """Seconds on the clock and of processors for one process."""
    before, since = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(environment))
    wall_s, after = time.perf_counter() - since, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(command[2:])}: {done.stderr.strip()}")
    return wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print a line a verb: the medians, and how many times those of the import they are."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--run", default="last", help="a first look's path, its id, or last")
    asked.add_argument("--other", help="another one to compare with; the same without it")
    asked.add_argument("--rounds", type=int, default=9)
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {key: text for key, text in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"PYTHONPYCACHEPREFIX": str(folder / "python"), "XDG_CACHE_HOME": str(folder / "cache")}
        every = commands(given.run, given.other or given.run, folder)
        rounds = [
            {verb: took(command, environment) for verb, command in every.items()} for _ in range(given.rounds + 1)
        ][1:]
    of_both = {verb: [median(times[verb][side] for times in rounds) for side in (0, 1)] for verb in every}
    print(f"{given.rounds} rounds; in times of `{USUAL}`: {1e3 * of_both[USUAL][0]:.0f} ms on the clock")
    print(f"{'verb':<8} {'aim':>4} {'clock':>6} {'processor':>10} {'s':>7}")
    for verb, aim in AIMS.items():
        wall, spent = (mine / usual for mine, usual in zip(of_both[verb], of_both[USUAL], strict=True))
        print(f"{verb:<8} {aim:>4} {wall:>6.1f} {spent:>10.1f} {of_both[verb][0]:>7.2f}")


if __name__ == "__main__":
    main()
