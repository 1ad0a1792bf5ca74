"""wattlock weighs ciphers in joules: what encryption costs on this device in time, cycles and energy.

For notebooks, `import wattlock as wl`: `wl.run("quick")` carries out a study, `wl.read("last")` reads a run,
`wl.compare("before", "after")` compares runs, `wl.report("last")` draws a run's page, `wl.battery("lipo-1000", "last")`
says what a battery carries, `wl.papers("last")` judges the papers' claims, and `wl.advise("sensor")` answers one.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

CALLS = ("run", "read", "compare", "report", "figures", "papers", "battery", "link", "sweep", "advise", "publish")
"""The functions of `notebook`. Those with the name of a room are called through it."""


class _Room(ModuleType):
    """A room that is also the call of its name."""

    def __call__(self, *given: Any, **named: Any) -> Any:
        return getattr(import_module("wattlock.notebook"), self.__name__.rpartition(".")[2])(*given, **named)


class _Package(ModuleType):
    """The package: rooms that are imported into it can be called where they have the name of a call."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in CALLS and isinstance(value, ModuleType):
            value.__class__ = _Room
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    """Give a call, or `__version__`, when it is asked for: a start-up needs neither Polars nor metadata."""
    if name in CALLS:
        return getattr(import_module("wattlock.notebook"), name)
    if name != "__version__":
        raise AttributeError(f"module 'wattlock' has no attribute {name!r}")
    from importlib.metadata import version

    return version("wattlock")
