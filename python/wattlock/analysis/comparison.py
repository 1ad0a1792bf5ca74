"""Cases against cases, cores against cores, after a pause against steady: ratios with an interval and a verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import polars as pl

from wattlock.analysis import energy_blocks
from wattlock.analysis.distributions import COVERAGE, t_below, t_quantile
from wattlock.analysis.estimate import LEVEL, STEADY

GROUP = (
    *("operation", "mode", "keying", "encoding", "placement", "pattern", "payload_B", "data", "aad_B", "readiness"),
    "core_class",
)
"""Cases are ranked among those that differ in nothing but the cipher and its implementation: kinds of core are not
mixed, nor is a first call after a pause with calls one after another."""

FACTORS = tuple(name for name in GROUP if name not in {"mode", "core_class"})
"""What two cases must have in common beside the cipher; kinds of core are a side's own."""

ENERGY = ("energy_ratio", "energy_ratio_low", "energy_ratio_high")
"""Net joules of the second case over those of the first: there where alike meters measured both."""

ENERGY_VERDICTS = {"slower": "more", "faster": "less"}
"""What the verdicts on a cost are called where the cost is joules."""

Quantity = Literal["cycles", "time"]
"""What a ratio is of. Cycles hold still where a core's clock wanders, and say nothing across two kinds of core."""

UNTOLD = "the interval holds an end of the margin"
"""Why a pair with a ratio is undecided."""

SIDE = ("provider", "version", "path", "of", "core_class", "state", "processes", "cycles_per_byte", "time_ns")
"""What the table shows of each of both, with `_a` and `_b` behind it."""


def log_ratio(a: dict[str, Any], b: dict[str, Any]) -> tuple[float, float]:
    """Log of how many times a case's cost the other's is, and the half-width of its 95 % interval (Welch).

    * `a`, `b`: `log_cost` (mean over processes), `deviation` (of one process) and `processes`, at least two.

    Source: B. L. Welch, The generalization of Student's problem when several different population variances are
    involved, Biometrika 34 (1947).
    """
    variances = [row["deviation"] ** 2 / row["processes"] for row in (a, b)]
    total = sum(variances)
    gap = float(b["log_cost"] - a["log_cost"])
    if total == 0:
        return gap, 0.0
    freedom = total**2 / sum(v**2 / (row["processes"] - 1) for v, row in zip(variances, (a, b), strict=True))
    return gap, t_quantile(freedom, 1 - LEVEL / 2) * math.sqrt(total)


def verdict(gap: float, half_width: float, smallest: float, *, has_equivalence: bool = True) -> str:
    """What an interval of a log ratio says of the second of two cases: faster, slower, equivalent or undecided.

    An interval that lies wholly above the margin is slower, wholly below it faster, wholly within it equivalent; one
    that holds an end of the margin is undecided. Nothing else in this package judges a ratio.

    * `gap`, `half_width`: of the interval, in logs. `smallest`: the margin, as a share: a ratio from 1 / (1 + smallest)
      to 1 + smallest makes no difference. `has_equivalence`: whether that may be claimed.
    """
    margin = math.log1p(smallest)
    if abs(gap) - half_width > margin:
        return "slower" if gap > 0 else "faster"
    return "equivalent" if has_equivalence and abs(gap) + half_width <= margin else "undecided"


SMALLEST_CLAIM = 0.005
"""No difference below 0.5 % is claimed, however sure it is."""


@dataclass(frozen=True)
class Rules:
    """What a comparison may claim.

    * `smallest`: the margin of `verdict`; `has_equivalence`: whether cases may be called equivalent.
    * `excess`: what the A/A tests missed beyond their noise (log): every half-width is wider by it.
    * `quantity`: what is compared; times where one side has no cycles. `one_meter`: its gain cancels in a ratio.
    """

    smallest: float = SMALLEST_CLAIM
    has_equivalence: bool = True
    excess: float = 0.0
    quantity: Quantity = "cycles"
    one_meter: bool = True


def compare(
    a: pl.DataFrame,
    b: pl.DataFrame,
    keys: Sequence[str],
    rules: Rules = Rules(),
    paired: Mapping[tuple[int, int], tuple[float, float]] | None = None,
) -> pl.DataFrame:
    """Compares the cases of two frames that agree in all `keys`.

    * `a`, `b`: estimates with `deviation` of `across_processes`.
    * `paired`: log ratio and half-width by the numbers of two cases that were measured in pairs; in place of Welch's.
    * Returns a row a pair: `cipher`, the factors, the columns of `SIDE` of both, `quantity`, `ratio` (b over a),
      `ratio_low`, `ratio_high` (95 %, each pair for itself), `verdict` and `reason`, why an undecided one is, and those
      of `ENERGY` with `energy_verdict` where both frames have energies. A pair of which one side failed, is invalid or
      has fewer than two processes has no ratio.
    """
    columns = {
        **{name: a.schema.get(name, pl.String) for name in ("cipher", *FACTORS)},
        **{f"{name}_{side}": a.schema[name] for side in "ab" for name in SIDE},
        "quantity": pl.String,
        **dict.fromkeys(("ratio", "ratio_low", "ratio_high", *ENERGY), pl.Float64),
        **dict.fromkeys(("verdict", "reason", "energy_verdict"), pl.String),
    }
    pairs = a.join(b, on=list(keys), how="inner", suffix=".b", nulls_equal=True, maintain_order="left")
    rows = []
    for pair in pairs.iter_rows(named=True):
        first = {name: pair[name] for name in a.columns}
        second = {name: pair.get(f"{name}.b", pair[name]) for name in a.columns}
        row = {name: first[name] for name in ("cipher", *FACTORS)}
        row |= {f"{name}_{side}": row[name] for side, row in (("a", first), ("b", second)) for name in SIDE}
        known = paired.get((first["case"], second["case"])) if paired else None
        rows.append(row | _energies(first, second, rules) | _judged(first, second, rules, known))
    return pl.DataFrame(rows, schema=columns)


def _energies(a: dict[str, Any], b: dict[str, Any], rules: Rules) -> dict[str, float | str | None]:
    """Of one meter the gain is the same on both sides and cancels; of two meters the interval holds both gains."""
    has_both = a.get("energy_uJ") is not None and b.get("energy_uJ") is not None
    if not has_both or not (rules.one_meter or min(a["energy_low_uJ"], b["energy_low_uJ"]) > 0):
        return dict.fromkeys((*ENERGY, "energy_verdict"))
    if rules.one_meter:
        ratio, low, high = energy_blocks.ratio(b, a)
    else:
        ratio = b["energy_uJ"] / a["energy_uJ"]
        width = math.hypot(*(math.log(row["energy_high_uJ"] / row["energy_low_uJ"]) / 2 for row in (a, b)))
        low, high = ratio * math.exp(-width), ratio * math.exp(width)
    judged = verdict(math.log(ratio), math.log(high / ratio), rules.smallest, has_equivalence=rules.has_equivalence)
    named = ENERGY_VERDICTS.get(judged, judged)
    return dict(zip((*ENERGY, "energy_verdict"), (ratio, low, high, named), strict=True))


def lost(a: pl.DataFrame, b: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """The cases of `a` with a number whose like in `b` has none: it failed there, or is not there at all."""
    has_number = pl.col("state").is_in(["resolved", "unresolved"])
    return a.filter(has_number).join(b.filter(has_number), on=list(keys), how="anti", nulls_equal=True)


def _judged(
    a: dict[str, Any], b: dict[str, Any], rules: Rules, paired: tuple[float, float] | None = None
) -> dict[str, Any]:
    in_cycles = rules.quantity == "cycles" and a["cycles"] is not None and b["cycles"] is not None
    quantity = {"quantity": "cycles" if in_cycles else "time"}
    for row in sorted((a, b), key=lambda row: row["state"] != "failed"):  # where one failed, the other was left
        if row["state"] in {"failed", "invalid"} or row["processes"] < 2 or row["deviation"] is None:
            why = row["reason"] or f"{row['processes']} complete processes"
            return {**quantity, "verdict": "undecided", "reason": f"{row['provider']}: {why}"}
    unit = "cycles" if in_cycles else "time_ns"
    gap, half_width = paired or log_ratio(*({**row, "log_cost": math.log(row[unit])} for row in (a, b)))
    half_width += rules.excess
    judged = verdict(gap, half_width, rules.smallest, has_equivalence=rules.has_equivalence)
    return {
        **quantity,
        "ratio": math.exp(gap),
        "ratio_low": math.exp(gap - half_width),
        "ratio_high": math.exp(gap + half_width),
        "verdict": judged,
        "reason": UNTOLD if judged == "undecided" else None,
    }


SAME_BUT_CORE = ["cipher", "provider", *FACTORS]
"""What two cases have in common beside the kind of core."""


def core_classes(estimates: pl.DataFrame) -> list[str]:
    """The kinds of core that cases were measured on, in their order; empty where all cores are alike."""
    if "core_class" not in estimates.columns:
        return []
    return estimates["core_class"].drop_nulls().unique(maintain_order=True).to_list()


def compare_core_classes(
    estimates: pl.DataFrame, across: pl.DataFrame, smallest: float = SMALLEST_CLAIM, excess: float = 0.0
) -> pl.DataFrame:
    """Every other kind of core against the first: `compare` in time, a row a case and other kind.

    * `estimates`: of one run, with its energies where it was metered; `across`: rows of `across_processes`.
    * `smallest`, `excess`: as of `Rules`.
    """
    rows = estimates.join(across.select("case", "deviation"), on="case", how="left", maintain_order="left")
    first, *others = core_classes(estimates)
    # One meter measured both: its gain cancels. Cycles of two kinds of core are not alike.
    rules = Rules(smallest, excess=excess, quantity="time", one_meter=True)
    by_class = {name: rows.filter(pl.col("core_class") == name) for name in (first, *others)}
    return pl.concat([compare(by_class[first], by_class[name], SAME_BUT_CORE, rules) for name in others])


AFTER_PAUSE = "after-pause"

SAME_BUT_READINESS = ["cipher", "provider", "core_class", *(name for name in FACTORS if name != "readiness")]
"""What two cases have in common beside their readiness."""


def compare_after_pause(
    estimates: pl.DataFrame, across: pl.DataFrame, smallest: float = SMALLEST_CLAIM
) -> pl.DataFrame:
    """Each case after a pause against its steady twin: `compare`, side a steady and side b after the pause.

    * `estimates`: of one run; `across`: rows of `across_processes`; `smallest`: what matters, as a share.
    * Returns no row where the run has no such pair. What a card makes joules of is time, and no joules are compared.
    """
    rows = estimates.join(across.select("case", "deviation"), on="case", how="left", maintain_order="left")
    by_class = {level: rows.filter(pl.col("readiness") == level) for level in (STEADY, AFTER_PAUSE)}
    return compare(by_class[STEADY], by_class[AFTER_PAUSE], SAME_BUT_READINESS, Rules(smallest))


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
