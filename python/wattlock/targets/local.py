"""This machine as a target: the probe is a program of its own here, and files are where they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wattlock.errors import ProbeError
from wattlock.targets.target import Facts, Limits, ask_facts, hear, located

NAME, VARIABLE = "wattlock-probe", "WATTLOCK_PROBE"


@dataclass(frozen=True)
class Local:
    """This machine; `program`: its probe."""

    program: Path

    way = "local"

    @property
    def name(self) -> str:
        """The probe's path."""
        return str(self.program)

    def facts(self) -> Facts:
        """What is true of this machine, and its probe's SHA-256. Raises ProbeError where the probe does not tell."""
        return ask_facts(self.start, self.name)

    def push(self, file: Path) -> str:
        """The file's own path: the probe reads it there."""
        return str(file)

    def fetch(self, place: str) -> bytes:
        """The content of a file. Raises ProbeError where there is none, or it can't be read."""
        try:
            return Path(place).read_bytes()
        except OSError as error:
            raise ProbeError(f"{place}: {error.strerror}", hint="check the path") from error

    def start(
        self, words: Sequence[str], text: bytes, limits: Limits, take: Callable[[bytes], None], *, who: str
    ) -> tuple[int, bytes]:
        """Runs the probe as a program of its own, as `Target.start` says."""
        return hear([self.program, *words], text, limits, take, who=who)


def find() -> Local:
    """This machine with its probe: named by `WATTLOCK_PROBE`, beside this Python, or on the path.

    Raises ProbeError where it is nowhere.
    """
    return Local(located(NAME, VARIABLE))
