"""Figures as files: those of a run's report, of the papers' exhibits and of a comparison, each with its numbers."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from pathlib import Path

import altair as alt
import polars as pl

from wattlock.errors import EvidenceError
from wattlock.papers.exhibit import Diagram, DrawnExhibit, Panel
from wattlock.report.charts import WIDTH_PX, FigureFile, chart_svg, discharge, drawing_svg, figure_name, write_figures
from wattlock.report.compare_page import ORDERS, TAU, cells_of, order_title, orders_of
from wattlock.report.compared import RunComparison
from wattlock.report.cycles import counted_figures, groups_of
from wattlock.report.drawings import classified, order_matrix, ratio_rows, standalone
from wattlock.report.evidence import with_energy_columns
from wattlock.report.exhibits import bitmap, chart, drawing, formatted
from wattlock.report.main_figure import ANSWER, WIDE, MainFigure, dot_chart, main_figure, mark_rows
from wattlock.report.ratios import ENERGY, RatioFigure, figures, measures
from wattlock.report.run_charts import drawn_by, plates
from wattlock.report.run_tables import HEIGHT_PX, LEVELS, level_curves
from wattlock.run.result import Result


def write_report_figures(folder: Path, run: Result, estimates: pl.DataFrame) -> int:
    """Writes every figure of the report into `folder` as RUN--FIGURE.png, .svg, .pdf and .csv; gives how many files.

    Raises EvidenceError where the report has no figure, InputError where the folder can't be written.
    """
    figures = list(report_figures(run, estimates))
    if not figures:
        why = "it is invalid, so that its numbers are not results" if run.reasons else "no case has a number to draw"
        if "time" not in run.quantities:
            why = "no two cases with a count can be compared"
        raise EvidenceError(f"run {run.id} has no figure: {why}", hint="`wattlock show RUN` says why")
    return write_figures(folder, figures, run.id)


def report_figures(run: Result, estimates: pl.DataFrame) -> Iterator[FigureFile]:
    """The figures of the report in its order, each with the rows that it draws; of an invalid run no case's."""
    if "time" not in run.quantities:
        for name, figure in counted_figures(groups_of(estimates, run.ranking)):
            yield _marks(run, name, figure)
        return
    estimates = with_energy_columns(estimates)
    answering = None if run.reasons else main_figure(estimates, run.ranking)
    if answering is not None:
        yield _marks(run, ANSWER, answering)
    for plate in [] if run.reasons else plates(estimates)[0]:
        rows = drawn_by(plate.chart).select(pl.lit(run.id).alias("run"), pl.lit(plate.axis).alias("quantity"), pl.all())
        yield FigureFile(plate.name, chart_svg(_sized(plate.chart), plate.title, _subtitle(run)), rows)
    if run.battery is not None and not (curves := level_curves(run)).is_empty():
        levels = discharge(curves).properties(height=HEIGHT_PX)
        rows = curves.select(pl.lit(run.id).alias("run"), pl.all())
        yield FigureFile(figure_name(LEVELS), chart_svg(_sized(levels), LEVELS, _subtitle(run)), rows)


def _marks(run: Result, name: str, figure: MainFigure) -> FigureFile:
    drawn = dot_chart(figure.rows, figure.axis, WIDE)
    return FigureFile(name, drawing_svg(drawn, figure.title, _subtitle(run)), mark_rows(run.id, figure))


def _sized(chart: alt.LayerChart) -> alt.LayerChart:
    return chart.properties(width=WIDTH_PX)


def _subtitle(run: Result) -> str:
    return f"run {run.id}: {run.study['title']}"


COLUMN_PX, ROW_PX = 120, 22


def write_exhibits(folder: Path, shown: Sequence[DrawnExhibit]) -> int:
    """Writes every panel and drawing into `folder` as ID.png or ID-2.png and so on; gives how many files.

    Raises InputError where the folder can't be written.
    """
    return write_figures(folder, _figures(shown))


def _figures(shown: Sequence[DrawnExhibit]) -> Iterator[FigureFile]:
    for exhibit in shown:
        for number_of, (svg, rows) in enumerate(_parts(exhibit), 1):
            yield FigureFile(exhibit.exhibit.id if number_of == 1 else f"{exhibit.exhibit.id}-{number_of}", svg, rows)


def _parts(exhibit: DrawnExhibit) -> Iterator[tuple[str, pl.DataFrame]]:
    for panel in exhibit.panels:
        yield _svg(panel), panel.drawn
    for diagram in exhibit.drawings:
        yield _drawn(diagram), _rows(diagram)


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


def _drawn(diagram: Diagram) -> str:
    if diagram.kind != "bitmap":
        return standalone(drawing(diagram))
    side = diagram.data["side_px"]
    shown = base64.b64encode(bitmap(side)).decode()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side} {side}" width="{side}" height="{side}">'
        f'<image width="{side}" height="{side}" href="data:image/png;base64,{shown}"/></svg>'
    )


def _rows(diagram: Diagram) -> pl.DataFrame:
    """What a drawing shows, as rows."""
    data = diagram.data
    if diagram.kind == "exchange":
        parties = data["parties"]
        formatted = [
            {**message, "from": parties[message["from"]], "title": data["title"]} for message in data["messages"]
        ]
        return pl.DataFrame(formatted, infer_schema_length=None)
    if diagram.kind == "taxonomy":
        columns = ("heading", "class", "family")
        rows = [(heading, name, family) for heading, name, found in classified(data["rows"]) for family in found]
        return pl.DataFrame(rows, schema=columns, orient="row")
    if diagram.kind == "features":
        return pl.DataFrame(data["features"])
    if diagram.kind == "loop":
        return pl.DataFrame({"step": data["steps"]})
    return pl.DataFrame({"width_px": [data["side_px"]], "height_px": [data["side_px"]]})


COMPARED_PX = 600
KEY = "More points right, less left; a diamond is equivalent, a ring undecided."


def write_compare_figures(folder: Path, compared: RunComparison) -> int:
    """Writes every figure of the page into `folder` as RUNS--FIGURE.png, .svg, .pdf and .csv; gives how many files.

    Raises EvidenceError where there is none, InputError where the folder can't be written.
    """
    found = list(compare_figures(compared))
    if not found:
        why = "" if compared.has_ratios else "no two cores order three ciphers of the group that answers, and "
        what = f"the comparison has no figure: {why}no case has a ratio"
        raise EvidenceError(what, hint="`wattlock show RUN` says why; --format csv has the numbers")
    return write_figures(folder, found, compared.files_of)


def compare_figures(compared: RunComparison) -> Iterator[FigureFile]:
    """The figures of the page in its order, each with the rows that it draws: ratios, or tau of each two cores."""
    if not compared.has_ratios:
        answer = compared.answer
        if answer is not None and (cells := cells_of(compared.found.agreement, answer)):
            svg = order_matrix([side.name for side in compared.sides], cells, COMPARED_PX)
            rows = orders_of(compared.found.agreement, answer).with_columns(evidence=pl.lit(compared.evidence))
            yield FigureFile(ORDERS, drawing_svg(svg, order_title(answer), TAU), rows)
        return
    for measure in measures(compared):
        evidence = "measured" if measure is ENERGY else compared.evidence
        yield from _ratio_files(compared, figures(compared, measure), evidence)


def _ratio_files(compared: RunComparison, drawn: Sequence[RatioFigure], evidence: str) -> Iterator[FigureFile]:
    sides = "; ".join(side.label for side in compared.sides)
    for figure in drawn:
        svg = ratio_rows(figure.rows, figure.axis, figure.axis_title, COMPARED_PX)
        words = f"{sides} ({evidence}). {KEY}"
        rows = figure.numbers.select(
            pl.lit(compared.first.run).alias("run_a"),
            pl.col("run").alias("run_b"),
            "side",
            "cipher",
            "provider",
            "case",
            "measure",
            "ratio",
            "ratio_low",
            "ratio_high",
            "verdict",
            pl.lit(evidence).alias("evidence"),
        )
        yield FigureFile(figure.name, drawing_svg(svg, figure.title, words), rows)
