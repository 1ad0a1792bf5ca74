"""A run that counted, read back: a row a case with cycles, instructions and memory. It holds no time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import polars as pl

from wattlock.analysis import counts
from wattlock.errors import EvidenceError, InputError, StoreError
from wattlock.store import RunFolder, find
from wattlock.targets.target import CountedCore

if TYPE_CHECKING:
    from wattlock.targets.parts import CoreError

OF_A_BOARD = (
    "the time: the clock of the board is what its file says, and was not measured",
    "interrupts: the image uses none, a program of yours does",
    "where the linker of another program puts the same code: a cache and a flash with wait states take it otherwise",
)
"""What the cycles of a board's counter don't hold."""


@dataclass(frozen=True)
class Counts:
    """What a run says that counted.

    * `plan`: the run's first line; `header`: that of the process whose images tell the compiler; `estimates`: a row a
      case, as of `analysis.counts`; `adapters`: code of others by its provider, as the records have it.
    * `mixes`: instructions by class, by case.
    """

    plan: Mapping[str, Any]
    header: Mapping[str, Any]
    estimates: pl.DataFrame
    processes: int
    wall_s: float
    is_sealed: bool
    adapters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    mixes: counts.Mixes = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The run's id."""
        return str(self.plan["id"])

    @property
    def core(self) -> str:
        """The core, as `qemu:` takes it."""
        return self.counted.core

    @cached_property
    def counted(self) -> CountedCore:
        """Where it counted."""
        return CountedCore(**self.plan["counted"])

    @property
    def board(self) -> str | None:
        """The board; null on an emulated core."""
        return self.counted.board

    @property
    def part(self) -> tuple[str, int] | None:
        """The part whose flash was modelled, or of the board, and its clock in Hz; null without one."""
        _, part, clock_Hz, _ = self.counted
        return None if part is None or clock_Hz is None else (part, clock_Hz)

    @property
    def target(self) -> str:
        """The core, and the part or the board, in words."""
        if self.board is not None:
            return f"{self.core} of the board {self.board} at {(self.counted.part_clock_Hz or 0) / 1e6:g} MHz"
        if self.part is None:
            return self.core
        part, clock_Hz = self.part
        return f"{self.core} in {part} at {clock_Hz / 1e6:g} MHz"

    @property
    def title(self) -> str:
        """The same as their makers write it, for pages: Cortex-M4 in STM32F407 at 168 MHz."""
        if self.board is not None:
            return f"{self.core_title} of {self.board} at {(self.counted.part_clock_Hz or 0) / 1e6:g} MHz"
        if self.part is None:
            return self.core_title
        from wattlock.targets.parts import short_title

        part, clock_Hz = self.part
        return f"{self.core_title} in {short_title(part)} at {clock_Hz / 1e6:g} MHz"

    @property
    def core_title(self) -> str:
        """The core as its maker writes it."""
        return self.described.name.removeprefix("Arm ") if self.described else self.core

    @property
    def place(self) -> str:
        """The same behind "on": an emulated core, or the board's."""
        return f"an emulated {self.title}" if self.board is None else f"the {self.title}"

    @property
    def isa(self) -> str:
        """The instruction set that the images were compiled for."""
        return str(self.header["fingerprint"]["build"]["isa"])

    @property
    def emulator(self) -> str | None:
        """The emulator's own words of its version; on a board by what one was noticed, null where none was."""
        told: str | None = self.header["fingerprint"]["virtualisation"]["emulator"]
        return told

    @property
    def evidence(self) -> str:
        """What its cycles rest on."""
        return counts.EMULATED if self.board is None else counts.MEASURED

    @property
    def cycles_column(self) -> str | None:
        """The cycles that are a part's own: a board's, or modelled with the flash; null where neither is there."""
        if self.part is None:
            return None
        column = "part_cycles" if self.board is None else "cycles"
        return column if self.estimates[column].count() else None

    @property
    def compiler(self) -> str | None:
        """What compiled the images, and how; null where none was."""
        build = self.header["fingerprint"]["build"]
        if build["rustc"] is None:
            return None
        return f"{build['rustc']}, {build['target']}, opt-level {build['opt_level']}, LTO {build['lto']}"

    @property
    def error_percent(self) -> float | None:
        """The error of the core's rules, as the records have it; null where they were compared with no figure."""
        return next(iter(self.estimates["cycles_error_percent"].drop_nulls()), None)

    @cached_property
    def described(self) -> CoreError | None:
        """What is known of the core today; null where this wattlock doesn't know it."""
        from wattlock.targets.parts import CORES

        try:
            return CORES.load(self.core)[1]
        except InputError:
            return None

    @cached_property
    def not_modelled(self) -> list[str]:
        """What the numbers don't hold, in words."""
        if self.board is not None:
            return list(OF_A_BOARD)
        words = list(self.described.limits) if self.described else []
        words.append("interrupts, and what a debugger or an operating system adds")
        if self.part is None:
            return [*words, "wait states of a flash and its cache: every memory answers at once"]
        from wattlock.targets.parts import PARTS

        part = PARTS.load(self.part[0])[1]
        return [*words, *part.not_published]

    @cached_property
    def ranking(self) -> pl.DataFrame:
        """The ciphers of each group of comparable cases by core cycles, with places that the rules' error joins."""
        return counts.rank(self.estimates)

    @cached_property
    def warnings(self) -> list[str]:
        """What a reader should know before believing a number."""
        found = []
        if not self.is_sealed:
            found.append("the run is not finished: `wattlock run --resume` goes on with it")
        if self.board is not None:
            if self.emulator:
                found.append(f"no cycles: the clock of {self.board} is not its core's: {self.emulator}")
            return found
        if not self.estimates["instructions"].count():
            return [*found, "no case was counted"]
        if not self.estimates["cycles"].count():
            found.append(f"{self.core_title} has no rules for cycles: there are instructions alone")
        elif self.error_percent is None:
            why = "were compared with no published figure: their error is not known"
            found.append(f"the rules of {self.core_title} {why}")
        if self.part is not None and not self.estimates["part_cycles"].count():
            from wattlock.targets.parts import short_title

            found.append(f"no part cycles: the model of {short_title(self.part[0])} gives none")
        return found


def is_counted(folder: RunFolder) -> bool:
    """Whether a run counted on a microcontroller's core, and measured no time."""
    return bool(folder.plan()[0].get("counted"))


def refuse_counted(folder: RunFolder) -> None:
    """Raises EvidenceError where a run counted: what needs times or joules can't take it."""
    if is_counted(folder):
        refuse(str(folder.path), CountedCore(**folder.plan()[0]["counted"]))


def refuse(run: str, counted: CountedCore) -> NoReturn:
    """Raises EvidenceError: a run that counted cycles is set beside nothing whose time was measured."""
    what = f"run {run}: its cycles were counted on {counted.place}, and no time was measured"
    hint = "`wattlock show`, `export`, `report`, `papers --counted` and `compare` with another counted run take it"
    raise EvidenceError(what, hint=hint)


def read(folder: RunFolder) -> Counts:
    """Reads a run that counted, sealed or not.

    Raises StoreError where no process of it came to its end.
    """
    complete = folder.complete()
    headers = folder.headers()
    if not headers:
        raise StoreError(f"run {folder.path}: nothing is counted yet", hint=f"`{folder.resuming}` goes on with it")
    cases = {case["case"]: case for header in headers if header["process"] in complete for case in header["cases"]}
    plan = folder.plan()
    records = [*folder.records("count"), *folder.records("board")]
    found = {record["case"]: record for record in records if record["process"] in complete}
    failures = {failure["case"]: failure["error"] for failure in folder.failures()}
    planned = [{**line, **cases.get(line["case"], {})} for line in plan if line["kind"] == "case"]
    adapters = {cases[number]["provider"]: count["adapter"] for number, count in found.items() if count.get("adapter")}
    built = (header for header in headers if header["fingerprint"]["build"]["rustc"])
    return Counts(
        plan=plan[0],
        header=next(built, headers[0]),
        estimates=counts.estimates(planned, found, failures, _without_cycles(CountedCore(**plan[0]["counted"]))),
        processes=len(complete),
        wall_s=sum(session["wall_s"] for session in folder.records("session")),
        is_sealed=folder.is_sealed,
        adapters=adapters,
        mixes={number: count["by_class"] for number, count in found.items() if count.get("by_class")},
    )


def _without_cycles(counted: CountedCore) -> str:
    """Why a count on a core has no cycles."""
    if counted.board is not None:
        return f"no cycles: the clock of {counted.board} is not its core's"
    from wattlock.targets.parts import CORES

    try:
        has_rules = CORES.load(counted.core)[1].pipeline is not None
    except InputError:
        has_rules = False
    if has_rules:
        return "no cycles: an exception came, and what it costs is not known"
    return f"no cycles: {counted.core} has no rules"


def open_counted(name_or_path: str | Path) -> Counts | None:
    """The result of a run that counted, by its path, its id, or `last`; null where it measured."""
    folder = RunFolder.open(find(name_or_path))
    return read(folder) if is_counted(folder) else None
