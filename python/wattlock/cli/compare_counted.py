"""Runs that counted on microcontrollers, as `compare` tells of them."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from wattlock.cli.echo import echo
from wattlock.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from wattlock.report.compare_facts import CompareFacts
    from wattlock.report.counted_compare import CountedCompareFacts, CountedSide
    from wattlock.run.compare_counts import CountComparison
    from wattlock.run.counts import Counts

COMPARED = ["cipher", "operation", "payload_B", "provider", "provider_a", "provider_b", "cycles_a", "cycles_b"]
COMPARED += ["ratio", "ratio_low", "ratio_high", "instructions_ratio", "part_cycles_a", "part_cycles_b"]
COMPARED += ["energy_uJ_a", "energy_uJ_b", "flash_B_a", "flash_B_b", "verdict"]
"""The columns for eyes, those that hold anything; JSON and CSV have all of them."""
AGREEMENT = [
    "core_a",
    "core_b",
    "operation",
    "mode",
    "payload_B",
    "ciphers",
    "ordered_by",
    "tau",
    "tau_low",
    "tau_high",
]
AGREEMENT += ["undecided", "first_a", "first_b"]


def counted_runs(names: Sequence[str]) -> list[Counts]:
    """The runs, where they counted; none where none of them did.

    Raises EvidenceError where only some did.
    """
    from wattlock.run.counts import open_counted, refuse

    found = [open_counted(name) for name in names]
    counted = [run for run in found if run is not None]
    if counted and len(counted) < len(found):
        refuse(counted[0].id, counted[0].counted)
    return counted


def say_differences(found: CountComparison) -> None:
    """Says in what the runs differ, and how alike their cores order the ciphers."""
    from wattlock.cli.table import show_aside

    for line in found.warnings:
        echo(f"warning: {line}", err=True)
    if found.agreement is not None and found.agreement.is_empty():
        echo("warning: no order is compared: there are no three comparable ciphers on two cores", err=True)
    elif found.agreement is not None:
        echo(
            "how alike the cores order the ciphers (Kendall's tau-b, 1 is the same order; no order within the errors "
            "of the rules lies beyond low and high):",
            err=True,
        )
        show_aside(found.agreement.select(AGREEMENT))


def counted_compare_facts(
    names: Sequence[str],
    found: CountComparison,
    providers: tuple[str, str] | None,
    cards: Sequence[str],
    folders: Sequence[str] | None = None,
) -> CountedCompareFacts:
    """A comparison of runs that counted in the words of its page; `names`: the runs as they were asked for.

    * `folders`: what the runs' folders are called, where `names` are no way to them.

    Raises InputError where there are more runs than fit a page.
    """
    from wattlock.cli.compare_facts import folder_names
    from wattlock.report.compare_facts import MOST_SIDES
    from wattlock.report.counted_compare import CountedCompareFacts, CountedSide

    if len(found.runs) > MOST_SIDES:
        hint = "`--format csv` compares any number"
        raise InputError(f"a page holds {MOST_SIDES} runs, these are {len(found.runs)}", hint=hint)
    runs = [found.runs[0], *(pair.second for pair in found.pairs)]
    called = _called(folders or folder_names(names), runs, providers)
    own = [None] * len(runs) if providers is None else [providers[0], *[providers[1]] * len(found.pairs)]
    sides = [
        CountedSide(chr(ord("A") + place), called[place], run.id, *_of_provider(run, own[place]))
        for place, run in enumerate(runs)
    ]
    options = [f"--providers {' '.join(map(shlex.quote, providers))}"] if providers else []
    options += [f"--device {shlex.quote(card)}" for card in cards]
    options += ["--allow-assumed"] if any(_is_assumed(side.estimates) for side in sides) else []
    return CountedCompareFacts(
        sides=sides,
        where="" if found.is_of_cores or called[0] == runs[0].title else runs[0].place,
        agreement=found.agreement,
        ratios=None if found.is_of_cores else _ratios(sides, found),
        warnings=found.warnings,
        command=" ".join(["wattlock compare", *map(shlex.quote, names), *options, "--html compare.html"]),
    )


def _is_assumed(estimates: pl.DataFrame) -> bool:
    return "energy_evidence" in estimates.columns and "assumed" in estimates["energy_evidence"]


def _of_provider(run: Counts, provider: str | None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The cases of one provider with their ranking, the provider told by the side; all of the run without one."""
    import polars as pl

    from wattlock.analysis.counts import rank

    if provider is None:
        return run.estimates, run.ranking
    own = run.estimates.filter(pl.col("provider") == provider).with_columns(provider=pl.lit(""))
    return own, rank(own)


def _called(folders: Sequence[str], runs: Sequence[Counts], providers: tuple[str, str] | None) -> list[str]:
    """What the sides are called: by their cores, or where these are the same by their folders, else by their ids."""
    if providers is not None and len(folders) == 1:
        return list(providers)
    titles = [run.title for run in runs]
    for several in (titles, folders):
        if len(set(several)) == len(several):
            called = list(several)
            break
    else:
        called = [run.id for run in runs]
    return [f"{name}, {providers[min(place, 1)]}" if providers else name for place, name in enumerate(called)]


def _by_count(ratio: str) -> pl.Expr:
    """The verdict of instructions: they are counted, and have no error."""
    import polars as pl

    more = pl.when(pl.col(ratio) > 1).then(pl.lit("more"))
    return more.when(pl.col(ratio) < 1).then(pl.lit("less")).otherwise(pl.lit("equivalent"))


def _ratios(sides: Sequence[CountedSide], found: CountComparison) -> CompareFacts:
    """The cases of versions on one core beside those of the first, as figures of ratios take them."""
    import polars as pl

    from wattlock.report.compare_facts import Against, CompareFacts, Side

    by = "ratio" if found.table["ratio"].count() else "instructions_ratio"
    verdicts = {"alike": "equivalent", "fewer": "less"}
    letters = [Side(side.letter, side.name, side.run, ()) for side in sides]
    others = []
    for side, pair in zip(letters[1:], found.pairs, strict=True):
        compared = pair.compared
        rows = compared.with_columns(
            pl.lit("cycles" if by == "ratio" else "instructions").alias("quantity"),
            pl.col(by).alias("ratio"),
            # What the rules err by in the one, they err by in the same counts of the other.
            *(
                pl.when(pl.col("verdict") == "alike")
                .then(by)
                .otherwise(pl.col(f"ratio_{end}").fill_null(pl.col(by)))
                .alias(f"ratio_{end}")
                for end in ("low", "high")
            ),
            (pl.col("verdict").replace(verdicts) if by == "ratio" else _by_count(by)).alias("verdict"),
            *([pl.col("provider").alias("provider_b")] if "provider_b" not in compared.columns else []),
        )
        others.append(Against(side, rows, pair.lost.height, 0, "", 0.0, has_equivalence=True))
    families = dict(found.runs[0].estimates.select("cipher", "family").iter_rows())
    return CompareFacts(letters[0], others, families, "emulated", None, (), "")


def print_counts(found: CountComparison, form: str) -> None:
    """Prints the table; `form`: as of --format."""
    from wattlock.cli.table import Format, markdown
    from wattlock.cli.table import show as print_table

    table = found.table
    has_cycles = table["ratio"].count() > 0
    columns = COMPARED if has_cycles else [*COMPARED[:6], "instructions_a", "instructions_b", *COMPARED[8:]]
    columns = [name for name in columns if name in table.columns and table[name].count()]
    columns = [*(["run_b"] if len(found.pairs) > 1 else []), *columns]
    shown = table.select(columns if not table["aad_B"].sum() else [*columns[:3], "aad_B", *columns[3:]])
    if form == "markdown":
        echo(markdown(shown))
    else:
        print_table(shown if form == "table" else table, Format(form))
