"""Begins a run, or goes on with one: all that can be refused is refused before anything is measured."""

from __future__ import annotations

import secrets
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from wattlock.analysis.comparison import SMALLEST_CLAIM
from wattlock.analysis.within import LOOKS
from wattlock.definitions import Problem, refusal, validated
from wattlock.errors import InputError, ProbeError, StoreError, StudyError
from wattlock.run import counting, process
from wattlock.run.counting import Counting
from wattlock.run.discharge import LOG_EVERY_S, Discharge, DischargePlan, look
from wattlock.run.libraries import hash_of, refuse_unfit, with_adapters
from wattlock.run.metering import EnergyBlocks, MeterChoice, describe
from wattlock.run.process import Bench, Order, inquire, self_checks
from wattlock.run.timing import HALVES, KeepTrying, PairedPlan, PairedTiming, Progress, Timing, extended, recalled
from wattlock.store import RunFolder, find, plan_lines, run_id
from wattlock.store.record_schema import record_of
from wattlock.store.run_plan import ROOT, remember
from wattlock.study import Case, InputFile, Study, absences, expand, load, missing, read_inputs
from wattlock.study import only as choose
from wattlock.study.cases import CatalogueRow, Rows, core_classes_of
from wattlock.study.study import MOST_PROCESSES, SAMPLES, grow, with_looks
from wattlock.targets import Target, or_this_machine, probe
from wattlock.targets.target import Facts, refuse_emulated, scratch

OWN_TIMES = "and durations are right, but a battery's log has the device's times"
"""What a clock that is wrong does to a run: none of its numbers is a difference of two clocks."""


class Decision(NamedTuple):
    """What a run of two builds is to decide: by which margin (a share; null for the study's), in what time."""

    margin: float | None
    budget_s: float


class KeptCard(NamedTuple):
    """The device card that values a run, as its plan keeps it."""

    name: str
    numbers: Mapping[str, Any]


@dataclass(frozen=True)
class Request:
    """What a new run is to be.

    * `study`: a name or a file; `only`: some of its cases, as `--only` has them; `libraries`: the user's own, by name;
      `source`: a file or folder in place of the sample files; `core_classes`: kinds of core that each case is measured
      on, in place of those that the study names; `decision`: the two libraries are measured in pairs, until it is made;
      `keep_trying`: minutes in which it goes on beyond its last look where a self-check fails or a case is unresolved.
    """

    study: str
    only: Sequence[str] = ()
    libraries: Mapping[str, Path] = field(default_factory=dict)
    source: Path | None = None
    meter: MeterChoice | None = None
    discharge: DischargePlan | None = None
    card: KeptCard | None = None
    core_classes: Sequence[str] = ()
    decision: Decision | None = None
    keep_trying: float | None = None


@dataclass(frozen=True)
class Session:
    """What a run is measured with.

    * `metered`: the meter's choice and what the meter says of itself. `discharge`: how a battery is discharged.
    """

    study: Study
    target: Target
    libraries: Mapping[str, Path]
    metered: tuple[MeterChoice, Mapping[str, Any]] | None = None
    discharge: DischargePlan | None = None

    def measure(self, folder: RunFolder, inputs: Sequence[InputFile], report: Listener) -> int:
        """Measures what the folder doesn't hold yet, and seals the run; gives how many processes it has.

        Raises EvidenceError where a meter or a battery fails for good, ProbeError where the probe does; what was
        measured is kept.
        """
        cases = folder.cases()
        if self.target.facts().counted is not None:
            return self._count(folder, cases, report)
        study_cases = [case for case in cases if case.role == "study"]
        watch = [case for case in cases if case.role != "study"]
        with folder, files_of(self.study, study_cases, inputs) as files:
            bench = Bench(folder, self.target, files, self.libraries)
            seed = folder.plan()[0]["seed"]
            # A move from one to another of a kind changes nothing else.
            processors = {
                core_class: list(processors_of(self.target, core_class)) for core_class in core_classes_of(study_cases)
            }
            shared = (bench, self.study, study_cases, watch, seed, report.measured, processors)
            decides = PairedPlan.kept_in(folder.plan()[0])
            timing = Timing(*shared) if decides is None else PairedTiming(*shared, decides=decides)
            timing.notice, timing.keep_trying = report.noticed, recalled(folder.plan()[0])
            timing.measure()
            # A meter sees no single call: joules are those of calls one after another.
            steady = [case for case in study_cases if case.readiness == "steady"]
            sound = [case for case in steady if case.case not in timing.failed]
            if self.metered:
                choice, meter = self.metered
                near = {name: choice.processor(self.target, among) for name, among in processors.items()}
                EnergyBlocks(bench, sound, seed, choice, meter, near, report.metered).measure()
            if self.discharge:
                first = {name: next(iter(among), None) for name, among in processors.items()}
                Discharge(bench, sound, seed, self.discharge, first, report.discharged).measure()
        folder.seal()
        return timing.process

    def _count(self, folder: RunFolder, cases: Sequence[Case], report: Listener) -> int:
        with folder:
            counting = Counting(folder, self.target, cases, report.measured, libraries=self.libraries)
            counting.count()
        folder.seal()
        return counting.process


@dataclass(frozen=True)
class Begun:
    """A run whose folder is there.

    * `absent`: cipher and provider of what this machine has not; that such a case fails is no surprise.
    """

    session: Session
    folder: RunFolder
    inputs: Sequence[InputFile]
    absent: Collection[tuple[str, str]]

    def measure(self, report: Listener) -> int:
        """Measures what is missing, and seals the run; gives how many processes it has.

        Errors are those of `Session.measure`.
        """
        return self.session.measure(self.folder, self.inputs, report)


@dataclass(frozen=True)
class Planned:
    """A run of which nothing is on disk yet."""

    session: Session
    cases: Sequence[Case]
    inputs: Sequence[InputFile]
    rows: Rows
    card: KeptCard | None
    paired: PairedPlan | None = None
    keep_trying: KeepTrying | None = None

    @property
    def usual_looks(self) -> list[int]:
        """The looks of the study as it is written, without those of `keep_trying`."""
        looks = self.session.study.looks
        return looks if self.keep_trying is None else [look for look in looks if look <= self.keep_trying.usual]

    def warnings(self) -> list[str]:
        """What of the study the device has not, that it is none, that its clock is wrong or two builds don't get on."""
        facts = self.session.target.facts()
        warned = []
        if facts.emulator and facts.counted is None:
            warned.append(f"the processor is emulated ({facts.emulator}): its times are no costs of a device")
        if self.session.target.way != "local" and (wrong := facts.out_of_step()):
            warned.append(f"{self.session.target.name}: {wrong}; the run is dated by this machine, {OWN_TIMES}")
        if self.paired is not None and self.paired.apart is not None:
            libraries = " and ".join(self.session.libraries)
            warned.append(f"{libraries} can't be loaded together, so their processes take turns: {self.paired.apart}")
        return warned + missing(self.cases, self.rows)

    def forecast(self) -> Forecast:
        """How long it would take: its cases are prepared for that, and nothing is timed."""
        session = self.session
        with files_of(session.study, self.cases, self.inputs) as files:
            return forecast(self.cases, files, session.target, self.usual_looks, session.libraries)

    def create(self, out: Path | None = None, *, root: Path | None = ROOT) -> Begun:
        """Makes its folder: `out`, or one below `root`. Raises StoreError where that can't be.

        * `root`: where its id finds it afterwards; null where nobody is to find it by that.
        """
        session, created, seed = self.session, datetime.now(UTC), secrets.randbits(53)
        facts = session.target.facts()
        counted = facts.counted
        watch = [] if counted else self_checks(len(self.cases), core_classes_of(self.cases), facts.self_check_B)
        name = run_id(session.study.id, created, seed)
        lines = plan_lines(
            session.study,
            [*self.cases, *watch],
            self.inputs,
            id=name,
            created=created,
            seed=seed,
            probe_sha256=facts.probe_sha256,
            device=self.card.name if self.card else None,
        )
        choice = session.metered[0] if session.metered else None
        lines[0] |= {
            "libraries": [{"name": library, "sha256": hash_of(path)} for library, path in session.libraries.items()],
            "meter": {"name": choice.meter, "baseline": choice.baseline} if choice else None,
            "battery": session.discharge.kept() if session.discharge else None,
            "device_card": self.card.numbers if self.card else None,
            "way": session.target.way,
            **({"keep_trying": self.keep_trying.kept()} if self.keep_trying else {}),
            **({"counted": counted._asdict()} if counted else {}),
            **({"paired": self.paired._asdict()} if self.paired else {}),
        }
        folder = RunFolder.create(out or (root or ROOT) / name, lines)
        if root is not None:
            remember(name, folder.path, root)
        return Begun(session, folder, self.inputs, _absent(self.cases, self.rows, session.libraries))


def plan(request: Request, target: Target) -> Planned:
    """A study as cases that this target can measure; meter and battery are asked whether they can be read.

    Raises StudyError or InputError where the request can't be carried out, ProbeError or EvidenceError where the meter
    or the battery can't be.
    """
    study = load(request.study)
    keep_trying = None
    if request.keep_trying is not None:
        keep_trying = KeepTrying(request.keep_trying, study.looks[-1])
        study = with_looks(study, extended(study.looks, MOST_PROCESSES))
    if request.decision is not None:
        study = study.model_copy(update={"looks": list(LOOKS)})
    if (counted := target.facts().counted) is not None:
        counting.refuse_what_needs_a_device(
            counted,
            meter=request.meter,
            battery=request.discharge,
            device=request.card,
            input=request.source,
            core_class=request.core_classes,
            keep_trying=keep_trying,
        )
    refuse_unfit(request.libraries, counted)
    _refuse_unknown_cores(study, target, request.core_classes)
    metered = _metered(target, request.meter, _first_class(study, request)) if request.meter else None
    if request.discharge is not None:
        look(target, request.discharge)
    inputs = read_inputs(request.source) if request.source else []
    libraries = request.libraries
    rows, nearest, apart = _catalogue_of_all(target, study, libraries)
    cases = expand(study, rows, inputs, nearest, list(libraries), core_classes=request.core_classes)
    if request.only:
        cases = choose(cases, rows, request.only)
    if counted is not None:
        counting.refuse_nothing(study.id, absences(cases, rows), cases)
    for name in sorted(libraries.keys() - {case.provider for case in cases}):
        reasons = [row["reason"] for several in rows.values() for row in several if row["provider"] == name]
        why = next((reason for reason in reasons if reason), "it has none of the study's ciphers")
        hint = f"`wattlock selftest --library {name}={libraries[name]}` tells of each"
        raise InputError(f"library {name}: {why}", hint=hint)
    session = Session(study, target, libraries, metered, request.discharge)
    paired = None
    if (decision := request.decision) is not None:
        smallest = max(SMALLEST_CLAIM, study.smallest_effect_percent / 100)
        margin = smallest if decision.margin is None else decision.margin
        paired = PairedPlan.of(cases, list(libraries), margin, decision.budget_s, apart)
    return Planned(session, cases, inputs, rows, request.card, paired, keep_trying)


def resume(
    name: str,
    target: Target,
    *,
    libraries: Mapping[str, Path],
    source: Path | None = None,
    sys_root: Path | None = None,
    stream: Path | None = None,
) -> Begun:
    """A run that was cut off, as it was planned.

    * `name`: its path, id or `last`. `libraries`, `source`: those that it was begun with, wherever they lie now.
    * `sys_root`, `stream`: of its meter or its battery, which the run doesn't keep.

    Raises StoreError where it is finished or of another build, InputError where a file is missing or another one.
    """
    folder = RunFolder.open(find(name))
    if folder.is_sealed:
        raise StoreError(f"run {folder.path}: is finished", hint=f"`{folder.showing}` prints it")
    first = folder.plan()[0]
    counting.refuse_another_core(folder, target.facts().counted)
    if target.facts().probe_sha256 != first["probe_sha256"]:
        raise StoreError(
            f"run {folder.path}: was measured by another build of the probe",
            hint="another build moves a cipher by percents, so one run is of one build: start a new run",
        )
    _same_machine(folder, target.facts())
    _same_libraries(folder, first.get("libraries", []), libraries)
    inputs = _inputs_again(folder, read_inputs(source) if source else [])
    meter, battery = first.get("meter"), first.get("battery")
    if (stream and not meter) or (sys_root and not (meter or battery)):
        raise StudyError("--sys-root and --stream say where a meter is", hint="this run has none: leave them out")
    metered = discharge = None
    if meter:
        kind = core_classes_of(folder.cases())[0]
        metered = _metered(target, MeterChoice(meter["name"], meter["baseline"], sys_root, stream), kind)
    if battery:
        levels = (battery["until_percent"], battery["repeats"], battery["from_percent"])
        discharge = DischargePlan(battery["name"], *levels, battery.get("log_every_s", LOG_EVERY_S), sys_root)
        look(target, discharge)
    study = validated(Study, first["study"], f"run {folder.path}: study of its plan", error_class=StoreError)
    rows, _ = _catalogue(target, study, libraries)
    study_cases = [
        case for case in folder.cases() if case.role == "study"
    ]  # the self-checks are no ciphers of the study
    session = Session(study, target, libraries, metered, discharge)
    return Begun(session, folder, inputs, _absent(study_cases, rows, libraries))


def measure(
    study: str | Request,
    *,
    target: Target | None = None,
    out: Path | str | None = None,
    report: Listener | None = None,
) -> RunFolder:
    """Carries out a study to its end: what `wattlock run` does, without its words and its report.

    * `study`: its name or file, or a `Request`, which has more to say. `target`: by which device, this machine without.
    * `out`: the run's folder; `report`: is told how far it is.
    * Returns the run's folder.

    Raises what `plan`, `Planned.create` and `Session.measure` do; what was measured is kept.
    """
    request = Request(study) if isinstance(study, str) else study
    begun = plan(request, or_this_machine(target)).create(None if out is None else Path(out))
    begun.measure(report or Silent())
    return begun.folder


def _refuse_unknown_cores(study: Study, target: Target, core_classes: Sequence[str]) -> None:
    """Raises StudyError where a kind of core was named, by the request or else by the study, that the device lacks."""
    for name in core_classes:
        try:
            processors_of(target, name)
        except StudyError as error:
            raise StudyError(f"--core-class {name}: {error.message}", hint=error.hint) from None
    problems = []
    for name, path in () if core_classes else study.core_classes().items():
        try:
            processors_of(target, name)
        except StudyError as error:
            problems.append(Problem(path, error.message, f"{error.hint}; `--core-class` measures on others"))
    if problems:
        raise refusal(f"study {study.origin}", problems, StudyError)


def _first_class(study: Study, request: Request) -> str | None:
    return next(iter([*request.core_classes, *study.core_classes()]), None)


def _metered(target: Target, choice: MeterChoice, core_class: str | None) -> tuple[MeterChoice, dict[str, Any]]:
    """The meter for the processor that is measured on first, and what it says of itself."""
    if (emulator := target.facts().emulator) is not None:
        refuse_emulated(emulator)
    choice = replace(choice, cpu=next(iter(processors_of(target, core_class)), None))
    return choice, describe(target, choice)


def _catalogue(
    target: Target, study: Study, libraries: Mapping[str, Path]
) -> tuple[dict[str, list[CatalogueRow]], dict[str, str | None]]:
    """The catalogue's rows of a study's ciphers, those of the user's own libraries among them."""
    ciphers = list(study.ciphers())
    if target.facts().counted is None:
        return probe.catalogue(target, ciphers, libraries)
    rows, nearest = probe.catalogue(target, ciphers)
    return with_adapters(counting.held_by_images(rows), libraries), nearest


def _catalogue_of_all(
    target: Target, study: Study, libraries: Mapping[str, Path]
) -> tuple[dict[str, list[CatalogueRow]], dict[str, str | None], str | None]:
    """The catalogue, and why a library that can be loaded alone can't beside the others; null where all can."""
    try:
        rows, nearest = _catalogue(target, study, libraries)
        why = _refusals(rows, libraries)
    except ProbeError as error:
        rows, nearest, why = {}, {}, error.message
    if why is None or len(libraries) < 2:
        return rows, nearest, why
    merged: dict[str, list[CatalogueRow]] = {}
    for name, path in libraries.items():
        alone, nearest = _catalogue(target, study, {name: path})
        for cipher, several in alone.items():
            kept = merged.setdefault(cipher, [])
            kept += [row for row in several if not kept or row["provider"] == name]
    return merged, nearest, None if _refusals(merged, libraries) else why


def _refusals(rows: Rows, libraries: Mapping[str, Path]) -> str | None:
    """Why a library offers nothing at all; null where each offers something."""
    for name in libraries:
        provider_rows = [row for several in rows.values() for row in several if row["provider"] == name]
        if provider_rows and not any(row["available"] for row in provider_rows):
            return next((row["reason"] for row in provider_rows if row["reason"]), None)
    return None


def _absent(cases: Sequence[Case], rows: Rows, libraries: Mapping[str, Path]) -> list[tuple[str, str]]:
    return [key for key in absences(cases, rows) if key[1] not in libraries]


def _same_machine(folder: RunFolder, facts: Facts) -> None:
    """Raises StoreError where the device is another one than that of the run's first process, as far as both tell."""
    header = next(iter(folder.headers()), None)
    if header is None:
        return
    was, answer = header["fingerprint"], facts.answer
    known = (was["hardware"].get("model_name"), was["kernel"].get("release"))
    for before, now in zip(known, (answer.get("model_name"), answer.get("kernel", {}).get("release")), strict=True):
        if before is not None and now is not None and before != now:
            what = f"run {folder.path}: was begun on {before}, this is {now}"
            raise StoreError(what, hint="one run is of one machine: go on there, or start a new run here")


def _same_libraries(folder: RunFolder, planned: Sequence[Mapping[str, str]], libraries: Mapping[str, Path]) -> None:
    """Raises InputError where a library of the run is missing, or is not the one that it was begun with."""
    for library in planned:
        path = libraries.get(library["name"])
        if path is None or hash_of(path) != library["sha256"]:
            what = "needs" if path is None else f"was begun with another {path.name}, and needs"
            wanted = f"library {library['name']} (SHA-256 {library['sha256'][:12]}...)"
            raise InputError(
                f"run {folder.path}: {what} {wanted}", hint=f"name it with --library {library['name']}=PATH"
            )


def _inputs_again(folder: RunFolder, given: Sequence[InputFile]) -> list[InputFile]:
    """The run's inputs among the files given: known by their content, whatever they are called now."""
    by_content = {(file.size_B, file.sha256): file for file in given}
    inputs = []
    for line in folder.plan():
        if line["kind"] != "input":
            continue
        found = by_content.get((line["size_B"], line["sha256"]))
        if found is None:
            lacking = f"{line['data']} ({line['size_B']} B, SHA-256 {line['sha256'][:12]}...)"
            raise InputError(f"run {folder.path}: needs its {lacking} again", hint="name it with --input")
        inputs.append(replace(found, label=line["data"]))
    return inputs


class Listener(Protocol):
    """Who is told how far a session is."""

    def measured(self, progress: Progress) -> None:
        """Of the timing."""

    def metered(self, done: int, processes: int) -> None:
        """Of the energy."""

    def noticed(self, lines: Sequence[str]) -> None:
        """Of what a person should know while it measures: how long the rest takes, what disturbs, what helps."""

    def discharged(self, cipher: str, calls: int, level: int | None, share: float | None) -> None:
        """Of a discharge."""


class Silent:
    """Tells nobody."""

    def measured(self, *_: Any, **__: Any) -> None:
        """Says nothing."""

    metered = noticed = discharged = measured


def processors_of(target: Target, core_class: str | None) -> tuple[int, ...]:
    """The processors of a kind of core, the last first; of the fastest where none is named.

    Raises StudyError where the device has no such class.
    """
    facts = target.facts()
    try:
        return facts.alike(core_class)
    except KeyError:
        classes = (
            ", ".join(core_class.name for core_class in facts.core_classes if core_class.name)
            or "one kind of core only"
        )
        raise StudyError(f"the device has no {core_class} cores", hint=f"it has {classes}") from None


@contextmanager
def files_of(study: Study, cases: Sequence[Case], inputs: Sequence[InputFile]) -> Iterator[Mapping[str, Path]]:
    """The files behind the labels of data cases: the user's, and sample files grown for as long as this lasts."""
    files = {input_file.label: input_file.path for input_file in inputs}
    with scratch() as place:
        for kind in SAMPLES:
            if any(case.data == kind for case in cases):
                files[kind] = place / kind
                files[kind].write_bytes(grow(kind, study.file_B))
        yield files


BATCH_S = process.BATCH_NS / 1e9

EDGES_S = 30e-6
"""Canary and burst on both sides of a batch."""

WARM_S = 25e-6


@dataclass(frozen=True)
class Forecast:
    """Seconds until the first look, and until the last one if no case is sure before."""

    least_s: float
    most_s: float


def forecast(
    cases: Sequence[Case],
    files: Mapping[str, Path],
    target: Target,
    looks: Sequence[int],
    libraries: Mapping[str, Path] | None = None,
) -> Forecast:
    """Prepares each case once, which tells how often its input is cut, and adds up the batches."""
    start, visits = time.monotonic(), {case.case: process.first_visits(case) for case in cases}
    a_process = 0.0
    for number, group in enumerate(process.split(cases, seed=0, libraries=libraries or ())):
        order = Order(number, number, group, None, visits=visits)
        header = record_of(inquire(target, order, files, libraries).split(b"\n", 1)[0])
        for case in header["cases"]:
            segments, count = case["segments"], visits[case["case"]]
            a_process += count * (WARM_S + segments * (BATCH_S + EDGES_S))
            a_process += HALVES * (WARM_S + BATCH_S / 2 + EDGES_S) if segments == 1 else 0
    prepared = time.monotonic() - start
    return Forecast((a_process + prepared) * looks[0], (a_process + prepared) * looks[-1])
