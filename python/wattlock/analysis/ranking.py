"""Rankings that say which ciphers can't be told apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import polars as pl

from wattlock.analysis.distributions import COVERAGE, t_below, t_quantile
from wattlock.analysis.estimate import LEVEL

SMALLEST_CLAIM = 0.005
"""No difference below 0.5 % is claimed, however sure it is."""

GROUP = (
    *("operation", "mode", "keying", "encoding", "placement", "pattern", "payload_B", "data", "aad_B", "readiness"),
    "core_class",
)
"""Cases are ranked among those that differ in nothing but the cipher and its implementation: kinds of core are not
mixed, nor is a first call after a pause with calls one after another."""


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given.

    Source: S. Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statistics 6 (1979).
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted, worst = [1.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        worst = max(worst, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = worst
    return adjusted


def p_of_difference(a: dict[str, Any], b: dict[str, Any]) -> float:
    """Two-sided p-value of Welch's t test on the means of two cases' process medians."""
    variances = [row["deviation"] ** 2 / row["processes"] for row in (a, b)]
    total = sum(variances)
    if total == 0:
        return 0.0 if a["log_canaries"] != b["log_canaries"] else 1.0
    freedom = 1 / sum((v / total) ** 2 / (row["processes"] - 1) for v, row in zip(variances, (a, b), strict=True))
    t = abs(a["log_canaries"] - b["log_canaries"]) / math.sqrt(total)
    return 2 * t_below(freedom, -t)


def rank(
    estimates: pl.DataFrame, across: pl.DataFrame, excess: float, smallest: float = SMALLEST_CLAIM
) -> pl.DataFrame:
    """Ranks the ciphers of each group of comparable cases, the cheapest first.

    * `estimates`: as of `estimate.estimates`; `across`: rows of `across_processes`; `excess`: as of
      `self_checks.aa_excess`. Invalid and failed cases, and those of fewer than two processes, are left out.
    * Returns the group's columns and `case, cipher, provider, cycles_per_byte(_low, _high), time_ns, state, tie_group,
      ratio_to_best, ratio_low, ratio_high` (95 %). Cases in one tie group can't be told from its first at the level of
      5 % after Holm's adjustment over all pairs of the group, or differ by no more than 0.5 % or `smallest`, the
      smallest effect that matters to the study (as a share), and `excess`.
    """
    least = max(SMALLEST_CLAIM, smallest)
    rows = (
        estimates.filter(pl.col("state").is_in(["resolved", "unresolved"]) & (pl.col("processes") >= 2))
        .join(across.select("case", "log_canaries", "deviation"), on="case")
        .sort(*GROUP, "log_canaries")
    )
    ranked: list[dict[str, Any]] = []
    for _, group in rows.group_by(GROUP, maintain_order=True):
        ranked += _rank_group(group.to_dicts(), least, excess)
    columns = [*GROUP, "case", "cipher", "provider", "cycles_per_byte", "cycles_per_byte_low", "cycles_per_byte_high"]
    columns += ["time_ns", "state", "tie_group", "ratio_to_best", "ratio_low", "ratio_high"]
    if not ranked:
        return pl.DataFrame(schema={name: estimates.schema.get(name, pl.Float64) for name in columns})
    return pl.DataFrame(ranked, infer_schema_length=None).select(columns)


def _rank_group(rows: list[dict[str, Any]], least: float, excess: float) -> list[dict[str, Any]]:
    pairs = list(combinations(range(len(rows)), 2))
    adjusted = holm([p_of_difference(rows[i], rows[j]) for i, j in pairs])
    p_of = dict(zip(pairs, adjusted, strict=True))
    tie_group, first = 1, 0
    for index, row in enumerate(rows):
        gap = row["log_canaries"] - rows[first]["log_canaries"]
        if index > first and p_of[(first, index)] < LEVEL and gap - excess > least:
            tie_group, first = tie_group + 1, index
        error = 0.0
        if index:
            variance = sum(r["deviation"] ** 2 / r["processes"] for r in (rows[0], row))
            error = COVERAGE * math.sqrt(variance) * _small_sample(min(rows[0]["processes"], row["processes"]))
            error += excess
        gap_to_best = row["log_canaries"] - rows[0]["log_canaries"]
        row |= {
            "tie_group": tie_group,
            "ratio_to_best": math.exp(gap_to_best),
            "ratio_low": math.exp(gap_to_best - error),
            "ratio_high": math.exp(gap_to_best + error),
        }
    return rows


def _small_sample(processes: int) -> float:
    return t_quantile(max(1, processes - 1), 0.975) / COVERAGE
