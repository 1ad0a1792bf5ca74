"""The first call after a pause beside calls one after another: how many times as much the same case costs."""

from __future__ import annotations

import polars as pl

from wattlock.analysis.comparison import FACTORS, Rules, compare
from wattlock.analysis.estimate import STEADY
from wattlock.analysis.ranking import SMALLEST_CLAIM

AFTER_PAUSE = "after-pause"
KEYS = ["cipher", "provider", "core_class", *(name for name in FACTORS if name != "readiness")]
"""What two cases have in common beside their readiness."""


def compare_after_pause(
    estimates: pl.DataFrame, across: pl.DataFrame, smallest: float = SMALLEST_CLAIM
) -> pl.DataFrame:
    """Each case after a pause against its steady twin: `compare`, side a steady and side b after the pause.

    * `estimates`: of one run; `across`: rows of `across_processes`; `smallest`: what matters, as a share.
    * Returns no row where the run has no such pair. What a card makes joules of is time, and no joules are compared.
    """
    rows = estimates.join(across.select("case", "deviation"), on="case", how="left", maintain_order="left")
    of = {level: rows.filter(pl.col("readiness") == level) for level in (STEADY, AFTER_PAUSE)}
    return compare(of[STEADY], of[AFTER_PAUSE], KEYS, Rules(smallest))
