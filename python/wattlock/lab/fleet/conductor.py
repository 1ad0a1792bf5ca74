"""The fleet's own process: `python -m wattlock.lab.fleet.conductor DATA TARGET...`.

It has the scheduler, a worker process a target, and a thread a target that carries out its jobs one after the other.
The lab starts it and holds its standard input; when that closes it ends at once, and all that it started with it. What
was under way is queued again by the next one: there is no other way to stop.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from wattlock.errors import DiskFull, NotVerified, ProbeError, StoreError, WattlockError, WayError
from wattlock.lab import tokens
from wattlock.lab.collection import Collection
from wattlock.lab.fleet.goals import Goals
from wattlock.lab.fleet.job_options import JobOptions, request, targets
from wattlock.lab.fleet.queue import HELD, Job, Queue, State
from wattlock.lab.fleet.worker import (
    KEY_VARIABLE,
    ORDERS_VARIABLE,
    TARGET_VARIABLE,
    Key,
    TaskOrder,
    TaskOutput,
    carry_out,
    forget,
    key_of,
    signed,
)
from wattlock.lab.pack import packed
from wattlock.publish.minisign import SecretKey
from wattlock.run import begin
from wattlock.run.begin import Silent
from wattlock.run.timing import Progress
from wattlock.store import RunFolder
from wattlock.store.disk import FULL
from wattlock.store.run_folder import RECORDS, sums_sha256
from wattlock.targets import Target, named
from wattlock.targets.cluster import Scheduler
from wattlock.targets.target import Facts, LimitExceeded, Limits, NotInstalled
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

Send = Callable[[TaskOrder, int, Callable[[], bool]], TaskOutput]
"""Has the worker of an order's target carry it out; then how often it was begun before, and what gives it up."""


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
                wanted = request(job.study, JobOptions.read(job.options), target.device)
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

        ended = {called for called, nanny in self._nannies.items() if nanny.status in {Status.closed, Status.failed}}
        self._here = frozenset(targets)
        self._cluster.sync(
            self._start, [target for target in targets if target not in self._nannies or target in ended]
        )
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
        for called, nanny in zip(targets, started, strict=True):
            if isinstance(nanny, BaseException):
                _say(f"the worker of {called} can't be started, and is tried again: {nanny}")
            else:
                self._nannies[called] = nanny

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
            env={TARGET_VARIABLE: called, KEY_VARIABLE: self._key, ORDERS_VARIABLE: str(self._data / FOLDER / SEEN)},
            security=self._cluster.security,
            local_directory=str(self._data / FOLDER / "dask"),
            worker_port=0,
            host="127.0.0.1",
            dashboard=False,
            worker_class=QuietWorker,
        )

    def _send(self, order: TaskOrder, attempt: int, stopped: Callable[[], bool]) -> TaskOutput:
        done: TaskOutput = self._scheduler.carry_out(
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


def _advance(lab: Collection, queue: Queue, names: Sequence[str]) -> None:
    queue.note_absent(names)
    Goals(lab, queue, names).advance()


def main(data: Path, more: list[str]) -> None:
    """Conducts a fleet until standard input closes; targets that the user's file gains meanwhile are added.

    So often too the goals of the planner are looked at.
    """
    threading.Thread(target=_end_with_the_lab, daemon=True).start()
    with conducted(data) as fleet:
        while True:
            try:
                names = targets(more)
                fleet.keep(names)
                fleet.plan(names)
            except WattlockError as error:  # the user's file is being written, say
                _say(error.message)
            time.sleep(NEW_TARGETS_S)


def _end_with_the_lab() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def _say(line: str) -> None:
    sys.stderr.write(f"fleet: {harmless(line)}\n")


DATABASE = "WATTLOCK_FLEET_DATABASE"
"""A URL may hold a password, which the environment shows to this user alone, and a command line to everybody."""

AGAIN_S, LONGEST_S = 1.0, 60.0
"""The wait before a fleet that ended is started again; it doubles while none can be started."""

QUIET = {
    "DASK_LOGGING__DISTRIBUTED": "critical",
    "DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD": "forkserver",
    "DASK_DISTRIBUTED__WORKER__PRELOAD": "wattlock.lab.fleet.worker",
    "PYTHONWARNINGS": "ignore::UserWarning:multiprocessing.resource_tracker",
}
"""What Dask logs is told by the queue; workers are forks of one process that has imported what they need."""


@contextmanager
def started(
    data: Path, targets: Sequence[str], say: Callable[[str], None], database: str | None = None
) -> Iterator[None]:
    """A fleet of these targets for as long as this lasts; none where none is named.

    * `say`: is told where it ended and is started again. `database`: as of `open_database`.
    """
    if not targets:
        yield
        return
    over = threading.Event()
    running: list[subprocess.Popen[bytes]] = []
    environment = {**os.environ, **QUIET, **({DATABASE: database} if database else {})}

    def watch() -> None:
        command = [sys.executable, "-m", "wattlock.lab.fleet.conductor", str(data.resolve()), *targets]
        again_s = AGAIN_S
        while not over.is_set():
            try:
                # In a session of its own: Ctrl-C is for the lab, which then closes its input.
                process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, start_new_session=True)
            except OSError as error:  # the machine is short of memory or processes, say
                say(f"warning: the fleet can't be started ({error.strerror}), and is tried again in {again_s:g} s")
                over.wait(again_s)
                again_s = min(2 * again_s, LONGEST_S)
                continue
            again_s = AGAIN_S
            with process:
                running[:] = [process]
                if over.is_set():
                    process.kill()
                code = process.wait()
            if not over.wait(AGAIN_S):
                say(f"warning: the fleet ended with {code} and is started again; nothing is lost")

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        for process in running:
            if process.stdin is not None:
                process.stdin.close()
        watcher.join(10)


TASK_LOOK_S = 1.0
"""So often it is asked whether a job was cancelled."""

SHARD_DIGITS = 16

CANCELLED = "the job was cancelled"


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
        done = self._once(key, TaskOrder(key, self.called, text, replace(limits, stopped=None), who), limits.stopped)
        try:
            if done.written:
                take(done.written)
        except HELD:  # of a full disk: the result stays with its task
            raise
        except WattlockError as error:
            self.queue.fail(key, error.message)
            raise
        return done.code, done.complaints

    def _once(self, key: Key, order: TaskOrder, stopped: Callable[[], bool] | None) -> TaskOutput:
        """The result of a task: kept from before, or carried out now."""

        def over() -> bool:
            return self.is_cancelled() or (stopped is not None and stopped())

        while True:
            task = self.queue.put(key, self.job, self.called)
            if task.state == State.done:
                return TaskOutput(task.result or b"", 0, b"")
            if task.state in {State.failed, State.cancelled} or not self.queue.begin(key, self.called):
                raise LimitExceeded(
                    f"{order.who}: its task is {task.state}: {task.reason or CANCELLED}", hint=ASK_AGAIN
                )
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
            time.sleep(min(TASK_LOOK_S, self.queue.backoff_s))

    def is_cancelled(self, *, at_once: bool = False) -> bool:
        """Whether somebody ended the job; asked of the database now and again, or `at_once`.

        While a task is under way a database that is held or away says nothing: only `at_once` raises what it raises.
        """
        if at_once:
            self._look()
        elif not self._is_cancelled and time.monotonic() - self._looked > TASK_LOOK_S:
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


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), sys.argv[2:])
    except WattlockError as problem:
        _say(f"error: {problem.message}")
        sys.exit(1)
