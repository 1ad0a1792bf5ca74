"""What a fleet does while the database is held or away, or a disk full: work waits, and none of it fails or is lost."""

import errno
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support import scripted_probe
from support.fleet_bench import Bench
from wattlock.errors import DiskFull, WayError
from wattlock.lab.database import Away, DatabaseBusy
from wattlock.lab.fleet import conductor
from wattlock.lab.fleet.job_options import JobOptions
from wattlock.lab.fleet.queue import Job, Queue, State
from wattlock.lab.fleet.worker import TaskOrder, TaskOutput
from wattlock.lab.pack import packed
from wattlock.store import RunFolder

ONLY = JobOptions(("cipher=rc4*",))


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A lab with a queue, and one job for a device that measures in virtual time."""
    monkeypatch.setenv("WATTLOCK_PROBE", str(scripted_probe.install(tmp_path / "probe")))
    (tmp_path / "targets.toml").write_text('[one]\nway = "local"\n')
    monkeypatch.setenv("WATTLOCK_TARGETS", str(tmp_path / "targets.toml"))
    monkeypatch.setattr(conductor, "LOOK_S", 0.0)
    made = Bench(tmp_path / "lab")
    made.queue.enqueue("quick", "one", ONLY)
    return made


class Once:
    """Raises an error where it is called for the first time, and then does what it is in place of."""

    def __init__(self, error: Exception, then: Callable[..., Any], which: int = 1) -> None:
        self.error, self.then, self.which = error, then, which
        self.calls = 0

    def __call__(self, *given: Any, **more: Any) -> Any:
        """As `then`, but for the call that fails."""
        self.calls += 1
        if self.calls == self.which:
            raise self.error
        return self.then(*given, **more)


class NothingLeft(BaseException):
    """Ends the drive, which has no other end."""


def driven(bench: Bench, monkeypatch: pytest.MonkeyPatch, send: Callable[..., TaskOutput] | None = None) -> Job:
    """The job after a drive that took up all there was."""
    next_job = bench.queue.next_job

    def next_one(target: str) -> Job | None:
        if (job := next_job(target)) is None:
            raise NothingLeft
        return job

    monkeypatch.setattr(bench.queue, "next_job", next_one)
    with pytest.raises(NothingLeft):
        bench.drive("one", send).forever()
    return bench.queue.job(1)


def is_whole(bench: Bench) -> bool:
    """Whether the run is in the lab, with each process of it carried out once."""
    (run,) = bench.lab.runs()
    complete = RunFolder.open(bench.lab.data / "runs" / run.hash).complete()
    done = [task["process"] for task in bench.queue.tasks() if task["state"] == State.done]
    return sorted(done) == sorted(complete) and not (bench.lab.data / "fleet" / "job-1").exists()


def test_what_is_held_away_or_full_while_a_task_is_sent_fails_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    send: Callable[..., TaskOutput] = bench.send
    for number, held in enumerate((DatabaseBusy("it is held"), Away("it is away"), DiskFull("the disk is full"))):
        send = Once(held, send, which=1 + number)
    job = driven(bench, monkeypatch, send)
    assert (job.state, job.reason) == (State.done, None)
    assert is_whole(bench)


def test_every_step_may_find_the_database_held_and_the_job_comes_to_its_end(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = {}
    for where in ("put", "begin", "finish", "give_back", "progress", "named", "end_job", "job"):
        steps[where] = Once(DatabaseBusy("it is held"), getattr(bench.queue, where))
        monkeypatch.setattr(bench.queue, where, steps[where])
    send = Once(WayError("one: it was lost", hint="is it on?"), bench.send)
    job = driven(bench, monkeypatch, send)
    assert [where for where, once in steps.items() if not once.calls] == []
    assert (job.state, job.reason) == (State.done, None)
    assert is_whole(bench)


def test_a_result_waits_for_a_database_that_is_away_and_is_not_measured_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        monkeypatch.setattr(bench.queue, "finish", Once(Away("it is away"), bench.queue.finish))
    assert driven(bench, monkeypatch).state == State.done
    processes = [order.key.process for order in bench.orders]
    assert len(processes) == len(set(processes))


def test_a_database_that_is_held_while_a_task_runs_does_not_end_the_task(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conductor, "LOOK_S", -1.0)
    looked: list[bool] = []

    def send(order: TaskOrder, attempt: int, stopped: Callable[[], bool]) -> TaskOutput:
        with monkeypatch.context() as patched:
            patched.setattr(bench.queue, "job", Once(DatabaseBusy("it is held"), bench.queue.job))
            looked.append(stopped())
        return bench.send(order, attempt, stopped)

    assert driven(bench, monkeypatch, send).state == State.done
    assert not any(looked)
    processes = [order.key.process for order in bench.orders]
    assert len(processes) == len(set(processes))


def test_a_disk_that_is_full_for_the_run_loses_no_result_of_a_task(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = DiskFull("run: the disk is full", hint="make room")
    append = RunFolder.append
    calls = 0

    def appends(folder: RunFolder, data: bytes) -> None:
        nonlocal calls
        calls += b'"kind":"batch"' in data
        if calls == 2:
            calls += 1
            raise full
        append(folder, data)

    monkeypatch.setattr(RunFolder, "append", appends)
    assert driven(bench, monkeypatch).state == State.done
    processes = [order.key.process for order in bench.orders]
    assert len(processes) == len(set(processes)), "what was measured is taken from its task"
    assert is_whole(bench)


def test_a_run_that_finds_the_disk_full_when_it_enters_the_lab_waits_for_room(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (errno.ENOSPC, errno.EDQUOT):
        monkeypatch.setattr(bench.lab, "admit", Once(OSError(number, os.strerror(number)), bench.lab.admit))
    monkeypatch.setattr(conductor, "packed", Once(OSError(errno.ENOSPC, "full"), packed))
    assert driven(bench, monkeypatch).state == State.done
    assert is_whole(bench)


def test_a_job_that_waits_says_for_what_and_not_before_when(bench: Bench) -> None:
    queue = Queue(bench.lab.engine, backoff_s=40.0)
    job = queue.next_job("one")
    assert job is not None
    queue.recover("one", "the disk is full", queue.wait_s(1))
    waiting = queue.job(1)
    assert (waiting.state, waiting.reason) == (State.queued, "the disk is full")
    assert 30 < waiting.not_before - time.time() <= 40
    assert queue.wait_s(1_000) == 60.0


def test_a_start_takes_away_the_runs_of_ended_jobs_and_keeps_those_that_can_go_on(bench: Bench) -> None:
    queue, place = bench.queue, bench.lab.data / "fleet"
    states = [State.done, State.cancelled, State.failed, State.failed, State.queued]
    for state in states[1:]:
        queue.enqueue("quick", "one", ONLY)
        assert state
    for number, state in enumerate(states, 1):
        queue._change_job(number, (State.queued,), state=state)
    for name in ("job-1", "job-2", "job-3", "job-4", "job-5", "job-77"):
        (place / name).mkdir()
    long_ago = time.time() - 31 * 86_400
    os.utime(place / "job-4", (long_ago, long_ago))
    conductor._clear(place, queue)
    assert sorted(folder.name for folder in place.glob("job-*")) == ["job-3", "job-5"]


def test_a_fleet_that_can_not_be_started_is_tried_again_and_the_lab_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conductor, "AGAIN_S", 0.05)
    short = OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    popen = subprocess.Popen
    tries = Once(short, Once(short, lambda *_given, **more: popen(["cat"], **more)))
    monkeypatch.setattr(subprocess, "Popen", tries)
    said: list[str] = []
    with conductor.started(tmp_path, ["one"], said.append):
        due = time.monotonic() + 30
        while tries.calls < 3 and time.monotonic() < due:
            time.sleep(0.01)
    assert tries.calls == 3
    assert [line.partition(" (")[0] for line in said] == ["warning: the fleet can't be started"] * 2
    assert [line.rpartition("in ")[2] for line in said] == ["0.05 s", "0.1 s"]
