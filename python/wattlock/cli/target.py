"""The device on which a verb is carried out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wattlock.targets import Target


def chosen(on: str | None = None) -> Target:
    """The device of a name, this machine without.

    Raises InputError where there is no such target, ProbeError where this machine is to be it and has no probe.
    """
    from wattlock.targets import or_this_machine

    if on is None:
        return or_this_machine(None)
    from wattlock.targets.named import target

    return target(on)
