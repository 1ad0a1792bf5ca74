"""The routes of the queue: what is measured where, and who may ask for it."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, StreamingResponse

from wattlock.definitions import suggestion
from wattlock.errors import InputError
from wattlock.lab import tokens
from wattlock.lab.doors import (
    COOKIE,
    Crowded,
    Lab,
    Reader,
    bearer,
    body_of,
    noted,
    reading,
    refused,
    written,
)
from wattlock.lab.fleet import pages
from wattlock.lab.fleet.asked import refuse_hopeless
from wattlock.lab.fleet.options import BASELINES, Options
from wattlock.lab.fleet.queue import Queue, refuse_unknown
from wattlock.lab.fleet.targets import targets
from wattlock.lab.tokens import Denied, Scope

LOOK_S = 1.0
"""So often it is looked whether a page has to change."""
MOST_FOLLOWERS = 32
"""Pages that are told of the queue at a time."""
TEXTS = {"card": "", "meter": "", "baseline": BASELINES[0]}
FIELDS = ("study", "targets", "target", "only", "libraries", "core_class", "allow_assumed", *TEXTS, "csrf")
"""What may be asked for; `target` and `csrf` are the form's."""
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
_SECRET = secrets.token_bytes(32)
"""Of this process: a page from before a restart is to be loaded again before its form is sent."""
LARGEST = 2**31 - 1
"""A number that a column of PostgreSQL can have."""
Number = Annotated[int, Path(ge=1, le=LARGEST)]
router = APIRouter()


@router.get("/queue", dependencies=[Reader])
@router.get("/queue.{form}", dependencies=[Reader])
def get_queue(request: Request, lab: Lab, form: str = "") -> Response:
    """Jobs and tasks; as data the jobs alone."""
    queue = Queue(lab.engine)
    if form:
        return written(pages.jobs_frame(queue.jobs()), form)
    return HTMLResponse(pages.queue(_shown(lab, request), targets_of(request)))


@router.get("/queue/tasks.{form}", dependencies=[Reader])
def get_tasks(lab: Lab, form: str, job: Annotated[int | None, Query(ge=1, le=LARGEST)] = None) -> Response:
    """The tasks as data, of one job or of all."""
    return written(pages.tasks_frame(Queue(lab.engine).tasks(job)), form)


@router.get("/queue/events", dependencies=[Reader])
def get_events(request: Request, lab: Lab) -> Response:
    """What of the page changes, as server-sent events.

    It ends when nothing is under way any more, or who asked may no longer read.
    """
    if request.app.state.followers >= MOST_FOLLOWERS:
        raise Crowded(f"{MOST_FOLLOWERS} pages follow the queue, and no more may", hint="load the page again later")
    return StreamingResponse(_events(request, lab), media_type="text/event-stream")


async def _events(request: Request, lab: Lab) -> AsyncIterator[str]:
    token, last = reading(request), ""

    def look() -> pages.Shown:
        tokens.check(lab.engine, token, Scope.read)
        return _shown(lab, request)

    is_open, event = True, "over"
    request.app.state.followers += 1
    try:
        while is_open and not await request.is_disconnected():
            shown = await run_in_threadpool(look)
            is_open, words = shown.open_jobs > 0, pages.live(shown)
            if words != last:
                last = words
                yield f"data: {json.dumps(words)}\n\n"
            await asyncio.sleep(LOOK_S)
    except Denied:  # the token expired or was revoked meanwhile
        event = "denied"
    finally:
        request.app.state.followers -= 1
    yield f"event: {event}\ndata: \n\n"


def _shown(lab: Lab, request: Request) -> pages.Shown:
    """The queue as it is now. Of the latest jobs' runs alone: it is asked each second, on a host that may measure."""
    queue = Queue(lab.engine)
    jobs = queue.jobs(pages.LATEST)
    kinds = lab.evidence_of([job.hash for job in jobs if job.hash])
    return pages.Shown(jobs, queue.states(), queue.counted(), kinds, mark_of(request))


@router.post("/queue")
async def post_queue(request: Request, lab: Lab) -> Response:
    """Queues a study for one target or more: a form of the page, or JSON with the fields of `FIELDS`."""
    given, token = await given_by(request, lab)
    if unknown := sorted(given.keys() - FIELDS):
        raise InputError(f"there is no field {unknown[0][:80]!r}", hint=suggestion(unknown[0], FIELDS, "there are"))
    study, wanted = given.get("study", ""), _words(given.get("targets", given.get("target")))
    options = _options(given)
    known = await run_in_threadpool(targets_of, request)
    if unknown := [one for one in wanted if one not in known]:
        raise InputError(f"the fleet has no target {unknown[0][:80]!r}", hint=f"it has {', '.join(known) or 'none'}")
    if not wanted or not isinstance(study, str):
        raise InputError("name a study and one target or more", hint='{"study": "quick", "targets": ["local"]}')
    refuse_unknown(study)
    await run_in_threadpool(refuse_hopeless, study, wanted, options)
    batch = secrets.token_hex(4)

    def put() -> list[int]:
        queue = Queue(lab.engine)
        queue.refuse_full(len(set(wanted)), token)
        return [queue.enqueue(study, one, options, batch=batch, token=token) for one in dict.fromkeys(wanted)]

    numbers = await run_in_threadpool(put)
    await noted(request, token, "queued", f"{study} for {', '.join(wanted)}"[:200])
    if is_form(request):
        return RedirectResponse("/queue", 303)
    return JSONResponse({"batch": batch, "jobs": numbers}, 201)


def _options(given: Mapping[str, Any]) -> Options:
    """Raises InputError where one of them can't be."""
    texts = {name: given.get(name) or default for name, default in TEXTS.items()}
    if not all(isinstance(one, str) for one in texts.values()):
        raise InputError(f"{', '.join(TEXTS)} are texts", hint='"card": "x86-server-assumed"')
    return Options(
        only=tuple(_words(given.get("only"), None)),
        core_classes=tuple(_words(given.get("core_class"))),
        libraries=tuple(_words(given.get("libraries"), None)),
        allow_assumed=given.get("allow_assumed") in (True, "on"),
        **texts,
    )


@router.post("/queue/{number}/{what}")
async def post_change(request: Request, lab: Lab, number: Number, what: str) -> Response:
    """`cancel` ends a job, `again` queues one again that failed."""
    _, token = await given_by(request, lab)
    queue = Queue(lab.engine)
    changes = {"cancel": queue.cancel, "again": queue.again}
    if what not in changes:
        raise InputError(f"a job is not changed by {what[:20]!r}", hint="cancel or again")
    job = await run_in_threadpool(queue.job, number)
    is_changed = await run_in_threadpool(changes[what], number)
    if is_changed:
        await noted(request, token, what, f"job {number}")
    if is_form(request):
        return RedirectResponse("/queue", 303)
    if not is_changed:
        raise InputError(f"job {number} is {job.state}", hint="open jobs can be cancelled, failed ones queued again")
    return JSONResponse({"job": number})


async def given_by(request: Request, lab: Lab, scope: Scope = Scope.plan) -> tuple[dict[str, Any], str | None]:
    """What was sent, and the id of the token of who sent it.

    A form of a page has the page's own mark and the browser's cookie; a program sends JSON and its token. Raises Denied
    where neither has that scope, before anything of it is read.
    """
    token = request.cookies.get(COOKIE) if is_form(request) else bearer(request)
    try:
        id_ = await run_in_threadpool(tokens.check, lab.engine, token, scope)
    except Denied as error:
        if token:
            await refused(request, error)
        raise
    body = await body_of(request)
    if is_form(request):
        fields = parse_qs(body.decode("utf-8", "replace"))
        if not hmac.compare_digest(fields.get("csrf", [""])[0].encode(), mark_of(request).encode()):
            raise Denied("the form is not one of this lab's pages", hint="load the page again", status=403)
        return {name: values if name == "target" else values[0] for name, values in fields.items()}, id_
    return _object(request, body), id_


def _object(request: Request, body: bytes) -> dict[str, Any]:
    """JSON's object; nothing sent is an empty one. Another type would let a foreign page send it unasked."""
    hint = 'Content-Type: application/json, {"study": "quick", "targets": ["local"]}'
    if request.headers.get("content-type", "").partition(";")[0] != JSON:
        raise InputError("this is neither JSON nor a form", hint=hint)
    try:
        found = json.loads(body or b"{}")
        json.dumps(found, ensure_ascii=False).encode()  # half of a surrogate pair can be kept, and on no page be shown
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError("this is no JSON object", hint=hint)
    return found


def is_form(request: Request) -> bool:
    """Whether a page sent it, rather than a program."""
    return request.headers.get("content-type", "").partition(";")[0] == FORM


def _words(given: object, between: str | None = ",") -> list[str]:
    """A list of texts, or a text with its words apart by `between`, blanks where that is null.

    Raises InputError for anything else.
    """
    if isinstance(given, str):
        return [one.strip() for one in given.split(between) if one.strip()]
    found = given if isinstance(given, list) else []
    if (given is not None and found is not given) or not all(isinstance(one, str) for one in found):
        raise InputError("targets, only, libraries and core_class are lists of texts", hint='"only": ["aes*"]')
    return found


def mark_of(request: Request) -> str:
    """The mark that a form of this browser has."""
    return hmac.new(_SECRET, request.cookies.get(COOKIE, "").encode(), hashlib.sha256).hexdigest()


def targets_of(request: Request) -> list[str]:
    """The targets of the fleet, as they are now."""
    return targets(request.app.state.targets)
