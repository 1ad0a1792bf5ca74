"""What runs while no case does, so that a meter's idle power can be subtracted."""

from enum import StrEnum


class Baseline(StrEnum):
    """Resting, a loop of additions, or copies of memory."""

    idle = "idle"
    spin = "spin"
    memcpy = "memcpy"
