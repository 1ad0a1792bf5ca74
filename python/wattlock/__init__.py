"""wattlock weighs ciphers in joules: what encryption costs on this device in time, cycles and energy.

For notebooks the package gives by name what the command line can do: `wattlock.measure("quick")` carries out a study,
`wattlock.open_run("last")` reads a run,
`wattlock.compare(first, [second])` compares runs, `wattlock.battery("lipo-1000", wattlock.of_run(run))` says what a
battery carries, `wattlock.judge(["last"])` judges the papers' claims, and `wattlock.advise` answers a question.
"""

from typing import Any

_PLACES = {
    "open_run": "wattlock.run.result",
    "compare": "wattlock.run.compare",
    "measure": "wattlock.run.begin",
    "Request": "wattlock.run.begin",
    "battery": "wattlock.energy.operations",
    "of_run": "wattlock.energy.operations",
    "judge": "wattlock.papers.material",
}


def __getattr__(name: str) -> Any:
    """Give a public function, or `__version__`, when it is asked for: a start-up needs neither Polars nor metadata."""
    if name in _PLACES:
        from importlib import import_module

        return getattr(import_module(_PLACES[name]), name)
    if name != "__version__":
        raise AttributeError(f"module 'wattlock' has no attribute {name!r}")
    from importlib.metadata import version

    return version("wattlock")
