"""The planner: its pages, as HTML from rows, and its routes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import polars as pl
from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse

from wattlock.errors import InputError
from wattlock.lab import advice_page
from wattlock.lab.advice_page import ON
from wattlock.lab.doors import Lab, Reader, noted, turns, written
from wattlock.lab.fleet.goals import Goals
from wattlock.lab.fleet.job_pages import Number, given_by, is_form, mark_of, targets_of
from wattlock.lab.fleet.queue import Goal, Job, Queue, State
from wattlock.lab.layout import also, page, section
from wattlock.lab.planning import KeptPlan
from wattlock.report import formats
from wattlock.report.html import bullets, cell, paragraphs, table, text

HERE, LATEST = "/plan", 50
LINE = "What to measure next to make an answer more certain."
ABOUT = (
    "Ask a question on the page of advice and follow its link to the planner. The fleet then measures what its ciphers "
    "cost, one run after the other, and answers again after each; it ends where no target can narrow the answer.",
)
STEP_FIELDS = {
    "target": pl.String,
    "cipher": pl.String,
    "provider": pl.String,
    "processes": pl.Int64,
    "minutes": pl.Float64,
    "narrower_percent": pl.Float64,
    "narrower_percent_a_minute": pl.Float64,
    "within_percent": pl.Float64,
}
"""What of a measurement is given as data, as `wattlock advise --plan` has it."""
FIELDS = ("number", "question", "within_percent", "now_percent", "state", "asked", "reason")
"""What of a goal is given as data."""


def overview(goals: Sequence[Goal], count: int, jobs: Mapping[int, Sequence[Job]], csrf: str) -> str:
    """The latest goals of `count` so many. `jobs`: by the goal's number."""
    links = '<p class="links"><a href="/plan.json">JSON</a> <a href="/plan.csv">CSV</a></p>'
    prose = paragraphs(ABOUT) + '<p class="links"><a href="/advise">Ask a question</a></p>'
    if not goals:
        return page("Planner", LINE, prose + section("goals", "Goals", "<p>There is none yet.</p>"), here=HERE)
    head = ["#Goal", "Question", "#Asked for, ±%", "#Now, ±%", "State", "#Runs", "Asked", "Change"]
    rows = (_row(goal, jobs.get(goal.number, ()), csrf) for goal in goals)
    body = paragraphs([f"Below are the latest {len(goals)} of {count:,} goals."]) if count > len(goals) else ""
    body += table("Goals, the latest first", head, ["<tbody>", *rows, "</tbody>"])
    return page("Planner", LINE, prose + section("goals", "Goals", body) + links, here=HERE)


def _row(goal: Goal, jobs: Sequence[Job], csrf: str) -> str:
    query = text(urlencode(goal.question))
    state = text(goal.state) + (f": {text(goal.reason)}" if goal.reason else "")
    now = percent(goal.now_percent) if goal.now_percent is not None else formats.MISSING
    button = formats.MISSING
    if goal.state == State.under_way:
        button = (
            f'<form method="post" action="/plan/{goal.number}/cancel"><input type="hidden" name="csrf" '
            f'value="{text(csrf)}"><button aria-label="Cancel: goal {goal.number}">Cancel</button></form>'
        )
    return (
        f"<tr>{cell(str(goal.number), True)}"
        f'<td class="reason"><a href="/advise?{query}">{text(words(goal.question))}</a></td>'
        f'{cell(percent(goal.within_percent), True)}{cell(now, True)}<td class="reason">{state}</td>'
        f'<td class="number"><a href="/queue">{len(jobs)}</a></td>{cell(formats.day_and_time(goal.asked))}'
        f"<td>{button}</td></tr>"
    )


def one(filled: Mapping[str, str], found: KeptPlan, within_percent: float, csrf: str | None) -> str:
    """What would be measured for a question, and the button that begins. `csrf`: null in a lab without a fleet."""
    days = f"The days are within {percent(found.within_percent)} % now, {within_percent:g} % is asked for."
    ends = f"{found.ends[:1].upper()}{found.ends[1:]}."
    body = f'<p><a href="/advise?{text(urlencode(filled))}">{text(words(filled))}</a></p>' + paragraphs([days])
    if found.steps:
        head = ["Target", "Cipher", "Provider", "#Processes", "#Minutes", "#Narrower by, %", "#Then within, ±%"]
        rows = map(_step, found.steps)
        body += table("Measurements, the most useful by the minute first", head, ["<tbody>", *rows, "</tbody>"])
    data = urlencode({**filled, "within": f"{within_percent:g}"})
    body += paragraphs([ends]) + (bullets([text(reason) for reason in found.cannot]) if found.cannot else "")
    return page(
        "Planner",
        LINE,
        section("plan", "What to measure next", body + _form(filled, within_percent, csrf, is_useful=bool(found.steps)))
        + also(HERE, data),
        here=HERE,
    )


def _step(step: Mapping[str, Any]) -> str:
    names = "".join(cell(str(step[name])) for name in ("target", "cipher", "provider"))
    minutes, narrower = (f"{step[name]:.2g}" for name in ("minutes", "narrower_percent"))
    numbers = (str(step["processes"]), minutes, narrower, percent(step["within_percent"]))
    return f"<tr>{names}{''.join(cell(number, True) for number in numbers)}</tr>"


def _form(filled: Mapping[str, str], within_percent: float, csrf: str | None, *, is_useful: bool) -> str:
    hidden = "".join(
        f'<input type="hidden" name="{text(name)}" value="{text(value)}">' for name, value in filled.items()
    )
    width = f'name="within" value="{within_percent:g}"'
    number = f'<label>Within, ±% <input {width} type="number" min="0.1" max="100" step="any"></label>'
    look = f'<form class="filter" method="get" action="{HERE}">{hidden}{number}<button>Look again</button></form>'
    if csrf is None:
        return look + paragraphs(["This lab was started without a fleet, so that nothing can be measured from here."])
    if not is_useful:
        return look
    sent = f'<input type="hidden" name="csrf" value="{text(csrf)}">{hidden}<input type="hidden" {width}>'
    begin = "<button>Measure until it is so</button>"
    return look + f'<form class="filter" method="post" action="{HERE}">{sent}{begin}</form>'


def words(filled: Mapping[str, str]) -> str:
    """A question's fields in a line."""
    return ", ".join(_said(name, value) for name, value in filled.items())


def _said(name: str, value: str) -> str:
    if name == "profile":
        return value
    if value == ON:
        return name
    return f"run {value[:8]}" if name == "run" else f"{name} {value}"


def percent(value: float) -> str:
    """A half-width, to two digits below ten."""
    return f"{value:.2g}" if value < 10 else f"{value:,.0f}"


def frame(goals: Sequence[Goal]) -> pl.DataFrame:
    """A row a goal, as data; the question as the query of its page of advice."""
    rows = [{name: getattr(goal, name) for name in FIELDS} | {"question": urlencode(goal.question)} for goal in goals]
    return pl.DataFrame(rows, schema=FIELDS, infer_schema_length=None)


def steps_frame(found: KeptPlan) -> pl.DataFrame:
    """A row a measurement, the most useful by the minute first, as data."""
    return pl.DataFrame(found.steps, schema=STEP_FIELDS)


WITHIN = 5.0
"""Percent, where nobody says how narrow."""
router = APIRouter()


@router.get("/plan", dependencies=[Reader])
@router.get("/plan.{form}", dependencies=[Reader])
def get_plan(request: Request, lab: Lab, form: str = "") -> Response:
    """The goals; for a question what to measure next."""
    goals = _goals(request, lab)
    if parameters := request.query_params:
        within = _percent(parameters.get("within", ""))
        filled = advice_page.read([(name, value) for name, value in parameters.multi_items() if name != "within"])
        with turns.one():
            found = goals.plan(filled, within)
        if form == "json":
            return JSONResponse({**found._asdict(), "asked_within_percent": within})
        if form:
            return written(steps_frame(found), form)
        csrf = mark_of(request) if goals.targets else None
        return HTMLResponse(one(filled, found, within, csrf))
    if form:
        return written(frame(goals.all()), form)
    latest = goals.all(LATEST)
    jobs = {goal.number: goals.jobs(goal.number) for goal in latest}
    return HTMLResponse(overview(latest, goals.count(), jobs, mark_of(request)))


@router.post("/plan")
async def post_plan(request: Request, lab: Lab) -> Response:
    """Takes a question as a goal: the form of the page, or JSON with the fields of advice and `within`."""
    given, token = await given_by(request, lab)
    given.pop("csrf", None)
    if not all(isinstance(value, str) for value in given.values()):
        raise InputError("the fields of a question are texts", hint='{"profile": "sensor", "within": "5"}')
    within = _percent(given.pop("within", ""))

    def put() -> int:
        goals = _goals(request, lab)
        if not goals.targets:
            raise InputError("this lab has no fleet to measure with", hint="wattlock lab --fleet")
        filled = advice_page.read(list(given.items()))
        with turns.one():
            goals.plan(filled, within)  # what it refuses, as GET does, is no goal
        return goals.add(filled, within, token)

    number = await run_in_threadpool(put)
    await noted(request, token, "planned", f"goal {number}")
    return RedirectResponse("/plan", 303) if is_form(request) else JSONResponse({"goal": number}, 201)


@router.post("/plan/{number}/cancel")
async def post_cancel(request: Request, lab: Lab, number: Number) -> Response:
    """Ends a goal and its open job."""
    _, token = await given_by(request, lab)
    is_changed = await run_in_threadpool(_goals(request, lab).cancel, number)
    if is_changed:
        await noted(request, token, "cancel", f"goal {number}")
    if is_form(request):
        return RedirectResponse("/plan", 303)
    if not is_changed:
        raise InputError(f"no goal {number} is under way", hint="the page of the planner lists them")
    return JSONResponse({"goal": number})


def _goals(request: Request, lab: Any) -> Goals:
    return Goals(lab, Queue(lab.engine), targets_of(request))


def _percent(given: str) -> float:
    try:
        return float(given) if given else WITHIN
    except ValueError:
        raise InputError(f"within {given[:20]!r} is no number", hint="percent, as 5") from None
