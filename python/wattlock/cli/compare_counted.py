"""Runs that counted on emulated cores, as `compare` tells of them."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import typer

from wattlock.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wattlock.run.compare_counts import CountComparison
    from wattlock.run.counts import Counts

COMPARED = ["cipher", "operation", "payload_B", "provider", "provider_a", "provider_b", "cycles_a", "cycles_b"]
COMPARED += ["ratio", "ratio_low", "ratio_high", "instructions_ratio", "flash_B_a", "flash_B_b", "verdict"]
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
        refuse(counted[0].id, counted[0].core)
    return counted


def say_differences(found: CountComparison) -> None:
    """Says in what the runs differ, and how alike their cores order the ciphers."""
    from wattlock.cli.table import show_aside

    for line in found.warnings:
        typer.echo(f"warning: {line}", err=True)
    if found.agreement is not None:
        typer.echo(
            "how alike the cores order the ciphers (Kendall's tau-b, 1 is the same order; no order within the errors "
            "of the rules lies beyond low and high):",
            err=True,
        )
        show_aside(found.agreement.select(AGREEMENT))


def counted_page(names: Sequence[str], found: CountComparison) -> str:
    """The page of runs that counted; `names`: the runs as they were asked for.

    Raises InputError where there are more runs than fit a page.
    """
    from wattlock.report.compare_facts import MOST_SIDES
    from wattlock.report.counted_compare import CountedSide, counted_compare_page

    if len(found.runs) > MOST_SIDES:
        hint = "`--format csv` compares any number"
        raise InputError(f"a page holds {MOST_SIDES} runs, these are {len(found.runs)}", hint=hint)
    sides = [CountedSide(run.target, run.estimates, run.ranking) for run in found.runs]
    command = f"wattlock compare {' '.join(map(shlex.quote, names))} --html compare.html"
    return counted_compare_page(sides, found.agreement, found.warnings, command)


def print_counts(found: CountComparison, form: str) -> None:
    """Prints the table; `form`: as of --format."""
    from wattlock.cli.table import Format, markdown
    from wattlock.cli.table import show as print_table

    table = found.table
    columns = [name for name in COMPARED if name in table.columns]
    columns = [*(["run_b"] if len(found.pairs) > 1 else []), *columns]
    shown = table.select(columns if not table["aad_B"].sum() else [*columns[:3], "aad_B", *columns[3:]])
    if form == "markdown":
        typer.echo(markdown(shown))
    else:
        print_table(shown if form == "table" else table, Format(form))
