"""The papers' exhibits as charts, tables and drawings: a panel of numbers in, a figure out.

Every chart rests on one kind of evidence; its title says which where it is not measured.
"""

import base64
import math
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import altair as alt
import polars as pl

from wattlock.papers.exhibits import Drawing, Panel
from wattlock.report import diagrams
from wattlock.report.evidence import one_evidence
from wattlock.report.formats import MISSING, number
from wattlock.report.markup import cell, folded, island, table, text, unbroken
from wattlock.report.scales import bounds_of, levels_of, log_scale, ticks

SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [1, 3]]
ROW_PX, LINES_PX = 30, 380
WIDE = 3.0
"""Numbers whose greatest is more times the least stand on a logarithmic axis."""

MOST_MARKS, MOST_TICKS = 200, 9
"""A curve of more points than these is a curve, and has no cases to mark; axes with more sizes choose their ticks."""

NEAR = 0.04
"""Points nearer than this share of both axes have one label."""

TIPS = [("name", "what"), ("variant", "of"), ("told", "value"), ("range", "95 % interval")]


def chart(panel: Panel) -> alt.LayerChart:
    """The chart of a panel, as wide as what holds it.

    Raises EvidenceMix where its numbers rest on several kinds of evidence.
    """
    evidence = one_evidence(panel.rows, "evidence")
    title = panel.unit if evidence == "measured" else f"{panel.unit} ({evidence})"
    rows = panel.rows.with_columns(formatted=_formatted(panel.rows, "value"), range=_ranges(panel.rows))
    layers, height = {"dots": _dots, "lines": _lines, "scatter": _scatter, "bars": _bars}[panel.form](
        rows, title, panel.x_title
    )
    described = f"{title}; {panel.title}"
    return alt.LayerChart(data=rows, layer=layers).properties(
        width="container", height=height, padding=4, description=described
    )


def figure(panel: Panel) -> str:
    """A panel as HTML: a table, or a chart with its numbers folded behind it."""
    if panel.form == "table":
        titled = f"<figcaption><strong>{text(panel.title)}</strong></figcaption>"
        return f'<figure class="wide">{titled}{_table(panel)}</figure>'
    drawn = chart(panel)
    height = drawn.height if isinstance(drawn.height, int) else LINES_PX
    return (
        f"<figure><figcaption><strong>{text(panel.title)}</strong></figcaption>"
        f'<div class="chart" style="min-height:{height + 60}px"></div>{island("spec", drawn.to_dict())}'
        f"{folded('The numbers', _table(panel))}</figure>"
    )


def drawing(of: Drawing) -> str:
    """A diagram as SVG, the bitmap as an image."""
    data: Mapping[str, Any] = of.data
    if of.kind == "exchange":
        return diagrams.exchange(data["title"], data["parties"], data["messages"])
    if of.kind == "taxonomy":
        return diagrams.taxonomy(data["rows"])
    if of.kind == "features":
        return diagrams.feature_model(data["features"])
    if of.kind == "loop":
        return diagrams.loop(data["title"], data["steps"], data["question"], data["back_to"])
    shown = base64.b64encode(bitmap(data["side_px"])).decode()
    side = data["side_px"]
    words = f"{side} by {side} pixels: two waves of colour that cross"
    return f'<img class="bitmap" alt="{words}" width="{side}" height="{side}" src="data:image/png;base64,{shown}">'


def caption(of: Drawing) -> str:
    """The title of a drawing where it has one of its own."""
    return str(of.data.get("title", ""))


def bitmap(side_px: int) -> bytes:
    """A picture of our own making as PNG: smooth waves, coarse enough to be small."""
    wave = [round(127 + 120 * math.sin(place / side_px * 4 * math.pi)) & 0xE0 for place in range(side_px)]
    lines = b"".join(
        b"\0" + b"".join(bytes((wave[x], wave[y], wave[(x + y) % side_px])) for x in range(side_px))
        for y in range(side_px)
    )
    head = struct.pack(">IIBBBBB", side_px, side_px, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _formatted(rows: pl.DataFrame, column: str) -> pl.Series:
    return pl.Series([number(value) for value in rows[column]], dtype=pl.String)


def _ranges(rows: pl.DataFrame) -> pl.Series:
    pairs = rows.select("low", "high").iter_rows()
    formatted = [MISSING if low is None or high is None else f"{number(low)} to {number(high)}" for low, high in pairs]
    return pl.Series(formatted, dtype=pl.String)


def _has_intervals(rows: pl.DataFrame) -> bool:
    return rows["low"].null_count() < rows.height


def _tooltips() -> list[alt.Tooltip]:
    return [alt.Tooltip(f"{column}:N", title=title) for column, title in TIPS]


def _axis(rows: pl.DataFrame, title: str) -> dict[str, Any]:
    """Title, scale and ticks of the value's axis."""
    ends = [one for one in (rows["value"].min(), rows["value"].max()) if isinstance(one, float)]
    if ends[0] > 0 and ends[1] / ends[0] > WIDE:
        bounds = bounds_of(rows.with_columns(low=pl.coalesce("low", "value"), high=pl.coalesce("high", "value")))
        return {"title": title, "scale": log_scale(bounds), "axis": ticks(bounds)}
    return {"title": title, "scale": alt.Scale(zero=True), "axis": alt.Axis(format=",~r", tickCount=6)}


def _legend(rows: pl.DataFrame, column: str, offset_px: int = 12) -> alt.Legend | None:
    if rows[column].n_unique() < 2:
        return None
    return alt.Legend(title=None, columns=1, labelLimit=320, symbolOpacity=1, offset=offset_px)


def _dots(rows: pl.DataFrame, title: str, _x_title: str) -> tuple[list[alt.Chart], int]:
    """A row a name, cheapest first; a mark for each implementation, told by shape and colour."""
    is_speed = title.startswith("throughput")
    best = rows.group_by("name").agg(pl.col("value").max() if is_speed else pl.col("value").min())
    order = best.sort("value", "name", descending=[is_speed, False])["name"].to_list()
    levels = levels_of(rows, "variant")
    legend = _legend(rows, "variant")
    y = alt.Y("name:N", title=None, sort=order, axis=alt.Axis(grid=True, labelLimit=150))
    x = alt.X("value:Q", **_axis(rows, title))
    colour = alt.Color("variant:N", scale=alt.Scale(domain=levels), legend=legend)
    shapes = alt.Scale(domain=levels, range=[SHAPES[place % len(SHAPES)] for place in range(len(levels))])
    base = alt.Chart().encode(y=y, color=colour)
    rules = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.6).encode(x="low:Q", x2="high:Q")
    layers = [rules] if _has_intervals(rows) else []
    marks = base.mark_point(filled=True, opacity=1, size=62).encode(
        x=x, shape=alt.Shape("variant:N", scale=shapes, legend=legend), tooltip=_tooltips()
    )
    return [*layers, marks], max(90, len(order) * ROW_PX)


def _lines(rows: pl.DataFrame, title: str, x_title: str) -> tuple[list[alt.Chart], int]:
    """A line a name and implementation: the name's colour, the implementation's dashes and shape."""
    sizes = rows["x"].unique().sort().to_list()
    wide = sizes[0] > 0 and sizes[-1] / sizes[0] > 2 * WIDE
    shown = sizes if len(sizes) <= MOST_TICKS else None
    scale = alt.Scale(type="log", nice=False) if wide else alt.Scale(zero=False, nice=False)
    ticks_x = alt.Axis(format=",.0f", grid=False, labelOverlap="greedy", values=shown if shown else alt.Undefined)
    x = alt.X("x:Q", title=x_title, scale=scale, axis=ticks_x)
    up = _axis(rows, title)
    up["axis"].titleY = -14  # clear of the topmost tick's label
    y = alt.Y("value:Q", **up)
    if "%" in title:
        y = alt.Y("value:Q", title=title, scale=alt.Scale(domain=[0, 100]), axis=alt.Axis(titleY=-12))
    names, variants = levels_of(rows, "name"), levels_of(rows, "variant")
    above = 24  # the axis's title stands between
    colour = alt.Color("name:N", scale=alt.Scale(domain=names), legend=_legend(rows, "name", above))
    dashes = [DASHES[place % len(DASHES)] for place in range(len(variants))]
    dash = alt.StrokeDash(
        "variant:N", scale=alt.Scale(domain=variants, range=dashes), legend=_legend(rows, "variant", above)
    )
    base = alt.Chart().encode(x=x, color=colour)
    line = base.mark_line(strokeWidth=1.7).encode(y=y, strokeDash=dash, detail="variant:N")
    rules = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.4).encode(y="low:Q", y2="high:Q")
    marks = base.mark_point(filled=True, opacity=1, size=36).encode(y=y, tooltip=_tooltips())
    if rows.height > MOST_MARKS:
        return [line], LINES_PX
    return [line, *([rules] if _has_intervals(rows) else []), marks], LINES_PX


def _scatter(rows: pl.DataFrame, title: str, x_title: str) -> tuple[list[alt.Chart], int]:
    """Points with their names, and the fitted line."""
    x = alt.X("x:Q", title=x_title, scale=alt.Scale(zero=False, padding=24), axis=alt.Axis(format=",~r", tickCount=6))
    y = alt.Y("value:Q", title=title, scale=alt.Scale(zero=False, padding=16), axis=alt.Axis(format=",~r", titleY=-14))
    base = alt.Chart().encode(x=x, y=y)
    line = base.transform_filter("datum.variant == 'line'").mark_line(strokeWidth=1.4)
    pairs = base.transform_filter("datum.variant == 'pairs'")
    marks = pairs.mark_point(filled=True, opacity=1, size=55).encode(tooltip=_tooltips())
    names = alt.Chart(_labels(rows)).mark_text(dy=-10, style="value", fontSize=11).encode(x=x, y=y, text="name:N")
    return [line, marks, names], LINES_PX


def _labels(rows: pl.DataFrame) -> pl.DataFrame:
    """The names of points, those of near ones as one label at the first of them."""
    points = rows.filter(pl.col("variant") == "pairs").select("name", "x", "value").rows()
    widths = [max(one[place] for one in points) - min(one[place] for one in points) for place in (1, 2)]
    labels: list[tuple[list[str], float, float]] = []
    for name, x, y in points:
        near = (one for one in labels if abs(one[1] - x) <= NEAR * widths[0] and abs(one[2] - y) <= NEAR * widths[1])
        at = next(near, None)
        if at is None:
            labels.append(([name], x, y))
        else:
            at[0].append(name)
    formatted = [(", ".join(names), x, y) for names, x, y in labels]
    return pl.DataFrame(formatted, schema=["name", "x", "value"], orient="row")


def _bars(rows: pl.DataFrame, title: str, _x_title: str) -> tuple[list[alt.Chart], int]:
    """A bar a name, in the order of `x`."""
    y = alt.Y("name:N", title=None, sort=alt.EncodingSortField("x"), axis=alt.Axis(labelLimit=170))
    x = alt.X("value:Q", title=title, axis=alt.Axis(format=",~r"))
    return [alt.Chart().mark_bar().encode(x=x, y=y, tooltip=_tooltips())], max(90, rows.height * ROW_PX)


HEADS = {"name": "What", "variant": "Of", "x": "At", "value": "Value", "evidence": "Evidence"}


def _table(panel: Panel) -> str:
    """The rows of a panel; of a drawn one with the interval in one column."""
    rows = panel.rows
    if panel.form != "table":
        kept = [name for name in HEADS if rows[name].null_count() < rows.height]
        rows = rows.with_columns(pl.Series("range", _ranges(rows))).select(*kept, "range")
        rows = rows.rename(
            {**HEADS, "x": panel.x_title or "At", "value": panel.unit, "range": "95 % interval"}, strict=False
        )
    return table(panel.title, list(_heads(rows)), [f"<tbody>{''.join(_rows(rows))}</tbody>"])


def _heads(rows: pl.DataFrame) -> Iterator[str]:
    for name, kind in rows.schema.items():
        yield f"#{name}" if kind.is_numeric() else name


def _rows(rows: pl.DataFrame) -> Iterator[str]:
    numeric = [kind.is_numeric() for kind in rows.schema.values()]
    for row in rows.iter_rows():
        first = f'<th scope="row">{unbroken(formatted(row[0]))}</th>'
        rest = "".join(cell(formatted(value), one) for value, one in zip(row[1:], numeric[1:], strict=True))
        yield f"<tr>{first}{rest}</tr>"


def formatted(value: object) -> str:
    """A value of a table: whole numbers whole, others with four digits: what a paper prints stands as printed."""
    if value is None:
        return MISSING
    if isinstance(value, float) and not value.is_integer():
        return number(value, 4)
    return f"{value:,.0f}" if isinstance(value, int | float) else str(value)
