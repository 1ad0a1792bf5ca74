"""The pages of a lab, as HTML from rows: every text that comes from a run is escaped here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache
from typing import Any
from urllib.parse import urlencode

import polars as pl
from fastapi import Request

from wattlock.errors import WattlockError
from wattlock.lab.collection import Filter
from wattlock.lab.drawing import Drawn
from wattlock.lab.tables import Run
from wattlock.report import chip, formats
from wattlock.report import page as report_page
from wattlock.report.markup import bullets, cell, commands, facts, paragraphs, table, text

LATEST = 10
ALIKE = "Runs are of one device where hardware, instruction set, card and evidence agree, whatever it is called."
SHORT_HASH = 12
NAVIGATION = {
    "/": "Overview",
    "/runs": "Runs",
    "/compare": "Compare",
    "/queue": "Queue",
    "/measure-this-device": "Measure",
}
SCRIPTS = ("filter", "compare", "sort", "folds", "queue")
STYLE = "lab.css"
FIELDS: tuple[str, ...] = (
    "hash",
    "id",
    "study",
    "title",
    "created",
    "arrived",
    "device",
    "device_name",
    "card",
    "way",
    "evidence",
)
FIELDS += ("energy_evidence", "is_counted", "cases", "with_number", "processes", "probe_sha256", "wattlock", "size_B")
"""What of a run is given as data, with its libraries and the reasons why it is invalid."""


def wants_html(request: Request) -> bool:
    """Whether a browser asks for a page, rather than a program for data."""
    return "text/html" in request.headers.get("accept", "")


@cache
def asset(name: str) -> str | None:
    """The style, or a script of the report; null for anything else."""
    if name == STYLE:
        return report_page.stylesheet("compare", "lab")
    return report_page.asset(name) if name in {f"{one}.js" for one in SCRIPTS} else None


def overview(devices: Sequence[Mapping[str, Any]], latest: Sequence[Run], runs: int, address: str) -> str:
    """The first page: what was measured on, and what came last; an empty lab says how to fill it."""
    if not runs:
        return page("A lab without runs", "", _empty(address), here="/")
    line = f"{_counted(runs, 'run')} of {_counted(len(devices), 'device')}"
    more = f'<p><a href="/runs">All {runs:,} runs</a></p>' if runs > len(latest) else ""
    body = section("devices", "Devices", _devices(devices) + _also("/devices"))
    body += section("latest", "Latest runs", _runs(latest) + more)
    return page("Overview", line, body, here="/")


def _empty(address: str) -> str:
    told = paragraphs(
        [
            "No run is here yet. Measure on any machine that has wattlock, and push the run; then this page shows "
            "the devices, and the runs can be compared.",
        ]
    )
    return section("fill", "Fill it", told + commands(["wattlock run quick", f"wattlock push last --to {address}"]))


def _devices(devices: Sequence[Mapping[str, Any]]) -> str:
    rows = (
        f'<tr><th scope="row"><a href="/runs?device={text(one["device"])}">{text(one["name"])}</a></th>'
        f"<td>{chip.chip(one['evidence'])}</td>{cell(one['card'] or formats.MISSING)}"
        f"{cell(format(one['runs'], ','), True)}{cell(format(one['studies'], ','), True)}"
        f"{cell(_moment(one['latest']))}<td><code>{text(one['device'])}</code></td></tr>"
        for one in devices
    )
    head = ["Device", "Evidence", "Card", "#Runs", "#Studies", "Latest", "Fingerprint"]
    return paragraphs([ALIKE]) + table(
        "Each device with its runs", head, ["<tbody>", *rows, "</tbody>"], kind="sortable"
    )


def runs(
    found: Sequence[Run], wanted: Filter, choices: Mapping[str, list[str]], devices: Sequence[Mapping[str, Any]]
) -> str:
    """The runs that a filter keeps, with the filter."""
    labelled = {one["device"]: f"{one['name']} ({one['evidence']}, {one['device'][:6]})" for one in devices}
    fields = _choice("device", "Device", labelled, wanted.device)
    for name in ("study", "library", "evidence"):
        fields += _choice(name, name.capitalize(), {one: one for one in choices[name]}, getattr(wanted, name))
    form = f'<form class="filter" action="/runs">{fields}<button>Show</button></form>'
    asked = urlencode({name: value for name, value in vars(wanted).items() if value})
    shown = _pickable(found) if found else "<p>No run is like that.</p>"
    return page("Runs", _counted(len(found), "run"), form + shown + _also("/runs", asked), here="/runs")


def _choice(name: str, label: str, values: Mapping[str, str], chosen: str | None) -> str:
    options = "".join(
        f'<option value="{text(value)}"{" selected" if value == chosen else ""}>{text(shown)}</option>'
        for value, shown in values.items()
    )
    return f'<label>{label} <select name="{name}"><option value="">any</option>{options}</select></label>'


def choose(found: Sequence[Run], picked: Set[str]) -> str:
    """Where nothing is picked yet to be compared."""
    if len(found) < 2:
        return page("Compare", "It takes two runs", '<p>Push a second one: <a href="/">how</a>.</p>', here="/compare")
    line = "Pick two runs or more; the first picked in the list is what the others are compared with."
    return page("Compare", line, _pickable(found, picked), here="/compare")


def _pickable(found: Sequence[Run], picked: Set[str] = frozenset()) -> str:
    return f'<form action="/compare">{_runs(found, picked)}<p><button>Compare the picked runs</button></p></form>'


def _runs(found: Sequence[Run], picked: Set[str] | None = None) -> str:
    """A row a run; with a box to pick it where `picked` is given."""

    def row(run: Run) -> str:
        checked = " checked" if picked and run.hash in picked else ""
        name = f"Pick {text(run.id)}"
        tick = f'<td><input type="checkbox" name="run" value="{run.hash}" aria-label="{name}"{checked}></td>'
        box = "" if picked is None else tick
        state = "⊘ invalid" if run.reasons else f"{run.with_number:,} of {run.cases:,}"
        return (
            f'<tr>{box}<th scope="row"><a href="/runs/{run.hash}">{text(run.id)}</a></th>'
            f"{cell(run.study)}{cell(run.device_name)}<td>{chip.chip(run.evidence)}</td>"
            f"<td>{chip.chip(run.energy_evidence) or formats.MISSING}</td>{cell(', '.join(_libraries(run)))}"
            f"{cell(state, True)}{cell(_moment(run.created))}</tr>"
        )

    head = ["Run", "Study", "Device", "Evidence", "Joules", "Libraries", "#Cases with a number", "Begun"]
    head = head if picked is None else ["Pick", *head]
    return table("Runs, the latest first", head, ["<tbody>", *map(row, found), "</tbody>"], kind="sortable picked")


def run(found: Run, drawn: Drawn) -> str:
    """One run: what it is, and the sections of its report."""
    known = [
        ("Device", f"{found.device_name}, fingerprint {found.device}"),
        ("Begun", _moment(found.created)),
        ("Arrived", _moment(found.arrived)),
        ("Libraries", ", ".join(_libraries(found))),
        ("Run", found.id),
        ("Hash", found.hash),
    ]
    invalid = ""
    if found.reasons:
        why = bullets([reason.text for reason in found.reasons])
        words = (
            "<p><strong>⊘ This run is invalid.</strong> Its numbers are not results, so none is shown; "
            "JSON and CSV hold them, with <code>run_is_valid</code> beside them.</p>"
        )
        invalid = f'<div class="banner" role="alert">{words}{why}</div>'
    own = f"/runs/{found.hash}"
    links = (
        f'<p class="links"><a href="{own}/report">The whole report</a> <a href="{own}.json">JSON</a> '
        f'<a href="{own}.csv">CSV</a> <a href="{own}/pack" download="{found.hash[:SHORT_HASH]}.tar">The sealed run</a> '
        f'<a href="/compare?run={found.hash}">Compare it</a> '
        f'<a href="/runs?device={found.device}">Runs of this device</a></p>'
    )
    body = invalid + links + drawn.sections + section("run", "The run", facts(known))
    return page(drawn.title, drawn.line, body, scripts=drawn.scripts)


def compare(found: Sequence[Run], drawn: Drawn) -> str:
    """Runs against the first."""
    asked = urlencode([("run", one.hash) for one in found])
    links = "".join(
        f'<li><a href="/runs/{one.hash}">{text(one.id)}</a> {chip.chip(one.evidence)}</li>' for one in found
    )
    body = f'<ul class="links">{links}</ul>{drawn.sections}{_also("/compare", asked)}'
    return page(drawn.title, drawn.line, body, scripts=drawn.scripts)


def login(refused: WattlockError | None = None) -> str:
    """Asks for a token; below why the last one was refused."""
    form = _token_form("/login", "Open the lab", refused)
    return page("Log in", "This lab needs a token that reads.", form, is_inside=False)


def measure_door(place: str, refused: WattlockError | None = None) -> str:
    """Asks for a token before a device may measure itself."""
    form = _token_form(place, "Go on to the page", refused)
    return page(
        "Measure this device", "The lab takes what is measured from who has a token that sends.", form, here=place
    )


def _token_form(place: str, button: str, refused: WattlockError | None) -> str:
    alert = _told(refused.message, refused.hint) if refused else ""
    return (
        f'{alert}<form class="filter" method="post" action="{place}"><label>Token '
        '<input name="token" type="password" autocomplete="current-password" required></label>'
        f"<button>{button}</button></form>"
    )


def refusal(error: str, hint: str) -> str:
    """An error for a browser."""
    back = '<p class="links"><a href="/">The first page</a></p>'
    return page("That did not work", "", _told(error, hint) + back, is_inside=False)


def _told(error: str, hint: str) -> str:
    """An error and its hint as two paragraphs; what stands in backticks is code."""
    lines = (text(line[:1].upper() + line[1:]) for line in (error, hint))
    error, hint = (re.sub("`([^`]+)`", r"<code>\1</code>", line) for line in lines)
    return f'<p role="alert" class="refused">{error}</p><p>{hint}</p>'


def cases_frame(run: Run) -> pl.DataFrame:
    """A row a case of a run, as data: that of an invalid run says so, as `wattlock export` does."""
    cases = pl.read_parquet(run.estimates)
    about = (pl.lit(run.id).alias("run"), pl.lit(not run.reasons).alias("run_is_valid"))
    return cases.select(*about, *cases.columns)


def runs_frame(found: Sequence[Run]) -> pl.DataFrame:
    """A row a run, as data."""
    rows = [
        {name: getattr(run, name) for name in FIELDS}
        | {"libraries": _libraries(run), "reasons": [reason.text for reason in run.reasons]}
        for run in found
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _libraries(run: Run) -> list[str]:
    return [library.name for library in run.libraries]


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _moment(iso: str) -> str:
    return formats.day_and_time(iso)


def _also(address: str, asked: str = "") -> str:
    """The same as data."""
    end = f"?{text(asked)}" if asked else ""
    return f'<p class="links"><a href="{address}.json{end}">JSON</a> <a href="{address}.csv{end}">CSV</a></p>'


def section(name: str, title: str, body: str) -> str:
    """A section with its heading."""
    return f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{title}</h2>{body}</section>'


def page(
    title: str, line: str, body: str, *, here: str = "", scripts: Sequence[str] = ("sort",), is_inside: bool = True
) -> str:
    """A page: nothing in it is fetched but the lab's own style and scripts."""
    return "".join(_parts(title, line, body, here=here, scripts=scripts, is_inside=is_inside))


def _parts(title: str, line: str, body: str, *, here: str, scripts: Sequence[str], is_inside: bool) -> Iterator[str]:
    current = {here: ' aria-current="page"'}
    links = "".join(
        f'<li><a href="{address}"{current.get(address, "")}>{name}</a></li>' for address, name in NAVIGATION.items()
    )
    yield (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
        f'<link rel="stylesheet" href="/assets/{STYLE}"><title>{text(title)}: wattlock lab</title></head><body>'
        '<a class="skip" href="#main">Skip to the page</a><header><p class="kicker">wattlock <span>lab</span></p>'
    )
    if is_inside:
        yield f'<nav aria-label="The lab"><ul>{links}</ul></nav>'
    yield f"<h1>{text(title)}</h1>"
    if line:
        yield f'<p class="question">{text(line)}</p>'
    yield f'</header><main id="main" tabindex="-1">{body}</main>'
    yield "".join(f'<script src="/assets/{name}.js" defer></script>' for name in scripts)
    yield "</body></html>"
