"""Made-up batches and process summaries whose truth is known: what a process would have measured."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from wattlock.analysis import within
from wattlock.store.records import slice_columns

CANARY_TICKS = 30_000_000
"""Long canaries, so that whole ticks do not blur the truth."""
BURST_TICKS = 11_000_000
QUIET_PPM = BURST_TICKS * 1_000_000 // CANARY_TICKS
TICKS_PER_SECOND = 2_500_000_000
CALLS = 100

Numbers = np.ndarray[Any, np.dtype[np.float64]]


def batch(canaries: float = 1.0, *, clock: float = 1.0, burst: float = 1.0, **changed: Any) -> dict[str, Any]:
    """One batch of calls that take so many canaries each, while the tick counter runs `clock` times as fast.

    * `burst`: what a burst takes, in those of a core that nothing shares.
    """
    calls = changed.get("calls", CALLS)
    canary, ticks = round(CANARY_TICKS * clock), round(canaries * calls * CANARY_TICKS * clock)
    edge, wall_ns = round(BURST_TICKS * clock * burst), round(ticks * 1e9 / TICKS_PER_SECOND)
    record: dict[str, Any] = dict.fromkeys(slice_columns(), 0) | {"calls": calls, "wall_ns": wall_ns, "cpu_ns": wall_ns}
    record |= {"ticks": ticks, "clean": True, "cause": None, "extra": None}
    for side in ("before", "after"):
        record |= {f"canary_{side}_ticks": canary, f"burst_{side}_ticks": edge}
    return record | changed


def rounds(count: int, canaries: float = 1.0, **changed: Any) -> list[dict[str, Any]]:
    """The same batch in each of `count` rounds."""
    return [batch(canaries, **{"round": number, **changed}) for number in range(count)]


def frame(batches: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Batches as the store gives them."""
    return pl.DataFrame(list(batches), schema=slice_columns())


def header(cases: Mapping[int, int] = {0: 1}, process: int = 0, **changed: Any) -> dict[str, Any]:
    """What the analysis reads of a header.

    * `cases`: segments by case.
    """
    planned = [{"case": case, "calls": CALLS, "segments": segments} for case, segments in cases.items()]
    return {"process": process, "ticks_per_second": TICKS_PER_SECOND, "cases": planned} | changed


def summary_of(batches: Iterable[Mapping[str, Any]], cases: Mapping[int, int] = {0: 1}, **more: Any) -> dict[str, Any]:
    """The only row that the summary of these batches has."""
    return within.summarise(frame(batches), header(cases), **more).row(0, named=True)


def summaries(logs: Numbers, cases: Sequence[int] | None = None, **columns: Any) -> pl.DataFrame:
    """Summaries of processes, from the logs of what they measured.

    * `logs`: shape (cases, processes). `columns`: in place of what stands below; scalars or of the shape of `logs`.
    """
    count, processes = logs.shape
    numbers = list(range(count)) if cases is None else list(cases)
    values = {
        "process": np.tile(np.arange(processes), count),
        "case": np.repeat(numbers, processes),
        "log_canaries": logs.ravel(),
        "wall_ns": np.exp(logs.ravel()) * 1e4,
        "cpu_ns": np.exp(logs.ravel()) * 1e4,
        "rounds": 24,
        "spread": 0.001,
        "error": 0.0002,
        "kept": 24,
        "log_half": None,
        "batches": 28,
        "dirty": 0,
        "throttled": 0,
        "slower": None,
    }
    given = {name: np.ravel(value) if isinstance(value, np.ndarray) else value for name, value in columns.items()}
    full = {
        name: value if isinstance(value, np.ndarray) else [value] * logs.size
        for name, value in (values | given).items()
    }
    return pl.DataFrame(full, schema=within.SUMMARY_SCHEMA)


def case(number: int, **changed: Any) -> dict[str, Any]:
    """The record of a study's case, as a header gives it."""
    return {
        "case": number,
        "role": "study",
        "cipher": f"cipher-{number}",
        "family": "made-up",
        "provider": "rustcrypto",
        "path": "fixsliced",
        "of": None,
        "version": "1",
        "operation": "encrypt",
        "keying": "ready",
        "mode": "cbc",
        "key_bits": 128,
        "block_bits": 128,
        "rounds": None,
        "tag_bits": None,
        "payload_B": 64,
        "encoding": "raw",
        "data": "random",
        "placement": "hot",
        "pattern": "independent",
    } | changed
