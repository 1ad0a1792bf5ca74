"""The fleet: jobs on made-up devices, plans that were altered, devices that vanish, and kills of its process."""

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from support import scripted_probe
from support.fleet_bench import Bench
from support.labs import asking, filled, listening
from wattlock.errors import NotVerified, ProbeError, WattlockError, WayError
from wattlock.lab import doors, tokens
from wattlock.lab.collection import Collection
from wattlock.lab.database import Away, DatabaseBusy
from wattlock.lab.fleet import conductor, job_pages, worker
from wattlock.lab.fleet.conductor import QUIET
from wattlock.lab.fleet.job_options import JobOptions
from wattlock.lab.fleet.job_pages import Sets
from wattlock.lab.fleet.queue import MOST_ATTEMPTS, Job, Queue, State
from wattlock.lab.fleet.worker import KEY, Key, TaskOrder, TaskOutput, key_of, signed
from wattlock.publish.minisign import SecretKey
from wattlock.run import begin
from wattlock.run.begin import Session
from wattlock.store import RunFolder
from wattlock.targets import named
from wattlock.targets.target import Limits, NotInstalled

LIMIT_S = 120.0
LIMITS = Limits(60.0, 60.0, 60.0, 2**24)
ONLY = JobOptions(("cipher=rc4*",))


@pytest.fixture(autouse=True)
def devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two names of a device that measures in virtual time; gives its probe."""
    program = scripted_probe.install(tmp_path / "probe")
    (tmp_path / "targets.toml").write_text('[one]\nway = "local"\n[two]\nway = "local"\n')
    monkeypatch.setenv("WATTLOCK_PROBE", str(program))
    monkeypatch.setenv("WATTLOCK_TARGETS", str(tmp_path / "targets.toml"))
    return program


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "lab")


def test_a_job_is_a_run_of_the_lab_with_each_process_once(bench: Bench) -> None:
    number = bench.queue.enqueue("quick", "one", ONLY)
    assert bench.carried_out("one") == (State.done, None)
    job = bench.queue.job(number)
    assert job.settled == job.cases > 0
    (run,) = bench.lab.runs()
    assert (run.hash, run.id, run.study) == (job.hash, job.run, "quick")
    tasks = bench.queue.tasks(number)
    assert [task["process"] for task in tasks] == list(range(run.processes))
    assert {task["state"] for task in tasks} == {State.done}
    assert not (bench.lab.data / "fleet" / f"job-{number}").exists()


def test_a_device_that_vanishes_twice_is_asked_again_and_the_run_is_whole(bench: Bench) -> None:
    bench.queue.enqueue("quick", "one", ONLY)
    lost: list[Key] = []

    def send(order: TaskOrder, attempt: int, stopped: Callable[[], bool]) -> TaskOutput:
        if order.key.process == 2 and len(lost) < 2:
            lost.append(order.key)
            raise WayError("ssh:one: the connection was lost", hint="go on")
        return bench.send(order, attempt, stopped)

    assert bench.carried_out("one", send) == (State.done, None)
    assert [task["attempts"] for task in bench.queue.tasks()][:4] == [0, 0, 2, 0]
    assert lost[0] == lost[1]


def test_a_device_that_stays_away_fails_its_job_with_the_reason_and_the_others_go_on(bench: Bench) -> None:
    bench.queue.enqueue("quick", "one", ONLY)
    bench.queue.enqueue("quick", "two", ONLY)
    begun = 0

    def send(_order: TaskOrder, _attempt: int, _stopped: Callable[[], bool]) -> TaskOutput:
        nonlocal begun
        begun += 1
        raise WayError("ssh:one: it does not answer", hint="is it on?")

    state, reason = bench.carried_out("one", send)
    assert state == State.failed
    assert reason is not None
    assert "it does not answer" in reason
    assert begun == MOST_ATTEMPTS
    assert [(task["state"], task["reason"]) for task in bench.queue.tasks()] == [
        ("failed", "ssh:one: it does not answer")
    ]
    assert bench.carried_out("two") == (State.done, None)
    assert bench.queue.again(1)
    assert bench.carried_out("one") == (State.done, None)


@pytest.mark.parametrize(
    ("kind", "state"), [(WayError, State.queued), (NotInstalled, State.failed), (ProbeError, State.failed)], ids=str
)
def test_only_a_job_whose_device_was_lost_is_begun_again_and_its_reason_has_the_hint(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, kind: type[WattlockError], state: State
) -> None:
    def absent(*_: object) -> None:
        raise kind("one: there is no way", hint="make one")

    monkeypatch.setattr(begin, "plan", absent)
    bench.queue.enqueue("quick", "one", ONLY)
    assert bench.carried_out("one") == (state, "one: there is no way (make one)")


def test_a_result_that_was_kept_before_a_kill_is_taken_and_not_measured_again(bench: Bench) -> None:
    number = bench.queue.enqueue("quick", "one", ONLY)

    class Killed(BaseException):
        """Ends the fleet's process, as far as this test goes."""

    def dies(order: TaskOrder, attempt: int, stopped: Callable[[], bool]) -> TaskOutput:
        done = bench.send(order, attempt, stopped)
        if order.key.process == 1:
            assert bench.queue.finish(order.key, done.written)
            raise Killed
        return done

    job = bench.queue.next_job("one")
    assert job is not None
    with pytest.raises(Killed):
        bench.drive("one", dies).carry_out(job)
    before = len(bench.orders)
    bench.queue.recover()
    assert bench.carried_out("one") == (State.done, None)
    assert 1 not in [order.key.process for order in bench.orders[before:]]
    assert sorted(order.key.process for order in bench.orders) == list(range(len(bench.queue.tasks(number))))


@pytest.mark.parametrize(
    ("altered", "why"),
    [
        (lambda order: replace(order, text=order.text.replace(b'"seed":', b'"seed":1')), "is not what was signed"),
        (lambda order: replace(order, key=order.key._replace(process=7)), "is not what was signed"),
        (lambda order: replace(order, target="two"), "is not what was signed"),
        (lambda order: replace(order, who="somebody"), "is not what was signed"),
        (lambda order: replace(order, limits=replace(order.limits, most_B=2**40)), "is not what was signed"),
        (lambda order: replace(order, nonce="another"), "is not what was signed"),
        (lambda order: replace(order, issued_s=order.issued_s + 1), "is not what was signed"),
        (lambda order: signed(SecretKey.new(), order), "signed by key"),
        (lambda order: replace(order, signature=""), "no signature"),
    ],
)
def test_an_altered_plan_starts_nothing_and_is_logged(
    bench: Bench, devices: Path, altered: Callable[[TaskOrder], TaskOrder], why: str
) -> None:
    bench.queue.enqueue("quick", "one", ONLY)

    def send(order: TaskOrder, attempt: int, stopped: Callable[[], bool]) -> TaskOutput:
        return bench.send(altered(order), attempt, stopped)

    state, reason = bench.carried_out("one", send)
    assert state == State.failed
    assert why in str(reason)
    assert scripted_probe.requested(devices) == []
    assert [action["what"] for action in tokens.actions(bench.lab.engine)] == ["plan refused"]


def test_a_worker_carries_out_no_plan_of_another_target(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    order = TaskOrder(Key("run", 0, "a"), "two", b"{}\n", LIMITS, "the probe")
    monkeypatch.setenv(worker.TARGET_VARIABLE, "one")
    monkeypatch.setenv(worker.KEY_VARIABLE, bench.key.public.line)
    with pytest.raises(NotVerified, match="came to the worker of one"):
        worker.carry_out(signed(bench.key, order))


def test_the_lab_keeps_its_key_and_nobody_else_reads_it(bench: Bench) -> None:
    assert key_of(bench.lab.data) == bench.key
    assert (bench.lab.data / KEY).stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_measured_fails_its_job_with_what_the_command_line_says(bench: Bench) -> None:
    bench.queue.enqueue("quick", "one", JobOptions(("nothing-like-it",)))
    bench.queue.enqueue("quick", "one", JobOptions((), ("big",)))
    bench.queue.enqueue("quick", "nowhere")
    reasons = [str(bench.carried_out(called)[1]) for called in ("one", "one", "nowhere")]
    assert "none of" in reasons[0]
    assert "no big cores" in reasons[1]
    assert "no such target" in reasons[2]


def test_a_cancelled_job_ends_and_leaves_nothing_behind(bench: Bench) -> None:
    number = bench.queue.enqueue("quick", "one", ONLY)

    def send(order: TaskOrder, attempt: int, stopped: Callable[[], bool]) -> TaskOutput:
        if order.key.process == 1:
            bench.queue.cancel(number)
        return bench.send(order, attempt, stopped)

    assert bench.carried_out("one", send)[0] == State.cancelled
    assert bench.lab.runs() == []
    assert not (bench.lab.data / "fleet" / f"job-{number}").exists()


def test_a_job_is_taken_up_again_when_a_database_that_was_away_is_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = bench.queue.enqueue("quick", "one", ONLY)
    finish, next_job, away = bench.queue.finish, bench.queue.next_job, [True, True]

    class NothingLeft(BaseException):
        """Ends the drive, which has no other end."""

    def finishes(key: Key, result: bytes) -> bool:
        if key.process == 1 and away:
            away.pop()
            raise Away("the database: its server doesn't answer")
        return finish(key, result)

    def next_one(target: str) -> Job | None:
        if (job := next_job(target)) is None:
            raise NothingLeft
        return job

    monkeypatch.setattr(bench.queue, "finish", finishes)
    monkeypatch.setattr(bench.queue, "next_job", next_one)
    monkeypatch.setattr(conductor, "LOOK_S", 0.0)
    with pytest.raises(NothingLeft):
        bench.drive("one").forever()
    assert (bench.queue.job(number).state, len(bench.lab.runs())) == (State.done, 1)
    assert {task["state"] for task in bench.queue.tasks(number)} == {State.done}


def test_a_job_that_is_cancelled_at_its_last_task_leaves_no_run(bench: Bench) -> None:
    number = bench.queue.enqueue("quick", "one", ONLY)
    job = bench.queue.next_job("one")
    assert job is not None
    begun_measure = Session.measure

    def looks(order: TaskOrder, attempt: int, stopped: Callable[[], bool]) -> TaskOutput:
        assert not stopped()
        return bench.send(order, attempt, stopped)

    def measures(self: Session, *given: Any) -> Any:
        done = begun_measure(self, *given)
        assert bench.queue.cancel(number)
        return done

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Session, "measure", measures)
        patched.setattr(conductor, "LOOK_S", 60.0)
        bench.drive("one", looks).carry_out(job)
    assert bench.queue.job(number).state == State.cancelled
    assert bench.lab.runs() == []


def test_a_name_that_means_another_device_now_is_not_carried_out_on_the_old_one(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, devices: Path
) -> None:
    key = bench.key
    order = TaskOrder(Key("run", 0, "a"), "two", b"", LIMITS, "process 0")
    started: list[str] = []

    class Device:
        """Says where it is."""

        def __init__(self, where: str) -> None:
            self.where = where

        def start(self, *_given: Any, **_more: Any) -> tuple[int, bytes]:
            """Says so."""
            started.append(self.where)
            return 0, b""

    monkeypatch.setenv(worker.TARGET_VARIABLE, "two")
    monkeypatch.setenv(worker.KEY_VARIABLE, key.public.line)
    monkeypatch.setattr(worker, "this_worker", lambda: ("", lambda: False))
    monkeypatch.setattr(named, "target", lambda name: Device(named.described()[name].way))
    monkeypatch.setenv(worker.ORDERS_VARIABLE, str(devices.parent))
    for way in ("ssh:old", "ssh:new"):
        (devices.parents[1] / "targets.toml").write_text(f'[two]\nway = "{way}"\n')
        worker.carry_out(signed(key, order))
    assert started == ["ssh:old", "ssh:new"]


def test_from_the_page_to_a_comparison_though_the_fleet_is_killed_on_the_way(tmp_path: Path) -> None:
    lab = Collection.open(tmp_path / "lab")
    client = asking(lab, targets=("one", "two"))
    page = client.get("/queue").text
    mark = re.search('name="csrf" value="([0-9a-f]{64})"', page)
    assert mark is not None
    form = {"csrf": mark[1], "study": "quick", "target": ["one", "two"], "only": "cipher=rc4*"}
    assert client.post("/queue", data=form).status_code == 303
    queue = Queue(lab.engine)
    command = [sys.executable, "-m", "wattlock.lab.fleet.conductor", str(lab.data), "one", "two"]

    def conducted(is_over: Callable[[], bool]) -> None:
        environment = os.environ | QUIET | {"WATTLOCK_FLEET_BACKOFF_S": "0.1"}
        with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment) as fleet:
            due = time.monotonic() + LIMIT_S
            while not is_over():
                assert time.monotonic() < due, [job.reason for job in queue.jobs()]
                assert fleet.poll() is None
                time.sleep(0.2)
            fleet.send_signal(signal.SIGKILL)

    conducted(lambda: sum(task["state"] == State.done for task in queue.tasks()) >= 2)
    conducted(lambda: all(job.state in {State.done, State.failed} for job in queue.jobs()))
    assert [(job.state, job.reason) for job in queue.jobs()] == [(State.done, None)] * 2
    for run in lab.runs():
        complete = RunFolder.open(lab.data / "runs" / run.hash).complete()
        tasks = [task for task in queue.tasks() if task["run"] == run.id]
        assert sorted(task["process"] for task in tasks if task["state"] == State.done) == sorted(complete)
    link = re.search('href="(/compare[^"]+)"', client.get("/queue").text)
    assert link is not None
    assert client.get(link[1].replace("&amp;", "&")).status_code == 200
    shown = client.get("/queue/events").text
    assert json.loads(shown.splitlines()[0].removeprefix("data: ")).startswith("<section")
    assert "event: over" in shown


def test_programs_queue_by_a_token_that_plans_and_nobody_by_one_that_reads(tmp_path: Path) -> None:
    lab = Collection.open(tmp_path / "lab")
    client = asking(lab, targets=("one",))
    headers = {scope: {"Authorization": f"Bearer {tokens.make(lab.engine, scope, 1)}"} for scope in tokens.Scope}
    wanted = {"study": "quick", "targets": ["one"], "only": ["aes*"]}
    answers = {scope.value: client.post("/queue", json=wanted, headers=own) for scope, own in headers.items()}
    assert {scope: answer.status_code for scope, answer in answers.items()} == {
        "send": 403,
        "read": 403,
        "plan": 201,
        "admin": 201,
    }
    assert client.post("/queue", json=wanted).status_code == 401
    plan = headers[tokens.Scope.plan]
    jobs = client.get("/queue.json", headers=plan).json()
    assert [(job["study"], job["target"], job["options"]["only"]) for job in jobs] == [("quick", "one", ["aes*"])] * 2
    assert client.get("/queue.csv", headers=plan).text.startswith("number,batch,study,target")
    assert client.get("/queue/tasks.json", headers=plan).json() == []
    assert client.post("/queue/1/cancel", json={}, headers=plan).json() == {"job": 1}
    for number, what, status in (
        (1, "cancel", 400),
        (1, "again", 400),
        (9, "cancel", 400),
        (2, "burn", 400),
        (10**20, "again", 400),
    ):
        answer = client.post(f"/queue/{number}/{what}", json={}, headers=plan)
        assert (answer.status_code, set(answer.json())) == (status, {"error", "hint"})


def test_a_refused_token_waits_for_the_database_elsewhere_than_on_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Collection.open(tmp_path / "lab")
    client = asking(lab, targets=("one",))
    token = tokens.make(lab.engine, tokens.Scope.read, 1)
    on_the_loop: list[bool] = []

    def noted(*_given: object) -> None:
        with contextlib.suppress(RuntimeError):
            on_the_loop.append(asyncio.get_running_loop().is_running())
            return
        on_the_loop.append(False)

    monkeypatch.setattr(doors, "note_refused", noted)
    headers = {"Authorization": f"Bearer {token}"}
    for path in ("/queue", "/queue/1/cancel", "/plan", "/plan/1/cancel"):
        assert client.post(path, json={}, headers=headers).status_code == 403
    assert on_the_loop == [False] * 4


def test_what_was_queued_is_answered_though_its_line_of_the_log_has_to_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Collection.open(tmp_path / "lab")
    client = asking(lab, targets=("one",))

    def held(*_given: object, **_more: object) -> None:
        raise DatabaseBusy("it is held")

    monkeypatch.setattr(tokens, "add", held)
    assert client.post("/queue", json={"study": "quick", "targets": ["one"]}).status_code == 201
    assert client.post("/queue/1/cancel", json={}).status_code == 200
    monkeypatch.undo()
    assert client.post("/queue", json={"study": "quick", "targets": ["nowhere"]}).status_code == 400
    assert [job.state for job in Queue(lab.engine).jobs()] == [State.cancelled]


@pytest.mark.parametrize(
    "wanted",
    [
        {"study": "quick", "targets": ["two"]},
        {"study": "quick", "targets": []},
        {"study": "../quick", "targets": ["one"]},
        {"study": ["quick"], "targets": ["one"]},
        {"study": "quick", "targets": ["one"], "only": 7},
        {"study": "quick", "targets": ["one"], "only": [7]},
        {"study": "quick", "targets": ["one"], "only": ["a" * 300]},
        ["quick"],
    ],
)
def test_a_job_that_cannot_be_is_refused_before_it_is_queued(tmp_path: Path, wanted: object) -> None:
    lab = Collection.open(tmp_path / "lab")
    answer = asking(lab, targets=("one",)).post("/queue", json=wanted)
    assert (answer.status_code, set(answer.json())) == (400, {"error", "hint"})
    assert Queue(lab.engine).jobs() == []


@pytest.mark.parametrize(
    ("path", "given"),
    [("/queue", r'"study": "quick", "targets": ["one"], "only": ["\ud800"]'), ("/plan", r'"message": "\ud800"')],
)
def test_what_no_page_could_show_is_not_kept(tmp_path: Path, path: str, given: str) -> None:
    client = asking(Collection.open(tmp_path / "lab"), targets=("one",))
    answer = client.post(path, content=f"{{{given}}}", headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert client.get(f"{path}.json").json() == []


def test_a_form_without_the_mark_of_the_lab_changes_nothing(tmp_path: Path) -> None:
    lab = Collection.open(tmp_path / "lab")
    client = asking(lab, targets=("one",))
    for form in ({}, {"csrf": ""}, {"csrf": "0" * 64}, {"csrf": "ü"}):
        answer = client.post("/queue", data={"study": "quick", "target": "one", **form})
        assert answer.status_code in {400, 403}
    text = client.post("/queue", content=b'{"study":"quick"}', headers={"Content-Type": "text/plain"})
    assert text.status_code == 400
    assert Queue(lab.engine).jobs() == []
    reader = tokens.make(lab.engine, tokens.Scope.read, 1)
    client.cookies.set("wattlock_lab", reader)
    mark = re.search('name="csrf" value="([0-9a-f]{64})"', client.get("/queue").text)
    assert mark is not None
    form = {"csrf": mark[1], "study": "quick", "target": "one"}
    assert client.post("/queue", data=form).status_code == 403


def test_a_job_of_a_large_set_links_to_a_comparison_that_a_page_holds() -> None:
    jobs = [Job(number=number, batch="a", hash=f"{number:064x}") for number in range(1, 13)]
    sets = Sets(jobs, {job.hash: "measured" for job in jobs if job.hash})
    for job in jobs:
        compared = sets.compared(job)
        assert len(compared) == len(set(compared)) == 8
        assert job.hash in compared


def test_the_queue_is_followed_by_few_and_reads_no_other_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = filled(tmp_path / "lab")
    queue, hashes = Queue(lab.engine), [run.hash for run in lab.runs() if run.is_counted]
    for hash_ in hashes:
        number = queue.enqueue("quick", "one", batch="both")
        assert queue.next_job("one") is not None
        assert queue.end_job(number, hash_)
    monkeypatch.setattr(lab, "runs", None)
    client = asking(lab, targets=("one",))
    assert f"compare {len(hashes)}" in client.get("/queue").text
    told = client.get("/queue/events")
    assert told.text.endswith("event: over\ndata: \n\n")
    with listening(lab) as address:
        queue.enqueue("quick", "two")
        following = [HTTPConnection(urlsplit(address).netloc, timeout=30) for _ in range(job_pages.MOST_FOLLOWERS + 1)]

        def status(one: HTTPConnection) -> int:
            one.request("GET", "/queue/events")
            answer = one.getresponse()
            return answer.status if answer.status != 200 or answer.readline() else 0

        assert [status(one) for one in following] == [200] * job_pages.MOST_FOLLOWERS + [503]
        for one in following:
            one.close()
        time.sleep(2 * job_pages.LOOK_S)
        assert status(following[0]) == 200
        following[0].close()


def test_a_lab_without_a_fleet_says_how_to_start_one(tmp_path: Path) -> None:
    page = asking(Collection.open(tmp_path)).get("/queue").text
    assert "wattlock lab --data lab --fleet" in page
    assert "No jobs yet" in page


def test_a_damaged_key_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / KEY).write_text("nothing\n")
    with pytest.raises(WattlockError, match=KEY):
        key_of(tmp_path)
