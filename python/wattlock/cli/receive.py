"""`wattlock receive`: the other side of `wattlock send`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wattlock.cli.options import refuse_name
from wattlock.cli.send import MOST_B, MOST_SILENCE_s, MOST_TIME_s, SideMeter, carry_out, passed
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
    refuse_name(bind)
    words = ["receive", "--bind", bind, "--into", str(into), "--max-size", str(max_size), "--max-time", str(max_time)]
    words += ["--timeout", str(timeout), *passed("--token-file", token_file)]
    words += passed("--provider", provider) + by.words()
    carry_out(words, form)
