"""The laws of the queue: whatever ends when, no task is lost, none is done twice, and what is done stays so."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from sqlalchemy import Engine, create_engine, delete
from sqlalchemy.pool import StaticPool

from support import postgresql
from support.tools import needs
from wattlock.errors import InputError
from wattlock.lab.collection import Collection
from wattlock.lab.database import Base, open_database, session
from wattlock.lab.fleet.job_options import JobOptions
from wattlock.lab.fleet.queue import MOST_ATTEMPTS, Job, Queue, State, Task
from wattlock.lab.fleet.worker import Key

KEYS = tuple(Key("run", process, shard) for process, shard in ((0, "a"), (1, "a"), (1, "b")))
STEPS = ("begin", "finish", "give back", "fail", "recover")


POSTGRESQL = needs(postgresql.FOUND, "PostgreSQL or its driver is missing: apt-get install postgresql, make dev")


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=POSTGRESQL)])
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A database of each kind."""
    if request.param == "postgresql":
        with postgresql.running() as server:
            engine = open_database(tmp_path_factory.mktemp("lab"), server.made("queue"))
            yield engine
            engine.dispose()
        return
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    Base.metadata.create_all(engine)
    yield engine
    engine.dispose()


def begun(engine: Engine) -> Queue:
    """A queue with one job and a task a key."""
    with session(engine) as opened:
        opened.execute(delete(Task))
        opened.execute(delete(Job))
    queue = Queue(engine, backoff_s=0.0)
    job = queue.enqueue("quick", "one")
    assert queue.next_job("one") is not None
    for key in KEYS:
        queue.put(key, job, "one")
    return queue


def state_of(queue: Queue, key: Key) -> tuple[str, bytes | None, int]:
    task = queue.put(key, 0, "one")
    return task.state, task.result, task.attempts


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some.lists(some.tuples(some.sampled_from(STEPS), some.sampled_from(KEYS)), max_size=40))
def test_in_any_order_a_task_is_done_at_most_once_and_keeps_its_first_result(
    engine: Engine, steps: list[tuple[str, Key]]
) -> None:
    queue = begun(engine)
    done: dict[Key, bytes] = {}
    for number, (what, key) in enumerate(steps):
        before = state_of(queue, key)
        if what == "begin":
            assert queue.begin(key, "worker") == (before[0] == State.queued)
        elif what == "finish":
            result = b"%d" % number
            is_kept = queue.finish(key, result)
            assert is_kept == (before[0] in {State.queued, State.under_way})
            if is_kept:
                assert key not in done
                done[key] = result
        elif what == "give back":
            is_again = queue.give_back(key, "lost")
            assert is_again == (before[0] == State.under_way and before[2] + 1 < MOST_ATTEMPTS)
        elif what == "fail":
            queue.fail(key, "broken")
            assert state_of(queue, key)[0] == State.failed
            done.pop(key, None)
        else:
            queue.recover()
        for one in KEYS:
            state, kept, attempts = state_of(queue, one)
            assert (state == State.done) == (one in done)
            assert kept == done.get(one)
            assert attempts <= MOST_ATTEMPTS
    assert len(queue.tasks()) == len(KEYS)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some.lists(some.sampled_from(["one", "two"]), max_size=8), some.data())
def test_the_jobs_of_a_target_begin_in_their_order_and_none_twice_unless_the_fleet_died(
    engine: Engine, targets: list[str], data: some.DataObject
) -> None:
    queue = begun(engine)
    queue.fail_job(queue.jobs()[0].number, "not of this test")
    asked = [(queue.enqueue("quick", target), target) for target in targets]
    waiting = {one: [number for number, target in asked if target == one] for one in ("one", "two")}
    for target in data.draw(some.permutations(targets)):
        job = queue.next_job(target)
        assert job is not None
        assert job.number == waiting[target].pop(0)
    assert queue.next_job("one") is None
    assert queue.next_job("two") is None
    queue.recover()
    again = {one: queue.next_job(one) for one in dict.fromkeys(targets)}
    assert {one: job.number for one, job in again.items() if job is not None} == {
        one: min(number for number, target in asked if target == one) for one in dict.fromkeys(targets)
    }


def test_a_target_that_stays_away_waits_longer_each_time_and_then_fails_the_job(engine: Engine) -> None:
    queue = begun(engine)
    (job,) = queue.jobs()
    for number in range(1, MOST_ATTEMPTS):
        queue.give_back_job(job.number, "no way to it")
        waiting = queue.job(job.number)
        assert (waiting.state, waiting.attempts) == (State.queued, number)
        assert queue.next_job("one") is not None
    queue.give_back_job(job.number, "no way to it")
    assert (queue.job(job.number).state, queue.job(job.number).reason) == (State.failed, "no way to it")
    waits = [Queue(engine).wait_s(number) for number in range(1, MOST_ATTEMPTS)]
    assert waits == sorted(set(waits))


def test_a_job_that_is_not_due_yet_is_not_begun(engine: Engine) -> None:
    queue = begun(engine)
    (job,) = queue.jobs()
    Queue(engine, backoff_s=3600.0).give_back_job(job.number, "asleep")
    assert queue.next_job("one") is None
    queue.enqueue("quick", "one")
    assert queue.next_job("one") is not None


def test_a_cancelled_job_takes_no_result_and_a_failed_one_can_be_queued_again(engine: Engine) -> None:
    queue = begun(engine)
    (job,) = queue.jobs()
    assert queue.finish(KEYS[0], b"first")
    assert queue.cancel(job.number)
    assert not queue.cancel(job.number)
    assert not queue.finish(KEYS[1], b"late")
    assert not queue.end_job(job.number, "0" * 64)
    assert [state_of(queue, key)[0] for key in KEYS] == [State.done, State.cancelled, State.cancelled]
    assert not queue.again(job.number)
    queue = begun(engine)
    (job,) = queue.jobs()
    queue.fail(KEYS[0], "lost")
    queue.fail_job(job.number, "lost")
    assert queue.again(job.number)
    assert state_of(queue, KEYS[0])[0] == State.queued


def test_the_database_of_a_lab_has_the_queue_and_drops_results_of_a_sealed_run(tmp_path: Path) -> None:
    queue = Queue(Collection.open(tmp_path).engine)
    number = queue.enqueue("quick", "one", JobOptions(("aes*",)))
    assert queue.next_job("one") is not None
    queue.put(KEYS[0], number, "one")
    assert queue.begin(KEYS[0], "one")
    assert queue.finish(KEYS[0], b"result")
    assert queue.end_job(number, "0" * 64)
    assert state_of(queue, KEYS[0])[:2] == (State.done, None)
    assert queue.counted() == {"one": {"done": 1}}
    assert JobOptions.read(queue.job(number).options) == JobOptions(("aes*",))


@pytest.mark.parametrize("study", ["nothing", "../quick.toml", "/etc/passwd", ""])
def test_only_studies_of_wattlock_are_queued_and_no_file_of_the_host(engine: Engine, study: str) -> None:
    with pytest.raises(InputError, match="no study"):
        begun(engine).enqueue(study, "one")


@pytest.mark.parametrize("only", [("",), ("a" * 201,), ("aes*",) * 21])
def test_patterns_are_few_and_short(only: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="patterns"):
        JobOptions(only)
