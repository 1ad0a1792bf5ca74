"""`wattlock push`: send a sealed run to a lab."""

from __future__ import annotations

from typing import Annotated

import typer

from wattlock.cli.echo import echo
from wattlock.cli.options import Run

Token = Annotated[
    str | None,
    typer.Option(
        "--token", metavar="T", envvar="WATTLOCK_TOKEN", show_envvar=False, help="The lab's token, else WATTLOCK_TOKEN."
    ),
]


def push(
    run: Run = "last",
    *,
    to: Annotated[str, typer.Option("--to", metavar="URL", help="The lab, as `wattlock lab` prints it.")],
    token: Token = None,
) -> None:
    """Send a sealed run to a lab, which checks it and computes its estimates again; prints the hash that names it.

    A run that the lab has already changes nothing.

    Example: wattlock push last --to http://127.0.0.1:8893
    """
    from wattlock.lab import client
    from wattlock.store import find

    warn_in_the_clear(to, token)
    hash_, is_new = client.push(find(run), to, token)
    echo(hash_)
    page = f"{to.rstrip('/')}/runs/{hash_}"
    echo(f"its page: {page}" if is_new else f"the lab has it already: {page}", err=True)


def warn_in_the_clear(lab: str, token: str | None) -> None:
    """Say where a token can be read on its way."""
    from wattlock.lab.client import is_in_the_clear

    if token and is_in_the_clear(lab):
        echo("warning: the token goes over http in the clear; https or an ssh tunnel hides it", err=True)
