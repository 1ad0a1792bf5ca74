"""The decision record as one HTML page, with the report's look: works offline, on a phone and on paper."""

from collections.abc import Sequence

from wattlock.advise.record import Section
from wattlock.report.markup import cell, facts, paragraphs, table, text, unbroken
from wattlock.report.page import opening

# Columns that hold sentences and may wrap.
SENTENCES = {"because", "source", "says", "finding", "measure", "looked at", "choice", "design"}


def decision_page(heading: str, parts: Sequence[Section]) -> str:
    """The page as HTML; nothing in it is fetched from elsewhere.

    * `parts`: the first is the answer.
    """
    links = "".join(f'<li><a href="#part-{place}">{text(part.title)}</a></li>' for place, part in enumerate(parts))
    bodies = "".join(_section(place, part) for place, part in enumerate(parts))
    return (
        f"{opening(heading)}"
        f'<a class="skip" href="#part-0">Skip to the answer</a><header><p class="kicker">wattlock</p>'
        f'<h1>{text(heading)}</h1><nav aria-label="On this page"><ul>{links}</ul></nav></header>'
        f"<main>{bodies}</main><footer><p>Made by wattlock advise.</p></footer></body></html>"
    )


def _section(place: int, part: Section) -> str:
    if place == 0 and part.sentences:
        first, *rest = part.sentences
        body = f'<p class="lead">{unbroken(first)}</p>{paragraphs(rest)}'
    else:
        body = paragraphs(part.sentences)
    shown = facts(part.facts) if part.facts else ""
    return (
        f'<section id="part-{place}" aria-labelledby="part-{place}-title">'
        f'<h2 id="part-{place}-title">{text(part.title)}</h2>{body}{shown}{_table(part)}</section>'
    )


def _table(part: Section) -> str:
    if not part.rows:
        return ""
    head = list(part.rows[0])
    body = ("<tr>" + "".join(_cell(name, row.get(name, "")) for name in head) + "</tr>" for row in part.rows)
    return table(part.title, head, body)


def _cell(name: str, value: str) -> str:
    return f'<td class="reason">{text(value)}</td>' if name in SENTENCES else cell(value)
