"""`wattlock energy`: join the recording of a lab instrument to the run that it was made beside."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wattlock.cli.echo import echo
from wattlock.cli.options import Columns, Units, Voltage
from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table

if TYPE_CHECKING:
    from wattlock.energy.joining import Instrument, Joined

COLUMNS = [
    "cipher",
    "provider",
    "operation",
    "payload_B",
    "data",
    "energy_uJ",
    "energy_low_uJ",
    "energy_high_uJ",
    "energy_random_percent",
    "energy_state",
]


@dataclass(frozen=True)
class InstrumentOptions:
    """What the recording doesn't say of the instrument."""

    voltage: Voltage = None
    unit: Units = None
    column: Columns = None
    marker: Annotated[
        str | None,
        typer.Option("--marker", metavar="COLUMN", help="The pin's column, where the run was given one; D0 to D7."),
    ] = None
    accuracy: Annotated[
        float | None,
        typer.Option(
            "--accuracy",
            metavar="PERCENT",
            min=0,
            help="Standard uncertainty of the instrument's gain; else 1, PPK2 10.",
        ),
    ] = None

    def instrument(self) -> Instrument:
        """Raises InputError where a unit or a quantity is none."""
        from wattlock.energy.joining import Instrument
        from wattlock.energy.recordings import by_quantity

        units, columns = by_quantity(self.unit or [], "--unit"), by_quantity(self.column or [], "--column")
        return Instrument(self.voltage, units, self.marker, self.accuracy, columns)


def energy(
    recording: Annotated[
        Path,
        typer.Option("--recording", metavar="FILE", help="CSV of an instrument, or of time and current or power."),
    ],
    run: Annotated[str, typer.Option("--run", metavar="RUN", help="A run's path, its id, or `last`.")] = "last",
    by: InstrumentOptions = InstrumentOptions(),
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="The joined run, in place of runs/ID-joined.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """Join the recording of a lab instrument to the run that it was made beside.

    The run was measured with `--meter recording`; the joined one is a folder of its own, which every verb reads.

    Examples: wattlock energy --recording joulescope.csv --run last
    wattlock energy --recording ppk2.csv --voltage 3.3 --run runs/quick --out runs/quick-joules
    """
    from wattlock.energy.joining import join
    from wattlock.energy.valuing import valued
    from wattlock.run.result import read

    joined = join(recording, run, out, by.instrument())
    _tell(joined)
    estimates = valued(read(joined.folder), None, allow_assumed=False)
    print_table(estimates.select(COLUMNS) if form is Format.table else estimates, form)


def _tell(joined: Joined) -> None:
    """Where the run lies in the recording, and what of it has no joules."""
    found = joined.alignment
    echo(
        f"{found.found} of {found.markers} markers found; their middle is at {found.offset_s:.6f} s of the recording "
        f"(± {found.middle_u_s * 1e3:.2g} ms); its clock runs {found.drift * 1e6:+.1f} ppm "
        f"(± {found.drift_u * 1e6:.2g}) against the device's",
        err=True,
    )
    for line in joined.left_out:
        echo(f"left out: {line}", err=True)
    echo(f"joined: {joined.folder.path}; `{joined.folder.reporting}` draws its report", err=True)
