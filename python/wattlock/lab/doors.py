"""What the routes of a lab share: who may come in, what they are given, and how a frame is sent as data."""

from __future__ import annotations

import time
from typing import Annotated, Any

import polars as pl
from fastapi import Depends, Request, Response

from wattlock.errors import InputError
from wattlock.lab import tokens
from wattlock.lab.collection import Collection, NoSuchRun
from wattlock.lab.drawing import Drawing
from wattlock.lab.tokens import Denied, Scope
from wattlock.report.written import flat, json_array

COOKIE = "wattlock_lab"
REFUSALS, WINDOW_s = 20, 60.0
"""So many refused tokens from one address in so many seconds, and it has to wait."""


LONGEST_FORM_B = 4096


class Refusals:
    """Counts refused tokens by address, so that nobody fills the audit log; a good token is never held up."""

    def __init__(self) -> None:
        self._at: dict[str, list[float]] = {}

    def note(self, address: str) -> None:
        """Counts one. Raises Denied where too many from this address were refused just now."""
        since = time.monotonic() - WINDOW_s
        recent = [at for at in self._at.pop(address, []) if at > since]
        is_full = len(recent) >= REFUSALS
        self._at[address] = recent if is_full else [*recent, time.monotonic()]
        if is_full:
            hint = f"wait {WINDOW_s:.0f} s, then try again"
            raise Denied("too many tokens from this address were refused", hint=hint, status=429)


def address_of(request: Request) -> str:
    """Where a request came from."""
    return request.client.host if request.client else "unknown"


def allowed(scope: Scope) -> Any:
    """Lets in who has a token of this scope, and gives the token's id; a cookie is good for reading alone."""

    def check(request: Request) -> str | None:
        word, _, token = request.headers.get("authorization", "").partition(" ")
        given = token.strip() if word.lower() == "bearer" else None
        if given is None and request.method in {"GET", "HEAD"}:
            given = request.cookies.get(COOKIE)
        try:
            return tokens.check(request.app.state.lab.engine, given, scope)
        except Denied as error:
            if given:
                note_refused(request, error)
            raise

    return Depends(check)


async def body_of(request: Request, most_B: int = LONGEST_FORM_B) -> bytes:
    """What was sent. Raises InputError where it is longer than any form of the lab, or than `most_B`."""
    body = b""
    async for step in request.stream():
        body += step
        if len(body) > most_B:
            raise InputError(f"a form has at most {most_B} B", hint="send less: a token is one line")
    return body


def note_refused(request: Request, error: Denied) -> None:
    """Writes a refused token into the audit log; raises Denied where the address sent too many that are none."""
    address = address_of(request)
    if error.status == 401:
        request.app.state.refusals.note(address)
    tokens.note(request.app.state.lab.engine, None, address, "refused", request.url.path[:200])


def _lab(request: Request) -> Collection:
    lab: Collection = request.app.state.lab
    return lab


def _drawing(request: Request) -> Drawing:
    drawing: Drawing = request.app.state.drawing
    return drawing


Lab = Annotated[Collection, Depends(_lab)]
Draws = Annotated[Drawing, Depends(_drawing)]
Sender = Annotated[str | None, allowed(Scope.send)]
Reader = allowed(Scope.read)


def written(frame: pl.DataFrame, form: str) -> Response:
    """A frame as JSON or CSV. Raises NoSuchRun for another form."""
    if form == "json":
        return Response(json_array(frame) + "\n", media_type="application/json")
    if form == "csv":
        return Response(flat(frame).write_csv(), media_type="text/csv; charset=utf-8")
    raise NoSuchRun(f"there is no form {form[:20]!r}", hint="json or csv")
