"""The figure of a battery that discharges: level over operations, one line a task."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl

from wattlock.errors import InputError
from wattlock.report.evidence import one_evidence
from wattlock.report.look import LIGHT, page_config
from wattlock.store.disk import write_out
from wattlock.text import harmless

WIDTH_PX, HEIGHT_PX, SHARPNESS = 720, 420, 2.0
NAMES_A_COLUMN = 24


def discharge(curves: pl.DataFrame) -> alt.LayerChart:
    """Level in percent over operations, one line a task, with a point where the battery is empty.

    * `curves`: `task`, `payload_B`, `operations`, `level_percent` and `evidence`, rising in operations.

    Raises EvidenceMix where the lines rest on several kinds of evidence.
    """
    kind = one_evidence(curves, "evidence")
    sizes = curves["payload_B"].drop_nulls().unique().to_list()
    of = f" on {sizes[0]:,} B" if len(sizes) == 1 else ""
    operations = alt.X("operations:Q", title=f"operations{of} ({kind})", scale=alt.Scale(zero=True))
    axis = alt.Axis(title="charge left, %", titleY=-12)
    level = alt.Y("level_percent:Q", axis=axis, scale=alt.Scale(domain=[0, 100]))
    # Vega names 30 lines and leaves the others out; all are named, in as many columns as the height asks for.
    columns = math.ceil(curves["task"].n_unique() / NAMES_A_COLUMN)
    task = alt.Color("task:N", sort=None, legend=alt.Legend(title=None, offset=30, symbolLimit=0, columns=columns))
    lines = alt.Chart().mark_line().encode(operations, level, task)
    ends = curves.group_by("task", maintain_order=True).last()
    points = alt.Chart(ends).mark_point(filled=True, size=60, opacity=1).encode(operations, level, task)
    return alt.LayerChart(data=curves, layer=[lines, points])


def spec(chart: alt.LayerChart | alt.Chart) -> dict[str, Any]:
    """The chart as Vega-Lite, no text of others acting in it, and whole.

    Altair refuses more than 5,000 rows, which a run of 25 ciphers has.
    """
    with alt.data_transformers.enable("default", max_rows=None):
        shown: dict[str, Any] = _texts(chart.to_dict(), harmless)
        return shown


def write_figure(chart: alt.LayerChart | alt.Chart, path: Path) -> None:
    """Write a chart as HTML, SVG or PNG by the ending of `path`.

    Raises InputError where the ending is another one or the file can't be written, DiskFull.
    """
    import vl_convert

    drawn = spec(chart.properties(width=WIDTH_PX, height=HEIGHT_PX)) | {"config": file_config()}
    match path.suffix:
        case ".svg":
            written: str | bytes = vl_convert.vegalite_to_svg(drawn)
        case ".png":
            written = vl_convert.vegalite_to_png(drawn, scale=SHARPNESS)
        case ".html":
            written = vl_convert.vegalite_to_html(drawn, bundle=True)
        case other:
            raise InputError(f'--figure {path}: no format "{other}"', hint="end it in .html, .svg or .png")
    write_out(path, written, "--figure")


def file_config(colours: Mapping[str, str] = LIGHT) -> dict[str, object]:
    """The page's look with its colours resolved: a file of its own has no style sheet."""
    return {key: resolved(value, colours) for key, value in page_config().items()} | {"background": colours["paper"]}


def resolved(value: Any, colours: Mapping[str, str] = LIGHT) -> Any:
    """A specification with the page's colours resolved: to those of light paper, or to `look.DARK`."""

    def colour(text: str) -> str:
        return colours[text.removeprefix("var(--").removesuffix(")")] if text.startswith("var(--") else text

    return _texts(value, colour)


def _texts(value: Any, change: Callable[[str], str]) -> Any:
    """A specification with each of its texts changed."""
    if isinstance(value, dict):
        return {key: _texts(part, change) for key, part in value.items()}
    if isinstance(value, list):
        return [_texts(part, change) for part in value]
    return change(value) if isinstance(value, str) else value
