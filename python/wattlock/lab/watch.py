"""Which run folders were changed since they were last found as they were sealed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from wattlock.store.seal import FILES

Signature = tuple[tuple[int, int, int], ...]
"""Of each file of a run its number on the disk, its size in octets and when it was written, in nanoseconds."""


class Watch:
    """Hashes a folder again only where a file of it was written since: a list of 1,000 runs costs 4,000 `stat`s.

    * `is_intact`: whether a run's folder is as it was sealed, by its hash. Who changes a file and sets its times back
      is noticed where the run itself is opened, which hashes it.
    """

    def __init__(self, runs: Path, is_intact: Callable[[str], bool]) -> None:
        self._runs = runs
        self._is_intact = is_intact
        self._known: dict[str, tuple[Signature, bool]] = {}

    def changed(self, hashes: Iterable[str]) -> list[str]:
        """Those of these runs whose folders are gone or no longer as they were sealed."""
        return [hash_ for hash_ in hashes if not self.holds(hash_)]

    def holds(self, hash_: str) -> bool:
        """Whether a run's folder is as it was sealed, as far as its files' times tell."""
        try:
            signature = self._signature(hash_)
        except OSError:
            return False
        known, intact = self._known.get(hash_, (None, False))
        if known != signature:
            intact = self._is_intact(hash_)
            self._known[hash_] = signature, intact
        return intact

    def seen(self, hashes: Iterable[str]) -> dict[str, Signature]:
        """What the files of these runs are now; a run that lacks one is left out."""
        found = {}
        for hash_ in hashes:
            with suppress(OSError):
                found[hash_] = self._signature(hash_)
        return found

    def note(self, intact: Mapping[str, Signature]) -> None:
        """Takes in runs that somebody else found as they were sealed, each with what `seen` gave before that."""
        self._known |= {hash_: (signature, True) for hash_, signature in intact.items()}

    def _signature(self, hash_: str) -> Signature:
        stats = (os.stat(f"{self._runs}/{hash_}/{name}") for name in FILES)  # noqa: PTH116 - a path costs ten times it
        return tuple((one.st_ino, one.st_size, one.st_mtime_ns) for one in stats)
