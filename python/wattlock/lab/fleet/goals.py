"""The planner: a question of advice, and how narrow its answer shall be; the fleet measures until it is so.

A goal that is open has at most one job under way. When that has ended the question is answered again with its run, and
the measurement is queued that narrows the answer most by the minute, until it is as narrow as asked or none helps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import func, select, update

from wattlock.advise.planner import STUDY, Station
from wattlock.errors import InputError, WattlockError
from wattlock.lab import advice_page
from wattlock.lab.advising import AdviceRequest, question_of
from wattlock.lab.collection import Collection
from wattlock.lab.database import RunRow, session
from wattlock.lab.fleet.job_options import JobOptions
from wattlock.lab.fleet.queue import HELD, OPEN, Goal, Job, Queue, QueueFull, State
from wattlock.lab.planning import KeptPlan, plan
from wattlock.targets import named

MOST_JOBS = 12
MOST_GOALS, MOST_GOALS_OF_ASKER = 300, 100
"""Goals that are under way: of all, and of one token, or of all who ask a lab without tokens."""
LEAST_PERCENT, MOST_PERCENT = 0.1, 100.0
STILL = 0.995
"""A run that leaves more of the interval than this share of it didn't narrow it."""
Plan = Callable[[AdviceRequest, Sequence[Station], str | None, float], KeptPlan]


@dataclass(frozen=True)
class Goals:
    """The goals of a lab.

    * `targets`: of its fleet. `work_out`: answers a question with what to measure next.
    """

    lab: Collection
    queue: Queue
    targets: Sequence[str]
    work_out: Plan | None = None

    def add(self, filled: Mapping[str, str], within_percent: float, token: str | None) -> int:
        """Takes a question as a goal; gives its number.

        Raises InputError where the width can't be, or the question lacks something or has a wrong value; QueueFull.
        """
        _refuse_width(within_percent)
        question_of(advice_page.filled_question(filled, self.lab))
        self._refuse_full(token)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        goal = Goal(question=dict(filled), within_percent=within_percent, state=State.under_way, asked=now, token=token)
        with session(self.lab.engine) as opened:
            opened.add(goal)
            opened.flush()
            return goal.number

    def _refuse_full(self, token: str | None) -> None:
        open_ = select(func.count()).select_from(Goal).where(Goal.state == State.under_way)
        with session(self.lab.engine) as opened:
            of_all = opened.scalar(open_) or 0
            of_asker = opened.scalar(open_.where(Goal.token.is_(token) if token is None else Goal.token == token)) or 0
        for count, most, whose in ((of_asker, MOST_GOALS_OF_ASKER, "by this token"), (of_all, MOST_GOALS, "of all")):
            if count >= most:
                what = f"{count} goals are under way {whose}, and no more may"
                raise QueueFull(what, hint="wait until some are reached, or cancel some")

    def all(self, most: int | None = None) -> list[Goal]:
        """The goals, the latest first."""
        with session(self.lab.engine) as opened:
            found = list(opened.scalars(select(Goal).order_by(Goal.number.desc()).limit(most)))
            opened.expunge_all()
        return found

    def count(self) -> int:
        """How many goals there are."""
        with session(self.lab.engine) as opened:
            return opened.scalar(select(func.count()).select_from(Goal)) or 0

    def cancel(self, number: int) -> bool:
        """Ends a goal that somebody no longer wants, with the job of it that is open; false where it has ended."""
        if not self._end(number, State.cancelled, "nobody wants it any more"):
            return False
        for job in self.jobs(number):
            self.queue.cancel(job.number)
        return True

    def jobs(self, number: int) -> list[Job]:
        """The jobs of a goal, the first first."""
        return self.queue.jobs(batch=_batch(number))[::-1]

    def advance(self) -> None:
        """Takes each open goal as far as it goes now."""
        for goal in self.all():
            if goal.state == State.under_way:
                try:
                    self._advance(goal)
                except HELD:  # the goal waits for the database, or for room
                    raise
                except WattlockError as error:
                    self._end(goal.number, State.failed, error.told)
                except Exception as error:  # noqa: BLE001 - a bug costs the goal that found it, and no other one
                    self._end(goal.number, State.failed, f"a bug of wattlock: {type(error).__name__}: {error}")

    def plan(self, filled: Mapping[str, str], within_percent: float, jobs: Sequence[Job] = ()) -> KeptPlan:
        """What to measure next.

        * `jobs`: those that were carried out for it.

        Raises InputError where the width can't be, InputError and EvidenceError as `wattlock advise` does.
        """
        _refuse_width(within_percent)
        request, machine = self._asked(filled, jobs)
        gone = {job.target for job in jobs if job.state in {State.failed, State.cancelled}}
        stations = [station for station in self._stations() if station.name not in gone]
        if self.work_out is not None:
            return self.work_out(request, stations, machine, within_percent)
        return plan(request, stations, machine, within_percent, self.lab.data)

    def _advance(self, goal: Goal) -> None:
        jobs = self.jobs(goal.number)
        if any(job.state in OPEN for job in jobs):
            return
        found = self.plan(goal.question, goal.within_percent, jobs)
        before = goal.now_percent
        if not self._change(goal.number, now_percent=found.within_percent):
            return  # it was cancelled while it was planned
        if found.within_percent <= goal.within_percent:
            self._end(goal.number, State.done, "the answer is as narrow as asked")
        elif not found.steps:
            self._end(goal.number, State.done, "; ".join([found.ends, *found.cannot]))
        elif len(jobs) >= MOST_JOBS:
            self._end(goal.number, State.done, f"{MOST_JOBS} runs were made for it, the most there are for one goal")
        elif _is_still(jobs, before, found.within_percent):
            self._end(goal.number, State.done, "the last run did not narrow the answer")
        else:
            step = found.steps[0]
            # The first run of a device measures all that may be advised: an answer ranks what one device measured.
            is_first = self._asked(goal.question, jobs)[1] is None
            only = () if is_first else (f"cipher={step['cipher']},provider={step['provider']}",)
            job = self.queue.enqueue(
                STUDY, step["target"], JobOptions(only), batch=_batch(goal.number), token=goal.token
            )
            if not self._change(goal.number, state=State.under_way):  # who cancelled it just now didn't see the job
                self.queue.cancel(job)

    def _asked(self, filled: Mapping[str, str], jobs: Sequence[Job]) -> tuple[AdviceRequest, str | None]:
        """The question with the runs that were made for it, and the device that they are of; null without one."""
        request = advice_page.filled_question(filled, self.lab)
        named_run = [str(run)] if (run := request.given.get("device.run")) else []
        hashes = [*named_run, *(job.hash for job in jobs if job.hash)]
        found = [self.lab.find(hash_) for hash_ in hashes]
        runs = [job for job in found if not job.reasons]
        if not runs:
            return request, None
        alike = [run for run in runs if (run.device, run.probe_sha256) == (runs[0].device, runs[0].probe_sha256)]
        given: dict[str, Any] = {**request.given, "device.run": [run.hash for run in alike]}
        return replace(request, given=given), runs[0].device

    def _stations(self) -> list[Station]:
        """The targets of the fleet, each with the device that its latest run was of."""
        described = named.described()
        found = []
        for name in self.targets:
            known = described.get(name)
            way = known.way if known else name
            card = known.device if known else None
            found.append(Station(name, card, self._device(name), counts=way.startswith("qemu:")))
        return found

    def _device(self, target: str) -> str | None:
        """The device that the latest run of a target was of, whose folder is as it was; null without one."""
        wanted = select(RunRow.hash, RunRow.device).join(Job, Job.hash == RunRow.hash).where(Job.target == target)
        with session(self.lab.engine) as opened:
            rows = opened.execute(wanted.order_by(Job.number.desc())).all()
        return next((device for hash_, device in rows if self.lab.evidence_of([hash_])), None)

    def _end(self, number: int, state: State, reason: str) -> bool:
        return self._change(number, state=state, reason=reason)

    def _change(self, number: int, **values: Any) -> bool:
        its = update(Goal).where(Goal.number == number, Goal.state == State.under_way)
        with session(self.lab.engine) as opened:
            done: Any = opened.execute(its.values(**values))
            return bool(done.rowcount)


def _is_still(jobs: Sequence[Job], before: float | None, now: float) -> bool:
    """Whether the last run narrowed nothing; a job without a run says nothing of that."""
    return before is not None and len(jobs) > 1 and jobs[-1].state == State.done and now > STILL * before


def _refuse_width(within_percent: float) -> None:
    if not LEAST_PERCENT <= within_percent <= MOST_PERCENT:
        hint = f"{LEAST_PERCENT:g} to {MOST_PERCENT:g}: the half-width of the days, in percent"
        raise InputError(f"within is {within_percent:g} %", hint=hint)


def _batch(number: int) -> str:
    """What the jobs of a goal have in common."""
    return f"plan-{number}"
