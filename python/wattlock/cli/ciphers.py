"""`wattlock ciphers`: the ciphers that can be weighed."""

from __future__ import annotations

from typing import Annotated

import typer

from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table
from wattlock.errors import InputError

SHORT = ["id", "key_bits", "block_bits", "iv_B", "rounds", "provider", "backend", "version", "timing"]


def ciphers(
    cipher: Annotated[
        str | None, typer.Option("--show", metavar="ID", help="Print all that is known of one cipher.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """List the ciphers that can be weighed, or print all that is known of one.

    Example: wattlock ciphers --show rc5-32-12-128-cbc
    """
    import polars as pl

    from wattlock.run import probe as probes

    rows, nearest = probes.catalogue(probes.find(), [cipher] if cipher else [])
    if not rows:
        near = nearest.get(cipher or "")
        hint = f'did you mean "{near}"? ' if near else ""
        raise InputError(f'no cipher "{cipher}"', hint=f"{hint}`wattlock ciphers` lists all of them")
    frame = pl.DataFrame(list(rows.values()), infer_schema_length=None)
    if form is not Format.table:
        print_table(frame, form)
    elif cipher:
        facts = next(iter(rows.values()))
        values = ["-" if value is None else str(value) for value in facts.values()]
        print_table(pl.DataFrame({"fact": list(facts), "value": values}), form)
    else:
        print_table(frame.select(SHORT), form)
