"""The page of a run that counted on a microcontroller: cycles, flash, RAM and stack, and what these numbers are not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from wattlock.report import chip, formats
from wattlock.report.cases import Column, state_words
from wattlock.report.counted_answer import Group, answering, groups_of, said
from wattlock.report.counted_figures import ENERGY, counted_figures
from wattlock.report.counted_table import cycles_head, heads, number, taken, whole
from wattlock.report.counted_words import WORDS, Words
from wattlock.report.evidence import departures
from wattlock.report.main_figure import ANSWER, MainFigure, drawn_figure
from wattlock.report.markup import bullets, cell, commands, facts, folded, paragraphs, table, text, unbroken
from wattlock.report.page import asset, opening
from wattlock.store.disk import write_out

SECTIONS = {
    "answer": "The answer",
    "trust": "What these numbers are",
    "ranking": "Cycles, flash, RAM and stack",
    "cases": "Every case",
    "method": "How it was counted",
}
PRINTED = ("answer", "trust", "ranking")


@dataclass(frozen=True, slots=True)
class CountedFacts:
    """A run that counted in the words of the page.

    * `target`: the core, with the part and its clock; `error_percent`: of the core's rules, with how many published
      `figures` they were compared with, null where there is none. `not_modelled`: what the numbers don't hold.
    * `conditions`: labels and values in their order. `study`, `on`: what `wattlock run` takes. `card`: the device card
      that valued the cycles, null without joules; `is_assumed`: whether it had to be allowed.
      `evidence`: what the cycles rest on.
      `adapters`: code of others by its provider: `title`, `language`, `source`, `licence`, `compiler`, `flags`.
    """

    study: str
    on: str
    title: str
    question: str
    id: str
    created: str
    target: str
    error_percent: float | None
    figures: int | None
    conditions: Sequence[tuple[str, str]]
    not_modelled: Sequence[str]
    warnings: Sequence[str]
    card: str | None = None
    is_assumed: bool = False
    adapters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    evidence: str = "emulated"

    @property
    def words(self) -> Words:
        """What is said of its cycles."""
        return WORDS[self.evidence]


def write_counted(path: Path, run: CountedFacts, estimates: pl.DataFrame, ranking: pl.DataFrame) -> None:
    """Write the page to `path`, over what is there; `estimates` and `ranking` as of `analysis.counts`."""
    write_out(path, page(run, estimates, ranking))


def page(run: CountedFacts, estimates: pl.DataFrame, ranking: pl.DataFrame) -> str:
    """The page as HTML; nothing in it is fetched from elsewhere."""
    links = "".join(f'<li><a href="#{name}">{text(heading)}</a></li>' for name, heading in SECTIONS.items())
    scripts = "".join(f"<script>{asset(f'{name}.js')}</script>" for name in ("filter", "sort", "folds"))
    return (
        f"{opening(run.title)}"
        '<a class="skip" href="#answer">Skip to the answer</a>'
        f'<header><p class="kicker">wattlock <span>{text(formats.day_and_time(run.created))}</span></p>'
        f'<h1>{text(run.title)}</h1><p class="question">{text(run.question)}</p>'
        f'<nav aria-label="On this page"><ul>{links}</ul></nav></header>'
        f"<main>{sections(run, estimates, ranking)}</main><footer><p>Made by wattlock from run {text(run.id)}. "
        f"The records beside this page are the source; it can be redrawn.</p></footer>{scripts}</body></html>"
    )


def sections(run: CountedFacts, estimates: pl.DataFrame, ranking: pl.DataFrame) -> str:
    """All that the page says below its head, as HTML."""
    groups = groups_of(estimates, ranking)
    figures = dict(counted_figures(groups))
    bodies = {
        "answer": _answer(run, groups, figures, _what_it_is(run, estimates)),
        "trust": _trust(run, estimates),
        "ranking": _joules_are(run, estimates, figures) + _tables(run, groups),
        "cases": _cases(run, estimates),
        "method": _method(run),
    }
    return "".join(
        f'<section id="{name}" class="{"printed" if name in PRINTED else "unprinted"}" '
        f'aria-labelledby="{name}-title"><h2 id="{name}-title">{text(SECTIONS[name])}</h2>{body}</section>'
        for name, body in bodies.items()
    )


def _answer(run: CountedFacts, groups: Sequence[Group], figures: Mapping[str, MainFigure], about: str) -> str:
    lead, *tied = said(run.target, groups) or ["There is none."]
    drawn = drawn_figure(figures[ANSWER]) if figures else ""
    return (
        f'<div class="answered"><p class="lead">{unbroken(lead)} {chip.chip(run.evidence) if groups else ""}</p>'
        f"{drawn}<div>{paragraphs(tied)}{about}</div></div>"
    )


def _what_it_is(run: CountedFacts, estimates: pl.DataFrame) -> str:
    counted = "Cycles" if has_cycles(estimates) else "Instructions"
    what = f"{counted} that were counted are no time{'' if run.card else ' and no energy'}{run.words.no_board}"
    lacking = estimates.filter(pl.col("state") != "counted").height
    lost = f"{lacking} of {estimates.height} cases have no count; the table of every case says why."
    return paragraphs([what, *([lost] if lacking else []), *map(_sentence, run.warnings)])


def _sentence(warning: str) -> str:
    return f"{formats.capital(warning)}."


def has_cycles(estimates: pl.DataFrame) -> bool:
    """Whether any case has cycles, and not instructions alone."""
    return estimates["cycles"].count() > 0


def _trust(run: CountedFacts, estimates: pl.DataFrame) -> str:
    lead = run.words.lead
    if run.evidence == "measured":
        error = "The intervals are the least and the most of the repetitions."
    elif not has_cycles(estimates):
        lead = "Instructions are counted as they ran in the emulator."
        error = "There are no rules of this core that make cycles of them."
    elif run.error_percent is None:
        error = "The rules of this core were compared with no published figure, so no interval is given."
    else:
        error = (
            f"Cycles by the rules of this core were compared with {run.figures} figures that others published: 95 % of "
            f"them lie within {formats.number(run.error_percent, 2)} %. The intervals say that."
        )
    return (
        f"{paragraphs([lead, error])}<h3>Not in these numbers</h3>{bullets(list(run.not_modelled))}"
        f"<h3>What counted</h3>{facts(run.conditions)}{_adapters(run)}"
    )


def _adapters(run: CountedFacts) -> str:
    """Whose the code is that is not the catalogue's, and how it was compiled."""
    if not run.adapters:
        return ""
    body = "".join(
        f'<tr><th scope="row">{text(provider)}</th>' + "".join(cell(one.get(name, "")) for name in ADAPTED) + "</tr>"
        for provider, one in run.adapters.items()
    )
    shown = table("Code of others", ["Provider", *ADAPTED.values()], [f"<tbody>{body}</tbody>"])
    return f"<h3>Code of others</h3>{shown}"


def _tables(run: CountedFacts, groups: Sequence[Group]) -> str:
    if not groups:
        return "<p>No case was counted.</p>"
    first = answering(groups)
    shown = "".join(folded(formats.capital(group.does), _table(group), group is first) for group in groups)
    shared = f" Ciphers that share a place (=) can’t be told apart within {run.words.within}."
    has_places = any(row["tie_group"] is not None for group in groups for row in group.rows)
    return f"<p>Within each group the cheapest stands first.{shared if has_places else ''}</p>{shown}"


def _joules_are(run: CountedFacts, estimates: pl.DataFrame, figures: Mapping[str, MainFigure]) -> str:
    """What the joules rest on, and their figure; nothing without a card."""
    if run.card is None:
        return ""
    kinds = estimates["energy_evidence"].drop_nulls().unique().sort()
    words = (
        f"Joules are {run.words.of_a_part} valued by the card {run.card}, with {run.words.within} and the card’s "
        f"uncertainty{run.words.not_in_joules}."
    )
    drawn = drawn_figure(figures[ENERGY], ENERGY) if ENERGY in figures else ""
    return f"<p>{unbroken(words)} {chip.chips(kinds)}</p>{drawn}"


def _table(group: Group) -> str:
    several = group.has_providers
    columns = taken(group.rows)
    head = ["Cipher", *(["Provider"] if several else []), *heads(columns)]
    body = "".join(
        f'<tr><th scope="row">{text(formats.cipher_name(row["cipher"], row["mode"]))}</th>'
        + (cell(row["provider"]) if several else "")
        + "".join(column.cell(row) for column in columns)
        + "</tr>"
        for row in group.rows
    )
    return table(f"To {group.does}", head, [f"<tbody>{body}</tbody>"])


ADAPTED = {"title": "Is", "licence": "Licence", "compiler": "Compiler", "flags": "Flags", "language": "Language"}
ADAPTED |= {"source": "Source"}
"""What is told of code of others: the record's field, and its column."""

COLUMNS = (
    Column("Does", lambda row: formats.OPERATION_NAMES.get(row["operation"], str(row["operation"]))),
    Column("Payload, B", lambda row: whole(row["payload_B"] or None), "payload_B"),
    Column("State", state_words, kind="state"),
    number("Cycles", "cycles"),
    Column("Cycles per byte", lambda row: formats.number(row["cycles_per_byte"]), "cycles_per_byte"),
    number("Part cycles", "part_cycles"),
    number("Instructions", "instructions"),
    number("Flash, B", "flash_B"),
    number("RAM, B", "ram_B"),
    number("Stack, B", "stack_B"),
    Column(
        "Implementation", lambda row: " ".join(str(row[one]) for one in ("provider", "path", "version") if row[one])
    ),
    Column("Setting", lambda row: ", ".join(departures(row)) or "plain"),
    Column("Case", lambda row: str(row["case"]), "case"),
    Column("Reason", lambda row: row["reason"] or "", kind="reason"),
)


def _cases(run: CountedFacts, estimates: pl.DataFrame) -> str:
    columns = cycles_head([one for one in COLUMNS if not one.number or estimates[one.number].count()], [run.evidence])
    options = "".join(f"<option>{state}</option>" for state in estimates["state"].unique().sort())
    body = "".join(
        f'<tr data-state="{text(row["state"])}"><th scope="row">{text(row["cipher"])}</th>'
        f"{''.join(column.cell(row) for column in columns)}</tr>"
        for row in estimates.iter_rows(named=True)
    )
    head = ["Cipher", *heads(columns)]
    shown = table("Every case of the study", head, [f"<tbody>{body}</tbody>"], "case-table", "sortable")
    return (
        '<form class="filter" role="search"><label>Filter '
        '<input id="filter" type="search" placeholder="aes-128 seal 64 B" autocomplete="off"></label>'
        f'<label>State <select id="state"><option value="">any</option>{options}</select></label>'
        f'<output id="shown" aria-live="polite">{estimates.height:,} cases</output></form>{shown}'
    )


def _method(run: CountedFacts) -> str:
    card = f" --device {run.card}{' --allow-assumed' if run.is_assumed else ''}" if run.card else ""
    own = "".join(f" --library {provider}=FOLDER" for provider in run.adapters)
    repeat = commands([f"wattlock run {run.study} --on {run.on}{own}", f"wattlock report {run.id}{card}"])
    return f"{paragraphs(run.words.steps)}<h3>How to repeat it</h3>{repeat}"
