"""`wattlock page`: a phone, or any browser, measures itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wattlock.cli.option_rules import refuse_name
from wattlock.errors import WattlockError

if TYPE_CHECKING:
    from wattlock.page.visits import Visitor

LOOK_S, TOLD_S = 0.5, 10.0


def page(
    *,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder below which runs are made.")] = Path(
        "runs"
    ),
    bind: Annotated[
        str, typer.Option("--bind", metavar="ADDRESS:PORT", help="Where to listen; port 0 takes a free one.")
    ] = "127.0.0.1:8894",
    study: Annotated[
        str, typer.Option("--study", metavar="STUDY", help="What is measured: a name or a file.")
    ] = "page",
    once: Annotated[bool, typer.Option("--once", help="End after the first run.")] = False,
) -> None:
    """Serve a page in which a browser measures itself: ciphers in WebAssembly, each run sealed like any other.

    Open the address that it prints; on a phone over USB after `adb reverse tcp:8894 tcp:8894`. Ctrl-C ends it.
    Example: wattlock page --out runs
    """
    from wattlock.cli.progress import heed_ctrl_c
    from wattlock.page import module
    from wattlock.page.server import serving
    from wattlock.page.visits import Visits
    from wattlock.study import load

    refuse_name(bind)
    load(study)
    visits = Visits(module.find())
    host, _, port = bind.rpartition(":")
    with serving(host.strip("[]"), int(port), visits) as address:
        heed_ctrl_c()
        typer.echo(address)
        typer.echo("Open this address, all of it. A phone over USB: `adb reverse tcp:PORT tcp:PORT` first.", err=True)
        while True:
            visitor = visits.next(LOOK_S)
            if visitor is None:
                continue
            error = _measured(visitor, study, out)
            if once:
                visitor.told.wait(TOLD_S)
                if error is not None:
                    raise error
                return


def _measured(visitor: Visitor, study: str, out: Path) -> WattlockError | None:
    """Measures a page and says what came of it; gives the error that ended its run."""
    from wattlock.cli import say
    from wattlock.page.measuring import measure

    device = visitor.target.device
    typer.echo(f"a page of {device['model'] or device['platform']} is measured", err=True)
    try:
        folder = measure(visitor, study, out)
    except WattlockError as error:
        say(error.message, error.hint)
        return error
    for line in visitor.state["words"]:
        typer.echo(line, err=True)
    typer.echo(f"The numbers: {folder.showing}", err=True)
    return None
