"""The page of a run: one HTML file that works offline, for a screen and a phone; on paper it is two pages.

Its sections ask which quantities a run has: of times there are figures, a ranking and self-checks, of counted cycles
flash, RAM and stack beside them, and what the numbers are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import polars as pl

from wattlock.energy.device_cards import Device
from wattlock.report import cycles, formats, run_tables
from wattlock.report.charts import Pen
from wattlock.report.described import host
from wattlock.report.evidence import DRAWN_STATES, with_energy_columns
from wattlock.report.html import (
    asset,
    bullets,
    chip,
    commands,
    facts,
    filter_form,
    folded,
    invalid_run,
    opening,
    paragraphs,
    table,
    text,
    unbroken,
)
from wattlock.report.main_figure import drawn_figure, main_figure
from wattlock.report.run_answer import after_pause, answer, answered_group, answered_rows, with_joules
from wattlock.report.run_charts import Plate, drawn_by, plates
from wattlock.report.run_tables import (
    STEPS,
    card_notes,
    card_shown,
    cases_table,
    conditions,
    core_class_section,
    discharge_section,
    joules_notes,
    lost_states,
    verdict,
)
from wattlock.run.result import Result
from wattlock.run.validity import INVALID_RUN
from wattlock.store.disk import write_out

SECTIONS = {
    "answer": "The answer",
    "trust": "Can it be believed?",
    "battery": "The battery",
    "figures": "Figures",
    "cores": "Kinds of core",
    "ranking": "Ranking",
    "cases": "Every case",
    "method": "How it was measured",
}
COUNTED = {
    "trust": "What these numbers are",
    "ranking": "Cycles, flash, RAM and stack",
    "method": "How it was counted",
}
"""What sections are called where counted cycles stand in them."""
PRINTED = ("answer", "trust", "ranking")
"""Sections that are printed where no summary is."""
SCRIPTS = ("filter", "sort", "folds")
MOST_ROWS, MOST_SENTENCES, MOST_LETTERS, MOST_NOTE_LETTERS = 10, 4, 180, 320
"""What the summary on paper holds, which is kept to two pages; what it leaves out is said in one line."""


def write_report(path: Path, run: Result, estimates: pl.DataFrame, card: Device | None = None) -> None:
    """Write the page of a run to `path`, over what is there.

    * `estimates`: one row a case, valued or not; `card`: what valued them.
    * A run that is not valid shows no number as a result: below a banner its cases stand unranked.
    """
    write_out(path, page(run, estimates, card))


def page(run: Result, estimates: pl.DataFrame, card: Device | None = None) -> str:
    """The page as HTML; nothing in it is fetched from elsewhere."""
    estimates = _shown(run, estimates)
    pen = Pen()
    bodies = _bodies(run, estimates, card, pen)
    printed = ""
    if "figures" in bodies:
        printed = _summary(run, estimates, card, figures=bodies["figures"].count("<figure "))
    return pen.finished(
        f"{opening(run.study['title'])}"
        f'<a class="skip" href="#answer">Skip to the answer</a>{_head(run, bodies)}'
        f"<main>{_sections(run, bodies)}{printed}</main><footer><p>Made by wattlock from run {text(run.id)}. "
        f"The records beside this page are the source; it can be redrawn.</p></footer>{scripts(*SCRIPTS)}</body></html>"
    )


def sections(run: Result, estimates: pl.DataFrame, card: Device | None = None) -> str:
    """The sections that need no engine of charts, as HTML for a page of another head; it needs `SCRIPTS`."""
    return _sections(run, _tables(run, _shown(run, estimates), card))


def _shown(run: Result, estimates: pl.DataFrame) -> pl.DataFrame:
    """The frame as the page takes it: of times with all energy columns, and of an invalid run without results."""
    if "time" not in run.quantities:
        return estimates
    estimates = with_energy_columns(estimates)
    return _all_invalid(estimates) if run.reasons else estimates


def _bodies(run: Result, estimates: pl.DataFrame, card: Device | None, pen: Pen) -> dict[str, str]:
    bodies = {}
    if "time" in run.quantities:
        pen.start()
        bodies = {
            "figures": _figures(run, estimates, card, pen),
            "battery": discharge_section(run, pen),
            "cores": "" if run.reasons else core_class_section(run),
        }
    bodies |= _tables(run, estimates, card)
    return {name: bodies[name] for name in SECTIONS if bodies.get(name)}


def _tables(run: Result, estimates: pl.DataFrame, card: Device | None) -> dict[str, str]:
    if "time" not in run.quantities:
        return cycles.sections(run, estimates, card)
    return {
        "answer": _answer(run, estimates),
        "trust": _trust(run, estimates),
        "ranking": _ranking(estimates, run.ranking),
        "cases": _cases(estimates),
        "method": _method(run, card),
    }


def _titles(run: Result) -> Mapping[str, str]:
    return SECTIONS if "time" in run.quantities else SECTIONS | COUNTED


def _sections(run: Result, bodies: Mapping[str, str]) -> str:
    printed, titles = ("answer",) if "time" in run.quantities else PRINTED, _titles(run)
    return "".join(
        f'<section id="{name}" class="{"printed" if name in printed else "unprinted"}" '
        f'aria-labelledby="{name}-title"><h2 id="{name}-title">{text(titles[name])}</h2>{body}</section>'
        for name, body in bodies.items()
    )


def scripts(*names: str) -> str:
    """Our own scripts, which make the page move."""
    return "".join(f"<script>{asset(f'{name}.js')}</script>" for name in names)


def _all_invalid(estimates: pl.DataFrame) -> pl.DataFrame:
    has_number = pl.col("state").is_in(DRAWN_STATES)
    return estimates.with_columns(
        state=pl.when(has_number).then(pl.lit(INVALID_RUN)).otherwise("state"),
        reason=pl.when(has_number).then(pl.lit("the run's self-check failed")).otherwise("reason"),
    )


def _head(run: Result, shown: Iterable[str]) -> str:
    titles = _titles(run)
    links = "".join(f'<li><a href="#{name}">{text(titles[name])}</a></li>' for name in shown)
    banner = f'<div class="banner" role="alert">{invalid_run(run.explained)}</div>' if run.reasons else ""
    return (
        f'<header><p class="kicker">wattlock <span>{text(formats.day_and_time(run.plan["created"]))}</span></p>'
        f'<h1>{text(run.study["title"])}</h1><p class="question">{text(run.study["question"])}</p>'
        f'<nav aria-label="On this page"><ul>{links}</ul></nav>{banner}</header>'
    )


def _answer(run: Result, estimates: pl.DataFrame) -> str:
    if run.reasons:
        return (
            '<p class="lead">There is none: the run’s self-check failed. What it measured stands below, unranked, in '
            '<a href="#cases">the table of its cases</a>.</p>'
        )
    costs: list[str] = []
    about: list[str] = []
    for sentence in answer(estimates, run.ranking):
        (about if sentence.startswith("These ") else costs).append(sentence)
    rests = paragraphs([*about, *after_pause(run.after_pause), *run.crossings])
    rests += run_tables.rests_on(answered_rows(estimates, run.ranking))
    figure = main_figure(estimates, run.ranking)
    drawn = "" if figure is None else drawn_figure(figure)
    return f'<div class="answered"><p class="lead">{unbroken(" ".join(costs))}</p>{drawn}<div>{rests}</div></div>'


def _trust(run: Result, estimates: pl.DataFrame) -> str:
    lost, warnings = lost_states(estimates), run.notices[len(run.explained) :]
    warned = f'<div class="warnings"><h3>Warnings</h3>{bullets(warnings)}</div>' if warnings else ""
    checks = f"<h3>Checks</h3>{run_tables.self_check_table(run.verdicts)}" if run.verdicts else ""
    unresolved = ""
    if lost and not run.reasons:
        listed = folded(formats.listing(lost).capitalize(), run_tables.without_number_table(estimates))
        unresolved = f"<h3>Cases that are not resolved</h3>{listed}"
    return f"<p>{unbroken(verdict(run, estimates))}</p>{facts(conditions(run))}{warned}{checks}{unresolved}"


def _figures(run: Result, estimates: pl.DataFrame, card: Device | None, pen: Pen) -> str:
    if run.reasons:
        return "<p>None: nothing of an invalid run is drawn.</p>"
    hung, lacking = plates(estimates)
    if not hung:
        return f"<p>None: no case has a number to draw.</p>{_energy_absent(run, card)}"
    parts = [
        "<p>A dot is an estimate, the bar through it the 95 % interval, where it is wider than the dot. A hollow mark "
        "is a case that is not resolved. Axes are logarithmic. Colour tells families apart, and so do names, shapes "
        "and dashes.</p>"
    ]
    for heading, group in groupby(hung, key=lambda plate: plate.heading):
        shown = "".join(_plate(plate, pen) for plate in group)
        device = _device(run, card) if heading == "Energy" else ""
        parts.append(f'<h3>{text(heading)}</h3>{device}<div class="plates">{shown}</div>')
    if not any(plate.heading == "Energy" for plate in hung):
        parts.append(_energy_absent(run, card))
        lacking = [title for title in lacking if not title.startswith("Energy")]
    if len(run.core_classes) > 1:
        parts.insert(1, f"<p>Drawn are the {text(run.core_classes[0])} cores.</p>")
    if lacking:
        parts.append(f'<p class="quiet">Not in this study, so not drawn: {text("; ".join(lacking))}.</p>')
    return "".join(parts)


def _plate(plate: Plate, pen: Pen) -> str:
    return (
        f'<figure data-name="{plate.name}"><figcaption>'
        f"<strong>{text(plate.title)} {chip(plate.evidence)}</strong> "
        f'<span class="quiet">{unbroken(plate.note)}</span></figcaption>'
        f"{pen.draw(plate.chart, plate.name)}"
        f"{run_tables.drawn_table(drawn_by(plate.chart), plate.axis)}</figure>"
    )


def _device(run: Result, card: Device | None) -> str:
    about = joules_notes(run, card)
    return f'<div class="note">{paragraphs(about)}</div>' if about else ""


def _energy_absent(run: Result, card: Device | None) -> str:
    """Why there are no joules, and the command that gives them."""
    if card is not None:
        why = f"There are no joules: the card {card.name} was named, but no case has a number that it can value."
    elif run.meter is not None:
        why = f"There are no joules: the meter {run.meter['name']} told no case’s energy from its baseline’s."
    else:
        why = "There are no joules: no meter was read and no device card was named. A card values the cycles:"
    notes, study = card_notes(card_shown(run, card)) if card is not None else [], run.study["id"]
    return (
        f'<h3>Energy</h3><div class="note">{paragraphs([why, *notes])}</div>'
        f"{commands([f'wattlock run {study} --device CARD', 'wattlock devices'])}"
    )


def _ranking(estimates: pl.DataFrame, ranking: pl.DataFrame) -> str:
    if ranking.is_empty():
        return "<p>Nothing is ranked.</p>"
    unresolved = set(estimates.filter(pl.col("state") == "unresolved")["case"])
    return (
        "<p>Within each group the cheapest stands first. Ciphers that share a place (=) can’t be told apart by "
        "this run.</p>"
        f"{run_tables.ranking_tables(with_joules(ranking, estimates), unresolved, answered_group(estimates, ranking))}"
    )


def _cases(estimates: pl.DataFrame) -> str:
    states = estimates["state"].unique().sort()
    return (
        f"{filter_form('State', states, estimates.height, 'aes-128 encrypt 1.5 kB')}"
        f"{run_tables.rests_on(estimates)}{cases_table(estimates)}"
        '<p class="quiet">± is the half-width of the 95 % interval. MB/s count 10⁶ bytes.</p>'
    )


def _method(run: Result, card: Device | None) -> str:
    inputs = f"<h3>Inputs</h3>{run_tables.input_table(run.inputs)}" if run.inputs else ""
    repeat = f"<h3>How to repeat it</h3>{commands(_repeat(run, card))}"
    return f"{paragraphs(STEPS)}<h3>The machine</h3>{facts(host(run))}{inputs}{repeat}"


def _repeat(run: Result, card: Device | None) -> Sequence[str]:
    joules = ""
    if card is not None:
        is_assumed = card_shown(run, card).card.evidence == "assumed"
        joules = f" --device {card.name}{' --allow-assumed' if is_assumed else ''}"
    elif run.meter is not None:
        joules = f" --meter {run.meter['name']} --baseline {run.meter['baseline']}"
    return [
        f"wattlock run {run.study['id']}{joules}",
        f"wattlock report {run.id}",
        f"cd runs/{run.id} && sha256sum -c SHA256SUMS",
    ]


def _summary(run: Result, estimates: pl.DataFrame, card: Device | None, figures: int) -> str:
    """The printed part of the page as HTML; `figures`: how many the page has that are not printed."""
    ranking = run.ranking
    checks = [
        f"{check.named}: {check.state} ({formats.within(check.measured, check.low, check.high)}, 95 % interval "
        f"{' to '.join(formats.within(end, check.low, check.high) for end in (check.low, check.high))})"
        for check in run.verdicts
    ]
    warnings = _few(run.notices)
    parts = {
        "The head of the ranking": _head_of_ranking(estimates, ranking),
        "The joules": paragraphs(_few(joules_notes(run, card), MOST_NOTE_LETTERS)) if ranking.height else "",
        "Conditions": f"<p>{unbroken(verdict(run, estimates))}</p>{facts([*conditions(run), *_machine_facts(run)])}",
        "Checks and warnings": bullets([*_few(checks), *warnings]),
        "Method": paragraphs(STEPS),
        "What is not printed": _left_out(run, figures),
    }
    return "".join(
        f'<section class="on-paper"><h2>{text(title)}</h2>{body}</section>' for title, body in parts.items() if body
    )


def _few(sentences: list[str], letters: int = MOST_LETTERS) -> list[str]:
    """The first of some sentences, none longer than some lines."""
    kept = [
        sentence if len(sentence) <= letters else f"{sentence[:letters]}…" for sentence in sentences[:MOST_SENTENCES]
    ]
    more = len(sentences) - len(kept)
    return [*kept, *([f"And {more} more, on the page."] if more else [])]


def _machine_facts(run: Result) -> list[tuple[str, str]]:
    return [(label, value if len(value) <= MOST_LETTERS else f"{value[:MOST_LETTERS]}…") for label, value in host(run)]


def _head_of_ranking(estimates: pl.DataFrame, ranking: pl.DataFrame) -> str:
    """The first rows of the group that answers."""
    group, ranked = answered_group(estimates, ranking), answered_rows(estimates, ranking)
    if group is None:
        return ""
    unresolved = set(estimates.filter(pl.col("state") == "unresolved")["case"])
    rows = [row for tied in run_tables.ranking_rows(ranked, unresolved) for row in tied]
    title = run_tables.group_title(group)
    cut = f", the {MOST_ROWS} cheapest of {len(rows)}" if len(rows) > MOST_ROWS else ""
    shown = table(f"Ranking: {title}", run_tables.ranking_head(ranked), [f"<tbody>{''.join(rows[:MOST_ROWS])}</tbody>"])
    return f"<p>{text(f'{title}{cut}.')}</p>{run_tables.rests_on(ranked)}{shown}"


def _left_out(run: Result, figures: int) -> str:
    """One line on what the page has beside this, and where."""
    left_out = [f"{figures} figures"] if figures else []
    left_out += ["all rankings"] if run.ranking.height else []
    left_out += [f"the table of {run.estimates.height:,} cases", "the inputs", "the commands that repeat it"]
    where = f"in report.html of run {run.id}; wattlock export {run.id} writes the numbers"
    return f"<p>{text(f'Left out are {formats.listing(left_out)}: {where}.')}</p>"
