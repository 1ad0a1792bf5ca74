"""Which options of `wattlock link` go together: its ways of asking, and pairs that say the same thing twice."""

from __future__ import annotations

from typing import Any

from wattlock.cli.given import refuse_beside, refuse_pair, refuse_without
from wattlock.errors import InputError

NS3 = "ns3"
CARDS = ("--cards", "--allow-assumed", "--format")
# What each way of asking goes with; scenarios go with all that is left.
MODES = {
    "--list": ("--format",),
    "--show": (),
    "--tables": ("--radio", *CARDS),
    "--explain": ("--run", "--device", *CARDS),
}
CAPTURED = ("--figure", "--format")
PAIRS = (
    ("--data-B", "--file", "both say how much is sent: leave one of them out"),
    ("--rssi-dBm", "--distance-m", "both say the signal: leave one of them out"),
    ("--rssi-dBm", "--walls-dB", "the received power has the walls in it: leave one of them out"),
    ("--capture", "--data-B", "a capture has its own sizes: leave one of them out"),
    ("--capture", "--file", "a capture has its own sizes: leave one of them out"),
    ("--capture", "--payload-B", "a capture has its own sizes: leave one of them out"),
)


def refuse(asked: dict[str, Any], scenarios: list[str]) -> None:
    """Refuses options that don't go together.

    Raises InputError naming the first two of them.
    """
    names = [f"the scenario {scenarios[0]}" if name == "SCENARIO" else name for name in asked]
    for mode, allowed in MODES.items():
        if mode in asked:
            refuse_beside(names, mode, allowed)
    if "--explain" in asked:
        for option in ("--device", "--cards", "--allow-assumed"):
            refuse_without(names, option, "--run", "hypotheses are of durations; cards value a run's cycles")
    if "--capture" in asked and not scenarios:
        refuse_beside(names, "--capture", CAPTURED, why="name a scenario that sends the capture's messages: bss-ccmp")
    elif "--figure" in asked:
        hint = "it draws a capture's packets: wattlock link --capture FILE --figure sizes.svg"
        refuse_without(names, "--figure", "--capture", hint)
        raise InputError(f"--figure and the scenario {scenarios[0]} don't go together", hint=hint)
    for one, other, hint in PAIRS:
        refuse_pair(names, one, other, hint)


def refuse_joules(asked: dict[str, Any]) -> None:
    """Raises InputError where ns-3 is asked, and something is given that is for joules."""
    for option in ("--radio", "--run", "--device", "--allow-assumed"):
        refuse_pair([*asked, "engine ns3"], "engine ns3", option, "ns-3 is asked for durations, not for joules")
