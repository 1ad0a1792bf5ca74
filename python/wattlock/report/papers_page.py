"""The page of the five papers: nine answers, every claim in a table, a chapter a paper, in one offline file."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape

from wattlock.energy.valuing import card_of
from wattlock.papers.exhibit import DrawnExhibit
from wattlock.papers.implementations import KINDS
from wattlock.papers.judge import (
    DECIDED,
    OPEN,
    Basis,
    Bounds,
    ClaimComparison,
    Effect,
    Finding,
    Judgement,
    Verdict,
    failing,
)
from wattlock.papers.literature import THEMES, Claim, Contradiction, Papers, PaperSource, bibtex, published
from wattlock.papers.material import Gathered, MaterialOptions
from wattlock.papers.nine_questions import Headline, HeadlineAnswer, headlines
from wattlock.papers.transfer_times import path_of
from wattlock.papers.verdicts import ANSWERS, NO_CYCLES, NOT_COUNTABLE, Answer, CoreAnswer, CoreJudged
from wattlock.report import formats
from wattlock.report.charts import Pen
from wattlock.report.described import host
from wattlock.report.drawings import Axis, StripRow, axis_of
from wattlock.report.drawings import strip as strip_svg
from wattlock.report.exhibits import caption, drawing, figure
from wattlock.report.html import (
    bullets,
    chip,
    commands,
    facts,
    folded,
    opening,
    paragraphs,
    spoken,
    table,
    text,
    unbroken,
)
from wattlock.report.run_page import scripts
from wattlock.store import find
from wattlock.store.run_plan import ROOT

ORIGINS = {"stated": "its own", "cited": "cited", "read-off": "read off its tables", "ours": "a control of ours"}

BASES: dict[Basis, str] = {
    "this machine": "What this machine measured",
    "the air": "wattlock’s model of the air",
    "a battery": "A battery, discharged or by its card,",
    "a capture": "The capture",
    "their tables": "What the papers print in tables",
    "what is known": "Arithmetic or the security data",
}

AGAINST = {
    "tables": "Their own tables",
    "itself": "Their own other sentences",
    "papers": "Another of the papers",
    "known": "What is known",
}

SECTIONS = {
    "answer": "Nine questions, answered",
    "verdicts": "Every claim",
    "counted": "On microcontrollers, by counted cycles",
    "contradictions": "Where the papers contradict",
    "unknown": "What is not known",
    "method": "How it was measured",
}

SHORT = {
    "elminaam-wlan": "Elminaam (WLAN)",
    "elminaam-perf": "Elminaam (speed)",
    "singh": "Singh",
    "prasithsangaree": "Prasithsangaree",
    "toldinas": "Toldinas",
}

SHORT_TITLES = {
    **SHORT,
    "answer": "Nine questions",
    "counted": "Microcontrollers",
    "contradictions": "Contradictions",
    "unknown": "Not known",
    "method": "Method",
}
"""What the navigation says of a section."""

LONG_LETTERS = 400
"""Further figures that take more are folded."""

SENTENCE_END = re.compile(r"(?<=[.)]) (?=[A-Z])")

UNFOLDED = 8
"""As many comparisons of a claim stand open."""


def papers_page(run: JudgedRuns, judgements: Sequence[Judgement], shown: Sequence[DrawnExhibit]) -> str:
    """The page as HTML: the same judgements and exhibits give the same bytes."""
    pen = Pen()
    pen.start()
    papers, cores = run.gathered.material.papers, run.cores
    claims = {claim.id: claim for claim in papers.claims}
    sections = {
        "answer": _answer(run, judgements),
        "verdicts": verdict_table(judgements, claims),
        **({"counted": counted_section(judgements, claims, cores)} if cores else {}),
        **{source.id: _chapter(source, papers, judgements, shown, pen) for source in papers.sources},
        "contradictions": _contradictions(papers),
        "unknown": _unknown(papers, shown, judgements),
        "method": _method(run, papers),
    }
    titles = {**SECTIONS, **{source.id: source.title for source in papers.sources}}
    body = "".join(
        f'<section id="{name}" aria-labelledby="{name}-title">'
        f'<h2 id="{name}-title">{text(titles[name])}</h2>{inside}</section>'
        for name, inside in sections.items()
    )
    links = "".join(f'<li><a href="#{name}">{text(SHORT_TITLES.get(name, titles[name]))}</a></li>' for name in sections)
    banner = ""
    if run.reasons:
        banner = (
            '<div class="banner" role="alert"><p><strong>⊘ A run is invalid.</strong> Nothing that it measured is '
            "judged or drawn; the claims that need no timing are judged, and so are those that another run answers."
            f"</p>{spoken(run.reasons)}</div>"
        )
    made_from = " and ".join(run.runs) or "no run"
    return pen.finished(
        f"{opening('Five papers, regenerated and judged', 'papers')}"
        '<a class="skip" href="#verdicts">Skip to the verdicts</a><header>'
        f'<p class="kicker">wattlock <span>{text(formats.day_and_time(run.created) if run.created else "")}</span></p>'
        "<h1>Five papers, regenerated and judged</h1>"
        '<p class="question">Which of the claims that five papers make on the energy of encryption hold on this '
        "machine, and for which implementation?</p>"
        f'<nav aria-label="On this page"><ul>{links}</ul></nav>{banner}</header><main>{body}</main>'
        f"<footer><p>Made by wattlock from {text(made_from)}. The records are the source; the page can be "
        f"drawn again.</p></footer>{scripts('sort', 'folds', 'claims')}</body></html>"
    )


def counts(judgements: Sequence[Judgement]) -> dict[Verdict, int]:
    """How many claims have each verdict."""
    return {verdict: sum(judgement.verdict == verdict for judgement in judgements) for verdict in MARKS}


def _answer(run: JudgedRuns, judgements: Sequence[Judgement]) -> str:
    number = counts(judgements)
    lead = (
        f"Of {len(judgements)} claims {number['reproduced']} are reproduced and {number['not reproduced']} are not; "
        f"{number['depends on the implementation']} depend on the implementation; a model explains "
        f"{number['explained']} and {number['not explained']} not; {number['inconclusive']} are inconclusive and "
        f"{number['not tested']} not tested."
    )
    findings = [finding.answers for judgement in judgements for finding in judgement.findings]
    split = "A claim on ciphers is judged by software of the papers’ era. " + " ".join(
        f"Of its {len(own_answers)} findings measured with {kind} {own_answers.count('reproduced')} are reproduced."
        for kind in KINDS[:-1]
        if (own_answers := [answers[kind] for answers in findings if kind in answers])
    )
    lead_html = f'<p class="lead">{unbroken(lead)}</p>{bullets(bases(judgements))}{paragraphs([split, run.joules])}'
    return f"{cards(headlines(judgements))}{lead_html}"


def bases(judgements: Sequence[Judgement]) -> list[str]:
    """What the verdicts rest on, and how many of each kind: a line a basis that decides any."""
    formatted = []
    for basis, words_of in BASES.items():
        by_verdict = counts([judgement for judgement in judgements if judgement.basis == basis])
        if decided := sum(by_verdict[verdict] for verdict in DECIDED):
            parts = ", ".join(f"{by_verdict[verdict]} {verdict}" for verdict in DECIDED if by_verdict[verdict])
            formatted.append(f"{words_of} decides {decided}: {parts}")
    return formatted


def _chapter(
    source: PaperSource, papers: Papers, judgements: Sequence[Judgement], shown: Sequence[DrawnExhibit], pen: Pen
) -> str:
    own_claims = {claim.id: claim for claim in papers.claims if source.id in claim.source}
    first = [
        judgement
        for judgement in judgements
        if judgement.claim in own_claims and own_claims[judgement.claim].source[0] == source.id
    ]
    shown_before = [
        judgement
        for judgement in judgements
        if judgement.claim in own_claims and own_claims[judgement.claim].source[0] != source.id
    ]
    where = [("Published", published(source)), ("Measured on", source.machine)]
    about = facts([("Authors", source.authors), *where, *([("DOI", source.doi)] if source.doi else [])])
    listed = "".join(_claim(judgement, own_claims[judgement.claim]) for judgement in first)
    elsewhere = ""
    if shown_before:
        links = "; ".join(
            f'<a href="#claim-{judgement.claim}">{worded(own_claims[judgement.claim].says)}</a> ({judgement.verdict})'
            for judgement in shown_before
        )
        elsewhere = f'<p class="quiet">Claims of this paper judged in another chapter: {links}.</p>'
    drawn = "".join(_exhibit(exhibit, pen) for exhibit in shown if exhibit.exhibit.id.startswith(f"{source.id}-"))
    return f"{about}<h3>Its claims</h3>{listed}{elsewhere}<h3>Its figures and tables</h3>{drawn}"


def _claim(judgement: Judgement, claim: Claim) -> str:
    parts = [judgement.sentence.removesuffix(judgement.also).rstrip()]
    also = [judgement.also] if judgement.also else []
    if len(judgement.also) > LONG_LETTERS:
        also, aside = (
            [],
            folded("More figures", bullets([by_names(part) for part in SENTENCE_END.split(judgement.also)])),
        )
    else:
        aside = ""
    parts += [*also, f"Rests on: {judgement.evidence}.", f"Control: {judgement.control}."]
    if judgement.needs:
        parts.append(f"It would need {judgement.needs}.")
    if claim.note:
        parts.append(claim.note)
    command = commands([judgement.command]) if judgement.command.startswith("wattlock") else ""
    paragraphs_html = "".join(f"<p>{worded(part)}</p>" for part in parts)
    return (
        f'<details class="claim printed" id="claim-{judgement.claim}"><summary>'
        f"<strong>{MARKS[judgement.verdict]} {judgement.verdict}</strong> "
        f'{worded(claim.says)} <span class="quiet">({ORIGINS[claim.origin]})</span></summary>'
        f"{paragraphs_html}{command}{_findings(judgement, claim)}{_compared(judgement, claim)}{aside}</details>"
    )


def _findings(judgement: Judgement, claim: Claim) -> str:
    """What was found of each part of the claim, by kind of implementation."""
    kinds = [kind for kind in KINDS if any(kind in finding.answers for finding in judgement.findings)]
    if not kinds:
        return ""
    rows = ""
    for finding in judgement.findings:
        answers = "".join(f'<td class="says">{_answered(judgement, finding, kind)}</td>' for kind in kinds)
        rows += f'<tr><th scope="row">{worded(finding.says)}</th>{answers}</tr>'
    return table(f"Findings: {by_names(claim.says)}", ["Finding", *kinds], [f"<tbody>{rows}</tbody>"], kind="findings")


def _answered(judgement: Judgement, finding: Finding, kind: str) -> str:
    """The answer to a finding, and of one that takes several together which of them do not hold."""
    not_holding = [name for name in failing(judgement, kind, finding.says) if name != finding.says]
    named = f'<br><span class="quiet">not {worded("; ".join(not_holding))}</span>' if not_holding else ""
    return f"{marked(finding.answers.get(kind, 'not tested'))}{named}"


def _compared(judgement: Judgement, claim: Claim) -> str:
    if len(judgement.compared) < 2:
        return ""
    rows = "".join(_comparison(other) for other in judgement.compared)
    head = ["Implementation", "Whose code", "What", "#Effect", "#95 % interval", "Counts as the claim", "Holds"]
    drawn = table(f"Comparisons: {by_names(claim.says)}", head, [f"<tbody>{rows}</tbody>"])
    number = len(judgement.compared)
    return drawn if number <= UNFOLDED else folded(f"All {number} comparisons", drawn)


def _comparison(comparison: ClaimComparison) -> str:
    value, interval = amounts(comparison.effect)
    holds = {True: "yes", False: "no", None: "can’t tell"}[comparison.holds] if comparison.bounds else "stands beside"
    if comparison.holds is False and comparison.failing:
        holds += f": not {worded('; '.join(comparison.failing))}"
    return (
        f'<tr><th scope="row">{text(comparison.implementation)}</th><td>{worded(comparison.cases)}</td>'
        f"<td>{worded(comparison.effect.what.strip(' ,'))}</td>"
        f'<td class="n">{unbroken(value)}</td><td class="n">{unbroken(interval)}</td>'
        f"<td>{unbroken(_bounds(comparison.bounds))}</td><td>{holds}</td></tr>"
    )


def _bounds(bounds: Bounds | None) -> str:
    return bounds.described().replace("uJ", "µJ") if bounds else formats.MISSING


def exhibit_name(name: str) -> str:
    """An exhibit's id in words: `elminaam-perf-fig6-9` as Figures 6 to 9."""
    stem = next(name.removeprefix(f"{source}-") for source in SHORT if name.startswith(f"{source}-"))
    kind, several = ("Table", "Tables") if stem.startswith("table") else ("Figure", "Figures")
    first, _, last = stem.removeprefix("table").removeprefix("fig").partition("-")
    return f"{several} {first} to {last}" if last else f"{kind} {first}"


def _exhibit_of(name: str) -> str:
    """An exhibit's id in words, with its paper's."""
    return f"{next(words for source, words in SHORT.items() if name.startswith(f'{source}-'))}, {exhibit_name(name)}"


def _exhibit(exhibit: DrawnExhibit, pen: Pen) -> str:
    panels = "".join(figure(panel, pen) for panel in exhibit.panels)
    drawings = "".join(
        f"<figure>{_captioned(caption(diagram))}{drawing(diagram)}</figure>" for diagram in exhibit.drawings
    )
    plates = f'<div class="plates">{drawings}{panels}</div>' if exhibit.panels or exhibit.drawings else ""
    finding = f'<p class="finding">{unbroken(exhibit.finding)}</p>' if exhibit.finding else ""
    notes = "".join(f'<p class="quiet">{_with_code(note)}</p>' for note in exhibit.notes)
    missing = ""
    if exhibit.missing:
        missing = (
            f'<p class="missing">Missing: {unbroken("; ".join(exhibit.missing))}.</p>{commands([exhibit.command])}'
        )
    title = f"{exhibit_name(exhibit.exhibit.id)}: {exhibit.exhibit.shows}"
    return (
        f'<article class="exhibit" id="{escape(exhibit.exhibit.id)}"><h4>{unbroken(title)}</h4>'
        f"{finding}{plates}{notes}{missing}</article>"
    )


def _with_code(note: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", unbroken(note))


def _captioned(title: str) -> str:
    return f"<figcaption><strong>{text(title)}</strong></figcaption>" if title else ""


def _contradictions(papers: Papers) -> str:
    formatted = []
    claims = {claim.id: claim for claim in papers.claims}
    for against, title in AGAINST.items():
        mine = [contradiction for contradiction in papers.contradictions if contradiction.against == against]
        formatted.append(
            f"<h3>{title}</h3><ul>{''.join(_contradiction(contradiction, claims) for contradiction in mine)}</ul>"
        )
    sentences = sum(contradiction.origin == "stated" for contradiction in papers.contradictions)
    others = len(papers.contradictions) - sentences
    lead = (
        f"{sentences} sentences of the papers that something else does not bear out, and {others} of ours for what "
        "stands in their tables alone, marked so."
    )
    return f"<p>{unbroken(lead)}</p>{''.join(formatted)}"


def _contradiction(contradiction: Contradiction, claims: Mapping[str, Claim]) -> str:
    who = ", ".join(SHORT[source] for source in contradiction.source)
    whose = {"stated": "", "read-off": " (read off its tables)", "ours": " (our words)"}[contradiction.origin]
    by = f" ({', '.join(SHORT[source] for source in contradiction.by)})" if contradiction.by else ""
    links = "; ".join(f'<a href="#claim-{claim}">{worded(claims[claim].says)}</a>' for claim in contradiction.claims)
    judged = f' <span class="quiet">Judged: {links}.</span>' if links else ""
    return (
        f"<li><strong>{text(f'{who}{whose}')}:</strong> {unbroken(contradiction.says)} <em>But{text(by)}:</em> "
        f"{unbroken(contradiction.but)}{judged}</li>"
    )


def _unknown(papers: Papers, shown: Sequence[DrawnExhibit], judgements: Sequence[Judgement]) -> str:
    claims = {claim.id: claim for claim in papers.claims}
    items = [f"The papers do not say: {', '.join(papers.conditions['not_said']['items'])}."]
    lacking = [exhibit for exhibit in shown if exhibit.missing]
    if lacking:
        names = "; ".join(_exhibit_of(exhibit.exhibit.id) for exhibit in lacking)
        items.append(f"{len(lacking)} of {len(shown)} exhibits lack something, and say what measures it: {names}.")
    items.append("What a cipher costs here is what its code costs on this processor; the papers’ own are gone.")
    open_ones = "".join(
        f'<li><a href="#claim-{judgement.claim}">{worded(claims[judgement.claim].says)}</a>: '
        f"it needs {worded(judgement.needs)}."
        f"{f' <code>{text(judgement.command)}</code>' if judgement.command.startswith('wattlock') else ''}</li>"
        for judgement in judgements
        if judgement.verdict in OPEN
    )
    undecided = f"<h3>What would decide the open claims</h3><ul>{open_ones}</ul>" if open_ones else ""
    return bullets([by_names(item) for item in items]) + undecided


def _studies(names: Sequence[str]) -> str:
    listed = " and ".join(names)
    return f"The studies {listed} were" if len(names) > 1 else f"The study {listed} was"


def _method(run: JudgedRuns, papers: Papers) -> str:
    steps = [
        "Nothing was measured: judged is what needs no timing, and each other claim says what would test it."
        if not run.studies
        else f"{_studies(run.studies)} carried out in {formats.duration(run.duration_s)}: each case in batches of many "
        "calls, in random order, round after round, in fresh processes. A batch is dropped for a cause, never for its "
        "value; intervals are of 95 %.",
        "Each claim has a judge of its own, a function of these numbers alone: judged again they give the same page. "
        "A claim on energy that no meter decides is judged by time, as the papers’ model does, and the row says so.",
        "What sending adds is computed by wattlock’s model of 802.11, not measured.",
    ]
    warned = f'<div class="warnings"><h3>Warnings</h3>{bullets(run.warnings)}</div>' if run.warnings else ""
    machine = f"<h3>The machine</h3>{facts(run.host)}" if run.host else ""
    repeat = f"<h3>How to repeat it</h3>{commands(run.command)}"
    entries = f'<pre tabindex="0" role="region" aria-label="BibTeX"><code>{text(bibtex(papers.sources))}</code></pre>'
    cited = f"<h3>How to cite the papers</h3>{folded('BibTeX', entries)}"
    return f"{paragraphs(steps)}{warned}{machine}{repeat}{cited}"


KEY = (
    '<p class="key"><span class="dot">●</span> measured or computed, with its 95 % interval; '
    '<span class="diamond">◇</span> the papers’ figure; <span class="band"></span> what counts as the claim</p>'
)


def cards(headlines: Sequence[Headline]) -> str:
    """All questions as cards; those with the same axis have the same scale."""
    axes: dict[tuple[str, float | None], Axis] = {}
    for key in {(headline.answer.axis, headline.answer.line) for headline in headlines if headline.answer}:
        alike = [
            headline.answer
            for headline in headlines
            if headline.answer and (headline.answer.axis, headline.answer.line) == key
        ]
        rows = [row for answer in alike for row in rows_of(answer)]
        axes[key] = axis_of(rows, log=not key[0].endswith("%"), line=key[1])
    drawn = "".join(_card(place, headline, axes) for place, headline in enumerate(headlines, 1))
    return f'{KEY}<div class="headlines">{drawn}</div>'


def rows_of(answer: HeadlineAnswer) -> list[StripRow]:
    """The marks of an answer as rows of its picture."""
    return [
        StripRow(
            mark.label,
            *mark.effect[2:],
            bounds=(mark.bounds.low, mark.bounds.high)
            if mark.bounds and mark.has_band and not mark.bounds.of
            else None,
            claimed=mark.bounds.claimed if mark.bounds else None,
        )
        for mark in answer.marks
    ]


def _card(place: int, headline: Headline, axes: dict[tuple[str, float | None], Axis]) -> str:
    answer = headline.answer
    links = ", ".join(f'<a href="#claim-{claim}">{claim}</a>' for claim in headline.claims)
    if answer is None:
        inside = (
            f'<p class="says"><strong>Not measured.</strong> It needs {unbroken(headline.needs)}.</p>'
            f"<p><code>{text(headline.command)}</code></p>"
        )
    else:
        inside = (
            f'<p class="says"><strong>{text(answer.word)}.</strong> {unbroken(answer.sentence)} '
            f'<span class="quiet">({text(answer.kind)})</span></p>'
            f"{strip_svg(rows_of(answer), axes[answer.axis, answer.line], answer.axis, line=answer.line)}"
        )
    return (
        f'<article class="headline" id="headline-{place}" aria-labelledby="headline-{place}-title">'
        f'<h3 id="headline-{place}-title">{text(headline.question)}</h3>{inside}'
        f'<p class="evidence">Evidence: {links}</p></article>'
    )


LENGTHS = {"papers-quick": "quick", "papers-full": "full", "papers-battery": "battery"}
"""The lengths of `wattlock papers` by their studies."""


@dataclass(frozen=True)
class JudgedRuns:
    """The runs, `names` as they were asked for, with what was read `beside` them; `cores`: those that counted."""

    names: Sequence[str]
    gathered: Gathered
    beside: MaterialOptions
    cores: Sequence[CoreJudged] = ()

    @property
    def runs(self) -> list[str]:
        """Their ids, those that counted last."""
        return [*(run.id for run in self.gathered.results), *(core.run for core in self.cores)]

    @property
    def studies(self) -> list[str]:
        """The studies of those that were timed."""
        return list(dict.fromkeys(str(run.study["id"]) for run in self.gathered.results))

    @property
    def created(self) -> str:
        """When the last began, ISO 8601; empty without any."""
        return max((str(run.plan["created"]) for run in self.gathered.results), default="")

    @property
    def duration_s(self) -> float:
        """What they took together."""
        return sum(run.wall_s for run in self.gathered.results)

    @property
    def host(self) -> list[tuple[str, str]]:
        """Label and value of what was measured on."""
        return [pair for run in self.gathered.results[:1] for pair in host(run)]

    @property
    def reasons(self) -> list[str]:
        """Why a run is invalid."""
        results = self.gathered.results
        return [f"run {run.id}: {line}" if len(results) > 1 else line for run in results for line in run.explained]

    @property
    def warnings(self) -> list[str]:
        """What a reader should know of all runs."""
        timed = (f"run {run.id}: {line}" for run in self.gathered.results for line in run.notices[len(run.explained) :])
        counted = (f"run {core.run}: {line}" for core in self.cores for line in core.warnings)
        return [*timed, *self.gathered.notes, *counted]

    @property
    def joules(self) -> str:
        """What the joules rest on, in a sentence."""
        kinds = self.gathered.estimates["energy_evidence"].drop_nulls().unique().sort().to_list()
        if kinds:
            return f"Joules here are {' and '.join(kinds)}."
        return "There are no joules: no meter was read and no device card named. Claims on energy are judged by time."

    @cached_property
    def command(self) -> list[str]:
        """The commands that measure again, then the one that judges these runs again."""
        device = f" --device {self.beside.device}" if self.beside.device else ""
        allowed = " --allow-assumed" if self.beside.allow_assumed else ""
        runs = "".join(f" --run {_findable(name)}" for name in self.names) or " --length none"
        runs += "".join(f" --counted {_findable(core.name)}" for core in self.cores)
        return [*dict.fromkeys(self._measuring()), f"wattlock papers{runs}{device}{self._options}{allowed}"]

    @property
    def _options(self) -> str:
        beside = self.beside
        given = {"--radio": beside.radio, "--battery": beside.battery}
        given["--capture"] = beside.capture.name if beside.capture else None
        given["--machine"] = beside.machine if beside.machine != "computer" else None
        options = "".join(f" {option} {value}" for option, value in given.items() if value is not None)
        return options + "".join(f" --transfers {_without_folder(name)}" for name in beside.transfers)

    def _measuring(self) -> Iterator[str]:
        """A run holds its card: to measure again the card must be named, and allowed where nobody verified it."""
        for run in self.gathered.results:
            card = card_of(run, self.beside.device)
            valued = f" --device {self.beside.device or card.name}" if card is not None else ""
            if self.beside.allow_assumed or (card is not None and card.card.evidence == "assumed"):
                valued += " --allow-assumed"
            study = str(run.study["id"])
            if study in LENGTHS:
                # Of one run this judges too, as it was judged here.
                options = self._options if len(self.gathered.results) == 1 else ""
                yield f"wattlock papers --length {LENGTHS[study]}{valued}{options}"
            else:
                yield f"wattlock run {study}{valued}"
        yield from (f"wattlock run {core.study} --on qemu:{core.core}" for core in self.cores)


def _without_folder(name: str) -> str:
    """A file of transfers as a page may name it."""
    kind, path = path_of(name)
    return shlex.quote(f"{kind}={path.name}" if kind else path.name)


def _findable(name: str) -> str:
    """A run as it is found again: by its id where it lies on the shelf, also if it was called the last one."""
    folder = find(name)
    return shlex.quote(folder.name if folder.parent.resolve() == ROOT.resolve() else name)


MARKS: dict[Verdict, str] = {
    "reproduced": "●",
    "not reproduced": "✕",
    "depends on the implementation": "◩",
    "explained": "◆",
    "not explained": "◇",
    "inconclusive": "◐",
    "not tested": "○",
}

MEANINGS: dict[Verdict, str] = {
    "reproduced": "the whole interval lies within what counts as the claim",
    "not reproduced": "it lies wholly outside",
    "depends on the implementation": "libraries of the papers’ kind of implementation do not agree",
    "explained": "a model comes to the claim",
    "not explained": "a model does not, which refutes nothing",
    "inconclusive": "measured or computed, and the interval holds both",
    "not tested": "nothing at hand speaks of it",
}

SOURCE_ID = re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(SHORT, key=len, reverse=True))})(?![\w-])")

HEADS = ["Claim", "Verdict", "#Effect", "Claimed and found", "Paper", "Evidence"]

STRIP_PX = 220

EVEN = {"1": 1.0, "%": 0.0}
"""Where nothing differs, by the unit."""

SMALL = 1e-4

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def verdict_table(judgements: Sequence[Judgement], claims: Mapping[str, Claim]) -> str:
    """The filter and the table; without JavaScript all claims stand and there is no filter."""
    groups = ""
    for theme in THEMES:
        of_theme = [judgement for judgement in judgements if claims[judgement.claim].theme == theme]
        rows = "".join(_row(judgement, claims[judgement.claim]) for judgement in of_theme)
        heading = f'<th scope="rowgroup" colspan="{len(HEADS)}">{text(theme.capitalize())}</th>'
        groups += f'<tbody><tr class="theme">{heading}</tr>{rows}</tbody>'
    legend = "; ".join(f"{mark} {verdict}: {MEANINGS[verdict]}" for verdict, mark in MARKS.items())
    drawn = table("Verdicts on every claim", HEADS, [groups], "verdict-table", "sortable verdicts")
    lead = "A head sorts each theme by its column. The claim leads to its reasons."
    return f"<p>{lead} {legend}.</p>{_filter(judgements)}{drawn}"


def _filter(judgements: Sequence[Judgement]) -> str:
    present = {judgement.verdict for judgement in judgements}
    verdicts = {verdict: f"{mark} {verdict}" for verdict, mark in MARKS.items() if verdict in present}
    boxes = "".join(
        f"<fieldset><legend>{legend}</legend>{''.join(_box(name, value, says) for value, says in values.items())}"
        "</fieldset>"
        for legend, name, values in (("Verdict", "verdict", verdicts), ("Paper", "paper", SHORT))
    )
    total = f'<output aria-live="polite">{len(judgements)} claims</output>'
    return f'<form class="claims-filter" hidden>{boxes}<p>{total} <button type="reset">Show all</button></p></form>'


def _box(name: str, value: str, says: str) -> str:
    return f'<label><input type="checkbox" name="{name}" value="{text(value)}" checked> {text(says)}</label> '


def _row(judgement: Judgement, claim: Claim) -> str:
    papers = ", ".join(SHORT.get(source, source) for source in claim.source)
    value, interval = amounts(judgement.effect)
    key = f' data-v="{judgement.effect.value:.6g}"' if judgement.effect else ""
    what = ""
    if judgement.effect:
        between = "" if interval == formats.MISSING else f" ({unbroken(interval)})"
        what = f'{between} <span class="quiet">{worded(judgement.effect.what.strip(" ,"))}</span>'
    return (
        f'<tr data-verdict="{text(judgement.verdict)}" data-papers="{text(" ".join(claim.source))}">'
        f'<th scope="row"><a href="#claim-{judgement.claim}">{worded(claim.says)}</a></th>'
        f'<td class="verdict">{marked(judgement.verdict)}</td>'
        f'<td class="n"{key}>{unbroken(value)}{what}</td><td>{strip(judgement)}</td>'
        f'<td class="says">{text(papers)}</td><td class="says">{text(judgement.evidence.partition(", ")[0])}</td></tr>'
    )


def by_names(words: str) -> str:
    """A sentence with papers and ciphers by their names and not by their ids."""
    return formats.named(SOURCE_ID.sub(lambda found: SHORT[found[0]], words))


def worded(words: str) -> str:
    """The same as HTML text."""
    return unbroken(by_names(words))


def strip(judgement: Judgement) -> str:
    """What decides on one small axis: found, its interval, what counts as the claim, and the claimed figure."""
    if judgement.effect is None:
        return ""
    bounds = (
        judgement.compared[0].bounds
        if judgement.compared and judgement.compared[0].effect == judgement.effect
        else None
    )
    own_bounds = bounds if bounds is not None and not bounds.of else None
    row = StripRow(
        "",
        *judgement.effect[2:],
        bounds=(own_bounds.low, own_bounds.high) if own_bounds else None,
        claimed=own_bounds.claimed if own_bounds else None,
    )
    is_ratio = judgement.effect.unit == "1" and " over " in judgement.effect.what
    line = EVEN.get(judgement.effect.unit) if is_ratio or judgement.effect.unit == "%" else None
    title = "ratio" if is_ratio else judgement.effect.unit.replace("uJ", "µJ").replace("1", "")
    return strip_svg([row], axis_of([row], log=is_ratio, line=line), title, line=line, width_px=STRIP_PX)


def marked(verdict: Verdict) -> str:
    """A verdict with its mark, kept on one line with it."""
    return f"{MARKS[verdict]}\u00a0{verdict}"


def amounts(effect: Effect | None) -> tuple[str, str]:
    """A figure with its unit, and its interval."""
    if effect is None:
        return formats.MISSING, formats.MISSING
    unit = "" if effect.unit == "1" else f" {effect.unit.replace('uJ', 'µJ')}"
    if effect.beyond:
        return f"{effect.beyond} {_amount(effect.value)}{unit}", formats.MISSING
    interval = f"{_amount(effect.low)} to {_amount(effect.high)}" if effect.low != effect.high else formats.MISSING
    return f"{_amount(effect.value)}{unit}", interval


def _amount(value: float) -> str:
    """A figure with three digits; with a power of ten where the zeros would hide them."""
    if math.isinf(value):
        return "no end"
    if value == 0 or abs(value) >= SMALL:
        return formats.number(value)
    digits, _, power = f"{value:.2e}".partition("e")
    return f"{digits} · 10{str(int(power)).translate(RAISED)}"


ANSWER_MARKS: Mapping[Answer, str] = {"supported": "●", "contradicted": "✕", "undecided": "◐"}
ANSWER_MEANINGS: Mapping[Answer, str] = {
    "supported": "the whole interval lies within what counts as the claim",
    "contradicted": "it lies wholly outside",
    "undecided": "it holds both, or nothing was counted that decides",
}


def answer_counts(core: CoreJudged) -> dict[Answer, int]:
    """How many claims have each answer."""
    return {answer: sum(one.answer == answer for one in core.answers) for answer in ANSWERS}


def counted_line(core: CoreJudged) -> str:
    """What a core says of the claims, in a line."""
    if not core.has_cycles:
        return f"counted on {core.core}: {NO_CYCLES}"
    described = ", ".join(f"{number} {answer}" for answer, number in answer_counts(core).items() if number)
    return f"counted on {core.core} (rules within {core.error_percent:g} %): {len(core.answers)} claims: {described}"


def counted_section(judgements: Sequence[Judgement], claims: Mapping[str, Claim], cores: Sequence[CoreJudged]) -> str:
    """The section as HTML: the cores in a line each, the table, each core's reasons, and what can't be counted."""
    deciding = [core for core in cores if core.has_cycles]
    lines = bullets([f"{line[0].upper()}{line[1:]}." for line in map(counted_line, cores)])
    legend = "; ".join(f"{mark} {answer}: {ANSWER_MEANINGS[answer]}" for answer, mark in ANSWER_MARKS.items())
    lead = (
        f"<p>Cycles of software of the papers’ era on emulated cores, by random bytes. {chip('emulated')} "
        "Cycles stand for energy, at one power. The error of a core’s rules counts whole on both sides of a ratio. "
        f"{legend}.</p>"
    )
    drawn, why = "", ""
    if deciding:
        by_claim = {judgement.claim: judgement for judgement in judgements}
        rows = "".join(
            _core_row(by_claim[answer.claim], claims[answer.claim], deciding)
            for answer in deciding[0].answers
            if answer.claim in by_claim
        )
        head = ["Claim", "This machine", *(core.core for core in deciding)]
        drawn = table("Claims by counted cycles", head, [f"<tbody>{rows}</tbody>"], kind="verdicts")
        why = "".join(folded(f"Why, on {core.core}", _reasons(core, claims)) for core in deciding)
    never = [f"{len(names)} claims: {why_not}." for why_not, names in NOT_COUNTABLE.items() if len(names) > 1]
    never += [f"{by_names(claims[names[0]].says)}: {w}." for w, names in NOT_COUNTABLE.items() if len(names) == 1]
    return f"{lead}{lines}{drawn}{why}<h3>Not countable</h3>{bullets(never)}"


def _core_row(here: Judgement, claim: Claim, cores: Sequence[CoreJudged]) -> str:
    answers = "".join(_core_cell(core.of(here.claim)) for core in cores)
    return (
        f'<tr><th scope="row"><a href="#claim-{here.claim}">{worded(claim.says)}</a></th>'
        f'<td class="verdict">{marked(here.verdict)}</td>{answers}</tr>'
    )


def _core_cell(found: CoreAnswer | None) -> str:
    if found is None:
        return f"<td>{formats.MISSING}</td>"
    value, interval = amounts(found.effect)
    between = "" if interval == formats.MISSING else f" ({unbroken(interval)})"
    what = f' <span class="quiet">{worded(found.effect.what.strip(" ,"))}</span>' if found.effect else ""
    figure = f"<br>{unbroken(value)}{between}{what}" if found.effect else ""
    return f'<td class="says"><strong>{ANSWER_MARKS[found.answer]}\u00a0{found.answer}</strong>{figure}</td>'


def _reasons(core: CoreJudged, claims: Mapping[str, Claim]) -> str:
    return bullets(list(_reasoned(core, claims)))


def _reasoned(core: CoreJudged, claims: Mapping[str, Claim]) -> Iterator[str]:
    for answer in core.answers:
        yield by_names(f"{answer.answer}: {claims[answer.claim].says}: {answer.sentence.replace('uJ', 'µJ')}.")
