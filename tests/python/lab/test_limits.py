"""How fast a lab may be asked for what takes long, and what of refusals its audit log keeps."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import text

from support.labs import COUNTED, asking, filled, hash_of, listening
from wattlock.errors import StoreError
from wattlock.lab import doors, log_page, tokens
from wattlock.lab.collection import Collection
from wattlock.lab.doors import Pace
from wattlock.lab.log_page import Audit
from wattlock.lab.tokens import By, Scope

HASH = hash_of(COUNTED / "m4")
LIMIT_S = 60.0


def whats(lab: Collection) -> list[str]:
    """What the lines of the audit log say, the latest first."""
    return [str(line["what"]) for line in tokens.actions(lab.engine)]


@contextmanager
def locked(lab: Collection) -> Iterator[None]:
    """Holds the database so that nobody else writes it."""
    with lab.engine.connect() as connection:
        connection.execute(text("BEGIN IMMEDIATE"))
        yield
        connection.rollback()


def test_a_burst_is_free_and_then_a_second_gives_so_many_more() -> None:
    now = [100.0]
    pace = Pace(lambda: now[0])
    assert [pace.wait_s("a") for _ in range(doors.BURST)] == [0] * doors.BURST
    assert pace.wait_s("a") == pace.wait_s("a") == 1
    assert pace.wait_s("b") == 0, "others have their own"
    now[0] += 1
    assert [pace.wait_s("a") for _ in range(int(doors.PER_s) + 1)] == [*[0] * int(doors.PER_s), 1]
    now[0] += 10 * doors.BURST
    assert [pace.wait_s("a") for _ in range(doors.BURST + 1)] == [*[0] * doors.BURST, 1]


def test_who_asks_is_forgotten_so_that_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "MOST_ASKERS", 10)
    monkeypatch.setattr(doors, "BURST", 1)
    pace = Pace(lambda: 0.0)
    for number in range(100):
        assert pace.wait_s(str(number)) == 0
        assert len(pace._left) <= 10
    assert (pace.wait_s("99"), pace.wait_s("0")) == (1, 0)


@pytest.mark.parametrize(
    "path", [f"/runs/{HASH}", f"/runs/{HASH}/report", "/compare", "/papers.json", "/advise", "/plan", "/change"]
)
def test_who_asks_too_fast_for_what_takes_long_is_told_when_to_come_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(doors, "BURST", 1)
    monkeypatch.setattr(doors, "PER_s", 0.01)
    client = asking(filled(tmp_path, [COUNTED / "m4"]))
    assert client.get(path).status_code == 200
    answer = client.get(path)
    assert answer.status_code == 429
    assert answer.headers["Retry-After"] == "100"
    assert answer.json()["hint"] == "wait 100 s, then try again"
    assert client.get("/runs").status_code == 200, "what takes no time is never held up"
    assert client.get(f"/runs/{HASH}/pack").status_code == 200
    assert client.get(f"/runs/{HASH}/wanted").status_code == 200
    assert client.get(path, headers={"Authorization": "Bearer another"}).status_code == 429, "anybody can make one up"


def test_refusals_of_good_tokens_are_told_and_the_first_of_a_minute_are_in_the_log(tmp_path: Path) -> None:
    lab = Collection.open(tmp_path)
    by = {"Authorization": f"Bearer {tokens.make(lab.engine, Scope.send, None)}"}
    client = asking(lab)
    assert {client.get("/runs.json", headers=by).status_code for _ in range(3 * doors.REFUSALS)} == {403}
    assert whats(lab) == ["refused"] * doors.REFUSALS
    assert client.get("/runs.json", headers={"Authorization": "Bearer guess"}).status_code == 401
    assert len(whats(lab)) == doors.REFUSALS + 1


def test_too_many_refused_tokens_are_told_when_to_come_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "REFUSALS", 0)
    lab = Collection.open(tmp_path)
    tokens.make(lab.engine, Scope.send, None)
    answer = asking(lab).get("/runs.json", headers={"Authorization": "Bearer guess"})
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "60")


def test_the_log_has_its_latest_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MOST_LINES", 20)
    monkeypatch.setattr(tokens, "TRIMMED_EVERY", 5)
    lab = Collection.open(tmp_path)
    for number in range(103):
        tokens.note(lab.engine, None, "127.0.0.1", f"line {number}", "")
        assert len(whats(lab)) < 25
    assert whats(lab)[:20] == [f"line {number}" for number in range(102, 82, -1)]


def test_a_bad_token_is_told_so_and_holds_nobody_up_while_the_database_is_held(tmp_path: Path) -> None:
    lab = Collection.open(tmp_path)
    good = tokens.make(lab.engine, Scope.read, None)
    forms = ("/login", "/measure-this-device")
    begun = threading.Event()

    def answered(netloc: str, path: str, body: str) -> int:
        with closing(HTTPConnection(netloc, timeout=LIMIT_S)) as asked:
            kind = "application/x-www-form-urlencoded"
            asked.request("POST", path, body, {"Origin": f"http://{netloc}", "Content-Type": kind})
            begun.set()
            return asked.getresponse().status

    with listening(lab) as address, ThreadPoolExecutor(4) as pool:
        netloc = urlsplit(address).netloc
        with locked(lab):
            others = [pool.submit(answered, netloc, path, "token=guess") for path in forms]
            others.append(pool.submit(answered, netloc, "/login", f"token={good}"))
            assert begun.wait(LIMIT_S)
            with closing(HTTPConnection(netloc, timeout=LIMIT_S)) as asked:
                asked.request("GET", "/assets/lab.css")
                assert asked.getresponse().status == 200
        statuses = [one.result(LIMIT_S) for one in others]
    assert statuses == [401, 401, 303]
    assert sorted(whats(lab)) == ["logged in", "refused", "refused"]


def test_lines_that_could_not_be_written_are_written_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("wattlock.lab.database.LONGEST_WAIT_s", 0.05)
    monkeypatch.setattr(log_page, "MOST_WAITING", 3)
    lab = Collection.open(tmp_path)
    log = Audit(lab.engine)
    with locked(lab):
        for number in range(5):
            log.note(By(None, "127.0.0.1"), str(number), "")
    assert "3 lines of the audit log wait, the oldest are lost" in capsys.readouterr().err
    log.note(By(None, "127.0.0.1"), "5", "")
    assert whats(lab) == ["5", "4", "3"]
    log.note(By(None, "127.0.0.1"), "6", "")
    assert whats(lab) == ["6", "5", "4", "3"]


def test_one_thread_writes_the_lines_of_all_and_nobody_else_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Collection.open(tmp_path)
    log, begun, ends, add = Audit(lab.engine), threading.Event(), threading.Event(), tokens.add

    def slow(*given: Any) -> None:
        begun.set()
        assert ends.wait(LIMIT_S)
        add(*given)

    monkeypatch.setattr(tokens, "add", slow)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(log.note, By(None, "x"), "first", "")
        assert begun.wait(LIMIT_S)
        log.note(By(None, "x"), "second", "")
        ends.set()
        first.result(LIMIT_S)
    assert whats(lab) == ["second", "first"]


def test_a_failure_that_is_none_of_the_database_is_no_silent_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Collection.open(tmp_path)
    log = Audit(lab.engine)
    with monkeypatch.context() as patch:

        def fails(*_: object) -> None:
            raise StoreError("gone", hint="x")

        patch.setattr(tokens, "add", fails)
        log.note(By(None, "x"), "kept", "")
    log.note(By(None, "x"), "next", "")
    assert whats(lab) == ["next", "kept"]
