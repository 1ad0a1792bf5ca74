"""The figure of a capture: how many packets of which size."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from wattlock.link.capture_file import binned
from wattlock.report.evidence import NothingToDraw

HEIGHT_PX = 260
# The words are measured by one font and drawn by the reader's, which may be wider.
LEGEND = alt.Legend(columnPadding=28, offset=32)


def packet_sizes(sizes: Sequence[dict[str, Any]]) -> alt.Chart:
    """Packets of a capture by size in bins that double from 64 octets, stacked by kind.

    * `sizes`: rows of `frame`, `protected`, `size_B`, `count`, as `wattlock.link.capture_file.census` gives them.

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
