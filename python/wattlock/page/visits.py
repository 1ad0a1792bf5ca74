"""Who visits the server, and what they may post: one page is measured at a time, and nothing is believed unjudged."""

from __future__ import annotations

import queue
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wattlock.errors import WattlockError
from wattlock.page.module import Module
from wattlock.page.target import GONE_S, Ended, Job, PageTarget

MOST_LINES_B, MOST_WORDS_B = 8 * 2**20, 64 * 2**10
"""A page hands on some hundred kB of lines at a time; what else it says is bounded field by field."""

POLL_S = 15.0
AT_ONCE = 3
"""Posts of one visit that are read at a time: a page makes one after the other."""
Words = Annotated[str, Field(max_length=500)]
Loops = Annotated[int, Field(ge=1, le=2**40)]


class Device(BaseModel):
    """What a page says of its browser and clock."""

    model_config = ConfigDict(extra="forbid", strict=True)

    user_agent: Words
    model: Words | None
    platform: Words
    platform_version: Words | None
    processors: Annotated[int, Field(ge=1, le=4096)] | None
    is_isolated: bool
    step_ns: Annotated[int, Field(ge=1, le=10**9)]
    has_ticker: bool
    multiplications: Loops
    additions: Loops
    without_webcrypto: Words | None


class Visit(BaseModel):
    """A page that wants to be measured; `key`: the one in the server's address."""

    model_config = ConfigDict(extra="forbid", strict=True)

    key: Words
    device: Device


class End(BaseModel):
    """What a page says at the end of a job."""

    model_config = ConfigDict(extra="forbid", strict=True)

    code: Annotated[int, Field(ge=0, le=255)]
    complaint: Annotated[str, Field(max_length=4000)]


class Refusal(WattlockError):
    """A post that is refused; `status`: of HTTP."""

    def __init__(self, status: int, message: str, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.status = status


@dataclass
class Visitor:
    """A page under way: its target, and what it is shown."""

    token: str
    target: PageTarget
    state: dict[str, Any] = field(default_factory=lambda: {"said": "Starting.", "is_over": False})
    told: threading.Event = field(default_factory=threading.Event)
    reading: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(AT_ONCE))

    def shows(self, **changes: Any) -> None:
        """Changes what the page is shown; `told` is set once it has heard the last of it."""
        self.state = {**self.state, **changes}
        if self.state["is_over"]:
            self.target.wake()


class Visits:
    """All posts of all pages come here; `next` gives the visitors to whoever measures them.

    * `once`: whether a key is for one visit. `lost`: what to do with a wrong one.
    """

    def __init__(
        self, module: Module, *, once: bool = False, lost: str = "open the whole address that wattlock printed"
    ) -> None:
        self.module, self.key = module, secrets.token_urlsafe(9)
        self._once, self._lost = once, lost
        self._lock = threading.Lock()
        self._visitor: Visitor | None = None
        self._new: queue.Queue[Visitor] = queue.Queue()

    def next(self, wait_s: float) -> Visitor | None:
        """The next page that wants to be measured; null where none came in so many seconds."""
        try:
            return self._new.get(timeout=wait_s)
        except queue.Empty:
            return None

    def visit(self, body: bytes) -> dict[str, Any]:
        """A page begins. Raises Refusal with a wrong key, or while another page is measured."""
        asked = _read(Visit, body)
        with self._lock:
            if not secrets.compare_digest(asked.key.encode(), self.key.encode()):
                raise Refusal(403, "this address lacks the server's key", self._lost)
            if self._visitor is not None and not self._is_done(self._visitor):
                raise Refusal(409, "another page is being measured", "wait until it is done, or close it")
            target = PageTarget(self.module, asked.device.model_dump())
            self._visitor = Visitor(secrets.token_urlsafe(16), target)
            if self._once:
                self.key = secrets.token_urlsafe(9)
            self._new.put(self._visitor)
            return {"visit": self._visitor.token}

    def under_way(self, query: Mapping[str, str]) -> Visitor:
        """The page that is measured now. Raises Refusal where this is another one."""
        with self._lock:
            visitor = self._visitor
        if visitor is None or not secrets.compare_digest(query.get("visit", "").encode(), visitor.token.encode()):
            raise Refusal(403, "this visit is over", "load the page again")
        visitor.target.seen_s = time.monotonic()
        return visitor

    def work(self, query: Mapping[str, str]) -> dict[str, Any]:
        """What a page is to do now, and what it shows; answers late where there is nothing."""
        visitor = self.under_way(query)
        job = None if visitor.state["is_over"] else visitor.target.job(POLL_S)
        visitor.target.seen_s = time.monotonic()
        if job is None:
            if visitor.state["is_over"]:
                visitor.told.set()
            return {"state": visitor.state}
        given = {"number": job.number, "verb": job.verb, "text": job.text, "module_sha256": self.module.sha256}
        return {"state": visitor.state, "job": given}

    def lines(self, query: Mapping[str, str], body: bytes) -> dict[str, Any]:
        """Lines of a job; none of them are a sign of life."""
        visitor, job = self._job(query)
        if body:
            _put(job, body)
        return visitor.state

    def ended(self, query: Mapping[str, str], body: bytes) -> dict[str, Any]:
        """The end of a job."""
        end = _read(End, body)
        _, job = self._job(query)
        _put(job, Ended(end.code, end.complaint))
        return {}

    def _job(self, query: Mapping[str, str]) -> tuple[Visitor, Job]:
        visitor = self.under_way(query)
        number = query.get("job", "")
        job = (
            visitor.target.running(int(number)) if number.isascii() and number.isdigit() and len(number) < 10 else None
        )
        if job is None:
            raise Refusal(410, "nobody wants this answer any more", "load the page again")
        return visitor, job

    def _is_done(self, visitor: Visitor) -> bool:
        return bool(visitor.state["is_over"]) or time.monotonic() - visitor.target.seen_s > GONE_S


def _put(job: Job, heard: bytes | Ended) -> None:
    try:
        job.heard.put_nowait(heard)
    except queue.Full:
        raise Refusal(429, "more was posted than is heard", "load the page again") from None


Body = TypeVar("Body", bound=BaseModel)


def _read(kind: type[Body], body: bytes) -> Body:
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "body"
        raise Refusal(400, f"{where}: {first['msg']}", "load the page again") from None
