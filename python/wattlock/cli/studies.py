"""`wattlock studies`: the studies that come with wattlock."""

from __future__ import annotations

from typing import Annotated

import typer

from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table


def studies(
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """List the studies that come with wattlock; a file of your own does as well.

    Example: wattlock studies
    """
    import polars as pl

    from wattlock.study import load, names

    found = [(name, load(name)) for name in names()]
    columns = {
        "study": [name for name, _ in found],
        "title": [study.title for _, study in found],
        "ciphers": [len(study.ciphers()) for _, study in found],
        "target_percent": [study.target_percent for _, study in found],
        "question": [study.question for _, study in found],
    }
    print_table(pl.DataFrame(columns), form)
