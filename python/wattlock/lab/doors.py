"""What the routes of a lab share: who may come in and how often, what they are given, how a frame is sent as data."""

from __future__ import annotations

import asyncio
import hashlib
import math
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address, ip_network
from typing import Annotated, Any

import polars as pl
from fastapi import Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from wattlock.errors import TransferRefused
from wattlock.lab import tokens
from wattlock.lab.collection import Collection, NoSuchRun
from wattlock.lab.database import DatabaseBusy
from wattlock.lab.tokens import By, Denied, Scope
from wattlock.report.written import csv_text, json_array

COOKIE = "wattlock_lab"
REFUSALS, WINDOW_s = 20, 60.0
"""So many refused tokens from one address in so many seconds, and it has to wait."""
MOST_ADDRESSES = 10_000
"""Addresses that are remembered at a time; of more the one that was quiet for longest is forgotten."""
GRACE_s, SLOWEST_B_s, LONGEST_s = 30.0, 10_000, 900.0
"""What is sent has this long to begin with, then comes at this rate or faster on average, and is there by the last."""
LONGEST_FORM_B = 4096
MOST_UPLOADS, MOST_OF_ONE = 4, 2
"""Runs that may arrive at a time: each may take 0.7 GB of disk, and a process with 6 GB of addresses to be read.
Of one token fewer, so that nobody holds all places."""


class Crowded(TransferRefused):
    """As many runs as may are arriving."""


class TooMuch(TransferRefused):
    """More is sent, or announced, than is taken there."""


class TooSlow(TransferRefused):
    """What was announced doesn't come."""


class Refusals:
    """Counts refused tokens by address, so that nobody fills the audit log; a good token is never held up."""

    def __init__(self) -> None:
        self._at: dict[str, list[float]] = {}

    def note(self, address: str) -> None:
        """Counts one. Raises Denied where too many from this address were refused just now."""
        if not self.counts(address):
            hint = f"wait {WINDOW_s:.0f} s, then try again"
            raise Denied("too many tokens from this address were refused", hint=hint, status=429)

    def counts(self, address: str) -> bool:
        """Counts one; gives whether it is among the first in its time."""
        since, host = time.monotonic() - WINDOW_s, host_of(address)
        recent = [at for at in self._at.pop(host, []) if at > since]
        is_full = len(recent) >= REFUSALS
        self._at[host] = recent if is_full else [*recent, time.monotonic()]  # the last of the dictionary
        if len(self._at) > MOST_ADDRESSES:
            del self._at[next(iter(self._at))]
        return not is_full


class Uploads:
    """The runs that are arriving."""

    def __init__(self) -> None:
        self._by: list[str | None] = []

    @contextmanager
    def one(self, token: str | None) -> Iterator[None]:
        """Counts one in, and out at its end. Raises Crowded where as many as may are arriving.

        * `token`: the id of who sends it; null in a lab without tokens.
        """
        if token is not None and self._by.count(token) >= MOST_OF_ONE:
            what = f"{MOST_OF_ONE} runs are arriving by the token {token}, and no more may"
            raise Crowded(what, hint="send it again in a minute")
        if len(self._by) >= MOST_UPLOADS:
            raise Crowded(f"{MOST_UPLOADS} runs are arriving, and no more may", hint="send it again in a minute")
        self._by.append(token)
        try:
            yield
        finally:
            self._by.remove(token)


async def received(request: Request, most_B: int) -> AsyncIterator[bytes]:
    """What a request carries, step by step.

    Raises TooMuch where it is, or says that it is, more than `most_B`, TransferRefused where it is cut, TooSlow where
    it doesn't come.
    """
    too_long = TooMuch(f"more was sent than {most_B} B, the limit here", hint="send less; `wattlock push` sends runs")
    announced = request.headers.get("content-length", "0")
    if not announced.isdecimal() or int(announced[:20]) > most_B:
        raise too_long
    begun, count_B, steps = time.monotonic(), 0, request.stream()
    try:
        while True:
            left_s = begun + min(GRACE_s + count_B / SLOWEST_B_s, LONGEST_s) - time.monotonic()
            step = await asyncio.wait_for(anext(steps, b""), left_s)
            count_B += len(step)
            if count_B > most_B:
                raise too_long
            if not step:
                return
            yield step
    except TimeoutError:
        what = f"{count_B} B came in {time.monotonic() - begun:.0f} s, and no more was waited for"
        raise TooSlow(what, hint="send it again over a faster connection") from None
    except ClientDisconnect:
        raise TransferRefused("the sender went away", hint="send it again") from None


def address_of(request: Request) -> str:
    """Where a request came from."""
    return request.client.host if request.client else "unknown"


def bearer(request: Request) -> str | None:
    """The token that a program gives."""
    word, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if word.lower() == "bearer" else None


def reading(request: Request) -> str | None:
    """The token of who reads: a program's, or that of a browser."""
    return bearer(request) or request.cookies.get(COOKIE)


def allowed(scope: Scope) -> Any:
    """Lets in who has a token of this scope, and gives the token's id; a cookie is good for reading alone."""

    def check(request: Request) -> str | None:
        given = reading(request) if request.method in {"GET", "HEAD"} else bearer(request)
        try:
            id_ = tokens.check(request.app.state.lab.engine, given, scope)
        except Denied as error:
            if given:
                note_refused(request, error)
            raise
        if given and id_ is not None:
            request.app.state.known.note(given)
        return id_

    return Depends(check)


async def body_of(request: Request, most_B: int = LONGEST_FORM_B) -> bytes:
    """What was sent. The errors are those of `received`."""
    return b"".join([step async for step in received(request, most_B)])


def note_refused(request: Request, error: Denied) -> None:
    """Writes a refused token into the audit log; raises Denied where the address sent too many that are none.

    Of good tokens of another scope the first lines of a minute are written. It waits for the database: not on the
    event loop, where `refused` does it.
    """
    address = address_of(request)
    if error.status == 401:
        request.app.state.refusals.note(address)
    elif not request.app.state.strays.counts(address):
        return
    request.app.state.audit.note(By(None, address), "refused", request.url.path[:200])


async def refused(request: Request, error: Denied) -> None:
    """The same from the event loop."""
    await run_in_threadpool(note_refused, request, error)


async def noted(request: Request, token: str | None, what: str, subject: str) -> None:
    """Writes what was done by a token into the audit log, now or when the database can be written again."""
    await run_in_threadpool(request.app.state.audit.note, By(token, address_of(request)), what, subject)


def _lab(request: Request) -> Collection:
    lab: Collection = request.app.state.lab
    return lab


Lab = Annotated[Collection, Depends(_lab)]
Sender = Annotated[str | None, allowed(Scope.send)]
Reader = allowed(Scope.read)


def written(frame: pl.DataFrame, form: str) -> Response:
    """A frame as JSON or CSV. Raises NoSuchRun for another form."""
    if form == "json":
        return Response(json_array(frame) + "\n", media_type="application/json")
    if form == "csv":
        return Response(csv_text(frame), media_type="text/csv; charset=utf-8")
    raise NoSuchRun(f"there is no form {form[:20]!r}", hint="json or csv")


ONE_HOST_BITS = {4: 32, 6: 64}
"""How much of an address of this version names whom to count: of IPv6 a host has 2^64 of them."""
BURST, PER_s = 300, 5.0
"""So many pages that take long at once, and then so many a second: who clicks asks for far fewer."""
MOST_ASKERS = 10_000
"""Who is remembered at a time; of more the one that was quiet for longest is forgotten, who has a whole burst again."""


def host_of(address: str) -> str:
    """What names the host of an address, whichever of its own it took."""
    try:
        bits = ONE_HOST_BITS[ip_network(address).version]
        return str(ip_network(f"{address}/{bits}", strict=False))
    except ValueError:
        return address


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, as a reverse proxy is."""
    try:
        return ip_address(host.partition("/")[0]).is_loopback or host == host_of("::1")
    except ValueError:
        return False


class Known:
    """The tokens that let somebody in lately: others are made up at will, and each would have a pace of its own."""

    def __init__(self) -> None:
        self._digests: OrderedDict[str, None] = OrderedDict()

    def note(self, token: str) -> None:
        """Takes in one that let in."""
        self._digests[_digest(token)] = None
        self._digests.move_to_end(_digest(token))
        if len(self._digests) > MOST_ASKERS:
            self._digests.popitem(last=False)

    def by(self, token: str | None) -> str | None:
        """What names it; null where it did not let in."""
        return digest if token and (digest := _digest(token)) in self._digests else None


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


class Pace:
    """A bucket of tokens for each who asks (RFC 2698 calls it that): full at first, one is taken by a request."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, who: str) -> int:
        """Counts a request in; gives 0, or after how many seconds it may be asked again."""
        now = self._clock()
        left, at = self._left.pop(who, (float(BURST), now))
        left = min(float(BURST), left + (now - at) * PER_s)
        self._left[who] = (left - 1 if left >= 1 else left, now)
        if len(self._left) > MOST_ASKERS:
            self._left.popitem(last=False)
        return 0 if left >= 1 else math.ceil((1 - left) / PER_s)


AT_ONCE, PATIENCE_s = 2, 30.0
MOST_WAITING, MOST_WAITING_FOR_PAGES = 8, 16
"""Who waits has one of the server's 40 threads: the others are for pages that take none of this."""


class Turns:
    """What of a kind is under way, and who waits for it."""

    def __init__(self, most_waiting: int = MOST_WAITING) -> None:
        self._places = threading.BoundedSemaphore(AT_ONCE + most_waiting)
        self._turns = threading.BoundedSemaphore(AT_ONCE)

    @contextmanager
    def one(self) -> Iterator[None]:
        """Waits for a turn, and has it to the end. Raises Busy where others have to be answered first."""
        busy = DatabaseBusy("other questions are being answered", hint="try again in a minute")
        if not self._places.acquire(blocking=False):
            raise busy
        try:
            if not self._turns.acquire(timeout=PATIENCE_s):
                raise busy
            try:
                yield
            finally:
                self._turns.release()
        finally:
            self._places.release()


turns = Turns()
"""Of this process: advice and the planner share them."""
page_turns = Turns(MOST_WAITING_FOR_PAGES)
"""Of this process: pages for which whole runs are read back and drawn share them."""
