"""A target whose processes are tasks of the queue: a session that measures on it needs to know nothing of that."""

from __future__ import annotations

import hashlib
import itertools
import json
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from wattlock.errors import ProbeError, WattlockError, WayError
from wattlock.lab.fleet.queue import HELD, Queue
from wattlock.lab.fleet.signing import Key, Order, signed
from wattlock.lab.fleet.tables import State
from wattlock.lab.fleet.worker import Done
from wattlock.publish.minisign import SecretKey
from wattlock.targets import Target
from wattlock.targets.facts import Facts
from wattlock.targets.hearing import Limits, Refused

LOOK_S = 1.0
"""So often it is asked whether a job was cancelled."""
SHARD_DIGITS = 16
CANCELLED = "the job was cancelled"

Send = Callable[[Order, int, Callable[[], bool]], Done]
"""Has the worker of an order's target carry it out; then how often it was begun before, and what gives it up."""


@dataclass(eq=False)
class Queued:
    """A device of the fleet, under its name there.

    * `device`: the same, asked directly for what starts no plan: facts, catalogue, files.
    * `job`: what is measured for; `run`: the run's id, known once it is begun. `say`: is told what it waits for.
    """

    device: Target
    called: str
    queue: Queue
    key: SecretKey
    send: Send
    job: int
    run: str = ""
    say: Callable[[str], None] = lambda _: None
    _looked: float = field(default=0.0)
    _is_cancelled: bool = field(default=False)
    _lost: WattlockError | None = field(default=None)

    def __hash__(self) -> int:
        return hash(self.device)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Queued) and other.device == self.device

    @property
    def name(self) -> str:
        """As of the device."""
        return self.device.name

    @property
    def way(self) -> str:
        """As of the device."""
        return self.device.way

    def facts(self) -> Facts:
        """As of the device; one process at a time has it."""
        return self.device.facts()._replace(at_a_time=1)

    def push(self, file: Path) -> str:
        """As of the device."""
        return self.device.push(file)

    def fetch(self, place: str) -> bytes:
        """As of the device."""
        return self.device.fetch(place)

    def start(
        self, words: Sequence[str], text: bytes, limits: Limits, take: Callable[[bytes], None], *, who: str
    ) -> tuple[int, bytes]:
        """Has a plan carried out as a task, again where the device or its worker is lost; `take` gets all at the end.

        What is no plan, or asks before the run is begun what a meter is, goes to the device. Raises as `Target.start`
        does; ProbeError where it was lost too often, Refused where the job was cancelled, NotVerified where the worker
        refused the plan.
        """
        if words[0] != "measure" or not self.run:
            return self.device.start(words, text, limits, take, who=who)
        if self._lost is not None:
            raise self._lost
        key = _key(self.run, text)
        done = self._once(key, Order(key, self.called, text, replace(limits, stopped=None), who), limits.stopped)
        try:
            if done.written:
                take(done.written)
        except HELD:  # of a full disk: the result stays with its task
            raise
        except WattlockError as error:
            self.queue.fail(key, error.message)
            raise
        return done.code, done.complaints

    def _once(self, key: Key, order: Order, stopped: Callable[[], bool] | None) -> Done:
        """The result of a task: kept from before, or carried out now."""

        def over() -> bool:
            return self.is_cancelled() or (stopped is not None and stopped())

        while True:
            task = self.queue.put(key, self.job, self.called)
            if task.state == State.done:
                return Done(task.result or b"", 0, b"")
            if task.state in {State.failed, State.cancelled} or not self.queue.begin(key, self.called):
                raise Refused(f"{order.who}: its task is {task.state}: {task.reason or CANCELLED}", hint=ASK_AGAIN)
            try:
                done = self.send(signed(self.key, order), task.attempts, over)
                if done.code == -signal.SIGKILL:
                    raise WayError(f"{order.who} was killed", hint="something on the device ends programs: its memory?")
            except HELD:
                raise
            except WayError as error:
                self._wait(key, task.attempts, error, over)
                continue
            except WattlockError as error:
                self.queue.fail(key, error.message)
                raise
            if done.code:
                self.queue.fail(key, f"{order.who} ended with exit code {done.code}")
            else:
                self._keep(key, done.written)
            return done

    def _keep(self, key: Key, written: bytes) -> None:
        """Keeps what was measured, however long the database is held or away: it would have to be measured again."""
        for attempt in itertools.count(1):
            try:
                self.queue.finish(key, written)
                return
            except HELD as error:
                self.say(f"{self.called}: {error.message}: what was measured waits")
                time.sleep(self.queue.wait_s(attempt))

    def _wait(self, key: Key, attempts: int, error: WayError, over: Callable[[], bool]) -> None:
        """Waits before a lost task is begun again. Raises ProbeError where it was lost too often or is given up."""
        is_again = self.queue.give_back(key, error.message)
        due = time.monotonic() + self.queue.wait_s(attempts + 1)
        while not is_again or time.monotonic() < due:
            if not is_again or over():
                self._lost = ProbeError(error.message, hint=error.hint)
                raise self._lost from error
            time.sleep(min(LOOK_S, self.queue.backoff_s))

    def is_cancelled(self, *, at_once: bool = False) -> bool:
        """Whether somebody ended the job; asked of the database now and again, or `at_once`.

        While a task is under way a database that is held or away says nothing: only `at_once` raises what it raises.
        """
        if at_once:
            self._look()
        elif not self._is_cancelled and time.monotonic() - self._looked > LOOK_S:
            with suppress(*HELD):
                self._look()
            self._looked = time.monotonic()
        return self._is_cancelled

    def _look(self) -> None:
        self._is_cancelled = self._is_cancelled or self.queue.job(self.job).state == State.cancelled


ASK_AGAIN = "the page of the queue queues a job again that failed"


def _key(run: str, text: bytes) -> Key:
    """Names a task by its plan: what is planned for one process of a run anew has the same cases."""
    lines = [json.loads(line) for line in text.splitlines()]
    cases = [line["case"] for line in lines if line["kind"] == "case"]
    shard = hashlib.sha256(json.dumps(sorted(cases)).encode()).hexdigest()[:SHARD_DIGITS]
    return Key(run, lines[0]["process"], shard)
