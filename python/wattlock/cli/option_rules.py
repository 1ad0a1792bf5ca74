"""Options that were given, by their names: what doesn't go together is refused rather than passed over."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address
from typing import Any

import typer

from wattlock.errors import InputError

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
    long = [one for one in parameter.opts if one.startswith("--")]
    return str(long[0]) if long else str(parameter.name).upper()


def refuse_beside(requested: Iterable[str], mode: str, allowed: Iterable[str], *, why: str = "") -> None:
    """Refuses the first of the options given that doesn't go with `mode`.

    * `requested`: as `given` names them; `mode`: one of them. `why`: in place of a list of what does.

    Raises InputError naming both.
    """
    goes = list(allowed)
    for one in requested:
        if one != mode and one not in goes:
            listed = f"{mode} goes with {', '.join(goes)}" if goes else f"{mode} stands alone"
            raise InputError(f"{mode} and {one} don't go together", hint=why or listed)


def refuse_pair(requested: Iterable[str], one: str, other: str, hint: str) -> None:
    """Refuses two options that were given both.

    Raises InputError naming them.
    """
    if {one, other} <= set(requested):
        raise InputError(f"{one} and {other} don't go together", hint=hint)


def refuse_without(requested: Iterable[str], one: str, needed: str, hint: str) -> None:
    """Refuses an option that says something of another, which was not given.

    Raises InputError naming both.
    """
    if one in requested and needed not in requested:
        raise InputError(f"{one} needs {needed}", hint=hint)


def refuse_link(requested: dict[str, Any], scenarios: list[str]) -> None:
    """Refuses options that don't go together.

    Raises InputError naming the first two of them.
    """
    names = [f"the scenario {scenarios[0]}" if name == "SCENARIO" else name for name in requested]
    for mode, allowed in LINK_MODES.items():
        if mode in requested:
            refuse_beside(names, mode, allowed)
    for one, other, hint in LINK_PAIRS:
        refuse_pair(names, one, other, hint)


def refuse_joules(requested: dict[str, Any]) -> None:
    """Raises InputError where ns-3 is asked, and something is given that is for joules."""
    for option in ("--radio", "--run", "--device", "--allow-assumed"):
        refuse_pair([*requested, "engine ns3"], "engine ns3", option, "ns-3 is asked for durations, not for joules")


def refuse_name(bind: str) -> None:
    """Raises InputError where `bind` is no address in numbers with a port."""
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
        raise InputError(f"--bind {bind}: no address with a port", hint=hint)
