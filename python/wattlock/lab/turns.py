"""Whose turn it is: questions that take a child of some seconds are answered two at a time, and few wait."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from wattlock.lab.database import Busy

AT_ONCE, PATIENCE_s = 2, 30.0
MOST_WAITING = 8
"""Who waits has one of the server's 40 threads: the others are for pages that take none of this."""


class Turns:
    """Children of a server that are at work, and who waits for one."""

    def __init__(self) -> None:
        self._places = threading.BoundedSemaphore(AT_ONCE + MOST_WAITING)
        self._turns = threading.BoundedSemaphore(AT_ONCE)

    @contextmanager
    def one(self) -> Iterator[None]:
        """Waits for a turn, and has it to the end. Raises Busy where others have to be answered first."""
        busy = Busy("other questions are being answered", hint="try again in a minute")
        if not self._places.acquire(blocking=False):
            raise busy
        try:
            if not self._turns.acquire(timeout=PATIENCE_s):
                raise busy
            try:
                yield
            finally:
                self._turns.release()
        finally:
            self._places.release()


turns = Turns()
"""Of this process: advice and the planner share them."""
