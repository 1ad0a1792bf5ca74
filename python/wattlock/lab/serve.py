"""Starts the web server of a lab, and refuses before it starts what would go wrong later."""

from __future__ import annotations

import errno
import fcntl
import socket
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Collection as Names
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

import uvicorn

from wattlock.errors import InputError, StoreError
from wattlock.lab import examples, tokens
from wattlock.lab.collection import RUNS, Collection, empty_incoming
from wattlock.lab.database import alone
from wattlock.lab.drawing import Drawing
from wattlock.lab.fleet.started import started
from wattlock.lab.server import make

LOCK = "lab.lock"
STREAMS_s = 1
"""How long a stop waits for pages that are still being told of the queue."""
IPV6, LAST_PORT = 6, 65_535


def serve(
    data: Path,
    bind: str,
    drawing: Drawing,
    say: Callable[[str], None],
    *,
    names: Names[str] = (),
    targets: Sequence[str] = (),
    needs_token: bool = False,
    database: str | None = None,
) -> None:
    """Serves the lab whose folder is `data` at `bind`, ADDRESS:PORT, until it is stopped.

    * `say`: is told where it listens, and what is left out of the index. `names`: of this host, for browsers.
    * `targets`: of its fleet, none without.
    * `needs_token`: whether a lab without a token is refused on loopback too, as behind a reverse proxy.
    * `database`: as of `open_database`.

    Raises InputError where the address can't be, is in use, or is open to others and the lab has no token; StoreError
    where another lab serves the folder or out of the database.
    """
    address, port = _address(bind)
    is_first = not (data / RUNS).exists()
    lab = Collection.open(data, database)
    with _alone(data), alone(lab.engine):
        is_open = tokens.is_open(lab.engine)
        if is_open and (needs_token or not address.is_loopback):
            why = "--need-token:" if needs_token else f"--bind {bind}: others reach this address, and"
            hint = f"make one first: wattlock lab token --data {data} --scope admin"
            raise InputError(f"{why} the lab has no token", hint=hint)
        with _listening(str(address), port, bind) as listener:
            empty_incoming(data)
            was_blank = lab.is_blank()
            if is_first and was_blank:
                examples.put(data, data / RUNS)
            for line in lab.catch_up():
                say(f"warning: left out: {line}")
            if is_open and was_blank and not is_first and lab.count():
                what = "the index was made anew from runs/, tokens that there were are gone"
                say(f"warning: {what}: without one the lab is open to this machine")
            host, port = listener.getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            kind = "example runs" if examples.are_in(data) else "runs"
            say(f"the lab: http://{shown}:{port} ({lab.count()} {kind} in {data})")
            config = uvicorn.Config(
                make(lab, drawing, frozenset(names), targets),
                log_level="warning",
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=STREAMS_s,
            )
            with started(data, targets, say, database):
                uvicorn.Server(config).run(sockets=[listener])


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


@contextmanager
def _alone(data: Path) -> Iterator[None]:
    with (data / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreError(
                f"{data}: another lab serves this folder", hint="stop it, or name another --data"
            ) from None
        yield
