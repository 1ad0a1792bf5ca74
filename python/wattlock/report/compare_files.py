"""The figures of a comparison as files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from wattlock.errors import EvidenceError
from wattlock.report.compare_orders import ORDERS, TAU, cells_of, order_title, orders_of
from wattlock.report.compared import RunComparison
from wattlock.report.figure_files import FigureFile, drawing_svg, write_figures
from wattlock.report.order_matrix import picture as matrix
from wattlock.report.ratio_strips import picture
from wattlock.report.ratios import ENERGY, RatioFigure, figures, measures

WIDTH_PX = 600
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
            svg = matrix([side.name for side in compared.sides], cells, WIDTH_PX)
            rows = orders_of(compared.found.agreement, answer).with_columns(evidence=pl.lit(compared.evidence))
            yield FigureFile(ORDERS, drawing_svg(svg, order_title(answer), TAU), rows)
        return
    for measure in measures(compared):
        evidence = "measured" if measure is ENERGY else compared.evidence
        yield from _ratio_files(compared, figures(compared, measure), evidence)


def _ratio_files(compared: RunComparison, drawn: Sequence[RatioFigure], evidence: str) -> Iterator[FigureFile]:
    sides = "; ".join(side.label for side in compared.sides)
    for figure in drawn:
        svg = picture(figure.rows, figure.axis, figure.axis_title, WIDTH_PX)
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
