"""The decision record as one HTML page, with the report's look: works offline, on a phone and on paper."""

from __future__ import annotations

import re
from collections.abc import Sequence

from wattlock.advise.record import Cell, Figure, Link, Section, SplitFigure, caption
from wattlock.report.chip import SHAPES, chip
from wattlock.report.decision_figures import drawn
from wattlock.report.markup import bullets, paragraphs, table, text, unbroken
from wattlock.report.run_page import opening

# Columns that hold sentences and may wrap.
SENTENCES = {"because", "source", "says", "finding", "measure", "looked at", "choice", "design"}
SENTENCES |= {"way", "counted on", "implementation", "number"}
# Sentences that stand as paragraphs; more are a list.
LISTED = 4
APPENDIX = '<p class="kicker">Appendix</p>'
NOT_ON_PAPER = "On paper the record ends here; the file holds beside it: "


def decision_page(heading: str, parts: Sequence[Section]) -> str:
    """The page as HTML; nothing in it is fetched from elsewhere.

    * `parts`: the first is the decision.
    """
    return (
        f"{opening(heading, 'decision')}"
        f'<a class="skip" href="#{_name(parts[0])}">Skip to the decision</a><header><p class="kicker">wattlock</p>'
        f"<h1>{text(heading)}</h1>{_navigation(parts)}</header><main>{_sections(parts)}</main>"
        "<footer><p>Made by wattlock advise.</p></footer></body></html>"
    )


def inside(parts: Sequence[Section]) -> str:
    """The record without its head, as HTML for a page that has its own."""
    return _navigation(parts) + _sections(parts)


def _navigation(parts: Sequence[Section]) -> str:
    record, appendix = _parted(parts)
    return _links("On this page", record) + _links("Appendix", appendix)


def _sections(parts: Sequence[Section]) -> str:
    record, appendix = _parted(parts)
    left = f'<p class="on-paper">{text(NOT_ON_PAPER + ", ".join(part.title for part in appendix))}.</p>'
    return (
        f"{''.join(map(_section, record))}{left if appendix else ''}"
        f'<div class="appendix">{APPENDIX if appendix else ""}{"".join(map(_section, appendix))}</div>'
    )


def _parted(parts: Sequence[Section]) -> tuple[list[Section], list[Section]]:
    """What stands on the record's paper, and behind it."""
    return [part for part in parts if not part.appendix], [part for part in parts if part.appendix]


def _links(label: str, parts: Sequence[Section]) -> str:
    links = "".join(f'<li><a href="#{_name(part)}">{text(part.title)}</a></li>' for part in parts)
    return f'<nav aria-label="{label}"><ul>{links}</ul></nav>' if links else ""


def _name(part: Section) -> str:
    return re.sub(r"[^a-z0-9]+", "-", part.title.lower()).strip("-")


def _section(part: Section) -> str:
    name = _name(part)
    sentences = bullets(part.sentences) if len(part.sentences) > LISTED else paragraphs(part.sentences)
    if name == "decision":
        sentences = f'<p class="lead">{unbroken(" ".join(part.sentences))}</p>'
    body = f"<div>{sentences}{_facts(part.facts)}</div>"
    if part.figures:
        body = f'<div class="beside">{body}{"".join(_figure(*item) for item in part.figures.items())}</div>'
    return (
        f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{text(part.title)}</h2>'
        f"{body}{_table(part)}</section>"
    )


def _facts(pairs: Sequence[tuple[str, str]]) -> str:
    rows = "".join(f"<div><dt>{text(label)}</dt><dd>{_value(value)}</dd></div>" for label, value in pairs)
    return f"<dl>{rows}</dl>" if rows else ""


def _value(value: str) -> str:
    return chip(value) if value in SHAPES else unbroken(value)


def _figure(name: str, figure: Figure) -> str:
    title, note = caption(figure)
    # The legend tells the shares; the sentence is for Markdown and for those who don't see the drawing.
    note = f"With {figure.of}." if isinstance(figure, SplitFigure) else note
    return (
        f'<figure class="{name}"><figcaption><strong>{text(title)} {chip(figure.kind)}</strong> '
        f'<span class="quiet">{unbroken(note)}</span></figcaption>{drawn(figure)}</figure>'
    )


def _table(part: Section) -> str:
    if not part.rows:
        return ""
    head = list(part.rows[0])
    body = (
        "<tr>" + "".join(_cell(place, name, row.get(name, "")) for place, name in enumerate(head)) + "</tr>"
        for row in part.rows
    )
    return table(f"Table: {part.title}", head, [f"<tbody>{''.join(body)}</tbody>"])


def _cell(place: int, name: str, value: Cell) -> str:
    kind = ' class="reason"' if name in SENTENCES else ""
    inside = _link(value) if isinstance(value, Link) else _value(value)
    return f'<th scope="row"{kind}>{inside}</th>' if place == 0 else f"<td{kind}>{inside}</td>"


def _link(to: Link) -> str:
    return f'<a href="{text(to.address)}">{text(to.words)}</a>'
