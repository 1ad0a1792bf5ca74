"""A page that measures: what it says of itself, its jobs, what it posts judged, as a target of a run."""

from __future__ import annotations

import hashlib
import os
import queue
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wattlock.errors import InputError, ProbeError, WattlockError, WayError
from wattlock.run import begin
from wattlock.run.begin import Silent
from wattlock.run.discharge import DischargePlan
from wattlock.run.result import Result, read
from wattlock.run.timing import Progress
from wattlock.store import RunFolder
from wattlock.targets.target import CoreClass, Facts, LimitExceeded, Limits, patience

MOST_LINES_B, MOST_WORDS_B = 8 * 2**20, 64 * 2**10
"""A page hands on some hundred kB of lines at a time; what else it says is bounded field by field."""

POLL_S = 15.0

AT_ONCE = 3
"""Posts of one visit that are read at a time: a page makes one after the other."""

Words = Annotated[str, Field(max_length=500)]

Loops = Annotated[int, Field(ge=1, le=2**40)]


class BrowserFacts(BaseModel):
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
    device: BrowserFacts


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


class PageTarget:
    """A page that is open; `device`: what it says of itself. What it may post is judged by `visits` before."""

    way = "page"

    def __init__(self, module: Module, device: dict[str, Any]) -> None:
        self.module, self.device = module, device
        self.seen_s = time.monotonic()
        self._lock = threading.Lock()
        self._numbers = 0
        self._job: PageJob | None = None
        self._is_new = threading.Event()

    @property
    def name(self) -> str:
        """What errors call it."""
        return "the page"

    def facts(self) -> Facts:
        """What is true of the browser."""
        step_ns = self.device["step_ns"]
        by_steps_ns = min(LONGEST_BATCH_NS, BATCH_STEPS * step_ns)
        answer = {
            "model_name": self.device["model"],
            "kernel": {"os": self.device["platform"], "release": self.device["platform_version"]},
            "clocks": {"counter": "performance.now()"},
        }
        return Facts(
            probe_sha256=self.module.sha256,
            isa="wasm32",
            processors=(),
            core_classes=(CoreClass(None, None, ()),),
            answer=answer,
            batch_ns=BATCH_NS if self.device["has_ticker"] else by_steps_ns,
            self_check_B=SELF_CHECK_B,
        )

    def push(self, file: Path) -> str:
        """Raises InputError: a page has no files."""
        raise InputError(f"{file}: a page has no files", hint="a study with `data` other than random runs elsewhere")

    def fetch(self, place: str) -> bytes:
        """Raises InputError: a page has no files."""
        raise InputError(f"{place}: a page has no files", hint="read it on this machine")

    def start(
        self, words: Sequence[str], text: bytes, limits: Limits, take: Callable[[bytes], None], *, who: str
    ) -> tuple[int, bytes]:
        """Has the page answer one question, as `Target.start` says. Raises WayError where the page is gone."""
        verb = words[0]
        if verb not in VERBS:
            raise InputError(f"the page: has no {verb}", hint="a page carries out a study, and nothing else")
        if verb == "catalogue":
            text = "\n".join(words[words.index("--cipher") + 1 :] if "--cipher" in words else []).encode()
        with self._lock:
            self._numbers += 1
            job = self._job = PageJob(self._numbers, verb, text.decode(), limits.most_B)
        self._is_new.set()
        try:
            ended = self._hear(job, limits, take, who)
        finally:
            with self._lock:
                self._job = None
            self._is_new.clear()
        return ended.code, ended.complaint.encode()

    def job(self, wait_s: float = 0.0) -> PageJob | None:
        """What the page is to do now, waited for so long; null where there is nothing."""
        self._is_new.wait(wait_s)
        self._is_new.clear()
        with self._lock:
            return self._job

    def wake(self) -> None:
        """Ends the waiting of `job`."""
        self._is_new.set()

    def running(self, number: int) -> PageJob | None:
        """The job of this number, as long as somebody wants its answer."""
        with self._lock:
            return self._job if self._job is not None and self._job.number == number else None

    def _hear(self, job: PageJob, limits: Limits, take: Callable[[bytes], None], who: str) -> JobEnd:
        factor = patience()
        begun = last = time.monotonic()
        while True:
            try:
                heard = job.heard.get(timeout=LOOK_S)
            except queue.Empty:
                now = time.monotonic()
                if now - self.seen_s > GONE_S * factor:
                    hint = "keep the page open and in front, its device awake; open it again for a new run"
                    raise WayError(f"{who}: the page was closed or lost", hint=hint) from None
                quiet_s = (limits.silence_s if job.heard_B else limits.start_s) * factor
                if now - last > quiet_s:
                    _refuse(f"{who} said nothing for {quiet_s:.4g} s")
                if now - begun > limits.most_s * factor:
                    _refuse(f"{who} did not end within {limits.most_s * factor:.4g} s")
                continue
            if isinstance(heard, JobEnd):
                return heard
            last = time.monotonic()
            job.heard_B += len(heard)
            if job.heard_B > job.most_B:
                _refuse(f"{who} wrote more than {job.most_B:,.0f} bytes")
            take(heard)


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
        _put(job, JobEnd(end.code, end.complaint))
        return {}

    def _job(self, query: Mapping[str, str]) -> tuple[Visitor, PageJob]:
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


def _put(job: PageJob, heard: bytes | JobEnd) -> None:
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


GONE_S = 30.0
"""A page that is there posts every few seconds, also while it measures."""

LOOK_S = 0.5

BATCH_NS, LONGEST_BATCH_NS, BATCH_STEPS = 200_000, 20_000_000, 100
"""Length of a batch: where a ticker counts; else so many steps (one is 1 % of it), never more than the longest."""

SELF_CHECK_B = 256
"""Of AES without instructions 60 calls of 1024 B would last as long as some batches (seen: 1.4 ms)."""

VERBS = ("measure", "catalogue")

WAITING = 8
"""Posts of lines that wait to be heard, at most: they are heard as they come."""


@dataclass(frozen=True)
class JobEnd:
    """What a page says at the end of a job."""

    code: int
    complaint: str


@dataclass
class PageJob:
    """One question to a page, and what it answers."""

    number: int
    verb: str
    text: str
    most_B: float
    heard: queue.Queue[bytes | JobEnd] = field(default_factory=lambda: queue.Queue(WAITING))
    heard_B: int = 0


def _refuse(what: str) -> NoReturn:
    raise LimitExceeded(what, hint="what was measured is kept; WATTLOCK_PATIENCE=4 waits four times as long")


VARIABLE, NAME = "WATTLOCK_PAGE_MODULE", "instrument.wasm"
MAGIC = b"\0asm\x01\0\0\0"
"""What a module of version 1 begins with (WebAssembly Core Specification 2.0, 5.5.16)."""


class Module:
    """The module's bytes and their hash, by which a run is bound to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.bytes = path.read_bytes()
        if not self.bytes.startswith(MAGIC):
            raise ProbeError(f"{path}: is no WebAssembly module", hint=_HINT)

    @cached_property
    def sha256(self) -> str:
        """In hexadecimal."""
        return hashlib.sha256(self.bytes).hexdigest()


_HINT = f"in wattlock's source `make page` builds it; {VARIABLE} names another one"


def find() -> Module:
    """The module: named by `WATTLOCK_PAGE_MODULE`, in the package's data, or where `make page` puts it.

    Raises ProbeError where it is nowhere.
    """
    package = Path(__file__).parents[1]
    named = os.environ.get(VARIABLE)
    places = (
        [Path(named)] if named else [package / "data" / "page" / NAME, package.parents[1] / "build" / "page" / NAME]
    )
    for place in places:
        if place.is_file():
            return Module(place)
    raise ProbeError(f"no module of the instrument in {' and '.join(map(str, places))}", hint=_HINT)


MOST_PERCENT = 50.0
"""A time with a wider interval says nothing, and its row that it is unresolved."""

COLUMNS = ("cipher", "provider", "operation", "B", "µs a call", "±", "MB/s")


class _Shown(Silent):
    """Shows the page how far its run is."""

    def __init__(self, visitor: Visitor) -> None:
        self._visitor = visitor

    def measured(self, progress: Progress) -> None:
        """Processes done and expected, cases settled."""
        said = f"{progress.settled} of {progress.cases} cases settled"
        self._visitor.shows(said=said, done=progress.processes, of=progress.expected)

    def discharged(self, cipher: str, calls: int, level: int | None, share: float | None) -> None:
        """Of a discharge."""
        done = "" if share is None else f", {share:.0%} of them"
        said = f"{cipher}: the battery is at {level} % after {calls:,} calls{done}. Leave it unplugged."
        self._visitor.shows(said=said)


def measure(
    visitor: Visitor,
    study: str,
    out: Path,
    keep: Callable[[RunFolder], str] | None = None,
    *,
    only: Sequence[str] = (),
    discharge: DischargePlan | None = None,
) -> RunFolder:
    """Measures a page to the end and seals its run in a folder of its own below `out`.

    * `keep`: what becomes of the sealed run; gives what the page is told. `only`: the cases, as `run --only` takes
      them. `discharge`: how the device's battery is discharged by each case, behind the timing; null leaves it alone.

    Raises what `begin.plan`, `Planned.create` and `Session.measure` do, and `keep`; the page is told the same.
    """
    try:
        planned = begin.plan(begin.Request(study, only=only, discharge=discharge), visitor.target)
        name = f"page-{datetime.now(UTC):%Y%m%d-%H%M%S}-{visitor.token[:4].strip('-_').lower()}"
        begun = planned.create(out / name)
        batch_us = (visitor.target.facts().batch_ns or 0) / 1e3
        visitor.shows(said=f"{len(planned.cases)} cases in several processes, batches of {batch_us:g} µs.")
        begun.measure(_Shown(visitor))
        said = keep(begun.folder) if keep else f"Done: {begun.folder.path.name}"
    except WattlockError as error:
        visitor.shows(said=f"{error.message}. {error.hint}", is_over=True, table=None, words=[])
        raise
    result = read(begun.folder)
    visitor.shows(said=said, is_over=True, table=_table(result), words=words(result))
    return begun.folder


def words(result: Result) -> list[str]:
    """What is to be known of a page's run: where WebCrypto overtakes WebAssembly, and what speaks against it."""
    return [*result.crossings, *result.notices]


def _table(result: Result) -> dict[str, Any]:
    """The estimates for the page's eyes."""
    rows = []
    for row in result.estimates.iter_rows(named=True):
        told = [row["cipher"], row["provider"], row["operation"], str(row["payload_B"])]
        if row["time_ns"] is None or row["half_width_percent"] > MOST_PERCENT:
            rows.append([*told, row["reason"] or row["state"], "", ""])
        else:
            told += [f"{row['time_ns'] / 1e3:.3g}", f"{row['half_width_percent']:.1f} %"]
            rows.append([*told, f"{row['throughput_MB_s']:.3g}" if row["throughput_MB_s"] else ""])
    return {"columns": COLUMNS, "rows": rows}
