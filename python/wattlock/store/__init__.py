"""Runs on disk: appended while measuring, compacted and sealed at the end, read as Polars frames."""

from wattlock.store.folder import RunFolder
from wattlock.store.plan import plan_lines, run_id
from wattlock.store.records import Recovery
from wattlock.store.shelf import find, runs

__all__ = ["Recovery", "RunFolder", "find", "plan_lines", "run_id", "runs"]
