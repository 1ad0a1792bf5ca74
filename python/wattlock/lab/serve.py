"""Starts the web server of a lab, and refuses before it starts what would go wrong later."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Collection as Names
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import NamedTuple

import uvicorn

from wattlock.errors import InputError
from wattlock.lab import examples, measuring, tokens
from wattlock.lab.collection import INCOMING, RUNS, Collection, empty_incoming
from wattlock.lab.connections import BACKLOG, Protocol
from wattlock.lab.database import alone_at
from wattlock.lab.drawing import Drawing
from wattlock.lab.fleet.queue import Queue
from wattlock.lab.fleet.started import started
from wattlock.lab.fleet.targets import targets as fleet_of
from wattlock.lab.server import make
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
    drawing: Drawing,
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
    own = certificate(str(address)) if how.tls else None
    lab = Collection.open(data, how.database)
    with alone_at(data, lab.engine):
        is_open = tokens.is_open(lab.engine)
        if is_open and (how.needs_token or not address.is_loopback):
            why = "--need-token:" if how.needs_token else f"--bind {bind}: others reach this address, and"
            hint = f"make one first: wattlock lab token --data {data} --scope admin"
            raise InputError(f"{why} the lab has no token", hint=hint)
        with _listening(str(address), port, bind) as listener:
            _begin(lab, say, is_open=is_open)
            place = _place(listener, own)
            kind = "example runs" if examples.are_in(data) else "runs"
            say(f"the lab: {place} ({lab.count()} {kind} in {data})")
            if own is not None:
                say("Browsers warn, as nobody else vouches for the certificate. Compare its SHA-256:")
                say(own.fingerprint)
            if not (address.is_loopback or address.is_unspecified):
                show(place + measuring.PLACE)
            config = uvicorn.Config(
                make(lab, drawing, frozenset(names), targets),
                http=Protocol,
                backlog=BACKLOG,
                log_level="warning",
                proxy_headers=False,
                server_header=False,
                ssl_certfile=None if own is None else own.path,
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
        examples.put(lab.data, lab.data / RUNS, lab.data / INCOMING)
    for line in lab.catch_up():
        say(f"warning: left out: {line}")
    if is_open and was_blank and not is_first and lab.count():
        what = "the index was made anew from runs/, tokens that there were are gone"
        say(f"warning: {what}: without one the lab is open to this machine")


def first_start(lab: Collection) -> bool:
    """Whether nobody ever sent a run to this lab."""
    return lab.is_blank() and not any((lab.data / RUNS).iterdir()) and not tokens.actions(lab.engine)


def _place(listener: socket.socket, own: Certificate | None) -> str:
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"{'http' if own is None else 'https'}://{shown}:{port}"


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
