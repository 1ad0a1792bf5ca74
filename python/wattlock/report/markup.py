"""HTML from values: everything that comes from a run is escaped here."""

import html
from collections.abc import Iterable, Sequence


def text(value: object) -> str:
    """A value as HTML text, quotes escaped too."""
    return html.escape(str(value))


def paragraphs(sentences: Iterable[str]) -> str:
    """One paragraph for each text."""
    return "".join(f"<p>{text(sentence)}</p>" for sentence in sentences)


def bullets(items: Sequence[str]) -> str:
    """A list of texts; nothing for none."""
    return f"<ul>{''.join(f'<li>{text(item)}</li>' for item in items)}</ul>" if items else ""


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Labels with their values."""
    return f"<dl>{''.join(f'<div><dt>{text(label)}</dt><dd>{text(value)}</dd></div>' for label, value in pairs)}</dl>"


def commands(lines: Sequence[str]) -> str:
    """Command lines to copy; in a scrolling box that the keyboard reaches."""
    return f'<pre tabindex="0" role="region" aria-label="Commands"><code>{text(chr(10).join(lines))}</code></pre>'


def folded(summary: str, inside: str, is_open: bool = False) -> str:
    """HTML behind a summary line that opens it."""
    return f"<details{' open' if is_open else ''}><summary>{text(summary)}</summary>{inside}</details>"


def cell(value: str, is_number: bool = False, sort_by: float | None = None) -> str:
    """One table cell, empty text as a dash; `sort_by` is what a sorted column compares instead of the text."""
    attributes = ' class="n"' if is_number else ""
    if sort_by is not None:
        attributes += f' data-v="{sort_by:.6g}"'
    return f"<td{attributes}>{text(value)}</td>"


def table(caption: str, head: Sequence[str], body: Iterable[str], name: str = "") -> str:
    """A table in a scrolling box that the keyboard reaches.

    * `head`: column titles; one that starts with "#" heads numbers. * `body`: the HTML of the rows or row groups.
    * `name`: the id of the table, where the page's script is to find it.
    """
    cells = "".join(f'<th scope="col"{_numeric(title)}>{text(title.removeprefix("#"))}</th>' for title in head)
    identity = f' id="{name}"' if name else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{text(caption)}"><table{identity}>'
        f"<caption>{text(caption)}</caption><thead><tr>{cells}</tr></thead>{''.join(body)}</table></div>"
    )


def _numeric(title: str) -> str:
    return ' class="n"' if title.startswith("#") else ""
