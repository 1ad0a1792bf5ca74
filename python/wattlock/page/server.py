"""The server of the page: its files, and the posts of those who have it open."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import ssl
import time
from collections.abc import Collection, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from ipaddress import ip_address
from pathlib import Path
from threading import Lock, Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from wattlock.errors import InputError
from wattlock.page.visits import MOST_LINES_B, MOST_WORDS_B, NAME, Refusal, Visits

KINDS = {".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript", ".wasm": "application/wasm"}
SCRIPTS = ("page.js", "worker.js", "clock.js", "instrument.js", "webcrypto.js", "ticker.js", "battery.js")
PAGES = ("index.html", "page.css", *SCRIPTS)
# The first two isolate the page from those of other origins (HTML Standard, 7.1.3 and 7.1.4).
HEADERS = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Content-Security-Policy": "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; "
    "style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
LONGEST_WAIT_S = 60.0
MOST_CONNECTIONS = 32
"""At a time: a browser takes six."""


def files_of(visits: Visits) -> dict[str, tuple[str, bytes]]:
    """The page's files with their types, by path."""
    folder = files("wattlock") / "data" / "page"
    found = {f"/{name}": (KINDS[Path(name).suffix], (folder / name).read_bytes()) for name in PAGES}
    return {**found, "/": found["/index.html"], f"/{NAME}": (KINDS[".wasm"], visits.module.bytes)}


@contextlib.contextmanager
def room_B(visits: Visits, path: str, query: Mapping[str, str]) -> Iterator[int]:
    """How much may be posted there, in octets, while this lasts.

    Raises Refusal before any of it is read: where nobody waits for it, or the visit has too many posts under way.
    """
    match path:
        case "/visit":
            yield MOST_WORDS_B
        case "/work" | "/ended" | "/lines":
            visitor = visits.under_way(query)
            if not visitor.reading.acquire(blocking=False):
                raise Refusal(429, "too many posts of this visit at once", "load the page again")
            try:
                yield MOST_LINES_B if path == "/lines" else MOST_WORDS_B
            finally:
                visitor.reading.release()
        case _:
            raise _nowhere()


def posted(visits: Visits, path: str, query: Mapping[str, str], body: bytes) -> dict[str, Any]:
    """What is answered to a page. Raises Refusal."""
    match path:
        case "/visit":
            return visits.visit(body)
        case "/work":
            return visits.work(query)
        case "/lines":
            return visits.lines(query, body)
        case "/ended":
            return visits.ended(query, body)
    raise _nowhere()


def _nowhere() -> Refusal:
    return Refusal(404, "nothing can be posted there", "the page is at /")


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], visits: Visits) -> None:
        self._lock, self._open = Lock(), dict[Any, bool]()
        self.visits, self.files = visits, files_of(visits)
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Gives the connection a thread; of too many the oldest that is no visitor's is closed, or this one."""
        with self._lock:
            if len(self._open) >= MOST_CONNECTIONS:
                oldest = next((known for known, is_visitor in self._open.items() if not is_visitor), request)
                self._open.pop(oldest, None)
                with contextlib.suppress(OSError):
                    oldest.shutdown(socket.SHUT_RDWR)
            self._open[request] = False
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """The end of a connection."""
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def is_visitor(self, request: Any) -> None:
        """Notes whose connection it is: it is kept while others come."""
        with self._lock:
            if request in self._open:
                self._open[request] = True

    def handle_error(self, *_: Any) -> None:
        """A connection that broke off is the page's to tell of."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "wattlock", ""
    timeout = LONGEST_WAIT_S
    server: _Server

    def do_GET(self) -> None:
        """A file of the page."""
        if not self._is_asked_rightly():
            return
        found = self.server.files.get(urlsplit(self.path).path)
        if found is None:
            self._refuse(404, "there is no such file", "the page is at /")
            return
        self._answer(200, *found)

    def do_POST(self) -> None:
        """What a page says: JSON, or record lines."""
        if not self._is_asked_rightly():
            return
        try:
            self._say(200, self._posted())
        except Refusal as refusal:
            self._refuse(refusal.status, refusal.message, refusal.hint)

    def _is_asked_rightly(self) -> bool:
        """Whether it was asked by this machine's name; refuses what another site's name leads here for."""
        if is_own(host := self.headers.get("Host", "")):
            return True
        self._refuse(421, f"this server is not called {host[:80]!r}", "use the address that wattlock printed")
        return False

    def _posted(self) -> dict[str, Any]:
        address = urlsplit(self.path)
        query = dict(parse_qsl(address.query))
        with room_B(self.server.visits, address.path, query) as most_B:
            length = self.headers.get("Content-Length", "")
            if not (length.isascii() and length.isdigit()) or int(length[:12]) > most_B:
                raise Refusal(413, f"a post there has a length of at most {most_B} bytes", "load the page again")
            if "visit" in query:
                self.server.is_visitor(self.connection)
            return posted(self.server.visits, address.path, query, self._body(int(length)))

    def _body(self, length: int) -> bytes:
        """What is posted. Raises Refusal where it takes too long."""
        ends, parts = time.monotonic() + LONGEST_WAIT_S, []
        while length and (part := self.rfile.read1(min(length, 2**18))):
            if time.monotonic() > ends:
                raise Refusal(408, f"the post took more than {LONGEST_WAIT_S:.0f} s", "load the page again")
            parts.append(part)
            length -= len(part)
        return b"".join(parts)

    def _refuse(self, status: int, message: str, hint: str) -> None:
        self.close_connection = True  # its body may not have been read
        self._say(status, {"error": message, "hint": hint})

    def _say(self, status: int, answer: dict[str, Any]) -> None:
        self._answer(status, "application/json", json.dumps(answer).encode())

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Nothing is logged."""


@contextlib.contextmanager
def serving(host: str, port: int, visits: Visits, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """Serves as long as this lasts; gives the whole address of the page.

    * `tls`: with it https is spoken.

    Raises InputError where the address can't be listened on.
    """
    try:
        server = _Server((host, port), visits)
    except OSError as error:
        what = f"--bind {host}:{port}: {error.strerror or error}"
        raise InputError(what, hint="name another port, or 0 for a free one; `ip address` lists addresses") from None
    if tls is not None:
        # The handshake is made by the thread of its connection: a silent one holds nobody up.
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.2}, daemon=True)
    thread.start()
    try:
        shown = f"[{host}]" if ":" in host else host
        yield f"{'http' if tls is None else 'https'}://{shown}:{server.server_address[1]}/#{visits.key}"
    finally:
        server.shutdown()
        server.server_close()


LOCALHOST = "localhost"
HOST = re.compile(r"(?:(?P<name>[^\s@/?#:\[\]]+)|\[(?P<six>[0-9A-Fa-f:.]+)\])(?::\d{0,5})?", re.ASCII)
"""A name or an address, then a port (RFC 9110, section 7.2): nobody is called `[::1].example`."""


def is_own(host: str, names: Collection[str] = (LOCALHOST,)) -> bool:
    """Whether a request's `Host` is an address in numbers or one of these names.

    A foreign name that leads here is another site's, whose page would read what this server says (DNS rebinding).
    """
    if (parts := HOST.fullmatch(host)) is None:
        return False
    name = (parts["name"] or parts["six"]).lower()
    try:
        ip_address(name)
    except ValueError:
        return name in names
    return True
