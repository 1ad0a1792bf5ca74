"""`wattlock targets`: the devices that can be measured, and what each still lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from wattlock.cli.options import chosen
from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table

if TYPE_CHECKING:
    from wattlock.targets.named import Described


def targets(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TARGET]...", help="Only these: ssh:HOST, adb:SERIAL, qemu:CORE, board:BOARD@PORT, or a name."
        ),
    ] = None,
    *,
    boards: Annotated[bool, typer.Option("--boards", help="List the boards that board:BOARD@PORT knows.")] = False,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """List the devices that can be measured by --on, try each, and say what is missing; end with 13 where one is.

    Those known are this machine and the tables of targets.toml in the user's configuration, as [pi4] way = "ssh:pi4".

    Examples: wattlock targets    wattlock targets ssh:pi4    wattlock targets qemu:cortex-m4 --format json
    """
    import polars as pl

    from wattlock.errors import WayError
    from wattlock.targets.named import described

    if boards:
        print_table(pl.DataFrame(_boards(), infer_schema_length=None), form)
        return
    known = described()
    rows = [_row(name, known.get(name)) for name in names or ["local", *known]]
    print_table(pl.DataFrame(rows, infer_schema_length=None), form)
    lacking = [row["target"] for row in rows if row["missing"]]
    if lacking:
        raise WayError(f"not fit: {', '.join(lacking)}", hint="the column `missing` says what each lacks")


def _boards() -> list[dict[str, Any]]:
    """The boards that come along, and what this machine lacks for each."""
    from wattlock.targets.microcontroller import BOARDS, missing

    found = {name: BOARDS.load(name)[1] for name in BOARDS.shipped()}
    return [
        {
            "board": name,
            "title": board.title,
            "core": board.core,
            "clock_MHz": board.clock_Hz / 1e6,
            "counter": board.clock,
            "tried": board.tried,
            "missing": missing(board),
        }
        for name, board in found.items()
        if not board.emulated
    ]


def _row(name: str, entry: Described | None) -> dict[str, Any]:
    """What a target says of itself, or why it doesn't."""
    from wattlock.errors import WattlockError

    empty = dict.fromkeys(("isa", "processor", "cores", "system", "clock", "emulated"))
    row: dict[str, Any] = {"target": name, "way": entry.way if entry else name, **empty}
    row |= {"device": entry.device if entry else None, "missing": None}
    try:
        facts = chosen(name).facts()
    except WattlockError as error:
        return row | {"missing": f"{error.message}; {error.hint}" if error.hint else error.message}
    answer = facts.answer
    return row | {
        "isa": facts.isa,
        "processor": answer.get("model_name"),
        "cores": ", ".join(
            f"{len(core_class.processors)} {core_class.name or 'alike'}" for core_class in facts.core_classes
        ),
        "system": f"{answer['kernel']['os']} {answer['kernel'].get('release') or ''}".strip(),
        "clock": answer["clocks"]["counter"],
        "emulated": facts.emulator,
        "missing": facts.out_of_step(),
    }
