"""The figures of a run's report as files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import altair as alt
import polars as pl

from wattlock.errors import EvidenceError
from wattlock.report import bars
from wattlock.report.battery_section import HEIGHT_PX, LEVELS, level_curves
from wattlock.report.cycles import counted_figures, groups_of
from wattlock.report.discharge_figure import discharge
from wattlock.report.evidence import with_energy_columns
from wattlock.report.figure_files import WIDTH_PX, FigureFile, chart_svg, drawing_svg, figure_name, write_figures
from wattlock.report.figures import drawn_by, plates
from wattlock.report.main_figure import ANSWER, MainFigure, bar_rows, main_figure
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
            yield _bars(run, name, figure)
        return
    estimates = with_energy_columns(estimates)
    answering = None if run.reasons else main_figure(estimates, run.ranking)
    if answering is not None:
        yield _bars(run, ANSWER, answering)
    for plate in [] if run.reasons else plates(estimates)[0]:
        rows = drawn_by(plate.chart).select(pl.lit(run.id).alias("run"), pl.lit(plate.axis).alias("quantity"), pl.all())
        yield FigureFile(plate.name, chart_svg(_sized(plate.chart), plate.title, _subtitle(run)), rows)
    if run.battery is not None and not (curves := level_curves(run)).is_empty():
        levels = discharge(curves).properties(height=HEIGHT_PX)
        rows = curves.select(pl.lit(run.id).alias("run"), pl.all())
        yield FigureFile(figure_name(LEVELS), chart_svg(_sized(levels), LEVELS, _subtitle(run)), rows)


def _bars(run: Result, name: str, figure: MainFigure) -> FigureFile:
    drawn = bars.picture(figure.rows, figure.axis, bars.WIDE)
    return FigureFile(name, drawing_svg(drawn, figure.title, _subtitle(run)), bar_rows(run.id, figure))


def _sized(chart: alt.LayerChart) -> alt.LayerChart:
    return chart.properties(width=WIDTH_PX)


def _subtitle(run: Result) -> str:
    return f"run {run.id}: {run.study['title']}"
