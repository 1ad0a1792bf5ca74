"""The papers' exhibits: a panel of numbers in, a chart with its table out; drawings as SVG.

What a chart draws of ours rests on one kind of evidence; its title says which where it is not measured. The paper's own
numbers are marks apart, in one colour and shape on every chart, and the legend says where each stands. A logarithmic
axis says so.
"""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any

import altair as alt
import polars as pl

from wattlock.papers.exhibit import Diagram, Panel
from wattlock.report import drawings
from wattlock.report.charts import Bounds, Pen, figure_name, levels_of, log_scale, roomy, ticks
from wattlock.report.evidence import one_evidence
from wattlock.report.formats import MISSING, number
from wattlock.report.html import CATEGORY, cell, colour, folded, table, text, unbroken


def figure(panel: Panel, pen: Pen) -> str:
    """A panel as HTML: a table, or a chart with its numbers folded behind it."""
    if panel.form == "table":
        titled = f"<figcaption><strong>{text(panel.title)}</strong></figcaption>"
        return f'<figure class="wide">{titled}{_table(panel)}</figure>'
    return (
        f"<figure><figcaption><strong>{text(panel.title)}</strong></figcaption>"
        f"{pen.draw(chart(panel), figure_name(panel.title))}"
        f"{folded('The numbers', _table(panel))}</figure>"
    )


def drawing(diagram: Diagram) -> str:
    """A diagram as SVG, the bitmap as an image."""
    data: Mapping[str, Any] = diagram.data
    if diagram.kind == "exchange":
        return drawings.exchange(data["title"], data["parties"], data["messages"])
    if diagram.kind == "taxonomy":
        return drawings.taxonomy(data["rows"])
    if diagram.kind == "features":
        return drawings.feature_model(data["features"])
    if diagram.kind == "loop":
        return drawings.loop(data["title"], data["steps"], data["question"], data["back_to"])
    shown = base64.b64encode(bitmap(data["side_px"])).decode()
    side = data["side_px"]
    words = f"{side} by {side} pixels: two waves of colour that cross"
    return f'<img class="bitmap" alt="{words}" width="{side}" height="{side}" src="data:image/png;base64,{shown}">'


def caption(diagram: Diagram) -> str:
    """The title of a drawing where it has one of its own."""
    return str(diagram.data.get("title", ""))


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


HEADS = {"name": "What", "variant": "Of", "x": "At", "value": "Value", "evidence": "Evidence"}


def _table(panel: Panel) -> str:
    """The rows of a panel; of a drawn one the paper's numbers behind them, and the interval in one column."""
    rows = panel.drawn
    if panel.form != "table":
        kept = [name for name in HEADS if rows[name].null_count() < rows.height]
        rows = rows.with_columns(pl.Series("range", intervals(rows))).select(*kept, "range")
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
        rest = "".join(cell(formatted(value), is_number) for value, is_number in zip(row[1:], numeric[1:], strict=True))
        yield f"<tr>{first}{rest}</tr>"


def formatted(value: object) -> str:
    """A value of a table: whole numbers whole, others with four digits: what a paper prints stands as printed."""
    if value is None:
        return MISSING
    if isinstance(value, float) and not value.is_integer():
        return number(value, 4)
    return f"{value:,.0f}" if isinstance(value, int | float) else str(value)


SHAPES = ["circle", "square", "triangle-up", "cross", "triangle-right", "triangle-left"]
WHOSE = ("built in", "libtomcrypt", "openssl", "built in, constant-time", "built in, AES instructions", "libmcrypt")
"""Whose code it is, in the order of the shapes: the same shape and colour on every chart."""
MARKS = ["diamond", "triangle-down", "square"]
"""The paper's numbers, by where they stand: hollow, in the colour that the page has for what a paper claims."""
DASHES = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [1, 3]]
ROLES = {"AES": "aes", "DES": "des", "3DES": "3des", "RC2": "rc2", "RC4": "rc4", "RC6": "rc6", "Blowfish": "blowfish"}
ROLES |= {"AES-128": "aes", "CAST-128": "rc5", "IDEA": "other-2"}
ROLES |= dict(zip(WHOSE, ("aes", "des", "3des", "rc2", "rc4", "rc5"), strict=True))
"""The colour of a cipher, or of a library: the same on every chart."""
ROW_PX, LINES_PX = 30, 380
WIDE = 3.0
"""Numbers whose greatest is more times the least stand on a logarithmic axis."""

MOST_MARKS, MOST_TICKS = 100, 9
"""A curve of more points than these is a curve, and has no cases to mark; axes with more sizes choose their ticks."""

CLOSE = 1.1
"""Values whose greatest is less than so many times the least are alike, and drawn from zero."""

NEAR_X, NEAR_Y = 0.09, 0.04
"""Points nearer than these shares of the axes have one label."""

COLUMNS, SHORT = 2, 16
"""A legend of names as short as this has two columns, which a phone still holds."""
LEGEND_PX = 12


def chart(panel: Panel) -> alt.LayerChart:
    """The chart of a panel, as wide as what holds it.

    Raises EvidenceMix where its own numbers rest on several kinds of evidence.
    """
    evidence = one_evidence(panel.rows, "evidence")
    title = panel.unit if evidence == "measured" else f"{panel.unit} ({evidence})"
    layers, height = {"dots": _dots, "lines": _lines, "scatter": _scatter, "bars": _bars}[panel.form](panel, title)
    described = f"{title}; {panel.title}"
    return alt.LayerChart(data=panel.rows, layer=layers).properties(height=height, padding=4, description=described)


def intervals(rows: pl.DataFrame) -> pl.Series:
    """The ends of each row's interval in words."""
    pairs = rows.select("low", "high").iter_rows()
    formatted = [MISSING if low is None or high is None else f"{number(low)} to {number(high)}" for low, high in pairs]
    return pl.Series(formatted, dtype=pl.String)


def _has_intervals(rows: pl.DataFrame) -> bool:
    return rows["low"].null_count() < rows.height


def _axis(panel: Panel, title: str) -> dict[str, Any]:
    """Title, scale and ticks of the value's axis."""
    ends = panel.ends or _ends(panel.drawn, "low", "value", "high")
    if ends[0] > 0 and ends[1] / ends[0] > WIDE:
        bounds = roomy(ends)
        return {"title": f"{title}, log scale", "scale": log_scale(bounds), "axis": ticks(bounds)}
    scale = alt.Scale(domain=[min(0, ends[0]), ends[1]], nice=True)
    return {"title": title, "scale": scale, "axis": alt.Axis(format=",~r", tickCount=6)}


def _ends(rows: pl.DataFrame, *columns: str) -> Bounds:
    values = [value for name in columns for value in rows[name].drop_nulls().to_list()]
    return min(values), max(values)


def _marked(panel: Panel) -> tuple[pl.DataFrame | None, list[str]]:
    """The paper's numbers of a panel, and the levels of the legend that say where they stand."""
    if panel.marks is None or panel.marks.is_empty():
        return None, []
    return panel.marks, levels_of(panel.marks, "variant")


def _colours(levels: Sequence[str], marks: Sequence[str]) -> alt.Scale:
    """Ours by their own colours, the paper's marks all by one."""
    free = iter(role for role in CATEGORY if role not in {ROLES.get(level) for level in levels})
    palette = [colour(ROLES.get(level) or next(free, "muted")) for level in levels]
    return alt.Scale(domain=[*levels, *marks], range=[*palette, *([colour("loud")] * len(marks))])


def _legend(levels: Sequence[str], offset_px: int = LEGEND_PX, **how: Any) -> alt.Legend | None:
    if len(levels) < 2:
        return None
    columns = COLUMNS if max(map(len, levels)) <= SHORT else 1
    return alt.Legend(title=None, columns=columns, labelLimit=330, symbolOpacity=1, offset=offset_px, **how)


def _dots(panel: Panel, title: str) -> tuple[list[alt.Chart], int]:
    """A row a name; a mark for each library, told by shape and colour, and the paper's own numbers."""
    rows = panel.rows
    marks, marked = _marked(panel)
    levels = _known_first(levels_of(rows, "variant"))
    legend = _legend([*levels, *marked], symbolStrokeWidth=0)
    order = list(panel.order) or levels_of(panel.drawn, "name")
    y = alt.Y("name:N", title=None, sort=order, scale=alt.Scale(domain=order), axis=alt.Axis(grid=True, labelLimit=200))
    across = _axis(panel, title)
    across["axis"].titleAnchor = "end"  # a long title reaches to the left, below the names
    x = alt.X("value:Q", **across)
    own_shapes = _shapes(levels)
    shapes = alt.Scale(domain=[*levels, *marked], range=[*own_shapes, *MARKS[: len(marked)]])
    shape = alt.Shape("variant:N", scale=shapes, legend=legend)
    base = alt.Chart().encode(y=y, color=alt.Color("variant:N", scale=_colours(levels, marked), legend=legend))
    rules = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.6).encode(x="low:Q", x2="high:Q")
    layers = [rules] if _has_intervals(rows) else []
    points = base.mark_point(filled=True, opacity=1, size=62).encode(x=x, shape=shape)
    layers.append(points)
    if marks is not None:
        layers.append(_hollow(marks).encode(y=y, x=x, shape=shape))
    return layers, max(90, len(order) * ROW_PX)


def _known_first(levels: Sequence[str]) -> list[str]:
    """Libraries in their fixed order, others as they come behind them."""
    return sorted(levels, key=lambda level: WHOSE.index(level) if level in WHOSE else len(WHOSE))


def _shapes(levels: Sequence[str]) -> list[str]:
    taken = {SHAPES[WHOSE.index(level)] for level in levels if level in WHOSE}
    free = cycle([shape for shape in SHAPES if shape not in taken] or SHAPES)
    return [SHAPES[WHOSE.index(level)] if level in WHOSE else next(free) for level in levels]


def _hollow(marks: pl.DataFrame) -> alt.Chart:
    """The paper's numbers, on top of ours."""
    drawn: alt.Chart = alt.Chart(marks).mark_point(
        filled=True, opacity=1, size=90, strokeWidth=1.8, fill=colour("paper"), stroke=colour("loud")
    )
    return drawn


def _lines(panel: Panel, title: str) -> tuple[list[alt.Chart], int]:
    """A line a name and variant: the name's colour, the variant's dashes; of one name the variants' colours."""
    rows = panel.rows
    marks, marked = _marked(panel)
    by = "name" if rows["name"].n_unique() > 1 else "variant"
    levels = _known_first(levels_of(rows, by))
    y = alt.Y("value:Q", **_up(panel, title))
    x = _along(panel)
    offset_px = 40  # the axis's title stands between
    shade = alt.Color(f"{by}:N", scale=_colours(levels, marked), legend=_legend([*levels, *marked], offset_px))
    base = alt.Chart().encode(x=x, color=shade, detail="variant:N")
    line = base.mark_line(strokeWidth=1.7).encode(y=y)
    variants = levels_of(rows, "variant")
    if by == "name" and len(variants) > 1 and variants != levels_of(rows, "name"):
        dashes = alt.Scale(domain=variants, range=[DASHES[place % len(DASHES)] for place in range(len(variants))])
        line = line.encode(strokeDash=alt.StrokeDash("variant:N", scale=dashes, legend=_legend(variants, offset_px)))
    layers = [line]
    if rows.height <= MOST_MARKS:
        rules = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.4).encode(y="low:Q", y2="high:Q")
        points = base.mark_point(filled=True, opacity=1, size=36).encode(y=y)
        layers += [*([rules] if _has_intervals(rows) else []), points]
    if marks is not None:
        sizes = marks.filter(pl.col("value").is_null())
        if sizes.height:
            rule = alt.Chart(sizes).mark_rule(strokeWidth=1.6, strokeDash=[5, 3], color=colour("loud"))
            layers.append(rule.encode(x=x))
        if sizes.height < marks.height:
            points = _hollow(marks.filter(pl.col("value").is_not_null()))
            layers.append(points.encode(x=x, y=y, shape=alt.value(MARKS[0])))
    return layers, LINES_PX


def _up(panel: Panel, title: str) -> dict[str, Any]:
    """The value's axis, its title clear of the topmost tick's label."""
    if "%" in title:
        return {"title": title, "scale": alt.Scale(domain=[0, 100]), "axis": alt.Axis(titleY=-12)}
    up = _axis(panel, title)
    low, high = panel.ends or _ends(panel.drawn, "low", "value", "high")
    # Of lines that lie close their slope is read; one that moves by less than CLOSE would be drawn as if it rose.
    if CLOSE * low < high < 2 * low:
        up["scale"] = alt.Scale(domain=[low, high], zero=False, nice=True)
    up["axis"].titleY = -14
    return up


def _along(panel: Panel) -> alt.X:
    """The axis of sizes, with a tick at each where there are few."""
    sizes = panel.drawn["x"].unique().sort().to_list()
    low, high = panel.x_ends or (sizes[0], sizes[-1])
    wide = low > 0 and high / low > 2 * WIDE
    scale = alt.Scale(type="log" if wide else "linear", domain=[low, high], nice=False)
    shown = sizes if len(sizes) <= MOST_TICKS else None
    if wide and not shown:
        low, high = roomy((low, high))
        scale = log_scale((low, high))
    axis = alt.Axis(format=",.0f", grid=False, labelOverlap="greedy", values=shown if shown else alt.Undefined)
    if wide and not shown:
        axis = ticks((low, high))
        axis.grid, axis.format, axis.labelOverlap = False, ",.0f", "greedy"
    return alt.X("x:Q", title=f"{panel.x_title}, log scale" if wide else panel.x_title, scale=scale, axis=axis)


def _scatter(panel: Panel, title: str) -> tuple[list[alt.Chart], int]:
    """Points with their names, and the fitted line."""
    across, up = (alt.Scale(zero=False, padding=padding) for padding in (24, 16))
    if panel.ends and panel.x_ends:
        across, up = (
            alt.Scale(domain=list(ends), zero=False, nice=False, padding=padding)
            for ends, padding in ((panel.x_ends, 24), (panel.ends, 16))
        )
    x = alt.X("x:Q", title=panel.x_title, scale=across, axis=alt.Axis(format=",~r", tickCount=6))
    y = alt.Y("value:Q", title=title, scale=up, axis=alt.Axis(format=",~r", titleY=-14))
    base = alt.Chart().encode(x=x, y=y)
    line = base.transform_filter("datum.variant == 'line'").mark_line(strokeWidth=1.4)
    pairs = base.transform_filter("datum.variant == 'pairs'")
    points = pairs.mark_point(filled=True, opacity=1, size=55)
    names = alt.Chart(_labels(panel)).mark_text(dy=-10, style="value", fontSize=11).encode(x=x, y=y, text="name:N")
    return [line, points, names], LINES_PX


def _labels(panel: Panel) -> pl.DataFrame:
    """The names of points, those of near ones as one label at the first of them."""
    points = panel.rows.filter(pl.col("variant") == "pairs").select("name", "x", "value").rows()
    axes = (panel.x_ends or _ends(panel.rows, "x"), panel.ends or _ends(panel.rows, "value"))
    widths = [high - low for low, high in axes]
    labels: list[tuple[list[str], float, float]] = []
    for name, x, y in points:
        near = (
            label
            for label in labels
            if abs(label[1] - x) <= NEAR_X * widths[0] and abs(label[2] - y) <= NEAR_Y * widths[1]
        )
        at = next(near, None)
        if at is None:
            labels.append(([name], x, y))
        else:
            at[0].append(name)
    formatted = [(", ".join(names), x, y) for names, x, y in labels]
    return pl.DataFrame(formatted, schema=["name", "x", "value"], orient="row")


def _bars(panel: Panel, title: str) -> tuple[list[alt.Chart], int]:
    """A bar a name, in the order of `x`."""
    y = alt.Y("name:N", title=None, sort=alt.EncodingSortField("x"), axis=alt.Axis(labelLimit=170))
    x = alt.X("value:Q", title=title, axis=alt.Axis(format=",~r"))
    return [alt.Chart().mark_bar().encode(x=x, y=y)], max(90, panel.rows.height * ROW_PX)
