"""The one way to a terminal: what a verb prints may hold text of others."""

import typer

from wattlock.text import harmless


def echo(message: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a line on standard output, or on standard error, with nothing in it that a terminal would carry out."""
    typer.echo(harmless(str(message)), err=err, nl=nl)
