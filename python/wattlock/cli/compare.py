"""`wattlock compare`: the cases of runs against those of the first, or of two providers of one run."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wattlock.cli.echo import echo, wrote
from wattlock.cli.options import AllowAssumed, given, refuse_pair, refuse_without
from wattlock.cli.table import Format, markdown, short, show_aside
from wattlock.cli.table import show as print_table
from wattlock.errors import EvidenceError, InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection

    import polars as pl

    from wattlock.report.compared import RunComparison
    from wattlock.run.begin import Begun, Decision
    from wattlock.run.result import Result
    from wattlock.run.run_comparison import Comparison

SHORT = ["cipher", "operation", "payload_B", "data", "provider_a", "provider_b", "ratio", "ratio_low", "ratio_high"]
SHORT += ["verdict", "cycles_per_byte_a", "cycles_per_byte_b"]
"""The columns for eyes, with `aad_B` where a case has associated data; JSON and CSV have all of them."""

ENERGY = ["energy_ratio", "energy_ratio_low", "energy_ratio_high"]
"""Behind them where one meter measured both: net joules of the second over those of the first, the gain cancelled."""

ANSWER = ["ratio", "ratio_low", "ratio_high", "verdict"]

COUNTED = ["cipher", "operation", "payload_B", "provider", "provider_a", "provider_b", "cycles_a", "cycles_b"]
COUNTED += ["ratio", "ratio_low", "ratio_high", "instructions_ratio", "part_cycles_a", "part_cycles_b"]
COUNTED += ["energy_uJ_a", "energy_uJ_b", "flash_B_a", "flash_B_b", "verdict"]
"""The columns of counts for eyes, those that hold anything."""

AGREEMENT = ["core_a", "core_b", "operation", "mode", "payload_B", "ciphers", "ordered_by"]
AGREEMENT += ["tau", "tau_low", "tau_high", "undecided", "first_a", "first_b"]

BEFORE, AFTER = "before", "after"
"""What the two libraries of --libraries are called."""

MOST_BUDGET_S = 24 * 3600


@dataclass(frozen=True)
class CompareOutputs:
    """What is drawn of the comparison, and the cards that value it."""

    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Draw the comparison as one page; up to 8 runs.")
    ] = None
    export: Annotated[
        Path | None,
        typer.Option(
            "--export", metavar="DIR", help="Write each figure of the page as PNG, SVG, PDF and its numbers as CSV."
        ),
    ] = None
    device: Annotated[
        list[str] | None,
        typer.Option("--device", metavar="CARD", help="Value a run that counted by the card of its part."),
    ] = None
    allow_assumed: AllowAssumed = False


class CompareFormat(StrEnum):
    """How a comparison is printed; Markdown is for a pull request."""

    table = "table"
    markdown = "markdown"
    json = "json"
    csv = "csv"


def compare(
    context: typer.Context,
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN...",
            help="Paths, ids or `last`; the others are compared with the first. With --libraries a study.",
        ),
    ] = None,
    *,
    libraries: Annotated[
        tuple[Path, Path] | None,
        typer.Option("--libraries", metavar="BEFORE AFTER", help="Measure a study by two libraries of your own."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="With --libraries the run's folder.")] = None,
    providers: Annotated[
        tuple[str, str] | None, typer.Option("--providers", metavar="A B", help="Provider B against provider A.")
    ] = None,
    fail_above: Annotated[
        str | None,
        typer.Option("--fail-above", metavar="2%", help="The margin; end with 9 where a case is slower by more."),
    ] = None,
    budget: Annotated[
        str, typer.Option("--budget", metavar="60s", help="With --libraries the time to measure: 30s, 2m.")
    ] = "60s",
    form: Annotated[
        CompareFormat | None, typer.Option("--format", help="How to print the table; with --html none is.")
    ] = None,
    drawn: CompareOutputs = CompareOutputs(),
) -> None:
    """Compare the cases of runs with those of the first, or of two providers: the ratio of the second to the first.

    A ratio above 1 says that the second one is slower; its interval is of 95 %, for each case by itself. A case is
    slower where the interval lies wholly above the margin, equivalent where it lies within it, undecided where it holds
    its end. The margin is the study's smallest effect, or --fail-above, which ends with 9 where a case is slower or has
    a number in the first run and none in the second. A slowdown of just the margin stays undecided: to find 2 %, ask
    for --fail-above 1%. Runs of two builds of the probe are shown beside each other, and nothing is claimed of them.
    Energies are compared where one meter measured both, two kinds of processor by time. Runs that counted on
    emulated cores are compared by cycles, and as counts repeat, --fail-above judges by the counts alone; of several
    cores it says how alike they order the ciphers. --libraries measures a study by two builds of your library side by
    side, until every case is decided or --budget is spent; with --fail-above it ends with 8 where one is not.

    Examples: wattlock compare before after --fail-above 2%    wattlock compare laptop pi4 phone --html machines.html
    wattlock compare before after --export figures    wattlock compare last --providers rustcrypto openssl
    wattlock compare --libraries old.so new.so mine.toml --fail-above 2% --format markdown
    """
    from wattlock.run.begin import Decision
    from wattlock.run.run_comparison import compare as compared

    _refuse_mixed(given(context))
    if not runs:
        raise _unnamed(libraries)
    begun, decision = None, Decision(_share(fail_above), _seconds(budget))
    if libraries is not None:
        begun = _measured(runs, libraries, out, decision)
        runs, providers = [str(begun.folder.path)], (BEFORE, AFTER)
    if len(runs) == 1 and providers is None:
        raise UsageError(
            "nothing to compare the run with",
            hint="name a second run, or two providers: --providers rustcrypto openssl",
        )
    results = _read(runs, drawn)
    found = compared(results[0], results[1:], providers, decision.margin)
    for line in found.warnings:
        echo(f"warning: {line}", err=True)
    _say_orders(found)
    if drawn.html is not None or drawn.export is not None:
        from wattlock.report.compared import run_comparison

        _draw(run_comparison(runs, found, drawn.device or ()), drawn)
    if form is not None or drawn.html is None:
        _print(found, form or CompareFormat.table)
    _judge(found, decision, begun, results[0])


def _judge(found: Comparison, decision: Decision, begun: Begun | None, result: Result) -> None:
    """Raises what speaks against the second: what is slower, then what failed, then what two builds leave undecided.

    Without --fail-above nothing does but a case that failed.
    """
    from wattlock.cli.carry_out import refuse_failures

    if begun is None and decision.margin is not None and found.undecided:
        echo(f"warning: {found.undecided}", err=True)
    if decision.margin is not None:
        found.refuse_slower()
    if begun is None:
        return
    refuse_failures(result.estimates, begun.folder, begun.absent)
    try:
        found.refuse_undecided(decision.budget_s)
    except EvidenceError as undecided:
        if decision.margin is not None:
            raise
        echo(f"warning: {undecided.message}\nhint: {undecided.hint}", err=True)


def _refuse_mixed(requested: Collection[str]) -> None:
    """Raises InputError for options that say nothing beside each other."""
    refuse_pair(requested, "--libraries", "--providers", "the two libraries are what is compared")
    refuse_without(requested, "--out", "--libraries", "a run that is there has its folder")
    refuse_without(requested, "--budget", "--libraries", "a run that is there was measured")


def _read(names: list[str], drawn: CompareOutputs) -> list[Result]:
    """The runs, those that counted valued by the cards of their parts."""
    from wattlock.energy.valuing import valued_runs
    from wattlock.run.result import open_run

    results = [open_run(name) for name in names]
    if drawn.device and any("time" in result.quantities for result in results):
        what = "--device: joules by a card are the cycles times what a cycle takes, and times are what is compared here"
        raise UsageError(what, hint="`wattlock show RUN --device CARD` values a run")
    return valued_runs(results, drawn.device or (), allow_assumed=drawn.allow_assumed)


def _say_orders(found: Comparison) -> None:
    """Says how alike several cores order the ciphers."""
    if found.agreement is None:
        return
    if found.agreement.is_empty():
        echo("warning: no order is compared: there are no three comparable ciphers on two cores", err=True)
        return
    echo(
        "how alike the cores order the ciphers (Kendall's tau-b, 1 is the same order; no order within the errors "
        "of the rules lies beyond low and high):",
        err=True,
    )
    show_aside(found.agreement.select(AGREEMENT))


def _draw(comparison: RunComparison, drawn: CompareOutputs) -> None:
    from wattlock.report.compare_page import compare_page

    if drawn.html is not None:
        _write(drawn.html, compare_page(comparison))
    if drawn.export is not None:  # to write figures loads an engine that a page doesn't need
        from wattlock.report.figure_files import write_compare_figures

        echo(f"wrote {write_compare_figures(drawn.export, comparison)} files into {drawn.export}", err=True)


def _write(file: Path, page: str) -> None:
    from wattlock.store.disk import write_out

    write_out(file, page, "--html")
    wrote(file)


def _print(found: Comparison, form: CompareFormat) -> None:
    table, several = found.table, len(found.pairs) > 1
    if form in {CompareFormat.json, CompareFormat.csv}:
        print_table(table, Format(form.value))
        return
    if found.is_exact:
        shown = _counted(table, several=several)
    elif form is CompareFormat.markdown:
        shown = _for_a_pull_request(table, several=several)
    else:
        columns = [*SHORT, *(ENERGY if table["energy_ratio"].count() else [])]
        shown = table.select(short([*(["run_b"] if several else []), *columns], table))
    if form is CompareFormat.markdown:
        echo(markdown(shown))
    else:
        print_table(shown, Format.table, ANSWER)


def _counted(table: pl.DataFrame, *, several: bool) -> pl.DataFrame:
    """The columns of counts that hold anything."""
    has_cycles = table["ratio"].count() > 0
    columns = COUNTED if has_cycles else [*COUNTED[:6], "instructions_a", "instructions_b", *COUNTED[8:]]
    columns = [name for name in columns if name in table.columns and table[name].count()]
    columns = [*(["run_b"] if several else []), *columns]
    return table.select(columns if not table["aad_B"].sum() else [*columns[:3], "aad_B", *columns[3:]])


def _for_a_pull_request(table: pl.DataFrame, *, several: bool) -> pl.DataFrame:
    """Few columns, and a ratio with its interval in one."""
    import polars as pl

    interval = pl.format("{} ({} to {})", *(pl.col(name).round(4) for name in ("ratio", "ratio_low", "ratio_high")))
    case = ["cipher", "operation", "payload_B", "data", "provider_a", "provider_b"]
    named = interval.alias("ratio (95 % interval)")
    why = pl.when(pl.col("ratio").is_null()).then(pl.format("{}: {}", "verdict", "reason")).otherwise("verdict")
    return table.select(*(["run_b"] if several else []), *short(case, table), named, why.alias("verdict"))


def _measured(studies: list[str], libraries: tuple[Path, Path], out: Path | None, decision: Decision) -> Begun:
    """Carries out a study by two libraries alone; gives its run."""
    from wattlock.cli.carry_out import carry_out
    from wattlock.cli.options import chosen
    from wattlock.run import begin

    if len(studies) > 1:
        raise UsageError("--libraries takes one study", hint="name its file, or one of `wattlock studies`")
    for path in libraries:
        if not path.is_file():
            raise InputError(f"--libraries {path}: there is no such file", hint="check the path")
    paths = {name: path.absolute() for name, path in zip((BEFORE, AFTER), libraries, strict=True)}
    request = begin.Request(studies[0], only=[f"provider={name}" for name in paths], libraries=paths, decision=decision)
    planned = begin.plan(request, chosen())
    ciphers = {cipher for grid in planned.session.study.grid for cipher in grid.cipher}
    if lacking := sorted(ciphers - {case.cipher for case in planned.cases}):
        raise InputError(f"no library has {', '.join(lacking)} of {studies[0]}", hint="name a study of their ciphers")
    for line in planned.warnings():
        echo(f"warning: {line}", err=True)
    begun = planned.create(out)
    carry_out(begun)
    return begun


def _unnamed(libraries: tuple[Path, Path] | None) -> InputError:
    """What to name where no run and no study is."""
    if libraries is None:
        return UsageError("name the runs to compare", hint="paths, ids or `last`: wattlock compare before after")
    both = " ".join(map(shlex.quote, map(str, libraries)))
    hint = f"its name or file, as quick: wattlock compare --libraries {both} quick"
    return UsageError("--libraries needs a study to measure", hint=hint)


def _seconds(text: str) -> float:
    """`30s` and `2m` in seconds.

    Raises InputError for anything else.
    """
    try:
        seconds = float(text[:-1]) * {"s": 1, "m": 60}[text[-1:]]
    except (ValueError, KeyError):
        seconds = math.nan
    if not 0 < seconds <= MOST_BUDGET_S:
        hint = f"seconds or minutes, at most {MOST_BUDGET_S // 60} of these: --budget 30s, --budget 2m"
        raise UsageError(f'--budget "{text}" is no time to measure', hint=hint)
    return seconds


def _share(text: str | None) -> float | None:
    """`2%` as 0.02; null where nothing is asked for.

    Raises InputError for anything else, as for a bare 2, of which nobody knows what it means.
    """
    if text is None:
        return None
    try:
        percent = float(text.removesuffix("%"))
    except ValueError:
        percent = -1.0
    if not (text.endswith("%") and 0 <= percent <= 1000):
        raise UsageError(f'--fail-above "{text}" is no percentage', hint="for example --fail-above 2%")
    return percent / 100
