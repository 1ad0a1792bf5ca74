"""The audit log of a server: who waits for an answer doesn't wait for its line."""

from __future__ import annotations

import sys
import threading
from collections import deque
from typing import Any

from sqlalchemy import Engine

from wattlock.errors import WattlockError
from wattlock.lab import tokens
from wattlock.lab.database import AuditEntry, session

MOST_WAITING = 1000
"""Lines that are kept while the database can't be written; of more the oldest are lost, and it is said so."""


class Audit:
    """Writes lines, one thread at a time for all; what can't be written goes with the next line that can."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._waiting: deque[dict[str, Any]] = deque(maxlen=MOST_WAITING)
        self._writing = threading.Lock()

    def note(self, by: tokens.By, what: str, subject: str) -> None:
        """Writes a line, now or later. What was done is done: nothing is raised."""
        self._waiting.append(tokens.fields(by, what, subject))
        while self._waiting and self._writing.acquire(blocking=False):
            try:
                is_written = self._write()
            finally:
                self._writing.release()
            if not is_written:
                return

    def _write(self) -> bool:
        lines = list(self._waiting)
        try:
            with session(self._engine) as opened:
                for line in lines:
                    tokens.add(opened, AuditEntry(**line))
        except WattlockError as error:
            lost = ", the oldest are lost" if len(lines) == MOST_WAITING else ""
            sys.stderr.write(f"warning: {len(lines)} lines of the audit log wait{lost}: {error.message}\n")
            return False
        for line in lines:
            if self._waiting and self._waiting[0] is line:  # else it was dropped for a later one
                self._waiting.popleft()
        return True
