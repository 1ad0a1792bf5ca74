"""The port `Target`: a device on which a probe runs, and all that is asked of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from wattlock.targets.facts import Facts
from wattlock.targets.hearing import Limits


class Target(Protocol):
    """A device on which a probe runs."""

    def __hash__(self) -> int:
        """Two of one device are alike: what is known of it is kept by it."""

    @property
    def name(self) -> str:
        """What errors call its probe."""

    @property
    def way(self) -> str:
        """How it is reached: `local`, `ssh`, `adb`, `qemu`, `board`, `page`."""

    def facts(self) -> Facts:
        """What is true of the device. Raises WayError where it can't be reached, ProbeError where its probe fails."""

    def push(self, file: Path) -> str:
        """Brings a file of the host to the device, and gives the path that its probe finds it by."""

    def fetch(self, place: str) -> bytes:
        """The content of a file of the device. Raises ProbeError where there is none."""

    def start(
        self, words: Sequence[str], text: bytes, limits: Limits, take: Callable[[bytes], None], *, who: str
    ) -> tuple[int, bytes]:
        """Runs the probe there to its end, and gives its exit code, below 0 for a signal, and its last complaints.

        * `words`: its arguments; `text`: its standard input; `take`: receives what it writes, as it comes.
        * `who`: what it is called in errors.

        Raises Refused where it takes more than `limits`, ProbeError where it can't be started, WayError where the
        device is lost meanwhile.
        """
