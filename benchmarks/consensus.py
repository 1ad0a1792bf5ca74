"""Joining processes of unlike worth, by several estimators: `python benchmarks/consensus.py [RUN...]`.

Made-up worlds first, whose truth is known; then the recorded processes of each run, of which some are drawn again and
again: what all processes say by the same estimator stands for the truth. README.md beside this file says how to read
the tables.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
from scipy import stats

from wattlock.analysis import estimate as joined
from wattlock.analysis.estimate import Array, errors_of
from wattlock.run.result import open_run

HEAD = "| estimator | held, % | half-width, % | error, 95th percentile, % |\n|---|---|---|---|"
SAMPLES, DRAWS, COUNTS, SEED = 4000, 200, (5, 8, 12, 20, 30), 1
Interval = tuple[Array, Array, Array]
"""Mean, standard error and degrees of freedom of each row."""
Estimator = Callable[[Array, Array], Interval]


def mean(values: Array, _: Array, unseen: float = 0.0) -> Interval:
    """The mean of all processes, and the ordinary t interval."""
    count = values.shape[1]
    error = np.hypot(values.std(axis=1, ddof=1) / np.sqrt(count), unseen)
    return values.mean(axis=1), error, np.full(len(values), count - 1.0)


def nearer(values: Array, errors: Array) -> Interval:
    """The mean of values that are brought to three deviations from the median, by the median absolute deviation."""
    middle = np.median(values, axis=1, keepdims=True)
    reach = 3 * joined.NORMAL_MAD * np.median(np.abs(values - middle), axis=1, keepdims=True)
    return mean(np.clip(values, middle - reach, middle + reach), errors)


def fence(values: Array, _: Array) -> Interval:
    """The mean within Tukey's fence."""
    low, high = np.quantile(values, (0.25, 0.75), axis=1)[:, :, None]
    kept = np.abs(values - (low + high) / 2) <= 2 * (high - low)
    count = kept.sum(axis=1)
    inside = np.where(kept, values, np.nan)
    return np.nanmean(inside, axis=1), np.nanstd(inside, axis=1, ddof=1) / np.sqrt(count), count - 1.0


def every(values: Array, errors: Array) -> Interval:
    """Paule and Mandel, Hartung and Knapp, of all processes."""
    far, joined.FAR = joined.FAR, {10: np.inf, 50: np.inf}
    try:
        return ours(values, errors)
    finally:
        joined.FAR = far


def likelihood(values: Array, errors: Array) -> Interval:
    """The variance between processes by restricted likelihood, and Hartung and Knapp."""
    own = np.maximum(errors, joined.LEAST_ERROR) ** 2
    between = values.var(axis=1, ddof=1)
    for _ in range(100):
        weight = 1 / (between[:, None] + own)
        total = weight.sum(axis=1)
        middle = (weight * values).sum(axis=1) / total
        squares = ((weight**2) * ((values - middle[:, None]) ** 2 - own)).sum(axis=1)
        between = np.maximum(0.0, squares / (weight**2).sum(axis=1) + 1 / total)
    weight = 1 / (between[:, None] + own)
    total, count = weight.sum(axis=1), values.shape[1]
    middle = (weight * values).sum(axis=1) / total
    scatter = (weight * (values - middle[:, None]) ** 2).sum(axis=1)
    return middle, np.sqrt(scatter / (count - 1) / total), np.full(len(values), count - 1.0)


def ours(values: Array, errors: Array) -> Interval:
    """As wattlock has it."""
    found = joined.consensus(values, errors)
    return found.mean, found.error, found.freedom


ESTIMATORS: Mapping[str, Estimator] = {
    "mean, t interval": mean,
    "the same, 0.03 % joined in squares": lambda values, errors: mean(values, errors, 0.0003),
    "far ones brought nearer": nearer,
    "mean within a fence": fence,
    "restricted likelihood": likelihood,
    "Paule and Mandel": every,
    "wattlock: those, and few far ones left out": ours,
}


def worlds(draw: np.random.Generator, count: int) -> Iterator[tuple[str, Array, Array, float]]:
    """Made-up processes: the world's name, their values, what is known of their errors, and the truth."""
    shape = (SAMPLES, count)
    own, known = np.full(shape, 0.0005), np.sqrt(draw.chisquare(23, shape) / 23)
    normal = draw.normal(0, 0.0015, shape) + draw.normal(0, 1, shape) * own
    yield "normal", normal, own * known, 0.0
    yield "they differ by their own errors alone", draw.normal(0, 1, shape) * own, own * known, 0.0
    unlike = np.where(draw.random(shape) < 1 / 3, 0.0045, own)
    yield (
        "a third kept next to nothing",
        draw.normal(0, 0.0008, shape) + draw.normal(0, 1, shape) * unlike,
        unlike * known,
        0.0,
    )
    yield "heavy tails (t, 3)", 0.0015 * draw.standard_t(3, shape), own * known, 0.0
    yield "1 in 20 slower by 1 %", normal + np.where(draw.random(shape) < 1 / 20, 0.01, 0.0), own * known, 0.0
    yield "1 in 20 slower by 10 %", normal + np.where(draw.random(shape) < 1 / 20, 0.1, 0.0), own * known, 0.0
    yield (
        "two speeds, 1 % apart",
        draw.choice([-0.005, 0.005], shape) + draw.normal(0, 1, shape) * own,
        own * known,
        0.0,
    )


def line(name: str, estimator: Estimator, values: Array, errors: Array, truth: float) -> str:
    """How often 95 % intervals hold the truth, their median half-width and the 95th percentile of the error, in %."""
    middle, error, freedom = estimator(values, errors)
    half, missed = stats.t.ppf(0.975, freedom) * error, np.abs(middle - truth)
    held, width, worst = 100 * np.mean(missed <= half), 100 * np.median(half), 100 * np.quantile(missed, 0.95)
    return f"| {name} | {held:.1f} | {width:.3f} | {worst:.3f} |"


def made_up() -> None:
    """Prints a table a world and count of processes."""
    for count in COUNTS:
        for world, values, errors, truth in worlds(np.random.default_rng(SEED + count), count):
            print(f"\n{world}, {count} processes\n\n{HEAD}")
            for name, estimator in ESTIMATORS.items():
                print(line(name, estimator, values, errors, truth))


def recorded(run: str) -> None:
    """Prints the tables of a run: processes drawn without replacement, of all cases that have twice as many."""
    result, draw = open_run(run), np.random.default_rng(SEED)
    summaries = result.summaries.with_columns(error=errors_of(result.summaries))
    known = [
        (group["log_canaries"].to_numpy(), group["error"].to_numpy())
        for _, group in summaries.group_by("case", maintain_order=True)
    ]
    for count in COUNTS:
        cases = [(values, errors) for values, errors in known if len(values) >= 2 * count]
        if not cases:
            return
        print(f"\n{Path(run).name}: {len(cases)} cases, {count} of up to {result.processes} processes\n")
        print(HEAD)
        drawn = [np.array([draw.permutation(len(values))[:count] for _ in range(DRAWS)]) for values, _ in cases]
        for name, estimator in ESTIMATORS.items():
            held, halves, errors = [], [], []
            for (values, own), places in zip(cases, drawn, strict=True):
                truth = estimator(values[None], own[None])[0][0]
                middle, error, freedom = estimator(values[places], own[places])
                half = stats.t.ppf(0.975, freedom) * error
                held.append(np.abs(middle - truth) <= half)
                halves.append(half)
                errors.append(np.abs(middle - truth))
            joined_errors = np.concatenate(errors)
            print(
                f"| {name} | {100 * np.mean(np.concatenate(held)):.1f} | {100 * np.median(np.concatenate(halves)):.3f} "
                f"| {100 * np.quantile(joined_errors, 0.95):.3f} |"
            )


def main() -> None:
    """Made-up worlds, or the runs that are named."""
    parser = argparse.ArgumentParser(description="Estimators that join processes of unlike worth.")
    parser.add_argument("runs", nargs="*", metavar="RUN", help="recorded runs; without any made-up worlds")
    runs = parser.parse_args().runs
    if not runs:
        made_up()
    for run in runs:
        recorded(run)


if __name__ == "__main__":
    main()
