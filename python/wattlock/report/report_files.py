"""The figures of a run's report as files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import altair as alt
import polars as pl

from wattlock.errors import EvidenceError
from wattlock.report import bars
from wattlock.report.counted_figures import counted_files
from wattlock.report.discharge import discharge
from wattlock.report.discharges import HEIGHT_PX, LEVELS
from wattlock.report.evidence import with_energy_columns
from wattlock.report.facts import RunFacts
from wattlock.report.figure_files import WIDTH_PX, FigureFile, chart_svg, drawing_svg, figure_name, write_figures
from wattlock.report.gallery import drawn_by, plates
from wattlock.report.main_figure import ANSWER, bar_rows, main_figure


def write_report_figures(folder: Path, run: RunFacts, estimates: pl.DataFrame, ranking: pl.DataFrame) -> int:
    """Writes every figure of the report into `folder` as RUN--FIGURE.png, .svg, .pdf and .csv; gives how many files.

    Raises EvidenceError where the report has no figure, InputError where the folder can't be written.
    """
    figures = list(report_figures(run, estimates, ranking))
    if not figures:
        why = "it is invalid, so that its numbers are not results" if not run.valid else "no case has a number to draw"
        raise EvidenceError(f"run {run.id} has no figure: {why}", hint="`wattlock show RUN` says why")
    return write_figures(folder, figures, run.id)


def write_counted_figures(folder: Path, run: str, title: str, estimates: pl.DataFrame, ranking: pl.DataFrame) -> int:
    """The same for a run that counted; `run`: its id, `title`: of its study.

    Raises EvidenceError where no two cases are compared, InputError where the folder can't be written.
    """
    figures = list(counted_files(run, title, estimates, ranking))
    if not figures:
        why = "no two cases with a count can be compared"
        raise EvidenceError(f"run {run} has no figure: {why}", hint="`wattlock show RUN` has its numbers")
    return write_figures(folder, figures, run)


def report_figures(run: RunFacts, estimates: pl.DataFrame, ranking: pl.DataFrame) -> Iterator[FigureFile]:
    """The figures of the report in its order, each with the rows that it draws; of an invalid run no case's."""
    estimates = with_energy_columns(estimates)
    answering = main_figure(estimates, ranking) if run.valid else None
    if answering is not None:
        drawn = bars.picture(answering.rows, answering.axis, bars.WIDE)
        yield FigureFile(ANSWER, drawing_svg(drawn, answering.title, _subtitle(run)), bar_rows(run.id, answering))
    for plate in plates(estimates)[0] if run.valid else []:
        rows = drawn_by(plate.chart).select(pl.lit(run.id).alias("run"), pl.lit(plate.axis).alias("quantity"), pl.all())
        yield FigureFile(plate.name, chart_svg(_sized(plate.chart), plate.title, _subtitle(run)), rows)
    if run.discharge is not None and run.discharge.is_drawn:
        levels = discharge(run.discharge.curves).properties(height=HEIGHT_PX)
        rows = run.discharge.curves.select(pl.lit(run.id).alias("run"), pl.all())
        yield FigureFile(figure_name(LEVELS), chart_svg(_sized(levels), LEVELS, _subtitle(run)), rows)


def _sized(chart: alt.LayerChart) -> alt.LayerChart:
    return chart.properties(width=WIDTH_PX)


def _subtitle(run: RunFacts) -> str:
    return f"run {run.id}: {run.title}"
