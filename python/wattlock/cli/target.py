"""The device on which a verb is carried out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wattlock.targets import Target


def chosen() -> Target:
    """This machine with its probe: no option of a verb names another device yet.

    Raises ProbeError where it has none.
    """
    from wattlock.targets import or_this_machine

    return or_this_machine(None)
