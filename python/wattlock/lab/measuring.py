"""The lab's page by which a device measures itself: the instrument's own page, whose run enters the lab like any."""

from __future__ import annotations

import threading
import traceback
from functools import cached_property
from urllib.parse import parse_qs

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse

from wattlock.errors import ProbeError, WattlockError
from wattlock.lab import pages, tokens
from wattlock.lab.collection import Collection
from wattlock.lab.doors import Lab, body_of, noted, refused
from wattlock.lab.layout import address_of_lab
from wattlock.lab.pack import packed
from wattlock.lab.tokens import Denied, Scope
from wattlock.page.server import HEADERS, files_of, posted, room_B
from wattlock.page.visits import Refusal, Visitor, Visits, find, measure
from wattlock.store import RunFolder
from wattlock.store.run_folder import sums_sha256

PLACE, STUDY = "/measure-this-device", "page"
LOOK_S = 3_600.0
router = APIRouter()


class NoModule(ProbeError):
    """The lab has no instrument for browsers."""


class PageMeasuring:
    """The visits of a lab's page, measured one after the other in a thread that the first of them starts."""

    def __init__(self, lab: Collection) -> None:
        self._lab = lab
        self._lock = threading.Lock()

    @property
    def visits(self) -> Visits:
        """Raises NoModule where the module is missing."""
        with self._lock:
            return self._visits

    @cached_property
    def _visits(self) -> Visits:
        try:
            found = find()
        except ProbeError as error:  # which says where it was looked for: that is not for those who ask
            raise NoModule("this lab lacks the module by which a browser measures itself", hint=error.hint) from error
        visits = Visits(found, once=True, lost=f"open {PLACE} again")
        threading.Thread(target=self._measure, args=[visits], daemon=True).start()
        return visits

    @cached_property
    def files(self) -> dict[str, tuple[str, bytes]]:
        """The page's files with their types, by path."""
        return files_of(self.visits)

    def _measure(self, visits: Visits) -> None:
        while True:
            if (visitor := visits.next(LOOK_S)) is not None:
                self._measured(visitor)

    def _measured(self, visitor: Visitor) -> None:
        message = "The lab failed: see the output of `wattlock lab`."
        try:
            with self._lab.arriving() as place:
                measure(visitor, STUDY, place / "measured", self._entered)
        except WattlockError as error:
            message = f"{error.message}. {error.hint}"
        except Exception:  # noqa: BLE001 - a bug costs the visit that found it, and no other one
            traceback.print_exc()
        if not visitor.state["is_over"]:
            visitor.shows(said=message, is_over=True, table=None, words=[])

    def _entered(self, folder: RunFolder) -> str:
        """Takes the run in as one that was sent."""
        name = sums_sha256(folder)
        pack = folder.path.parents[1] / "pack"
        pack.write_bytes(b"".join(packed(folder.path)))
        self._lab.admit(pack, name)
        return f"Done: the lab has it as run {name[:12]}."


def _measuring(request: Request) -> PageMeasuring:
    found: PageMeasuring = request.app.state.measuring
    return found


def _begin(request: Request) -> Response:
    return RedirectResponse(f"{PLACE}/#{_measuring(request).visits.key}", 303)


@router.get(PLACE)
def get_door(request: Request, lab: Lab) -> Response:
    """The page, in a lab without tokens; else it asks for one that sends."""
    begun = _begin(request)
    if tokens.is_open(lab.engine):
        return begun
    return HTMLResponse(pages.measure_door(PLACE, address=address_of_lab(request)))


@router.post(PLACE)
async def post_door(request: Request, lab: Lab) -> Response:
    """Takes a token that sends; the page's address then has a key for one visit."""
    body = await body_of(request)
    token = parse_qs(body.decode("ascii", "replace")).get("token", [""])[0].strip()
    try:
        id_ = await run_in_threadpool(tokens.check, lab.engine, token, Scope.send)
    except Denied as error:
        await refused(request, error)
        return HTMLResponse(pages.measure_door(PLACE, error), error.status)
    await noted(request, id_, "may measure itself", "")
    return await run_in_threadpool(_begin, request)


@router.get(PLACE + "/{name:path}")
def get_file(request: Request, name: str) -> Response:
    """A file of the instrument's page: nothing of the lab is in them."""
    found = _measuring(request).files.get(f"/{name}")
    if found is None:
        raise HTTPException(404)
    return Response(found[1], media_type=found[0], headers=HEADERS)


@router.post(PLACE + "/{what}")
async def post_words(request: Request, what: str) -> Response:
    """What a page says, judged as by `wattlock page`; without the key, or a visit under way, it is refused."""
    visits = await run_in_threadpool(lambda: _measuring(request).visits)
    query = dict(request.query_params)
    try:
        with room_B(visits, f"/{what}", query) as most_B:
            body = await body_of(request, most_B)
            answer = await run_in_threadpool(posted, visits, f"/{what}", query, body)
    except Refusal as refusal:
        return JSONResponse({"error": refusal.message, "hint": refusal.hint}, refusal.status)
    return JSONResponse(answer)
