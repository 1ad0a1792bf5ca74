"""The planner: goals on made-up answers, from the first run to the end, and what may be asked of it."""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support import postgresql
from support.labs import MEASURED, asking, filled, hash_of
from support.tools import needs
from wattlock.advise.planner import STUDY, Station
from wattlock.errors import InputError
from wattlock.lab import tokens
from wattlock.lab.advising import AdviceRequest
from wattlock.lab.collection import Collection
from wattlock.lab.database import DatabaseBusy, Reason, session
from wattlock.lab.fleet import goals, plan_page
from wattlock.lab.fleet.goals import MOST_JOBS, Goals
from wattlock.lab.fleet.plan_page import LATEST, STEP_FIELDS, steps_frame
from wattlock.lab.fleet.queue import Goal, Job, Queue, QueueFull, State
from wattlock.lab.planning import KeptPlan

QUESTION = {"profile": "sensor", "allow-assumed": "on"}
STEP = {"target": "one", "cipher": "aes128-gcm", "provider": "rustcrypto", "minutes": 0.5}
STEP |= {"processes": 5, "narrower_percent": 40.0, "narrower_percent_a_minute": 80.0, "within_percent": 6.0}


class World:
    """A lab in which each answer is as narrow as was said before."""

    def __init__(self, data: Path, widths: Sequence[float], database: str | None = None) -> None:
        filled(data, (MEASURED,)).engine.dispose()
        self.lab = Collection.open(data, database)
        self.lab.catch_up()
        self.widths = list(widths)
        self.asked: list[tuple[AdviceRequest, Sequence[Station], str | None]] = []
        self.goals = Goals(self.lab, Queue(self.lab.engine), ("one", "two"), self.answer)

    def answer(
        self, asked: AdviceRequest, stations: Sequence[Station], machine: str | None, _within: float
    ) -> KeptPlan:
        """The next answer: one with a step while there are targets."""
        self.asked.append((asked, stations, machine))
        there = [station.name for station in stations]
        steps = [{**STEP, "target": there[0]}] if there else []
        return KeptPlan(self.widths.pop(0), steps, "nothing narrows it further", [] if there else ["none is left"])

    def ended(self, state: State = State.done, **more: str) -> Job:
        """The open job has ended."""
        queue = self.goals.queue
        (job,) = [job for job in queue.jobs() if job.state == State.queued]
        with session(self.lab.engine) as opened:
            found = opened.get(Job, job.number)
            assert found is not None
            found.state = state
            for name, value in more.items():
                setattr(found, name, value)
        return job

    def goal(self) -> Goal:
        """The only goal."""
        (goal,) = self.goals.all()
        return goal


POSTGRESQL = needs(postgresql.FOUND, "PostgreSQL or its driver is missing: apt-get install postgresql, make dev")


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=POSTGRESQL)])
def server(request: pytest.FixtureRequest) -> Iterator[postgresql.Server | None]:
    """A server for a lab of each kind; null where it needs none."""
    if request.param == "sqlite":
        yield None
        return
    with postgresql.running() as running:
        yield running


@pytest.fixture
def made(
    server: postgresql.Server | None, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[[Sequence[float]], World]]:
    """Makes a world with a database that nothing is in."""
    worlds = []

    def make(widths: Sequence[float]) -> World:
        name = hashlib.sha256(request.node.name.encode()).hexdigest()[:20]
        worlds.append(World(tmp_path, widths, None if server is None else server.made(name)))
        return worlds[-1]

    yield make
    for world in worlds:
        world.lab.engine.dispose()


def test_a_goal_measures_one_run_after_the_other_until_the_answer_is_as_narrow_as_asked(
    made: Callable[[Sequence[float]], World],
) -> None:
    world = made([20.0, 10.0, 4.0])
    world.goals.add(QUESTION, 5.0, None)
    world.goals.advance()
    world.goals.advance()
    assert len(world.asked) == 1, "while a job is open nothing is asked"
    # The first run is of all that may be advised, the next of the cipher that narrows the answer.
    assert world.ended(hash=hash_of(MEASURED)).options["only"] == []
    world.goals.advance()
    job = world.ended(hash=hash_of(MEASURED))
    assert (job.study, job.options["only"]) == (STUDY, ["cipher=aes128-gcm,provider=rustcrypto"])
    world.goals.advance()
    goal = world.goal()
    assert (goal.state, goal.now_percent, goal.reason) == (State.done, 4.0, "the answer is as narrow as asked")
    devices = [machine for _, _, machine in world.asked]
    assert devices[0] is None
    assert devices[1] == devices[2] == world.lab.find(hash_of(MEASURED)).device
    world.goals.advance()
    assert len(world.asked) == 3, "an ended goal asks for nothing"


def test_of_a_target_the_device_is_known_by_its_latest_run_and_no_folder_is_hashed_for_each_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Callable[[Sequence[float]], World]
) -> None:
    world, hashed = made([]), []
    for target in ("one", "gone", "one", "two"):
        world.goals.queue.enqueue(STUDY, target)
        world.ended(hash="0" * 64 if target == "two" else hash_of(MEASURED))
    device = world.lab.find(hash_of(MEASURED)).device
    folder = Collection.folder

    def counted(lab: Collection, hash_: str) -> Any:
        hashed.append(hash_)
        return folder(lab, hash_)

    monkeypatch.setattr(Collection, "folder", counted)
    for _ in range(2):
        assert [(one.name, one.machine) for one in world.goals._stations()] == [("one", device), ("two", None)]
    assert len(hashed) <= 1
    (tmp_path / "runs" / hash_of(MEASURED) / "plan.jsonl").write_text("changed")
    assert [one.machine for one in world.goals._stations()] == [None, None]


def test_a_target_that_failed_is_left_out_and_without_one_the_goal_ends_and_says_so(
    made: Callable[[Sequence[float]], World],
) -> None:
    world = made([20.0, 20.0, 20.0])
    world.goals.add(QUESTION, 5.0, None)
    for target in ("one", "two"):
        world.goals.advance()
        assert world.ended(State.failed).target == target
    world.goals.advance()
    assert world.goal().reason == "nothing narrows it further; none is left"


def test_runs_that_narrow_nothing_end_a_goal(tmp_path: Path) -> None:
    world = World(tmp_path, [20.0, 10.0, 9.99])
    world.goals.add(QUESTION, 5.0, None)
    for _ in range(2):
        world.goals.advance()
        world.ended()
    world.goals.advance()
    assert world.goal().reason == "the last run did not narrow the answer"


def test_a_goal_has_so_many_runs_at_most(tmp_path: Path) -> None:
    world = World(tmp_path, [1000.0 * 0.9**number for number in range(MOST_JOBS + 1)])
    world.goals.add(QUESTION, 5.0, None)
    for _ in range(MOST_JOBS):
        world.goals.advance()
        world.ended()
    world.goals.advance()
    assert world.goal().state == State.done
    assert len(world.goals.jobs(world.goal().number)) == MOST_JOBS


def test_a_cancelled_goal_takes_its_open_job_with_it(made: Callable[[Sequence[float]], World]) -> None:
    world = made([20.0])
    number = world.goals.add(QUESTION, 5.0, None)
    world.goals.advance()
    assert world.goals.cancel(number)
    assert [job.state for job in world.goals.queue.jobs()] == [State.cancelled]
    assert not world.goals.cancel(number)


def test_a_goal_that_is_cancelled_while_it_is_planned_leaves_no_job(tmp_path: Path) -> None:
    world = World(tmp_path, [20.0])
    number = world.goals.add(QUESTION, 5.0, None)

    def cancelling(*given: Any) -> KeptPlan:
        assert world.goals.cancel(number)
        return world.answer(*given)

    replace(world.goals, work_out=cancelling).advance()
    assert world.goals.queue.jobs() == []
    assert world.goal().now_percent is None


def test_a_job_that_fails_says_nothing_of_whether_runs_narrow_the_answer(tmp_path: Path) -> None:
    world = World(tmp_path, [20.0, 10.0, 10.0])
    world.goals.add(QUESTION, 5.0, None)
    world.goals.advance()
    world.ended(hash=hash_of(MEASURED))
    world.goals.advance()
    world.ended(State.failed)
    world.goals.advance()
    assert world.goal().state == State.under_way
    assert world.ended().target == "two"


def test_after_an_invalid_first_run_all_that_may_be_advised_is_measured_again(tmp_path: Path) -> None:
    world = World(tmp_path, [20.0, 20.0])
    world.goals.add(QUESTION, 5.0, None)
    world.goals.advance()
    world.ended(hash=hash_of(MEASURED))
    with session(world.lab.engine) as opened:
        opened.add(Reason(run=hash_of(MEASURED), place=0, text="the clock was changed"))
    world.goals.advance()
    assert world.ended().options["only"] == []


def test_a_goal_waits_for_a_database_that_is_held(tmp_path: Path) -> None:
    world = World(tmp_path, [20.0])
    world.goals.add(QUESTION, 5.0, None)

    def held(*_given: Any) -> KeptPlan:
        raise DatabaseBusy("another program holds the database")

    with pytest.raises(DatabaseBusy):
        replace(world.goals, work_out=held).advance()
    world.goals.advance()
    assert len(world.goals.queue.jobs()) == 1


def test_what_can_not_be_asked_is_refused_before_a_goal_is_made(tmp_path: Path) -> None:
    world = World(tmp_path, [])
    wrong: tuple[dict[str, str], ...] = (
        {},
        {"profile": "nothing"},
        {"message": "64B"},
        {"profile": "sensor", "every": "soon"},
    )
    for question, within in ((QUESTION, 0.0), (QUESTION, 1e9), *((one, 5.0) for one in wrong)):
        with pytest.raises(InputError):
            world.goals.add(question, within, None)
    assert world.goals.all() == []


def test_the_page_plans_for_a_question_and_only_who_may_queue_begins(tmp_path: Path) -> None:
    lab = Collection.open(tmp_path)
    client = asking(lab, targets=("local",))
    query = {"profile": "sensor", "allow-assumed": "on", "within": "5"}
    plan = client.get("/plan.json", params=query)
    assert plan.status_code == 200, plan.text
    assert plan.json()["asked_within_percent"] == 5
    assert any(reason.startswith("local: ") for reason in plan.json()["cannot"])
    as_csv = client.get("/plan.csv", params=query)
    assert (as_csv.status_code, as_csv.text.strip().split(",")) == (200, list(STEP_FIELDS))
    assert client.get("/plan.xml", params=query).status_code == 404
    shown = client.get("/plan", params=query, headers={"Accept": "text/html"})
    assert "Measure until it is so" not in shown.text, "nothing that the fleet has would narrow it"
    shown = client.get("/queue", headers={"Accept": "text/html"})
    mark = re.search('name="csrf" value="([0-9a-f]{64})"', shown.text)
    assert mark is not None
    assert client.post("/plan", data={**query, "csrf": "0" * 64}).status_code == 403
    assert client.post("/plan", data={**query, "csrf": mark[1]}).status_code == 303
    assert "sensor, allow-assumed" in client.get("/plan").text
    assert client.get("/plan.json").json()[0]["state"] == "under way"
    assert client.get("/plan.csv").text.startswith("number,question")
    for wrong in ("much", "nan", "inf", "0", "-1"):
        assert client.get("/plan.json", params={**query, "within": wrong}).status_code == 400
    assert client.get("/plan.json", params=[("profile", "sensor"), ("profile", "video")]).status_code == 400
    assert client.post(f"/plan/{10**20}/cancel", json={}).status_code == 400
    sender = tokens.make(lab.engine, tokens.Scope.send, 1)
    answer = client.post("/plan", json=query, headers={"Authorization": f"Bearer {sender}"})
    assert answer.status_code == 403
    assert client.post("/plan/1/cancel", json={}, headers={"Authorization": f"Bearer {sender}"}).status_code == 403


def test_a_plan_as_csv_has_a_row_a_measurement_and_its_page_links_there() -> None:
    found = KeptPlan(20.0, [STEP, {**STEP, "target": "two"}], "nothing narrows it further", [])
    frame = steps_frame(found)
    assert frame.to_dicts() == [{name: row[name] for name in STEP_FIELDS} for row in found.steps]
    assert 'href="/plan.csv?profile=sensor&amp;allow-assumed=on&amp;within=5"' in plan_page.one(
        QUESTION, found, 5.0, None
    )


def test_the_page_holds_the_latest_goals_and_says_of_how_many(tmp_path: Path) -> None:
    world = World(tmp_path, [])
    for _ in range(LATEST + 1):
        world.goals.add(QUESTION, 5.0, None)
    client = asking(world.lab, targets=("one",))
    page = client.get("/plan").text
    assert f"the latest {LATEST} of {LATEST + 1} goals" in page
    assert page.count("Cancel: goal") == LATEST
    assert len(client.get("/plan.json").json()) == LATEST + 1


def test_goals_have_a_bound_and_each_who_asks_one_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(goals, "MOST_GOALS_OF_ASKER", 2)
    monkeypatch.setattr(goals, "MOST_GOALS", 3)
    world = World(tmp_path, [])
    first = world.goals.add(QUESTION, 5.0, "a")
    world.goals.add(QUESTION, 5.0, "a")
    with pytest.raises(QueueFull, match="2 goals are under way by this token"):
        world.goals.add(QUESTION, 5.0, "a")
    world.goals.add(QUESTION, 5.0, None)
    with pytest.raises(QueueFull, match="3 goals are under way of all"):
        world.goals.add(QUESTION, 5.0, "b")
    assert world.goals.cancel(first)
    world.goals.add(QUESTION, 5.0, "b")
    monkeypatch.setattr(plan_page, "Goals", lambda *_: world.goals)
    monkeypatch.setattr(goals.Goals, "plan", lambda *_: None)
    assert asking(world.lab, targets=("one",)).post("/plan", json=QUESTION).status_code == 429


def test_a_question_that_is_not_answered_is_no_goal(tmp_path: Path) -> None:
    client = asking(Collection.open(tmp_path), targets=("local",))
    query = {"profile": "sensor", "device": "x86-server-assumed"}
    refused = client.get("/plan.json", params=query)
    taken = client.post("/plan", json=query)
    assert (taken.status_code, taken.json()) == (refused.status_code, refused.json())
    assert (taken.status_code, client.get("/plan.json").json()) == (409, [])


def test_a_lab_without_a_fleet_plans_but_takes_no_goal(tmp_path: Path) -> None:
    client = asking(Collection.open(tmp_path))
    query = {"profile": "sensor", "allow-assumed": "on"}
    assert "started without a fleet" in client.get("/plan", params=query, headers={"Accept": "text/html"}).text
    assert client.post("/plan", json=query).status_code == 400
