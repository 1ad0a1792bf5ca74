"""From what processes say to what is known of a case: a consensus of processes with its interval.

The fresh process is the unit of replication: its memory layout moves a case by 0.3 to 1 %, which more time in one
process does not average out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from wattlock.analysis.consensus import consensus
from wattlock.analysis.distributions import t_quantile
from wattlock.analysis.looks import level_of_a_look

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
    own = pl.col("error").fill_null(0.0).pow(2) * kept
    common = own.median().over("case")
    freedom = (kept - 1).cast(pl.Float64)
    scatter = (freedom * own + COMMON_WEIGHT * common) / (freedom + COMMON_WEIGHT)
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
