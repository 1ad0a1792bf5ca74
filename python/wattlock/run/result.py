"""A run read back: what it says of each case, a ranking and a verdict on itself, however its numbers were had."""

from __future__ import annotations

import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, field, replace
from functools import cache, cached_property
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import polars as pl

import wattlock.analysis
from wattlock.analysis import (
    comparison,
    counts,
    crossover,
    discharges,
    energy_blocks,
    estimate,
    self_checks,
    within,
)
from wattlock.analysis.discharges import FullCharge
from wattlock.analysis.within import beside as paired_beside
from wattlock.analysis.within import ratios, summarise_pairs
from wattlock.errors import EvidenceError, InputError, StoreError
from wattlock.run import validity
from wattlock.store import RunFolder, find
from wattlock.store.disk import cache_folder
from wattlock.store.record_schema import causes as known_causes
from wattlock.store.records import is_timed
from wattlock.store.run_folder import sums_sha256
from wattlock.study.study import CORE_CLASSES
from wattlock.targets.target import CountedCore

if TYPE_CHECKING:
    from wattlock.targets.parts import CoreError
    from wattlock.targets.target import CountedCore

SpreadKind = Literal["processes", "rules", "board"]
"""What makes an interval: fresh processes, the error of a core's rules, or the repetitions on a board."""


class QuantityColumns(NamedTuple):
    """A quantity of a run: the columns of `Result.estimates` that hold it, and what its interval is of.

    Without `low`, `high` and `spread` it is exact.
    """

    value: str
    low: str | None = None
    high: str | None = None
    evidence: str | None = None
    spread: SpreadKind | None = None


TIMED: Mapping[str, QuantityColumns] = {
    "time": QuantityColumns("time_ns", "time_low_ns", "time_high_ns", "time_evidence", "processes"),
    "cycles": QuantityColumns("cycles", "cycles_low", "cycles_high", "time_evidence", "processes"),
}
"""What fresh processes measure."""

COUNTED: Mapping[str, QuantityColumns] = {
    "cycles": QuantityColumns("cycles", "cycles_low", "cycles_high", "evidence", "rules"),
    "instructions": QuantityColumns("instructions"),
    "flash": QuantityColumns("flash_B"),
    "RAM": QuantityColumns("ram_B"),
    "stack": QuantityColumns("stack_B"),
}
"""What is counted on an emulated core; on a board the cycles are by its counter."""

THROTTLED_SHARE = 0.02
"""A case of which more batches than this share were throttled is told of."""


@dataclass(frozen=True)
class Result:
    """What a run says. What it lacks is null or empty, or has no column.

    * `plan`: the run's first line, with its study; `header`: that of its first complete process, of a run that counted
      of one whose images tell the compiler; `estimates`: a row a study case, in the columns of `quantities`.
    * `cases`: as measured; `summaries`: a row a case and process; `across`: a row a case.
    * `clocks`: the canary by kind of core, in the order of the cases; one of null where all cores are alike.
    * `causes`: disturbed batches by their cause; `wall_s`: of all sessions together.
    * `meter`: what the energies were measured with, and `energies`: a row a case, as of `energy_blocks`; null without.
    * `battery`: the gauge of the battery that was discharged, and `levels`: its log as recorded; null without.
    * `pairs`: what each process says of each pair of two builds, as of `paired.summarise`; null where none were.
    * `conditions`: what the machine was like.
    * `adapters`: code of others that was counted by its provider, as the records have it; `mixes`: instructions by
      class, by case.
    """

    plan: Mapping[str, Any]
    header: Mapping[str, Any]
    estimates: pl.DataFrame
    processes: int
    wall_s: float
    is_sealed: bool
    quantities: Mapping[str, QuantityColumns]
    inputs: Sequence[Mapping[str, Any]] = ()
    cases: Sequence[Mapping[str, Any]] = ()
    summaries: pl.DataFrame = field(default_factory=pl.DataFrame)
    across: pl.DataFrame = field(default_factory=pl.DataFrame)
    verdicts: Sequence[self_checks.Verdict] = ()
    clocks: Mapping[str | None, estimate.CanaryClock] = field(default_factory=dict)
    batches: int = 0
    causes: Mapping[str, int] = field(default_factory=dict)
    meter: Mapping[str, Any] | None = None
    energies: pl.DataFrame | None = None
    battery: Mapping[str, Any] | None = None
    levels: Sequence[Mapping[str, Any]] = ()
    pairs: pl.DataFrame | None = None
    conditions: validity.Conditions = field(default_factory=validity.Conditions)
    adapters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    mixes: counts.Mixes = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The run's id."""
        return str(self.plan["id"])

    @property
    def study(self) -> Mapping[str, Any]:
        """The study as it was planned."""
        study: Mapping[str, Any] = self.plan["study"]
        return study

    @property
    def spread(self) -> SpreadKind | None:
        """What the interval of its cycles is of."""
        return self.quantities["cycles"].spread

    @property
    def isa(self) -> str:
        """The instruction set that the cycles are of."""
        return str(self.header["fingerprint"]["build"]["isa"])

    @property
    def emulator(self) -> str | None:
        """By what an emulator of the processor was noticed; null where none was."""
        return _emulator(self.header)

    @property
    def evidence(self) -> str:
        """What its times and cycles rest on: emulated too where one process ran in an emulator."""
        kinds = self.estimates[self.evidence_column].drop_nulls()
        return next(iter(kinds), counts.EMULATED if self.spread == "rules" else counts.MEASURED)

    @property
    def evidence_column(self) -> str:
        """The column of `estimates` that says so of each case."""
        return self.quantities["cycles"].evidence or "evidence"

    def timed(self) -> Result:
        """The run, where times were measured.

        Raises EvidenceError where its cycles were counted: it is set beside nothing whose time was measured.
        """
        if "time" in self.quantities:
            return self
        what = f"run {self.id}: its cycles were counted on {self.core.counted.place}, and no time was measured"
        hint = "`wattlock show`, `export`, `report`, `papers --counted` and `compare` with another counted run take it"
        raise EvidenceError(what, hint=hint)

    @cached_property
    def core(self) -> CoreOfRun:
        """Where its cycles were counted."""
        return CoreOfRun(CountedCore(**self.plan["counted"]))

    @property
    def cycles_column(self) -> str | None:
        """The cycles that are a part's own: a board's, or modelled with the flash; null where neither is there."""
        if self.core.part is None:
            return None
        column = "part_cycles" if self.spread == "rules" else "cycles"
        return column if self.estimates[column].count() else None

    @property
    def compiler(self) -> str | None:
        """What compiled the images that were counted, and how; null where none was."""
        build = self.header["fingerprint"]["build"]
        if build["rustc"] is None:
            return None
        return f"{build['rustc']}, {build['target']}, opt-level {build['opt_level']}, LTO {build['lto']}"

    @property
    def error_percent(self) -> float | None:
        """The error of the core's rules, as the records have it; null where they were compared with no figure."""
        return next(iter(self.estimates["cycles_error_percent"].drop_nulls()), None)

    @property
    def clock(self) -> estimate.CanaryClock:
        """The canary of the kind of core that the study names first."""
        return next(iter(self.clocks.values()))

    @property
    def core_classes(self) -> list[str]:
        """The kinds of core that were measured on, the first of the study first; empty where all are alike."""
        return [name for name in self.clocks if name is not None]

    @property
    def clean_share(self) -> float:
        """The share of batches that count."""
        return 1 - sum(self.causes.values()) / max(1, self.batches)

    @cached_property
    def reasons(self) -> list[str]:
        """Why the run is invalid: a line a self-check that failed; empty where it is to be believed."""
        return self_checks.reasons_against(self.verdicts)

    @cached_property
    def paired_ratios(self) -> Mapping[tuple[int, int], tuple[float, float]] | None:
        """Log ratio and half-width by two cases that were measured in pairs; null where none were."""
        return None if self.pairs is None else ratios(self.pairs, self.plan["study"]["looks"])

    @cached_property
    def explained(self) -> list[str]:
        """The same in words, with what disturbed the machine and what helps; empty where it is to be believed."""
        return validity.explained(self.verdicts, self.conditions)

    @property
    def notices(self) -> list[str]:
        """All that is said before a number: why the run is invalid, then the warnings."""
        return [*self.explained, *(line for line in self.warnings if line not in self.explained)]

    @cached_property
    def ranking(self) -> pl.DataFrame:
        """The ciphers of each group of comparable cases, with tie groups; each kind of core by its own self-checks.

        Counted cycles share a place within the error of the core's rules. Nothing is ranked of an invalid run.
        """
        if "time" not in self.quantities:
            return counts.rank(self.estimates)
        if self.reasons:
            return comparison.rank(self.estimates.clear(), self.across, 0.0)
        smallest = self.plan["study"]["smallest_effect_percent"] / 100
        ranked = []
        for kind in self.clocks:
            excess = self_checks.aa_excess([verdict for verdict in self.verdicts if verdict.core_class == kind])
            cases = self.estimates.filter(pl.col("core_class").eq_missing(kind))
            ranked.append(comparison.rank(cases, self.across, excess, smallest))
        return pl.concat(ranked, how="vertical_relaxed")

    def on(self, kind: str) -> Result:
        """What of the run was measured on one kind of core.

        Raises InputError where nothing was.
        """
        if kind not in self.core_classes:
            has = f"it ran on {' and '.join(self.core_classes) or 'one kind of core only'}"
            raise InputError(f"run {self.plan['id']}: was not measured on {kind} cores", hint=has)
        cases = [case for case in self.cases if case.get("core_class") == kind]
        numbers = [case["case"] for case in cases]
        return replace(
            self,
            cases=cases,
            across=self.across.filter(pl.col("case").is_in(numbers)),
            estimates=self.estimates.filter(pl.col("case").is_in(numbers)),
            verdicts=[verdict for verdict in self.verdicts if verdict.core_class == kind],
            clocks={kind: self.clocks[kind]},
            energies=None if self.energies is None else self.energies.filter(pl.col("case").is_in(numbers)),
        )

    @cached_property
    def core_class_ratios(self) -> pl.DataFrame | None:
        """Every other kind of core against the first, as of `compare_core_classes`; null where there is one kind."""
        if len(self.core_classes) < 2:
            return None
        estimates = self.estimates
        if self.energies is not None:
            named = ("case", "energy_uJ", "energy_low_uJ", "energy_high_uJ", "energy_random_percent")
            estimates = estimates.join(self.energies.select(named), on="case", how="left", maintain_order="left")
        matters = self.plan["study"]["smallest_effect_percent"] / 100
        smallest, excess = max(comparison.SMALLEST_CLAIM, matters), self_checks.aa_excess(self.verdicts)
        return comparison.compare_core_classes(estimates, self.across, smallest, excess)

    @cached_property
    def discharges(self) -> pl.DataFrame | None:
        """What a call takes out of the battery, with its case; null where none was discharged."""
        return self.discharged_by(None)

    def discharged_by(self, full: FullCharge | None) -> pl.DataFrame | None:
        """The same with the joules of a gauge that tells percents alone; `full`: what that battery holds."""
        if self.battery is None:
            return None
        named = ("case", "cipher", "provider", "operation", "payload_B", "data")
        cases = pl.DataFrame([{name: case[name] for name in named} for case in self.cases])
        return cases.join(discharges.discharges(self.levels, self.battery, full), on="case", how="inner").drop("case")

    @cached_property
    def after_pause(self) -> pl.DataFrame:
        """Each first call after a pause beside calls one after another, as of `compare_after_pause`."""
        matters = self.plan["study"]["smallest_effect_percent"] / 100
        return comparison.compare_after_pause(self.estimates, self.across, max(comparison.SMALLEST_CLAIM, matters))

    @cached_property
    def crossings(self) -> list[str]:
        """From which size on a browser's own AES is faster, a line each; empty where the run is invalid or of none."""
        return [] if self.reasons else crossover.crossings(self.estimates, self.plan["study"]["looks"])

    @property
    def _states_of_wide_code(self) -> str | None:
        """How many cases met a core that slowed wide vectors down, in a run without a witness; null where none did."""
        met = self.across.join(self.estimates.select("case"), on="case").filter(
            pl.col("throttled_share") > THROTTLED_SHARE
        )
        if met.is_empty():
            return None
        share, slower = (float(met[name].median() or 0) for name in ("throttled_share", "slower"))  # type: ignore[arg-type]
        return (
            f"{met.height} cases of wide vector code met two states of the core: {100 * share:.0f} % of their batches "
            f"took {math.exp(slower):.1f} times as long, before it granted the width; the state that it grants is given"
        )

    @cached_property
    def warnings(self) -> list[str]:
        """What a reader should know before believing a number."""
        found = []
        if not self.is_sealed:
            found.append("the run is not finished: `wattlock run --resume` goes on with it")
        return [*found, *(self._doubts_of_times() if "time" in self.quantities else self._doubts_of_counts())]

    def _doubts_of_counts(self) -> Iterator[str]:
        core, has = self.core, {name for name in self.estimates.columns if self.estimates[name].count()}
        if core.board is not None:
            if self.emulator:
                yield f"no cycles: the clock of {core.board} is not its core's: {self.emulator}"
        elif "instructions" not in has:
            yield "no case was counted"
        else:
            if "cycles" not in has:
                yield f"{core.core_title} has no rules for cycles: there are instructions alone"
            elif self.error_percent is None:
                why = "were compared with no published figure: their error is not known"
                yield f"the rules of {core.core_title} {why}"
            if core.part is not None and "part_cycles" not in has:
                yield f"no part cycles: the model of {core.part_title} gives none"

    def _doubts_of_times(self) -> list[str]:
        found = self_checks.not_resolved(self.verdicts)
        if (states := self._states_of_wide_code) is not None:
            found.append(states)
        if len(self.verdicts) < sum(case.get("role") in self_checks.TRUTHS for case in self.cases):
            found.append("too few complete processes for the self-checks to say anything")
        found += validity.cautions(self.verdicts, self.conditions)
        if self.emulator is not None:
            found.append(f"the processor was emulated ({self.emulator}): these are no costs of a device")
        if (placed := _placed(self.header)) is not None:
            found.append(placed)
        for kind, clock in self.clocks.items():
            if clock.cycles is None:
                which = "this core" if kind is None else f"the {kind} cores"
                found.append(f"the multiplier's latency of {which} is not known: no cycles, only times and ratios")
        if self.energies is not None:
            lost = self.energies.filter(~pl.col("energy_state").is_in(["resolved", "unresolved"])).height
            if lost:
                found.append(f"{lost} of {self.energies.height} cases have no energy: `wattlock show` says why")
        return found


def read(folder: RunFolder) -> Result:
    """Reads a run, sealed or not.

    Raises StoreError where no process of it is complete.
    """
    return _counted(folder) if folder.plan()[0].get("counted") else _timed(folder)


def _counted(folder: RunFolder) -> Result:
    complete = folder.complete()
    headers = folder.headers()
    if not headers:
        raise StoreError(f"run {folder.path}: nothing is counted yet", hint=f"`{folder.resuming}` goes on with it")
    plan, core = folder.plan(), CoreOfRun(CountedCore(**folder.plan()[0]["counted"]))
    records = [*folder.records("count"), *folder.records("board")]
    found = {record["case"]: record for record in records if record["process"] in complete}
    failures = {failure["case"]: failure["error"] for failure in folder.failures()}
    whole = [header for header in headers if header["process"] in complete]
    cases = _measured_cases(plan, whole, ())
    provider = {case["case"]: case["provider"] for case in cases}
    spread: SpreadKind = "rules" if core.board is None else "board"
    built = (header for header in headers if header["fingerprint"]["build"]["rustc"])
    return Result(
        plan=plan[0],
        header=next(built, headers[0]),
        estimates=counts.estimates(cases, found, failures, core.without_cycles),
        processes=len(complete),
        wall_s=sum(session["wall_s"] for session in folder.records("session")),
        is_sealed=folder.is_sealed,
        quantities={**COUNTED, "cycles": COUNTED["cycles"]._replace(spread=spread)},
        cases=cases,
        adapters={provider[number]: count["adapter"] for number, count in found.items() if count.get("adapter")},
        mixes={number: count["by_class"] for number, count in found.items() if count.get("by_class")},
    )


def _timed(folder: RunFolder) -> Result:
    complete = folder.complete()
    begun = folder.headers()
    whole = [header for header in begun if header["process"] in complete]
    headers = [header for header in whole if is_timed(header)]
    metered = [header for header in whole if header.get("meter")]
    if not headers:
        raise StoreError(f"run {folder.path}: no process is complete", hint="`wattlock run --resume` goes on with it")
    energies = _energies(folder, metered) if metered else None
    discharged = [header["battery"] for header in begun if header.get("battery")]
    plan = folder.plan()
    study = plan[0]["study"]
    seen = summarise_batches(folder, headers)
    across = estimate.across_processes(seen.summaries, study["looks"], study["target_percent"])
    failures = {failure["case"]: failure["error"] for failure in folder.failures()}
    planned = _measured_cases(plan, headers, seen.clocks)
    order = dict.fromkeys([*(case.get("core_class") for case in planned), *seen.clocks])
    clocks = {kind: seen.clocks[kind] for kind in order if kind in seen.clocks}
    return Result(
        plan=plan[0],
        header=headers[0],
        quantities=TIMED,
        inputs=[line for line in plan if line["kind"] == "input"],
        cases=planned,
        summaries=seen.summaries,
        across=across,
        estimates=estimate.estimates(planned, across, clocks, failures, _evidence(headers)),
        verdicts=self_checks.judge(planned, seen.summaries, study["looks"]),
        clocks=clocks,
        processes=len(headers),
        batches=seen.number,
        causes=seen.causes,
        wall_s=sum(session["wall_s"] for session in folder.records("session")),
        is_sealed=folder.is_sealed,
        meter={**metered[0]["meter"], "baseline": plan[0]["meter"]["baseline"]} if metered else None,
        energies=energies,
        battery=discharged[0] if discharged else None,
        levels=folder.records("battery_level"),
        pairs=seen.pairs,
        conditions=validity.conditions(headers, seen.causes, seen.number),
    )


def _measured_cases(
    plan: Sequence[Mapping[str, Any]], headers: Sequence[Mapping[str, Any]], kinds: Iterable[str | None]
) -> list[dict[str, Any]]:
    """The planned cases, as they were measured where they were; `kinds`: of core."""
    cases = {case["case"]: case for header in headers for case in header["cases"]}
    planned = [{**line, **cases.get(line["case"], {})} for line in plan if line["kind"] == "case"]
    known = list(kinds)
    # A case that failed was not resolved: it would have run where all others did.
    return planned if len(known) != 1 else [{**case, "core_class": known[0]} for case in planned]


def _evidence(headers: Sequence[Mapping[str, Any]]) -> str:
    """What the times are: no cost of anybody's where one process ran in an emulator."""
    return "emulated" if any(_emulator(header) for header in headers) else "measured"


def _placed(header: Mapping[str, Any]) -> str | None:
    """What is to be known of where a process ran; null where it was pinned to a processor."""
    browser = header["fingerprint"].get("browser")
    if browser is not None:
        clock = "" if browser["is_isolated"] else ", and the page was not isolated: its clock is coarse"
        return f"a page in a browser measured this: disturbances are not visible there{clock}"
    return None if header["pinned_cpu"] is not None else "the probe was not pinned to a processor"


def _emulator(header: Mapping[str, Any]) -> str | None:
    """By what an emulator was noticed; null where none was."""
    noticed: str | None = header["fingerprint"]["virtualisation"].get("emulator")
    return noticed


def _energies(folder: RunFolder, headers: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    if not folder.plan()[0].get("meter"):
        what = f"run {folder.path}: meter of its plan is null, and its records have one"
        raise StoreError(what, hint="the file was changed; take it from a copy")
    meter = headers[0]["meter"]
    processes = {header["process"] for header in headers}
    records = [record for record in folder.records("energy_block") if record["process"] in processes]
    errors = {record["case"]: record["error"] for record in records if record["error"] and record["case"] is not None}
    cases = (case["case"] for header in headers for case in header["cases"])
    errors = {**dict.fromkeys(cases, _NOT_JOINED if is_recorded(meter) else _NO_BLOCK), **errors}
    rows = energy_blocks.by_process(energy_blocks.blocks(records), meter["quantum_nJ"])
    return energy_blocks.by_case(rows, meter["gain_relative_uncertainty"], errors, TARGET_PERCENT)


def is_recorded(meter: Mapping[str, Any]) -> bool:
    """Whether the joules are in the recording of an instrument beside the device, which is not joined yet."""
    return bool(meter["kind"] == "recording")


_NO_BLOCK = "no block was free of other programs"
_NOT_JOINED = "the joules are in a recording: `wattlock energy --recording FILE --run RUN` joins it"

TARGET_PERCENT = 2.0
"""A random half-width above this is an unresolved energy."""


def open_run(name_or_path: str | Path) -> Result:
    """The result of a run by its path, its id, or `last`; `last:little` is what of it ran on little cores.

    Raises StoreError where there is no such run, or it is damaged, InputError where it ran on no such cores.
    """
    name, colon, kind = str(name_or_path).rpartition(":")
    if not colon or not name or kind not in CORE_CLASSES:
        return read(RunFolder.open(find(name_or_path)))
    return read(RunFolder.open(find(name))).on(kind)


def open_one_kind(name_or_path: str | Path) -> Result:
    """The result of a run, as `open_run` has it, all of whose cases were timed on one kind of core.

    Raises InputError where it has several and none is named: what a cipher costs is another number on each;
    EvidenceError where it counted.
    """
    result = open_run(name_or_path).timed()
    if len(kinds := result.core_classes) > 1:
        what = f"run {name_or_path} was measured on {' and '.join(kinds)} cores"
        raise InputError(what, hint=f"name one kind: {name_or_path}:{kinds[0]}")
    return result


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


BATCHES_AT_ONCE = 2**16
"""So many batches are summarised at a time, about 15 MB, or those of one process where that has more."""
BURSTS_SEEN = 2**17
"""So many batches of a run tell its quiet level: more than that are taken evenly."""
MOST_KEPT = 64
"""Runs in the cache; those that were read longest ago leave it."""

SUMMARISING_CODE = (
    Path(__file__),
    *sorted(Path(wattlock.analysis.__file__).parent.glob("*.py")),
    Path(wattlock.__file__).parent / "data" / "records.schema.json",
)
"""What decides what batches say: the code, and the constants that it has from the instrument."""


class BatchSummary(NamedTuple):
    """What the batches of complete processes say.

    * `summaries`: a row a process and case, as of `within.summarise_several`; `pairs`: as of `paired.summarise`, null
      where the run has none.
    * `clocks`: the canary by kind of core, in the order of the processes; one of null where all cores are alike.
    * `causes`: disturbed batches by their cause; `number`: of all.
    """

    summaries: pl.DataFrame
    pairs: pl.DataFrame | None
    clocks: Mapping[str | None, estimate.CanaryClock]
    causes: Mapping[str, int]
    number: int


def summarise_batches(folder: RunFolder, headers: Sequence[Mapping[str, Any]]) -> BatchSummary:
    """What the batches of a run say. `headers`: of its complete processes that were timed, at least one."""
    place = _cache_place(folder)
    if place is not None and (kept := _recalled(place)) is not None:
        return kept
    found = _freshly_summarised(folder, headers)
    if place is not None:
        _remember(found, place)
    return found


def core_class(header: Mapping[str, Any]) -> str | None:
    """The kind of core that a process ran on: one for all of its cases, null where all cores are alike."""
    return next((case.get("core_class") for case in header["cases"]), None)


def _freshly_summarised(folder: RunFolder, headers: Sequence[Mapping[str, Any]]) -> BatchSummary:
    quiet = _quiet_levels(folder, headers)
    planned = folder.plan()[0].get("paired")
    pairs_of = dict(planned["pairs"]) if planned else {}
    summaries: list[pl.DataFrame] = []
    pairs: list[pl.DataFrame] = []
    causes, number = dict.fromkeys(known_causes(), 0), 0
    times: dict[str | None, list[pl.Series]] = {}
    for kind, some, frames in _processes_together(folder, headers):
        summaries.append(within.summarise_several(frames, some, quiet.get(kind)))
        pairs += _paired(pairs_of, some, frames, summaries[-1], quiet.get(kind))
        for header, frame in zip(some, frames, strict=True):
            times.setdefault(kind, []).append(within.canary_times(frame, header))
            number += len(frame)
            for cause, of_cause in within.causes(frame, quiet.get(kind), within.step_of(header)).items():
                causes[cause] += of_cause
    rows = pl.concat(summaries)
    cycles = {core_class(header): header["canary_cycles"] for header in reversed(headers)}
    clocks = {kind: estimate.canary_clock(pl.concat(series), cycles[kind]) for kind, series in times.items()}
    # Of processes that measured both builds, or of processes that took turns.
    pair_ratios = None
    if planned:
        pair_ratios = paired_beside(rows, pairs_of) if planned["apart"] else pl.concat(pairs)
    return BatchSummary(rows, pair_ratios, clocks, causes, number)


def _paired(
    pairs: Mapping[int, int],
    headers: Sequence[Mapping[str, Any]],
    frames: Sequence[pl.DataFrame],
    summaries: pl.DataFrame,
    quiet_ppm: int | None,
) -> Iterator[pl.DataFrame]:
    """What each process says of each pair that it measured both cases of."""
    by_process = summaries.partition_by("process", as_dict=True) if pairs else {}
    for header, frame in zip(headers, frames, strict=True):
        if (summary := by_process.get((header["process"],))) is not None:
            yield summarise_pairs(frame, header, summary, pairs, quiet_ppm)


def _processes_together(
    folder: RunFolder, headers: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str | None, list[Mapping[str, Any]], list[pl.DataFrame]]]:
    """Processes in their order, some of one kind of core at a time, with the kind and the batches of each."""
    for kind, of_kind in groupby(headers, core_class):
        some: list[Mapping[str, Any]] = []
        frames: list[pl.DataFrame] = []
        for header in of_kind:
            some.append(header)
            frames.append(folder.batches_of(header["process"]))
            if sum(map(len, frames)) >= BATCHES_AT_ONCE:
                yield kind, some, frames
                some, frames = [], []
        if some:
            yield kind, some, frames


def _quiet_levels(folder: RunFolder, headers: Sequence[Mapping[str, Any]]) -> dict[str | None, int | None]:
    """The quiet level by kind of core: judged over the batches of all its processes, before any of them counts."""
    kinds: dict[str | None, list[Mapping[str, Any]]] = {}
    for header in headers:
        if header["quiet_ppm"] is not None:
            kinds.setdefault(core_class(header), []).append(header)
    bursts = folder.scan().select("process", *within.READ_OF_BURSTS)
    levels: dict[str | None, int | None] = {}
    for kind, alike in kinds.items():
        batches = bursts.filter(pl.col("process").is_in([header["process"] for header in alike])).collect()
        seen = within.burst_levels(batches.gather_every(max(1, len(batches) // BURSTS_SEEN)))
        levels[kind] = within.quiet_level(seen, [header["quiet_ppm"] for header in alike])
    return levels


@cache
def _code_hash() -> str:
    """The hash of the code that summarises, and of Polars' version: others might say another thing."""
    parts = [path.read_bytes() for path in SUMMARISING_CODE]
    return sha256(b"\0".join([*parts, pl.__version__.encode()])).hexdigest()


def _cache_place(folder: RunFolder) -> Path | None:
    """Where a sealed run's are kept; null where nothing can be."""
    if not folder.is_sealed:
        return None
    with suppress(OSError, RuntimeError):
        return cache_folder() / "batches" / f"{sums_sha256(folder)}-{_code_hash()[:16]}"
    return None


def _recalled(place: Path) -> BatchSummary | None:
    """What was kept there by this user; null where nothing is, or it can't be read."""
    with suppress(OSError, ValueError, TypeError, KeyError, pl.exceptions.PolarsError):
        if place.stat().st_uid != os.getuid():
            return None
        rest = json.loads((place / "rest.json").read_bytes())
        pairs = place / "pairs.parquet"
        found = BatchSummary(
            pl.read_parquet(place / "summaries.parquet"),
            pl.read_parquet(pairs) if pairs.exists() else None,
            {kind: estimate.CanaryClock(*clock) for kind, clock in rest["clocks"]},
            rest["causes"],
            rest["number"],
        )
        os.utime(place)
        return found
    return None


def _remember(found: BatchSummary, place: Path) -> None:
    """Keeps it for the next time, whole or not at all; where there is no room it is made again then."""
    rest = {
        "clocks": [(kind, astuple(clock)) for kind, clock in found.clocks.items()],
        "causes": found.causes,
        "number": found.number,
    }
    with suppress(OSError, pl.exceptions.PolarsError):
        place.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=".part-", dir=place.parent))
        try:
            found.summaries.write_parquet(part / "summaries.parquet")
            if found.pairs is not None:
                found.pairs.write_parquet(part / "pairs.parquet")
            (part / "rest.json").write_text(json.dumps(rest))
            shutil.rmtree(place, ignore_errors=True)  # what could not be read
            part.rename(place)
        finally:
            shutil.rmtree(part, ignore_errors=True)
        known = sorted(place.parent.glob("*"), key=lambda path: path.stat().st_mtime)
        for old in known[:-MOST_KEPT]:
            shutil.rmtree(old, ignore_errors=True)


OF_A_MACHINE = ("vendor", "model_name", "family", "model", "stepping", "processors")
"""What of the hardware's fingerprint makes a machine another one; its microcode, say, does not."""


def machine(header: Mapping[str, Any]) -> dict[str, Any]:
    """What runs of one machine have in common, by the header of one: hardware, instruction set, virtual machine."""
    fingerprint: Mapping[str, Any] = header["fingerprint"]
    hardware, virtual = fingerprint["hardware"], fingerprint["virtualisation"]
    return {
        "hardware": {name: hardware.get(name) for name in OF_A_MACHINE},
        "isa": fingerprint["build"]["isa"],
        "virtual": [virtual.get("hypervisor"), virtual.get("product"), virtual.get("emulator")],
    }
