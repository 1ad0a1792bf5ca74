"""The page of a run: one HTML file that works offline, for a screen and a phone; on paper it is two pages."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path

import polars as pl

from wattlock.report import chip, engine, formats, look, tables
from wattlock.report.answer import answer, answered_group, answered_rows, with_joules
from wattlock.report.cases import cases_table
from wattlock.report.conditions import STEPS, conditions, joules_notes, lost_states, verdict
from wattlock.report.core_classes import core_class_section
from wattlock.report.discharges import discharge_section
from wattlock.report.evidence import DRAWN_STATES, with_energy_columns
from wattlock.report.facts import RunFacts
from wattlock.report.gallery import Plate, drawn_by, plates
from wattlock.report.main_figure import drawn_figure, main_figure
from wattlock.report.markup import (
    as_sentence,
    bullets,
    commands,
    facts,
    folded,
    island,
    paragraphs,
    spoken,
    text,
    unbroken,
)
from wattlock.report.summary import summary
from wattlock.run.validity import INVALID_RUN
from wattlock.store.disk import write_out

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; img-src data:"
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


def write_report(path: Path, run: RunFacts, estimates: pl.DataFrame, ranking: pl.DataFrame) -> None:
    """Write the page of a run to `path`, over what is there.

    * `estimates`: one row a case, valued or not. * `ranking`: one row a ranked cipher and group.
    * A run that is not valid shows no number as a result: below a banner its cases stand unranked.
    """
    write_out(path, page(run, *shown_of(run, estimates, ranking)))


def shown_of(run: RunFacts, estimates: pl.DataFrame, ranking: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The frames as the page takes them: with all energy columns, and of an invalid run without results."""
    estimates = with_energy_columns(estimates)
    return (estimates, ranking) if run.valid else (_all_invalid(estimates), ranking.clear())


def page(run: RunFacts, estimates: pl.DataFrame, ranking: pl.DataFrame) -> str:
    """The page as HTML; nothing in it is fetched from elsewhere."""
    cores = run.core_classes
    bodies = {
        **_tables(run, estimates, ranking),
        **({"battery": discharge_section(run.discharge)} if run.discharge else {}),
        "figures": _figures(run, estimates),
        **({"cores": core_class_section(cores)} if run.valid and cores else {}),
    }
    bodies = {name: bodies[name] for name in SECTIONS if name in bodies}
    sections = _sections(bodies)
    printed = summary(run, estimates, ranking, figures=bodies["figures"].count("<figure "))
    return (
        f"{opening(run.title)}"
        f'<a class="skip" href="#answer">Skip to the answer</a>{_head(run, bodies)}<main>{sections}{printed}</main>'
        f"<footer><p>Made by wattlock from run {text(run.id)}. "
        "The records beside this page are the source; it can be redrawn.</p></footer>"
        f"{scripts('figures', 'filter', 'sort', 'folds')}</body></html>"
    )


def sections(run: RunFacts, estimates: pl.DataFrame, ranking: pl.DataFrame) -> str:
    """The sections that need no engine of charts, as HTML for a page of another head; frames as of `shown_of`."""
    return _sections(_tables(run, estimates, ranking))


def _tables(run: RunFacts, estimates: pl.DataFrame, ranking: pl.DataFrame) -> dict[str, str]:
    return {
        "answer": _answer(run, estimates, ranking),
        "trust": _trust(run, estimates),
        "ranking": _ranking(estimates, ranking),
        "cases": _cases(run, estimates),
        "method": _method(run),
    }


def _sections(bodies: Mapping[str, str]) -> str:
    return "".join(
        f'<section id="{name}" class="{"printed" if name == "answer" else "unprinted"}" aria-labelledby="{name}-title">'
        f'<h2 id="{name}-title">{text(SECTIONS[name])}</h2>{body}</section>'
        for name, body in bodies.items()
    )


def stylesheet(*styles: str) -> str:
    """The style of a page: colours, chips, and the files `styles` beside `page`."""
    return look.stylesheet() + chip.stylesheet() + "".join(asset(f"{name}.css") for name in ("page", *styles))


def opening(title: str, *styles: str) -> str:
    """The head of a page and the start of its body: nothing is fetched from elsewhere; `styles`: beside `page`."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta name="color-scheme" content="light dark">'
        f'<link rel="icon" href="data:,"><title>{text(title)}: wattlock</title>'
        f"<style>{stylesheet(*styles)}</style></head><body>"
    )


def scripts(*names: str) -> str:
    """What makes the page move: the charts' engine once, and these of our own."""
    own = "".join(f"<script>{asset(f'{name}.js')}</script>" for name in names)
    return f"{island('config', look.page_config())}<script>{_vega()}</script>{own}"


def _all_invalid(estimates: pl.DataFrame) -> pl.DataFrame:
    has_number = pl.col("state").is_in(DRAWN_STATES)
    return estimates.with_columns(
        state=pl.when(has_number).then(pl.lit(INVALID_RUN)).otherwise("state"),
        reason=pl.when(has_number).then(pl.lit("the run's self-check failed")).otherwise("reason"),
    )


def asset(name: str) -> str:
    """A file of the page's style or script."""
    return files("wattlock").joinpath("data", "report", name).read_text(encoding="utf-8")


@cache
def _vega() -> str:
    """Vega, Vega-Lite and their embedder, once, in a scope of their own."""
    bundle = re.sub(r"</(?=script)", r"<\\/", engine.bundle(), flags=re.IGNORECASE)
    return f"(()=>{{{bundle}\n}})()"


def _head(run: RunFacts, shown: Iterable[str]) -> str:
    links = "".join(f'<li><a href="#{name}">{text(SECTIONS[name])}</a></li>' for name in shown)
    banner = "" if run.valid else f'<div class="banner" role="alert">{invalid_run(run.reasons)}</div>'
    return (
        f'<header><p class="kicker">wattlock <span>{text(formats.day_and_time(run.created))}</span></p>'
        f'<h1>{text(run.title)}</h1><p class="question">{text(run.question)}</p>'
        f'<nav aria-label="On this page"><ul>{links}</ul></nav>{banner}</header>'
    )


def invalid_run(reasons: Sequence[str]) -> str:
    """What a banner says of an invalid run; `reasons`: as of `Result.explained`."""
    first, *others = reasons or ["no reason was recorded"]
    return f"<p><strong>⊘ This run is invalid.</strong> {as_sentence(first)}</p>{spoken(others)}"


def _answer(run: RunFacts, estimates: pl.DataFrame, ranking: pl.DataFrame) -> str:
    if not run.valid:
        return (
            '<p class="lead">There is none: the run’s self-check failed. What it measured stands below, unranked, in '
            '<a href="#cases">the table of its cases</a>.</p>'
        )
    costs: list[str] = []
    about: list[str] = []
    for sentence in answer(estimates, ranking):
        (about if sentence.startswith("These ") else costs).append(sentence)
    rests = paragraphs([*about, *run.after_pause, *run.crossings]) + tables.rests_on(answered_rows(estimates, ranking))
    figure = main_figure(estimates, ranking)
    drawn = "" if figure is None else drawn_figure(figure)
    return f'<div class="answered"><p class="lead">{unbroken(" ".join(costs))}</p>{drawn}<div>{rests}</div></div>'


def _trust(run: RunFacts, estimates: pl.DataFrame) -> str:
    lost = lost_states(estimates)
    warned = f'<div class="warnings"><h3>Warnings</h3>{bullets(run.warnings)}</div>' if run.warnings else ""
    checks = f"<h3>Checks</h3>{tables.self_check_table(run.self_checks)}" if run.self_checks else ""
    unresolved = ""
    if run.valid and lost:
        listed = folded(formats.listing(lost).capitalize(), tables.without_number_table(estimates))
        unresolved = f"<h3>Cases that are not resolved</h3>{listed}"
    return f"<p>{unbroken(verdict(run, estimates))}</p>{facts(conditions(run))}{warned}{checks}{unresolved}"


def _figures(run: RunFacts, estimates: pl.DataFrame) -> str:
    if not run.valid:
        return "<p>None: nothing of an invalid run is drawn.</p>"
    hung, lacking = plates(estimates)
    if not hung:
        return f"<p>None: no case has a number to draw.</p>{_energy_absent(run)}"
    parts = [
        "<p>A dot is an estimate, the bar through it the 95 % interval, where it is wider than the dot. A hollow mark "
        "is a case that is not resolved. Axes are logarithmic. Colour tells families apart, and so do names, shapes "
        "and dashes.</p>"
        "<noscript><p>The figures need JavaScript. Under each, “The numbers” holds what it draws.</p></noscript>"
    ]
    for heading, group in groupby(hung, key=lambda plate: plate.heading):
        shown = "".join(_plate(plate) for plate in group)
        parts.append(
            f'<h3>{text(heading)}</h3>{_device(run) if heading == "Energy" else ""}<div class="plates">{shown}</div>'
        )
    if not any(plate.heading == "Energy" for plate in hung):
        parts.append(_energy_absent(run))
        lacking = [title for title in lacking if not title.startswith("Energy")]
    if run.core_classes is not None:
        parts.insert(1, f"<p>Drawn are the {text(run.core_classes.names[0])} cores.</p>")
    if lacking:
        parts.append(f'<p class="quiet">Not in this study, so not drawn: {text("; ".join(lacking))}.</p>')
    return "".join(parts)


def _plate(plate: Plate) -> str:
    height_px = plate.chart.height if isinstance(plate.chart.height, int) else 0
    spec = island("spec", plate.chart.to_dict(validate=False))
    return (
        f'<figure data-name="{plate.name}"><figcaption>'
        f"<strong>{text(plate.title)} {chip.chip(plate.evidence)}</strong> "
        f'<span class="quiet">{unbroken(plate.note)}</span></figcaption>'
        f'<div class="chart" style="min-height:{height_px + 60}px"></div>{spec}'
        f"{tables.drawn_table(drawn_by(plate.chart), plate.axis)}</figure>"
    )


def _device(run: RunFacts) -> str:
    about = joules_notes(run)
    return f'<div class="note">{paragraphs(about)}</div>' if about else ""


def _energy_absent(run: RunFacts) -> str:
    """Why there are no joules, and the command that gives them."""
    if run.meter is not None:
        why = f"There are no joules: the meter {run.meter.name} told no case’s energy from its baseline’s."
    elif run.device is None:
        why = "There are no joules: no meter was read and no device card was named. A card values the cycles:"
    else:
        why = f"There are no joules: the card {run.device.name} was named, but no case has a number that it can value."
    return (
        f'<h3>Energy</h3><div class="note">{paragraphs([why, *(run.device.notes if run.device else ())])}</div>'
        f"{commands([f'wattlock run {run.study} --device CARD', 'wattlock devices'])}"
    )


def _ranking(estimates: pl.DataFrame, ranking: pl.DataFrame) -> str:
    if ranking.is_empty():
        return "<p>Nothing is ranked.</p>"
    unresolved = set(estimates.filter(pl.col("state") == "unresolved")["case"])
    return (
        "<p>Within each group the cheapest stands first. Ciphers that share a place (=) can’t be told apart by "
        "this run.</p>"
        f"{tables.ranking_tables(with_joules(ranking, estimates), unresolved, answered_group(estimates, ranking))}"
    )


def _cases(run: RunFacts, estimates: pl.DataFrame) -> str:
    options = "".join(f"<option>{state}</option>" for state in estimates["state"].unique().sort())
    return (
        '<form class="filter" role="search"><label>Filter '
        '<input id="filter" type="search" placeholder="aes-128 encrypt 1.5 kB" autocomplete="off"></label>'
        f'<label>State <select id="state"><option value="">any</option>{options}</select></label>'
        f'<output id="shown" aria-live="polite">{run.cases:,} cases</output></form>'
        f"{tables.rests_on(estimates)}{cases_table(estimates)}"
        '<p class="quiet">± is the half-width of the 95 % interval. MB/s count 10⁶ bytes.</p>'
    )


def _method(run: RunFacts) -> str:
    inputs = f"<h3>Inputs</h3>{tables.input_table(run.inputs)}" if run.inputs else ""
    repeat = f"<h3>How to repeat it</h3>{commands(_repeat(run))}"
    return f"{paragraphs(STEPS)}<h3>The machine</h3>{facts(run.host)}{inputs}{repeat}"


def _repeat(run: RunFacts) -> Sequence[str]:
    device = "" if run.device is None else f" --device {run.device.name}"
    if run.meter is not None:
        device = f" --meter {run.meter.name} --baseline {run.meter.baseline}"
    allowed = " --allow-assumed" if run.device is not None and run.device.evidence == "assumed" else ""
    return [
        f"wattlock run {run.study}{device}{allowed}",
        f"wattlock report {run.id}",
        f"cd runs/{run.id} && sha256sum -c SHA256SUMS",
    ]
