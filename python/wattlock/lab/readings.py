"""Runs read back and kept: each is read once however many ask for it at a time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from typing import NamedTuple

from wattlock.lab.database import Busy
from wattlock.lab.entry import Reading

MOST_KEPT = 16
"""Runs whose estimates stay in memory, for comparisons; a sealed run never changes."""
MOST_KEPT_B = 2**26
"""So many octets of plans and records may those have together: parsed they take about ten times that."""
PATIENCE_s = 60.0
"""So long somebody waits for a reading that another one began."""


class _Kept(NamedTuple):
    reading: Reading
    size_B: int


class Readings:
    """What was read lately, by hash, and what is being read.

    * `read`: reads a run. `size_B`: the octets of its files that stay in memory when they are parsed.
    """

    def __init__(self, read: Callable[[str], Reading], size_B: Callable[[str], int]) -> None:
        self._read, self._size_B = read, size_B
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._under_way: dict[str, Future[Reading]] = {}

    def of(self, hash_: str) -> Reading:
        """A run read back. The errors are those of `read`, for all who wait; Busy where that takes too long."""
        with self._lock:
            if (kept := self._kept.get(hash_)) is not None:
                self._kept.move_to_end(hash_)
                return kept.reading
            reading = self._under_way.get(hash_)
            is_first = reading is None
            if reading is None:
                reading = self._under_way[hash_] = Future()
        if is_first:
            self._carry_out(hash_, reading)
        try:
            return reading.result(PATIENCE_s)
        except TimeoutError:
            raise Busy("the run is being read", hint="try again in a minute") from None

    def _carry_out(self, hash_: str, reading: Future[Reading]) -> None:
        try:
            kept = _Kept(self._read(hash_), self._size_B(hash_))
        except BaseException as error:  # noqa: BLE001 - it is everybody's who waits, and `of` raises it
            with self._lock:
                del self._under_way[hash_]
            reading.set_exception(error)
            return
        with self._lock:
            del self._under_way[hash_]
            self._kept[hash_] = kept
            while len(self._kept) > MOST_KEPT or sum(one.size_B for one in self._kept.values()) > MOST_KEPT_B:
                self._kept.popitem(last=False)
        reading.set_result(kept.reading)
