"""The pages of a lab, as HTML from rows: every text that comes from a run is escaped here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from itertools import groupby
from typing import Any
from urllib.parse import urlencode, urlsplit

import polars as pl
from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from wattlock import extras
from wattlock.errors import WattlockError
from wattlock.lab import devices_page, log_page, papers_answers, questions_page, tokens
from wattlock.lab.collection import DEVICE_FIELDS, Filter, NoSuchRun
from wattlock.lab.database import RunRow
from wattlock.lab.devices_page import ALIKE
from wattlock.lab.doors import Lab, Reader, allowed, written
from wattlock.lab.drawn_runs import Drawn
from wattlock.lab.layout import address_of_lab, also, choice, counted, moment, page, pushed, section, told
from wattlock.lab.tokens import Scope
from wattlock.report import formats
from wattlock.report.html import EVIDENCE_SHAPES, INVALID, cell, chip, facts, invalid_run, paragraphs, table, text

LATEST, LATEST_OF_LIST = 10, 100
"""Runs of the first page, and of the page of runs until it is asked for all."""
SHORT_HASH = 12
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
"""What of a run is given as data, behind its state, with its libraries and the reasons why it is invalid."""


def overview(
    devices: Sequence[Mapping[str, Any]], latest: Sequence[RunRow], address: str, *, are_examples: bool
) -> str:
    """The first page: what was measured on, and what came last; a new lab says how to fill it.

    * `are_examples`: whether all there is comes with wattlock.
    """
    runs = sum(device["runs"] for device in devices)
    if not runs:
        return page("A lab without runs", "", _empty(EMPTY, address), here="/")
    line = f"{counted(runs, 'run')} of {counted(len(devices), 'device')}"
    more = f'<p><a href="/runs">All {runs:,} runs</a></p>' if runs > len(latest) else ""
    body = ""
    if are_examples:
        compared = text(urlencode([("run", run.hash) for run in latest]))
        body = _empty(_examples(latest), address) + f'<p><a href="/compare?{compared}">Compare the examples</a></p>'
    body += section("devices", "Devices", _devices(devices) + also("/devices"))
    body += section("latest", "Latest runs", _runs(latest) + more) + KEEPERS
    return page("Overview", line, body, here="/")


KEEPERS = f'<p class="quiet">Administration:</p>{log_page.BOTH}'
EMPTY = (
    "No run is here yet. Measure on any machine that has wattlock, and push the run; then this page shows the devices, "
    "and the runs can be compared."
)


def _examples(runs: Sequence[RunRow]) -> str:
    return (
        f"The {counted(len(runs), 'run')} below come with wattlock, so that there is something to look at: cycles that "
        "were counted on emulated cores. They disappear when you push your first run. Measure on any machine that "
        "has wattlock, and push the run."
    )


def _empty(prose: str, address: str) -> str:
    return section("fill", "Add your first run", paragraphs([prose]) + pushed("wattlock run quick", address))


def _devices(devices: Sequence[Mapping[str, Any]]) -> str:
    """A table for each kind of evidence."""
    order = list(EVIDENCE_SHAPES)
    by_kind = groupby(
        sorted(devices, key=lambda device: order.index(device["evidence"])), key=lambda device: device["evidence"]
    )
    return paragraphs([ALIKE]) + "".join(_of_kind(kind, list(kind_devices)) for kind, kind_devices in by_kind)


def _of_kind(kind: str, devices: Sequence[Mapping[str, Any]]) -> str:
    rows = (
        f'<tr><th scope="row"><a href="/runs?device={text(device["device"])}">{text(device["name"])}</a></th>'
        f"<td>{chip(device['evidence'])}</td>{cell(device['card'] or formats.MISSING)}"
        f"{cell(format(device['runs'], ','), True)}{cell(format(device['studies'], ','), True)}"
        f"{cell(moment(device['latest']))}<td><code>{text(device['device'])}</code></td></tr>"
        for device in devices
    )
    head = ["Device", "Evidence", "Card", "#Runs", "#Studies", "Latest", "Fingerprint"]
    return table(f"Devices, {kind}", head, ["<tbody>", *rows, "</tbody>"], kind="sortable")


def runs(
    found: Sequence[RunRow],
    count: int,
    wanted: Filter,
    choices: Mapping[str, list[str]],
    devices: Sequence[Mapping[str, Any]],
) -> str:
    """The runs that a filter keeps, or the latest of them, with the filter; `count`: how many it keeps."""
    labelled = {
        device["device"]: f"{device['name']} ({device['evidence']}, {device['device'][:6]})" for device in devices
    }
    fields = choice("device", "Device", labelled, wanted.device)
    for name in ("study", "library", "evidence"):
        fields += choice(name, name.capitalize(), {choice: choice for choice in choices[name]}, getattr(wanted, name))
    form = f'<form class="filter" action="/runs">{fields}<button>Show</button></form>'
    query = {name: value for name, value in vars(wanted).items() if value}
    shown = _pickable(found) if found else "<p>No run is like that.</p>"
    line = counted(count, "run")
    if len(found) < count:
        line = f"The latest {len(found):,} of {line}"
        shown += f'<p><a href="/runs?{text(urlencode(query | {"show": "all"}))}">All {count:,} runs</a></p>'
    return page("Runs", line, form + shown + also("/runs", urlencode(query)), here="/runs")


def choose(found: Sequence[RunRow], picked: Set[str]) -> str:
    """Where nothing is picked yet to be compared."""
    if len(found) < 2:
        return page("Compare", "It takes two runs", '<p>Push a second one: <a href="/">how</a>.</p>', here="/compare")
    line = "Pick two runs or more; the first picked in the list is what the others are compared with."
    return page("Compare", line, _pickable(found, picked), here="/compare")


def _pickable(found: Sequence[RunRow], picked: Set[str] = frozenset()) -> str:
    return f'<form action="/compare">{_runs(found, picked)}<p><button>Compare the picked runs</button></p></form>'


def _runs(found: Sequence[RunRow], picked: Set[str] | None = None) -> str:
    """A row a run; with a box to pick it where `picked` is given."""

    def row(run: RunRow) -> str:
        checked = " checked" if picked and run.hash in picked else ""
        name = f"Pick {text(run.id)}"
        tick = f'<td><input type="checkbox" name="run" value="{run.hash}" aria-label="{name}"{checked}></td>'
        box = "" if picked is None else tick
        evidence, joules = ("", "") if run.reasons else (chip(run.evidence), chip(run.energy_evidence))
        return (
            f'<tr>{box}<td>{state(run)}</td><th scope="row"><a href="/runs/{run.hash}">{text(run.id)}</a></th>'
            f"{cell(run.study)}{cell(run.device_name)}<td>{evidence or formats.MISSING}</td>"
            f"<td>{joules or formats.MISSING}</td>{cell(', '.join(_libraries(run)))}"
            f"{cell(f'{run.with_number:,} of {run.cases:,}', True)}{cell(moment(run.created))}</tr>"
        )

    head = ["State", "Run", "Study", "Device", "Evidence", "Joules", "Libraries", "#Cases with a number", "Begun"]
    head = head if picked is None else ["Pick", *head]
    return table("Runs, the latest first", head, ["<tbody>", *map(row, found), "</tbody>"], kind="sortable picked")


def state(run: RunRow) -> str:
    """Whether a run's self-checks let it count, before all else that is said of it."""
    return INVALID if run.reasons else "● valid"


def run(found: RunRow, drawn: Drawn, mark: str | None = None) -> str:
    """One run: what it is, and the sections of its report; `mark`: of the form that removes it, null without one."""
    known = [
        ("Device", f"{found.device_name}, fingerprint {found.device}"),
        ("Begun", moment(found.created)),
        ("Arrived", moment(found.arrived)),
        ("Libraries", ", ".join(_libraries(found))),
        ("Run", found.id),
        ("Hash", found.hash),
    ]
    invalid = ""
    if found.reasons:
        why = invalid_run([reason.text for reason in found.reasons])
        prose = "<p>JSON and CSV hold its numbers too, with <code>run_is_valid</code> beside them.</p>"
        invalid = f'<div class="banner" role="alert">{why}{prose}</div>'
    address = f"/runs/{found.hash}"
    links = (
        f'<p class="links"><a href="{address}/report">The whole report</a> <a href="{address}.json">JSON</a> '
        f'<a href="{address}.csv">CSV</a> '
        f'<a href="{address}/pack" download="{found.hash[:SHORT_HASH]}.tar">The sealed run</a> '
        f'<a href="/compare?run={found.hash}">Compare it</a> '
        f'<a href="/runs?device={found.device}">Runs of this device</a></p>'
    )
    body = invalid + links + drawn.sections + section("run", "The run", facts(known)) + _removal(address, mark)
    return page(drawn.title, drawn.line, body, scripts=drawn.scripts)


def _removal(place: str, mark: str | None) -> str:
    if mark is None:
        return ""
    prose = "It leaves the pages; its folder stays on the lab's host, below removed/. Whoever has it can push it again."
    form = f'<form method="post" action="{place}/remove"><input type="hidden" name="csrf" value="{mark}">'
    return f"<details><summary>Remove this run</summary><p>{prose}</p>{form}<button>Remove it</button></form></details>"


def compare(found: Sequence[RunRow], drawn: Drawn) -> str:
    """Runs against the first."""
    query = urlencode([("run", run.hash) for run in found])
    links = "".join(
        f'<li>{INVALID if run.reasons else chip(run.evidence)} <a href="/runs/{run.hash}">{text(run.id)}</a></li>'
        for run in found
    )
    body = f'<ul class="links">{links}</ul>{drawn.sections}{also("/compare", query)}'
    return page(drawn.title, drawn.line, body, scripts=drawn.scripts)


def login(refused: WattlockError | None = None) -> str:
    """Asks for a token; below why the last one was refused."""
    form = _token_form("/login", "Open the lab", refused)
    return page("Log in", "This lab needs a token that reads.", form, is_inside=False)


def measure_door(place: str, refused: WattlockError | None = None, *, address: str = "") -> str:
    """Asks for a token before a device may measure itself; shows a phone's camera where it is.

    * `address`: of the lab; empty where it is not known.
    """
    form = _token_form(place, "Go on to the page", refused) + (_code(f"{address}{place}") if address else "")
    return page(
        "Measure this device", "The lab takes what is measured from who has a token that sends.", form, here=place
    )


def _code(address: str) -> str:
    """The address as a QR code; nothing where the extra isn't there, or a phone would reach itself by it."""
    if extras.absent("page") or (urlsplit(address).hostname or "") in {"localhost", "127.0.0.1", "::1"}:
        return ""
    from wattlock.page.certificate import drawing

    prose = f"<p>Another device measures itself at <code>{text(address)}</code>:</p>"
    if address.startswith("http:"):
        prose += (
            "<p>Over plain http a browser does not isolate the page: its clock is coarse, and it has no WebCrypto. "
            "<code>wattlock lab --https</code> mends both.</p>"
        )
    return f'{prose}<p role="img" aria-label="QR code of {text(address)}">{drawing(address)}</p>'


def _token_form(place: str, button: str, refused: WattlockError | None) -> str:
    alert = told(refused.message, refused.hint) if refused else ""
    return (
        f'{alert}<form class="filter" method="post" action="{place}">'
        '<input autocomplete="username" value="wattlock lab" hidden><label>Token '  # by which browsers keep it
        '<input name="token" type="password" autocomplete="current-password" required></label>'
        f"<button>{button}</button></form>"
    )


def refusal(error: str, hint: str) -> str:
    """An error for a browser."""
    back = '<p class="links"><a href="/">The first page</a></p>'
    return page("Not possible", "", told(error, hint) + back, is_inside=False)


def cases_frame(run: RunRow) -> pl.DataFrame:
    """A row a case of a run, as data: that of an invalid run says so, as `wattlock export` does."""
    cases = pl.read_parquet(run.estimates)
    about = (pl.lit(run.id).alias("run"), pl.lit(not run.reasons).alias("run_is_valid"))
    return cases.select(*about, *cases.columns)


def runs_frame(found: Sequence[RunRow]) -> pl.DataFrame:
    """A row a run, as data."""
    rows = [
        {"state": "invalid run" if run.reasons else "valid"}
        | {name: getattr(run, name) for name in FIELDS}
        | {"libraries": _libraries(run), "reasons": [reason.text for reason in run.reasons]}
        for run in found
    ]
    return pl.DataFrame(rows, schema=["state", *FIELDS, "libraries", "reasons"], infer_schema_length=None)


def _libraries(run: RunRow) -> list[str]:
    return [library.name for library in run.libraries]


Keeper = allowed(Scope.admin)
router = APIRouter(dependencies=[Reader])


@router.get("/devices")
def get_devices(lab: Lab) -> Response:
    """The devices with what each has measured."""
    return HTMLResponse(devices_page.devices(lab.runs()))


@router.get("/devices.{form}")
def get_devices_as_data(lab: Lab, form: str) -> Response:
    """The devices as data."""
    return written(pl.DataFrame(lab.devices(), schema=DEVICE_FIELDS, infer_schema_length=None), form)


@router.get("/change")
@router.get("/change.{form}")
def get_change(lab: Lab, form: str = "", series: str | None = None, case: str | None = None) -> Response:
    """A case through the runs of a device and a study, DEVICE/STUDY, and where it changed."""
    known, shown = devices_page.asked_for(lab, series, case)
    if not form:
        return HTMLResponse(devices_page.over_time(known, shown))
    if shown is None:
        raise NoSuchRun("no run is here yet", hint="push runs of one study on one device")
    return written(shown.table, form)


@router.get("/papers")
@router.get("/papers.{form}")
def get_papers(request: Request, lab: Lab, form: str = "") -> Response:
    """The papers' questions, answered by what each device measured."""
    found = papers_answers.answered(lab)
    if form:
        return written(questions_page.frame(found), form)
    return HTMLResponse(questions_page.papers(found, address_of_lab(request)))


@router.get("/log", dependencies=[Keeper])
def get_log(lab: Lab) -> Response:
    """The audit log."""
    return HTMLResponse(log_page.log(tokens.actions(lab.engine)))


@router.get("/tokens", dependencies=[Keeper])
@router.get("/tokens.{form}", dependencies=[Keeper])
def get_tokens(lab: Lab, form: str = "") -> Response:
    """The tokens, without what lets in."""
    known = tokens.listed(lab.engine)
    return written(log_page.tokens_frame(known), form) if form else HTMLResponse(log_page.tokens_page(known))
