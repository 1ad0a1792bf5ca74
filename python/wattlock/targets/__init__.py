"""Where programs run: a probe on a device (`Target`, today this machine), and the toolbox of the network beside it."""

from wattlock.targets.local import Local
from wattlock.targets.target import Facts, Target

__all__ = ["Facts", "Local", "Target"]
