"""What all pages of a lab have in common: the frame around them, sections, links to data, and how an error looks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from fastapi import Request

from wattlock.report import formats, html
from wattlock.report.html import commands, text

NAVIGATION = {
    "/": "Overview",
    "/devices": "Devices",
    "/runs": "Runs",
    "/compare": "Compare",
    "/change": "Over time",
    "/papers": "Papers",
    "/advise": "Advice",
    "/plan": "Planner",
    "/queue": "Queue",
    "/measure-this-device": "Measure",
}
SCRIPTS = ("filter", "compare", "sort", "folds", "queue")
STYLE = "lab.css"
STYLES = ("decision",)
"""Of the report's styles those that some pages have beside it."""


def wants_html(request: Request) -> bool:
    """Whether a browser asks for a page, rather than a program for data."""
    return "text/html" in request.headers.get("accept", "")


@cache
def asset(name: str) -> str | None:
    """The style, or a script of the report; null for anything else."""
    if name == STYLE:
        return html.stylesheet("compare", "lab")
    known = {f"{asset_name}.js" for asset_name in SCRIPTS} | {f"{asset_name}.css" for asset_name in STYLES}
    return html.asset(name) if name in known else None


def told(error: str, hint: str) -> str:
    """An error and its hint as two paragraphs; what stands in backticks is code."""
    lines = (text(line[:1].upper() + line[1:]) for line in (error, hint))
    error, hint = (re.sub("`([^`]+)`", r"<code>\1</code>", line) for line in lines)
    return f'<p role="alert" class="refused">{error}</p><p>{hint}</p>'


def choice(name: str, label: str, values: Mapping[str, str], chosen: str | None, *, none: str = "any") -> str:
    """A field of a form that takes one of several values; `none`: the word for no value, empty where one is needed."""
    options = "".join(
        f'<option value="{text(value)}"{" selected" if value == chosen else ""}>{text(shown)}</option>'
        for value, shown in values.items()
    )
    nothing = f'<option value="">{none}</option>' if none else ""
    return f'<label>{label} <select name="{name}">{nothing}{options}</select></label>'


def counted(number: int, what: str) -> str:
    """A number of things: `3 runs`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def moment(iso: str) -> str:
    """A moment as people read it."""
    return formats.day_and_time(iso)


def also(address: str, query: str = "") -> str:
    """The same as data."""
    end = f"?{text(query)}" if query else ""
    return f'<p class="links"><a href="{address}.json{end}">JSON</a> <a href="{address}.csv{end}">CSV</a></p>'


def address_of_lab(request: Request) -> str:
    """The lab's own address, as who asks has it."""
    # By no other header of a proxy is anything decided: this one changes what its own sender reads.
    scheme = "https" if request.headers.get("x-forwarded-proto") == "https" else request.url.scheme
    return str(request.base_url.replace(scheme=scheme)).rstrip("/")


def pushed(measured: str, address: str) -> str:
    """The commands that measure, and send the run to the lab of this address."""
    return commands([measured, f"wattlock push last --to {address}"])


def section(name: str, title: str, body: str) -> str:
    """A section of a page under its title."""
    return f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{title}</h2>{body}</section>'


def page(
    title: str,
    line: str,
    body: str,
    *,
    here: str = "",
    scripts: Sequence[str] = ("sort",),
    styles: Sequence[str] = (),
    is_inside: bool = True,
) -> str:
    """A page: nothing in it is fetched but the lab's own styles and scripts."""
    return "".join(_head(title, styles)) + "".join(
        _parts(title, line, body, here=here, scripts=scripts, is_inside=is_inside)
    )


def _head(title: str, styles: Sequence[str]) -> Iterator[str]:
    yield (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
    )
    # Behind what it shares with others: the lab's own style has the last word.
    for sheet in (*(f"{name}.css" for name in styles), STYLE):
        yield f'<link rel="stylesheet" href="/assets/{sheet}">'
    yield f"<title>{text(title)}: wattlock lab</title></head><body>"


def _parts(title: str, line: str, body: str, *, here: str, scripts: Sequence[str], is_inside: bool) -> Iterator[str]:
    current = {here: ' aria-current="page"'}
    links = "".join(
        f'<li><a href="{address}"{current.get(address, "")}>{name}</a></li>' for address, name in NAVIGATION.items()
    )
    yield ('<a class="skip" href="#main">Skip to the page</a><header><p class="kicker">wattlock <span>lab</span></p>')
    if is_inside:
        yield f'<nav aria-label="The lab"><ul>{links}</ul></nav>'
    yield f"<h1>{text(title)}</h1>"
    if line:
        yield f'<p class="question">{text(line)}</p>'
    yield f'</header><main id="main" tabindex="-1">{body}</main>'
    yield "".join(f'<script src="/assets/{name}.js" defer></script>' for name in scripts)
    yield "</body></html>"
