"""The tables of the queue, in the lab's database."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, Double, ForeignKey, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from wattlock.lab.tables import Base


class State(StrEnum):
    """Of a job and of a task."""

    queued = "queued"
    under_way = "under way"
    done = "done"
    failed = "failed"
    cancelled = "cancelled"


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
