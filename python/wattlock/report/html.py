"""HTML from values: escaped text, tables, chips of evidence, and the frame of a page with its colours by role.

A colour is a CSS variable, so that pages and charts follow light, dark and paper without being drawn anew. The eight
family colours keep at least 3:1 to their ground (WCAG 2.2, 1.4.11) and were spread apart in OKLab under normal sight
and the three dichromacies of Machado, Oliveira and Fernandes (2009). An evidence chip says by its word, its shape and
its colour what a number rests on: the word is what is read aloud and copied, the shape tells kinds apart on paper too.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from wattlock.report.formats import capital, minus
from wattlock.text import harmless

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


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


def stylesheet(*styles: str) -> str:
    """The style of a page: colours, chips, and the files `styles` beside `page`."""
    return _colours() + _chip_style() + "".join(asset(f"{name}.css") for name in ("page", *styles))


def asset(name: str) -> str:
    """A file of the page's style or script."""
    return files("wattlock").joinpath("data", "report", name).read_text(encoding="utf-8")


def invalid_run(reasons: Sequence[str]) -> str:
    """What a banner says of an invalid run; `reasons`: as of `Result.explained`."""
    first, *others = reasons or ["no reason was recorded"]
    return f"<p><strong>⊘ This run is invalid.</strong> {as_sentence(first)}</p>{spoken(others)}"


def text(value: object) -> str:
    """A value as HTML text, quotes escaped too."""
    return html.escape(harmless(str(value)))


def unbroken(sentence: str) -> str:
    """A sentence as HTML text, its numbers with a minus sign and kept on one line with their units."""
    return text(re.sub(r"(?<=\d) (?=(?:B|µJ|%|GHz)(?!\w))", "\u00a0", minus(sentence)))


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


EVIDENCE_SHAPES = {"measured": "■", "emulated": "◆", "modelled": "▲", "assumed": "▽", "published": "□"}
"""What numbers may rest on, each with its shape: full where wattlock found it, hollow where it was told."""

INVALID = '<span class="invalid-run">⊘ invalid run</span>'
"""What stands in a chip's place where a run's self-check failed: its numbers are no results."""

_FRAME = (
    ".chip{display:inline-block;border:1px solid;border-radius:1em;padding:0 .55em;font-size:.75rem;line-height:1.5;"
    "font-weight:600;letter-spacing:0;white-space:nowrap;vertical-align:.1em;background:var(--paper)}"
)

_INVALID = ".invalid-run{color:var(--loud);font-weight:650;white-space:nowrap}"


def chip(kind: str | None) -> str:
    """The chip of a kind of evidence as HTML; nothing for a number that is not there."""
    return f'<span class="chip" data-evidence="{text(kind)}">{text(kind)}</span>' if kind else ""


def chips(kinds: Iterable[str | None]) -> str:
    """A chip for each of several kinds, once, the best evidence first."""
    order = list(EVIDENCE_SHAPES)
    known = sorted({kind for kind in kinds if kind}, key=lambda kind: (order.index(kind) if kind in order else 9, kind))
    return " ".join(chip(kind) for kind in known)


def _chip_style() -> str:
    """How chips look; the shape is drawn by the style, so that it is neither read aloud nor copied."""
    kinds = "".join(
        f".chip[data-evidence={kind}]{{color:{colour(kind)}}}"
        f'.chip[data-evidence={kind}]::before{{content:"{shape}\\a0";content:"{shape}\\a0"/""}}'
        for kind, shape in EVIDENCE_SHAPES.items()
    )
    return f"{_FRAME}{_INVALID}.chip[data-evidence=assumed]{{border-style:dashed}}{kinds}"


FAMILIES = ("aes", "des", "3des", "rc2", "rc4", "rc5", "rc6", "blowfish")
LIGHT = {
    "paper": "#ffffff",
    "ink": "#1c1f22",
    "muted": "#5a6168",
    "rule": "#dfe2e5",
    "panel": "#f5f6f7",
    "link": "#005baf",
    "loud": "#a61b1b",
    "measured": "#0b6b3a",
    "emulated": "#1f5fa8",
    "modelled": "#7a3a9a",
    "assumed": "#8a4b00",
    "published": "#475569",
    "aes": "#005baf",
    "des": "#dd5610",
    "3des": "#92336d",
    "rc2": "#655004",
    "rc4": "#10966a",
    "rc5": "#8977b7",
    "rc6": "#0096ff",
    "blowfish": "#3f3136",
    "other-1": "#7a7f85",
    "other-2": "#a0522d",
}
DARK = {
    "paper": "#14171a",
    "ink": "#e8eaec",
    "muted": "#a3abb3",
    "rule": "#32383e",
    "panel": "#1d2125",
    "link": "#86b6f2",
    "loud": "#ff9a8f",
    "measured": "#5fd39a",
    "emulated": "#7fb2f5",
    "modelled": "#cfa0ee",
    "assumed": "#f0b45a",
    "published": "#b4bfca",
    "aes": "#649ae2",
    "des": "#e88139",
    "3des": "#dd4581",
    "rc2": "#e0c43a",
    "rc4": "#16cba0",
    "rc5": "#8361ff",
    "rc6": "#acc3ff",
    "blowfish": "#dae5d0",
    "other-1": "#9aa1a8",
    "other-2": "#cf8a62",
}
CATEGORY = (*FAMILIES, "other-1", "other-2")
Row = dict[str, Any]
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"


def _colours() -> str:
    """The colours as CSS variables: light, and dark where the reader's system asks for it on a screen."""
    light, dark = (";".join(f"--{role}:{colour}" for role, colour in side.items()) for side in (LIGHT, DARK))
    return f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"


def colour(role: str) -> str:
    """The CSS variable of a role."""
    return f"var(--{role})"


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its head, the words in a row or its HTML, and, where it holds numbers, the column that sorts it."""

    head: str
    shown: Callable[[Row], str]
    number: str = ""
    kind: str = ""
    html: Callable[[Row], str] | None = None

    def cell(self, row: Row) -> str:
        """The HTML of the case in this row; an empty number has nothing to be sorted by."""
        value = row[self.number] if self.number else None
        attributes = f' data-v="{value:.6g}"' if value is not None else ""
        if self.number or self.kind:
            attributes += f' class="{self.kind or "n"}"'
        return f"<td{attributes}>{self.html(row) if self.html else text(self.shown(row))}</td>"
