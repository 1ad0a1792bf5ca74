"""`wattlock explain`: why ciphertext took longer, by hypotheses on measured durations."""

from __future__ import annotations

from typing import Annotated

import typer

from wattlock.cli.echo import echo
from wattlock.cli.options import AllowAssumed, Cards, Valuing, given, refuse_without
from wattlock.cli.table import Format, show, show_filled

SHOWN = ("hypothesis", "behind", "weight", "spread_percent", "worst_percent", "parameters", "bic", "share")


def explain(
    context: typer.Context,
    durations: Annotated[
        str, typer.Argument(metavar="NAME|CSV", help="elminaam-wlan, or a CSV: data,cipher,condition,duration_s.")
    ],
    *,
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help="A run's path, its id, or `last`: the ciphers' speeds.")
    ] = None,
    device: Annotated[
        str | None, typer.Option("--device", metavar="CARD", help="Value the run by this device card.")
    ] = None,
    cards: Cards = None,
    allow_assumed: AllowAssumed = False,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """Rank hypotheses why ciphertext took longer, fitted to printed durations or to a CSV of your own.

    With --run the durations' ciphers are called as in the run.

    Examples: wattlock explain elminaam-wlan; wattlock explain durations.csv --run last
    """
    import polars as pl

    from wattlock.link.durations import explain as ranked
    from wattlock.link.durations import load
    from wattlock.link.wifi import speeds_B_per_s

    for option in ("--device", "--cards", "--allow-assumed"):
        refuse_without(given(context), option, "--run", "hypotheses are of durations; cards value a run's cycles")
    measured = Valuing(run, device, cards, allow_assumed).measured()
    cells, source = load(durations)
    speeds = None if measured is None else speeds_B_per_s(measured)
    described = ranked(cells, source, speeds_B_per_s=speeds, speeds_from="the run")
    if form is not Format.table:
        show(pl.DataFrame(described.rows(), infer_schema_length=None), form)
        for sentence in described.sentences():
            echo(sentence, err=True)
        return
    show_filled([{key: row[key] for key in SHOWN} for row in described.rows()])
    echo("")
    for sentence in described.sentences():
        echo(sentence)
