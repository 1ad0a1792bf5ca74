"""Runs and comparisons as the pages of a lab take them: sections of the report, and what of them is data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from wattlock.energy.valuing import card_of, valued
from wattlock.report import compare_page, run_page
from wattlock.report.compared import run_comparison
from wattlock.run.result import Result
from wattlock.run.run_comparison import compare


@dataclass(frozen=True)
class Drawn:
    """A page's inside: its title, a line below it, HTML of its sections, and the scripts of the report that it needs.

    `table`: what of it is given as JSON and CSV.
    """

    title: str
    line: str
    sections: str
    scripts: tuple[str, ...]
    table: pl.DataFrame


def drawn_run(run: Result) -> Drawn:
    """The sections of a run's report without charts that need an engine."""
    cases = valued(run, None, allow_assumed=False)
    sections = run_page.sections(run, cases, card_of(run, None))
    return Drawn(run.study["title"], run.study["question"], sections, run_page.SCRIPTS, cases)


def drawn_report(run: Result) -> str:
    """The whole page of a run."""
    return run_page.page(run, valued(run, None, allow_assumed=False), card_of(run, None))


def drawn_comparison(runs: Sequence[Result]) -> Drawn:
    """Runs against the first.

    Raises InputError or EvidenceError where they can't be compared.
    """
    found, names = compare(runs[0], runs[1:]), [run.id for run in runs]
    compared = run_comparison(names, found, folders=names)
    sections = compare_page.banner(compared) + compare_page.sections(compared)
    title, line = compare_page.title(compared), compare_page.letters(compared)
    return Drawn(title, line, sections, compare_page.scripts(compared), found.table)
