"""Arguments and options that several verbs take, said once; which go together; the target that they name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from wattlock.cli.echo import echo
from wattlock.cli.help import SELDOM
from wattlock.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from wattlock.definitions import DefinitionForm, Shelf
    from wattlock.link.wifi import Measured
    from wattlock.targets import Target

Run = Annotated[str, typer.Argument(metavar="RUN", help="A run's path, its id, or `last`.")]
Device = Annotated[
    str | None, typer.Option("--device", metavar="CARD", help="Value the run in joules by this device card.")
]
AllowAssumed = Annotated[
    bool, typer.Option("--allow-assumed", help="Allow cards with numbers that nobody could verify.")
]
Cards = Annotated[
    Path | None,
    typer.Option(
        "--cards",
        rich_help_panel=SELDOM,
        metavar="DIR",
        help="A folder of your own cards; WATTLOCK_CARDS names one for all verbs.",
    ),
]
SysRoot = Annotated[
    Path | None,
    typer.Option(
        "--sys-root",
        rich_help_panel=SELDOM,
        metavar="DIR",
        help="Read meters and batteries below DIR in place of /sys.",
    ),
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


NS3 = "ns3"
IPV6, LAST_PORT = 6, 65_535
CARDS = ("--cards", "--allow-assumed", "--format")
# What each way of `wattlock link` goes with; scenarios go with all that is left.
LINK_MODES = {
    "--list": ("--format",),
    "--show": (),
    "--template": (),
    "--schema": (),
    "--tables": ("--radio", *CARDS),
    "--compare": ("--payload-B", "--device", *CARDS),
}
LINK_PAIRS = (
    ("--data-B", "--file", "both say how much is sent: leave one of them out"),
    ("--rssi-dBm", "--distance-m", "both say the signal: leave one of them out"),
    ("--rssi-dBm", "--walls-dB", "the received power has the walls in it: leave one of them out"),
    ("--capture", "--data-B", "a capture has its own sizes: leave one of them out"),
    ("--capture", "--file", "a capture has its own sizes: leave one of them out"),
    ("--capture", "--payload-B", "a capture has its own sizes: leave one of them out"),
)


def given(context: typer.Context) -> dict[str, Any]:
    """The options and arguments of a command line with their values, by what a person calls them: `--phy`, `SCENARIO`.

    Defaults and what the environment sets are not among them.
    """
    found: dict[str, Any] = {}
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if source is not None and source.name == "COMMANDLINE":
            found[_called(parameter)] = context.params[str(parameter.name)]
    return found


def _called(parameter: Any) -> str:
    long = [opt for opt in parameter.opts if opt.startswith("--")]
    return str(long[0]) if long else str(parameter.name).upper()


def refuse_beside(requested: Iterable[str], mode: str, allowed: Iterable[str], *, why: str = "") -> None:
    """Refuses the first of the options given that doesn't go with `mode`.

    * `requested`: as `given` names them; `mode`: one of them. `why`: in place of a list of what does.

    Raises UsageError naming both.
    """
    goes = list(allowed)
    for option in requested:
        if option != mode and option not in goes:
            listed = f"{mode} goes with {', '.join(goes)}" if goes else f"{mode} stands alone"
            raise UsageError(f"{mode} and {option} don't go together", hint=why or listed)


def refuse_pair(requested: Iterable[str], option: str, other: str, hint: str) -> None:
    """Refuses two options that were given both.

    Raises UsageError naming them.
    """
    if {option, other} <= set(requested):
        raise UsageError(f"{option} and {other} don't go together", hint=hint)


def refuse_without(requested: Iterable[str], option: str, needed: str, hint: str) -> None:
    """Refuses an option that says something of another, which was not given.

    Raises UsageError naming both.
    """
    if option in requested and needed not in requested:
        raise UsageError(f"{option} needs {needed}", hint=hint)


def refuse_link(requested: dict[str, Any], scenarios: list[str]) -> None:
    """Refuses options that don't go together.

    Raises UsageError naming the first two of them.
    """
    names = [f"the scenario {scenarios[0]}" if name == "SCENARIO" else name for name in requested]
    for mode, allowed in LINK_MODES.items():
        if mode in requested:
            refuse_beside(names, mode, allowed)
    for option, other, hint in LINK_PAIRS:
        refuse_pair(names, option, other, hint)


def refuse_joules(requested: dict[str, Any]) -> None:
    """Raises UsageError where ns-3 is asked, and something is given that is for joules."""
    for option in ("--radio", "--run", "--device", "--allow-assumed"):
        refuse_pair([*requested, "engine ns3"], "engine ns3", option, "ns-3 is asked for durations, not for joules")


def refuse_name(bind: str) -> None:
    """Raises UsageError where `bind` is no address in numbers with a port."""
    host, _, port = bind.rpartition(":")
    try:
        address = ip_address(host.removeprefix("[").removesuffix("]"))
        right = (address.version == IPV6) == host.startswith("[") and port.isascii() and 0 <= int(port) <= LAST_PORT
    except ValueError:
        right = False
    if not right:
        hint = (
            "ADDRESS:PORT, the address in numbers: 127.0.0.1:7400, 192.168.1.2:7400 or [::1]:7400; port 0 is a free one"
        )
        raise UsageError(f"--bind {bind}: no address with a port", hint=hint)


@dataclass(frozen=True)
class DefinitionOutput:
    """What is printed in place of the list."""

    show: Annotated[
        str | None,
        typer.Option(
            "--show", rich_help_panel=SELDOM, metavar="NAME", help="Print the file of one, to start your own from."
        ),
    ] = None
    template: Annotated[bool, typer.Option("--template", help="Print an annotated file to fill.")] = False
    schema: Annotated[
        bool,
        typer.Option("--schema", rich_help_panel=SELDOM, help="Print the JSON Schema of such a file, for editors."),
    ] = False


MODES = ("--show", "--template", "--schema")


def refuse_two(requested: dict[str, Any], goes_with: tuple[str, ...] = ()) -> None:
    """Refuses what doesn't go with a file, a template or a schema that is printed.

    * `requested`: the options given, as `option_rules.given` names them. `goes_with`: what does.

    Raises UsageError naming both.
    """
    mode = next((mode for mode in MODES if mode in requested), None)
    if mode:
        refuse_beside(requested, mode, goes_with)


def printed(options: DefinitionOutput, shelf: Shelf[Any], form: DefinitionForm) -> bool:
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


def print_file(shelf: Shelf[Any], name: str, cards: Path | None = None) -> None:
    """Print a definition's file as it is. Raises the shelf's error where there is none, or no TOML in it."""
    found = shelf.find(name, cards)
    shelf.tables(found)
    echo(shelf.text(found).decode(), nl=False)


@dataclass(frozen=True)
class TargetOptions:
    """The device of a run, and who carries it out."""

    on: On = None
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            rich_help_panel=SELDOM,
            metavar="ADDRESS",
            help="Count on the workers of this Dask scheduler, tcp://HOST:8786.",
        ),
    ] = None

    @contextmanager
    def opened(self, libraries: Mapping[str, Path]) -> Iterator[Target]:
        """The device, for as long as this lasts.

        * `libraries`: the user's own, by name.

        Raises StudyError where a scheduler is named for what its workers can't do; what `chosen` and `clustered` raise.
        """
        target = chosen(self.on)
        if self.scheduler is None:
            yield target
            return
        from wattlock.targets.cluster import clustered
        from wattlock.targets.microcontroller import Emulated

        if not isinstance(target, Emulated):
            what = f"--scheduler {self.scheduler[:80]}: its workers count on emulated cores, and measure nothing"
            raise UsageError(what, hint="name a core: --on qemu:cortex-m4")
        if libraries:
            what = f"--library {next(iter(libraries))}: a scheduler's workers have neither its files nor its compiler"
            raise UsageError(what, hint="leave --scheduler out: this machine counts it")
        with clustered(target, self.scheduler) as shared:
            yield shared


def chosen(on: str | None = None) -> Target:
    """The device of a name, this machine without.

    Raises InputError where there is no such target, ProbeError where this machine is to be it and has no probe.
    """
    from wattlock.targets import or_this_machine

    if on is None:
        return or_this_machine(None)
    from wattlock.targets.named import target

    return target(on)
