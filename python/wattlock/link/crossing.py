"""Several scenarios, and values crossed in each: every combination is a scenario of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from wattlock.errors import InputError
from wattlock.link import scenario
from wattlock.link.scenario import Named

LARGEST_CROSSING = 1_000
OF_PHY = ("rate_Mb_s", "mcs", "band", "preamble", "basic_rates_Mb_s")
"""Keys that belong to one PHY and not to another."""

SOURCES = ("payload.data_B", "payload.file", "payload.sizes")


def cross(
    files: Sequence[str], crossed: Mapping[str, Sequence[Any]], fixed: Mapping[str, Any] | None = None
) -> list[Named]:
    """Every scenario under every combination of values.

    * `files`: names or TOML files; `crossed`: values by the key that they change; `fixed`: keys that have one value.

    Raises InputError where there are more than `LARGEST_CROSSING`, or a scenario can't be.
    """
    set_once = {**(fixed or {}), **_replaced(fixed or {})}
    found = []
    for file in files:
        name, raw = scenario.read(file)
        for values in product(*crossed.values()):
            changes = {**dict(zip(crossed, values, strict=True)), **set_once}
            if "phy" in changes and changes["phy"] != raw.get("phy"):
                changes = {**dict.fromkeys(OF_PHY), **changes}
            found.append(scenario.checked(name, raw, changes))
            if len(found) > LARGEST_CROSSING:
                raise InputError(f"more than {LARGEST_CROSSING} scenarios", hint="ask for fewer values at once")
    return found


def _replaced(fixed: Mapping[str, Any]) -> dict[str, None]:
    """What goes when another takes its place: data comes from one source, and a signal from one of two."""
    gone: list[str] = []
    if any(key in fixed for key in SOURCES):
        gone += [key for key in SOURCES if key not in fixed]
    if "signal.rssi_dBm" in fixed:
        gone += [key for key in ("signal.distance_m", "signal.walls_dB") if key not in fixed]
    elif "signal.distance_m" in fixed:
        gone.append("signal.rssi_dBm")
    return dict.fromkeys(gone)


def ciphers_of(scenarios: Sequence[Named]) -> list[str]:
    """The ids of the ciphers that encrypt in these scenarios."""
    return sorted({named.scenario.payload.cipher for named in scenarios if named.scenario.payload.cipher})
