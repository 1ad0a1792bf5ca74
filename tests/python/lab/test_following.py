"""Who follows the queue: what is told while jobs wait, and that a token that ended is told nothing more."""

import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from sqlalchemy import update

from support.labs import asking, listening
from wattlock.lab import tokens
from wattlock.lab.collection import Collection
from wattlock.lab.database import Token, session
from wattlock.lab.fleet import job_pages
from wattlock.lab.fleet.queue import Queue
from wattlock.lab.tokens import Scope

LIMIT_S = 20.0


@pytest.mark.parametrize("ends", ["revoked", "expired"])
def test_a_stream_ends_within_seconds_of_its_token(tmp_path: Path, ends: str) -> None:
    lab = Collection.open(tmp_path)
    token = tokens.make(lab.engine, Scope.read, 1)
    Queue(lab.engine).enqueue("quick", "one")
    with listening(lab) as address, closing(HTTPConnection(urlsplit(address).netloc, timeout=LIMIT_S)) as following:
        following.request("GET", "/queue/events", headers={"Authorization": f"Bearer {token}"})
        answer = following.getresponse()
        assert answer.readline().startswith(b"data: ")
        ago = (datetime.now(UTC) - timedelta(seconds=1)).isoformat(timespec="seconds")
        with session(lab.engine) as opened:
            opened.execute(update(Token).values(**{ends if ends == "revoked" else "expires": ago}))
        rest: list[bytes] = []
        reading = threading.Thread(target=lambda: rest.append(answer.read()), daemon=True)
        reading.start()
        reading.join(LIMIT_S)
        assert rest, "it goes on"
        assert rest[0].endswith(b"event: denied\ndata: \n\n")


def test_what_is_told_has_the_number_of_all_jobs_not_of_those_that_are_shown(tmp_path: Path) -> None:
    lab = Collection.open(tmp_path)
    queue = Queue(lab.engine)
    for _ in range(job_pages.LATEST + 2):
        queue.enqueue("quick", "one")
    queue.cancel(1)
    page = asking(lab, targets=("one",)).get("/queue").text
    live = page.partition('id="live"')[2]
    assert f"{job_pages.LATEST + 1} waiting or under way, 1 ended. Below are the latest {job_pages.LATEST}." in live


def test_a_job_whose_target_left_says_since_when_it_waits_until_that_is_back(tmp_path: Path) -> None:
    lab = Collection.open(tmp_path)
    queue = Queue(lab.engine)
    for target in ("one", "two"):
        queue.enqueue("quick", target)
    queue.note_absent(["two"])
    queue.note_absent(["two"])
    reasons = {job.target: job.reason for job in queue.jobs()}
    assert reasons["two"] is None
    told = str(reasons["one"])
    assert told.startswith("waits for target one, which is not here since ")
    assert datetime.fromisoformat(told.rpartition(" ")[2]) <= datetime.now(UTC)
    assert told in asking(lab, targets=("two",)).get("/queue").text
    queue.note_absent(["one", "two"])
    assert queue.jobs()[1].reason is None
    assert queue.next_job("one") is not None
    queue.note_absent([])
    assert [job.reason is None for job in queue.jobs()] == [False, True], "what is under way waits for nothing"
