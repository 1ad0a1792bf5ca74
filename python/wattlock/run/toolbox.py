"""The toolbox of the network as a program: the air, captures, transfers. Its build is no part of a run."""

from pathlib import Path

from wattlock.run import probe

NAME = "wattlock-net"


def find() -> Path:
    """The toolbox: named by `WATTLOCK_NET`, beside this Python, or on the path.

    Raises ProbeError where it is nowhere.
    """
    return probe.located(NAME, "WATTLOCK_NET")
