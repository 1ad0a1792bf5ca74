"""The papers' exhibits on a page: a panel of numbers in, a figure with its table out; drawings as SVG."""

import base64
import math
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from wattlock.papers.exhibit import Diagram, Panel
from wattlock.report import diagrams
from wattlock.report.exhibit_charts import LINES_PX, chart, intervals
from wattlock.report.formats import MISSING, number
from wattlock.report.markup import cell, folded, island, table, text, unbroken


def figure(panel: Panel) -> str:
    """A panel as HTML: a table, or a chart with its numbers folded behind it."""
    if panel.form == "table":
        titled = f"<figcaption><strong>{text(panel.title)}</strong></figcaption>"
        return f'<figure class="wide">{titled}{_table(panel)}</figure>'
    drawn = chart(panel)
    height = drawn.height if isinstance(drawn.height, int) else LINES_PX
    return (
        f"<figure><figcaption><strong>{text(panel.title)}</strong></figcaption>"
        f'<div class="chart" style="min-height:{height + 60}px"></div>{island("spec", drawn.to_dict(validate=False))}'
        f"{folded('The numbers', _table(panel))}</figure>"
    )


def drawing(of: Diagram) -> str:
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


def caption(of: Diagram) -> str:
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
        rest = "".join(cell(formatted(value), one) for value, one in zip(row[1:], numeric[1:], strict=True))
        yield f"<tr>{first}{rest}</tr>"


def formatted(value: object) -> str:
    """A value of a table: whole numbers whole, others with four digits: what a paper prints stands as printed."""
    if value is None:
        return MISSING
    if isinstance(value, float) and not value.is_integer():
        return number(value, 4)
    return f"{value:,.0f}" if isinstance(value, int | float) else str(value)
