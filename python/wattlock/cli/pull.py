"""`wattlock pull`: fetch a run from a lab."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wattlock.cli.echo import echo
from wattlock.cli.push import Token, warn_in_the_clear


def pull(
    digits: Annotated[str, typer.Argument(metavar="HASH", help="The run's hash, or its first 8 digits and more.")],
    *,
    lab: Annotated[str, typer.Option("--from", metavar="URL", help="The lab, as `wattlock lab` prints it.")],
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="In place of runs/HASH.")] = None,
    token: Token = None,
) -> None:
    """Fetch a sealed run from a lab, bit by bit as it was pushed; prints its folder.

    Example: wattlock pull 3f9a01c2 --from http://127.0.0.1:8893 --out pi4
    """
    from wattlock.lab import client
    from wattlock.store.run_plan import ROOT

    warn_in_the_clear(lab, token)
    folder = out or ROOT / digits
    client.pull(digits, lab, token, folder)
    echo(str(folder))
