"""Whose turn it is: what takes seconds, or much memory, is done two at a time, and few wait."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from wattlock.lab.database import Busy

AT_ONCE, PATIENCE_s = 2, 30.0
MOST_WAITING, MOST_WAITING_FOR_PAGES = 8, 16
"""Who waits has one of the server's 40 threads: the others are for pages that take none of this."""


class Turns:
    """What of a kind is under way, and who waits for it."""

    def __init__(self, most_waiting: int = MOST_WAITING) -> None:
        self._places = threading.BoundedSemaphore(AT_ONCE + most_waiting)
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
page_turns = Turns(MOST_WAITING_FOR_PAGES)
"""Of this process: pages for which whole runs are read back and drawn share them."""
