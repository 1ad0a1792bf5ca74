"""Where a run counted, in words: an emulated core, a part with it whose flash is modelled, or a board."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from wattlock.errors import InputError

if TYPE_CHECKING:
    from wattlock.targets.parts import CoreError
    from wattlock.targets.target import CountedCore

OF_A_BOARD = (
    "the time: the clock of the board is what its file says, and was not measured",
    "interrupts: the image uses none, a program of yours does",
    "where the linker of another program puts the same code: a cache and a flash with wait states take it otherwise",
)
"""What the cycles of a board's counter don't hold."""


class CoreOfRun:
    """The core of a run's plan.

    * `name`: as `qemu:` takes it; `board`: null on an emulated core; `part`: the part whose flash was modelled, or of
      the board, and its clock in Hz, null without one.
    """

    def __init__(self, counted: CountedCore) -> None:
        self.counted, self.name, self.board = counted, counted.core, counted.board
        part, clock_Hz = counted.part, counted.part_clock_Hz
        self.part = None if part is None or clock_Hz is None else (part, clock_Hz)

    @property
    def target(self) -> str:
        """The core, and the part or the board, in words."""
        if self.board is not None:
            return f"{self.name} of the board {self.board}{self._clock}"
        return self.name if self.part is None else f"{self.name} in {self.part[0]}{self._clock}"

    @property
    def title(self) -> str:
        """The same as their makers write it, for pages: Cortex-M4 in STM32F407 at 168 MHz."""
        if self.board is not None:
            return f"{self.core_title} of {self.board}{self._clock}"
        return self.core_title if self.part is None else f"{self.core_title} in {self.part_title}{self._clock}"

    @property
    def _clock(self) -> str:
        return f" at {(self.counted.part_clock_Hz or 0) / 1e6:g} MHz"

    @property
    def core_title(self) -> str:
        """The core as its maker writes it."""
        return self.described.name.removeprefix("Arm ") if self.described else self.name

    @property
    def part_title(self) -> str | None:
        """The part as its maker writes it; null without one."""
        from wattlock.targets.parts import short_title

        return None if self.part is None else short_title(self.part[0])

    @property
    def place(self) -> str:
        """The title behind "on": an emulated core, or the board's."""
        return f"an emulated {self.title}" if self.board is None else f"the {self.title}"

    @property
    def way(self) -> str:
        """What `wattlock run --on` takes."""
        if self.board is not None:
            return f"board:{self.board}@PORT"
        return f"qemu:{self.name}" + (f"/{self.part[0]}@{self.part[1] / 1e6:g}MHz" if self.part else "")

    @cached_property
    def described(self) -> CoreError | None:
        """What is known of the core today; null where this wattlock doesn't know it."""
        from wattlock.targets.parts import CORES

        try:
            return CORES.load(self.name)[1]
        except InputError:
            return None

    @cached_property
    def not_modelled(self) -> list[str]:
        """What the numbers don't hold, in words."""
        if self.board is not None:
            return list(OF_A_BOARD)
        limits = list(self.described.limits) if self.described else []
        limits.append("interrupts, and what a debugger or an operating system adds")
        if self.part is None:
            return [*limits, "wait states of a flash and its cache: every memory answers at once"]
        from wattlock.targets.parts import PARTS

        return [*limits, *PARTS.load(self.part[0])[1].not_published]

    @property
    def without_cycles(self) -> str:
        """Why a count on it has no cycles, where that is so."""
        if self.board is not None:
            return f"no cycles: the clock of {self.board} is not its core's"
        if self.described is not None and self.described.pipeline is not None:
            return "no cycles: an exception came, and what it costs is not known"
        return f"no cycles: {self.name} has no rules"
