"""The queue: its pages, as HTML from rows, and its routes."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import parse_qs, urlencode

import polars as pl
from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, StreamingResponse

from wattlock.definitions import suggestion
from wattlock.energy import device_cards
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
from wattlock.lab.fleet.job_options import BASELINES, JobOptions, offered, refuse_hopeless, targets
from wattlock.lab.fleet.queue import OPEN, TASK_FIELDS, Job, Queue, State, refuse_unknown
from wattlock.lab.layout import choice, page, section
from wattlock.lab.tokens import Denied, Scope
from wattlock.report import formats
from wattlock.report.compared import MOST_SIDES
from wattlock.report.html import cell, commands, paragraphs, table, text

LATEST = 50
LINE = "Studies that this lab measures on its fleet: one job a target, one after the other."
FIELDS: tuple[str, ...] = (
    "number",
    "batch",
    "study",
    "target",
    "options",
    "state",
    "asked",
    "attempts",
    "run",
    "hash",
    "settled",
)
FIELDS += ("cases", "reason")
"""What of a job is given as data."""


@dataclass(frozen=True)
class QueueView:
    """What the page shows.

    * `jobs`: the latest; `states`: how many there are, by state. `counted`: tasks by target and state.
    * `kinds`: evidence by the hash of a run. `csrf`: the mark of its forms.
    """

    jobs: Sequence[Job]
    states: Mapping[str, int]
    counted: Mapping[str, Mapping[str, int]]
    kinds: Mapping[str, str]
    csrf: str

    @property
    def open_jobs(self) -> int:
        """How many wait or are under way."""
        return sum(self.states.get(state, 0) for state in OPEN)


def queue_page(shown: QueueView, targets: Sequence[str]) -> str:
    """Jobs and tasks, and the form that asks for more.

    * `targets`: of the fleet.
    """
    form = _form(targets, shown.csrf) if targets else _no_fleet()
    links = (
        '<p class="links"><a href="/queue.json">Jobs as JSON</a> <a href="/queue.csv">CSV</a> '
        '<a href="/queue/tasks.json">Tasks as JSON</a> <a href="/queue/tasks.csv">CSV</a></p>'
    )
    body = section("measure", "Measure", form) + f'<div id="live">{live(shown)}</div>' + links
    return page("Queue", LINE, body, here="/queue", scripts=("sort", *(("queue",) if shown.open_jobs else ())))


def live(shown: QueueView) -> str:
    """What of the page changes while jobs are under way."""
    jobs, counted = shown.jobs, shown.counted
    if not jobs:
        return section("jobs", "Jobs", "<p>No jobs yet: choose a study and a device above.</p>")
    batches = Sets(jobs, shown.kinds)
    rows = (_row(job, batches.compared(job), shown.csrf) for job in jobs)
    head = ["#Job", "Target", "State", "Result", "Change", "#Cases settled", "Study", "Asked"]
    whole = table("Jobs, the latest first", head, ["<tbody>", *rows, "</tbody>"], kind="jobs")
    found = section("jobs", "Jobs", paragraphs([_states(shown)]) + whole)
    if counted:
        states = list(State)
        lines = (
            f'<tr><th scope="row">{text(target)}</th>'
            + "".join(cell(format(by_state.get(state, 0), ","), True) for state in states)
            + "</tr>"
            for target, by_state in sorted(counted.items())
        )
        prose = paragraphs(["A task is one process of the probe: it is carried out once, however often it is begun."])
        head = ["Target", *(f"#{state.capitalize()}" for state in states)]
        found += section("tasks", "Tasks", prose + table("Tasks by target", head, ["<tbody>", *lines, "</tbody>"]))
    return found


def _states(shown: QueueView) -> str:
    total = sum(shown.states.values())
    line = f"{shown.open_jobs:,} waiting or under way, {total - shown.open_jobs:,} ended."
    return line + (f" Below are the latest {len(shown.jobs)}." if total > len(shown.jobs) else "")


def _row(job: Job, compared: Sequence[str], csrf: str) -> str:
    state = f'<td class="reason">{text(job.state)}'
    if job.reason:
        state += f": {text(job.reason)}"
    result = f'<a href="/runs/{job.hash}">its run</a>' if job.hash else formats.MISSING
    if len(compared) > 1:
        query = text(urlencode([("run", hash_) for hash_ in compared]))
        result += f', <a href="/compare?{query}">compare {len(compared)}</a>'
    changes = {State.queued: "cancel", State.under_way: "cancel", State.failed: "again"}
    change = _button(job.number, changes[State(job.state)], csrf) if job.state in changes else formats.MISSING
    settled = f"{job.settled:,} of {job.cases:,}" if job.cases else formats.MISSING
    return (
        f'<tr>{cell(str(job.number), True)}<th scope="row">{text(job.target)}</th>{state}</td><td>{result}</td>'
        f'<td>{change}</td>{cell(settled, True)}<td class="reason">{text(job.study + _options(job))}</td>'
        f"{cell(formats.day_and_time(job.asked))}</tr>"
    )


def _options(job: Job) -> str:
    given = str(JobOptions.read(job.options))
    return f" ({given})" if given else ""


def _button(number: int, what: str, csrf: str) -> str:
    word = {"cancel": "Cancel", "again": "Queue again"}[what]
    return (
        f'<form method="post" action="/queue/{number}/{what}"><input type="hidden" name="csrf" value="{text(csrf)}">'
        f'<button aria-label="{word}: job {number}">{word}</button></form>'
    )


class Sets:
    """Which runs of jobs that were asked for at once can be set beside each other: those of one kind of evidence."""

    def __init__(self, jobs: Sequence[Job], kinds: Mapping[str, str]) -> None:
        self._kinds = kinds
        self._hashes: dict[tuple[str, str], list[str]] = {}
        for job in sorted(jobs, key=lambda job: job.number):
            if job.hash is not None and job.hash in kinds:
                self._hashes.setdefault((job.batch, kinds[job.hash]), []).append(job.hash)

    def compared(self, job: Job) -> list[str]:
        """The hashes of the runs of a job's set that are of its run's kind, its own among them.

        Of more than a page of comparison holds its own and the first ones.
        """
        found = self._hashes.get((job.batch, self._kinds.get(job.hash or "", "")), [])
        if len(found) <= MOST_SIDES:
            return found
        return [job.hash or "", *(hash_ for hash_ in found if hash_ != job.hash)][:MOST_SIDES]


def _form(targets: Sequence[str], csrf: str) -> str:
    studies = "".join(
        f'<option value="{text(name)}"{" selected" if name == "quick" else ""}>{text(name)}</option>'
        for name in offered()
    )
    boxes = "".join(
        f'<label><input type="checkbox" name="target" value="{text(target)}"> {text(target)}</label> '
        for target in targets
    )
    return (
        f'<form class="filter" method="post" action="/queue"><input type="hidden" name="csrf" value="{text(csrf)}">'
        f'<label>Study <select name="study">{studies}</select></label>'
        f"<fieldset><legend>Targets</legend>{boxes}</fieldset>"
        '<label>Only (as of --only, with blanks between) <input name="only" placeholder="aes* rc4*"></label>'
        '<label>Libraries (any without) <input name="libraries" placeholder="rustcrypto openssl"></label>'
        '<label>Kinds of core (as of --core-class) <input name="core_class" placeholder="big,little"></label>'
        f"<fieldset><legend>Joules</legend>{_joules()}</fieldset><button>Measure</button></form>"
    )


def _joules() -> str:
    """By a card of the device or a meter of the target, or none."""
    known = {name: name for name in device_cards.names()}
    return (
        choice("card", "Device card", known, None, none="none")
        + '<label><input type="checkbox" name="allow_assumed" value="on"> Numbers without a verified source</label>'
        '<label>or meter (as of --meter) <input name="meter" placeholder="powercap:package-0"></label>'
        + choice("baseline", "Its baseline", dict(zip(BASELINES, BASELINES, strict=True)), None, none="")
    )


def _no_fleet() -> str:
    prose = "This lab was started without a fleet, so nothing can be measured from here. On the lab's host:"
    return paragraphs([prose]) + commands(["wattlock lab --data lab --fleet"])


def jobs_frame(jobs: Sequence[Job]) -> pl.DataFrame:
    """A row a job, as data."""
    rows = [{name: getattr(job, name) for name in FIELDS} for job in jobs]
    return pl.DataFrame(rows, schema=FIELDS, infer_schema_length=None)


def tasks_frame(tasks: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """A row a task, as data."""
    return pl.DataFrame(tasks, schema=TASK_FIELDS, infer_schema_length=None)


LOOK_S = 1.0
"""So often it is looked whether a page has to change."""
MOST_FOLLOWERS = 32
"""Pages that are told of the queue at a time."""
TEXTS = {"card": "", "meter": "", "baseline": BASELINES[0]}
JOB_FIELDS = ("study", "targets", "target", "only", "libraries", "core_class", "allow_assumed", *TEXTS, "csrf")
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
        return written(jobs_frame(queue.jobs()), form)
    return HTMLResponse(queue_page(_shown(lab, request), targets_of(request)))


@router.get("/queue/tasks.{form}", dependencies=[Reader])
def get_tasks(lab: Lab, form: str, job: Annotated[int | None, Query(ge=1, le=LARGEST)] = None) -> Response:
    """The tasks as data, of one job or of all."""
    return written(tasks_frame(Queue(lab.engine).tasks(job)), form)


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

    def look() -> QueueView:
        tokens.check(lab.engine, token, Scope.read)
        return _shown(lab, request)

    is_open, event = True, "over"
    request.app.state.followers += 1
    try:
        while is_open and not await request.is_disconnected():
            shown = await run_in_threadpool(look)
            is_open, words = shown.open_jobs > 0, live(shown)
            if words != last:
                last = words
                yield f"data: {json.dumps(words)}\n\n"
            await asyncio.sleep(LOOK_S)
    except Denied:  # the token expired or was revoked meanwhile
        event = "denied"
    finally:
        request.app.state.followers -= 1
    yield f"event: {event}\ndata: \n\n"


def _shown(lab: Lab, request: Request) -> QueueView:
    """The queue as it is now. Of the latest jobs' runs alone: it is asked each second, on a host that may measure."""
    queue = Queue(lab.engine)
    jobs = queue.jobs(LATEST)
    kinds = lab.evidence_of([job.hash for job in jobs if job.hash])
    return QueueView(jobs, queue.states(), queue.counted(), kinds, mark_of(request))


@router.post("/queue")
async def post_queue(request: Request, lab: Lab) -> Response:
    """Queues a study for one target or more: a form of the page, or JSON with the fields of `FIELDS`."""
    given, token = await given_by(request, lab)
    if unknown := sorted(given.keys() - JOB_FIELDS):
        raise InputError(f"there is no field {unknown[0][:80]!r}", hint=suggestion(unknown[0], JOB_FIELDS, "there are"))
    study, wanted = given.get("study", ""), _words(given.get("targets", given.get("target")))
    options = _options_given(given)
    known = await run_in_threadpool(targets_of, request)
    if unknown := [hash_ for hash_ in wanted if hash_ not in known]:
        raise InputError(f"the fleet has no target {unknown[0][:80]!r}", hint=f"it has {', '.join(known) or 'none'}")
    if not wanted or not isinstance(study, str):
        raise InputError("name a study and one target or more", hint='{"study": "quick", "targets": ["local"]}')
    refuse_unknown(study)
    await run_in_threadpool(refuse_hopeless, study, wanted, options)
    batch = secrets.token_hex(4)

    def put() -> list[int]:
        queue = Queue(lab.engine)
        queue.refuse_full(len(set(wanted)), token)
        return [queue.enqueue(study, name, options, batch=batch, token=token) for name in dict.fromkeys(wanted)]

    numbers = await run_in_threadpool(put)
    await noted(request, token, "queued", f"{study} for {', '.join(wanted)}"[:200])
    if is_form(request):
        return RedirectResponse("/queue", 303)
    return JSONResponse({"batch": batch, "jobs": numbers}, 201)


def _options_given(given: Mapping[str, Any]) -> JobOptions:
    """Raises InputError where one of them can't be."""
    texts = {name: given.get(name) or default for name, default in TEXTS.items()}
    if not all(isinstance(value, str) for value in texts.values()):
        raise InputError(f"{', '.join(TEXTS)} are texts", hint='"card": "x86-server-assumed"')
    return JobOptions(
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
        return [word.strip() for word in given.split(between) if word.strip()]
    found = given if isinstance(given, list) else []
    if (given is not None and found is not given) or not all(isinstance(word, str) for word in found):
        raise InputError("targets, only, libraries and core_class are lists of texts", hint='"only": ["aes*"]')
    return found


def mark_of(request: Request) -> str:
    """The mark that a form of this browser has."""
    return hmac.new(_SECRET, request.cookies.get(COOKIE, "").encode(), hashlib.sha256).hexdigest()


def targets_of(request: Request) -> list[str]:
    """The targets of the fleet, as they are now."""
    return targets(request.app.state.targets)
