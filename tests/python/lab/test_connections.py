"""Connections that ask for nothing: they are closed, and hold up nobody."""

import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
import uvicorn

from support.labs import COUNTED, filled
from wattlock.lab import serve
from wattlock.lab.app import make
from wattlock.lab.doors import host_of, is_loopback
from wattlock.lab.serve import Protocol

LIMIT_S = 60.0
WHOLE = b"GET /devices.json HTTP/1.1\r\nHost: 127.0.0.1\r\n"
Opens = Callable[[], socket.socket]


@pytest.fixture
def opens(tmp_path: Path) -> Iterator[Opens]:
    """Opens a connection to a lab."""
    config = uvicorn.Config(make(filled(tmp_path, [COUNTED / "m4"])), port=0, http=Protocol, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    address = server.servers[0].sockets[0].getsockname()
    made: list[socket.socket] = []

    def opened() -> socket.socket:
        made.append(socket.create_connection(address, timeout=LIMIT_S))
        return made[-1]

    yield opened
    for one in made:
        one.close()
    server.should_exit = True
    thread.join(LIMIT_S)


def status(connection: socket.socket) -> int:
    """Asks for a small page whose answer ends with the connection's, and gives its status."""
    connection.sendall(WHOLE + b"Connection: close\r\n\r\n")
    return int(b"".join(iter(lambda: connection.recv(2**16), b"")).split()[1])


def is_closed(connection: socket.socket) -> bool:
    """Waits until the lab says or ends something; gives whether it ended the connection without a word."""
    try:
        return connection.recv(2**16) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("begun", [b"", b"G", WHOLE, WHOLE + b"X: y\r\nZ: "])
def test_who_sends_no_whole_header_is_let_go(opens: Opens, monkeypatch: pytest.MonkeyPatch, begun: bytes) -> None:
    monkeypatch.setattr(serve, "HEADER_s", 0.3)
    connection = opens()
    connection.sendall(begun)
    assert is_closed(connection)


def test_octets_that_drip_give_a_header_no_more_time(opens: Opens, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "HEADER_s", 0.5)
    connection = opens()
    connection.settimeout(0.05)
    until = time.monotonic() + LIMIT_S
    while True:
        assert time.monotonic() < until
        try:
            connection.sendall(b"G")
            assert connection.recv(100) == b""
            break
        except TimeoutError:
            continue
        except OSError:
            break


def test_a_second_header_that_stays_half_is_let_go_too(opens: Opens, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "HEADER_s", 0.3)
    connection = opens()
    connection.sendall(WHOLE + b"\r\n")
    answer = b""
    while b"]" not in answer:
        answer += connection.recv(2**16)
    connection.sendall(WHOLE)
    assert is_closed(connection)


def test_a_body_that_takes_longer_than_a_header_may_is_no_late_header(
    opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "HEADER_s", 0.3)
    connection = opens()
    head = b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\nContent-Length: 7\r\n\r\n"
    connection.sendall(head)
    connection.settimeout(1.0)
    with pytest.raises(TimeoutError):
        connection.recv(1)
    connection.settimeout(LIMIT_S)
    connection.sendall(b"token=x")
    assert connection.recv(2**16).split()[1] == b"303"


def test_of_too_many_connections_the_one_that_was_idle_for_longest_makes_room(
    opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "MOST", 3)
    idle = [opens() for _ in range(3)]
    for number in (1, 2, 0):  # the first is heard of last; each is accepted in its turn
        idle[number].sendall(WHOLE)
        time.sleep(0.1)
    assert status(opens()) == 200
    assert is_closed(idle[1])
    idle[0].sendall(b"Connection: close\r\n\r\n")
    assert idle[0].recv(2**16).split()[1] == b"200"


def test_more_connections_than_files_may_be_open_hold_up_nobody(tmp_path: Path) -> None:
    command = f"ulimit -n 128; exec {sys.executable} -m wattlock lab --data {tmp_path / 'lab'} --bind 127.0.0.1:0"
    with subprocess.Popen(["sh", "-c", command], stderr=subprocess.PIPE, text=True) as lab, ExitStack() as opened:
        assert lab.stderr is not None
        said = list[str]()
        address = next(found[1] for line in lab.stderr if (found := re.search(r"http://(\S+)", line)))
        listening = threading.Thread(target=said.extend, args=[lab.stderr])
        listening.start()
        host, _, port = address.partition(":")
        try:
            for _ in range(200):
                connection = opened.enter_context(socket.create_connection((host, int(port)), timeout=LIMIT_S))
                with suppress(OSError):
                    connection.sendall(WHOLE)
            assert status(opened.enter_context(socket.create_connection((host, int(port)), timeout=LIMIT_S))) == 200
        finally:
            lab.terminate()
            listening.join(LIMIT_S)
    assert said == [], "no file was lacking"


def test_one_host_has_its_share_of_connections_and_loopback_all(opens: Opens, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "MOST_OF_ONE", 2)
    kept = [opens() for _ in range(3)]
    assert [status(one) for one in kept] == [200] * 3
    monkeypatch.setattr(serve, "is_loopback", lambda _: False)
    held = [opens() for _ in range(2)]
    for one in held:
        one.sendall(WHOLE)
    time.sleep(0.1)
    assert is_closed(opens())
    held[0].close()
    time.sleep(0.1)
    assert status(opens()) == 200


def test_hosts_are_told_apart_as_they_are_given_addresses() -> None:
    assert host_of("2001:db8::1") == host_of("2001:db8::ffff:2") != host_of("2001:db8:0:1::1")
    assert host_of("10.0.0.1") != host_of("10.0.0.2")
    assert [is_loopback(host_of(one)) for one in ("127.0.0.1", "::1", "10.0.0.1", "2001:db8::1", "unknown")] == [
        *(True, True, False, False, False)
    ]
