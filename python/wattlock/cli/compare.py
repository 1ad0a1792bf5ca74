"""`wattlock compare`: the cases of runs against those of the first, or of two providers of one run."""

from __future__ import annotations

from typing import Annotated

import typer

from wattlock.cli.table import Format, short
from wattlock.cli.table import show as print_table
from wattlock.errors import InputError

SHORT = ["cipher", "operation", "payload_B", "data", "provider_a", "provider_b", "cycles_per_byte_a"]
SHORT += ["cycles_per_byte_b", "ratio", "ratio_low", "ratio_high", "verdict"]
"""The columns for eyes, with `aad_B` where a case has associated data; JSON and CSV have all of them."""

ENERGY = ["energy_ratio", "energy_ratio_low", "energy_ratio_high"]
"""Behind them where one meter measured both: net joules of the second over those of the first, the gain cancelled."""


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN...", help="Paths, ids or `last`; the others are compared with the first."),
    ],
    providers: Annotated[
        tuple[str, str] | None, typer.Option("--providers", metavar="A B", help="Provider B against provider A.")
    ] = None,
    fail_above: Annotated[
        str | None,
        typer.Option("--fail-above", metavar="2%", help="End with 9 where a case is slower by more."),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """Compare the cases of runs with those of the first, or of two providers: the ratio of the second to the first.

    A ratio above 1 says that the second one is slower; its interval is of 95 %, for each case by itself. A case
    fails --fail-above where its ratio is above that and its interval wholly above 1, and where it has a number in
    the first run and none in the second; cases that can't be decided are named. A slowdown of just that size is
    found in about half of all runs, since its ratio comes out above as often as below: to find 2 %, ask for
    --fail-above 1%. Runs of two builds of the probe are shown beside each other, and nothing is claimed of them.
    Energies are compared where one meter measured both.

    Examples: wattlock compare before after --fail-above 2%    wattlock compare monday tuesday wednesday
    wattlock compare last --providers rustcrypto openssl
    """
    from wattlock.run.compare import compare as compared
    from wattlock.run.result import open_run

    share = _share(fail_above) if fail_above is not None else None
    if len(runs) == 1 and providers is None:
        raise InputError(
            "nothing to compare the run with",
            hint="name a second run, or two providers: --providers rustcrypto openssl",
        )
    first, *others = [open_run(name) for name in runs]
    found = compared(first, others, providers)
    for line in found.warnings:
        typer.echo(f"warning: {line}", err=True)
    table = found.table
    several = ["run_b"] if len(others) > 1 else []
    columns = [*several, *SHORT, *([] if table["energy_ratio"].null_count() == table.height else ENERGY)]
    print_table(table.select(short(columns, table)) if form is Format.table else table, form)
    if share is not None:
        if unclear := found.unclear(share):
            typer.echo(f"warning: {unclear}", err=True)
        found.refuse_slower(share)


def _share(text: str) -> float:
    """`2%` as 0.02.

    Raises InputError for anything else, as for a bare 2, of which nobody knows what it means.
    """
    try:
        percent = float(text.removesuffix("%"))
    except ValueError:
        percent = -1.0
    if not (text.endswith("%") and 0 <= percent <= 1000):
        raise InputError(f'--fail-above "{text}" is no percentage', hint="for example --fail-above 2%")
    return percent / 100
