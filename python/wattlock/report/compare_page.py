"""The page of a comparison: runs or machines beside each other in one HTML file, for a screen, a phone and paper.

Of times it says what is slower, of counts what takes more, or how alike several cores order the ciphers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import polars as pl

from wattlock.report import formats
from wattlock.report.compared import Against, LetteredRun, RunComparison
from wattlock.report.cycles import (
    Group,
    cycles_of,
    heads,
    key_of,
    like,
    shared_of,
    taken,
    unit_words,
    usual,
    whole,
    within_of,
)
from wattlock.report.drawings import LOOKS, OrderCell, order_matrix, ratio_rows
from wattlock.report.formats import listing, number, percent
from wattlock.report.html import (
    asset,
    bullets,
    cell,
    chip,
    chips,
    commands,
    filter_form,
    folded,
    opening,
    paragraphs,
    spoken,
    table,
    text,
    unbroken,
)
from wattlock.report.ratios import (
    COST,
    ENERGY,
    Measure,
    RatioFigure,
    case_count,
    case_words,
    cipher_title,
    common,
    figures,
    measures,
    quantity_of,
    ratios,
)

SECTIONS = {
    "answer": "The answer",
    "runs": "What differs between the runs",
    "ratios": "Case by case",
    "every": "Every case",
    "method": "How to read it",
}
COUNTED = {"ciphers": "Each cipher in every run", "orders": "How alike the orders are"}
"""Sections of counts alone."""
Drawn = Mapping[Measure, Sequence[RatioFigure]]
Row = dict[str, Any]
WIDE_PX, NARROW_PX = 480, 358
HEADINGS = {ENERGY.name: "Energy", COST.name: "Time"}


def compare_page(compared: RunComparison) -> str:
    """The page as HTML; nothing in it is fetched from elsewhere."""
    page_scripts = "".join(f"<script>{asset(f'{name}.js')}</script>" for name in scripts(compared))
    runs, bodies = formats.listing(list(dict.fromkeys(side.run for side in compared.sides))), _bodies(compared)
    return (
        f'{opening(title(compared), "compare")}<a class="skip" href="#answer">Skip to the answer</a>'
        f"{_head(compared, bodies)}<main>{_joined(bodies)}</main><footer><p>Made by wattlock from {text(runs)}. "
        f"It can be redrawn from their records.</p></footer>{page_scripts}</body></html>"
    )


def scripts(compared: RunComparison) -> tuple[str, ...]:
    """What the page needs of the report's scripts."""
    return ("sort", "folds") if compared.found.is_exact else ("filter", "compare", "sort", "folds")


def sections(compared: RunComparison) -> str:
    """All that the page says below its head, as HTML."""
    return _joined(_bodies(compared))


def _bodies(compared: RunComparison) -> dict[str, str]:
    repeat = f"<h3>How to draw it again</h3>{commands([compared.command])}"
    if compared.found.is_exact:
        differs = bullets(compared.warnings) or "<p>Nothing that was recorded differs.</p>"
        return {**count_sections(compared), "runs": differs, "method": count_method(compared) + repeat}
    drawn = {measure: figures(compared, measure) for measure in measures(compared)}
    return {
        "answer": _answer(compared, drawn),
        "runs": _runs(compared),
        "ratios": _ratios(compared, drawn),
        "every": _every(compared),
        "method": _method(compared) + repeat,
    }


def _joined(bodies: Mapping[str, str]) -> str:
    titles = SECTIONS | COUNTED
    return "".join(
        f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{text(titles[name])}</h2>'
        f"{body}</section>"
        for name, body in bodies.items()
    )


def title(compared: RunComparison) -> str:
    """What is compared with what."""
    names = [side.name for side in compared.sides]
    if len(names) == 2:
        return f"{names[1]} compared with {names[0]}"
    return f"{len(names)} runs{' that counted' if compared.found.is_exact else f', {names[0]} the first'}"


def _head(compared: RunComparison, bodies: Mapping[str, str]) -> str:
    titles, what = SECTIONS | COUNTED, "implementations" if compared.is_of_one_run else "runs"
    links = "".join(f'<li><a href="#{name}">{text(titles[name])}</a></li>' for name in bodies)
    kicker = "counts compared" if compared.found.is_exact else f"comparison of {len(compared.sides)} {what}"
    return (
        f'<header><p class="kicker">wattlock <span>{kicker}</span></p><h1>{text(title(compared))}</h1>'
        f'<p class="question">{text(letters(compared))}</p><nav aria-label="On this page"><ul>{links}</ul></nav>'
        f"{banner(compared)}</header>"
    )


def letters(compared: RunComparison) -> str:
    """Which letter is which run."""
    if compared.found.is_exact:
        return count_letters(compared)
    return ", ".join(f"{side.letter} is {side.name}" for side in compared.sides)


def banner(compared: RunComparison) -> str:
    """Which of the runs are invalid, and why; nothing where none is."""
    invalid = "".join(
        f"<p><strong>⊘ Run {side.letter} ({text(side.name)}) is invalid.</strong> Its numbers are not results: nothing "
        f"is claimed of it.</p>{spoken(side.reasons)}"
        for side in compared.sides
        if side.reasons
    )
    return f'<div class="banner" role="alert">{invalid}</div>' if invalid else ""


def _answer(compared: RunComparison, drawn: Drawn) -> str:
    sentences = {measure: answer(compared, measure) for measure in drawn}
    lead = " ".join(sentences_of_group[0] for sentences_of_group in sentences.values())
    rest = "".join(bullets(sentences_of_group[1:]) for sentences_of_group in sentences.values())
    aside = f'<div class="beside">{rest}</div>' if rest else ""
    kinds = _kinds(compared)
    names = {ENERGY: "Joules", COST: "Cycles and time"}
    chips = "".join(f"<span>{names[measure]} {chip(kinds[measure])}</span>" for measure in drawn)
    pictures = "".join(_overview(found[0], kinds[measure]) for measure, found in drawn.items() if found)
    return (
        f'<div class="answered"><p class="lead">{unbroken(lead)}</p><div class="main-figure">{pictures}</div>'
        f'<div>{paragraphs([about(compared)])}<p class="rests">{chips}</p>{_key()}</div></div>{aside}'
    )


def _kinds(compared: RunComparison) -> dict[Measure, str]:
    """What rests on what: joules are compared where meters measured them."""
    return {ENERGY: "measured", COST: compared.evidence}


def _overview(figure: RatioFigure, evidence: str | None) -> str:
    sizes = (("wide", WIDE_PX), ("narrow", NARROW_PX))
    shown = "".join(
        f'<div class="{kind}">{ratio_rows(figure.rows, figure.axis, figure.axis_title, width)}</div>'
        for kind, width in sizes
    )
    note = figure.note
    return (
        f'<figure data-name="{figure.name}"><figcaption><strong>{text(figure.title)} {chip(evidence)}</strong>'
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


def _runs(compared: RunComparison) -> str:
    """The conditions in which the runs differ, a column a run; those that they share behind a summary."""
    sides = compared.sides
    known = [side.conditions for side in sides]
    by_label = {label: [conditions[label] for conditions in known] for label in known[0]}
    differing = {label: values for label, values in by_label.items() if len(set(values)) > 1}
    shared = {label: values[0] for label, values in by_label.items() if label not in differing and values[0]}
    same = f"The same in all: {len(shared)} conditions"
    warnings = compared.warnings
    warned = f'<div class="warnings"><h3>Warnings</h3>{bullets(warnings)}</div>' if warnings else ""
    shared_table = table(
        "Conditions that are the same in all",
        ["Condition", "All runs"],
        (f'<tr><th scope="row">{text(label)}</th><td>{text(value)}</td></tr>' for label, value in shared.items()),
    )
    head = "<p>≠ marks what differs from the first run. Where it could reverse the result, no ratio is claimed.</p>"
    alike = "Both were measured in one run." if compared.is_of_one_run else "Nothing that was recorded differs."
    shown = f"{head}{_conditions(sides, differing)}" if differing else f"<p>{alike}</p>"
    return f"{shown}{paragraphs(_unmatched(compared))}{warned}{folded(same, shared_table) if shared else ''}"


def _conditions(sides: Sequence[LetteredRun], differing: dict[str, list[str | None]]) -> str:
    def row(label: str, values: list[str | None]) -> str:
        cells = "".join(
            f"<td{' data-differs' if value != values[0] else ''}>{'≠ ' if value != values[0] else ''}"
            f"{text(value or 'not known')}</td>"
            for value in values
        )
        return f'<tr><th scope="row">{text(label)}</th>{cells}</tr>'

    rows = (row(label, values) for label, values in differing.items())
    return table("Conditions that differ", ["Condition", *(side.label for side in sides)], rows, kind="runs")


def _unmatched(compared: RunComparison) -> Iterator[str]:
    for other in compared.others:
        alone = [f"{count} in {name} alone" for count, name in _alone(compared, other) if count]
        if alone:
            yield f"Of {compared.first.letter} and {other.side.letter}, cases with a number that are not compared: " + (
                f"{formats.listing(alone)}."
            )


def _alone(compared: RunComparison, other: Against) -> list[tuple[int, str]]:
    return [(other.pair.lost.height, compared.first.letter), (other.pair.added.height, other.side.letter)]


def _ratios(compared: RunComparison, drawn: Drawn) -> str:
    kinds = _kinds(compared)
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
            f"<strong>{text(figure.title)} {chip(kinds[measure])}</strong></figcaption>"
            f"{ratio_rows(figure.rows, figure.axis, figure.axis_title)}</figure>"
            for figure in found[1:]
        )
        parts.append(f'<h3>{HEADINGS[measure.name]}</h3><div class="strips">{shown}</div>')
    return "".join(parts)


def _every(compared: RunComparison) -> str:
    verdicts = sorted({verdict for other in compared.others for verdict in other.rows["verdict"]})
    count = sum(other.rows.height for other in compared.others)
    return (
        f"{filter_form('Verdict', verdicts, count, 'aes encrypt 1,500')}"
        '<p class="quiet">The filter keeps the figures above that have a case left.</p>'
        f'{_case_table(compared)}<p class="on-paper">The table of every case stands on the page itself.</p>'
    )


def _case_table(compared: RunComparison) -> str:
    """Every case that two runs have; one without a ratio says why."""
    has_joules, several = compared.has_joules, len(compared.others) > 1
    titles = ratios(compared, COST)["title"].to_list()
    pairs = [(other, row) for other in compared.others for row in other.rows.iter_rows(named=True)]
    # A row without a group is of the one before it: compare.js gives it that.
    changed = [group if group != before else "" for before, group in pairwise([None, *titles])]
    rows = "".join(
        _case_row(other, row, group, several=several, has_joules=has_joules)
        for (other, row), group in zip(pairs, changed, strict=True)
    )
    first, other = compared.first.letter, compared.others[0].side.letter if not several else "run"
    joules = ["#Energy ratio", "#95 % interval", "Energy"] if has_joules else []
    head = ["Cipher", "Does", *(["Run"] if several else []), *joules]
    head += ["#Ratio", "#95 % interval", "Verdict", f"#Cost of {first}", f"#Cost of {other}", "Library", "Why"]
    return table("Every case that both runs have", head, [f"<tbody>{rows}</tbody>"], "case-table", "sortable")


def _case_row(other: Against, row: Row, group: str, *, several: bool, has_joules: bool) -> str:
    parts = [f'<th scope="row">{text(row["cipher"])}</th>', cell(case_words(row))]
    parts += [cell(other.side.brief)] if several else []
    if has_joules:
        parts += [*_ratio_cells(row, "energy_ratio"), _verdict_cell(row["energy_verdict"])]
    parts += [*_ratio_cells(row, "ratio"), _verdict_cell(row["verdict"])]
    parts += [_cost(row, "a"), _cost(row, "b"), cell(_libraries(row))]
    parts.append(f'<td class="reason">{text(row["reason"])}</td>' if row["reason"] else "<td></td>")
    group_attribute = f' data-group="{text(group)}"' if group else ""
    return f'<tr data-state="{text(row["verdict"])}"{group_attribute}>{"".join(parts)}</tr>'


def _ratio_cells(row: Row, name: str) -> list[str]:
    value, low, high = row[name], row[f"{name}_low"], row[f"{name}_high"]
    if value is None:
        return [cell(formats.MISSING, True)] * 2
    return [
        cell(formats.within(value, low, high), True),
        cell(f"{formats.within(low, low, high)} to {formats.within(high, low, high)}", True),
    ]


def _verdict_cell(verdict: str | None) -> str:
    if verdict is None:
        return cell(formats.MISSING)
    return f'<td class="state" data-look="{text(verdict)}">{LOOKS[verdict].shape} {text(verdict)}</td>'


def _cost(row: Row, side: str) -> str:
    per_byte, time = row[f"cycles_per_byte_{side}"], row[f"time_ns_{side}"]
    if row["quantity"] == "cycles" and per_byte is not None:
        return cell(f"{formats.number(per_byte)} cycles/B", True)
    value = "" if time is None else f' data-v="{time:.6g}"'
    return f'<td class="n"{value}>{text(formats.time(time))}</td>'


def _libraries(row: Row) -> str:
    sides = [" ".join(str(row[f"{name}_{side}"] or "") for name in ("provider", "path", "of")) for side in "ab"]
    sides = [" ".join(side.split()) for side in sides]
    return sides[0] if sides[0] == sides[1] else f"{sides[0]}; {sides[1]}"


def _method(compared: RunComparison) -> str:
    smallest = formats.percent(compared.smallest, 2)
    no_more = "; equivalent needs one wholly within it"
    same = (
        no_more
        if any(other.pair.rules.has_equivalence for other in compared.others)
        else "; no case is called equivalent here"
    )
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
    return paragraphs(steps)


FACTOR = 1.5
"""A ratio beyond this is said as a factor, a lesser one as percent."""
SMALL = 0.02
MOST_NAMED = 4

VERBS: Mapping[str, str] = MappingProxyType(
    {
        "slower": "is slower than",
        "faster": "is faster than",
        "more": "takes more energy than",
        "less": "takes less energy than",
    }
)
WORDS: Mapping[str, str] = MappingProxyType(
    {"slower": "slower", "faster": "faster", "more": "more energy", "less": "less energy"}
)
Counts = Mapping[str, int]
DIRECTIONS: Mapping[str, tuple[str, str]] = MappingProxyType({"cost": ("slower", "faster"), "energy": ("more", "less")})


def answer(compared: RunComparison, measure: Measure) -> list[str]:
    """The sentences on a measure: of several runs their order first, then each of them beside the first run."""
    frame = ratios(compared, measure)
    order = [] if len(compared.others) == 1 else _order(compared, frame, measure)
    return [*order, *(_beside(compared, other, frame, measure) for other in compared.others)]


def by(ratio: float) -> str:
    """How much a ratio is: `a factor of 2.10`, `5.2 %`."""
    if max(ratio, 1 / ratio) >= FACTOR:
        return f"a factor of {number(max(ratio, 1 / ratio))}"
    # Near the difference that matters a third digit tells on which side of it a ratio lies.
    return percent(abs(ratio - 1), 3 if abs(ratio - 1) < SMALL else 2)


def _order(compared: RunComparison, frame: pl.DataFrame, measure: Measure) -> list[str]:
    """The runs by the median of the cases that all have; nothing where no run differs from the first."""
    claimed = [other.side for other in compared.others if not other.pair.unclaimed]
    rows = frame.filter(pl.col("letter").is_in([side.letter for side in claimed]), pl.col("ratio").is_not_null())
    shared = common(rows)
    if shared.is_empty():
        return []
    differing = shared["verdict"].is_in(DIRECTIONS[measure.name]).any()
    if not differing:
        return [f"None of the runs is shown to differ from {compared.first.spoken}."]
    medians = dict(shared.group_by("letter").agg(pl.col("ratio").median()).iter_rows()) | {compared.first.letter: 1.0}
    cases = case_count(shared)
    cases_words = f"the {cases} cases that all have" if cases > 1 else "the case that all have"
    same = compared.smallest
    if all(abs(math.log(median)) <= math.log1p(same) for median in medians.values()):
        return [f"At the median of {cases_words}, no run differs from another by more than {percent(same, 2)}."]
    names = {side.letter: side.brief for side in compared.sides}
    ordered = sorted(medians, key=lambda letter: (medians[letter], letter))
    spoken = [
        f"{names[letter]} ({'1' if letter == compared.first.letter else number(medians[letter])})" for letter in ordered
    ]
    what = "least energy" if measure is ENERGY else "fastest"
    return [
        f"From the {what} on: {listing(spoken)}; in brackets the median ratio "
        f"to {compared.first.letter} over {cases_words}. "
        f"Medians that differ by less than {percent(same, 2)} are no order."
    ]


def _beside(compared: RunComparison, other: Against, frame: pl.DataFrame, measure: Measure) -> str:
    names = other.side.spoken, compared.first.spoken
    if other.pair.unclaimed:
        return f"Nothing is claimed of {names[0]} beside {names[1]}: {other.pair.unclaimed}."
    rows = frame.filter(pl.col("letter") == other.side.letter)
    judged = rows.filter(pl.col("ratio").is_not_null())
    if judged.is_empty():
        return f"{names[0]} has no {'energy' if measure is ENERGY else 'case'} to compare with {names[1]}."
    counts = dict(judged.group_by("verdict").len().iter_rows())
    greater, smaller = DIRECTIONS[measure.name]
    main, minor = (greater, smaller) if counts.get(greater, 0) >= counts.get(smaller, 0) else (smaller, greater)
    if not counts.get(main):
        return _alike(names, judged, counts, other)
    if counts.get("equivalent", 0) > counts[main] + counts.get(minor, 0):
        same = f"{names[0]} is equivalent to {names[1]} in {counts['equivalent']} of {judged.height} cases, within "
        rest = [_back(judged, verdict) for verdict in (main, minor) if counts.get(verdict)]
        return f"{same}{percent(other.pair.rules.smallest, 2)}. It {_rest(rest, counts, ('undecided',), measure)}."
    return " ".join(_differing(names, judged, (main, minor), measure))


def _alike(names: tuple[str, str], judged: pl.DataFrame, counts: Counts, other: Against) -> str:
    equivalent, total = counts.get("equivalent", 0), judged.height
    if equivalent == total:
        cases = "the case that both have" if total == 1 else f"all {total} cases"
        return f"{names[0]} is equivalent to {names[1]} in {cases}, within {percent(other.pair.rules.smallest, 2)}."
    return (
        f"{names[0]} is neither slower nor faster than {names[1]}: of {total} cases {equivalent} are equivalent and "
        f"{counts.get('undecided', 0)} undecided."
    )


def _differing(
    names: tuple[str, str], judged: pl.DataFrame, verdicts: tuple[str, str], measure: Measure
) -> Iterator[str]:
    main, minor = verdicts
    counts = dict(judged.group_by("verdict").len().iter_rows())
    rows = judged.filter(pl.col("verdict") == main).sort(pl.col("ratio").log().abs(), descending=True)
    share = f"{rows.height} of {judged.height} cases"
    if rows.height == judged.height:
        share = "the case that both have" if judged.height == 1 else f"all {judged.height} cases"
    amount = f"by {by(_median(rows))}{' at the median' if rows.height > 1 else ''}"
    most, least = (_named(rows.row(place, named=True)) for place in (0, -1))
    ends = f"; most for {most}, least for {least}" if rows.height > 1 else f", for {most}"
    yield f"{names[0]} {VERBS[main]} {names[1]} in {share}, {amount}{ends}."
    rest = [_back(judged, minor)] if counts.get(minor) else []
    if rest or rows.height < judged.height:
        yield f"It {_rest(rest, counts, ('equivalent', 'undecided'), measure)}."


def _back(judged: pl.DataFrame, verdict: str) -> str:
    """`slower in 4 (AES-128-CBC and RC4-128; by 0.9 %)`."""
    rows = judged.filter(pl.col("verdict") == verdict)
    return f"{WORDS[verdict]} in {rows.height} ({_ciphers(rows)}; by {by(_median(rows))})"


def _rest(rest: Sequence[str], counts: Counts, words: Sequence[str], measure: Measure) -> str:
    verb = "takes" if rest and measure is ENERGY else "is"
    return f"{verb} {listing([*rest, *(f'{word} in {counts[word]}' for word in words if counts.get(word))])}"


def _median(rows: pl.DataFrame) -> float:
    middle = rows["ratio"].median()
    return middle if isinstance(middle, float) else 1.0


def _named(row: Mapping[str, object]) -> str:
    ratio = row["ratio"]
    return f"{row['named']} ({row['case']}, {by(ratio) if isinstance(ratio, float) else ''})"


def _ciphers(rows: pl.DataFrame) -> str:
    names = rows["named"].unique(maintain_order=True).to_list()
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return listing([*names[:MOST_NAMED], *more])


def about(compared: RunComparison) -> str:
    """What is compared, in a sentence."""
    quantity = quantity_of(compared)
    if quantity == "cycles":
        return "Compared are CPU cycles, which don’t depend on the clock’s speed; 1 is as much as the first run."
    if quantity == "time":
        return "Compared is time at each run’s median clock; 1 is the time of the first run."
    return (
        "Compared are core cycles, between two kinds of processor time at each run’s median clock; 1 is the first run."
    )


MATRIX_PX, STRIPS_PX, NARROW_COUNTS_PX = 600, 480, 358
OF_CORES = (
    "Cycles of each core are its own: a cipher is compared with the others on the same core.",
    "Kendall’s tau-b is 1 for the same order and −1 for the opposite one. Ciphers whose intervals touch on a core are "
    "ties there; the range beside it holds every order that the errors of the rules allow.",
)
OF_VERSIONS = (
    "Each case is set beside its like in the first run. A ratio above 1 says that the other one takes more.",
    "More and less need an interval that excludes 1: it holds the error of the core’s rules as far as the instructions "
    "of the two differ, or the range of a board’s repetitions on both sides. Equivalent are the same counts. Counts "
    "repeat, so that a difference that is undecided by the rules is one of the code all the same.",
)
ORDERS = "orders"
"""What the files of the matrix are called."""
TAU = "Kendall’s tau-b: 1 is the same order. Its range within the errors of the rules stands below it, or in the table."
JOULES = (
    "Joules are part or board cycles valued by the card of that very part, with their interval and the card’s "
    "uncertainty; that of the flash’s model is not known, and not in them."
)


def count_sections(compared: RunComparison) -> dict[str, str]:
    """The sections on counts, as HTML by their names: cores by their orders, versions on one core by their ratios."""
    sides, groups, answer = compared.sides, compared.groups, compared.answer
    ciphers = _joules_are(sides) + "".join(_group(sides, groups, group, answer) for group in groups[0])
    if not compared.has_ratios:
        orders = _orders(sides, compared.found.agreement)
        return {"answer": _answer_compare_orders(compared, answer), "ciphers": ciphers, "orders": orders}
    drawn = figures(compared, COST)
    return {
        "answer": _versions(compared, drawn),
        "ciphers": ciphers,
        "ratios": _ratios_compare_orders(drawn, compared.kinds),
    }


def count_letters(compared: RunComparison) -> str:
    """Which letter is which run, and the core of all where it is one and does not name them."""
    core = compared.first.result.core
    sides = formats.listing([f"{side.letter} is {side.name}" for side in compared.sides])
    return sides + (f", all on {core.place}" if compared.has_ratios and compared.first.name != core.title else "")


def count_method(compared: RunComparison) -> str:
    """How to read it."""
    return paragraphs(OF_VERSIONS if compared.has_ratios else OF_CORES)


def _answer_compare_orders(compared: RunComparison, answer: Group | None) -> str:
    """Which cipher is the cheapest in each run, of those that every run has."""
    shared = shared_of(compared.groups)
    if answer is None:
        return _answered(" ".join(_of_one_cipher(compared.sides, shared)), "", compared.kinds)
    cheapest: dict[str, list[str]] = {}
    for side, own_groups in zip(compared.sides, shared, strict=True):
        cheapest.setdefault(_first(like(own_groups, answer) or answer), []).append(side.name)
    lead = "; ".join(f"{ciphers} on {formats.listing(names)}" for ciphers, names in cheapest.items())
    counts = {len(found.ordered) for side_groups in compared.groups if (found := like(side_groups, answer)) is not None}
    cases_words = "" if counts == {len(answer.rows)} else f" of the {len(answer.rows)} cases that every run has"
    return _answered(
        f"Cheapest{cases_words} to {answer.does}: {lead}.", _order_figure(compared, answer), compared.kinds
    )


def _of_one_cipher(sides: Sequence[LetteredRun], shared: Sequence[Sequence[Group]]) -> Iterator[str]:
    """What can be said where the runs have no two ciphers in common that can be compared."""
    yield "No two ciphers that can be compared are in every run, so none is called the cheapest."
    group = usual(shared[0])
    if group is not None:
        rows = [(like(side_groups, group) or group).rows[0] for side_groups in shared]
        taken = [f"{formats.number(row[group.unit], 4)} on {side.name}" for side, row in zip(sides, rows, strict=True)]
        cipher = formats.cipher_name(rows[0]["cipher"], rows[0]["mode"])
        yield f"To {group.does}, {cipher} takes {formats.listing(taken)} ({unit_words(group)})."


def _answered(answered: str, figure: str, kinds: Sequence[str]) -> str:
    no_board = "." if "measured" in kinds else ": no board was measured."
    return (
        f'<div class="answered"><p class="lead">{unbroken(answered)} {chips(kinds)}</p>{figure}'
        f"<p>Cycles that were counted are no time and no energy{no_board}</p></div>"
    )


def _first(group: Group) -> str:
    """Which take the fewest, and of what; those within the error of the rules are alike."""
    best = group.ordered[0]
    alike = [row for row in group.ordered if row["tie_group"] == best["tie_group"]] if best["tie_group"] else [best]
    names = sorted({formats.cipher_name(row["cipher"], row["mode"]) for row in alike})
    return f"{formats.listing(names)}{' alike' if len(names) > 1 else ''} by {unit_words(group)}"


def _order_figure(compared: RunComparison, answer: Group) -> str:
    """The matrix of tau in the group that answers; nothing where no two orders are compared."""
    cells = cells_of(compared.found.agreement, answer)
    if not cells:
        return ""
    names = [side.name for side in compared.sides]
    pictures = [order_matrix(names, cells, width) for width in (MATRIX_PX, NARROW_COUNTS_PX)]
    return _drawn(ORDERS, order_title(answer), (TAU, compared.kinds), *pictures)


def _drawn(name: str, title: str, noted: tuple[str, Sequence[str]], wide: str, narrow: str) -> str:
    note, kinds = noted
    return (
        f'<figure data-name="{name}" class="main-figure"><figcaption><strong>{text(title)} {chips(kinds)}'
        f'</strong></figcaption><div class="wide">{wide}</div><div class="narrow">{narrow}</div>'
        f'<p class="quiet">{text(note)}</p></figure>'
    )


def order_title(answer: Group) -> str:
    """What the matrix of tau is called."""
    return f"How alike two cores order the ciphers to {answer.does}"


def orders_of(agreement: pl.DataFrame | None, answer: Group) -> pl.DataFrame:
    """The rows of `agreement` that are of the group that answers."""
    if agreement is None:
        return pl.DataFrame()
    common = [name for name in answer.named if name in agreement.columns]
    wanted = {name: 0 if name == "aad_B" and answer.named[name] is None else answer.named[name] for name in common}
    return agreement.filter(pl.col(name).eq_missing(pl.lit(value)) for name, value in wanted.items())


def cells_of(agreement: pl.DataFrame | None, answer: Group) -> Mapping[tuple[int, int], OrderCell]:
    """What the matrix holds, by the places of two runs."""
    return {
        (row["a"], row["b"]): OrderCell(row["tau"], row["tau_low"], row["tau_high"])
        for row in orders_of(agreement, answer).iter_rows(named=True)
    }


def _versions(compared: RunComparison, drawn: Sequence[RatioFigure]) -> str:
    """Of one core: in how many cases the others take more than the first, and where most."""
    first, kinds = compared.first.spoken, compared.kinds
    differences = " ".join(_said_of_counts(first, other.side.spoken, other.rows, kinds) for other in compared.others)
    if not drawn:
        return _answered(differences, "", kinds)
    figure = drawn[0]
    pictures = [
        ratio_rows(figure.rows, figure.axis, figure.axis_title, width) for width in (STRIPS_PX, NARROW_COUNTS_PX)
    ]
    return _answered(differences, _drawn(figure.name, figure.title, (figure.note, kinds), *pictures), kinds)


def _said_of_counts(first: str, other: str, rows: pl.DataFrame, kinds: Sequence[str]) -> str:
    counted = rows.drop_nulls("ratio")
    if counted.is_empty():
        return f"No case of {other} has its like in {first}."
    more, less = counted.filter(pl.col("ratio") > 1).height, counted.filter(pl.col("ratio") < 1).height
    counted_things = cycles_of(kinds) if counted["quantity"][0] == "cycles" else "instructions"
    if not more + less:
        return f"{other} takes as many {counted_things} as {first} in all {counted.height} cases."
    apart = counted.with_columns(apart=pl.col("ratio").log().abs()).sort("apart", descending=True).row(0, named=True)
    most = f"{formats.percent(abs(apart['ratio'] - 1))} {'more' if apart['ratio'] > 1 else 'fewer'}"
    where = f"{cipher_title(apart['cipher'])}, {case_words(apart)}"
    undecided = counted.filter((pl.col("verdict") == "undecided") & (pl.col("ratio") != 1)).height
    if counted.height == 1:
        within = f" That lies within {within_of(kinds)}." if undecided else ""
        return f"In the case that both have ({where}) {other} takes {most} {counted_things} than {first}.{within}"
    alike = counted.height - more - less
    found = {
        f"more {counted_things} than {first}": more,
        f"fewer {counted_things} than {first}": less,
        f"as many {counted_things} as {first}": alike,
    }
    spoken = formats.listing([f"{words} in {count}" for words, count in found.items() if count])
    if counted.height in (more, less):
        spoken = f"{next(words for words, count in found.items() if count)} in each"
    within = f" Within {within_of(kinds)} lie {undecided} of the differences." if undecided else ""
    return f"Of {counted.height} cases {other} takes {spoken}; the greatest difference is {most} ({where}).{within}"


def _ratios_compare_orders(drawn: Sequence[RatioFigure], kinds: Sequence[str]) -> str:
    if len(drawn) < 2:
        return "<p>No case has a ratio to draw.</p>"
    shown = "".join(
        f'<figure data-name="{figure.name}"><figcaption><strong>{text(figure.title)} {chips(kinds)}</strong>'
        f"</figcaption>{ratio_rows(figure.rows, figure.axis, figure.axis_title)}</figure>"
        for figure in drawn[1:]
    )
    return (
        "<p>A mark is a case’s ratio to the first run, the bar through it what the intervals allow. The "
        f'figures share an axis.</p><div class="strips">{shown}</div>'
    )


def _joules_are(sides: Sequence[LetteredRun]) -> str:
    """What the joules rest on; nothing where no card was named."""
    kinds = {
        kind
        for side in sides
        if "energy_evidence" in side.result.estimates.columns
        for kind in side.result.estimates["energy_evidence"].drop_nulls()
    }
    return f"<p>{unbroken(JOULES)} {chips(sorted(kinds))}</p>" if kinds else ""


def _group(sides: Sequence[LetteredRun], groups: Sequence[list[Group]], group: Group, answer: Group | None) -> str:
    by_side = [(side.brief, like(of_side, group)) for side, of_side in zip(sides, groups, strict=True)]
    found = [(name, group) for name, group in by_side if group is not None]
    several = any(group.has_providers for _, group in found)
    columns = taken([row for _, group in found for row in group.rows], [group.rows for _, group in found])
    head = ["Cipher", *(["Provider"] if several else []), "Run", *heads(columns)]
    by_name = [(name, {key_of(row): row for row in group.rows}) for name, group in found]
    order = dict.fromkeys(key_of(row) for _, group in found for row in group.rows)
    body = "".join(
        f'<tr><th scope="row">{text(formats.cipher_name(row["cipher"], row["mode"]))}</th>'
        f"{cell(row['provider']) if several else ''}{cell(name)}"
        f"{''.join(column.cell(row) for column in columns)}</tr>"
        for key in order
        for name, members in by_name
        if (row := members.get(key)) is not None
    )
    shown = table(f"To {group.does}", head, [f"<tbody>{body}</tbody>"], kind="sortable")
    return folded(formats.capital(group.does), shown, answer is not None and group.named == answer.named)


def _orders(sides: Sequence[LetteredRun], agreement: pl.DataFrame | None) -> str:
    if agreement is None or agreement.is_empty():
        return "<p>There are no three comparable ciphers on two cores.</p>"
    head = ["Cores", "Does", "#Payload, B", "#Ciphers", "#Tau", "#From", "#To", "#Pairs undecided", "Ordered by"]
    return table(
        "How alike each two cores order the ciphers", head, [f"<tbody>{''.join(_taus(sides, agreement))}</tbody>"]
    )


def _taus(sides: Sequence[LetteredRun], agreement: pl.DataFrame) -> Iterator[str]:
    for row in agreement.iter_rows(named=True):
        does = f"{formats.OPERATION_NAMES.get(row['operation'], str(row['operation']))}, {row['mode']}"
        taus = (formats.MISSING if row[name] is None else f"{row[name]:.2f}" for name in ("tau", "tau_low", "tau_high"))
        undecided = f"{row['undecided']} of {row['pairs']}"
        yield (
            f'<tr><th scope="row">{text(sides[row["a"]].brief)} and {text(sides[row["b"]].brief)}</th>'
            f"{cell(does)}{cell(whole(row['payload_B'] or None), True)}"
            f"{cell(str(row['ciphers']), True)}{''.join(cell(value, True) for value in taus)}"
            f"{cell(undecided, True)}{cell(row['ordered_by'])}</tr>"
        )
