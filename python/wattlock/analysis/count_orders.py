"""How alike two cores order ciphers by their counts: Kendall's tau, with what the errors of the rules leave open.

Source: M. G. Kendall, The treatment of ties in ranking problems, Biometrika 33 (1945).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import polars as pl

from wattlock.analysis.counts import LIKE

LEAST_RANKED = 3
"""Of two ciphers an order agrees or not; there is no more to say of them."""


class Tau(NamedTuple):
    """How alike two orders are: 1 for the same, -1 for the opposite one.

    * `value`: tau-b; null where one side tells no two apart. `low`, `high`: no order that the intervals allow has a tau
      beyond; null where a side has no intervals. `undecided`: pairs that one side or both can't tell apart.
    """

    value: float | None
    low: float | None
    high: float | None
    pairs: int
    undecided: int


class CoreOrder(NamedTuple):
    """What one core counted of the ciphers, each with its interval, null without one."""

    values: Sequence[float]
    lows: Sequence[float | None]
    highs: Sequence[float | None]

    def sign(self, i: int, j: int) -> int:
        """Whether `i` takes more than `j` (1), less (-1), or can't be told from it (0)."""
        more, less = (i, j) if self.values[i] > self.values[j] else (j, i)
        low, high = self.lows[more], self.highs[less]
        is_apart = self.values[more] > self.values[less]
        if low is not None and high is not None:
            is_apart = low > high
        return 0 if not is_apart else 1 if more == i else -1

    @property
    def has_intervals(self) -> bool:
        """Whether every count has one."""
        return None not in self.lows and None not in self.highs


def tau(a: CoreOrder, b: CoreOrder) -> Tau:
    """Kendall's tau-b of two orders: two ciphers are tied on a core where their intervals touch."""
    signs = [(a.sign(i, j), b.sign(i, j)) for i, j in combinations(range(len(a.values)), 2)]
    score = sum(first * second for first, second in signs)
    apart = [sum(1 for pair in signs if pair[side]) for side in (0, 1)]
    undecided = sum(1 for first, second in signs if not first * second)
    value = score / math.sqrt(apart[0] * apart[1]) if all(apart) else None
    low = high = None
    if a.has_intervals and b.has_intervals:
        low, high = ((score + sign * undecided) / len(signs) for sign in (-1, 1))
    return Tau(value, low, high, len(signs), undecided)


COLUMNS = {
    "ciphers": pl.Int64,
    "ordered_by": pl.String,
    **dict.fromkeys(("tau", "tau_low", "tau_high"), pl.Float64),
    **dict.fromkeys(("pairs", "undecided"), pl.Int64),
    **dict.fromkeys(("first_a", "first_b"), pl.String),
}


def agreement(compared: pl.DataFrame) -> pl.DataFrame:
    """How alike two cores order the ciphers: a row a group of at least three that differ in nothing but the cipher.

    * `compared`: as of `counts.compare`. Where a core has no cycles both are ordered by instructions, which have no
      interval.
    * Returns the factors, `ciphers`, `ordered_by`, `tau` with `tau_low` and `tau_high`, how many `pairs` there are and
      are `undecided`, and the cheapest cipher of each side as `first_a` and `first_b`.
    """
    has_cycles = not compared.is_empty() and compared["cycles_a"].count() > 0 and compared["cycles_b"].count() > 0
    by = "cycles" if has_cycles else "instructions"
    rows: list[dict[str, Any]] = []
    factors = [name for name in LIKE if name in compared.columns]
    for key, group in compared.drop_nulls([f"{by}_a", f"{by}_b"]).group_by(factors, maintain_order=True):
        if group.height < LEAST_RANKED:
            continue
        found = tau(*(_side(group, by, side) for side in "ab"))
        first = {f"first_{side}": group.sort(f"{by}_{side}")["cipher"][0] for side in "ab"}
        named = {"tau": found.value, "tau_low": found.low, "tau_high": found.high}
        pairs = {"pairs": found.pairs, "undecided": found.undecided}
        known = {"ciphers": group.height, "ordered_by": by} | named | pairs | first
        rows.append(dict(zip(factors, key, strict=True)) | known)
    schema = {name: compared.schema[name] for name in factors}
    return pl.DataFrame(rows, schema={**schema, **COLUMNS})


def _side(group: pl.DataFrame, by: str, side: str) -> CoreOrder:
    if by != "cycles":
        nothing = [None] * group.height
        return CoreOrder(group[f"{by}_{side}"].to_list(), nothing, nothing)
    return CoreOrder(*(group[f"{name}_{side}"].to_list() for name in ("cycles", "cycles_low", "cycles_high")))
