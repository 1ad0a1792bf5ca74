"""`wattlock studies`: the studies that come with wattlock, and a template for one of your own."""

from __future__ import annotations

from typing import Annotated

import typer

from wattlock.cli.options import DefinitionOutput, given, printed, refuse_two
from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table


def studies(
    context: typer.Context,
    *,
    in_place: DefinitionOutput = DefinitionOutput(),
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """List the studies that come with wattlock; a file of your own does as well.

    A study of your own is one edit of the template: name your ciphers in it.

    Examples: wattlock studies; wattlock studies --show quick;
    wattlock studies --template > mine.toml; wattlock run mine.toml --dry-run;
    wattlock studies --schema > study.schema.json
    """
    import polars as pl

    from wattlock.study import load, names
    from wattlock.study.study import FORM, STUDIES

    refuse_two(given(context))
    if printed(in_place, STUDIES, FORM):
        return
    found = [(name, load(name)) for name in names()]
    columns = {
        "study": [name for name, _ in found],
        "title": [study.title for _, study in found],
        "ciphers": [len(study.ciphers()) for _, study in found],
        "target_percent": [study.target_percent for _, study in found],
        "question": [study.question for _, study in found],
    }
    print_table(pl.DataFrame(columns), form)
