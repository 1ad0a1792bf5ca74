"""The papers' exhibits as files: PNG, SVG, PDF and CSV of each panel and drawing."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from pathlib import Path

import altair as alt
import polars as pl
import vl_convert

from wattlock.errors import InputError
from wattlock.papers.exhibits import Drawing, Panel, Shown
from wattlock.report.diagrams import classified
from wattlock.report.discharge import file_config
from wattlock.report.drawing import standalone
from wattlock.report.exhibits import bitmap, chart, drawing, formatted

WIDTH_PX, COLUMN_PX, ROW_PX, SHARPNESS = 640, 120, 22, 2.0


def write_exhibits(folder: Path, shown: Sequence[Shown]) -> int:
    """Writes every panel and drawing into `folder` as ID.png or ID-2.png and so on; gives how many files.

    Raises InputError where the folder can't be written.
    """
    written = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for one in shown:
            for number_of, (svg, rows) in enumerate(_parts(one), 1):
                stem = folder / (one.exhibit.id if number_of == 1 else f"{one.exhibit.id}-{number_of}")
                _write(stem, svg, rows)
                written += 4
    except OSError as error:
        raise InputError(f"--export {folder}: {error.strerror}", hint="name a folder that can be written") from error
    return written


def _parts(one: Shown) -> Iterator[tuple[str, pl.DataFrame]]:
    for panel in one.panels:
        yield _svg(panel), panel.rows
    for of in one.drawings:
        yield _drawn(of), _rows(of)


def _write(stem: Path, svg: str, rows: pl.DataFrame) -> None:
    stem.with_name(f"{stem.name}.svg").write_text(svg, encoding="utf-8")
    stem.with_name(f"{stem.name}.png").write_bytes(vl_convert.svg_to_png(svg, scale=SHARPNESS))
    stem.with_name(f"{stem.name}.pdf").write_bytes(vl_convert.svg_to_pdf(svg))
    rows.write_csv(stem.with_name(f"{stem.name}.csv"))


def _svg(panel: Panel) -> str:
    drawn = _table(panel) if panel.form == "table" else chart(panel).properties(width=WIDTH_PX)
    titled = drawn.properties(title=alt.Title(panel.title, anchor="start", fontSize=14))
    return str(vl_convert.vegalite_to_svg(titled.to_dict() | {"config": file_config()}))


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


def _drawn(of: Drawing) -> str:
    if of.kind != "bitmap":
        return standalone(drawing(of))
    side = of.data["side_px"]
    shown = base64.b64encode(bitmap(side)).decode()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side} {side}" width="{side}" height="{side}">'
        f'<image width="{side}" height="{side}" href="data:image/png;base64,{shown}"/></svg>'
    )


def _rows(of: Drawing) -> pl.DataFrame:
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
