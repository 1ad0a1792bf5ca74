"""Kinds of core compared within a run: what a case costs on each beside what it costs on the first."""

from __future__ import annotations

import polars as pl

from wattlock.analysis.comparison import FACTORS, Rules, compare
from wattlock.analysis.ranking import SMALLEST_CLAIM

KEYS = ["cipher", "provider", *FACTORS]
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
    of = {name: rows.filter(pl.col("core_class") == name) for name in (first, *others)}
    return pl.concat([compare(of[first], of[name], KEYS, rules) for name in others])
