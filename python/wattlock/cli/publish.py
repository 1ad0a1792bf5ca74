"""`wattlock publish`: a signed set of sealed runs, as a site that works offline."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wattlock.cli.echo import echo
from wattlock.cli.key import PasswordFile


@dataclass(frozen=True)
class CitationOptions:
    """How the set is cited, and under which licence."""

    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="What the set is called.")] = (
        "What encryption costs"
    )
    author: Annotated[
        list[str] | None,
        typer.Option("--author", metavar="NAME", help="As 'Family, Given', or a group's name."),
    ] = None
    licence: Annotated[str, typer.Option("--licence", metavar="ID", help="The licence's SPDX identifier.")] = (
        "CC-BY-4.0"
    )
    url: Annotated[str | None, typer.Option("--url", metavar="URL", help="Where the set will lie.")] = None


def publish(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder that holds the runs, or one run.")],
    *,
    out: Annotated[Path, typer.Option("--out", metavar="SITE", help="The set's folder, a new one.")],
    key: Annotated[Path, typer.Option("--key", metavar="FILE", help="The secret key of `wattlock key new`.")],
    password_file: PasswordFile = None,
    published: Annotated[
        list[Path] | None,
        typer.Option("--beside", metavar="SET", help="Figures of others, as `wattlock import` wrote them."),
    ] = None,
    cited: CitationOptions = CitationOptions(),
) -> None:
    """Make a set of sealed runs that others can read, cite and check: pages, tables, files, sums and a signature.

    index.html has what a byte costs in the columns of eBACS's tables, median and quartiles, apart by evidence; every
    run is there with its report, its estimates and the sealed run itself. All works offline, on a phone too. The same
    runs, key and options give the same bytes. `wattlock verify` and minisign check the set.

    Examples: wattlock publish runs --out site --key wattlock.key --title 'Ciphers on two laptops'
    wattlock publish runs --out cited --key wattlock.key --author 'Doe, Jane' --licence CC0-1.0
    """
    from wattlock import notebook
    from wattlock.cli.key import secret_key
    from wattlock.extras import require

    require("publish")
    require("report")
    secret = secret_key(key, password_file)
    runs = notebook.publish(
        folder,
        out,
        secret,
        title=cited.title,
        authors=cited.author or (),
        licence=cited.licence,
        url=cited.url,
        published=published or (),
    )
    echo(f"{out / 'index.html'}")
    counted = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
    echo(f"{counted}, signed by key {secret.public.id}; `wattlock verify {out} --key {secret.public.line}`", err=True)
