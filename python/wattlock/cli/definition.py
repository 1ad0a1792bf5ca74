"""What verbs print of a kind of definition: a file that comes with wattlock, a template to fill, the JSON Schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wattlock.cli.echo import echo

if TYPE_CHECKING:
    from pathlib import Path

    from wattlock.definitions import Form, Shelf


@dataclass(frozen=True)
class Printed:
    """What is printed in place of the list."""

    show: Annotated[
        str | None, typer.Option("--show", metavar="NAME", help="Print the file of one, to start your own from.")
    ] = None
    template: Annotated[bool, typer.Option("--template", help="Print an annotated file to fill.")] = False
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of such a file, for editors.")] = False


MODES = ("--show", "--template", "--schema")


def refuse_two(requested: dict[str, Any], goes_with: tuple[str, ...] = ()) -> None:
    """Refuses what doesn't go with a file, a template or a schema that is printed.

    * `requested`: the options given, as `option_rules.given` names them. `goes_with`: what does.

    Raises InputError naming both.
    """
    from wattlock.cli.option_rules import refuse_beside

    mode = next((one for one in MODES if one in requested), None)
    if mode:
        refuse_beside(requested, mode, goes_with)


def printed(options: Printed, shelf: Shelf[Any], form: Form) -> bool:
    """Print what is asked for; whether anything was."""
    if options.show is not None:
        print_file(shelf, options.show)
    elif options.template:
        echo(form.template(), nl=False)
    elif options.schema:
        echo(form.schema_text(), nl=False)
    else:
        return False
    return True


def print_file(shelf: Shelf[Any], name: str, own: Path | None = None) -> None:
    """Print a definition's file as it is. Raises the shelf's error where there is none, or no TOML in it."""
    found = shelf.find(name, own)
    shelf.tables(found)
    echo(shelf.text(found).decode(), nl=False)
