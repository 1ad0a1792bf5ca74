"""From which size on a browser's own AES is faster than the built-in one in WebAssembly, in words."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from wattlock.analysis.crossover import FEWEST_SIZES, Crossover, crossover
from wattlock.analysis.draws import Array, log_sigma
from wattlock.analysis.ranking import GROUP
from wattlock.study.cases import USUAL_PROVIDER, WEBCRYPTO

ALIKE = ["cipher", *(name for name in GROUP if name not in {"payload_B", "core_class"})]
NAMES = {"a": "WebAssembly", "b": "WebCrypto"}
OPEN = 0.05
"""A crossing, or none, is told where at most so many of the draws say otherwise."""


def crossings(estimates: pl.DataFrame, looks: Sequence[int]) -> list[str]:
    """A line for each cipher and operation that both have at three sizes or more.

    * `estimates`: of a run that was valid; `looks`: those of its study. A case that the last look left wider than the
      study's target has its interval, which may tell two slopes well apart; any other unresolved one tells nothing.
    """
    last = (pl.col("state") == "unresolved") & (pl.col("processes") >= max(looks, default=0))
    known = estimates.filter(pl.col("time_ns").is_not_null(), (pl.col("state") == "resolved") | last)
    lines = []
    for (cipher, operation, *_), rows in known.group_by(ALIKE, maintain_order=True):
        ours, theirs = (rows.filter(pl.col("provider") == name) for name in (USUAL_PROVIDER, WEBCRYPTO))
        sizes = sorted(set(ours["payload_B"]) & set(theirs["payload_B"]))
        if len(sizes) < FEWEST_SIZES:
            continue
        found = crossover(sizes, *(_costs(side, sizes) for side in (ours, theirs)))
        lines.append(f"{cipher} {operation}: {_words(found, sizes)}")
    return lines


def _costs(rows: pl.DataFrame, sizes: Sequence[int]) -> tuple[Array, Array]:
    """Time and the standard error of its logarithm at each size."""
    told = rows.filter(pl.col("payload_B").is_in(list(sizes))).sort("payload_B")
    return told["time_ns"].to_numpy(), log_sigma(told["half_width_percent"].to_numpy())


def _words(found: Crossover, sizes: Sequence[int]) -> str:
    between = f"from {sizes[0]} to {sizes[-1]} B"
    if found.crossings > 1:
        return f"the faster one of WebAssembly and WebCrypto changes {found.crossings} times {between}"
    if found.payload_B is None:
        if found.probability > OPEN:
            return f"whether a crossover of WebAssembly and WebCrypto is reached {between} is not resolved"
        return f"{NAMES[found.cheaper_below]} is faster {between}; a crossover is not reached"
    if found.probability < 1 - OPEN:
        return f"which of WebAssembly and WebCrypto is faster at both ends, {between}, is not resolved"
    first, then = NAMES[found.cheaper_below], NAMES[found.cheaper_above]
    where = f"{found.payload_B:.0f} B (95 % interval {found.low_B:.0f} to {found.high_B:.0f} B)"
    return f"{first} is faster up to {where}, {then} from there on"
