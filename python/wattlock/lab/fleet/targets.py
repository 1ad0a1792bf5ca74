"""Which targets a fleet has: those that the lab was started with, and the user's named ones."""

from __future__ import annotations

from collections.abc import Sequence

from wattlock.targets import named

NAMED = "named"
"""In place of a target: this machine, and all of the user's file as it is now."""


def targets(given: Sequence[str]) -> list[str]:
    """The names, once each. Raises InputError where the user's file is not what it should be."""
    found: list[str] = []
    for one in given:
        found += ["local", *named.described()] if one == NAMED else [one]
    return list(dict.fromkeys(found))
