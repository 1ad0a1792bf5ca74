"""What anybody may ask of a lab has a bound: its routes, its queue, its pace, and what a lab sends to who pulls."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from support.labs import MEASURED, asking, filled
from wattlock.errors import TransferRefused
from wattlock.lab import client, doors, tokens
from wattlock.lab.collection import Collection
from wattlock.lab.fleet import queue as queue_room
from wattlock.lab.fleet.queue import Queue, QueueFull
from wattlock.lab.tokens import Scope

A, B, C = "abc"
"""Ids of tokens."""


def test_no_route_describes_the_others(tmp_path: Path) -> None:
    found = asking(filled(tmp_path, [MEASURED]))
    paths = ("/openapi.json", "/docs", "/redoc")
    assert {path: found.get(path).status_code for path in paths} == dict.fromkeys(paths, 404)


def test_a_token_that_let_nobody_in_has_no_pace_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "BURST", 3)
    monkeypatch.setattr(doors, "PER_s", 1e-6)
    lab = filled(tmp_path, [MEASURED])
    good = tokens.make(lab.engine, Scope.read, None)
    found = asking(lab)

    def asked(token: str) -> int:
        return found.get("/compare", headers={"Authorization": f"Bearer {token}"}).status_code

    assert asked(good) == 200
    assert [asked(f"made-up-{number}") for number in range(4)] == [401, 401, 429, 429]
    assert [asked(good) for _ in range(4)] == [200, 200, 200, 429]


def test_the_queue_has_a_bound_and_each_who_asks_one_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_room, "MOST_OF_ONE", 3)
    monkeypatch.setattr(queue_room, "MOST_OPEN", 5)
    lab = Collection.open(tmp_path)
    queue = Queue(lab.engine)
    numbers = [queue.enqueue("quick", "local", token=A) for _ in range(3)]
    with pytest.raises(QueueFull, match="3 open jobs by this token and 1 more, the limit is 3"):
        queue.enqueue("quick", "local", token=A)
    queue.enqueue("quick", "local")
    queue.enqueue("quick", "local", token=B)
    with pytest.raises(QueueFull, match="5 open jobs in the queue and 1 more, the limit is 5"):
        queue.enqueue("quick", "local", token=C)
    assert queue.cancel(numbers[0])
    queue.enqueue("quick", "local", token=C)


def test_jobs_for_several_targets_are_queued_all_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_room, "MOST_OF_ONE", 1)
    monkeypatch.setattr("wattlock.lab.fleet.job_pages.refuse_hopeless", lambda *_: None)
    lab = Collection.open(tmp_path)
    found = asking(lab, targets=("qemu:cortex-m4", "qemu:cortex-m0plus"))
    wanted = {"study": "quick", "targets": ["qemu:cortex-m4", "qemu:cortex-m0plus"]}
    answer = found.post("/queue", json=wanted)
    assert (answer.status_code, Queue(lab.engine).jobs()) == (429, [])
    assert "the limit is 1" in answer.json()["error"]


class Endless(BaseHTTPRequestHandler):
    """A lab that sends an octet at a time, for ever."""

    def do_GET(self) -> None:
        """Begins."""
        self.send_response(200)
        self.end_headers()
        try:
            while True:
                self.wfile.write(b"x")
        except OSError:
            return

    def log_message(self, *_: object) -> None:
        """Nothing."""


def test_a_pull_ends_though_the_lab_never_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "LONGEST_s", 0.2)
    server = HTTPServer(("127.0.0.1", 0), Endless)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with pytest.raises(TransferRefused, match="more than 0 s"):
        client.pull("0" * 12, f"http://127.0.0.1:{server.server_address[1]}", None, tmp_path / "run")
    server.shutdown()
    server.server_close()
    assert list(tmp_path.iterdir()) == []
