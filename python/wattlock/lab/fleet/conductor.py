"""The fleet's own process: `python -m wattlock.lab.fleet.conductor DATA TARGET...`.

It has the scheduler, a worker process a target, and a thread a target that carries out its jobs one after the other.
The lab starts it and holds its standard input; when that closes it ends at once, and all that it started with it. What
was under way is queued again by the next one: there is no other way to stop.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from wattlock.errors import DiskFull, NotVerified, StoreError, WattlockError, WayError
from wattlock.lab import tokens
from wattlock.lab.collection import Collection
from wattlock.lab.fleet.asked import request
from wattlock.lab.fleet.goals import Goals
from wattlock.lab.fleet.options import Options
from wattlock.lab.fleet.queue import HELD, Queue
from wattlock.lab.fleet.queued import Queued, Send
from wattlock.lab.fleet.signing import Order, forget, key_of
from wattlock.lab.fleet.started import DATABASE
from wattlock.lab.fleet.tables import Job, State
from wattlock.lab.fleet.targets import targets
from wattlock.lab.fleet.worker import ORDERS, PUBLIC_KEY, TARGET, Done, carry_out
from wattlock.lab.pack import packed
from wattlock.publish.minisign import SecretKey
from wattlock.run import begin
from wattlock.run.session import Silent
from wattlock.run.timing import Progress
from wattlock.store import RunFolder
from wattlock.store.derived import sums_sha256
from wattlock.store.disk import FULL
from wattlock.store.seal import RECORDS
from wattlock.targets import named
from wattlock.targets.programs import NotInstalled
from wattlock.targets.scheduler import Scheduler
from wattlock.text import harmless

if TYPE_CHECKING:
    from distributed import Nanny, SpecCluster

FOLDER, LOCK, SEEN = "fleet", "lock", "orders"
LOOK_S = 0.5
ROOM = "make room on the lab's host: the job goes on by itself"
NEW_TARGETS_S = 5.0
KEPT_DAYS, DAY_S = 30, 86_400
BACKOFF = "WATTLOCK_FLEET_BACKOFF_S"
RESOURCE = "target "
"""Begins the name of what a worker has one of: its device."""


@dataclass(frozen=True)
class Drive:
    """Carries out the jobs of one target.

    * `data`: the lab's folder. `called`: the target's name. `send`: has its worker carry out a task.
    * `is_here`: whether the fleet has the target now; a job for one that left waits.
    """

    data: Path
    lab: Collection
    queue: Queue
    key: SecretKey
    send: Send
    called: str
    is_here: Callable[[], bool] = lambda: True

    def forever(self) -> None:
        """One job after the other; one that the database was away for, or the disk full, is taken up again later."""
        left: str | None = None
        losses = 0
        while True:
            try:
                if left is not None:
                    self.queue.recover(self.called, left, self.queue.wait_s(losses))
                    left = None
                job = self.queue.next_job(self.called) if self.is_here() else None
                if job is not None:
                    self.carry_out(job)
                    losses = 0
                    continue
            except WattlockError as error:  # the database is away, held or its disk full: what is there is kept
                left, losses = error.message, losses + 1
                _say(f"{self.called}: {error.message}")
            except Exception as error:  # noqa: BLE001 - a bug must not end the thread: nobody else has this target's jobs
                left, losses = _bug(error), losses + 1
                traceback.print_exc()
            time.sleep(LOOK_S)

    def carry_out(self, job: Job) -> None:
        """One job, to its end or as far as it goes; whatever happens is written down with it.

        Raises Away, Busy and DiskFull where it can't be: the job waits for what is held.
        """
        try:
            self._measure(job)
        except HELD:
            raise
        except OSError as error:
            if error.errno in FULL:
                raise DiskFull("the lab's disk is full; what was measured until now is kept", hint=ROOM) from error
            self._found_a_bug(job, error)
        except WattlockError as error:
            if isinstance(error, NotVerified):
                tokens.note(self.queue.engine, None, "fleet", "plan refused", f"job {job.number}: {error.message}")
            is_lost = isinstance(error, WayError) and not isinstance(error, NotInstalled)
            (self.queue.give_back_job if is_lost else self.queue.fail_job)(job.number, error.told)
        except Exception as error:  # noqa: BLE001 - a bug costs the job that found it, and no other one
            self._found_a_bug(job, error)

    def _found_a_bug(self, job: Job, error: Exception) -> None:
        traceback.print_exc()
        self.queue.fail_job(job.number, _bug(error))

    def _measure(self, job: Job) -> None:
        place = self.data / FOLDER / f"job-{job.number}"
        target = Queued(named.target(self.called), self.called, self.queue, self.key, self.send, job.number, say=_say)
        folder = _begun(place)
        if folder is None or not folder.is_sealed:
            if folder is None:
                wanted = request(job.study, Options.read(job.options), target.device)
                begun = begin.plan(wanted, target).create(place, root=None)
            else:
                begun = begin.resume(str(place), target, libraries={})
            folder = begun.folder
            target.run = folder.id
            self.queue.named(job.number, target.run)
            try:
                begun.measure(_Told(self.queue, job.number))
            except WattlockError:
                if not target.is_cancelled(at_once=True):
                    raise
        if not target.is_cancelled(at_once=True):
            self.queue.end_job(job.number, self._taken_in(folder))
        shutil.rmtree(place, ignore_errors=True)  # what is left is taken away at the next start

    def _taken_in(self, folder: RunFolder) -> str:
        """Takes a sealed run into the lab as a pushed one; gives its hash."""
        hash_ = sums_sha256(folder)
        with self.lab.arriving() as place:
            with (place / "pack").open("wb") as pack:
                pack.writelines(packed(folder.path))
            self.lab.admit(place / "pack", hash_)
        return hash_


def _bug(error: Exception) -> str:
    return f"a bug of wattlock: {type(error).__name__}: {error}"


def _clear(place: Path, queue: Queue) -> None:
    """Takes away the runs of jobs that ended while nobody saw to it, or of another database.

    What a failed job measured is kept for KEPT_DAYS: queued again it goes on there.
    """
    states = {f"job-{job.number}": job.state for job in queue.jobs()}
    for folder in place.glob("job-*"):
        state, age_s = states.get(folder.name), time.time() - folder.stat().st_mtime
        if state in {None, State.done, State.cancelled} or (state == State.failed and age_s > KEPT_DAYS * DAY_S):
            shutil.rmtree(folder, ignore_errors=True)


def _begun(place: Path) -> RunFolder | None:
    """The run of a job that was begun; null without one. What was cut off while it was made is made anew."""
    if not place.exists():
        return None
    try:
        return RunFolder.open(place)
    except StoreError:
        if (place / RECORDS).is_file() and (place / RECORDS).stat().st_size:
            raise
        shutil.rmtree(place)
        return None


class _Told(Silent):
    """Writes down how far a job is."""

    def __init__(self, queue: Queue, job: int) -> None:
        self._queue, self._job = queue, job

    def measured(self, progress: Progress) -> None:
        """Of the timing or the counting. What can't be written down now is by the next one."""
        with suppress(*HELD):
            self._queue.progress(self._job, progress.settled, progress.cases)


class Fleet:
    """The scheduler and a worker a target.

    * `drive`: what carries out the jobs of a target. `advance`: takes the goals of the planner further.
    """

    def __init__(
        self,
        data: Path,
        cluster: SpecCluster,
        scheduler: Scheduler,
        drive: Callable[[Send, str, Callable[[], bool]], Drive],
        advance: Callable[[Sequence[str]], None],
    ):
        self._data, self._cluster, self._scheduler, self._drive = data, cluster, scheduler, drive
        self._advance = advance
        self._driven: set[str] = set()
        self._here: frozenset[str] = frozenset()
        self._nannies: dict[str, Nanny] = {}
        self._key = key_of(data).public.line

    def keep(self, targets: Sequence[str]) -> None:
        """Sees to it that these targets have a worker each, and that their jobs are carried out from now on."""
        from distributed.core import Status

        ended = {called for called, one in self._nannies.items() if one.status in {Status.closed, Status.failed}}
        self._here = frozenset(targets)
        self._cluster.sync(self._start, [one for one in targets if one not in self._nannies or one in ended])
        for called in targets:
            if called not in self._driven:
                self._driven.add(called)
                drive = self._drive(self._send, called, partial(self._has, called))
                threading.Thread(target=drive.forever, name=called, daemon=True).start()

    def _has(self, called: str) -> bool:
        return called in self._here

    def plan(self, targets: Sequence[str]) -> None:
        """Queues what the goals of the planner ask for next, of all targets."""
        self._advance(targets)

    async def _start(self, targets: Sequence[str]) -> None:
        """A worker process a target. One that can't be started is tried again: its jobs wait."""
        started = await asyncio.gather(*map(self._worker, targets), return_exceptions=True)
        for called, one in zip(targets, started, strict=True):
            if isinstance(one, BaseException):
                _say(f"the worker of {called} can't be started, and is tried again: {one}")
            else:
                self._nannies[called] = one

    async def _worker(self, called: str) -> Nanny:
        """A worker process that is started anew whenever it ends."""
        from distributed import Nanny

        from wattlock.lab.fleet.quiet import QuietWorker

        return await Nanny(
            self._cluster.scheduler_address,
            nthreads=1,
            name=called,
            resources={RESOURCE + called: 1},
            memory_limit=0,
            env={TARGET: called, PUBLIC_KEY: self._key, ORDERS: str(self._data / FOLDER / SEEN)},
            security=self._cluster.security,
            local_directory=str(self._data / FOLDER / "dask"),
            worker_port=0,
            host="127.0.0.1",
            dashboard=False,
            worker_class=QuietWorker,
        )

    def _send(self, order: Order, attempt: int, stopped: Callable[[], bool]) -> Done:
        done: Done = self._scheduler.carry_out(
            carry_out,
            order,
            decides=[*order.key, attempt],
            who=order.who,
            stopped=stopped,
            resources={RESOURCE + order.target: 1},
        )
        return done


@contextmanager
def conducted(data: Path) -> Iterator[Fleet]:
    """A fleet without targets. Raises StoreError where the lab has one already."""
    (data / FOLDER).mkdir(exist_ok=True)
    with (data / FOLDER / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreError(f"{data}: its fleet runs already", hint="stop the other lab of this folder") from None
        import dask
        from distributed import Client, SpecCluster
        from distributed.security import Security

        from wattlock.lab.fleet.quiet import QuietScheduler

        lab, key = Collection.open(data, os.environ.get(DATABASE)), key_of(data)
        queue = Queue(lab.engine, float(os.environ.get(BACKOFF, Queue.backoff_s)))
        queue.recover()
        _clear(data / FOLDER, queue)
        forget(data / FOLDER / SEEN)
        # A task whose worker died is begun again by the queue, which counts how often.
        dask.config.set({"distributed.scheduler.allowed-failures": 0})
        # Who reaches a scheduler can have any program run: certificates of this process alone keep others out.
        security = Security.temporary()
        settings = {"host": "127.0.0.1", "protocol": "tls://", "port": 0, "security": security, "dashboard": False}
        spec = {"cls": QuietScheduler, "options": settings}
        with SpecCluster(scheduler=spec, security=security, silence_logs=50) as cluster, Client(cluster) as client:
            scheduler = Scheduler(cluster.scheduler_address, client, "the queue begins it again")
            yield Fleet(
                data,
                cluster,
                scheduler,
                partial(Drive, data, lab, queue, key),
                partial(_advance, lab, queue),
            )


def _advance(lab: Collection, queue: Queue, every: Sequence[str]) -> None:
    queue.note_absent(every)
    Goals(lab, queue, every).advance()


def main(data: Path, more: list[str]) -> None:
    """Conducts a fleet until standard input closes; targets that the user's file gains meanwhile are added.

    So often too the goals of the planner are looked at.
    """
    threading.Thread(target=_end_with_the_lab, daemon=True).start()
    with conducted(data) as fleet:
        while True:
            try:
                every = targets(more)
                fleet.keep(every)
                fleet.plan(every)
            except WattlockError as error:  # the user's file is being written, say
                _say(error.message)
            time.sleep(NEW_TARGETS_S)


def _end_with_the_lab() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def _say(line: str) -> None:
    sys.stderr.write(f"fleet: {harmless(line)}\n")


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), sys.argv[2:])
    except WattlockError as problem:
        _say(f"error: {problem.message}")
        sys.exit(1)
