"""Estimators of what a process says, held against two runs of one study: `python benchmarks/estimators.py RUN OTHER`.

Both runs measured the same cases with the same programs on one machine, so that what an estimator says of them differs
by its error alone. Half of what is printed is how much that is, the other half whether the intervals say so.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from wattlock.analysis import estimate, within
from wattlock.analysis.estimate import LEVEL
from wattlock.store.run_folder import RunFolder

FACTORS = ("cipher", "provider", "operation", "keying", "encoding", "payload_B", "data", "placement", "pattern")
Factors = tuple[object, ...]
Estimator = Callable[[pl.DataFrame], float]


def trimmed(share: float) -> Estimator:
    """The mean without this share of the least and of the greatest logs, in whole ones."""

    def value(batches: pl.DataFrame) -> float:
        cut = math.floor(batches.height * share + 0.5)
        return float(np.sort(batches["log"].to_numpy())[cut : batches.height - cut].mean())

    return value


def fenced(batches: pl.DataFrame) -> float:
    """The mean within one fence for all places."""
    return float(batches.filter(within.fenced(batches, "log", "case"))["log"].to_numpy().mean())


OTHERS: Mapping[str, Estimator] = {
    "mean": trimmed(0.0),
    "mean without the tenths": trimmed(0.1),
    "mean without the quarters": trimmed(0.25),
    "median": lambda batches: float(np.median(batches["log"].to_numpy())),
    "mean within a fence": fenced,
}
OURS = "wattlock: a fence, by place where places differ"


@dataclass
class Differences:
    """By estimator: the differences of the two runs, the half-widths of their intervals."""

    error: list[float]
    width: list[float]

    def line(self, name: str) -> str:
        """A row of the table."""
        error, width = np.array(self.error), np.array(self.width)
        at = np.quantile(error, [0.5, 0.9, 0.95]) * 100
        held = np.mean(error <= width)
        return f"{name:50}{at[0]:8.3f}{at[1]:8.3f}{at[2]:8.3f}{100 * np.median(width):10.3f}{100 * held:8.1f}"


def values(path: str) -> dict[str, dict[Factors, list[float]]]:
    """What each estimator says of each case that is not cut, process by process."""
    folder = RunFolder.open(path)
    headers = [header for header in folder.headers() if header["process"] in folder.complete()]
    quiet_ppm = min((header["quiet_ppm"] for header in headers if header["quiet_ppm"]), default=None)
    found: dict[str, dict[Factors, list[float]]] = {name: {} for name in (*OTHERS, OURS)}
    for header in headers:
        named = {case["case"]: tuple(case[name] for name in FACTORS) for case in header["cases"]}
        wanted = {
            case["case"]
            for case in header["cases"]
            if (case["role"], case["segments"]) == ("study", 1) and case["placement"] != "DRAM"
        }
        batches = folder.batches_of(header["process"]).filter(pl.col("case").is_in(list(wanted)))
        ours = within.summarise(batches, header, quiet_ppm)
        for case, log in ours.select("case", "log_canaries").iter_rows():
            found[OURS].setdefault(named[case], []).append(log)
        for case, several in _logs(batches, header, quiet_ppm):
            for name, estimator in OTHERS.items():
                found[name].setdefault(named[case], []).append(estimator(several))
    return found


def _logs(
    batches: pl.DataFrame, header: Mapping[str, Any], quiet_ppm: int | None
) -> Iterator[tuple[int, pl.DataFrame]]:
    """The whole undisturbed batches of each case with enough of them, with `log`."""
    canaries = (pl.col("canary_before_ticks") + pl.col("canary_after_ticks")) / 2
    whole = (
        batches.join(within.cases_of(header), on="case")
        .filter(within.undisturbed(quiet_ppm) & (pl.col("calls") == pl.col("planned_calls")))
        .with_columns(log=(pl.col("ticks") / canaries / pl.col("calls")).log())
    )
    for (case,), several in whole.group_by("case"):
        if several.height >= within.LEAST_CLEAN_ROUNDS:
            yield int(case), several


def differences(one: Mapping[Factors, list[float]], other: Mapping[Factors, list[float]]) -> Differences:
    """Of the cases with at least five processes in both."""
    found = Differences([], [])
    for factors in one.keys() & other.keys():
        sides = [np.array(run[factors]) for run in (one, other)]
        if min(map(len, sides)) < 5:
            continue
        widths = [
            estimate.t_half_width(float(side.std(ddof=1)), len(side), LEVEL, estimate.UNSEEN_ERROR) for side in sides
        ]
        found.error.append(abs(float(sides[0].mean() - sides[1].mean())))
        found.width.append(math.hypot(*widths))
    return found


def main() -> int:
    """Prints a line an estimator."""
    parser = argparse.ArgumentParser(
        description="Estimators held against two runs or more of one study on one machine."
    )
    parser.add_argument("runs", nargs="+", metavar="RUN")
    runs = [values(path) for path in parser.parse_args().runs]
    print(f"{'between two runs, %':50}{'median':>8}{'90 %':>8}{'95 %':>8}{'interval':>10}{'held':>8}")
    for name in (*OTHERS, OURS):
        pairs = [differences(one[name], other[name]) for one, other in pairwise(runs)]
        joined = Differences([x for pair in pairs for x in pair.error], [x for pair in pairs for x in pair.width])
        print(joined.line(name))
    print(f"{len(joined.error)} differences")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
