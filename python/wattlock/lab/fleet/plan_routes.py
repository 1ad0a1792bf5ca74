"""The routes of the planner: what to measure next for a question, and the goals that the fleet measures for."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse

from wattlock.errors import InputError
from wattlock.lab import advice_form
from wattlock.lab.doors import Lab, Reader, noted, written
from wattlock.lab.fleet import plan_page
from wattlock.lab.fleet.goals import Goals
from wattlock.lab.fleet.queue import Queue
from wattlock.lab.fleet.routes import Number, given_by, is_form, mark_of, targets_of
from wattlock.lab.turns import turns

WITHIN = 5.0
"""Percent, where nobody says how narrow."""
router = APIRouter()


@router.get("/plan", dependencies=[Reader])
@router.get("/plan.{form}", dependencies=[Reader])
def get_plan(request: Request, lab: Lab, form: str = "") -> Response:
    """The goals; for a question what to measure next."""
    goals = _goals(request, lab)
    if asked := request.query_params:
        within = _percent(asked.get("within", ""))
        filled = advice_form.read([(name, value) for name, value in asked.multi_items() if name != "within"])
        with turns.one():
            found = goals.plan(filled, within)
        if form == "json":
            return JSONResponse({**found._asdict(), "asked_within_percent": within})
        if form:
            return written(plan_page.steps_frame(found), form)
        csrf = mark_of(request) if goals.targets else None
        return HTMLResponse(plan_page.one(filled, found, within, csrf))
    if form:
        return written(plan_page.frame(goals.all()), form)
    latest = goals.all(plan_page.LATEST)
    jobs = {goal.number: goals.jobs(goal.number) for goal in latest}
    return HTMLResponse(plan_page.overview(latest, goals.count(), jobs, mark_of(request)))


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
        filled = advice_form.read(list(given.items()))
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
