"""Starts the web server of a lab with bounded connections, and refuses before it starts what would go wrong later."""

from __future__ import annotations

import asyncio
import errno
import resource
import socket
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Collection as Names
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Any, NamedTuple

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from wattlock.errors import InputError
from wattlock.lab import collection, measuring, tokens
from wattlock.lab.app import make
from wattlock.lab.collection import INCOMING, RUNS, Collection, empty_incoming
from wattlock.lab.database import alone_at
from wattlock.lab.doors import host_of, is_loopback
from wattlock.lab.fleet.conductor import started
from wattlock.lab.fleet.job_options import targets as fleet_of
from wattlock.lab.fleet.queue import Queue
from wattlock.page.certificate import Certificate, certificate

STREAMS_s = 1
"""How long a stop waits for pages that are still being told of the queue."""
IPV6, LAST_PORT = 6, 65_535


class How(NamedTuple):
    """How a lab serves.

    * `needs_token`: whether a lab without a token is refused on loopback too, as behind a reverse proxy.
    * `database`: as of `open_database`.
    * `tls`: whether it speaks https, by this user's certificate for the address.
    """

    needs_token: bool = False
    database: str | None = None
    tls: bool = False


DEFAULT = How()


def serve(
    data: Path,
    bind: str,
    say: Callable[[str], None],
    *,
    names: Names[str] = (),
    targets: Sequence[str] = (),
    how: How = DEFAULT,
    show: Callable[[str], None] = lambda _: None,
) -> None:
    """Serves the lab whose folder is `data` at `bind`, ADDRESS:PORT, until it is stopped.

    * `say`: is told where it listens, and what is left out of the index. `names`: of this host, for browsers.
    * `targets`: of its fleet, none without.
    * `show`: is told the address of the page that measures a device, where others reach it.

    Raises InputError where the address can't be, is none that a certificate names, is in use, or is open to others and
    the lab has no token; StoreError where another lab serves the folder or out of the database.
    """
    address, port = _address(bind)
    pair = certificate(str(address)) if how.tls else None
    lab = Collection.open(data, how.database)
    with alone_at(data, lab.engine):
        is_open = tokens.is_open(lab.engine)
        if is_open and (how.needs_token or not address.is_loopback):
            why = "--need-token:" if how.needs_token else f"--bind {bind}: others reach this address, and"
            hint = f"make one first: wattlock lab token --data {data} --scope admin"
            raise InputError(f"{why} the lab has no token", hint=hint)
        with _listening(str(address), port, bind) as listener:
            _begin(lab, say, is_open=is_open)
            place = _place(listener, pair)
            kind = "example runs" if collection.are_in(data) else "runs"
            say(f"the lab: {place} ({lab.count()} {kind} in {data})")
            if pair is not None:
                say("Browsers warn, as nobody else vouches for the certificate. Compare its SHA-256:")
                say(pair.fingerprint)
            if not (address.is_loopback or address.is_unspecified):
                show(place + measuring.PLACE)
            config = uvicorn.Config(
                make(lab, frozenset(names), targets),
                http=Protocol,
                backlog=BACKLOG,
                log_level="warning",
                proxy_headers=False,
                server_header=False,
                ssl_certfile=None if pair is None else pair.path,
                timeout_graceful_shutdown=STREAMS_s,
            )
            Queue(lab.engine).note_absent(fleet_of(targets))
            with started(data, targets, say, how.database):
                uvicorn.Server(config).run(sockets=[listener])


def _begin(lab: Collection, say: Callable[[str], None], *, is_open: bool) -> None:
    """Makes the index agree with the folders; a first start shows the examples."""
    empty_incoming(lab.data)
    was_blank = lab.is_blank()
    if is_first := first_start(lab):
        collection.put(lab.data, lab.data / RUNS, lab.data / INCOMING)
    for line in lab.catch_up():
        say(f"warning: left out: {line}")
    if is_open and was_blank and not is_first and lab.count():
        what = "the index was made anew from runs/, tokens that there were are gone"
        say(f"warning: {what}: without one the lab is open to this machine")


def first_start(lab: Collection) -> bool:
    """Whether nobody ever sent a run to this lab."""
    return lab.is_blank() and not any((lab.data / RUNS).iterdir()) and not tokens.actions(lab.engine)


def _place(listener: socket.socket, certificate: Certificate | None) -> str:
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"{'http' if certificate is None else 'https'}://{shown}:{port}"


def _address(bind: str) -> tuple[IPv4Address | IPv6Address, int]:
    host, _, port = bind.rpartition(":")
    try:
        address = ip_address(host.removeprefix("[").removesuffix("]"))
        if (address.version == IPV6) != host.startswith("[") or not port.isascii() or not 0 <= int(port) <= LAST_PORT:
            raise ValueError
    except ValueError:
        hint = "ADDRESS:PORT, the address in numbers: 127.0.0.1:8893, 192.168.1.2:8893 or [::1]:8893"
        raise InputError(f"--bind {bind}: no address with a port", hint=hint) from None
    return address, int(port)


@contextmanager
def _listening(host: str, port: int, bind: str) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.create_server((host, port), family=family) as listener:
            yield listener
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            what, hint = "the port is in use", "name another one, or 0 for a free one"
        elif error.errno == errno.EADDRNOTAVAIL:
            what, hint = "this machine has no such address", "`ip address` lists those that it has"
        elif error.errno == errno.EACCES:
            what, hint = "this port is not for everybody", "name one above 1023"
        else:
            raise
        raise InputError(f"--bind {bind}: {what}", hint=hint) from error


HEADER_s = 10.0
"""Within this time the whole header of a request comes, from the connection or from the request's first octet on."""
MOST = min(512, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)
"""Connections at a time; for one more the one that was idle for longest is closed. Runs and pages need files too."""
BACKLOG = max(8, MOST // 8)
"""So many are accepted at once (asyncio, selector_events), before one of them, or another one, is closed."""
MOST_OF_ONE = 128
"""Connections of one host: a browser takes six. Loopback may have all, as a reverse proxy is there."""


class Protocol(H11Protocol):
    """uvicorn's own, with these bounds."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._late: asyncio.TimerHandle | None = None
        self._heard_s = self.loop.time()

    @property
    def is_idle(self) -> bool:
        """Whether no request is under way."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def host(self) -> str:
        """Whom to count: the host at the other end."""
        return host_of(self.client[0]) if self.client else ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Takes the connection, or closes it or another one."""
        super().connection_made(transport)
        others = [
            connection for connection in self.connections if isinstance(connection, Protocol) and connection is not self
        ]
        if not is_loopback(self.host) and sum(connection.host == self.host for connection in others) >= MOST_OF_ONE:
            transport.abort()
        elif len(others) >= MOST:
            idle = (connection for connection in others if connection.is_idle and not connection.transport.is_closing())
            min(idle, key=lambda connection: connection._heard_s, default=self).transport.abort()
        self._watch()

    def data_received(self, data: bytes) -> None:
        """What came."""
        self._heard_s = self.loop.time()
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """The end."""
        self._stop_watching()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Waits for the header of a request that has begun, or for the first one."""
        if self.conn.their_state is not h11.IDLE:
            self._stop_watching()
        elif self._late is None and self.is_idle:
            self._late = self.loop.call_later(HEADER_s, self.transport.close)

    def _stop_watching(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
