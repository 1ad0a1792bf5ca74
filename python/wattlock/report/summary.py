"""What of a report is printed below its answer: the head of the ranking, the conditions, the method in brief.

It is kept to two pages; what is left out is said in one line, with where it is found.
"""

import polars as pl

from wattlock.report import formats, tables
from wattlock.report.answer import answered_group, answered_rows
from wattlock.report.conditions import STEPS, conditions, joules_notes, verdict
from wattlock.report.facts import RunFacts
from wattlock.report.markup import bullets, facts, paragraphs, table, text, unbroken

MOST_ROWS, MOST_SENTENCES, MOST_LETTERS, MOST_NOTE_LETTERS = 12, 4, 180, 320


def summary(run: RunFacts, estimates: pl.DataFrame, ranking: pl.DataFrame, figures: int) -> str:
    """The printed part of the page as HTML; `figures`: how many the page has that are not printed."""
    checks = [
        f"{check.name}: {check.verdict} ({formats.within(check.measured, check.low, check.high)}, 95 % interval "
        f"{' to '.join(formats.within(end, check.low, check.high) for end in (check.low, check.high))})"
        for check in run.self_checks
    ]
    warnings = _few([*run.reasons, *run.warnings])
    parts = {
        "The head of the ranking": _head(estimates, ranking),
        "The joules": paragraphs(_few(joules_notes(run), MOST_NOTE_LETTERS)) if ranking.height else "",
        "Conditions": f"<p>{unbroken(verdict(run, estimates))}</p>{facts([*conditions(run), *_machine(run)])}",
        "Checks and warnings": bullets([*_few(checks), *warnings]),
        "Method": paragraphs(STEPS),
        "What is not printed": _left_out(run, ranking, figures),
    }
    return "".join(
        f'<section class="on-paper"><h2>{text(title)}</h2>{body}</section>' for title, body in parts.items() if body
    )


def _few(sentences: list[str], letters: int = MOST_LETTERS) -> list[str]:
    """The first of some sentences, none longer than some lines."""
    kept = [one if len(one) <= letters else f"{one[:letters]}…" for one in sentences[:MOST_SENTENCES]]
    more = len(sentences) - len(kept)
    return [*kept, *([f"And {more} more, on the page."] if more else [])]


def _machine(run: RunFacts) -> list[tuple[str, str]]:
    return [(label, value if len(value) <= MOST_LETTERS else f"{value[:MOST_LETTERS]}…") for label, value in run.host]


def _head(estimates: pl.DataFrame, ranking: pl.DataFrame) -> str:
    """The first rows of the group that answers."""
    group, ranked = answered_group(estimates, ranking), answered_rows(estimates, ranking)
    if group is None:
        return ""
    unresolved = set(estimates.filter(pl.col("state") == "unresolved")["case"])
    rows = [row for tied in tables.ranking_rows(ranked, unresolved) for row in tied]
    title = tables.group_title(group)
    cut = f", the {MOST_ROWS} cheapest of {len(rows)}" if len(rows) > MOST_ROWS else ""
    shown = table(f"Ranking: {title}", tables.ranking_head(ranked), [f"<tbody>{''.join(rows[:MOST_ROWS])}</tbody>"])
    return f"<p>{text(f'{title}{cut}.')}</p>{tables.rests_on(ranked)}{shown}"


def _left_out(run: RunFacts, ranking: pl.DataFrame, figures: int) -> str:
    """One line on what the page has beside this, and where."""
    beside = [f"{figures} figures"] if figures else []
    beside += ["all rankings"] if ranking.height else []
    beside += [f"the table of {run.cases:,} cases", "the inputs", "the commands that repeat it"]
    where = f"in report.html of run {run.id}; wattlock export {run.id} writes the numbers"
    return f"<p>{text(f'Left out are {formats.listing(beside)}: {where}.')}</p>"
