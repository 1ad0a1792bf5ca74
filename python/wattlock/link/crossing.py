"""Several scenarios, and values crossed in each: every combination is a scenario of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    found = []
    for name, tables in [scenario.read(file) for file in files]:
        for changes in combinations(crossed, fixed or {}):
            found.append(under(name, tables, changes))
            if len(found) > LARGEST_CROSSING:
                hint = "ask for fewer values at once, or let `wattlock sweep` answer them"
                raise InputError(f"more than {LARGEST_CROSSING} scenarios", hint=hint)
    return found


def combinations(crossed: Mapping[str, Sequence[Any]], fixed: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every combination of values as changes by path, the last key's values soonest, with what is fixed."""
    for values in product(*crossed.values()):
        yield {**dict(zip(crossed, values, strict=True)), **fixed}


def under(name: str, tables: Mapping[str, Any], changes: Mapping[str, Any]) -> Named:
    """A scenario of tables under changes; what they take the place of goes.

    Raises InputError naming every key that is wrong.
    """
    whole = {**changes, **_replaced(changes)}
    if "phy" in whole and whole["phy"] != tables.get("phy"):
        whole = {**dict.fromkeys(OF_PHY), **whole}
    return scenario.checked(name, tables, whole)


def _replaced(changes: Mapping[str, Any]) -> dict[str, None]:
    """What goes when another takes its place: data comes from one source, and a signal from one of two."""
    gone: list[str] = []
    if any(key in changes for key in SOURCES):
        gone += [key for key in SOURCES if key not in changes]
    if "signal.rssi_dBm" in changes:
        gone += [key for key in ("signal.distance_m", "signal.walls_dB") if key not in changes]
    elif "signal.distance_m" in changes:
        gone.append("signal.rssi_dBm")
    return dict.fromkeys(gone)


def ciphers_of(scenarios: Sequence[Named]) -> list[str]:
    """The ids of the ciphers that encrypt in these scenarios."""
    return sorted({named.scenario.payload.cipher for named in scenarios if named.scenario.payload.cipher})
