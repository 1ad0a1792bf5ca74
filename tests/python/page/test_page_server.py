"""The page's server: how many may hold it, and by which names it answers."""

import contextlib
import http.client
import socket
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest

from wattlock.page import server
from wattlock.page.visits import Visits

MANY, LIMIT_S = 200, 20.0


@pytest.fixture
def address() -> Iterator[tuple[str, int]]:
    module: Any = SimpleNamespace(bytes=b"", sha256="0" * 64)
    with server.serving("127.0.0.1", 0, Visits(module)) as place:
        parts = urlsplit(place)
        yield str(parts.hostname), int(parts.port or 0)


def status(address: tuple[str, int], method: str, path: str, host: str) -> int:
    """What a request is answered."""
    with contextlib.closing(http.client.HTTPConnection(*address, timeout=LIMIT_S)) as asked:
        asked.request(method, path, body=b"{}" if method == "POST" else None, headers={"Host": host})
        with asked.getresponse() as answer:
            return answer.status


def test_200_slow_posts_hold_no_more_threads_than_connections_may_be(address: tuple[str, int]) -> None:
    before, slow = threading.active_count(), []
    for _ in range(MANY):
        slow.append(socket.create_connection(address, LIMIT_S))
        slow[-1].sendall(b"POST /visit HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{")
    assert status(address, "GET", "/", "127.0.0.1") == 200
    assert threading.active_count() - before <= server.MOST_CONNECTIONS + 8  # some of the closed are just ending
    for connection in slow:
        connection.close()


def test_a_post_that_never_ends_is_given_up(address: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LONGEST_WAIT_S", 0.2)
    with socket.create_connection(address, LIMIT_S) as slow:
        slow.sendall(b"POST /visit HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n")
        answer = b""
        while not answer:
            slow.sendall(b"{")
            slow.settimeout(0.1)
            with contextlib.suppress(TimeoutError):
                answer = slow.recv(4096)
    assert b" 408 " in answer


@pytest.mark.parametrize("path", ["/", "/page.js", "/visit", "/work", "/lines", "/ended", "/nothing"])
@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "", "[", "127.0.0.1.evil.example"])
def test_another_sites_name_gets_nothing_of_any_route(address: tuple[str, int], path: str, host: str) -> None:
    for method in ("GET", "POST"):
        assert status(address, method, path, host) == 421


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8894", "[::1]:80"])
def test_its_own_addresses_get_the_page(address: tuple[str, int], host: str) -> None:
    assert status(address, "GET", "/", host) == 200
