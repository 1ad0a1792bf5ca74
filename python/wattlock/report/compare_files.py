"""The figures of a comparison as files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from wattlock.errors import EvidenceError
from wattlock.report.compare_facts import CompareFacts
from wattlock.report.figure_files import FigureFile, drawing_svg, write_figures
from wattlock.report.ratio_strips import picture
from wattlock.report.ratios import ENERGY, figures, measures

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


def compare_figures(facts: CompareFacts) -> Iterator[FigureFile]:
    """The figures of the page in its order, each with the rows that it draws."""
    sides = "; ".join(side.label for side in facts.sides)
    for measure in measures(facts):
        evidence = facts.energy_evidence if measure is ENERGY else facts.time_evidence
        for figure in figures(facts, measure):
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
