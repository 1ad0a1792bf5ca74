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
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wattlock.errors import NotVerified, StoreError, WattlockError, WayError
from wattlock.lab import tokens
from wattlock.lab.collection import Collection
from wattlock.lab.database import Away, Busy
from wattlock.lab.fleet.goals import Goals
from wattlock.lab.fleet.queue import Options, Queue
from wattlock.lab.fleet.queued import Queued, Send
from wattlock.lab.fleet.signing import Order, key_of
from wattlock.lab.fleet.started import DATABASE
from wattlock.lab.fleet.tables import Job, State
from wattlock.lab.fleet.targets import targets
from wattlock.lab.fleet.worker import PUBLIC_KEY, TARGET, Done, carry_out
from wattlock.lab.pack import packed
from wattlock.publish.minisign import SecretKey
from wattlock.run import begin
from wattlock.run.session import Silent
from wattlock.run.timing import Progress
from wattlock.store import RunFolder
from wattlock.store.derived import sums_sha256
from wattlock.store.seal import RECORDS
from wattlock.targets import named
from wattlock.targets.scheduler import Scheduler

if TYPE_CHECKING:
    from distributed import LocalCluster, Nanny

FOLDER, LOCK = "fleet", "lock"
LOOK_S = 0.5
NEW_TARGETS_S = 5.0
BACKOFF = "WATTLOCK_FLEET_BACKOFF_S"
RESOURCE = "target "
"""Begins the name of what a worker has one of: its device."""


@dataclass(frozen=True)
class Drive:
    """Carries out the jobs of one target.

    * `data`: the lab's folder. `called`: the target's name. `send`: has its worker carry out a task.
    """

    data: Path
    lab: Collection
    queue: Queue
    key: SecretKey
    send: Send
    called: str

    def forever(self) -> None:
        """One job after the other; one that the database was away for is taken up again when that is back."""
        is_left = False
        while True:
            try:
                if is_left:
                    self.queue.recover(self.called)
                    is_left = False
                job = self.queue.next_job(self.called)
                if job is not None:
                    self.carry_out(job)
                    continue
            except WattlockError as error:  # the database is away, held or its disk full: what is there is kept
                is_left = True
                _say(f"{self.called}: {error.message}")
            time.sleep(LOOK_S)

    def carry_out(self, job: Job) -> None:
        """One job, to its end or as far as it goes; whatever happens is written down with it.

        Raises Away and Busy where it can't be.
        """
        try:
            self._measure(job)
        except (Away, Busy):
            raise
        except WayError as error:
            self.queue.give_back_job(job.number, error.message)
        except WattlockError as error:
            if isinstance(error, NotVerified):
                tokens.note(self.queue.engine, None, "fleet", "plan refused", f"job {job.number}: {error.message}")
            self.queue.fail_job(job.number, f"{error.message} ({error.hint})" if error.hint else error.message)
        except Exception as error:  # noqa: BLE001 - a bug costs the job that found it, and no other one
            traceback.print_exc()
            self.queue.fail_job(job.number, f"a bug of wattlock: {type(error).__name__}: {error}")

    def _measure(self, job: Job) -> None:
        place = self.data / FOLDER / f"job-{job.number}"
        target = Queued(named.target(self.called), self.called, self.queue, self.key, self.send, job.number)
        folder = _begun(place)
        if folder is None or not folder.is_sealed:
            if folder is None:
                options = Options(**{name: tuple(given) for name, given in job.options.items()})
                request = begin.Request(job.study, options.only, core_classes=options.core_classes)
                begun = begin.plan(request, target).create(place, root=None)
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
        shutil.rmtree(place)

    def _taken_in(self, folder: RunFolder) -> str:
        """Takes a sealed run into the lab as a pushed one; gives its hash."""
        hash_ = sums_sha256(folder)
        with self.lab.arriving() as place:
            with (place / "pack").open("wb") as pack:
                pack.writelines(packed(folder.path))
            self.lab.admit(place / "pack", hash_)
        return hash_


def _clear(place: Path, queue: Queue) -> None:
    """Takes away the runs of jobs that were cancelled while nobody carried them out."""
    for job in queue.jobs():
        if job.state == State.cancelled:
            shutil.rmtree(place / f"job-{job.number}", ignore_errors=True)


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
        """Of the timing or the counting."""
        self._queue.progress(self._job, progress.settled, progress.cases)


class Fleet:
    """The scheduler and a worker a target.

    * `drive`: what carries out the jobs of a target. `advance`: takes the goals of the planner further.
    """

    def __init__(
        self,
        data: Path,
        cluster: LocalCluster,
        scheduler: Scheduler,
        drive: Callable[[str, Send], Drive],
        advance: Callable[[Sequence[str]], None],
    ):
        self._data, self._cluster, self._scheduler, self._drive = data, cluster, scheduler, drive
        self._advance = advance
        self._driven: set[str] = set()
        self._nannies: dict[str, Nanny] = {}
        self._key = key_of(data).public.line

    def keep(self, targets: Sequence[str]) -> None:
        """Sees to it that these targets have a worker each, and that their jobs are carried out from now on."""
        from distributed.core import Status

        ended = {called for called, one in self._nannies.items() if one.status in {Status.closed, Status.failed}}
        self._cluster.sync(self._start, [one for one in targets if one not in self._nannies or one in ended])
        for called in targets:
            if called not in self._driven:
                self._driven.add(called)
                threading.Thread(target=self._drive(called, self._send).forever, name=called, daemon=True).start()

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

        return await Nanny(
            self._cluster.scheduler_address,
            nthreads=1,
            name=called,
            resources={RESOURCE + called: 1},
            memory_limit=0,
            env={TARGET: called, PUBLIC_KEY: self._key},
            security=self._cluster.security,
            local_directory=str(self._data / FOLDER / "dask"),
            worker_port=0,
            host="127.0.0.1",
            dashboard=False,
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
        from distributed import Client, LocalCluster
        from distributed.security import Security

        lab, key = Collection.open(data, os.environ.get(DATABASE)), key_of(data)
        queue = Queue(lab.engine, float(os.environ.get(BACKOFF, Queue.backoff_s)))
        queue.recover()
        _clear(data / FOLDER, queue)
        # A task whose worker died is begun again by the queue, which counts how often.
        dask.config.set({"distributed.scheduler.allowed-failures": 0})
        # Who reaches a scheduler can have any program run: certificates of this process alone keep others out.
        security = Security.temporary()
        settings = {"n_workers": 0, "host": "127.0.0.1", "protocol": "tls://", "dashboard_address": None}
        with LocalCluster(**settings, security=security, silence_logs=50) as cluster, Client(cluster) as client:
            scheduler = Scheduler(cluster.scheduler_address, client, "the queue begins it again")
            yield Fleet(
                data,
                cluster,
                scheduler,
                lambda called, send: Drive(data, lab, queue, key, send, called),
                lambda every: Goals(lab, queue, every).advance(),
            )


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
    sys.stderr.write(f"fleet: {line}\n")


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), sys.argv[2:])
    except WattlockError as problem:
        _say(f"error: {problem.message}")
        sys.exit(1)
