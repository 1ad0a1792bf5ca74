"""How much a run may hold, so that reading it back costs no more memory and time than a lab has.

What is read here is sizes of files and the footer of Parquet, and of the batches what names them; a forged run can
hold millions of batches in a few kilobytes.
"""

from pathlib import Path

import polars as pl

from wattlock.errors import StoreError
from wattlock.lab.pack import MOST_B
from wattlock.store import schema_1
from wattlock.store.seal import BATCHES

MOST_ROWS = 2_000_000
"""Batches of a run. A run of 304 cases in five processes has 34,000, the largest of the project has a million."""
NAMES = ("process", "case", "round", "segment", "attempt", "calls")
"""What names a batch: whole and half batches of one visit have other calls. The contract of a probe has none twice."""
SMALLER = "measure fewer cases, or in fewer processes; nothing of this run was kept"


def batches_of(folder: Path, schema: int) -> pl.LazyFrame:
    """All batches of a sealed run, with today's columns."""
    batches = pl.scan_parquet(folder / BATCHES)
    return schema_1.batches(batches) if schema == schema_1.VERSION else batches


def refuse_large(folder: Path, schema: int) -> None:
    """Raises StoreError where a file of a sealed run, or the count of its batches, is above its limit."""
    for name, most_B in MOST_B.items():
        if (size_B := (folder / name).stat().st_size) > most_B:
            raise StoreError(f"run {folder}: {name} has {size_B} B, the limit is {most_B} B", hint=SMALLER)
    rows = batches_of(folder, schema).select(pl.len()).collect().item()
    if rows > MOST_ROWS:
        raise StoreError(f"run {folder}: {rows} batches, the limit is {MOST_ROWS}", hint=SMALLER)


def refuse_repeated(folder: Path, schema: int) -> None:
    """Raises StoreError where a run has a batch twice."""
    names = batches_of(folder, schema).select(NAMES).collect().hash_rows()
    if names.n_unique() != len(names):
        raise StoreError(f"run {folder}: has a batch twice", hint="measure again: no probe writes that")
