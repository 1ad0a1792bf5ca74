"""`wattlock receive`: the other side of `wattlock send`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wattlock.cli.send import carry_out, given
from wattlock.cli.table import Format


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
        int, typer.Option("--max-size", metavar="BYTES", min=0, help="The most bytes of all files together.")
    ] = 256 * 1024 * 1024,
    max_time: Annotated[
        int, typer.Option("--max-time", min=1, help="The longest time of all, the wait included, seconds.")
    ] = 3600,
    timeout: Annotated[int, typer.Option("--timeout", min=1, help="The sender's longest silence, seconds.")] = 60,
    provider: Annotated[str | None, typer.Option("--provider", metavar="NAME", help="Whose code decrypts.")] = None,
    meter: Annotated[str | None, typer.Option("--meter", metavar="NAME", help="This side's energy meter.")] = None,
    sys_root: Annotated[
        Path | None, typer.Option("--sys-root", metavar="DIR", help="Read the meter below DIR in place of /sys.")
    ] = None,
    stream: Annotated[
        Path | None, typer.Option("--stream", metavar="FILE", help="The meter's serial device or recording.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """Take the files of one `wattlock send`, whoever holds the token that this prints; print what they cost this side.

    It listens on loopback unless --bind names another address. Nothing is overwritten. Example: wattlock receive
    --bind 192.168.1.2:7400 --into received
    """
    words = ["receive", "--bind", bind, "--into", str(into), "--max-size", str(max_size), "--max-time", str(max_time)]
    words += ["--timeout", str(timeout), *given("--token-file", token_file), *given("--provider", provider)]
    words += given("--meter", meter) + given("--sys-root", sys_root) + given("--stream", stream)
    carry_out(words, form)
