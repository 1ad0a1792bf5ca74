"""From blocks of energy to joules a call: net of a baseline, with an interval that tells chance from gain.

A block lies between two edges of an energy counter. A superblock is a palindrome (baseline, cases, baseline, cases
backwards, baseline), so that a drift which is steady in time falls on cases and baseline alike; what a superblock says
of a case is one value, and a process is one draw of such values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from wattlock.analysis.distributions import COVERAGE
from wattlock.analysis.estimate import t_half_width

LEVEL = 0.05
LEAST_SIGNAL = 3.0
"""Net energy below so many standard uncertainties is no energy but noise."""

LEAST_PROCESSES = 3

BLOCK_COLUMNS = {
    "process": pl.Int64,
    "superblock": pl.Int64,
    "attempt": pl.Int64,
    "case": pl.Int64,
    "calls": pl.Float64,
    "run_ns": pl.Float64,
    "window_ns": pl.Float64,
    "window_u_ns": pl.Float64,
    "gross_nJ": pl.Float64,
    "error": pl.String,
    "alignment_u_nJ": pl.Float64,
}

COLUMNS = {
    "case": pl.Int64,
    "energy_processes": pl.Int64,
    "energy_uJ": pl.Float64,
    "energy_low_uJ": pl.Float64,
    "energy_high_uJ": pl.Float64,
    "energy_gross_uJ": pl.Float64,
    "energy_random_percent": pl.Float64,
    "power_net_W": pl.Float64,
    "power_baseline_W": pl.Float64,
    "energy_state": pl.String,
    "energy_reason": pl.String,
}


def blocks(records: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """A row a block.

    * `records`: `energy_block` records as the probe writes them.
    * Returns the columns of `BLOCK_COLUMNS`: `case` is null for the baseline; `window_ns` lies between the edges'
      moments, each the middle of the time in which it can have been, and `window_u_ns` is its standard uncertainty
      (each edge is uniform in its time: a width over the square root of 12; JCGM 100:2008, 4.3.7).
    """
    return pl.DataFrame([_block(record) for record in records], schema=BLOCK_COLUMNS, orient="row")


def _block(record: Mapping[str, Any]) -> tuple[Any, ...]:
    start, end = record["start"], record["end"]
    window = uncertainty = None
    if start and end:
        window = sum(end[name] - start[name] for name in ("not_before_ns", "not_after_ns")) / 2
        widths = (edge["not_after_ns"] - edge["not_before_ns"] for edge in (start, end))
        uncertainty = math.hypot(*widths) / math.sqrt(12)
    numbers = (record[name] for name in ("process", "superblock", "attempt", "case", "calls", "run_ns"))
    return (*numbers, window, uncertainty, record["gross_nJ"], record["error"], record.get("alignment_u_nJ"))


def by_process(rows: pl.DataFrame, quantum_nJ: float) -> pl.DataFrame:
    """What each process says of each case: means over its superblocks.

    * `rows`: of `blocks`; `quantum_nJ`: the least step of the counter.
    * Returns `process`, `case`, `net_nJ` and `gross_nJ` (of one call), `net_W`, `baseline_W`, and `known_u_nJ`: the
      standard uncertainty of `net_nJ` that quantum and edges explain; `alignment_u_nJ`: that which a recording's
      alignment leaves, which may shift all blocks alike and is not averaged away. Blocks with an error or without
      joules are left out, and cases of a superblock without a baseline.
    """
    good = rows.filter(pl.col("error").is_null(), pl.col("gross_nJ").is_not_null()).with_columns(
        power_W=pl.col("gross_nJ") / pl.col("window_ns"),
        alignment_u_W=pl.col("alignment_u_nJ").fill_null(0.0) / pl.col("window_ns"),
        # Two quanta are rounded in each block (triangular: q / sqrt 6); the window's edges.
        power_u_W=(
            (quantum_nJ**2 / 6 + (pl.col("gross_nJ") / pl.col("window_ns") * pl.col("window_u_ns")) ** 2).sqrt()
            / pl.col("window_ns")
        ),
    )
    place = ["process", "superblock"]
    baseline = (
        good.filter(pl.col("case").is_null())
        .group_by(place)
        .agg(
            baseline_W=pl.col("power_W").mean(),
            baseline_u_W=(pl.col("power_u_W") ** 2).sum().sqrt() / pl.len(),
            baseline_alignment_u_W=pl.col("alignment_u_W").mean(),
        )
    )
    call_ns = pl.col("run_ns") / pl.col("calls")
    cases = (
        good.filter(pl.col("case").is_not_null(), pl.col("calls") > 0)
        .join(baseline, on=place, how="inner")
        .with_columns(
            net_nJ=(pl.col("power_W") - pl.col("baseline_W")) * call_ns,
            gross_nJ=pl.col("power_W") * call_ns,
            own_u_nJ=pl.col("power_u_W") * call_ns,
            shared_u_nJ=pl.col("baseline_u_W") * call_ns,
            alignment_u_nJ=(pl.col("alignment_u_W") + pl.col("baseline_alignment_u_W")) * call_ns,
        )
        .group_by([*place, "case"])
        .agg(
            pl.col("net_nJ", "gross_nJ", "power_W", "baseline_W", "alignment_u_nJ").mean(),
            known_u_nJ=((pl.col("own_u_nJ") ** 2).sum() / pl.len() ** 2 + pl.col("shared_u_nJ").mean() ** 2).sqrt(),
        )
    )
    return (
        cases.group_by("process", "case")
        .agg(
            pl.col("net_nJ", "gross_nJ", "baseline_W", "alignment_u_nJ").mean(),
            net_W=(pl.col("power_W") - pl.col("baseline_W")).mean(),
            known_u_nJ=(pl.col("known_u_nJ") ** 2).sum().sqrt() / pl.len(),
        )
        .sort("case", "process")
    )


def by_case(processes: pl.DataFrame, gain: float, errors: Mapping[int, str], target_percent: float) -> pl.DataFrame:
    """Joules of one call of each case, net of the baseline.

    * `processes`: rows of `by_process`; `gain`: relative standard uncertainty of the meter's gain; `errors`: why cases
      have no block; `target_percent`: the random half-width, in percent, that is worth a state of its own.
    * Returns a row a case with `COLUMNS`. `energy_low_uJ` to `energy_high_uJ` is the 95 % interval; its random part,
      alone in ratios of cases that one meter measured, is `energy_random_percent`. State: `resolved`, `unresolved`
      (random part above the target), `inconclusive` (the net energy is not three standard uncertainties above 0; then
      there is no energy, and `energy_reason` says what would be needed), `failed`.

    Random part: the t interval of the processes' means, or what quantum and edges explain where that is more, as it is
    where few values happen to agree; joined with a recording's alignment, in squares.
    u^2(net) = u^2(random) + (gain * net)^2.

    Source: JCGM 100:2008 (GUM), 4.2, 4.3 and 5.1.2.
    """
    rows = [_estimate(case, frame, gain, target_percent) for (case,), frame in processes.group_by("case")]
    known = {row["case"] for row in rows}
    rows += [_without(case, "failed", error) for case, error in errors.items() if case not in known]
    return pl.DataFrame(rows, schema=COLUMNS).sort("case")


def _estimate(case: object, frame: pl.DataFrame, gain: float, target_percent: float) -> dict[str, Any]:
    count = frame.height
    net_nJ = float(frame["net_nJ"].mean() or 0.0)  # type: ignore[arg-type] # a mean of floats
    known_u = math.sqrt(float((frame["known_u_nJ"] ** 2).sum())) / count
    deviation = float(frame["net_nJ"].std() or 0.0)  # type: ignore[arg-type] # as above
    found = _without(case, "unresolved", None) | {"energy_processes": count}
    found["power_net_W"] = frame["net_W"].mean()
    found["power_baseline_W"] = frame["baseline_W"].mean()
    if count < LEAST_PROCESSES:
        return found | {"energy_reason": f"{count} processes with undisturbed blocks, the least is {LEAST_PROCESSES}"}
    alignment_u = float(frame["alignment_u_nJ"].mean() or 0.0)  # type: ignore[arg-type] # as above
    random = math.hypot(max(t_half_width(deviation, count, LEVEL), COVERAGE * known_u), COVERAGE * alignment_u)
    u = math.hypot(max(deviation / math.sqrt(count), known_u), alignment_u)
    if net_nJ < LEAST_SIGNAL * u:
        return found | {"energy_state": "inconclusive", "energy_reason": _needed(net_nJ, u, count)}
    half = math.hypot(random, COVERAGE * gain * net_nJ)
    percent = 100 * random / net_nJ
    reason = None if percent <= target_percent else f"±{percent:.1f} % at random, the target is ±{target_percent:g} %"
    return found | {
        "energy_uJ": net_nJ / 1e3,
        "energy_low_uJ": max(0.0, net_nJ - half) / 1e3,
        "energy_high_uJ": (net_nJ + half) / 1e3,
        "energy_gross_uJ": float(frame["gross_nJ"].mean() or 0.0) / 1e3,  # type: ignore[arg-type] # as above
        "energy_random_percent": percent,
        "energy_state": "unresolved" if reason else "resolved",
        "energy_reason": reason,
    }


def _without(case: object, state: str, reason: str | None) -> dict[str, Any]:
    return {**dict.fromkeys(COLUMNS), "case": case, "energy_state": state, "energy_reason": reason}


def _needed(net_nJ: float, u: float, count: int) -> str:
    reason = f"{net_nJ:.3g} nJ a call above the baseline, with a standard uncertainty of {u:.3g} nJ"
    if net_nJ <= 0:
        return f"{reason}: this meter doesn't see it; take one of a smaller domain, or a quieter machine"
    times = math.ceil((LEAST_SIGNAL * u / net_nJ) ** 2 * 1.5)
    return f"{reason}: it takes some {max(2, times)} times as many blocks ({count} processes now), or longer ones"


def block_length_ns(update_period_ns: int, quantum_nJ: float, power_W: float, least_ns: int, percent: float) -> int:
    """The shortest block whose edges and quantum leave `power_W` uncertain by at most `percent`.

    In a window T an update period t leaves t / (sqrt(6) T) of a power, a quantum q leaves q / (sqrt(6) P T): 41 ms for
    1 % at 1 ms, 297 s for a battery's steps of 36 J at 5 W. Edges that are looked for leave less; this is the bound
    where they can't be found. Never less than five updates, nor than `least_ns`.
    """
    both_ns = math.hypot(update_period_ns, quantum_nJ / power_W)
    return max(least_ns, 5 * update_period_ns, math.ceil(both_ns / (math.sqrt(6) * percent / 100)))


def ratio(block: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[float, float, float]:
    """How many times the energy of `other` one takes, with its 95 % interval: rows of `estimates` of one meter.

    The gain is the same in both and cancels: the random parts alone are joined, in squares of the logarithms.
    """
    middle = block["energy_uJ"] / other["energy_uJ"]
    width = math.hypot(*(math.log1p(row["energy_random_percent"] / 100) for row in (block, other)))
    return middle, middle * math.exp(-width), middle * math.exp(width)
