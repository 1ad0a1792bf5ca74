"""`wattlock page`: a phone, or any browser, measures itself."""

from __future__ import annotations

import contextlib
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from wattlock.cli.echo import echo
from wattlock.cli.options import refuse_name
from wattlock.cli.run import DischargeOptions
from wattlock.errors import UsageError, WattlockError

if TYPE_CHECKING:
    from wattlock.page.certificate import Certificate
    from wattlock.page.visits import Visitor
    from wattlock.run.discharge import DischargePlan

LOOK_S, TOLD_S = 0.5, 10.0
LOOPBACK = "127.0.0.1"
"""What `adb reverse` connects to."""


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
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="ID", help="Only these ciphers, as 'aes*'; or cases, as FIELD=GLOB,..."),
    ] = None,
    discharged: DischargeOptions = DischargeOptions(),
    https: Annotated[
        bool, typer.Option("--https", help="Speak https, by a certificate of its own that is kept for the address.")
    ] = False,
    adb: Annotated[
        bool, typer.Option("--adb", help="Have the phone that adb is connected to reach this address.")
    ] = False,
    once: Annotated[bool, typer.Option("--once", help="End after the first run.")] = False,
) -> None:
    """Serve a page in which a browser measures itself: ciphers in WebAssembly, each run sealed like any other.

    Open the address that it prints; on a phone over USB with --adb, in a local network with --https. Ctrl-C ends it.

    Examples: wattlock page --out runs    wattlock page --adb    wattlock page --https --bind 192.168.1.2:8894
    wattlock page --only aes128-gcm --battery any --until-percent 60
    """
    from wattlock.cli.progress import heed_ctrl_c
    from wattlock.page.server import serving
    from wattlock.page.visits import Visits, find
    from wattlock.study import load
    from wattlock.targets.remote import reversed_port

    refuse_name(bind)
    load(study)
    discharge = discharged.discharge(None)
    if discharge is not None and discharge.battery:
        raise UsageError(f"--battery {discharge.battery}: a page has no names of batteries", hint="--battery any")
    visits = Visits(find())
    host, _, port = bind.rpartition(":")
    host = host.strip("[]")
    if adb and host != LOOPBACK:
        raise UsageError(f"--adb: the phone reaches {LOOPBACK} here, not {host}", hint="leave --bind out")
    certificate = _certificate(host) if https else None
    with contextlib.ExitStack() as ways:
        address = ways.enter_context(serving(host, int(port), visits, certificate and certificate.context()))
        if adb:
            ways.enter_context(reversed_port(urlsplit(address).port or 0))
        heed_ctrl_c()
        echo(address)
        _show_code(address)
        echo("Open this address, all of it. A phone over USB reaches it with --adb.", err=True)
        if certificate is not None:
            echo("Its browser warns, as nobody else vouches for the certificate. Compare its SHA-256:", err=True)
            echo(certificate.fingerprint, err=True)
        while True:
            visitor = visits.next(LOOK_S)
            if visitor is None:
                continue
            error = _measured(visitor, study, out, only or [], discharge)
            if once:
                visitor.told.wait(TOLD_S)
                if error is not None:
                    raise error
                return


def _certificate(host: str) -> Certificate:
    from wattlock import extras

    extras.require("page")
    from wattlock.page.certificate import certificate

    return certificate(host)


def _show_code(address: str) -> None:
    """Shows the address to a phone's camera, where a terminal can."""
    from wattlock import extras

    if not sys.stdout.isatty():
        return
    if extras.absent("page"):
        echo(f"note: `{extras.install('page')}` shows the address as a QR code", err=True)
        return
    from wattlock.page.certificate import code

    if (drawn := code(address, shutil.get_terminal_size().columns)) is not None:
        typer.echo(drawn)


def _measured(
    visitor: Visitor, study: str, out: Path, only: list[str], discharge: DischargePlan | None
) -> WattlockError | None:
    """Measures a page and says what came of it; gives the error that ended its run."""
    from wattlock.cli import say
    from wattlock.page.visits import measure

    device = visitor.target.device
    echo(f"a page of {device['model'] or device['platform']} is measured", err=True)
    try:
        folder = measure(visitor, study, out, only=only, discharge=discharge)
    except WattlockError as error:
        say(error.message, error.hint)
        return error
    for line in visitor.state["words"]:
        echo(line, err=True)
    echo(f"The numbers: {folder.showing}", err=True)
    if discharge is not None:
        echo(f"What a call took out of the battery: {folder.showing} --battery", err=True)
    return None
