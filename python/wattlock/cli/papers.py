"""`wattlock papers`: the five papers regenerated on this machine, and every claim of theirs judged."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wattlock.cli.echo import echo, wrote
from wattlock.cli.help import SELDOM
from wattlock.cli.options import (
    AllowAssumed,
    Device,
    DryRun,
    KeepTryingMinutes,
    SysRoot,
    chosen,
    given,
    refuse_beside,
    refuse_pair,
)
from wattlock.cli.table import Format, show
from wattlock.errors import EvidenceError, InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from wattlock.papers.exhibit import DrawnExhibit
    from wattlock.papers.judge import Judgement
    from wattlock.papers.literature import PaperSource
    from wattlock.papers.verdicts import CoreJudged

FOR_EYES = ["claim", "verdict", "effect_value", "effect_low", "effect_high", "bound_low", "bound_high", "effect_unit"]
FOR_EYES += ["failing"]
"""The columns of the verdicts on a terminal."""
UNTIL_PERCENT, LOG_EVERY_S = 10, 10
"""A battery is discharged down to this level: below it a machine may go out."""


class Length(StrEnum):
    """How much is measured."""

    quick = "quick"
    full = "full"
    battery = "battery"
    none = "none"


class Machine(StrEnum):
    """What was measured on, as claims name it."""

    computer = "computer"
    handheld = "handheld"
    microcontroller = "microcontroller"


@dataclass(frozen=True)
class PapersLength:
    """How long is measured, and how a battery is discharged."""

    keep_trying: KeepTryingMinutes = None

    repeats: Annotated[
        int | None,
        typer.Option("--repeats", min=1, help="With --length battery: calls of each case, so that one charge may do."),
    ] = None
    sys_root: SysRoot = None


@dataclass(frozen=True)
class PapersInputs:
    """What is read beside the runs."""

    radio: Annotated[str, typer.Option("--radio", metavar="CARD", help="The radio card that values sending.")] = (
        "intel-5300"
    )
    battery: Annotated[
        str | None, typer.Option("--battery", metavar="CARD", help="The battery card that the joules discharge.")
    ] = None
    machine: Annotated[
        Machine,
        typer.Option(
            "--machine",
            rich_help_panel=SELDOM,
            help="What the runs' machine is: some claims speak of a handheld alone.",
        ),
    ] = Machine.computer
    capture: Annotated[
        Path | None, typer.Option("--capture", metavar="FILE", help="A capture of 802.11, for its packets' sizes.")
    ] = None
    transfers: Annotated[
        list[str] | None,
        typer.Option(
            "--transfers",
            rich_help_panel=SELDOM,
            metavar="FILE",
            help="JSON of `wattlock send` or `receive`; audio=FILE is of audio.",
        ),
    ] = None
    counted: Annotated[
        list[str] | None,
        typer.Option(
            "--counted",
            rich_help_panel=SELDOM,
            metavar="RUN",
            help="A run that counted on a core: its answers stand beside.",
        ),
    ] = None


@dataclass(frozen=True)
class Written:
    """What is written and printed."""

    export: Annotated[
        Path | None,
        typer.Option(
            "--export",
            metavar="DIR",
            help="Also write the verdicts, the papers as BibTeX, and each exhibit as PNG, SVG, PDF, CSV.",
        ),
    ] = None
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="In place of RUN/papers.html.")] = None
    form: Annotated[
        Format | None, typer.Option("--format", help="Print the verdicts; without it the page's path is printed.")
    ] = None


def papers(
    context: typer.Context,
    length: Annotated[
        Length,
        typer.Option(
            "--length",
            help="quick takes two to four minutes, full 12 to 72; battery discharges one; none judges what needs none.",
        ),
    ] = Length.quick,
    *,
    run: Annotated[
        list[str] | None,
        typer.Option("--run", metavar="RUN", help="Judge this run in place of measuring: a path, an id, or `last`."),
    ] = None,
    device: Device = None,
    allow_assumed: AllowAssumed = False,
    inputs: PapersInputs = PapersInputs(),
    measuring: PapersLength = PapersLength(),
    dry_run: DryRun = False,
    written: Written = Written(),
) -> None:
    """Regenerate every figure and table of the five papers on this machine, and judge every claim of theirs.

    Runs of one build on one machine are judged together.
    `wattlock run papers/mcu --on qemu:cortex-m4` makes a run for --counted, each of a core of its own. A battery is
    discharged to 10 % by one case after the other, each from a full charge, or by --repeats calls of each. A claim on
    ciphers is judged by software of the papers' era; constant-time software and AES instructions have own answers.
    Transfers are what `wattlock send` or `receive` prints by --format json, of the same file by --cipher null, too.

    Examples: wattlock papers; wattlock papers --device x86-server-assumed --allow-assumed;
    wattlock papers --run last --export exhibits; wattlock papers --run last --format csv;
    wattlock papers --length battery --repeats 600; wattlock papers --length full --dry-run;
    wattlock papers --run last --transfers aes.json --transfers clear.json;
    wattlock papers --run last --counted m4 --counted m0plus
    """
    from wattlock.cli.run import run as carry_out
    from wattlock.papers import material
    from wattlock.papers.verdicts import judge_counted, table
    from wattlock.report.papers_page import JudgedRuns, papers_page
    from wattlock.store import find
    from wattlock.store.disk import write_out

    _refuse_absent(inputs)
    requested = given(context)
    _refuse_unlike(requested, length, measuring)
    if dry_run:
        of_a_battery = ["--repeats", "--sys-root"] if length is Length.battery else []
        refuse_beside(requested, "--dry-run", ["--length", "--keep-trying", *of_a_battery])
        carry_out(f"papers/{length}", dry_run=True, **_more(length, measuring))
        return
    # Before anything is measured: a run that can't be taken is refused at once.
    cores = judge_counted(inputs.counted or [])
    measures = not run and length is not Length.none
    names = [_measured(length, device, measuring, allow_assumed=allow_assumed)] if measures else run or []
    read = material.MaterialOptions(
        device,
        allow_assumed,
        inputs.radio,
        inputs.battery,
        inputs.capture,
        tuple(inputs.transfers or ()),
        str(inputs.machine),
    )
    judgements, shown, gathered = material.judge(names, read, target=chosen())
    judged = JudgedRuns(names, gathered, read, cores)
    page = written.out or (find(names[0]) if names else Path()) / "papers.html"
    write_out(page, papers_page(judged, judgements, shown), "--out")
    verdicts = table(judgements, gathered.material.papers, cores)
    if written.export is not None:
        _export(written.export, verdicts, shown, gathered.material.papers.sources)
    _say(judged.reasons, judgements)
    _say_counted(cores)
    if written.form is None:
        wrote(page)
    else:
        show(_for_eyes(verdicts, cores) if written.form is Format.table else verdicts, written.form)
        echo(f"the page: {page}", err=True)


def _export(
    folder: Path, verdicts: pl.DataFrame, shown: Sequence[DrawnExhibit], sources: Sequence[PaperSource]
) -> None:
    """Writes the exhibits, the verdicts and the papers as BibTeX into `folder`."""
    from wattlock.papers.literature import bibtex
    from wattlock.report.figure_files import write_exhibits
    from wattlock.report.written import csv_text, json_array
    from wattlock.store.disk import write_out

    echo(f"wrote {write_exhibits(folder, shown)} files into {folder}", err=True)
    write_out(folder / "verdicts.json", json_array(verdicts), "--export")
    write_out(folder / "verdicts.csv", csv_text(verdicts), "--export")
    write_out(folder / "papers.bib", bibtex(sources), "--export")


def _for_eyes(verdicts: pl.DataFrame, cores: Sequence[CoreJudged]) -> pl.DataFrame:
    """Few columns, the parts that do not hold as text, and behind the verdict a column a core."""
    import polars as pl

    shown = verdicts.select(FOR_EYES).with_columns(pl.col("failing").list.join("; ").replace("", None))
    behind = FOR_EYES.index("verdict") + 1
    for core in reversed(cores):
        answers = [found.answer if (found := core.of(claim)) else None for claim in verdicts["claim"]]
        shown.insert_column(behind, pl.Series(core.core, answers, dtype=pl.String))
    return shown


def _refuse_unlike(requested: Mapping[str, Any], length: Length, measuring: PapersLength) -> None:
    """Raises InputError for options of measuring beside what measures nothing, and of a battery without it."""
    if length is not Length.battery and (measuring.repeats is not None or measuring.sys_root is not None):
        raise UsageError("--repeats and --sys-root are of a battery", hint="add --length battery")
    for option in ("--length", "--dry-run", "--keep-trying"):
        refuse_pair(requested, "--run", option, "a run is judged as it is; what is measured comes without --run")
    for option in ("--dry-run", "--keep-trying", "--device") if length is Length.none else ():
        refuse_pair(requested, "--length", option, "by `--length none` nothing is measured")


def _refuse_absent(inputs: PapersInputs) -> None:
    """Raises InputError for a file that is not there, before anything is measured."""
    from wattlock.papers.transfer_times import HINT, path_of

    if inputs.capture is not None and not inputs.capture.is_file():
        raise InputError(f"--capture {inputs.capture}: there is no such file", hint="a capture is pcap or pcapng")
    for file in (path_of(name)[1] for name in inputs.transfers or ()):
        if not file.is_file():
            raise InputError(f"--transfers {file}: there is no such file", hint=HINT)


def _say(reasons: Sequence[str], judgements: Sequence[Judgement]) -> None:
    """What speaks against the runs, and how many claims hold, to standard error."""
    from wattlock.report.papers_page import bases, counts

    for reason in reasons:
        echo(f"warning: {reason}", err=True)
    if reasons and (open_claims := sum(judged.verdict == "not tested" for judged in judgements)):
        hint = "`wattlock papers --keep-trying 30` measures until they pass"
        echo(f"{open_claims} claims wait for a run whose self-checks pass, the others are judged; {hint}", err=True)
    described = ", ".join(f"{number} {verdict}" for verdict, number in counts(judgements).items() if number)
    echo(f"{len(judgements)} claims: {described}", err=True)
    for line in bases(judgements):
        echo(f"  {line}", err=True)


def _say_counted(cores: Sequence[CoreJudged]) -> None:
    """How many claims each core's cycles support, to standard error."""
    from wattlock.report.papers_page import counted_line

    for core in cores:
        for warning in core.warnings:
            echo(f"warning: run {core.run}: {warning}", err=True)
        echo(counted_line(core), err=True)


def _measured(length: Length, device: str | None, measuring: PapersLength, *, allow_assumed: bool) -> str:
    """Carries out the study of this length and gives its run."""
    from wattlock.cli.run import run as carry_out
    from wattlock.store import find

    more = _more(length, measuring)
    try:
        carry_out(f"papers/{length}", device=device, allow_assumed=allow_assumed, **more)
    except EvidenceError as error:
        if "discharged" not in more or not error.hint:
            raise
        hint = f"{error.hint}; when all cases are done, `wattlock papers --run last` judges them"
        raise EvidenceError(error.message, hint=hint) from error
    return str(find("last"))


def _more(length: Length, measuring: PapersLength) -> dict[str, Any]:
    """The options of a run: how long it keeps trying, and the battery that it discharges, where there is one."""
    from wattlock.cli.run import DischargeOptions, MeterOptions

    kept = {} if measuring.keep_trying is None else {"keep_trying": measuring.keep_trying}
    battery = _own_battery(length, measuring.sys_root)
    if battery is None:
        return kept
    by = MeterOptions(sys_root=measuring.sys_root)
    return {**kept, "by": by, "discharged": DischargeOptions(battery, measuring.repeats, UNTIL_PERCENT)}


def _own_battery(length: Length, sys_root: Path | None) -> str | None:
    """A battery of this machine to empty, where there is one and that was asked for."""
    if length is not Length.battery:
        return None
    from wattlock.errors import WattlockError
    from wattlock.run.discharge import DischargePlan, look

    try:
        look(chosen(), DischargePlan("", UNTIL_PERCENT, None, None, LOG_EVERY_S, sys_root))
    except WattlockError as error:
        echo(f"note: no battery is discharged ({error.message}); one is computed from joules and its card", err=True)
        return None
    return "any"
