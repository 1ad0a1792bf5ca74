"""What the rows of a sweep are made by, on this machine or on a worker: wattlock's own builds, and ns-3's."""

from __future__ import annotations

from pathlib import Path

from wattlock.errors import InputError, ProbeError
from wattlock.link import ns3
from wattlock.targets import builds as own_builds

NS3 = "ns3"
SAME = own_builds.SAME | {NS3: ("version of ns-3", ns3.EXTRA)}
"""What is compared, in words, and what to do where two machines differ."""


def builds(own: Path | None, *, with_ns3: bool = False) -> dict[str, str | None]:
    """What answers are made by on this machine, by the names of `SAME`; a machine without ns-3 has none of it.

    Raises as the builds of wattlock's own do.
    """
    found = own_builds.builds(own)
    return found | {NS3: _ns3()} if with_ns3 else found


def _ns3() -> str:
    try:
        return ns3.version()
    except (InputError, ProbeError):
        return "none"
