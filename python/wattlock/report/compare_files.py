"""The figures of a comparison as files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from wattlock.errors import EvidenceError
from wattlock.report.compare_facts import CompareFacts
from wattlock.report.counted_compare import ORDERS, TAU, CountedCompareFacts, cells_of, order_title, orders_of
from wattlock.report.figure_files import FigureFile, drawing_svg, write_figures
from wattlock.report.order_matrix import picture as matrix
from wattlock.report.ratio_strips import picture
from wattlock.report.ratios import ENERGY, RatioFigure, figures, measures

WIDTH_PX = 600
KEY = "More points right, less left; a diamond is equivalent, a ring undecided."


def write_compare_figures(folder: Path, facts: CompareFacts) -> int:
    """Writes every figure of the page into `folder` as RUNS--FIGURE.png, .svg, .pdf and .csv; gives how many files.

    Raises EvidenceError where no case has a ratio, InputError where the folder can't be written.
    """
    found = list(compare_figures(facts))
    if not found:
        raise EvidenceError("the comparison has no figure: no case has a ratio", hint="`wattlock show RUN` says why")
    return write_figures(folder, found, facts.files_of)


def write_counted_figures(folder: Path, facts: CountedCompareFacts) -> int:
    """The same for runs that counted.

    Raises EvidenceError where no case of the one has its like in the other.
    """
    found = list(counted_figures(facts))
    if not found:
        why = "no two cores order three ciphers of the group that answers, and no case has a ratio"
        raise EvidenceError(f"the comparison has no figure: {why}", hint="--format csv has the numbers")
    return write_figures(folder, found, facts.files_of)


def counted_figures(facts: CountedCompareFacts) -> Iterator[FigureFile]:
    """The figures of the page of runs that counted: tau of each two cores, or the ratios of versions on one."""
    answer = facts.answer
    if answer is not None and (cells := cells_of(facts.agreement, answer)):
        svg = matrix([side.name for side in facts.sides], cells, WIDTH_PX)
        rows = orders_of(facts.agreement, answer).with_columns(evidence=pl.lit("emulated"))
        yield FigureFile(ORDERS, drawing_svg(svg, order_title(answer), TAU), rows)
    if facts.ratios is not None:
        yield from _ratio_files(facts.ratios, facts.ratio_figures, "emulated")


def compare_figures(facts: CompareFacts) -> Iterator[FigureFile]:
    """The figures of the page in its order, each with the rows that it draws."""
    for measure in measures(facts):
        evidence = facts.energy_evidence if measure is ENERGY else facts.time_evidence
        yield from _ratio_files(facts, figures(facts, measure), evidence)


def _ratio_files(facts: CompareFacts, drawn: Sequence[RatioFigure], evidence: str | None) -> Iterator[FigureFile]:
    sides = "; ".join(side.label for side in facts.sides)
    for figure in drawn:
        svg = picture(figure.rows, figure.axis, figure.axis_title, WIDTH_PX)
        words = f"{sides} ({evidence}). {KEY}"
        rows = figure.numbers.select(
            pl.lit(facts.first.run).alias("run_a"),
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
