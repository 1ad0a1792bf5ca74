"""The papers' exhibits as files: PNG, SVG, PDF and CSV of each panel and drawing."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from pathlib import Path

import altair as alt
import polars as pl

from wattlock.papers.exhibit import Diagram, DrawnExhibit, Panel
from wattlock.report.diagrams import classified
from wattlock.report.drawing import standalone
from wattlock.report.exhibit_charts import chart
from wattlock.report.exhibits import bitmap, drawing, formatted
from wattlock.report.figure_files import WIDTH_PX, FigureFile, chart_svg, write_figures

COLUMN_PX, ROW_PX = 120, 22


def write_exhibits(folder: Path, shown: Sequence[DrawnExhibit]) -> int:
    """Writes every panel and drawing into `folder` as ID.png or ID-2.png and so on; gives how many files.

    Raises InputError where the folder can't be written.
    """
    return write_figures(folder, _figures(shown))


def _figures(shown: Sequence[DrawnExhibit]) -> Iterator[FigureFile]:
    for one in shown:
        for number_of, (svg, rows) in enumerate(_parts(one), 1):
            yield FigureFile(one.exhibit.id if number_of == 1 else f"{one.exhibit.id}-{number_of}", svg, rows)


def _parts(one: DrawnExhibit) -> Iterator[tuple[str, pl.DataFrame]]:
    for panel in one.panels:
        yield _svg(panel), panel.drawn
    for of in one.drawings:
        yield _drawn(of), _rows(of)


def _svg(panel: Panel) -> str:
    drawn = _table(panel) if panel.form == "table" else chart(panel).properties(width=WIDTH_PX)
    return chart_svg(drawn, panel.title)


def _table(panel: Panel) -> alt.Chart:
    """A table as a picture: its words in rows and columns."""
    heads = panel.rows.columns
    cells = [
        {"row": place, "column": head, "words": formatted(value)}
        for place, row in enumerate(panel.rows.iter_rows())
        for head, value in zip(heads, row, strict=True)
    ]
    head = alt.Axis(orient="top", labelAngle=0, title=None, labelLimit=COLUMN_PX - 6)
    x = alt.X("column:N", sort=heads, axis=head)
    y = alt.Y("row:O", axis=None)
    size = {"width": COLUMN_PX * len(heads), "height": ROW_PX * panel.rows.height}
    table: alt.Chart = alt.Chart(pl.DataFrame(cells)).mark_text(style="value", limit=COLUMN_PX - 6)
    return table.encode(x=x, y=y, text="words:N").properties(**size)


def _drawn(of: Diagram) -> str:
    if of.kind != "bitmap":
        return standalone(drawing(of))
    side = of.data["side_px"]
    shown = base64.b64encode(bitmap(side)).decode()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side} {side}" width="{side}" height="{side}">'
        f'<image width="{side}" height="{side}" href="data:image/png;base64,{shown}"/></svg>'
    )


def _rows(of: Diagram) -> pl.DataFrame:
    """What a drawing shows, as rows."""
    if of.kind == "exchange":
        parties = of.data["parties"]
        formatted = [{**one, "from": parties[one["from"]], "title": of.data["title"]} for one in of.data["messages"]]
        return pl.DataFrame(formatted, infer_schema_length=None)
    if of.kind == "taxonomy":
        columns = ("heading", "class", "family")
        rows = [(heading, name, family) for heading, name, found in classified(of.data["rows"]) for family in found]
        return pl.DataFrame(rows, schema=columns, orient="row")
    if of.kind == "features":
        return pl.DataFrame(of.data["features"])
    if of.kind == "loop":
        return pl.DataFrame({"step": of.data["steps"]})
    return pl.DataFrame({"width_px": [of.data["side_px"]], "height_px": [of.data["side_px"]]})
