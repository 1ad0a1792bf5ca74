"""`wattlock selftest`: whether the ciphers of a device compute what they should."""

from __future__ import annotations

from typing import Annotated

import typer

from wattlock.cli.echo import echo
from wattlock.cli.options import On, chosen
from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table

SHORT = ["cipher", "provider", "version", "path", "proof", "vectors", "result", "detail"]
"""The columns for eyes; JSON and CSV have all that the probe says."""


def selftest(
    cipher: Annotated[
        list[str] | None, typer.Option("--cipher", metavar="ID", help="Only this cipher; may be given several times.")
    ] = None,
    provider: Annotated[
        list[str] | None, typer.Option("--provider", metavar="NAME", help="Only of this provider; several times too.")
    ] = None,
    library: Annotated[
        list[str] | None,
        typer.Option("--library", metavar="NAME=PATH", help="A library of your own beside the others."),
    ] = None,
    on: On = None,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """Prove the ciphers of this machine, or of the device of --on: by published vectors, by definition, by agreement.

    It ends with 1 where a cipher is wrong, or a library of your own can't be used.

    Examples: wattlock selftest --cipher aes128-cbc    wattlock selftest --on ssh:pi4
    """
    import polars as pl

    from wattlock.run.libraries import named_libraries
    from wattlock.targets import probe

    libraries = named_libraries(library or [])
    rows = probe.proofs(chosen(on), cipher or [], provider or [], libraries)
    table = pl.DataFrame(rows, infer_schema_length=None)
    print_table(table.select(SHORT) if form is Format.table else table, form)
    right, wrong = (sum(row["result"] == result for row in rows) for result in ("right", "wrong"))
    echo(f"{right} right, {wrong} wrong", err=True)
    if wrong or any(row["result"] == "absent" and row["provider"] in libraries for row in rows):
        raise typer.Exit(1)
