"""Arguments and options that several verbs take, said once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from wattlock.cli.echo import echo

if TYPE_CHECKING:
    from wattlock.link.wifi import Measured

Run = Annotated[str, typer.Argument(metavar="RUN", help="A run's path, its id, or `last`.")]
Device = Annotated[
    str | None, typer.Option("--device", metavar="CARD", help="Value the run in joules by this device card.")
]
AllowAssumed = Annotated[
    bool, typer.Option("--allow-assumed", help="Allow cards with numbers that nobody could verify.")
]
Cards = Annotated[
    Path | None,
    typer.Option("--cards", metavar="DIR", help="A folder of your own cards; WATTLOCK_CARDS names one for all verbs."),
]
SysRoot = Annotated[
    Path | None, typer.Option("--sys-root", metavar="DIR", help="Read meters and batteries below DIR in place of /sys.")
]
On = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="TARGET",
        help="The device: local, ssh:HOST, adb:SERIAL, qemu:CORE, board:BOARD@PORT, or one of `wattlock targets`.",
    ),
]
KeepTryingMinutes = Annotated[
    int | None,
    typer.Option(
        "--keep-trying",
        min=1,
        metavar="MINUTES",
        help="Go on until all cases are resolved and the self-checks pass, for so long in all.",
    ),
]
Voltage = Annotated[
    float | None,
    typer.Option("--voltage", metavar="V", min=0, help="Volts, where the recording has current alone."),
]
Units = Annotated[
    list[str] | None,
    typer.Option("--unit", metavar="QUANTITY=UNIT", help="Unit of time, current, voltage or power: current=uA."),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column", metavar="QUANTITY=NAME", help="Column of time, current, voltage or power, where several could be."
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="List the cases and the time that they would take, and measure nothing.")
]


class Valuing(NamedTuple):
    """What gives joules: a run and the card that values it, a folder of cards, and whether assumed numbers may."""

    run: str | None
    device: str | None
    cards: Path | None
    allow_assumed: bool

    def measured(self) -> Measured | None:
        """The run's cases, in joules as far as they can be; None without a run."""
        from wattlock.link.wifi import measured
        from wattlock.run.result import open_one_kind

        if self.run is None:
            return None
        result = open_one_kind(self.run)
        for line in result.explained:
            echo(f"warning: {line}", err=True)
        return measured(result, self.device, user_cards=self.cards, allow_assumed=self.allow_assumed)
