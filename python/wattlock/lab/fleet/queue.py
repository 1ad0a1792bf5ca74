"""The queue: which job and which task is where. Each step is one statement that changes a row from a state it has.

A task ends once: `finish` gives false for a task that has ended, and what came late is not kept.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, ColumnElement, Double, Engine, ForeignKey, LargeBinary, Update, and_, func, select, update
from sqlalchemy.orm import Mapped, mapped_column, undefer

from wattlock.errors import DiskFull, InputError
from wattlock.lab.database import Away, Base, DatabaseBusy, session
from wattlock.lab.fleet.job_options import ALL, JobOptions
from wattlock.lab.fleet.worker import Key
from wattlock.study.study import STUDIES

MOST_ATTEMPTS = 5
"""So often a task is begun whose device or worker is lost; so often a job whose target can't be reached."""

BACKOFF_S, GROWTH = 2.0, 3.0
"""The wait after the first loss, and by how much each further one is longer: 2, 6, 18, 54 s."""

LONGEST_WAIT_S = 60.0
"""And no wait is longer."""

HELD = (Away, DatabaseBusy, DiskFull)
"""What ends by itself or by who keeps the host: work waits for it, and none of it has failed."""


class State(StrEnum):
    """Of a job and of a task."""

    queued = "queued"
    under_way = "under way"
    done = "done"
    failed = "failed"
    cancelled = "cancelled"


OPEN = (State.queued, State.under_way)

MOST_OPEN, MOST_OF_ONE = 1000, 200
"""Jobs that are queued or under way: of all, and of one token, or of all who ask a lab without tokens."""


class Task(Base):
    """One process of one shard of a run.

    * `shard`: names the cases of its plan. `worker`, `since`: who carries it out, and from when; null unless under way.
    * `attempts`: how often it was begun and did not come to its end. `result`: what the probe wrote, until the run is
      sealed.
    """

    __tablename__ = "task"

    run: Mapped[str] = mapped_column(primary_key=True)
    process: Mapped[int] = mapped_column(primary_key=True)
    shard: Mapped[str] = mapped_column(primary_key=True)
    job: Mapped[int] = mapped_column(ForeignKey("job.number", ondelete="CASCADE"), index=True)
    target: Mapped[str]
    state: Mapped[str] = mapped_column(index=True)
    worker: Mapped[str | None]
    since: Mapped[str | None]
    attempts: Mapped[int] = mapped_column(default=0)
    reason: Mapped[str | None]
    result: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)


TASK_FIELDS = tuple(column.name for column in Task.__table__.columns if column.name != "result")
"""What of a task is given as data."""


class QueueFull(InputError):
    """More jobs are open than may be."""


@dataclass
class Queue:
    """The jobs and tasks of a lab.

    * `backoff_s`: the wait after the first loss of a device.
    """

    engine: Engine
    backoff_s: float = field(default=BACKOFF_S)

    def enqueue(
        self,
        study: str,
        target: str,
        options: JobOptions = ALL,
        *,
        batch: str | None = None,
        token: str | None = None,
    ) -> int:
        """Queues a study of wattlock's own for a target; gives the job's number.

        * `batch`: common to jobs that are set beside each other. `token`: the id of who asked.

        Raises InputError where there is no such study: files of the lab's host are not for who asks; QueueFull.
        """
        refuse_unknown(study)
        self.refuse_full(1, token)
        job = Job(
            batch=batch or secrets.token_hex(4),
            study=study,
            target=target,
            options=asdict(options),
            state=State.queued,
            asked=_now(),
            token=token,
        )
        with session(self.engine) as opened:
            opened.add(job)
            opened.flush()
            return job.number

    def refuse_full(self, more: int, token: str | None) -> None:
        """Raises QueueFull where so many more jobs would be too many open ones, of all or of who asks."""
        open_ = select(func.count()).select_from(Job).where(Job.state.in_(OPEN))
        with session(self.engine) as opened:
            of_all = opened.scalar(open_) or 0
            of_asker = opened.scalar(open_.where(Job.token.is_(token) if token is None else Job.token == token)) or 0
        for count, most, whose in ((of_asker, MOST_OF_ONE, "by this token"), (of_all, MOST_OPEN, "in the queue")):
            if count + more > most:
                what = f"{count} open jobs {whose} and {more} more, the limit is {most}"
                raise QueueFull(what, hint="wait until some are done, or cancel some")

    def next_job(self, target: str) -> Job | None:
        """The oldest job of a target that may begin, under way now; null without one."""
        wanted = select(Job.number).where(Job.target == target, Job.state == State.queued)
        with session(self.engine) as opened:
            number = opened.scalar(wanted.where(Job.not_before <= time.time()).order_by(Job.number).limit(1))
        if number is None or not self._change_job(number, (State.queued,), state=State.under_way, reason=None):
            return None
        return self.job(number)

    def job(self, number: int) -> Job:
        """A job. Raises InputError where there is none of this number."""
        with session(self.engine) as opened:
            found = opened.get(Job, number)
            opened.expunge_all()
        if found is None:
            raise InputError(f"there is no job {number}", hint="the page of the queue lists them")
        return found

    def jobs(self, most: int | None = None, *, batch: str | None = None) -> list[Job]:
        """The jobs, the latest first; with `batch` those that have it in common."""
        wanted = select(Job).order_by(Job.number.desc()).limit(most)
        with session(self.engine) as opened:
            found = list(opened.scalars(wanted if batch is None else wanted.where(Job.batch == batch)))
            opened.expunge_all()
        return found

    def states(self) -> dict[str, int]:
        """How many jobs there are, by state."""
        with session(self.engine) as opened:
            rows = opened.execute(select(Job.state, func.count()).group_by(Job.state))
            return {state: number for state, number in rows}  # noqa: C416 - rows are no pairs to a type checker

    def tasks(self, job: int | None = None) -> list[dict[str, Any]]:
        """A row a task, of one job or of all: all that the table has but the result."""
        wanted = select(*(Task.__table__.columns[name] for name in TASK_FIELDS)).order_by(
            Task.job, Task.process, Task.shard
        )
        with session(self.engine) as opened:
            rows = opened.execute(wanted if job is None else wanted.where(Task.job == job)).mappings()
            return [dict(row) for row in rows]

    def counted(self) -> dict[str, dict[str, int]]:
        """How many tasks there are, by target and state."""
        counted: dict[str, dict[str, int]] = {}
        with session(self.engine) as opened:
            wanted = select(Task.target, Task.state, func.count()).group_by(Task.target, Task.state)
            for target, state, number in opened.execute(wanted):
                counted.setdefault(target, {})[state] = number
        return counted

    def put(self, key: Key, job: int, target: str) -> Task:
        """The task of a key, queued where there was none; one that is done has its result."""
        with session(self.engine) as opened:
            found = opened.get(Task, tuple(key), options=[undefer(Task.result)])
            if found is None:
                found = Task(**key._asdict(), job=job, target=target, state=State.queued, attempts=0)
                opened.add(found)
                opened.flush()
                opened.refresh(found, ["result"])
            opened.expunge_all()
        return found

    def begin(self, key: Key, worker: str) -> bool:
        """Hands a queued task to a worker; false where it isn't queued."""
        return self._change(key, (State.queued,), state=State.under_way, worker=worker, since=_now())

    def finish(self, key: Key, result: bytes) -> bool:
        """Keeps the result of a task; false, and nothing is kept, where the task has ended already."""
        return self._change(key, OPEN, state=State.done, worker=None, since=None, reason=None, result=result)

    def give_back(self, key: Key, reason: str) -> bool:
        """Queues a task again whose worker or device was lost; gives whether it may be begun again.

        After MOST_ATTEMPTS it has failed.
        """
        again = {"worker": None, "since": None, "reason": reason, "attempts": Task.attempts + 1}
        last = Task.attempts >= MOST_ATTEMPTS - 1
        if self._change(key, (State.under_way,), last, state=State.failed, **again):
            return False
        return self._change(key, (State.under_way,), state=State.queued, **again)

    def fail(self, key: Key, reason: str) -> None:
        """Ends a task of whose result nothing can be made, one that is done too; its result is dropped."""
        ends = (*OPEN, State.done)
        self._change(key, ends, state=State.failed, worker=None, since=None, reason=reason, result=None)

    def progress(self, number: int, settled: int, cases: int) -> None:
        """How far a job is."""
        self._change_job(number, (State.under_way,), settled=settled, cases=cases)

    def named(self, number: int, run: str) -> None:
        """The id of a job's run."""
        self._change_job(number, OPEN, run=run)

    def end_job(self, number: int, hash_: str) -> bool:
        """A job's run is sealed, and in the lab: the results of its tasks are dropped. False where it was cancelled."""
        done = {"state": State.done, "hash": hash_, "reason": None, "settled": Job.cases}
        return self._end(number, (State.under_way,), done)

    def fail_job(self, number: int, reason: str) -> None:
        """Ends a job that can't be carried out."""
        self._change_job(number, (State.under_way,), state=State.failed, reason=reason)

    def give_back_job(self, number: int, reason: str) -> None:
        """Queues a job again whose target can't be reached; after MOST_ATTEMPTS it has failed."""
        attempts = self.job(number).attempts + 1
        if attempts >= MOST_ATTEMPTS:
            self.fail_job(number, reason)
            return
        due = time.time() + self.wait_s(attempts)
        again = {"attempts": attempts, "not_before": due, "reason": reason}
        self._change_job(number, (State.under_way,), state=State.queued, **again)

    def wait_s(self, attempts: int) -> float:
        """How long to wait after so many losses."""
        return float(min(LONGEST_WAIT_S, self.backoff_s * GROWTH ** min(attempts - 1, MOST_ATTEMPTS)))

    def cancel(self, number: int) -> bool:
        """Ends a job that somebody no longer wants; false where it has ended."""
        return self._end(number, OPEN, {"state": State.cancelled})

    def again(self, number: int) -> bool:
        """Queues a job again that failed: its run goes on where it stands; false where it hasn't failed."""
        self.refuse_full(1, self.job(number).token)
        again = {"state": State.queued, "attempts": 0, "reason": None}
        of_job = update(Task).where(Task.job == number, Task.state == State.failed)
        with session(self.engine) as opened:
            if not _changed(opened.execute(_of(number, (State.failed,)).values(not_before=0.0, **again))):
                return False
            opened.execute(of_job.values(**again))
        return True

    def note_absent(self, targets: Sequence[str]) -> None:
        """Says of each job that waits for a target which is none of these since when, and of no other one."""
        with session(self.engine) as opened:
            waiting = opened.execute(select(Job.number, Job.target, Job.reason).where(Job.state == State.queued)).all()
        for number, target, reason in waiting:
            begin = f"waits for target {target}, which is not here since "
            is_noted = reason is not None and reason.startswith(begin)
            if is_noted == (target in targets):
                self._change_job(number, (State.queued,), reason=None if is_noted else begin + _now())

    def recover(self, target: str | None = None, reason: str | None = None, wait_s: float = 0.0) -> None:
        """Queues again what was under way and is no more.

        Called by the one fleet there is as it starts, and of one target by who carries out its jobs.

        * `reason`: what its jobs wait for, `wait_s`: until they may begin.
        """
        gone = {"state": State.queued, "worker": None, "since": None}
        tasks = update(Task).where(Task.state == State.under_way).values(**gone)
        due = time.time() + wait_s if wait_s else 0.0
        waiting = {"state": State.queued, "not_before": due, "reason": reason}
        jobs = update(Job).where(Job.state == State.under_way).values(**waiting)
        with session(self.engine) as opened:
            opened.execute(tasks if target is None else tasks.where(Task.target == target))
            opened.execute(jobs if target is None else jobs.where(Job.target == target))

    def _end(self, number: int, from_: Sequence[State], values: Mapping[str, Any]) -> bool:
        """Ends a job, takes the results of its tasks, and ends those of them that its run went on without."""
        of_job = update(Task).where(Task.job == number)
        left = of_job.where(Task.state.in_(OPEN)).values(state=State.cancelled, worker=None, since=None)
        with session(self.engine) as opened:
            if not _changed(opened.execute(_of(number, from_).values(**values))):
                return False
            opened.execute(of_job.values(result=None))
            opened.execute(left)
        return True

    def _change(self, key: Key, from_: Sequence[State], *more: ColumnElement[bool], **values: Any) -> bool:
        its = and_(Task.run == key.run, Task.process == key.process, Task.shard == key.shard)
        with session(self.engine) as opened:
            return _changed(opened.execute(update(Task).where(its, Task.state.in_(from_), *more).values(**values)))

    def _change_job(self, number: int, from_: Sequence[State], **values: Any) -> bool:
        with session(self.engine) as opened:
            return _changed(opened.execute(_of(number, from_).values(**values)))


def _of(number: int, from_: Sequence[State]) -> Update:
    """A change of a job that is in one of these states."""
    return update(Job).where(Job.number == number, Job.state.in_(from_))


def refuse_unknown(study: str) -> None:
    """Raises InputError where there is no such study of wattlock's own."""
    if study not in STUDIES.names():
        raise InputError(f"there is no study {study[:80]!r}", hint="`wattlock studies` lists them")


def _changed(done: Any) -> bool:
    return bool(done.rowcount)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class Job(Base):
    """A study for one target. Times are ISO 8601 in UTC.

    * `batch`: common to jobs that were asked for at once. `options`: as `Options` has them.
    * `token`: of who asked, null in a lab without tokens. `attempts`: how often its target could not be reached.
    * `not_before`: when it may begin, in seconds since 1970. `run`: the run's id, `hash`: of the sealed run.
    * `settled`, `cases`: how far it is. `reason`: why it failed, or waits.
    """

    __tablename__ = "job"

    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    batch: Mapped[str] = mapped_column(index=True)
    study: Mapped[str]
    target: Mapped[str] = mapped_column(index=True)
    options: Mapped[dict[str, Any]] = mapped_column(JSON)
    state: Mapped[str] = mapped_column(index=True)
    asked: Mapped[str]
    token: Mapped[str | None]
    attempts: Mapped[int] = mapped_column(default=0)
    not_before: Mapped[float] = mapped_column(Double, default=0.0)
    run: Mapped[str | None]
    hash: Mapped[str | None]
    settled: Mapped[int] = mapped_column(default=0)
    cases: Mapped[int] = mapped_column(default=0)
    reason: Mapped[str | None]


class Goal(Base):
    """A question of advice whose answer shall be so narrow.

    * `question`: the fields of the form that were filled in. `within_percent`: the half-width of the days asked for,
      `now_percent`: that of the last answer, null before the first. `reason`: why it ended. `token`: of who asked.
    """

    __tablename__ = "goal"

    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    question: Mapped[dict[str, str]] = mapped_column(JSON)
    within_percent: Mapped[float] = mapped_column(Double)
    now_percent: Mapped[float | None] = mapped_column(Double)
    state: Mapped[str] = mapped_column(index=True)
    asked: Mapped[str]
    token: Mapped[str | None]
    reason: Mapped[str | None]
