"""From what processes say to what is known of a case: looks, a consensus of processes, its interval, and draws of it.

The fresh process is the unit of replication: its memory layout moves a case by 0.3 to 1 %, which more time in one
process does not average out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from wattlock.analysis.distributions import t_quantile

LINEARITY_BOUND = 0.005
"""T(2n) / T(n) may miss 2 by this share."""

LINEARITY_LEVEL = 0.001
"""A case is called invalid at this level, so that one in a thousand sound ones is."""

UNSEEN_ERROR = 0.00003
"""Standard error (log) that the processes of a run can't tell of: what all of them have in common and the next run
hasn't. Of runs minutes apart the steadiest cases differ by 0.01 % where a run's own processes promise 0.005 %
(docs/results/intervals.md)."""

COMMON_WEIGHT = 4.0
"""Degrees of freedom with which what a case's batches scatter in the median process joins what they do in one: three
batches that are alike by chance don't make a process outweigh the others."""

CASE_FIELDS = [
    *("case", "cipher", "family", "provider", "path", "of", "version", "operation", "keying", "mode", "key_bits"),
    *("block_bits", "rounds", "tag_bits", "payload_B", "encoding", "data", "placement", "pattern", "aad_B"),
    *("core_class", "readiness"),
]

STEADY = "steady"
"""The readiness of a case that says nothing of it, as those of runs before December 2026."""


@dataclass(frozen=True)
class CanaryClock:
    """The canary of one kind of core in a run: what one unit of `log_canaries` is there.

    * `canary_ns`: median time of a canary over the run; `low_GHz`, `GHz`, `high_GHz`: 5 %, median and 95 % of the
      core's clock, null where the canary's cycles are not known.
    """

    canary_ns: float
    cycles: int | None
    low_GHz: float | None = None
    GHz: float | None = None
    high_GHz: float | None = None


def canary_clock(times_ns: pl.Series, cycles: int | None) -> CanaryClock:
    """The run's canary from the times of all clean batches' canaries, in ns."""
    low, median, high = (times_ns.quantile(q, "linear") or math.nan for q in (0.05, 0.5, 0.95))
    if cycles is None:
        return CanaryClock(median, None)
    return CanaryClock(median, cycles, cycles / high, cycles / median, cycles / low)


def t_half_width(deviation: float, count: int, level: float, unseen: float = 0.0) -> float:
    """Half-width of the t interval of a mean of `count` values with the standard deviation `deviation`.

    * `unseen`: standard error that the values can't tell of; joined in squares.
    """
    if count < 2:
        return math.inf
    return t_quantile(count - 1, 1 - level / 2) * math.hypot(deviation / math.sqrt(count), unseen)


def across_processes(summaries: pl.DataFrame, looks: Sequence[int], target_percent: float) -> pl.DataFrame:
    """Mean, deviation, interval and state of each case over its processes.

    * `summaries`: rows of `within.summarise` of complete processes.
    * Returns one row a case: `processes`, `log_canaries` (the consensus of its processes), its standard `error` and
      `freedom`, `deviation` (the error times the square root of the processes: of one that is worth as much as all in
      the mean), `between` (standard deviation between processes beside their own errors), `half_width` (of the log),
      `cpu_ns`, `wall_ns`, `clean_share`, `throttled_share` and `slower` (as of `within.summarise`), `half_low`,
      `half_high` (interval of the linearity), `state`, `reason`.
    """
    level = level_of_a_look(looks)
    half_width = pl.struct("error", "freedom").map_elements(
        lambda row: half_width_of(row["error"], row["freedom"], level), return_dtype=pl.Float64
    )
    linearity = pl.struct("half_deviation", "halves").map_elements(
        lambda row: t_half_width(row["half_deviation"] or 0.0, row["halves"], LINEARITY_LEVEL), return_dtype=pl.Float64
    )
    frame = (
        summaries.group_by("case")
        .agg(
            cpu_ns=pl.col("cpu_ns").median(),
            wall_ns=pl.col("wall_ns").median(),
            spread=pl.col("spread").median(),
            rounds=pl.col("rounds").median(),
            clean_share=1 - pl.col("dirty").sum() / pl.col("batches").sum(),
            throttled_share=pl.col("throttled").sum() / (pl.col("batches") - pl.col("dirty")).sum(),
            slower=(pl.col("slower") * pl.col("throttled")).sum() / pl.col("throttled").sum(),
            half=pl.col("log_half").mean(),
            half_deviation=pl.col("log_half").std(),
            halves=pl.col("log_half").count(),
        )
        .join(_joined(summaries), on="case")
        .with_columns(half_width=half_width, half_error=linearity)
        .with_columns(half_low=pl.col("half") - pl.col("half_error"), half_high=pl.col("half") + pl.col("half_error"))
        .sort("case")
    )
    return frame.with_columns(**_verdict(looks, target_percent))


def _joined(summaries: pl.DataFrame) -> pl.DataFrame:
    """The consensus of each case's processes: columns of `across_processes` up to `between`."""
    cases, rows = np.unique(summaries["case"].to_numpy(), return_inverse=True)
    processes, columns = np.unique(summaries["process"].to_numpy(), return_inverse=True)
    shape = len(cases), len(processes)
    values, errors = np.full(shape, np.nan), np.full(shape, np.nan)
    values[rows, columns] = summaries["log_canaries"].to_numpy()
    errors[rows, columns] = errors_of(summaries)
    found = consensus(values, errors)
    count = (~np.isnan(values)).sum(axis=1)
    error = np.hypot(found.error, UNSEEN_ERROR)
    return pl.DataFrame(
        {
            "case": cases,
            "processes": count,
            "log_canaries": found.mean,
            "error": error,
            "freedom": found.freedom,
            "deviation": np.where(count > 1, error * np.sqrt(count), np.nan),
            "between": found.between,
        },
        nan_to_null=True,
        schema_overrides={"case": pl.Int64, "processes": pl.Int64},
    )


def errors_of(summaries: pl.DataFrame) -> np.ndarray:
    """The standard error of each process's value: what few batches scatter leans on what the case's batches do."""
    kept = pl.col("kept").clip(1)
    own_variance = pl.col("error").fill_null(0.0).pow(2) * kept
    common = own_variance.median().over("case")
    freedom = (kept - 1).cast(pl.Float64)
    scatter = (freedom * own_variance + COMMON_WEIGHT * common) / (freedom + COMMON_WEIGHT)
    return summaries.select(error=(scatter / kept).sqrt())["error"].to_numpy()


def half_width_of(error: float | None, freedom: float | None, level: float) -> float:
    """Half-width of the interval of a consensus; infinite where there is none."""
    if error is None or not freedom or not math.isfinite(error):
        return math.inf
    return t_quantile(round(freedom, 2), 1 - level / 2) * error


def _verdict(looks: Sequence[int], target_percent: float) -> dict[str, pl.Expr]:
    """The state of a case and why, from the columns of `across_processes`."""
    target = math.log1p(target_percent / 100)
    bent = ((pl.col("half_low") > LINEARITY_BOUND) | (pl.col("half_high") < -LINEARITY_BOUND)).fill_null(value=False)
    least = looks[0] if looks else 2
    few = pl.col("processes") < least
    # The level is shared out over the looks; an interval between two of them has none.
    between = ~pl.col("processes").is_in(list(looks)) & (pl.col("processes") <= (looks[-1] if looks else 0))
    is_at_target = (pl.col("half_width") <= target) & ~few & ~between
    half_percent, width_percent = ((pl.col(name).exp() * 100 - 100).round(2) for name in ("half", "half_width"))
    crooked = pl.format(
        "time is not proportional to calls: half a batch takes {} % more a call than a whole one", half_percent
    )
    wide = pl.format(
        "±{} % after {} processes, the target is ±{} %", width_percent, "processes", pl.lit(target_percent)
    )
    return {
        "state": pl.when(bent)
        .then(pl.lit("invalid"))
        .when(is_at_target)
        .then(pl.lit("resolved"))
        .otherwise(pl.lit("unresolved")),
        "reason": pl.when(bent)
        .then(crooked)
        .when(few)
        .then(pl.format("{} complete processes, the least is {}", "processes", pl.lit(least)))
        .when(pl.col("half_width") > target)
        .then(wide)
        .when(between)
        .then(pl.format("stopped after {} processes, between two looks", "processes")),
    }


def estimates(
    cases: Sequence[Mapping[str, Any]],
    across: pl.DataFrame,
    clocks: Mapping[str | None, CanaryClock],
    failures: Mapping[int, str],
    evidence: str = "measured",
) -> pl.DataFrame:
    """One row a study case: what it costs, how sure that is, and the state.

    * `cases`: case records of the headers (each case once); `across`: rows of `across_processes`; `failures`: error by
      case; `evidence`: of the times, "emulated" where the processor was another program.
    * `clocks`: by kind of core, null where all are alike: a case is valued by the canary of the core that it ran on.
    * Times and cycles are of one call: cycles are canaries times the canary's known length, times are canaries times
      its median time in the run. Cases that lie in main memory have wall times and no cycles, because memory has a
      clock of its own.
    """
    known = pl.DataFrame(
        [{name: case.get(name) for name in CASE_FIELDS} for case in cases if case["role"] == "study"],
        schema={name: _dtype(name) for name in CASE_FIELDS},
    ).with_columns(pl.col("readiness").fill_null(STEADY))
    failed = pl.DataFrame(
        {"case": list(failures), "failure": list(failures.values())}, schema={"case": pl.Int64, "failure": pl.String}
    )
    in_memory = pl.col("placement") == "DRAM"
    units = pl.col("log_canaries").exp()
    time = pl.when(in_memory).then("wall_ns").otherwise(units * pl.col("canary_ns"))
    cycles = pl.when(~in_memory).then(units * pl.col("canary_cycles"))
    canaries = pl.DataFrame(
        [(name, clock.canary_ns, clock.cycles) for name, clock in clocks.items()],
        schema={"core_class": pl.String, "canary_ns": pl.Float64, "canary_cycles": pl.Int64},
        orient="row",
    )
    factor = pl.col("half_width").exp()
    frame = (
        known.join(across, on="case", how="left", maintain_order="left")
        .join(failed, on="case", how="left", maintain_order="left")
        .join(canaries, on="core_class", how="left", nulls_equal=True, maintain_order="left")
    )
    # What a failed case showed before it failed is no estimate.
    frame = frame.with_columns(
        pl.when(pl.col("failure").is_null()).then(pl.col(name)).alias(name)
        for name in ("log_canaries", "half_width", "wall_ns", "cpu_ns")
    )
    frame = frame.with_columns(
        processes=pl.col("processes").fill_null(0), time_ns=time, cycles=cycles, factor=factor
    ).with_columns(
        state=pl.when(pl.col("failure").is_not_null())
        .then(pl.lit("failed"))
        .otherwise(pl.col("state").fill_null("unresolved")),
        reason=pl.coalesce(
            "failure",
            "reason",
            pl.when(pl.col("log_canaries").is_null()).then(pl.lit("no complete process measured it")),
        ),
        time_evidence=pl.when(pl.col("log_canaries").is_not_null()).then(pl.lit(evidence)),
    )
    return _in_units(frame)


def _in_units(frame: pl.DataFrame) -> pl.DataFrame:
    """The columns of `estimates`: from `time_ns`, `cycles` and the `factor` of their intervals."""
    payload = pl.when(pl.col("payload_B") > 0).then("payload_B")
    return frame.select(
        *CASE_FIELDS,
        "processes",
        "time_ns",
        time_low_ns=pl.col("time_ns") / pl.col("factor"),
        time_high_ns=pl.col("time_ns") * pl.col("factor"),
        cpu_ns="cpu_ns",
        cycles="cycles",
        cycles_low=pl.col("cycles") / pl.col("factor"),
        cycles_high=pl.col("cycles") * pl.col("factor"),
        cycles_per_byte=pl.col("cycles") / payload,
        cycles_per_byte_low=pl.col("cycles") / pl.col("factor") / payload,
        cycles_per_byte_high=pl.col("cycles") * pl.col("factor") / payload,
        throughput_MB_s=payload * 1e3 / pl.col("time_ns"),
        half_width_percent=(pl.col("factor") - 1) * 100,
        clean_share="clean_share",
        state="state",
        reason="reason",
        time_evidence="time_evidence",
    )


def _dtype(name: str) -> type[pl.DataType]:
    integers = {"case", "key_bits", "block_bits", "rounds", "tag_bits", "payload_B", "aad_B"}
    return pl.Int64 if name in integers else pl.String


def next_visits(between: float, spread: float, most: int) -> int:
    """Visits for the next process: enough that the error within a process is a third of that between processes.

    * `between`: standard deviation between processes beside their own errors; `spread`: of one round (both of logs).
      Returns 8 to `most`.
    """
    return max(LEAST_VISITS, min(most, math.ceil((3 * spread / max(between, LEAST_BETWEEN)) ** 2)))


LEAST_BETWEEN = 0.001
"""Spread between processes below which a case needs no further visits: 0.1 %."""

LEAST_VISITS = 8


Array = NDArray[np.float64]

BISECTIONS = 60
"""Halvings by which the variance between processes is found: to a part in 10^18 of where it may lie."""

FAR: dict[int, float] = {10: 5.9, 12: 5.4, 15: 5.2, 20: 4.7, 30: 4.4, 50: 4.2}
"""Values further from the median than so many times the scale are left out, by how many there are: of normal values one
sample in fifty loses one (`benchmarks/consensus.py`), so that intervals hold as often as without."""

LEAST_FREEDOM = 1.0
"""Where one process outweighs all others the interval is that of two."""

A_FAR_OF = 10
"""At most one process of so many is left out: where more are far nobody knows which speed is the rare one."""

LEAST_ERROR = 1e-9
"""Own errors below this (of a log) are taken for this: of made-up or counted batches all may be alike."""

NORMAL_MAD = 1.4826
"""A normal distribution's standard deviation over the median distance from its median."""


class Consensus(NamedTuple):
    """By case (a row of what was given each).

    * `mean`; `error`: its standard error; `freedom`: degrees of freedom of its t interval, 0 where there is none.
    * `between`: standard deviation between processes beside their own errors; `kept`: which processes count.
    """

    mean: Array
    error: Array
    freedom: Array
    between: Array
    kept: NDArray[np.bool_]


def consensus(values: Array, errors: Array) -> Consensus:
    """Joins the values of processes.

    * `values`: a row a case and a column a process, NaN where a process says nothing of a case; `errors`: their own
      standard errors, alike.
    """
    kept = _near(values, errors)
    measured = np.where(kept, values, 0.0)
    variance = np.where(kept, np.maximum(errors, LEAST_ERROR), 1.0) ** 2
    count = kept.sum(axis=1)
    between = _between(measured, variance, kept, count)
    weight = np.where(kept, 1 / (between[:, None] + variance), 0.0)
    total = np.maximum(weight.sum(axis=1), np.finfo(float).tiny)
    mean = np.where(count > 0, (weight * measured).sum(axis=1) / total, np.nan)
    scatter = np.where(kept, weight * (measured - mean[:, None]) ** 2, 0.0).sum(axis=1)
    error = np.sqrt(scatter / np.maximum(count - 1, 1) / total)
    alike = total**2 / np.maximum((weight**2).sum(axis=1), np.finfo(float).tiny)
    freedom = np.where(count > 1, np.maximum(alike - 1, LEAST_FREEDOM), 0.0)
    return Consensus(mean, np.where(count > 1, error, np.inf), freedom, np.sqrt(between), kept)


def _near(values: Array, errors: Array) -> NDArray[np.bool_]:
    """Which values are there and not far from all others."""
    there = ~np.isnan(values)
    count = there.sum(axis=1)
    with np.errstate(all="ignore"):
        away = np.abs(values - _median(values, there)[:, None])
        scale = np.hypot(NORMAL_MAD * _median(away, there)[:, None], errors)
        away = np.where(there, away / np.maximum(scale, LEAST_ERROR), -1.0)
    bound = np.interp(count, list(FAR), list(FAR.values()))
    is_far = away > bound[:, None]
    # More of them are another speed of the processes, and no accident.
    few = is_far.sum(axis=1) <= count // A_FAR_OF
    return np.asarray(there & ~(is_far & few[:, None]))


def _median(values: Array, there: NDArray[np.bool_]) -> Array:
    """The median of each row's values that are there; 0 of a row without any."""
    count = there.sum(axis=1)
    ordered = np.sort(np.where(there, values, np.inf), axis=1)
    low, high = (
        np.take_along_axis(ordered, at[:, None], axis=1)[:, 0]
        for at in (np.maximum(count - 1, 0) // 2, np.minimum(count // 2, values.shape[1] - 1))
    )
    return np.where(count > 0, (low + high) / 2, 0.0)


def _between(values: Array, variance: Array, kept: NDArray[np.bool_], count: NDArray[np.int64]) -> Array:
    """The variance between processes at which the weighted squares are what they are expected to be; 0 where less."""

    def excess(between: Array) -> Array:
        weight = np.where(kept, 1 / (between[:, None] + variance), 0.0)
        mean = (weight * values).sum(axis=1) / np.maximum(weight.sum(axis=1), np.finfo(float).tiny)
        squares = np.where(kept, weight * (values - mean[:, None]) ** 2, 0.0)
        return np.asarray(squares.sum(axis=1) - (count - 1), dtype=np.float64)

    with np.errstate(all="ignore"):
        spread = np.where(kept, values, np.nan)
        high = np.nan_to_num(np.nanmax(spread, axis=1, initial=-np.inf) - np.nanmin(spread, axis=1, initial=np.inf))
    low, high = np.zeros(len(values)), np.maximum(high, 0.0) ** 2 + np.finfo(float).tiny
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        above = excess(middle) > 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(excess(np.zeros(len(values))) > 0, (low + high) / 2, 0.0)


def joined(values: ArrayLike, errors: ArrayLike) -> tuple[float, float, float]:
    """Mean, standard error and degrees of freedom of one case's processes."""
    found = consensus(*(np.atleast_2d(np.asarray(side, dtype=np.float64)) for side in (values, errors)))
    return float(found.mean[0]), float(found.error[0]), float(found.freedom[0])


LEVEL = 0.05
"""Intervals are of 95 %."""

HOLD_AT_LEAST = 0.94
"""How often intervals hold the truth at the worst spread."""

SPREADS = (0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.3, 2.6, 3.0)
"""Deviations of a process, in target half-widths, among which the worst is looked for; times the square root of the
first look over five."""

SAMPLES, SEED, STEPS = 20_000, 1945, 9

KNOWN: dict[tuple[int, ...], float] = {
    (5, 8): 0.045947,
    (5, 8, 10): 0.042839,
    (5, 10, 20): 0.038021,
    (5, 8, 12, 20, 30): 0.037031,
    (5, 8, 12, 20, 30, 45, 70, 100): 0.036157,
}
"""Levels of the looks that come with wattlock, as `level_of` finds them; tests hold them against it."""


def level_of_a_look(looks: Sequence[int]) -> float:
    """The level of the interval at each of these looks, so that what is printed where it stops is of 95 %.

    * `looks`: numbers of processes, rising.
    """
    known = tuple(sorted(set(looks)))
    return LEVEL if len(known) < 2 else KNOWN.get(known) or level_of(known)


@cache
def level_of(looks: tuple[int, ...]) -> float:
    """The level at which intervals hold the truth as often as they must, by made-up samples (each time the same)."""
    values = np.random.default_rng(SEED).standard_normal((SAMPLES, looks[-1]))
    deviations = [values[:, :look].std(axis=1, ddof=1) for look in looks]
    low, high = LEVEL / len(looks), LEVEL
    for _ in range(STEPS):
        middle = (low + high) / 2
        enough = worst(looks, deviations, middle) >= HOLD_AT_LEAST
        low, high = (middle, high) if enough else (low, middle)
    return low


def worst(looks: Sequence[int], deviations: Sequence[np.ndarray], level: float) -> float:
    """How often intervals of this level hold the truth at the spread that is worst for them.

    * `deviations`: of the first processes of made-up samples, by look: of unit spread.
    """
    widths = [
        t_quantile(look - 1, 1 - level / 2) / math.sqrt(look) * deviation
        for look, deviation in zip(looks, deviations, strict=True)
    ]
    chances = [_holds(width * math.sqrt(look)) for look, width in zip(looks, widths, strict=True)]
    scale = math.sqrt(looks[0] / 5)
    return min(_held(widths, chances, spread * scale) for spread in SPREADS)


def _held(widths: Sequence[np.ndarray], chances: Sequence[np.ndarray], spread: float) -> float:
    """How often the interval at which a case stops holds the truth, of processes that lie so far apart."""
    under_way, held = np.ones(len(widths[0]), dtype=bool), 0.0
    for place, (width, chance) in enumerate(zip(widths, chances, strict=True)):
        stops = under_way & (width * spread <= 1 if place + 1 < len(widths) else True)
        held += float(chance[stops].sum())
        under_way &= ~stops
    return held / len(under_way)


def _holds(distance: np.ndarray) -> np.ndarray:
    """How likely a standard normal number lies within a distance of 0."""
    grid = np.linspace(0, 6, 1201)
    return np.asarray(np.interp(distance, grid, [math.erf(x / math.sqrt(2)) for x in grid]))


AT_ONCE = 2**20
"""Values drawn at a time: some 16 MB."""
LEAST_BEYOND = 10
"""So many samples lie beyond either end, or their number says little of it."""
WORLDS, MOST_WORLD_DRAWS = 400, 10_000
"""Samples of a normal distribution that `usual_widths` draws, and how often each is drawn from at most: with more draws
its bounds would be a little narrower."""


def ends(values: Sequence[float], level: float, draws: int, seed: int) -> tuple[float, float]:
    """How far below and above the mean of values the interval of their true mean reaches.

    * `level`: the share of intervals that may miss, as 0.05. `draws`: samples drawn from the values. `seed`: the same
      draws for as many values.

    Each sample's distance from the mean is taken in its own standard errors, and their quantiles times the standard
    error of the values are the ends. An end is infinite where too many samples are of one value alone, which have no
    standard error: of 3 values at a level of 5 %, or where nearly all are equal.
    """
    known = np.asarray(values, dtype=np.float64)
    count = len(known)
    if count < 2:
        return math.inf, math.inf
    error = float(known.std(ddof=1)) / math.sqrt(count)
    if error == 0 or np.ptp(known) == 0:
        return 0.0, 0.0
    distances = np.sort(_distances(known, draws, np.random.default_rng(seed)))
    # Of k draws in order the j-th leaves j / (k + 1) below it.
    place = max(1, math.floor((draws + 1) * level / 2))
    low, high = float(distances[place - 1]), float(distances[draws - place])
    return max(0.0, high * error), max(0.0, -low * error)


def least_draws(level: float) -> int:
    """How many samples the ends of an interval need."""
    return math.ceil(2 * LEAST_BEYOND / level)


@cache
def usual_widths(count: int, level: float, draws: int) -> tuple[float, float]:
    """How wide drawn intervals of normal values are, in widths of t intervals of the same: the bounds of 95 %.

    * `count`: of values, at least 2. `level`, `draws`: as of `ends`.
    """
    random = np.random.default_rng([count, round(1e6 * level)])
    draws = min(draws, max(MOST_WORLD_DRAWS, least_draws(level)))
    ratios = []
    for seed in range(WORLDS):
        values = random.normal(size=count)
        half = t_half_width(float(values.std(ddof=1)), count, level)
        ratios.append(sum(ends(values.tolist(), level, draws, seed)) / (2 * half))
    low, high = np.quantile(ratios, (0.025, 0.975), method="closest_observation")
    return float(low), float(high)


def _distances(values: NDArray[np.float64], draws: int, random: np.random.Generator) -> NDArray[np.float64]:
    """How far the mean of each sample is from that of all, in the sample's own standard errors."""
    count, mean = len(values), float(values.mean())
    found = np.empty(draws)
    for start in range(0, draws, step := max(1, AT_ONCE // count)):
        drawn = values[random.integers(count, size=(min(step, draws - start), count))]
        away = drawn.mean(axis=1) - mean
        is_one = np.ptp(drawn, axis=1) == 0
        error = np.where(is_one, 1.0, drawn.std(axis=1, ddof=1) / math.sqrt(count))
        found[start : start + len(drawn)] = np.where(is_one, np.copysign(np.inf, away), away / error)
    return found
