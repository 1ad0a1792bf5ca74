"""What a figure may show of a case: its value and interval, its axis title, the evidence that it rests on."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import polars as pl

from wattlock.report.evidence import NothingToDraw, one_evidence
from wattlock.report.formats import estimate, interval

Limits = tuple[pl.Expr, pl.Expr, pl.Expr]
NONE = pl.lit(None, pl.Float64)
SPEED = 1e3 * pl.col("payload_B")


def _limits(value: str, low: str, high: str, per: pl.Expr | float = 1) -> Limits:
    """Three columns divided by one thing."""
    return pl.col(value) / per, pl.col(low) / per, pl.col(high) / per


@dataclass(frozen=True, slots=True)
class Quantity:
    """An axis: its title with the unit, and the value with the ends of its 95 % interval (null where it has none)."""

    title: str
    limits: Limits
    evidence: str = "time_evidence"
    more_is_better: bool = False


QUANTITIES: Mapping[str, Quantity] = MappingProxyType(
    {
        "cycles": Quantity("cycles", _limits("cycles", "cycles_low", "cycles_high")),
        "cycles_per_byte": Quantity(
            "cycles per byte", _limits("cycles", "cycles_low", "cycles_high", pl.col("payload_B"))
        ),
        "time_ms": Quantity("time, ms", _limits("time_ns", "time_low_ns", "time_high_ns", 1e6)),
        "throughput_MB_s": Quantity(
            "throughput, MB/s (10⁶ bytes)",
            (SPEED / pl.col("time_ns"), SPEED / pl.col("time_high_ns"), SPEED / pl.col("time_low_ns")),
            more_is_better=True,
        ),
        "cpu_ms": Quantity("CPU time, ms", (pl.col("cpu_ns") / 1e6, NONE, NONE)),
        "cpu_us": Quantity("CPU time, µs a packet", (pl.col("cpu_ns") / 1e3, NONE, NONE)),
        "energy_uJ_per_byte": Quantity(
            "energy, µJ per byte",
            _limits("energy_uJ_per_byte", "energy_low_uJ_per_byte", "energy_high_uJ_per_byte"),
            evidence="energy_evidence",
        ),
    }
)
KEPT = ("name", "family", "key_bits", "operation", "payload_B", "data", "state")


def drawn(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """The rows that have this quantity, as `value, low, high`, its `evidence`, and in words: `text, range`.

    Raises EvidenceMix where the rows rest on several kinds of evidence, NothingToDraw where no row has a value.
    """
    quantity = QUANTITIES[name]
    value, low, high = quantity.limits
    # What one process measured has an interval without an end, which no axis holds: its mark stands alone.
    bounded = high.is_finite()
    ends = {"low": pl.when(bounded).then(low), "high": pl.when(bounded).then(high)}
    rows = rows.with_columns(value=value, **ends).filter(pl.col("value") > 0)
    if rows.is_empty():
        raise NothingToDraw(quantity.title)
    evidence = one_evidence(rows, quantity.evidence)
    limits = list(rows.select("value", "low", "high").iter_rows())
    words = [
        estimate(*limit) + ("" if state == "resolved" else " unresolved")
        for limit, state in zip(limits, rows["state"], strict=True)
    ]
    ranges = [interval(*limit) for limit in limits]
    return rows.select(*KEPT, "value", "low", "high", evidence=pl.lit(evidence)).with_columns(
        text=pl.Series(words), range=pl.Series(ranges)
    )


def axis_title(drawn_rows: pl.DataFrame, name: str) -> str:
    """The title of the quantity's axis, with the kind of evidence where it is not measured."""
    evidence = drawn_rows["evidence"][0]
    title = QUANTITIES[name].title
    return title if evidence == "measured" else f"{title} ({evidence})"
