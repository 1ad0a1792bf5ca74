"""The one way to a terminal: what a verb prints may hold text of others."""

from pathlib import Path

import typer

from wattlock.text import harmless


def echo(message: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a line on standard output, or on standard error, with nothing in it that a terminal would carry out."""
    typer.echo(harmless(str(message)), err=err, nl=nl)


def wrote(path: Path) -> None:
    """Print the path of a written file: on standard error where it is a stream, whose reader wants it alone."""
    from wattlock.store.disk import is_stream

    echo(str(path), err=is_stream(path))
