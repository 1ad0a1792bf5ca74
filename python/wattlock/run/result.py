"""A run read back: what it says of each case, a ranking and a verdict on itself, however its numbers were had."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import polars as pl

from wattlock.analysis import comparison, counts, crossover, discharges, energy_blocks, estimate, self_checks
from wattlock.analysis.discharges import FullCharge
from wattlock.analysis.within import ratios
from wattlock.errors import EvidenceError, InputError, StoreError
from wattlock.run import batches, validity
from wattlock.run.counted_core import CoreOfRun
from wattlock.store import RunFolder, find
from wattlock.store.records import is_timed
from wattlock.study.study import CORE_CLASSES
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
    seen = batches.summarise(folder, headers)
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
    records = [one for one in folder.records("energy_block") if one["process"] in processes]
    errors = {one["case"]: one["error"] for one in records if one["error"] and one["case"] is not None}
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
