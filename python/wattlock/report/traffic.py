"""The figure of a capture: how many packets of which size."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from wattlock.report.evidence import NothingToDraw

HEIGHT_PX = 260
# The words are measured by one font and drawn by the reader's, which may be wider.
LEGEND = alt.Legend(columnPadding=28, offset=32)
# Octets of the smallest Ethernet frame: the first bin is below it, each one after that twice as wide.
FIRST_B = 64


def packet_sizes(sizes: Sequence[dict[str, Any]]) -> alt.Chart:
    """Packets of a capture by size in bins that double from 64 octets, stacked by kind.

    * `sizes`: rows of `frame`, `protected`, `size_B`, `count`, as `wattlock.link.capture.census` gives them.

    Raises NothingToDraw where no packet was counted.
    """
    if not sizes:
        raise NothingToDraw("packets of a capture")
    rows = binned(sizes)
    order = rows.sort("from_B")["bin"].unique(maintain_order=True).to_list()
    kinds = rows["kind"].unique(maintain_order=True).sort().to_list()
    chart: alt.Chart = (
        alt.Chart(rows)
        .mark_bar()
        .encode(
            x=alt.X("bin:N", title="packet, bytes", sort=order, axis=alt.Axis(labelAngle=0)),
            y=alt.Y("count:Q", title="packets", axis=alt.Axis(format=",d", titleY=-14)),
            color=alt.Color("kind:N", title=None, scale=alt.Scale(domain=kinds), legend=LEGEND),
            tooltip=[
                alt.Tooltip("kind:N"),
                alt.Tooltip("bin:N", title="bytes"),
                alt.Tooltip("count:Q", format=",d", title="packets"),
            ],
        )
        .properties(
            width="container", height=HEIGHT_PX, padding=4, description="packets of a capture by their size, by kind"
        )
    )
    return chart


def binned(sizes: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """A row a bin and kind: `from_B`, `bin` in words, `kind`, `count`; every bin up to the largest has at least one."""
    counts: dict[tuple[int, str], int] = {}
    for row in sizes:
        kind = f"{row['frame']}, protected" if row["protected"] else row["frame"]
        key = (_from_B(row["size_B"]), kind)
        counts[key] = counts.get(key, 0) + row["count"]
    largest_B, some_kind = max(counts)
    from_B = 0
    while from_B < largest_B:
        if not any(bin_B == from_B for bin_B, _ in counts):
            counts[from_B, some_kind] = 0
        from_B = 2 * from_B or FIRST_B
    return pl.DataFrame(
        [
            {"from_B": bin_B, "bin": f"{bin_B}\u2013{(2 * bin_B or FIRST_B) - 1}", "kind": kind, "count": count}
            for (bin_B, kind), count in sorted(counts.items())
        ]
    )


def _from_B(size_B: int) -> int:
    """The least size of the bin that a size lies in."""
    return 0 if size_B < FIRST_B else 1 << size_B.bit_length() - 1
