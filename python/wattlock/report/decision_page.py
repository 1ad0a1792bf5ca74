"""The decision record as one HTML page, with the report's look: works offline, on a phone and on paper."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from wattlock.advise.record import Cell, DaysBar, DaysFigure, Figure, Link, Section, SplitFigure, caption
from wattlock.report import formats
from wattlock.report.drawings import SMALL, WIDTH, Sheet, width_of
from wattlock.report.html import EVIDENCE_SHAPES, bullets, chip, colour, opening, paragraphs, table, text, unbroken

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
    return chip(value) if value in EVIDENCE_SHAPES else unbroken(value)


def _figure(name: str, figure: Figure) -> str:
    title, note = caption(figure)
    # The legend tells the shares; the sentence is for Markdown and for those who don't see the drawing.
    note = f"With {figure.of}." if isinstance(figure, SplitFigure) else note
    return (
        f'<figure class="{name}"><figcaption><strong>{text(title)} {chip(figure.kind)}</strong> '
        f'<span class="quiet">{unbroken(note)}</span></figcaption>{decision_figure(figure)}</figure>'
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


LEFT, RIGHT, ROW, TOP = 8, 12, 31, 26
BAR_HEIGHT, BAR_GAP = 26, 1.5
SWATCH, LEGEND_ROW = 11, 19
PLOT = WIDTH - LEFT - RIGHT
HOURS_BELOW_DAYS = 2
TICKS = 5
PARTS = {
    "cipher": "loud",
    "radio": "aes",
    "handshakes": "rc6",
    "keeping the link": "rc4",
    "wake-ups": "rc5",
    "sleep and idling": "rc2",
    "supply stage": "des",
    "self-discharge": "other-1",
}
"""Parts of the energy, and the colours that stand for them."""


def decision_figure(figure: Figure) -> str:
    """A figure as SVG in the page's colours."""
    return _days(figure) if isinstance(figure, DaysFigure) else _split(figure)


def _days(figure: DaysFigure) -> str:
    ends = [bar.high for bar in figure.bars]
    in_hours = max(ends) < HOURS_BELOW_DAYS
    times, unit = (24.0, "hours") if in_hours else (1.0, "days")
    most = max(*ends, figure.without) * times
    sheet = Sheet(caption(figure)[0], "; ".join(_described(bar, times, unit) for bar in figure.bars))
    foot = TOP + ROW * len(figure.bars) + 4
    for tick in _ticks(most):
        x = _x(tick, most)
        sheet.line([(x, TOP - 4), (x, foot)], "rule")
        anchor = "start" if tick == 0 else "middle"
        sheet.words(x, foot + 14, f"{tick:,g}", anchor, "muted", SMALL)
    sheet.words(WIDTH - RIGHT, foot + 30, f"{unit} of battery", "end", "muted", SMALL)
    _reference(sheet, figure.without * times, most, foot)
    for number, bar in enumerate(figure.bars):
        _bar(sheet, bar, TOP + ROW * number, times, most)
    return sheet.svg()


def _described(bar: DaysBar, times: float, unit: str) -> str:
    middle, low, high = (formats.number(value * times) for value in (bar.days, bar.low, bar.high))
    return f"{bar.name}{', decided' if bar.decided else ''}: {middle} {unit}, {low} to {high}"


def _x(value: float, most: float) -> float:
    return LEFT + PLOT * value / most


def _ticks(most: float) -> list[float]:
    """Whole steps of 1, 2 or 5 times a power of ten, from 0, some five of them."""
    rough = most / TICKS
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(step * size for step in (1, 2, 5, 10) if step * size >= rough)
    return [step * number for number in range(int(most / step) + 1)]


def _reference(sheet: Sheet, value: float, most: float, foot: float) -> None:
    x = _x(value, most)
    sheet.parts.append(
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 8}" y2="{foot}" stroke="{colour("ink")}" stroke-dasharray="3 3"/>'
    )
    anchor = "end" if x > WIDTH / 2 else "start"
    sheet.words(x, TOP - 13, f"no cryptography: {formats.number(value)}", anchor, "ink", SMALL)


def _bar(sheet: Sheet, bar: DaysBar, top: float, times: float, most: float) -> None:
    role = "link" if bar.decided else "muted"
    middle, low, high = (formats.number(value * times) for value in (bar.days, bar.low, bar.high))
    value = f"{middle} ({low} to {high})"
    _on_ground(sheet, LEFT, top + 11, _fitting(bar.name, PLOT - width_of(value, SMALL)), "start", bar.decided)
    _on_ground(sheet, WIDTH - RIGHT, top + 11, value, "end", bar.decided)
    y = top + 20
    left, x, right = (_x(value * times, most) for value in (bar.low, bar.days, bar.high))
    sheet.parts.append(
        f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{y}" y2="{y}" stroke="{colour(role)}" stroke-width="3"/>'
        f'<circle cx="{x:.1f}" cy="{y}" r="5" fill="{colour(role if bar.decided else "paper")}" '
        f'stroke="{colour(role)}" stroke-width="2"/>'
    )


def _fitting(words: str, room: float) -> str:
    """A name, its end cut where it has no room."""
    while width_of(words, SMALL) > room:
        words = f"{words.removesuffix('…')[:-1]}…"
    return words


def _on_ground(sheet: Sheet, x: float, y: float, words: str, anchor: str, strong: bool) -> None:  # noqa: PLR0917 - as Sheet.words
    """Words that lines behind them don't cross."""
    before = len(sheet.parts)
    sheet.words(x, y, words, anchor, "ink", SMALL)
    weight = ' font-weight="700"' if strong else ""
    sheet.parts[before] = sheet.parts[before].replace(
        "<text ", f'<text paint-order="stroke" stroke="{colour("paper")}" stroke-width="4"{weight} ', 1
    )


def _split(figure: SplitFigure) -> str:
    sheet = Sheet(*caption(figure))
    x, whole = float(LEFT), WIDTH - LEFT - RIGHT
    for name, share in figure.shares:
        width = whole * share
        if width > BAR_GAP:
            sheet.parts.append(
                f'<rect x="{x:.2f}" y="4" width="{width - BAR_GAP:.2f}" height="{BAR_HEIGHT}" '
                f'fill="{colour(PARTS[name])}"/>'
            )
        x += width
    top = BAR_HEIGHT + 22
    for number, (name, share) in enumerate(figure.shares):
        left = LEFT + (number % 2) * WIDTH / 2
        y = top + number // 2 * LEGEND_ROW
        sheet.parts.append(
            f'<rect x="{left:g}" y="{y - SWATCH + 1}" width="{SWATCH}" height="{SWATCH}" fill="{colour(PARTS[name])}"/>'
        )
        sheet.words(left + SWATCH + 6, y, f"{name} {_share(share)}", size=SMALL)
    return sheet.svg()


def _share(share: float) -> str:
    return "<0.1 %" if share < SMALLEST_SHARE else f"{100 * share:.1f} %"


SMALLEST_SHARE = 0.0005
