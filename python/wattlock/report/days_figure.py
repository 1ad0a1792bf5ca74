"""The figure of an answer: days of battery with their intervals, one line a choice, tie groups apart."""

from __future__ import annotations

import altair as alt
import polars as pl

from wattlock.report.evidence import one_evidence

MOST = 20
ROW_PX = 18


def days(ranked: pl.DataFrame, most: int = MOST) -> alt.LayerChart:
    """Days of battery of the first choices: a dot for the median, a bar for the 95 % interval.

    * `ranked`: of an advice, with `rank`, `choice`, `provider`, `days`, `days_low`, `days_high` and `evidence`.

    Raises EvidenceMix where the choices rest on several kinds of evidence.
    """
    shown = ranked.head(most).with_columns(
        name=pl.format("{}. {}, {}", "rank", "choice", "provider"), group=pl.format("place {}", "rank")
    )
    kind = one_evidence(shown, "evidence")
    choice = alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelLimit=320))
    place = alt.Color("group:N", sort=None, legend=alt.Legend(title=None))
    base = alt.Chart(shown).encode(y=choice, color=place)
    bars = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("days_low:Q", title=f"days of battery ({kind})"), x2="days_high:Q"
    )
    dots = base.mark_point(filled=True, size=50, opacity=1).encode(x=alt.X("days:Q"))
    return alt.LayerChart(layer=[bars, dots]).properties(height=ROW_PX * shown.height)
