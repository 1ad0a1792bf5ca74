"""`wattlock run`: carry out a study on this machine."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wattlock.cli.options import AllowAssumed, Device
from wattlock.cli.sitting import measure
from wattlock.errors import InputError, StoreError, StudyError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wattlock.energy import cards
    from wattlock.run.discharge import Fall
    from wattlock.run.energy import Choice
    from wattlock.run.session import Session
    from wattlock.store import RunFolder
    from wattlock.study import Case, InputFile, Study
    from wattlock.targets import Target


class Baseline(StrEnum):
    """What runs while no case does."""

    idle = "idle"
    spin = "spin"
    memcpy = "memcpy"


@dataclass(frozen=True)
class MeterOptions:
    """The meter of a run."""

    meter: Annotated[
        str | None,
        typer.Option(
            "--meter", metavar="NAME", help="Measure joules too by this meter, powercap:package-0, or a sum A+B."
        ),
    ] = None
    baseline: Annotated[
        Baseline,
        typer.Option("--baseline", help="Baseline subtracted from each call's energy: idle, spin or memcpy power."),
    ] = Baseline.idle
    sys_root: Annotated[
        Path | None, typer.Option("--sys-root", metavar="DIR", help="Read meters below DIR in place of /sys.")
    ] = None
    stream: Annotated[
        Path | None, typer.Option("--stream", metavar="FILE", help="The serial device or recording of the meter.")
    ] = None


@dataclass(frozen=True)
class BatteryOptions:
    """The battery that a run empties."""

    battery: Annotated[
        str | None,
        typer.Option("--battery", metavar="NAME", help="Then empty this battery by each case: BAT0, or `any`."),
    ] = None
    repeats: Annotated[int | None, typer.Option("--repeats", min=1, help="Stop a discharge after N calls.")] = None
    until_percent: Annotated[
        int | None, typer.Option("--until-percent", min=0, max=99, help="Stop a discharge at this level.")
    ] = None
    from_percent: Annotated[
        int | None, typer.Option("--from-percent", min=1, max=100, help="Start a discharge at this level or above.")
    ] = None
    log_every_s: Annotated[
        int, typer.Option("--log-every-s", min=1, max=3600, help="Time between two lines of the level.")
    ] = 10


def run(  # noqa: PLR0917 - Typer gives every option by its name
    study: Annotated[
        str | None, typer.Argument(metavar="STUDY", help="A study's name (`wattlock studies`) or its file.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="ID", help="Only these ciphers, as 'aes*'; or cases, as FIELD=GLOB,..."),
    ] = None,
    library: Annotated[
        list[str] | None,
        typer.Option("--library", metavar="NAME=PATH", help="Weigh a library of your own beside the others."),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--input", metavar="FILE-OR-FOLDER", help="Your own files in place of the sample files."),
    ] = None,
    device: Device = None,
    allow_assumed: AllowAssumed = False,
    by: MeterOptions = MeterOptions(),
    emptied: BatteryOptions = BatteryOptions(),
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="The run's folder, in place of runs/ID.")
    ] = None,
    resume: Annotated[
        str | None, typer.Option("--resume", metavar="RUN", help="Go on with a cut-off run: its path, id or `last`.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the cases and the time that they would take, and measure nothing.")
    ] = False,
) -> None:
    """Carry out a study on this machine and write its report; end with 12 where a case failed.

    --only and --library may be given several times. Examples: wattlock run first-look --only 'aes*'
    wattlock run quick --library mine=./libmine.so    wattlock run quick --meter powercap:package-0
    wattlock run mine.toml --battery BAT0 --repeats 6000    wattlock run --resume last
    """
    if (study is None) == (resume is None):
        raise StudyError("name either a study or, with --resume, a run", hint="`wattlock studies` lists the studies")
    if resume is not None:
        if only or dry_run or any(one is not None for one in (device, by.meter, emptied.battery, out)):
            hint = "leave out --only, --device, --meter, --battery, --out and --dry-run"
            raise StudyError("--resume goes on with a run as it was planned", hint=hint)
        _resume(resume, source, _libraries(library or []), by.sys_root, by.stream)
        return
    if by.meter is not None and device is not None:
        hint = "name the card with `wattlock show --device` afterwards"
        raise StudyError("--meter measures joules and --device computes them: a run has one of them", hint=hint)
    from wattlock.run.session import Session
    from wattlock.study import absences, expand, load, missing, read_inputs
    from wattlock.study import only as choose
    from wattlock.targets import local, probe

    target = local.find()
    card = _card(device, target, allow_assumed=allow_assumed)
    weighed = _weighed(target, by, also=emptied.battery)
    fall = _fall(target, emptied, by.sys_root)
    chosen = load(str(study))
    inputs = read_inputs(source) if source else []
    libraries = _libraries(library or [])
    rows, nearest = probe.catalogue(target, list(chosen.ciphers()), libraries)
    cases = expand(chosen, rows, inputs, nearest, list(libraries))
    if only:
        cases = choose(cases, rows, only)
    for line in missing(cases, rows):
        typer.echo(f"warning: {line}", err=True)
    for name in sorted(libraries.keys() - {case.provider for case in cases}):
        reasons = [row["reason"] for several in rows.values() for row in several if row["provider"] == name]
        why = next((reason for reason in reasons if reason), "it has none of the study's ciphers")
        raise InputError(
            f"library {name}: {why}", hint=f"`wattlock-probe selftest --library {name}={libraries[name]}` tells of each"
        )
    if dry_run:
        _print_plan(chosen, cases, inputs, target, libraries)
        return
    session = Session(chosen, target, libraries, weighed, fall)
    folder = _create(session, cases, inputs, card=card, out=out)
    absent = [key for key in absences(cases, rows) if key[1] not in libraries]
    measure(session, folder, inputs, absent)


def _weighed(target: Target, by: MeterOptions, also: str | None) -> tuple[Choice, dict[str, Any]] | None:
    """The meter and what it is; asked before anything is measured, so that one that can't be read is no surprise.

    * `also`: a battery that `by.sys_root` may be for.
    """
    if by.meter is None:
        if (by.sys_root is not None and also is None) or by.stream is not None:
            raise StudyError("--sys-root and --stream say where a meter is", hint="name it with --meter")
        return None
    from wattlock.run.energy import Choice, describe

    choice = Choice(by.meter, str(by.baseline), by.sys_root, by.stream, next(iter(target.facts().processors), None))
    return choice, describe(target, choice)


def _fall(target: Target, emptied: BatteryOptions, sys_root: Path | None) -> Fall | None:
    """The fall asked for; the battery is looked at before anything is measured."""
    name, levels = emptied.battery, (emptied.until_percent, emptied.repeats, emptied.from_percent)
    if name is None:
        if any(level is not None for level in levels):
            raise StudyError("--repeats and the levels are those of a battery", hint="name it with --battery")
        return None
    from wattlock.run.discharge import Fall, look

    fall = Fall("" if name == "any" else name, *levels, emptied.log_every_s, sys_root)
    look(target, fall)
    return fall


def _libraries(given: Sequence[str]) -> dict[str, Path]:
    """The user's libraries by name; one given by its path alone is named by its file, `libmine.so` as `mine`.

    Raises InputError where there is no such file, or two have one name.
    """
    found: dict[str, Path] = {}
    for one in given:
        name, equals, place = one.partition("=")
        path = Path(place if equals else one)
        name = name if equals else path.name.partition(".")[0].removeprefix("lib")
        if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
            hint = "lower-case letters, digits and hyphens: --library mine=./libmine.so"
            raise InputError(f'--library {one}: "{name}" is no name for a provider', hint=hint)
        if not path.is_file():
            raise InputError(f"--library {one}: there is no file {path}", hint="check the path")
        if name in found:
            raise InputError(f'--library {one}: there are two libraries "{name}"', hint="name them NAME=PATH")
        found[name] = path.absolute()
    return found


def _card(device: str | None, target: Target, *, allow_assumed: bool) -> cards.Device | None:
    """The card asked for; refused before anything is measured where it can't value this run."""
    if device is None:
        return None
    from wattlock.energy import cards
    from wattlock.energy.model import refuse

    card = cards.load(device)
    refuse(card, isa=target.facts().isa, allow_assumed=allow_assumed)
    return card


def _create(
    session: Session,
    cases: Sequence[Case],
    inputs: Sequence[InputFile],
    *,
    card: cards.Device | None,
    out: Path | None,
) -> RunFolder:
    from wattlock.run.shards import self_checks
    from wattlock.store import RunFolder, plan_lines, run_id
    from wattlock.store.shelf import ROOT
    from wattlock.targets import local

    created, seed = datetime.now(UTC), secrets.randbits(53)
    name = run_id(session.study.id, created, seed)
    watch = self_checks(first=len(cases))
    lines = plan_lines(
        session.study,
        [*cases, *watch],
        inputs,
        id=name,
        created=created,
        seed=seed,
        probe_sha256=session.target.facts().probe_sha256,
        device=card.name if card else None,
    )
    lines[0]["libraries"] = [{"name": name, "sha256": local.sha256(path)} for name, path in session.libraries.items()]
    choice = session.weighed[0] if session.weighed else None
    lines[0]["meter"] = {"name": choice.meter, "baseline": choice.baseline} if choice else None
    lines[0]["battery"] = session.fall.kept() if session.fall else None
    lines[0]["device_card"] = card.card.model_dump(mode="json") if card else None
    return RunFolder.create(out or ROOT / name, lines)


def _resume(
    name: str, source: Path | None, libraries: Mapping[str, Path], sys_root: Path | None, stream: Path | None
) -> None:
    from wattlock.run.session import Session
    from wattlock.store import RunFolder, find
    from wattlock.study import Study, absences, read_inputs
    from wattlock.targets import local, probe

    folder = RunFolder.open(find(name))
    if folder.is_sealed:
        raise StoreError(f"run {folder.path}: is finished", hint=f"`wattlock show {folder.path}` prints it")
    first = folder.plan()[0]
    target = local.find()
    if target.facts().probe_sha256 != first["probe_sha256"]:
        raise StoreError(
            f"run {folder.path}: was measured by another build of the probe",
            hint="another build moves a cipher by percents, so one run is of one build: start a new run",
        )
    _same_libraries(folder, first.get("libraries", []), libraries)
    inputs = _inputs_again(folder, read_inputs(source) if source else [])
    meter = first.get("meter") or {"name": None, "baseline": "idle"}
    kept = first.get("battery") or {"name": None, "until_percent": None, "repeats": None, "from_percent": None}
    battery = None if kept["name"] is None else kept["name"] or "any"
    levels = (kept["repeats"], kept["until_percent"], kept["from_percent"], kept.get("log_every_s", 10))
    by = MeterOptions(meter["name"], Baseline(meter["baseline"]), sys_root, stream)
    weighed = _weighed(target, by, also=battery)
    fall = _fall(target, BatteryOptions(battery, *levels), sys_root)
    study = Study.model_validate(first["study"])
    rows, _ = probe.catalogue(target, list(study.ciphers()), libraries)
    own = [case for case in folder.cases() if case.role == "study"]  # the self-checks are no ciphers of the study
    absent = [key for key in absences(own, rows) if key[1] not in libraries]
    measure(Session(study, target, libraries, weighed, fall), folder, inputs, absent)


def _same_libraries(folder: RunFolder, planned: Sequence[Mapping[str, str]], libraries: Mapping[str, Path]) -> None:
    """Raises InputError where a library of the run is missing, or is not the one that it was begun with."""
    from wattlock.targets import local

    for one in planned:
        path = libraries.get(one["name"])
        if path is None or local.sha256(path) != one["sha256"]:
            what = "needs" if path is None else f"was begun with another {path.name}, and needs"
            wanted = f"library {one['name']} (SHA-256 {one['sha256'][:12]}...)"
            raise InputError(f"run {folder.path}: {what} {wanted}", hint=f"name it with --library {one['name']}=PATH")


def _inputs_again(folder: RunFolder, given: Sequence[InputFile]) -> list[InputFile]:
    """The run's inputs among the files given: known by their content, whatever they are called now."""
    by_content = {(one.size_B, one.sha256): one for one in given}
    inputs = []
    for line in folder.plan():
        if line["kind"] != "input":
            continue
        found = by_content.get((line["size_B"], line["sha256"]))
        if found is None:
            missing = f"{line['data']} ({line['size_B']} B, SHA-256 {line['sha256'][:12]}...)"
            raise InputError(f"run {folder.path}: needs its {missing} again", hint="name it with --input")
        inputs.append(replace(found, label=line["data"]))
    return inputs


def _print_plan(
    study: Study, cases: Sequence[Case], inputs: Sequence[InputFile], target: Target, libraries: Mapping[str, Path]
) -> None:
    from dataclasses import asdict

    import polars as pl

    from wattlock.cli.table import Format, show
    from wattlock.run import forecast
    from wattlock.run.session import files_of

    with files_of(study, cases, inputs) as files:
        expected = forecast.forecast(cases, files, target, study.looks, libraries)
    show(pl.DataFrame([asdict(case) for case in cases]).drop("role"), Format.table)
    typer.echo(
        f"{len(cases)} cases: about {expected.least_s:.0f} s if all are sure after {study.looks[0]} processes, "
        f"at most {expected.most_s:.0f} s with {study.looks[-1]}",
        err=True,
    )
