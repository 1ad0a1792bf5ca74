"""What a byte costs in the median process of a run, and in those at the quartiles: the form of eBACS's tables."""

from __future__ import annotations

import polars as pl

from wattlock.analysis.distributions import CYCLES, TIME

QUARTILES = {"per_byte_q1": 0.25, "per_byte": 0.5, "per_byte_q3": 0.75}
NUMBERED = ("resolved", "unresolved")


def per_byte(estimates: pl.DataFrame, summaries: pl.DataFrame) -> pl.DataFrame:
    """The estimates with the median and the quartiles of what a byte costs, over the complete processes of each case.

    * `summaries`: rows of `within.summarise`: a row a case and process.
    * Adds `per_byte_q1`, `per_byte`, `per_byte_q3` and their `unit`: cycles, or nanoseconds where a case has no cycles.
      They are null where a case has no number or no payload. An interval says how well a mean is known; quartiles
      say how far fresh processes lie apart.
    """
    log, wall = pl.col("log_canaries"), pl.col("wall_ns")
    spread = summaries.group_by("case").agg(
        *((log.quantile(share, "linear") - log.mean()).exp().alias(name) for name, share in QUARTILES.items()),
        *(wall.quantile(share, "linear").alias(f"wall_{name}") for name, share in QUARTILES.items()),
    )
    has_number = pl.col("state").is_in(NUMBERED) & (pl.col("payload_B") > 0)
    has_cycles, in_memory = pl.col("cycles").is_not_null(), pl.col("placement") == "DRAM"

    def cost(name: str) -> pl.Expr:
        of_mean = pl.when(has_cycles).then("cycles").otherwise("time_ns") * pl.col(name)
        a_call = pl.when(in_memory).then(pl.col(f"wall_{name}")).otherwise(of_mean)
        return pl.when(has_number).then(a_call / pl.col("payload_B")).alias(name)

    unit = pl.when(has_cycles & ~in_memory).then(pl.lit(CYCLES)).otherwise(pl.lit(TIME)).alias("unit")
    joined = estimates.join(spread, on="case", how="left", maintain_order="left")
    return joined.select(*estimates.columns, *(cost(name) for name in QUARTILES), unit)


def counted_per_byte(estimates: pl.DataFrame, column: str) -> pl.DataFrame:
    """The same of a run that counted: a count repeats, so that there is one number and no quartiles.

    * `column`: the cycles, those of the core or of a part.
    """
    counted = pl.when(pl.col("payload_B") > 0).then(pl.col(column) / pl.col("payload_B"))
    nothing = (pl.lit(None, pl.Float64).alias(name) for name in ("per_byte_q1", "per_byte_q3"))
    return estimates.with_columns(*nothing, counted.alias("per_byte"), pl.lit(CYCLES).alias("unit"))
