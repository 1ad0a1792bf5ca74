"""`wattlock receive`: the other side of `wattlock send`."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from typing import Annotated

import typer

from wattlock.cli.send import MOST_B, MOST_SILENCE_s, MOST_TIME_s, SideMeter, carry_out, passed
from wattlock.cli.table import Format
from wattlock.errors import InputError

IPV6, LAST_PORT = 6, 65_535


def receive(
    *,
    bind: Annotated[
        str, typer.Option("--bind", metavar="ADDRESS:PORT", help="Where to listen; port 0 takes a free one.")
    ] = "127.0.0.1:0",
    into: Annotated[Path, typer.Option("--into", metavar="DIR", help="The folder that files go to.")] = Path(
        "received"
    ),
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", metavar="PATH", help="Write the token to this new file and do not print it."),
    ] = None,
    max_size: Annotated[
        int,
        typer.Option("--max-size", metavar="BYTES", min=0, max=MOST_B, help="The most bytes of all files together."),
    ] = 256 * 1024 * 1024,
    max_time: Annotated[
        int,
        typer.Option("--max-time", min=1, max=MOST_TIME_s, help="The longest time of all, the wait included, seconds."),
    ] = 3600,
    timeout: Annotated[
        int, typer.Option("--timeout", min=1, max=MOST_SILENCE_s, help="The sender's longest silence, seconds.")
    ] = 60,
    provider: Annotated[str | None, typer.Option("--provider", metavar="NAME", help="Whose code decrypts.")] = None,
    by: SideMeter = SideMeter(),
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """Take the files of one `wattlock send`, whoever holds the token that this prints; print what they cost this side.

    It listens on loopback unless --bind names another address. Nothing is overwritten. Ends with 10 where a side
    refuses (docs/transfer.md). Example: wattlock receive --bind 192.168.1.2:7400 --into received
    """
    by.refuse_place_alone()
    _refuse_name(bind)
    words = ["receive", "--bind", bind, "--into", str(into), "--max-size", str(max_size), "--max-time", str(max_time)]
    words += ["--timeout", str(timeout), *passed("--token-file", token_file)]
    words += passed("--provider", provider) + by.words()
    carry_out(words, form)


def _refuse_name(bind: str) -> None:
    """Raises InputError where `bind` is no address in numbers with a port."""
    host, _, port = bind.rpartition(":")
    try:
        address = ip_address(host.removeprefix("[").removesuffix("]"))
        right = (address.version == IPV6) == host.startswith("[") and port.isascii() and 0 <= int(port) <= LAST_PORT
    except ValueError:
        right = False
    if not right:
        hint = (
            "ADDRESS:PORT, the address in numbers: 127.0.0.1:7400, 192.168.1.2:7400 or [::1]:7400; port 0 is a free one"
        )
        raise InputError(f"--bind {bind}: no address with a port", hint=hint)
