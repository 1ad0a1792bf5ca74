"""Senders who take their time, lie about lengths, come all at once or guess tokens: nothing of theirs stays."""

import json
import os
import random
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from support.labs import COUNTED, asking, below, filled, hash_of, listening, pack_of, sent
from support.tools import missing
from wattlock.lab import doors, tokens
from wattlock.lab.collection import Collection
from wattlock.lab.doors import Crowded, Refusals, Uploads
from wattlock.lab.measuring import PLACE
from wattlock.lab.pack import LARGEST_B, MEDIA_TYPE
from wattlock.lab.tokens import Denied, Scope
from wattlock.page import visits

RUN = COUNTED / "m4"
PACK, HASH = pack_of(RUN), hash_of(RUN)


@pytest.fixture
def lab(tmp_path: Path) -> Collection:
    return Collection.open(tmp_path / "lab")


def opened(address: str, length: object, path: str = f"/runs/{HASH}", method: str = "PUT") -> socket.socket:
    """A connection on which a request has been begun that says it has so many octets."""
    host, _, port = urlsplit(address).netloc.partition(":")
    connection = socket.create_connection((host, int(port)), timeout=30)
    head = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {MEDIA_TYPE}\r\nContent-Length: {length}\r\n"
    connection.sendall(f"{head}Origin: http://{host}\r\n\r\n".encode())
    return connection


def answer(connection: socket.socket) -> tuple[int, dict[str, str]]:
    """The status and the JSON of an answer."""
    with connection:
        whole = b"".join(iter(lambda: connection.recv(2**16), b""))
    head, _, body = whole.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def test_who_sends_nothing_or_too_slowly_is_let_go(lab: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "GRACE_s", 0.3)
    before = below(lab)
    with listening(lab) as address:
        for path, method, first in ((f"/runs/{HASH}", "PUT", PACK[:700]), ("/login", "POST", b"token=")):
            connection = opened(address, 2000, path, method)
            connection.sendall(first)
            status, told = answer(connection)
            assert status == 408
            assert told["error"].startswith(f"{len(first)} B came in ")
            assert told["hint"]
    assert below(lab) == before


def test_who_sends_just_fast_enough_is_let_go_in_the_end(lab: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "LONGEST_s", 0.5)
    before = below(lab)
    with listening(lab) as address:
        connection = opened(address, len(PACK))
        connection.sendall(PACK[:-1])
        status, told = answer(connection)
        assert (status, told["hint"]) == (408, "send it again over a faster connection")
    assert below(lab) == before


def test_one_token_holds_not_all_places_of_runs_that_arrive(lab: Collection) -> None:
    mine, others = (tokens.make(lab.engine, Scope.send, None) for _ in range(2))
    uploads = Uploads()
    with uploads.one(mine), uploads.one(mine):
        with pytest.raises(Crowded, match="2 runs are arriving by the token"):
            uploads.one(mine).__enter__()
        with uploads.one(others), uploads.one(others), pytest.raises(Crowded, match="4 runs are arriving"):
            uploads.one("third").__enter__()
    with uploads.one(mine):
        pass


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("PUT", f"/runs/{HASH}", 401),
        ("POST", "/queue", 401),
        ("POST", "/plan", 401),
        ("POST", "/queue/1/cancel", 401),
        ("POST", f"{PLACE}/lines?visit=x&job=1", 403),
        ("POST", f"{PLACE}/work?visit=x", 403),
        ("POST", f"{PLACE}/elsewhere", 404),
    ],
)
def test_of_who_may_not_send_nothing_is_read(
    lab: Collection, monkeypatch: pytest.MonkeyPatch, method: str, path: str, status: int
) -> None:
    monkeypatch.setenv(visits.VARIABLE, str(lab.data / "module.wasm"))
    (lab.data / "module.wasm").write_bytes(visits.MAGIC)
    tokens.make(lab.engine, Scope.admin, 1)
    with listening(lab) as address:
        assert answer(opened(address, 2000, path, method))[0] == status, "it would wait for what was announced"


def test_a_length_that_is_a_lie_leaves_nothing(lab: Collection) -> None:
    before = below(lab)
    with listening(lab) as address:
        status, told = answer(opened(address, LARGEST_B + 1))
        assert (status, told["error"]) == (413, f"more was sent than {LARGEST_B} B, the limit here")
        assert answer(opened(address, doors.LONGEST_FORM_B + 1, "/login", "POST"))[0] == 413
        with opened(address, len(PACK) + 1) as early:
            early.sendall(PACK)
        with opened(address, len(PACK) - 2048) as short:
            short.sendall(PACK)
            assert short.recv(2**16).split()[1] == b"422"
        until = time.monotonic() + 20
        while below(lab) != before and time.monotonic() < until:
            time.sleep(0.05)
    assert below(lab) == before
    assert lab.runs() == []
    assert tokens.actions(lab.engine) == []


def test_more_runs_at_a_time_than_may_arrive_are_refused_and_then_taken(lab: Collection) -> None:
    with listening(lab) as address:
        waiting = [opened(address, len(PACK)) for _ in range(doors.MOST_UPLOADS)]
        for connection in waiting:
            connection.sendall(PACK[:-1])
        time.sleep(0.3)
        status, told = answer(opened(address, len(PACK)))
        assert (status, told["error"]) == (503, f"{doors.MOST_UPLOADS} runs are arriving, and no more may")
        codes = []
        for connection in waiting:
            connection.sendall(PACK[-1:])
        for connection in waiting:
            with connection:
                codes.append(int(connection.recv(2**16).split()[1]))
        assert sorted(codes) == [200] * (doors.MOST_UPLOADS - 1) + [201]
        assert [run.hash for run in lab.runs()] == [HASH]
        assert sent(asking(lab), HASH, PACK)[0] == 200


def test_refused_addresses_are_forgotten_so_that_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "MOST_ADDRESSES", 50)
    refusals = Refusals()
    for _ in range(doors.REFUSALS):
        refusals.note("10.0.0.1")
    for number in range(49):
        refusals.note(f"10.0.1.{number}")
    with pytest.raises(Denied, match="too many tokens"):
        refusals.note("10.0.0.1")
    for number in range(200):
        refusals.note(f"10.0.2.{number}")
        assert len(refusals._at) <= 50
    refusals.note("10.0.0.1")


def test_all_addresses_of_one_host_of_ipv6_are_one() -> None:
    refusals = Refusals()
    for number in range(doors.REFUSALS):
        refusals.note(f"2001:db8::{number:x}")
    with pytest.raises(Denied, match="too many tokens"):
        refusals.note("2001:db8::ffff:1:2")
    refusals.note("2001:db8:0:1::1")
    refusals.note("unknown")


def guesses(good: str) -> Iterator[bytes]:
    """Headers and cookies that are nearly a token."""
    draw = random.Random(8)
    yield from (b"", b" ", b"Bearer", b"Bearer ", b"Basic " + good.encode(), good.encode(), b"Bearer \xff\xfe")
    for _ in range(60):
        changed = bytearray(good.encode())
        at = draw.randrange(len(changed))
        changed[at] ^= 1 << draw.randrange(7)
        made = draw.choice([bytes(changed), changed[:at], good.encode() + b"x", bytes(reversed(changed))])
        kept = bytes(one for one in made if one >= 0x20 and one != 0x7F)
        yield b"Bearer " + (kept if kept.strip() != good.encode() else b"x")


def test_what_is_nearly_a_token_lets_nobody_in(lab: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "REFUSALS", 10**6)
    good = tokens.make(lab.engine, Scope.admin, 1)
    client = asking(lab)
    assert client.get("/runs.json", headers={"Authorization": f"Bearer {good}"}).status_code == 200
    codes = [client.get("/runs.json", headers=[(b"authorization", guess)]).status_code for guess in guesses(good)]
    assert set(codes) == {401}
    forms = (
        b"token",
        b"token=",
        b"token=%00",
        b"token=%ff%fe",
        b"&" * 4096,
        b"=" * 4096,
        b"token=" + b"%" * 4000,
        b"\xff",
    )
    own = {"Origin": "http://127.0.0.1"}
    assert {client.post("/login", content=form, headers=own).status_code for form in forms} == {401}


def test_odd_queries_get_an_answer_and_no_failure(tmp_path: Path) -> None:
    lab = filled(tmp_path / "lab", [RUN])
    client, draw = asking(lab), random.Random(9)
    pieces = [
        "run",
        "device",
        "study",
        "=",
        "&",
        "%",
        "%00",
        "%ff",
        "%u0041",
        ";",
        "?",
        "#",
        "[]",
        "\u00e4",
        HASH,
        "'",
        "\\",
    ]
    paths = [
        "/",
        "/runs",
        "/runs.json",
        "/runs.csv",
        "/compare",
        "/compare.json",
        "/devices.json",
        f"/runs/{HASH[:9]}.json",
    ]
    for _ in range(150):
        query = "".join(draw.choices(pieces, k=draw.randint(1, 12)))
        path = f"{draw.choice(paths)}?{query}"
        assert client.get(path).status_code < 500, path


def test_a_disk_that_is_full_loses_nothing_and_takes_the_run_once_there_is_room(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(small)]
    if os.getuid() or subprocess.run(command, capture_output=True, check=False).returncode:
        missing("a small file system is mounted by root alone")
    try:
        lab = filled(small / "lab", [COUNTED / "m0plus"])
        client = asking(lab)
        filler = small / "filler"
        try:
            with filler.open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(4096))
        except OSError:
            pass
        before, runs = below(lab), client.get("/runs.json").json()
        status, told = sent(client, HASH, PACK)
        assert (status, set(told)) == (507, {"error", "hint"}), told
        assert below(lab) == before
        assert client.get("/runs.json").json() == runs
        filler.unlink()
        assert sent(client, HASH, PACK)[0] == 201
        assert len(lab.runs()) == 2
        lab.engine.dispose()
    finally:
        subprocess.run(["umount", str(small)], check=True)
