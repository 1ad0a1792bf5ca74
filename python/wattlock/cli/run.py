"""`wattlock run`: carry out a study on a device."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wattlock.cli.carry_out import measure
from wattlock.cli.echo import echo
from wattlock.cli.help import SELDOM
from wattlock.cli.options import AllowAssumed, Device, DryRun, KeepTryingMinutes, SysRoot, TargetOptions
from wattlock.errors import UsageError
from wattlock.run.metering import Baseline

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wattlock.run.begin import Planned
    from wattlock.run.discharge import DischargePlan
    from wattlock.run.metering import MeterChoice
    from wattlock.targets import Target


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
    sys_root: SysRoot = None
    stream: Annotated[
        Path | None, typer.Option("--stream", metavar="FILE", help="The serial device or recording of the meter.")
    ] = None

    def choice(self, discharged: DischargeOptions) -> MeterChoice | None:
        """The meter asked for. Raises StudyError where its place is said, and it isn't."""
        if self.meter is None:
            if (self.sys_root is not None and discharged.battery is None) or self.stream is not None:
                raise UsageError("--sys-root and --stream say where a meter is", hint="name it with --meter")
            return None
        from wattlock.run.metering import MeterChoice

        return MeterChoice(self.meter, str(self.baseline), self.sys_root, self.stream)


@dataclass(frozen=True)
class DischargeOptions:
    """The battery that a run discharges."""

    battery: Annotated[
        str | None,
        typer.Option("--battery", metavar="NAME", help="Then discharge this battery by each case: BAT0, or `any`."),
    ] = None
    repeats: Annotated[int | None, typer.Option("--repeats", min=1, help="Stop a discharge after N calls.")] = None
    until_percent: Annotated[
        int | None,
        typer.Option("--until-percent", rich_help_panel=SELDOM, min=0, max=99, help="Stop a discharge at this level."),
    ] = None
    from_percent: Annotated[
        int | None,
        typer.Option(
            "--from-percent", rich_help_panel=SELDOM, min=1, max=100, help="Start a discharge at this level or above."
        ),
    ] = None
    log_every_s: Annotated[
        int,
        typer.Option(
            "--log-every-s", rich_help_panel=SELDOM, min=1, max=3600, help="Time between two lines of the level."
        ),
    ] = 10

    def discharge(self, sys_root: Path | None) -> DischargePlan | None:
        """How the battery asked for is discharged. Raises StudyError where an option is of one, and none is named."""
        levels = (self.until_percent, self.repeats, self.from_percent)
        if self.battery is None:
            if any(level is not None for level in levels):
                raise UsageError("--repeats and the levels are those of a battery", hint="name it with --battery")
            return None
        from wattlock.run.discharge import DischargePlan

        return DischargePlan("" if self.battery == "any" else self.battery, *levels, self.log_every_s, sys_root)


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
        typer.Option("--library", metavar="NAME=PATH", help="Measure a library of your own beside the others."),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--input", metavar="FILE-OR-FOLDER", help="Your own files in place of the sample files."),
    ] = None,
    where: TargetOptions = TargetOptions(),
    core_class: Annotated[
        str | None,
        typer.Option(
            "--core-class", metavar="CLASS,...", help="Measure each case on big, middle or little cores, or on several."
        ),
    ] = None,
    device: Device = None,
    allow_assumed: AllowAssumed = False,
    by: MeterOptions = MeterOptions(),
    discharged: DischargeOptions = DischargeOptions(),
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="The run's folder, in place of runs/ID.")
    ] = None,
    resume: Annotated[
        str | None, typer.Option("--resume", metavar="RUN", help="Go on with a cut-off run: its path, id or `last`.")
    ] = None,
    keep_trying: KeepTryingMinutes = None,
    dry_run: DryRun = False,
) -> None:
    """Carry out a study on this machine, or on the device of --on, and write its report.

    It ends with 12 where a case failed.

    By `--on qemu:CORE` instructions are counted on an emulated microcontroller, and cycles by the core's rules; by
    `--on board:BOARD@PORT` a board's own counter tells them.

    Examples: wattlock run first-look --only 'aes*'    wattlock run quick --on ssh:pi4
    wattlock run mcu-quick --on qemu:cortex-m4    wattlock run mcu-quick --on qemu:cortex-m4/stm32f407@168MHz
    wattlock run quick --library mine=./libmine.so    wattlock run quick --meter powercap:package-0
    wattlock run mine.toml --battery BAT0 --repeats 6000    wattlock run --resume last
    """
    from wattlock.run.libraries import named_libraries

    if (study is None) == (resume is None):
        raise UsageError("name either a study or, with --resume, a run", hint="`wattlock studies` lists the studies")
    libraries = named_libraries(library or [])
    if resume is not None:
        of_a_plan = (device, by.meter, discharged.battery, out, core_class, keep_trying)
        _refuse_planned(is_given=bool(only or dry_run or of_a_plan.count(None) < len(of_a_plan)))
        with where.opened(libraries) as target:
            _resume(resume, target, libraries, source, by)
        return
    if by.meter is not None and device is not None:
        hint = "name the card with `wattlock show --device` afterwards"
        raise UsageError("--meter measures joules and --device computes them: a run has one of them", hint=hint)
    from wattlock.energy.valuing import kept_card
    from wattlock.run import begin

    meter, battery = by.choice(discharged), discharged.discharge(by.sys_root)
    with where.opened(libraries) as target:
        kinds = _levels(core_class)
        card = None if device is None else kept_card(device, target, kinds, allow_assumed=allow_assumed)
        request = begin.Request(
            str(study), only or (), libraries, source, meter, battery, card, kinds, keep_trying=keep_trying
        )
        planned = begin.plan(request, target)
        for line in planned.warnings():
            echo(f"warning: {line}", err=True)
        if dry_run:
            _print_plan(planned)
        else:
            measure(planned.create(out))


def _refuse_planned(*, is_given: bool) -> None:
    """Raises StudyError where an option is given that a run was planned with."""
    if is_given:
        hint = "leave out --only, --core-class, --device, --meter, --battery, --out, --keep-trying and --dry-run"
        raise UsageError("--resume goes on with a run as it was planned", hint=hint)


def _levels(core_classes: str | None) -> list[str]:
    return (
        []
        if core_classes is None
        else list(dict.fromkeys(core_class.strip() for core_class in core_classes.split(",")))
    )


def _resume(name: str, target: Target, libraries: Mapping[str, Path], source: Path | None, by: MeterOptions) -> None:
    """Goes on with a run, by the meter or the battery that it was begun with."""
    from wattlock.run import begin

    begun = begin.resume(name, target, libraries=libraries, source=source, sys_root=by.sys_root, stream=by.stream)
    measure(begun)


def _print_plan(planned: Planned) -> None:
    from dataclasses import asdict

    import polars as pl

    from wattlock.cli.table import Format, show

    cases = pl.DataFrame([asdict(case) for case in planned.cases]).drop("role")
    show(cases if cases["core_class"].count() else cases.drop("core_class"), Format.table)
    if (counted := planned.session.target.facts().counted) is not None:
        once = "" if counted.board else " once"
        echo(f"{len(planned.cases)} cases, counted{once} on {counted.place}", err=True)
        return
    expected, looks = planned.forecast(), planned.usual_looks
    echo(
        f"{len(planned.cases)} cases: about {expected.least_s:.0f} s if all are sure after {looks[0]} processes, "
        f"at most {expected.most_s:.0f} s with {looks[-1]}",
        err=True,
    )
    if planned.keep_trying is not None:
        minutes = planned.keep_trying.minutes
        echo(f"where a case is unresolved or a self-check fails then, it goes on, for {minutes:g} min in all", err=True)
