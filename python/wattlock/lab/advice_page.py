"""The page of advice: the question as a form, and its answer, the decision record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from itertools import groupby
from typing import get_args
from urllib.parse import urlencode

import polars as pl
from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from wattlock.advise import question
from wattlock.definitions import suggestion
from wattlock.energy import battery_cards, device_cards, radio_cards
from wattlock.errors import EvidenceError, InputError, WattlockError
from wattlock.lab.advising import AdviceRequest, DecisionRecord, answer
from wattlock.lab.collection import Collection, NoSuchRun
from wattlock.lab.database import RunRow
from wattlock.lab.doors import Lab, Reader, turns, written
from wattlock.lab.layout import choice, page, section, told
from wattlock.report.html import folded, paragraphs, text
from wattlock.security import Authority

HERE = "/advise"
NONE = {"profile": "none: the message below", "device": "the profile’s", "run": "published figures"}
LINE = "Which cipher to take, and how many days of battery each choice leaves."
ABOUT = (
    "Start from a profile and change what differs; without one fill in a "
    "message, how often it is sent, and a device or a run. What is left empty is the profile’s, or assumed, and the "
    "record says so.",
)
Values = Mapping[str, Mapping[str, str]]


def form_page(filled: Mapping[str, str], choices: Values, refused: WattlockError | None = None) -> str:
    """The form alone, with what was filled in and why it was refused."""
    alert = told(refused.message, refused.hint) if refused else ""
    ready = "".join(
        f'<li><a href="{_address(name)}">{text(title.partition(": ")[2])}</a></li>'
        for name, title in choices["profile"].items()
    )
    examples = section("profiles", "Questions that come with wattlock", f"<ul>{ready}</ul>")
    return page("Advice", LINE, paragraphs(ABOUT) + alert + _form(filled, choices) + examples, here=HERE)


def _address(profile: str) -> str:
    return text(f"{HERE}?{urlencode({'profile': profile, 'allow-assumed': ON})}")


def answer_page(filled: Mapping[str, str], choices: Values, answer: DecisionRecord) -> str:
    """The decision record below the form that asked for it."""
    query = text(urlencode(filled))
    links = (
        f'<p class="links"><a href="{HERE}.json?{query}">JSON</a> <a href="{HERE}.csv?{query}">CSV of the choices</a> '
        f'<a href="{HERE}.html?{query}" download="decision.html">The record as one file</a> '
        f'<a href="{HERE}.md?{query}" download="decision.md">As Markdown</a> '
        f'<a href="/plan?{query}">What to measure next</a></p>'
    )
    form = folded("The question", _form(filled, choices))
    body = f'{form}{links}<div class="record">{answer.inside}</div>'
    return page(answer.title, "", body, here=HERE, styles=("decision",))


def _form(filled: Mapping[str, str], choices: Values) -> str:
    groups = ""
    for name, fields in groupby(FIELDS, key=lambda field: field.group):
        inside = "".join(_field(field, filled.get(field.name, ""), choices) for field in fields)
        groups += f'<fieldset class="filter"><legend>{text(name)}</legend>{inside}</fieldset>'
    return f'<form class="question" action="{HERE}">{groups}<p><button>Answer</button></p></form>'


def _field(field: Field, value: str, choices: Values) -> str:
    if field.name in choices:
        none = NONE.get(field.name, "the profile’s" if field.name != "approved" else "anybody")
        return choice(field.name, field.label, choices[field.name], value, none=none)
    if field.is_box:
        checked = " checked" if value else ""
        return f'<label><input type="checkbox" name="{field.name}" value="{ON}"{checked}> {text(field.label)}</label>'
    return (
        f'<label>{text(field.label)} <input name="{field.name}" value="{text(value)}" size="9" maxlength="64" '
        f'placeholder="{text(field.example)}"></label>'
    )


ON = "on"
LONGEST = 64
"""Letters of a value."""


@dataclass(frozen=True)
class Field:
    """One option.

    * `name`: the option's, without dashes. `key`: the question's, empty where it has none. `example`: of a text.
    * `group`: of the form. `is_box`: whether it is on or off.
    """

    name: str
    label: str
    group: str
    key: str = ""
    example: str = ""
    is_box: bool = False


FIELDS = (
    Field("profile", "Profile", "What is sent"),
    Field("message", "Message", "What is sent", example="64B"),
    Field("every", "Every", "What is sent", example="1min"),
    Field("device", "Device card", "The device", "device.card"),
    Field("run", "Costs measured by", "The device", "device.run"),
    Field("radio", "Radio card", "The device", "radio.card"),
    Field("protection", "The link’s own encryption", "The device", "radio.protection", "ccmp,none"),
    Field("battery", "Battery card", "The device", "battery.card"),
    Field("sleep", "Asleep it draws", "The device", "device.sleep", "9uW"),
    Field("strength", "Strength, bits", "What is required", "floor.strength", "128"),
    Field("approved", "Approved by", "What is required", "floor.approved"),
    Field("lifetime", "Secret for", "What is required", "floor.lifetime", "10y"),
    Field("latency", "Latency at most", "What is required", "floor.latency", "50ms"),
    Field("memory", "Memory at most", "What is required", "floor.memory", "8kB"),
    Field(
        "unauthenticated",
        "No protection against changes (not recommended)",
        "What is allowed",
        "floor.authenticated",
        is_box=True,
    ),
    Field(
        "allow-amortised", "Try tally (short tags, experimental)", "What is allowed", "choices.amortised", is_box=True
    ),
    Field("allow-assumed", "Numbers without a verified source", "What is allowed", is_box=True),
)


def form_choices(lab: Collection) -> dict[str, dict[str, str]]:
    """What fields that take one of several values can have, each with what it is called."""
    found = {
        "device": device_cards.names(),
        "radio": radio_cards.RADIOS.names(),
        "battery": battery_cards.BATTERIES.names(),
    }
    return {
        "profile": {name: f"{name}: {question.read(name).get('title', '')}" for name in question.names()},
        "approved": {name: name.upper() for name in get_args(Authority)},
        "run": {run.hash: f"{run.id}, {run.device_name}" for run in _with_costs(lab)},
        **{name: dict(zip(values, values, strict=True)) for name, values in found.items()},
    }


def _with_costs(lab: Collection) -> Sequence[RunRow]:
    return [run for run in lab.runs() if not run.reasons and not run.is_counted]


def read(query: Sequence[tuple[str, str]]) -> dict[str, str]:
    """What was filled in, by field; what is empty was not.

    Raises InputError for a field that there isn't, one that comes twice, or is too long.
    """
    names = [field.name for field in FIELDS]
    found: dict[str, str] = {}
    for name, value in query:
        if name not in names:
            raise InputError(f"there is no field {name[:LONGEST]!r}", hint=suggestion(name, names, "there are"))
        if name in found:
            raise InputError(f"{name} is given twice", hint="give it once")
        if len(value) > LONGEST:
            raise InputError(f"{name}: has {len(value)} letters, the limit is {LONGEST}", hint="see the examples")
        found[name] = value.strip()
    return {name: value for name, value in found.items() if value}


def filled_question(filled: Mapping[str, str], lab: Collection) -> AdviceRequest:
    """What `wattlock advise` is given.

    Raises InputError for a value that its field can't have; the rest is checked as `wattlock advise` does. NoSuchRun
    for a run that the lab hasn't. A name is one of those that come with wattlock, never a path.
    """
    given: dict[str, object] = {}
    for field in FIELDS:
        value = _value(field, filled[field.name]) if field.name in filled else None
        if field.key:
            given[field.key] = value
    known = form_choices(lab)
    for name in ("profile", "device", "radio", "battery"):
        if filled.get(name, "") not in {"", *known[name]}:
            raise InputError(
                f"there is no {name} {filled[name]!r}", hint=suggestion(filled[name], list(known[name]), "there are")
            )
    if "run" in filled:
        run = lab.find(filled["run"])
        lab.folder(run.hash)
        given["device.run"] = run.hash
    allow_assumed = filled.get("allow-assumed") == ON
    profile, message, interval = (filled.get(name) for name in ("profile", "message", "every"))
    return AdviceRequest(profile, message, interval, given, allow_assumed, tuple(_arguments(filled)))


def _value(field: Field, value: str) -> object:
    if field.is_box:
        if value != ON:
            raise InputError(f"{field.name} is {value!r}", hint=f"{ON}, or leave it away")
        return field.name != "unauthenticated"
    if field.name == "strength":
        try:
            return float(value)
        except ValueError:
            raise InputError(f"strength {value!r} is no number", hint="bits, as 128") from None
    return value.split(",") if field.name == "protection" else value


def _arguments(filled: Mapping[str, str]) -> list[str]:
    """The words of the command line that asks the same."""
    words = [filled["profile"]] if "profile" in filled else []
    for field in FIELDS[1:]:
        if field.name in filled:
            words += [f"--{field.name}"] if field.is_box else [f"--{field.name}", filled[field.name]]
    return words


KEPT = 32
"""Answers; a run never changes, and an answer says the day that it is of."""
RECORD_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
STATUS = {InputError: 400, EvidenceError: 409, NoSuchRun: 404}
router = APIRouter(dependencies=[Reader])


@router.get("/advise")
@router.get("/advise.{form}")
def get_advice(request: Request, lab: Lab, form: str = "") -> Response:
    """The form where nothing is filled in, else the decision record: as a page, JSON, CSV, one HTML file, Markdown."""
    if form:
        return _as_data(_answer(lab, read(request.query_params.multi_items())), form)
    filled: dict[str, str] = {}
    choices = form_choices(lab)
    try:
        filled = read(request.query_params.multi_items())
        if not filled:
            return HTMLResponse(form_page(filled, choices))
        return HTMLResponse(answer_page(filled, choices, _answer(lab, filled)))
    except (InputError, EvidenceError, NoSuchRun) as error:
        return HTMLResponse(form_page(filled, choices, error), STATUS[type(error)])


def _as_data(found: DecisionRecord, form: str) -> Response:
    if form == "html":
        headers = {"Content-Security-Policy": RECORD_POLICY}
        return Response(found.page, media_type="text/html; charset=utf-8", headers=headers)
    if form == "md":
        return Response(found.markdown, media_type="text/markdown; charset=utf-8")
    if form == "json":
        return JSONResponse(found.whole)
    return written(pl.DataFrame(found.ranked, infer_schema_length=None), form)


def _answer(lab: Collection, filled: dict[str, str]) -> DecisionRecord:
    """Raises as `advice_form.asked` and `advising.answer` do, and Busy where others have to be answered first."""
    if "run" in filled:
        # A run that was changed since is refused, and no answer of it is handed out.
        lab.folder(lab.find(filled["run"]).hash)
    return _kept(lab, tuple(filled.items()), datetime.now(UTC).date())


@lru_cache(KEPT)
def _kept(lab: Collection, filled: tuple[tuple[str, str], ...], _today: date) -> DecisionRecord:
    request = filled_question(dict(filled), lab)
    with turns.one():
        return answer(request, lab.data)
