"""The page of a comparison: runs or machines beside each other in one HTML file, for a screen, a phone and paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from wattlock.report import chip, formats
from wattlock.report.compare_answer import about, answer
from wattlock.report.compare_facts import Against, CompareFacts, Side
from wattlock.report.compare_table import compare_table
from wattlock.report.markup import bullets, commands, folded, paragraphs, spoken, table, text, unbroken
from wattlock.report.page import asset, opening
from wattlock.report.ratio_strips import LOOKS, picture
from wattlock.report.ratios import COST, ENERGY, Measure, RatioFigure, figures, measures

SECTIONS = {
    "answer": "The answer",
    "runs": "What differs between the runs",
    "ratios": "Case by case",
    "every": "Every case",
    "method": "How to read it",
}
SCRIPTS = ("filter", "compare", "sort", "folds")
Drawn = Mapping[Measure, Sequence[RatioFigure]]
WIDE_PX, NARROW_PX = 480, 358
HEADINGS = {ENERGY.name: "Energy", COST.name: "Time"}


def compare_page(facts: CompareFacts) -> str:
    """The page as HTML; nothing in it is fetched from elsewhere."""
    own = "".join(f"<script>{asset(f'{name}.js')}</script>" for name in SCRIPTS)
    runs = formats.listing(list(dict.fromkeys(side.run for side in facts.sides)))
    return (
        f'{opening(title(facts), "compare")}<a class="skip" href="#answer">Skip to the answer</a>{_head(facts)}'
        f"<main>{sections(facts)}</main><footer><p>Made by wattlock from {text(runs)}. It can be redrawn from their "
        f"records.</p></footer>{own}</body></html>"
    )


def sections(facts: CompareFacts) -> str:
    """All that the page says below its head, as HTML."""
    drawn = {measure: figures(facts, measure) for measure in measures(facts)}
    bodies = {
        "answer": _answer(facts, drawn),
        "runs": _runs(facts),
        "ratios": _ratios(facts, drawn),
        "every": _every(facts),
        "method": _method(facts),
    }
    return "".join(
        f'<section id="{name}" aria-labelledby="{name}-title">'
        f'<h2 id="{name}-title">{text(SECTIONS[name])}</h2>{body}</section>'
        for name, body in bodies.items()
    )


def title(facts: CompareFacts) -> str:
    """What is compared with what."""
    names = [side.name for side in facts.sides]
    return f"{names[1]} compared with {names[0]}" if len(names) == 2 else f"{len(names)} runs, {names[0]} the first"


def _head(facts: CompareFacts) -> str:
    links = "".join(f'<li><a href="#{name}">{text(heading)}</a></li>' for name, heading in SECTIONS.items())
    return (
        f'<header><p class="kicker">wattlock <span>comparison of {len(facts.sides)} '
        f"{'implementations' if _is_of_one_run(facts) else 'runs'}</span></p><h1>{text(title(facts))}</h1>"
        f'<p class="question">{text(letters(facts))}</p><nav aria-label="On this page"><ul>{links}</ul></nav>'
        f"{banner(facts)}</header>"
    )


def letters(facts: CompareFacts) -> str:
    """Which letter is which run."""
    return ", ".join(f"{side.letter} is {side.name}" for side in facts.sides)


def banner(facts: CompareFacts) -> str:
    """Which of the runs are invalid, and why; nothing where none is."""
    invalid = "".join(
        f"<p><strong>⊘ Run {side.letter} ({text(side.name)}) is invalid.</strong> Its numbers are not results: nothing "
        f"is claimed of it.</p>{spoken(side.reasons)}"
        for side in facts.sides
        if side.reasons
    )
    return f'<div class="banner" role="alert">{invalid}</div>' if invalid else ""


def _is_of_one_run(facts: CompareFacts) -> bool:
    return len({side.run for side in facts.sides}) == 1


def _answer(facts: CompareFacts, drawn: Drawn) -> str:
    sentences = {measure: answer(facts, measure) for measure in drawn}
    lead = " ".join(told[0] for told in sentences.values())
    rest = "".join(bullets(told[1:]) for told in sentences.values())
    beside = f'<div class="beside">{rest}</div>' if rest else ""
    kinds = {ENERGY: facts.energy_evidence, COST: facts.time_evidence}
    names = {ENERGY: "Joules", COST: "Cycles and time"}
    chips = "".join(f"<span>{names[measure]} {chip.chip(kinds[measure])}</span>" for measure in drawn)
    pictures = "".join(_overview(found[0], kinds[measure]) for measure, found in drawn.items() if found)
    return (
        f'<div class="answered"><p class="lead">{unbroken(lead)}</p><div class="main-figure">{pictures}</div>'
        f'<div>{paragraphs([about(facts)])}<p class="rests">{chips}</p>{_key()}</div></div>{beside}'
    )


def _overview(figure: RatioFigure, evidence: str | None) -> str:
    sizes = (("wide", WIDE_PX), ("narrow", NARROW_PX))
    shown = "".join(
        f'<div class="{kind}">{picture(figure.rows, figure.axis, figure.axis_title, width)}</div>'
        for kind, width in sizes
    )
    note = figure.note
    return (
        f'<figure data-name="{figure.name}"><figcaption><strong>{text(figure.title)} {chip.chip(evidence)}</strong>'
        f'</figcaption>{shown}<p class="quiet">{note}</p></figure>'
    )


def _key() -> str:
    """What the marks mean."""
    words = {"slower": "slower, or more energy", "faster": "faster, or less energy"}
    marks = "".join(
        f'<li><span data-look="{verdict}" aria-hidden="true">{LOOKS[verdict].shape}</span> '
        f"{words.get(verdict, verdict)}</li>"
        for verdict in ("slower", "faster", "equivalent", "undecided")
    )
    return f'<ul class="marks" aria-label="What the marks mean">{marks}</ul>'


def _runs(facts: CompareFacts) -> str:
    """The conditions in which the runs differ, a column a run; those that they share behind a summary."""
    sides = facts.sides
    labels = [label for label, _ in facts.first.conditions]
    by_label = {label: [dict(side.conditions)[label] for side in sides] for label in labels}
    differing = {label: values for label, values in by_label.items() if len(set(values)) > 1}
    shared = {label: values[0] for label, values in by_label.items() if label not in differing and values[0]}
    same = f"The same in all: {len(shared)} conditions"
    warned = f'<div class="warnings"><h3>Warnings</h3>{bullets(list(facts.warnings))}</div>' if facts.warnings else ""
    shared_table = table(
        "Conditions that are the same in all",
        ["Condition", "All runs"],
        (f'<tr><th scope="row">{text(label)}</th><td>{text(value)}</td></tr>' for label, value in shared.items()),
    )
    head = "<p>≠ marks what is not as in the first run. Where it could turn an order round, the ratio says nothing.</p>"
    alike = "Both were measured in one run." if _is_of_one_run(facts) else "Nothing that was recorded differs."
    shown = f"{head}{_conditions(sides, differing)}" if differing else f"<p>{alike}</p>"
    return f"{shown}{paragraphs(_unmatched(facts))}{warned}{folded(same, shared_table) if shared else ''}"


def _conditions(sides: Sequence[Side], differing: dict[str, list[str | None]]) -> str:
    def row(label: str, values: list[str | None]) -> str:
        cells = "".join(
            f"<td{' data-differs' if value != values[0] else ''}>{'≠ ' if value != values[0] else ''}"
            f"{text(value or 'not known')}</td>"
            for value in values
        )
        return f'<tr><th scope="row">{text(label)}</th>{cells}</tr>'

    rows = (row(label, values) for label, values in differing.items())
    return table("Conditions that differ", ["Condition", *(side.label for side in sides)], rows, kind="runs")


def _unmatched(facts: CompareFacts) -> Iterator[str]:
    for other in facts.others:
        alone = [f"{count} in {name} alone" for count, name in _alone(facts, other) if count]
        if alone:
            yield f"Of {facts.first.letter} and {other.side.letter}, cases with a number that are not compared: " + (
                f"{formats.listing(alone)}."
            )


def _alone(facts: CompareFacts, other: Against) -> list[tuple[int, str]]:
    return [(other.lost, facts.first.letter), (other.added, other.side.letter)]


def _ratios(facts: CompareFacts, drawn: Drawn) -> str:
    kinds = {ENERGY: facts.energy_evidence, COST: facts.time_evidence}
    parts = [
        "<p>A mark is a case’s ratio to the first run, the bar through it its 95 % interval. The figures share an axis."
        "</p>"
    ]
    for measure, found in drawn.items():
        if not found:
            parts.append(f"<p>No case has a ratio of {HEADINGS[measure.name].lower()}.</p>")
            continue
        shown = "".join(
            f'<figure data-name="{figure.name}" data-group="{text(figure.title)}"><figcaption>'
            f"<strong>{text(figure.title)} {chip.chip(kinds[measure])}</strong></figcaption>"
            f"{picture(figure.rows, figure.axis, figure.axis_title)}</figure>"
            for figure in found[1:]
        )
        parts.append(f'<h3>{HEADINGS[measure.name]}</h3><div class="strips">{shown}</div>')
    return "".join(parts)


def _every(facts: CompareFacts) -> str:
    verdicts = sorted({verdict for other in facts.others for verdict in other.rows["verdict"]})
    options = "".join(f"<option>{verdict}</option>" for verdict in verdicts)
    count = sum(other.rows.height for other in facts.others)
    return (
        '<form class="filter" role="search"><label>Filter '
        '<input id="filter" type="search" placeholder="aes encrypt 1,500" autocomplete="off"></label>'
        f'<label>Verdict <select id="state"><option value="">any</option>{options}</select></label>'
        f'<output id="shown" aria-live="polite">{count:,} cases</output></form>'
        '<p class="quiet">The filter keeps the figures above that have a case left.</p>'
        f'{compare_table(facts)}<p class="on-paper">The table of every case stands on the page itself.</p>'
    )


def _method(facts: CompareFacts) -> str:
    smallest = formats.percent(max(other.smallest for other in facts.others), 2)
    no_more = "; equivalent needs one wholly within it"
    same = no_more if any(other.has_equivalence for other in facts.others) else "; no case is called equivalent here"
    steps = [
        "Each case is set beside its like: same cipher, operation, keying, encoding, placement, pattern, payload, "
        "data, associated data and library. Cases without their like are counted, not compared.",
        "A ratio comes from the means of fresh processes; its 95 % interval is Welch’s, each case by itself. "
        "Two builds that were measured side by side have the ratio of neighbouring batches.",
        f"Slower and faster need an interval wholly beyond the margin of {smallest}"
        f"{same}. Everything else is undecided.",
        "Times of different kinds of evidence are not compared, nor joules of meters that include different "
        "things. Joules by a device card are not compared: by one card they are the cycles times what a cycle takes.",
    ]
    return f"{paragraphs(steps)}<h3>How to draw it again</h3>{commands([facts.command])}"
