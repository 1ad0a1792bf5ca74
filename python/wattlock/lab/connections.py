"""The connections of a lab's server: how many there may be, and how long a request may take to begin.

uvicorn waits for ever for the header of a request, and accepts until no file can be opened any more. Neither needs a
token, so that both are bounded here.
"""

from __future__ import annotations

import asyncio
import resource
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from wattlock.lab.limits import host_of, is_loopback

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
        others = [one for one in self.connections if isinstance(one, Protocol) and one is not self]
        if not is_loopback(self.host) and sum(one.host == self.host for one in others) >= MOST_OF_ONE:
            transport.abort()
        elif len(others) >= MOST:
            idle = (one for one in others if one.is_idle and not one.transport.is_closing())
            min(idle, key=lambda one: one._heard_s, default=self).transport.abort()
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
