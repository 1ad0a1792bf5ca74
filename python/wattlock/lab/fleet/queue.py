"""The queue: which job and which task is where. Each step is one statement that changes a row from a state it has.

A task ends once: `finish` gives false for a task that has ended, and what came late is not kept.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Engine, and_, func, select, update
from sqlalchemy.orm import undefer

from wattlock.errors import InputError
from wattlock.lab.database import session
from wattlock.lab.fleet.signing import Key
from wattlock.lab.fleet.tables import Job, State, Task
from wattlock.study.study import STUDIES

MOST_ATTEMPTS = 5
"""So often a task is begun whose device or worker is lost; so often a job whose target can't be reached."""
BACKOFF_S, GROWTH = 2.0, 3.0
"""The wait after the first loss, and by how much each further one is longer: 2, 6, 18, 54 s."""
MOST_PATTERNS, LONGEST_PATTERN = 20, 200
OPEN = (State.queued, State.under_way)


@dataclass(frozen=True)
class Options:
    """What of a study is measured, as `--only` and `--core-class` of `wattlock run` say it."""

    only: tuple[str, ...] = ()
    core_classes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for given in (self.only, self.core_classes):
            if len(given) > MOST_PATTERNS or not all(0 < len(one) <= LONGEST_PATTERN for one in given):
                hint = f"name at most {MOST_PATTERNS}, each of 1 to {LONGEST_PATTERN} letters: aes*, payload_B=64"
                raise InputError(f"{len(given)} patterns, or one that is empty or too long", hint=hint)


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
        options: Options = Options(),
        *,
        batch: str | None = None,
        token: str | None = None,
    ) -> int:
        """Queues a study of wattlock's own for a target; gives the job's number.

        * `batch`: common to jobs that are set beside each other. `token`: the id of who asked.

        Raises InputError where there is no such study: files of the lab's host are not for who asks.
        """
        if study not in STUDIES.names():
            raise InputError(f"there is no study {study[:80]!r}", hint="`wattlock studies` lists them")
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

    def jobs(self, most: int | None = None) -> list[Job]:
        """The jobs, the latest first."""
        with session(self.engine) as opened:
            found = list(opened.scalars(select(Job).order_by(Job.number.desc()).limit(most)))
            opened.expunge_all()
        return found

    def tasks(self, job: int | None = None) -> list[dict[str, Any]]:
        """A row a task, of one job or of all: all that the table has but the result."""
        columns = [column for column in Task.__table__.columns if column.name != "result"]
        wanted = select(*columns).order_by(Task.job, Task.process, Task.shard)
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
        if not self._change_job(
            number, (State.under_way,), state=State.done, hash=hash_, reason=None, settled=Job.cases
        ):
            return False
        self._drop(number)
        return True

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
        return float(self.backoff_s * GROWTH ** (attempts - 1))

    def cancel(self, number: int) -> bool:
        """Ends a job that somebody no longer wants; false where it has ended."""
        if not self._change_job(number, OPEN, state=State.cancelled):
            return False
        self._drop(number)
        return True

    def again(self, number: int) -> bool:
        """Queues a job again that failed: its run goes on where it stands; false where it hasn't failed."""
        given = {"attempts": 0, "not_before": 0.0, "reason": None}
        if not self._change_job(number, (State.failed,), state=State.queued, **given):
            return False
        with session(self.engine) as opened:
            of_job = update(Task).where(Task.job == number, Task.state == State.failed)
            opened.execute(of_job.values(state=State.queued, attempts=0, reason=None))
        return True

    def recover(self, target: str | None = None) -> None:
        """Queues again what was under way and is no more.

        Called by the one fleet there is as it starts, and of one target by who carries out its jobs.
        """
        gone = {"state": State.queued, "worker": None, "since": None}
        tasks = update(Task).where(Task.state == State.under_way).values(**gone)
        jobs = update(Job).where(Job.state == State.under_way).values(state=State.queued, not_before=0.0)
        with session(self.engine) as opened:
            opened.execute(tasks if target is None else tasks.where(Task.target == target))
            opened.execute(jobs if target is None else jobs.where(Job.target == target))

    def _drop(self, number: int) -> None:
        """Takes the results of an ended job, and ends those of its tasks that the run went on without."""
        with session(self.engine) as opened:
            opened.execute(update(Task).where(Task.job == number).values(result=None))
            left = update(Task).where(Task.job == number, Task.state.in_(OPEN))
            opened.execute(left.values(state=State.cancelled, worker=None, since=None))

    def _change(self, key: Key, from_: Sequence[State], *more: ColumnElement[bool], **values: Any) -> bool:
        its = and_(Task.run == key.run, Task.process == key.process, Task.shard == key.shard)
        with session(self.engine) as opened:
            return _changed(opened.execute(update(Task).where(its, Task.state.in_(from_), *more).values(**values)))

    def _change_job(self, number: int, from_: Sequence[State], **values: Any) -> bool:
        its = update(Job).where(Job.number == number, Job.state.in_(from_))
        with session(self.engine) as opened:
            return _changed(opened.execute(its.values(**values)))


def _changed(done: Any) -> bool:
    return bool(done.rowcount)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
