"""Made-up counts of the papers' ciphers on an emulated core, out of the made-up worlds of a machine."""

from typing import Any

import polars as pl

from support.papers_evidence import GHZ, PAPERS
from wattlock.papers.judge import Evidence
from wattlock.papers.verdicts import MACHINE, CountedEvidence

CORE = "cortex-m4"


def counted(rows: pl.DataFrame, **more: Any) -> CountedEvidence:
    """Rows of `papers_evidence.row` as counts: a cycle for each tick at their clock, each of an image of its own.

    The half-width of a row is the error of the core's rules.
    """
    factor = 1 + pl.col("half_width_percent") / 100
    cycles = pl.col("time_ns") * GHZ
    frame = rows.with_row_index("case").with_columns(
        cycles=cycles,
        cycles_low=cycles / factor,
        cycles_high=cycles * factor,
        instructions=pl.col("case"),
        image_sha256=pl.format("{}", "case"),
        data=pl.lit("random"),
        state=pl.lit("counted"),
    )
    error = {"error_percent": float(rows["half_width_percent"][0])} | more
    return CountedEvidence(estimates=frame, machine=MACHINE, run="counted-1", papers=PAPERS, core=CORE, **error)


def counted_world(world: Evidence) -> CountedEvidence:
    """A made-up world of a machine as a core would have counted it."""
    return counted(world.estimates)
