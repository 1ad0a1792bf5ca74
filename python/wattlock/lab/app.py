"""The web server: who may ask, how much may be sent, and what an error looks like. Its pages are in `pages`."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, urlsplit

import polars as pl
from fastapi import APIRouter, FastAPI, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, StreamingResponse

from wattlock.errors import DiskFull, EvidenceError, InputError, StoreError, TransferRefused, WattlockError
from wattlock.lab import advice_page, collection, layout, measuring, pages, removing, tokens
from wattlock.lab.collection import Collection, Filter, NoSuchRun
from wattlock.lab.database import Away, DatabaseBusy
from wattlock.lab.doors import (
    BURST,
    COOKIE,
    Crowded,
    Known,
    Lab,
    Pace,
    PER_s,
    Reader,
    Refusals,
    Sender,
    TooMuch,
    TooSlow,
    Uploads,
    WINDOW_s,
    address_of,
    allowed,
    bearer,
    body_of,
    host_of,
    noted,
    page_turns,
    received,
    refused,
    written,
)
from wattlock.lab.drawn_runs import drawn_comparison, drawn_report, drawn_run
from wattlock.lab.fleet import job_pages as fleet_routes
from wattlock.lab.fleet import plan_page
from wattlock.lab.fleet.job_options import Hopeless
from wattlock.lab.fleet.queue import QueueFull
from wattlock.lab.log_page import Audit
from wattlock.lab.pack import LARGEST_B, MEDIA_TYPE, packed, size_B
from wattlock.lab.tokens import Denied, Scope
from wattlock.page.server import LOCALHOST, is_own
from wattlock.report.compared import MOST_SIDES

HEAVY = re.compile(r"/(runs/[^/]+(/report)?|(compare|papers|advise|plan|change)(\.\w+)?)")
"""What a run is read back for, or a question answered."""
Answer = Callable[[Request], Awaitable[Response]]
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; base-uri 'none'"
)
"""A whole report draws by scripts within it: it gets an origin of its own, and reaches nothing of the lab."""
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Other sites learn no address of a page; with `no-referrer` a browser would hide its own forms' origin here too."""
STATUS: dict[type[WattlockError], int] = {
    NoSuchRun: 404,
    Hopeless: 422,
    QueueFull: 429,
    InputError: 400,
    EvidenceError: 409,
    TooSlow: 408,
    TooMuch: 413,
    Crowded: 503,
    measuring.NoModule: 503,
    TransferRefused: 422,
    DatabaseBusy: 503,
    Away: 503,
    DiskFull: 507,
    StoreError: 500,
}
"""The first kind that an error is of."""


def make(lab: Collection, names: frozenset[str] = frozenset(), targets: Sequence[str] = ()) -> FastAPI:
    """The server of a lab.

    * `names`: names of this host that a browser may use beside its addresses in numbers and `localhost`.
    * `targets`: of its fleet, as it was started with.
    """
    app = FastAPI(title="wattlock lab", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.lab, app.state.names = lab, names | {LOCALHOST}
    app.state.refusals, app.state.strays, app.state.uploads = Refusals(), Refusals(), Uploads()
    app.state.audit, app.state.pace, app.state.known = Audit(lab.engine), Pace(), Known()
    app.state.targets, app.state.followers = targets, 0
    app.state.measuring = measuring.PageMeasuring(lab)
    app.include_router(_router)
    app.include_router(fleet_routes.router)
    app.include_router(measuring.router)
    app.include_router(pages.router)
    app.include_router(advice_page.router)
    app.include_router(plan_page.router)
    app.include_router(removing.router)
    app.middleware("http")(_guard)
    app.exception_handler(WattlockError)(_refused)
    app.exception_handler(RequestValidationError)(_misread)
    app.exception_handler(HTTPException)(_unknown)
    app.exception_handler(404)(_unknown)
    app.exception_handler(405)(_unknown)
    app.exception_handler(Exception)(_failed)
    return app


async def _guard(request: Request, answer: Answer) -> Response:
    """Refuses what another site's page makes a browser ask, and sets the headers of every answer."""
    host = request.headers.get("host", "")
    if not is_own(host, request.app.state.names):
        what = f"this lab is not called {host[:80]!r}"
        response = _said(request, what, "use its address in numbers, or start it with --name", 421)
    elif request.method not in {"GET", "HEAD"} and _is_foreign(request, host):
        response = _said(request, "a page of another site asked for this", "open the lab's own page", 403)
    elif HEAVY.fullmatch(request.url.path) and (wait_s := request.app.state.pace.wait_s(_who(request))):
        what = f"more was asked for than a lab works out: {BURST} pages at once, and then {PER_s:.0f} a second"
        response = _said(request, what, f"wait {wait_s} s, then try again", 429)
        response.headers["Retry-After"] = str(wait_s)
    else:
        response = await (_head(request, answer) if request.method == "HEAD" else answer(request))
    response.headers.setdefault("Content-Security-Policy", POLICY)
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    return response


async def _head(request: Request, answer: Answer) -> Response:
    """What GET would say without its body (RFC 9110, section 9.3.2): each page that has the one has the other."""
    request.scope["method"] = "GET"
    try:
        found = await answer(request)
    finally:
        request.scope["method"] = "HEAD"  # the web server shares it, and sends no body by it
    response = Response(status_code=found.status_code)
    response.raw_headers = found.raw_headers
    return response


def _who(request: Request) -> str:
    """Whom to count: a token that let in, as behind a reverse proxy all have one address, else the host."""
    who: str | None = request.app.state.known.by(bearer(request) or request.cookies.get(COOKIE))
    return who or host_of(address_of(request))


def _is_foreign(request: Request, host: str) -> bool:
    """Whether a page of another origin asked; programs name none, browsers always where they change something."""
    origin = request.headers.get("origin")
    try:
        return origin is not None and urlsplit(origin).netloc != host
    except ValueError:
        return True


def _refused(request: Request, error: Exception) -> Response:
    if not isinstance(error, WattlockError):
        raise error
    known = (number for kind, number in STATUS.items() if isinstance(error, kind))
    status = error.status if isinstance(error, Denied) else next(known, 500)
    if status == 401 and layout.wants_html(request):
        return RedirectResponse("/login", 303)
    response = _said(request, error.message.removeprefix(f"{request.app.state.lab.data}/"), error.hint, status)
    if status == 429:
        response.headers["Retry-After"] = f"{WINDOW_s:.0f}"
    return response


def _unknown(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else getattr(error, "status_code", 404)
    return _said(request, f"there is no {request.method} {request.url.path[:80]}", "the first page has links", status)


def _misread(request: Request, error: Exception) -> Response:
    """A part of the address that is none of the values it can have."""
    if not isinstance(error, RequestValidationError):
        raise error
    first = error.errors()[0]
    what = str(first["msg"])
    return _said(
        request,
        f"{first['loc'][-1]}: {what[:1].lower()}{what[1:]}",
        "the lab's own pages and data have the numbers that there are",
        400,
    )


def _failed(request: Request, _error: Exception) -> Response:
    return _said(request, "the lab failed; all runs are kept", "what failed is in the output of `wattlock lab`", 500)


def _said(request: Request, error: str, hint: str, status: int) -> Response:
    """An error in the project's two lines: JSON, or a page for a browser."""
    if layout.wants_html(request):
        return HTMLResponse(pages.refusal(error, hint), status)
    return JSONResponse({"error": error, "hint": hint}, status)


_router = APIRouter()


@_router.get("/runs/{hash_}/wanted", dependencies=[allowed(Scope.send)])
def get_wanted(hash_: str, lab: Lab) -> Response:
    """Whether the lab lacks a run: asked before it is sent."""
    return JSONResponse({"wanted": not lab.has(hash_)})


@_router.put("/runs/{hash_}")
async def put_run(request: Request, hash_: str, lab: Lab, token: Sender) -> Response:
    """Takes a sealed run: a tar of its four files. 201 where it is new, 200 where it is there already."""
    if not re.fullmatch("[0-9a-f]{64}", hash_):
        raise InputError(
            f"{hash_[:80]!r} is no hash of a run", hint="SHA-256 of its SHA256SUMS: `wattlock push` knows it"
        )
    if request.headers.get("content-type") != MEDIA_TYPE:
        raise InputError("a run comes as a plain tar", hint=f"Content-Type: {MEDIA_TYPE}; `wattlock push` does it")
    with request.app.state.uploads.one(token), lab.arriving() as place:
        await _spool(request, place / "pack")
        by = tokens.By(token, address_of(request))
        is_new = await run_in_threadpool(lab.admit, place / "pack", hash_, by)
    return JSONResponse({"hash": hash_, "new": is_new}, 201 if is_new else 200)


async def _spool(request: Request, to: Path) -> None:
    """Writes what is sent to a file. The errors are those of `received`."""
    with to.open("xb") as file:
        async for step in received(request, LARGEST_B):
            file.write(step)


@_router.get("/runs/{hash_}/pack", dependencies=[Reader])
def get_pack(hash_: str, lab: Lab) -> Response:
    """A sealed run as it was sent, bit by bit."""
    run = lab.find(hash_)
    path = lab.folder(run.hash).path
    headers = {"Content-Length": str(size_B(path)), "X-Wattlock-Hash": run.hash}
    return StreamingResponse(packed(path), media_type=MEDIA_TYPE, headers=headers)


@_router.get("/runs/{hash_}/report", dependencies=[Reader])
def get_report(hash_: str, lab: Lab) -> Response:
    """The whole report of a run."""
    with page_turns.one():
        page = drawn_report(lab.reading(lab.find(hash_).hash))
    return HTMLResponse(page, headers={"Content-Security-Policy": REPORT_POLICY})


@_router.get("/runs/{name}", dependencies=[Reader])
def get_run(request: Request, name: str, lab: Lab) -> Response:
    """One run: HASH is its page, HASH.json and HASH.csv are its cases, each with its run and whether that is valid."""
    digits, _, form = name.partition(".")
    run = lab.find(digits)
    if form:
        lab.folder(run.hash)
        return written(pages.cases_frame(run), form)
    with page_turns.one():
        return HTMLResponse(pages.run(run, drawn_run(lab.reading(run.hash)), removing.mark_for(request, lab)))


@_router.get("/runs", dependencies=[Reader])
@_router.get("/runs.{form}", dependencies=[Reader])
def get_runs(
    lab: Lab,
    *,
    form: str = "",
    device: str | None = None,
    study: str | None = None,
    library: str | None = None,
    evidence: str | None = None,
    show: Literal["", "all"] = "",
) -> Response:
    """The runs that a filter keeps; an empty value is no filter. The page has the latest, or `show=all`; data all."""
    wanted = Filter(*(value or None for value in (device, study, library, evidence)))
    if form:
        return written(pages.runs_frame(lab.runs(wanted)), form)
    found = lab.runs(wanted, None if show else pages.LATEST_OF_LIST)
    return HTMLResponse(pages.runs(found, lab.count(wanted), wanted, lab.choices(), lab.devices()))


@_router.get("/compare", dependencies=[Reader])
@_router.get("/compare.{form}", dependencies=[Reader])
def get_compare(request: Request, lab: Lab, form: str = "") -> Response:
    """Runs against the first one: `run=HASH`, several times."""
    named = list(dict.fromkeys(request.query_params.getlist("run")))
    if len(named) > MOST_SIDES:  # each is hashed and read back
        hint = "pick fewer; `wattlock compare --format csv` compares any number"
        raise InputError(f"a page holds {MOST_SIDES} runs, these are {len(named)}", hint=hint)
    found = [lab.find(digits) for digits in named]
    if len(found) < 2:
        if form:
            raise InputError("name two runs or more", hint="/compare.json?run=HASH&run=HASH")
        return HTMLResponse(pages.choose(lab.runs(), {run.hash for run in found}))
    with page_turns.one():
        drawn = drawn_comparison([lab.reading(run.hash) for run in found])
    if form:
        return written(drawn.table, form)
    return HTMLResponse(pages.compare(found, drawn))


@_router.get("/log.{form}", dependencies=[allowed(Scope.admin)])
def get_log(lab: Lab, form: str) -> Response:
    """The audit log as data."""
    return written(
        pl.DataFrame(tokens.actions(lab.engine), schema=tokens.ACTION_FIELDS, infer_schema_length=None), form
    )


@_router.get("/", dependencies=[Reader])
def get_overview(request: Request, lab: Lab) -> Response:
    """The first page: devices, and the latest runs."""
    address = layout.address_of_lab(request)
    latest, are_examples = lab.runs(most=pages.LATEST), collection.are_in(lab.data)
    return HTMLResponse(pages.overview(lab.devices(), latest, address, are_examples=are_examples))


@_router.get("/login")
def get_login(lab: Lab) -> Response:
    """Asks for a token."""
    return RedirectResponse("/", 303) if tokens.is_open(lab.engine) else HTMLResponse(pages.login())


@_router.post("/login")
async def post_login(request: Request, lab: Lab) -> Response:
    """Takes a token that reads, and keeps it in a cookie that no script sees and no other site sends."""
    origin = request.headers.get("origin")
    if origin is None:
        raise Denied("a login comes from the lab's own page", hint="open /login in a browser", status=403)
    body = await body_of(request)
    token = parse_qs(body.decode("ascii", "replace")).get("token", [""])[0].strip()
    try:
        id_ = await run_in_threadpool(tokens.check, lab.engine, token, Scope.read)
    except Denied as error:
        await refused(request, error)
        return HTMLResponse(pages.login(error), error.status)
    await noted(request, id_, "logged in", "")
    response = RedirectResponse("/", 303)
    # The lab itself speaks http: that the page came over https, by a reverse proxy, only the browser knows.
    is_secure = urlsplit(origin).scheme == "https"
    response.set_cookie(COOKIE, token, httponly=True, samesite="strict", secure=is_secure)
    return response


@_router.post("/logout")
def post_logout() -> Response:
    """Forgets the token."""
    response = RedirectResponse("/login", 303)
    response.delete_cookie(COOKIE)
    return response


@_router.get("/assets/{name}")
def get_asset(name: str) -> Response:
    """The style and the scripts of the pages."""
    found = layout.asset(name)
    if found is None:
        raise HTTPException(404)
    kind = "text/css" if name.endswith(".css") else "text/javascript"
    return Response(found, media_type=kind, headers={"Cache-Control": "max-age=300"})
