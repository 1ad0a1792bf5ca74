"""HTML from values: everything that comes from a run is escaped here."""

import html
import json
import re
from collections.abc import Iterable, Sequence

from wattlock.report.formats import capital, minus
from wattlock.text import harmless


def text(value: object) -> str:
    """A value as HTML text, quotes escaped too."""
    return html.escape(harmless(str(value)))


def unbroken(sentence: str) -> str:
    """A sentence as HTML text, its numbers with a minus sign and kept on one line with their units."""
    return text(re.sub(r"(?<=\d) (?=(?:B|µJ|%|GHz)(?!\w))", "\u00a0", minus(sentence)))


def island(name: str, data: object) -> str:
    """Data for the page's script; no text in it can end the element."""
    written = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" class="{name}">{harmless(written, in_json=True)}</script>'


def paragraphs(sentences: Iterable[str]) -> str:
    """One paragraph for each text."""
    return "".join(f"<p>{unbroken(sentence)}</p>" for sentence in sentences)


def bullets(items: Sequence[str]) -> str:
    """A list of texts; nothing for none."""
    return f"<ul>{''.join(f'<li>{unbroken(item)}</li>' for item in items)}</ul>" if items else ""


def spoken(items: Sequence[str]) -> str:
    """A list of texts as whole sentences, what stands in backquotes as code; nothing for none."""
    return f"<ul>{''.join(f'<li>{as_sentence(item)}</li>' for item in items)}</ul>" if items else ""


def as_sentence(item: str) -> str:
    """A text as a whole sentence of HTML, what stands in backquotes as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", unbroken(f"{capital(item).rstrip('.')}."))


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Labels with their values."""
    return (
        f"<dl>{''.join(f'<div><dt>{text(label)}</dt><dd>{unbroken(value)}</dd></div>' for label, value in pairs)}</dl>"
    )


def commands(lines: Sequence[str], label: str = "Commands") -> str:
    """Lines to copy, called `label`; in a scrolling box that the keyboard reaches."""
    return f'<pre tabindex="0" role="region" aria-label="{text(label)}"><code>{text(chr(10).join(lines))}</code></pre>'


def folded(summary: str, inside: str, is_open: bool = False) -> str:
    """HTML behind a summary line that opens it."""
    return f"<details{' open' if is_open else ''}><summary>{text(summary)}</summary>{inside}</details>"


def filter_form(column: str, options: Iterable[str], count: int, example: str) -> str:
    """The form that filters a table by a text, and by the values of a column; `count`: the rows; `example`: a text."""
    values = "".join(f"<option>{value}</option>" for value in options)
    return (
        '<form class="filter" role="search"><label>Filter '
        f'<input id="filter" type="search" placeholder="{example}" autocomplete="off"></label>'
        f'<label>{column} <select id="state"><option value="">any</option>{values}</select></label>'
        f'<output id="shown" aria-live="polite">{count:,} cases</output></form>'
    )


def cell(value: str, is_number: bool = False) -> str:
    """One table cell."""
    attributes = ' class="n"' if is_number else ""
    return f"<td{attributes}>{text(minus(value))}</td>"


def table(caption: str, head: Sequence[str], body: Iterable[str], name: str = "", kind: str = "") -> str:
    """A table in a scrolling box that the keyboard reaches.

    * `head`: column titles; one that starts with "#" heads numbers. * `body`: the HTML of the rows or row groups.
    * `name`: the id of the table, where the page's script is to find it; `kind`: its classes.
    """
    cells = "".join(f'<th scope="col"{_numeric(title)}>{text(title.removeprefix("#"))}</th>' for title in head)
    identity = (f' id="{name}"' if name else "") + (f' class="{kind}"' if kind else "")
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{text(caption)}"><table{identity}>'
        f"<caption>{text(caption)}</caption><thead><tr>{cells}</tr></thead>{''.join(body)}</table></div>"
    )


def _numeric(title: str) -> str:
    return ' class="n"' if title.startswith("#") else ""
