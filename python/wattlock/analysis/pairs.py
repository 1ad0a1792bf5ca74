"""Two builds measured in pairs: their ratio from batches that lie side by side.

The two batches of a visit run one just after the other, at one place of the stack, so that what moves a core from one
millisecond to the next moves both. What is left of it cancels in their ratio, before anything is averaged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from wattlock.analysis import within
from wattlock.analysis.estimate import COMMON_WEIGHT, LEVEL, NORMAL_MAD, UNSEEN_ERROR, half_width_of, joined

LOOKS = (5, 8, 12, 20, 30, 45, 70, 100)
"""Processes after which the intervals are looked at: a process of two cases takes a tenth of a second."""

LEVELS: dict[tuple[int, ...], float] = {LOOKS: 0.0089}
"""The level of each look at which all intervals of a pair together hold its ratio in 95 of a hundred (of normal values,
made up). A pair stops where its interval is clear of the margin, which its mean decides: so each of them must hold."""

LEAST_VISITS = 4
"""A process with fewer visits that count says nothing of a pair."""

FENCE = 3.0
"""A visit counts up to so many standard deviations from the median, by the median distance from it."""

RANGE_OF_NORMAL = 1.349
"""A normal distribution's interquartile range in its standard deviations."""

SCHEMA: dict[str, type[pl.DataType]] = {
    "process": pl.Int64,
    "first": pl.Int64,
    "second": pl.Int64,
    "log_ratio": pl.Float64,
    "error": pl.Float64,
    "visits": pl.Int64,
}
"""A row a process and pair: the log of the second's cost over the first's, its standard error within the process, and
the visits that it rests on."""


def summarise(
    batches: pl.DataFrame,
    header: Mapping[str, Any],
    summary: pl.DataFrame,
    pairs: Mapping[int, int],
    quiet_ppm: int | None = None,
) -> pl.DataFrame:
    """What one complete process says of the pairs that it measured both cases of.

    * `batches`, `header`, `quiet_ppm`: as of `within.summarise`, and `summary` is its answer. `pairs`: the second case
      of each first.
    * Returns rows of `SCHEMA`. A visit counts where both of its batches are undisturbed and their ratio is within the
      fence. Cases whose calls are cut have as many batches a visit as segments, of which few are undisturbed together:
      their ratio is that of the two means.
    """
    known = {case["case"]: case for case in header["cases"]}
    there = {first: second for first, second in pairs.items() if first in known and second in known}
    whole = {a: b for a, b in there.items() if known[a]["segments"] == known[b]["segments"] == 1}
    cut = beside(summary, {a: b for a, b in there.items() if a not in whole})
    return pl.concat([_of_visits(batches, header, whole, quiet_ppm), cut])


def _of_visits(
    batches: pl.DataFrame, header: Mapping[str, Any], pairs: Mapping[int, int], quiet_ppm: int | None
) -> pl.DataFrame:
    log = (2 * pl.col("ticks") / (pl.col("canary_before_ticks") + pl.col("canary_after_ticks")) / pl.col("calls")).log()
    clean = (
        batches.join(within.cases_of(header), on="case")
        .filter((pl.col("calls") == pl.col("planned_calls")) & within.undisturbed(quiet_ppm, within.step_of(header)))
        # The last try of a visit: one before it may count by what later processes found.
        .unique(("case", "round"), keep="last", maintain_order=True)
        .select("case", "round", "place", log=log)
    )
    named = pl.DataFrame({"first": list(pairs), "second": list(pairs.values())}, schema_overrides=_CASES)
    visits = (
        named.join(clean, left_on="first", right_on="case")
        .join(clean, left_on=["second", "round"], right_on=["case", "round"], suffix="_second")
        .select("first", "second", "place", log=pl.col("log_second") - pl.col("log"))
    )
    by_place = (
        _near(visits)
        .group_by("first", "second", pl.col("place").fill_null(0) % within.PLACES)
        .agg(
            mean=pl.col("log").mean(),
            squares=(pl.col("log") - pl.col("log").mean()).pow(2).sum(),
            visits=pl.len(),
        )
    )
    count, places = pl.col("visits").sum(), pl.len()
    # Each place of the stack has an equal share; they scatter alike about their means.
    scatter = pl.col("squares").sum() / (count - places).clip(1)
    return (
        by_place.group_by("first", "second", maintain_order=True)
        .agg(
            log_ratio=pl.col("mean").mean(),
            error=(scatter * (1 / pl.col("visits")).sum()).sqrt() / places,
            visits=count,
        )
        .filter(pl.col("visits") >= LEAST_VISITS)
        .sort("first")
        .with_columns(process=pl.lit(header["process"]))
        .select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())
    )


def _near(visits: pl.DataFrame) -> pl.DataFrame:
    """The visits of each pair whose ratio is near the median at its place of the stack.

    Beside other programs one batch of a visit in three takes some per cent more that no canary sees, as often the
    second's as the first's: a median stands in the middle of that where quartiles don't, and so does the median
    distance from it.
    """
    log = pl.col("log")
    away = (log - log.median().over("first", "place")).abs()
    at_place = (
        visits.with_columns(away=away)
        .group_by("first", "place")
        .agg(median=log.median(), error=NORMAL_MAD * pl.col("away").median() / pl.len().sqrt(), visits=pl.len())
    )
    gap = pl.col("median").max() - pl.col("median").min()
    enough = pl.col("visits").min() >= within.LEAST_ROUNDS_AT_A_PLACE
    # A place where half of the visits were disturbed has a median of its own, and a wide one.
    apart = enough & (gap > within.APART) & (gap > within.APART_ERRORS * pl.col("error").max())
    known = visits.join(at_place.group_by("first").agg(apart=apart), on="first")
    rest = log - pl.when("apart").then(log.median().over("first", "place")).otherwise(log.median().over("first"))
    known = known.with_columns(rest=rest.abs())
    least = within.LEAST_RANGE / RANGE_OF_NORMAL
    reach = FENCE * pl.max_horizontal(NORMAL_MAD * pl.col("rest").median().over("first"), least)
    return known.filter(pl.col("rest") <= reach)


_CASES: dict[str, type[pl.DataType]] = {"first": pl.Int64, "second": pl.Int64}


def beside(summaries: pl.DataFrame, pairs: Mapping[int, int]) -> pl.DataFrame:
    """Rows of `SCHEMA` for cases that were not visited in pairs: the means of their processes, in the order measured.

    * `summaries`: rows of `within.summarise`. The first process that has the one case stands beside the first that has
      the other, and so on: of processes that alternate they are neighbours in time.
    """
    value = summaries.select("process", "case", "log_canaries", "rounds", "error").with_columns(
        turn=pl.col("process").rank("ordinal").over("case")
    )
    named = pl.DataFrame({"first": list(pairs), "second": list(pairs.values())}, schema_overrides=_CASES)
    return (
        named.join(value, left_on="first", right_on="case")
        .join(value, left_on=["second", "turn"], right_on=["case", "turn"], suffix="_second")
        .with_columns(
            log_ratio=pl.col("log_canaries_second") - pl.col("log_canaries"),
            error=(pl.col("error").pow(2) + pl.col("error_second").pow(2)).sqrt(),
            visits=pl.min_horizontal("rounds", "rounds_second"),
        )
        .select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())
    )


def leant(errors: Sequence[float], visits: Sequence[int]) -> NDArray[np.float64]:
    """Standard errors as `estimate.errors_of` has them: what few visits scatter leans on what the median process's do.

    A visit is the only one at its place of the stack in a process of few: their scatter tells nothing.
    """
    count = np.asarray(visits, dtype=np.float64)
    freedom, scatter = np.maximum(count - within.PLACES, 0.0), np.square(errors) * count
    common = float(np.median(scatter[freedom > 0])) if freedom.any() else 0.0
    leaning = (freedom * scatter + COMMON_WEIGHT * common) / (freedom + COMMON_WEIGHT)
    return np.asarray(np.sqrt(leaning / count))


def ratio_over_processes(values: Sequence[float], errors: ArrayLike, level: float) -> tuple[float, float]:
    """Log ratio over processes, and the half-width of its interval at `level`: their consensus.

    * `values`: log ratio of each process; `errors`: their standard errors within the process.
    """
    mean, error, freedom = joined(values, errors)
    return mean, half_width_of(math.hypot(error, UNSEEN_ERROR), freedom, level)


def ratios(rows: pl.DataFrame, looks: Sequence[int]) -> dict[tuple[int, int], tuple[float, float]]:
    """Log ratio and half-width by first and second case, either way round; of pairs with two processes and more.

    * `rows`: of `SCHEMA`; `looks`: after which the run looked.
    """
    found, level = {}, LEVELS.get(tuple(looks), LEVEL / max(1, len(looks)))
    for (first, second), group in rows.group_by("first", "second", maintain_order=True):
        if group.height < 2:
            continue
        errors = leant(group["error"].to_list(), group["visits"].to_list())
        gap, half_width = ratio_over_processes(group["log_ratio"].to_list(), errors, level)
        found[first, second] = gap, half_width
        found[second, first] = -gap, half_width
    return found
