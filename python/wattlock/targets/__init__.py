"""Where programs run: a probe on a device (`Target`, today this machine), and the toolbox of the network beside it."""

from wattlock.targets import local
from wattlock.targets.target import Facts, Target

__all__ = ["Facts", "Target", "or_this_machine"]


def or_this_machine(target: Target | None) -> Target:
    """The device that was asked for, or this machine with its probe.

    Raises ProbeError where this machine is to be it, and has no probe.
    """
    return target or local.find()
