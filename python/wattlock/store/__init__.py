"""Runs on disk: appended while measuring, compacted and sealed at the end, read as Polars frames."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wattlock.store.records import Recovery
    from wattlock.store.run_folder import RunFolder
    from wattlock.store.run_plan import find, plan_lines, run_id, runs

__all__ = ["Recovery", "RunFolder", "find", "plan_lines", "run_id", "runs"]
_OF = {
    "Recovery": "records",
    "RunFolder": "run_folder",
    "find": "run_plan",
    "plan_lines": "run_plan",
    "run_id": "run_plan",
    "runs": "run_plan",
}


def __getattr__(name: str) -> Any:
    # Loaded when asked for: what judges a device's answer by the schema needs no frames.
    from importlib import import_module

    if name not in _OF:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(f"wattlock.store.{_OF[name]}"), name)
