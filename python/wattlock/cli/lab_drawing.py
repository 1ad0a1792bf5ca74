"""Joins runs to the report's pages, for the pages of a lab."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wattlock.errors import EvidenceError

if TYPE_CHECKING:
    from wattlock.lab.drawing import Drawing, Drawn
    from wattlock.lab.entry import Reading
    from wattlock.run.counts import Counts
    from wattlock.run.result import Result


def drawing() -> Drawing:
    """What draws the runs of a lab."""
    from wattlock.lab.drawing import Drawing

    return Drawing(_run, _report, _compare)


def _run(found: Reading) -> Drawn:
    from wattlock.cli.counted import counted_facts
    from wattlock.cli.facts import facts
    from wattlock.lab.drawing import Drawn
    from wattlock.lab.entry import cases_of
    from wattlock.report import counted, page
    from wattlock.run.counts import Counts

    cases = cases_of(found)
    study = found.plan["study"]
    if isinstance(found, Counts):
        sections = counted.sections(counted_facts(found), cases, found.ranking)
    else:
        told = facts(found, None)
        sections = page.sections(told, *page.shown_of(told, cases, found.ranking))
    return Drawn(study["title"], study["question"], sections, ("filter", "sort", "folds"), cases)


def _report(found: Reading) -> str:
    from wattlock.cli.counted import counted_facts
    from wattlock.cli.facts import facts
    from wattlock.lab.entry import cases_of
    from wattlock.report import counted, page
    from wattlock.run.counts import Counts

    cases = cases_of(found)
    if isinstance(found, Counts):
        return counted.page(counted_facts(found), cases, found.ranking)
    told = facts(found, None)
    return page.page(told, *page.shown_of(told, cases, found.ranking))


def _compare(found: Sequence[Reading]) -> Drawn:
    from wattlock.run.counts import Counts

    counted = [run for run in found if isinstance(run, Counts)]
    if not counted:
        return _compare_times([run for run in found if not isinstance(run, Counts)])
    if len(counted) < len(found):
        what = f"run {counted[0].id} counted cycles, and is set beside no run that measured times"
        raise EvidenceError(what, hint="pick runs of one kind of evidence")
    return _compare_counts(counted)


def _compare_times(found: Sequence[Result]) -> Drawn:
    from wattlock.cli.compare_facts import compare_facts
    from wattlock.lab.drawing import Drawn
    from wattlock.report import compare_page
    from wattlock.run.compare import compare

    first, *others = found
    compared = compare(first, others)
    names = [str(run.plan["id"]) for run in found]
    told = compare_facts(names, found, compared, None, names)
    sections = compare_page.banner(told) + compare_page.sections(told)
    line = compare_page.letters(told)
    return Drawn(compare_page.title(told), line, sections, compare_page.SCRIPTS, compared.table)


def _compare_counts(found: Sequence[Counts]) -> Drawn:
    from wattlock.cli.compare_counted import counted_compare_facts
    from wattlock.lab.drawing import Drawn
    from wattlock.report import counted_compare
    from wattlock.run.compare_counts import compare

    first, *others = found
    compared = compare(first, others)
    names = [run.id for run in found]
    told = counted_compare_facts(names, compared, None, (), names)
    sections = counted_compare.sections(told)
    line, scripts = counted_compare.letters(told), counted_compare.SCRIPTS
    return Drawn(counted_compare.title(told), line, sections, scripts, compared.table)
