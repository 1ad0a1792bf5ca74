"""`wattlock calibrate`: fit a device card's power."""

from __future__ import annotations

from typing import Annotated

import typer

from wattlock.cli.options import AllowAssumed
from wattlock.cli.table import Format, show


def calibrate(
    published: Annotated[
        str, typer.Option("--published", metavar="RUN", help="Fit the power to a published run, as toldinas.")
    ],
    allow_assumed: AllowAssumed = False,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """Fit a device card's effective power to a published run, and name the figures that can't be right.

    Example: wattlock calibrate --published toldinas --allow-assumed
    """
    print_published(published, form, allow_assumed=allow_assumed)


def print_published(name: str, form: Format, *, allow_assumed: bool) -> None:
    """Print every figure of a published run beside what the fitted power makes of its time; the fit goes to stderr."""
    import polars as pl

    from wattlock.energy.published import published as fit

    found = fit(name, allow_assumed=allow_assumed)
    doubtful = sum(bool(cell.why) for cell in found.cells)
    words = [
        f"{found.source}: card {found.device}, battery {found.battery}",
        f"power {found.power_W:.4g} W ({found.power_low_W:.3g} to {found.power_high_W:.3g}, {found.evidence}): "
        f"{found.percent_per_s:.4g} % of the battery a second, {found.uJ_per_byte:.3g} uJ a byte",
        f"the worst of {len(found.cells)} rows is {found.worst_percent:.1f} % off; {doubtful} rows are doubtful",
    ]
    for law in found.laws:
        formula = f"percent = {law.a:.4g} + {law.b:.4g} * rounds + {law.c:.5g} / block_bits"
        words.append(f"{law.operation}: {formula}, R^2 {law.r_squared:.3f}")
    for line in words:
        typer.echo(line, err=True)
    show(pl.DataFrame([cell._asdict() for cell in found.cells]), form)
