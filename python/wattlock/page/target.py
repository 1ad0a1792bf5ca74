"""A page as a target of a run: it asks for work, and what it answers is heard as a probe's output is."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from wattlock.errors import InputError, WayError
from wattlock.page.module import Module
from wattlock.targets.facts import CoreClass, Facts
from wattlock.targets.hearing import Limits, Refused, patience

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
class Ended:
    """What a page says at the end of a job."""

    code: int
    complaint: str


@dataclass
class Job:
    """One question to a page, and what it answers."""

    number: int
    verb: str
    text: str
    most_B: float
    heard: queue.Queue[bytes | Ended] = field(default_factory=lambda: queue.Queue(WAITING))
    heard_B: int = 0


class PageTarget:
    """A page that is open; `device`: what it says of itself. What it may post is judged by `visits` before."""

    way = "page"

    def __init__(self, module: Module, device: dict[str, Any]) -> None:
        self.module, self.device = module, device
        self.seen_s = time.monotonic()
        self._lock = threading.Lock()
        self._numbers = 0
        self._job: Job | None = None
        self._is_new = threading.Event()

    @property
    def name(self) -> str:
        """What errors call it."""
        return "the page"

    def facts(self) -> Facts:
        """What is true of the browser."""
        step_ns = self.device["step_ns"]
        by_steps_ns = min(LONGEST_BATCH_NS, BATCH_STEPS * step_ns)
        told = {
            "model_name": self.device["model"],
            "kernel": {"os": self.device["platform"], "release": self.device["platform_version"]},
            "clocks": {"counter": "performance.now()"},
        }
        return Facts(
            probe_sha256=self.module.sha256,
            isa="wasm32",
            processors=(),
            core_classes=(CoreClass(None, None, ()),),
            told=told,
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
            job = self._job = Job(self._numbers, verb, text.decode(), limits.most_B)
        self._is_new.set()
        try:
            ended = self._hear(job, limits, take, who)
        finally:
            with self._lock:
                self._job = None
            self._is_new.clear()
        return ended.code, ended.complaint.encode()

    def job(self, wait_s: float = 0.0) -> Job | None:
        """What the page is to do now, waited for so long; null where there is nothing."""
        self._is_new.wait(wait_s)
        self._is_new.clear()
        with self._lock:
            return self._job

    def wake(self) -> None:
        """Ends the waiting of `job`."""
        self._is_new.set()

    def running(self, number: int) -> Job | None:
        """The job of this number, as long as somebody wants its answer."""
        with self._lock:
            return self._job if self._job is not None and self._job.number == number else None

    def _hear(self, job: Job, limits: Limits, take: Callable[[bytes], None], who: str) -> Ended:
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
            if isinstance(heard, Ended):
                return heard
            last = time.monotonic()
            job.heard_B += len(heard)
            if job.heard_B > job.most_B:
                _refuse(f"{who} wrote more than {job.most_B:,.0f} bytes")
            take(heard)


def _refuse(what: str) -> NoReturn:
    raise Refused(what, hint="what was measured is kept; WATTLOCK_PATIENCE=4 waits four times as long")
