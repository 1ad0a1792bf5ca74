"""The web server: who may ask, how much may be sent, and what an error looks like. Its pages are in `pages`."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import polars as pl
from fastapi import APIRouter, FastAPI, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, StreamingResponse

from wattlock.errors import DiskFull, EvidenceError, InputError, StoreError, TransferRefused, WattlockError
from wattlock.lab import advice_routes, examples, layout, measuring, pages, tokens, views
from wattlock.lab.collection import Collection, Filter, NoSuchRun
from wattlock.lab.database import Away, Busy
from wattlock.lab.doors import (
    COOKIE,
    Crowded,
    Draws,
    Lab,
    Reader,
    Refusals,
    Sender,
    TooSlow,
    Uploads,
    address_of,
    allowed,
    body_of,
    note_refused,
    received,
    written,
)
from wattlock.lab.drawing import Drawing
from wattlock.lab.fleet import plan_routes
from wattlock.lab.fleet import routes as fleet_routes
from wattlock.lab.pack import LARGEST_B, MEDIA_TYPE, packed, size_B
from wattlock.lab.tokens import Denied, Scope
from wattlock.report.compare_facts import MOST_SIDES

Answer = Callable[[Request], Awaitable[Response]]
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline' 'unsafe-eval'; img-src data:; frame-ancestors 'none'; base-uri 'none'"
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
    InputError: 400,
    EvidenceError: 409,
    TooSlow: 408,
    Crowded: 503,
    TransferRefused: 422,
    Busy: 503,
    Away: 503,
    DiskFull: 507,
    StoreError: 500,
}
"""The first kind that an error is of."""


def make(
    lab: Collection, drawing: Drawing, names: frozenset[str] = frozenset(), targets: Sequence[str] = ()
) -> FastAPI:
    """The server of a lab.

    * `names`: names of this host that a browser may use beside its addresses in numbers and `localhost`.
    * `targets`: of its fleet, as it was started with.
    """
    app = FastAPI(title="wattlock lab", docs_url=None, redoc_url=None)
    app.state.lab, app.state.drawing = lab, drawing
    app.state.names = names | {"localhost"}
    app.state.refusals, app.state.uploads = Refusals(), Uploads()
    app.state.targets, app.state.followers = targets, 0
    app.state.measuring = measuring.Measuring(lab)
    app.include_router(_router)
    app.include_router(fleet_routes.router)
    app.include_router(measuring.router)
    app.include_router(views.router)
    app.include_router(advice_routes.router)
    app.include_router(plan_routes.router)
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
    if not _is_own(host, request.app.state.names):
        what = f"this lab is not called {host[:80]!r}"
        response = _said(request, what, "use its address in numbers, or start it with --name", 421)
    elif request.method not in {"GET", "HEAD"} and _is_foreign(request, host):
        response = _said(request, "a page of another site asked for this", "open the lab's own page", 403)
    else:
        response = await answer(request)
    response.headers.setdefault("Content-Security-Policy", POLICY)
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    return response


def _is_own(host: str, names: frozenset[str]) -> bool:
    """Whether a browser asked by an address or a known name: a foreign name that leads here is another site's."""
    name = ""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        ip_address(name)
    except ValueError:
        return name in names
    return True


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
    return _said(request, error.message.removeprefix(f"{request.app.state.lab.data}/"), error.hint, status)


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
    with request.app.state.uploads.one(), lab.arriving() as place:
        await _spool(request, place / "pack")
        is_new = await run_in_threadpool(lab.admit, place / "pack", hash_)
    tokens.note(lab.engine, token, address_of(request), "sent" if is_new else "sent again", hash_)
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
def get_report(hash_: str, lab: Lab, drawing: Draws) -> Response:
    """The whole report of a run."""
    page = drawing.report(lab.reading(lab.find(hash_).hash))
    return HTMLResponse(page, headers={"Content-Security-Policy": REPORT_POLICY})


@_router.get("/runs/{name}", dependencies=[Reader])
def get_run(name: str, lab: Lab, drawing: Draws) -> Response:
    """One run: HASH is its page, HASH.json and HASH.csv are its cases, each with its run and whether that is valid."""
    digits, _, form = name.partition(".")
    run = lab.find(digits)
    if form:
        lab.folder(run.hash)
        return written(pages.cases_frame(run), form)
    return HTMLResponse(pages.run(run, drawing.run(lab.reading(run.hash))))


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
) -> Response:
    """The runs that a filter keeps; an empty value is no filter."""
    wanted = Filter(*(value or None for value in (device, study, library, evidence)))
    found = lab.runs(wanted)
    if form:
        return written(pages.runs_frame(found), form)
    return HTMLResponse(pages.runs(found, wanted, lab.choices(), lab.devices()))


@_router.get("/compare", dependencies=[Reader])
@_router.get("/compare.{form}", dependencies=[Reader])
def get_compare(request: Request, lab: Lab, drawing: Draws, form: str = "") -> Response:
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
    drawn = drawing.compare([lab.reading(run.hash) for run in found])
    if form:
        return written(drawn.table, form)
    return HTMLResponse(pages.compare(found, drawn))


@_router.get("/log.{form}", dependencies=[allowed(Scope.admin)])
def get_log(lab: Lab, form: str) -> Response:
    """The audit log as data."""
    return written(pl.DataFrame(tokens.actions(lab.engine), infer_schema_length=None), form)


@_router.get("/", dependencies=[Reader])
def get_overview(request: Request, lab: Lab) -> Response:
    """The first page: devices, and the latest runs."""
    address = str(request.base_url).rstrip("/")
    latest, are_examples = lab.runs(most=pages.LATEST), examples.are_in(lab.data)
    return HTMLResponse(pages.overview(lab.devices(), latest, lab.count(), address, are_examples=are_examples))


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
        note_refused(request, error)
        return HTMLResponse(pages.login(error), error.status)
    tokens.note(lab.engine, id_, address_of(request), "logged in", "")
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
