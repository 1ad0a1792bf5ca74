"""A run that counted, read back: a row a case with cycles, instructions and memory. It holds no time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import polars as pl

from wattlock.analysis import counts
from wattlock.errors import EvidenceError, InputError, StoreError
from wattlock.store import RunFolder, find
from wattlock.targets.cores import CORES, Core
from wattlock.targets.parts import PARTS, short_title


@dataclass(frozen=True)
class Counts:
    """What a run says that counted.

    * `plan`: the run's first line; `header`: that of the process whose images tell the compiler; `estimates`: a row a
      case, as of `analysis.counts`; `adapters`: code of others by its provider, as the records have it.
    """

    plan: Mapping[str, Any]
    header: Mapping[str, Any]
    estimates: pl.DataFrame
    processes: int
    wall_s: float
    is_sealed: bool
    adapters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The run's id."""
        return str(self.plan["id"])

    @property
    def core(self) -> str:
        """The core, as `qemu:` takes it."""
        return str(self.plan["counted"]["core"])

    @property
    def part(self) -> tuple[str, int] | None:
        """The part whose flash was modelled, and its clock in Hz; null without one."""
        counted = self.plan["counted"]
        return None if counted["part"] is None else (counted["part"], counted["part_clock_Hz"])

    @property
    def target(self) -> str:
        """The core and part in words."""
        if self.part is None:
            return self.core
        part, clock_Hz = self.part
        return f"{self.core} in {part} at {clock_Hz / 1e6:g} MHz"

    @property
    def title(self) -> str:
        """The same as their makers write it, for pages: Cortex-M4 in STM32F407 at 168 MHz."""
        core = self.described.name.removeprefix("Arm ") if self.described else self.core
        if self.part is None:
            return core
        part, clock_Hz = self.part
        return f"{core} in {short_title(part)} at {clock_Hz / 1e6:g} MHz"

    @property
    def isa(self) -> str:
        """The instruction set that the images were compiled for."""
        return str(self.header["fingerprint"]["build"]["isa"])

    @property
    def emulator(self) -> str:
        """The emulator's own words of its version."""
        return str(self.header["fingerprint"]["virtualisation"]["emulator"])

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
    def described(self) -> Core | None:
        """What is known of the core today; null where this wattlock doesn't know it."""
        try:
            return CORES.load(self.core)[1]
        except InputError:
            return None

    @cached_property
    def not_modelled(self) -> list[str]:
        """What the numbers don't hold, in words."""
        words = list(self.described.limits) if self.described else []
        words.append("interrupts, and what a debugger or an operating system adds")
        if self.part is None:
            return [*words, "wait states of a flash and its cache: every memory answers at once"]
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
        if not self.estimates["cycles"].count():
            found.append(f"{self.title} has no rules for cycles: there are instructions alone")
        elif self.error_percent is None:
            found.append(f"the rules of {self.title} were compared with no published figure: their error is not known")
        if self.part is not None and not self.estimates["part_cycles"].count():
            found.append(f"no part cycles: the model of {short_title(self.part[0])} gives none")
        return found


def is_counted(folder: RunFolder) -> bool:
    """Whether a run counted on an emulated core, and measured no time."""
    return bool(folder.plan()[0].get("counted"))


def refuse_counted(folder: RunFolder) -> None:
    """Raises EvidenceError where a run counted: what needs times or joules can't take it."""
    if is_counted(folder):
        refuse(str(folder.path), folder.plan()[0]["counted"]["core"])


def refuse(run: str, core: str) -> NoReturn:
    """Raises EvidenceError: a run that counted on `core` is set beside nothing that was measured."""
    what = f"run {run}: its cycles were counted on an emulated {core}, and no time was measured"
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
    found = {record["case"]: record for record in folder.records("count") if record["process"] in complete}
    failures = {failure["case"]: failure["error"] for failure in folder.failures()}
    core = plan[0]["counted"]["core"]
    planned = [{**line, **cases.get(line["case"], {})} for line in plan if line["kind"] == "case"]
    adapters = {cases[number]["provider"]: count["adapter"] for number, count in found.items() if count.get("adapter")}
    built = (header for header in headers if header["fingerprint"]["build"]["rustc"])
    return Counts(
        plan=plan[0],
        header=next(built, headers[0]),
        estimates=counts.estimates(planned, found, failures, _without_cycles(core)),
        processes=len(complete),
        wall_s=sum(session["wall_s"] for session in folder.records("session")),
        is_sealed=folder.is_sealed,
        adapters=adapters,
    )


def _without_cycles(core: str) -> str:
    """Why a count on a core has no cycles."""
    try:
        has_rules = CORES.load(core)[1].pipeline is not None
    except InputError:
        has_rules = False
    if has_rules:
        return "no cycles: an exception came, and what it costs is not known"
    return f"no cycles: {core} has no rules"


def open_counted(name_or_path: str | Path) -> Counts | None:
    """The result of a run that counted, by its path, its id, or `last`; null where it measured."""
    folder = RunFolder.open(find(name_or_path))
    return read(folder) if is_counted(folder) else None
