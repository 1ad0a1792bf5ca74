"""`wattlock doctor`: how fit a device is for measuring."""

from __future__ import annotations

from typing import Annotated

import typer

from wattlock.cli.clean_machine import CleanOptions, fix
from wattlock.cli.echo import echo
from wattlock.cli.options import On
from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table
from wattlock.cli.target import chosen
from wattlock.extras import EXTRAS, PURPOSE, absent, install


def doctor(
    seconds: Annotated[int, typer.Option("--seconds", min=1, max=600, help="How long to watch the core.")] = 5,
    on: On = None,
    clean: CleanOptions = CleanOptions(),
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """Say how fit this machine, or the device of --on, is for measuring, and what would make it fitter.

    --fix lists what can be set: governor, boost, interrupts, the sibling of the core, isolation. With --apply root
    sets it and sees what each is worth on this machine; --restore puts back what was there, after a kill or a new
    start of the machine too.

    Examples: wattlock doctor --seconds 5    wattlock doctor --on ssh:pi4    wattlock doctor --fix
    sudo -E wattlock doctor --fix --apply    sudo -E wattlock doctor --fix --restore
    """
    import polars as pl

    from wattlock.targets import clean_machine, probe

    clean.refuse(on)
    target = chosen(on)
    if clean.fix:
        fix(clean, target, seconds, form)
        return
    if on is None and clean_machine.read_kept(kept := clean_machine.kept_file()):
        echo(f"note: `--fix --apply` is in force ({kept}); `wattlock doctor --fix --restore` ends it", err=True)
    checks = probe.rows(
        target, "doctor", "--seconds", str(seconds), "--format", "json", needs=["verdict"], most_s=120 + seconds
    )
    checks += [_check_of(extra) for extra in EXTRAS]
    print_table(pl.DataFrame(checks, infer_schema_length=None), form)
    if any(check["verdict"] == "fail" for check in checks):
        raise typer.Exit(1)


def _check_of(extra: str) -> dict[str, str | None]:
    """A row of the table: whether this extra is installed, and what it is for."""
    lacking = absent(extra)
    return {
        "check": f"extra {extra}",
        "verdict": "absent" if lacking else "ok",
        "value": f"{', '.join(lacking)} not installed" if lacking else "installed",
        "advice": f"for {PURPOSE[extra]}: {install(extra)}" if lacking else None,
    }
