"""From counts to what is known of a case on a microcontroller: cycles with their interval, ranks, ratios.

The interval is the error of an emulated core's rules, or the range of a board's repetitions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from statistics import median_low
from typing import Any, NamedTuple

import polars as pl

from wattlock.analysis.comparison import FACTORS, GROUP
from wattlock.analysis.estimate import CASE_FIELDS, STEADY

EMULATED, MEASURED = "emulated", "measured"
"""What cycles rest on: an emulated core's rules, or the counter of a board."""

SIZES = ("flash_B", "ram_B", "stack_B", "image_flash_B")
COUNTED: Mapping[str, type[pl.DataType]] = {
    **dict.fromkeys(("instructions", "cycles"), pl.Int64),
    **dict.fromkeys(("cycles_low", "cycles_high", "cycles_error_percent"), pl.Float64),
    **dict.fromkeys(("cycles_per_byte", "cycles_per_byte_low", "cycles_per_byte_high"), pl.Float64),
    "repetitions": pl.Int64,
    "part_cycles": pl.Int64,
    "part_cycles_per_byte": pl.Float64,
    **dict.fromkeys(SIZES, pl.Int64),
    "image_sha256": pl.String,
    "time_ns": pl.Float64,
    **dict.fromkeys(("state", "reason", "evidence"), pl.String),
}
"""What stands beside a case; `time_ns` is always null: a count is no time."""

_INTEGERS = {"case", "key_bits", "block_bits", "rounds", "tag_bits", "payload_B", "aad_B"}


def estimates(
    cases: Sequence[Mapping[str, Any]],
    counts: Mapping[int, Mapping[str, Any]],
    failures: Mapping[int, str],
    no_cycles: str,
) -> pl.DataFrame:
    """One row a case: what one call takes on the core, in which memory, and how far the cycles may be from the truth.

    * `cases`: as the headers have them; `counts`: the record by case, `count` or `board`; `failures`: the error by
      case. `no_cycles`: why one has no cycles, where that is so.
    * On a board `cycles` is the median of the `repetitions`, `cycles_low` and `cycles_high` the least and the most.
    * The truth lies between `cycles_low` and `cycles_high` for 95 % of the published figures that the core's rules were
      compared with; no interval where the rules were compared with none. Part cycles have no interval.
    """
    fields = {name: pl.Int64 if name in _INTEGERS else pl.String for name in CASE_FIELDS}
    rows = []
    for case in cases:
        number = case["case"]
        known: dict[str, Any] = {name: case.get(name) for name in CASE_FIELDS}
        known["readiness"] = known["readiness"] or STEADY
        rows.append(known | _counted(counts.get(number), case["payload_B"], failures.get(number), no_cycles))
    return pl.DataFrame(rows, schema={**fields, **COUNTED})


def _counted(count: Mapping[str, Any] | None, payload_B: int, failure: str | None, no_cycles: str) -> dict[str, Any]:
    if count is None:
        state = "failed" if failure else "missing"
        return {"state": state, "reason": failure or "no process that came to its end counted it"}
    found = {name: count[name] for name in ("image_sha256", *SIZES)} | {"state": "counted"}
    found |= _by_counter(count) if count["kind"] == "board" else _by_rules(count)
    found |= {"reason": no_cycles if found["cycles"] is None else None}
    if payload_B:
        for name in ("cycles", "part_cycles"):
            value = found.get(name)
            found[f"{name}_per_byte"] = None if value is None else value / payload_B
        for end in ("low", "high"):
            value = found.get(f"cycles_{end}")
            found[f"cycles_per_byte_{end}"] = None if value is None else value / payload_B
    return found


def _by_rules(count: Mapping[str, Any]) -> dict[str, Any]:
    """Cycles by the rules of an emulated core, with the interval that their error makes."""
    found = {name: count[name] for name in ("instructions", "part_cycles")}
    cycles, error, open_cycles = count["core_cycles"], count["core_error_percent"], count["open_cycles"]
    found |= {"cycles": cycles, "evidence": EMULATED}
    if cycles is not None and error is not None:
        found["cycles_error_percent"] = error
        found["cycles_low"] = (cycles - open_cycles) / (1 + error / 100)
        found["cycles_high"] = (cycles + open_cycles) / (1 - error / 100)
    return found


def _by_counter(board: Mapping[str, Any]) -> dict[str, Any]:
    """Cycles by the counter of a board: the median of its repetitions and their range."""
    cycles = board["board_cycles"]
    if not cycles:
        return {"cycles": None}
    found = {"cycles": median_low(cycles), "cycles_low": float(min(cycles)), "cycles_high": float(max(cycles))}
    return {**found, "repetitions": len(cycles), "evidence": MEASURED}


RANKED = ("case", "cipher", "provider", "cycles", "cycles_low", "cycles_high", "cycles_per_byte", "flash_B", "ram_B")


def rank(counted: pl.DataFrame) -> pl.DataFrame:
    """Ranks the ciphers of each group of comparable cases by core cycles, the fewest first.

    * `counted`: as of `estimates`. Cases without cycles have no rank.
    * Returns the group's columns, those of `RANKED`, `tie_group` and `ratio_to_best`. A case shares the place of the
      first of its group whose interval it touches: within the error of the rules neither is ahead.
    """
    rows = counted.filter(pl.col("cycles").is_not_null()).sort(*GROUP, "cycles", "cipher")
    ranked: list[dict[str, Any]] = []
    for _, group in rows.group_by(GROUP, maintain_order=True):
        ranked += _placed(group.to_dicts())
    schema = {name: counted.schema[name] for name in (*GROUP, *RANKED)}
    return pl.DataFrame(ranked, schema={**schema, "tie_group": pl.Int64, "ratio_to_best": pl.Float64})


def _placed(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    place, first = 1, rows[0]
    for row in rows:
        low, high = row["cycles_low"], first["cycles_high"]
        is_apart = row["cycles"] > first["cycles"] if low is None or high is None else low > high
        if is_apart:
            place, first = place + 1, row
        best = rows[0]["cycles"]
        yield row | {"tie_group": place, "ratio_to_best": row["cycles"] / best if best else None}


LIKE = ("mode", *FACTORS)
"""What two cases must have in common beside the cipher."""

SIDE = ("version", "path", "cycles", "cycles_per_byte", "instructions", "part_cycles", "flash_B", "ram_B", "stack_B")


ENERGY = ("energy_uJ", "energy_low_uJ", "energy_high_uJ", "energy_evidence")
"""Of a side that a card valued."""


Mixes = Mapping[int, Mapping[str, int]]
"""Instructions by class, by case."""


def compare(
    a: pl.DataFrame,
    b: pl.DataFrame,
    providers: tuple[str, str] | None = None,
    mixes: tuple[Mixes, Mixes] | None = None,
) -> pl.DataFrame:
    """A row a case of both: the ratio of the second's cycles to the first's, and of its instructions.

    * `providers`: those of the first and of the second, where implementations are compared.
    * `mixes`: of both, where one core counted them: what its rules get wrong of a class of instructions they get wrong
      on both sides, and it cancels in the ratio as far as both have as large a share of it. Instructions are exact.

    `ratio_low` and `ratio_high` hold the error of the rules for the share of instructions that differ, all of it
    without mixes, on both sides as if they were independent; and what operands decide on either. The verdict is
    `alike` where both counts are the same, `fewer` or `more` where the interval is wholly below or above 1, and
    `undecided` where the error of the rules is larger than the difference, or there are no cycles.
    """
    keys = ["cipher", *LIKE] if providers else ["cipher", *LIKE, "provider"]
    sides = [
        _side(frame, keys, providers[place] if providers else None, (mixes or ({}, {}))[place])
        for place, frame in enumerate((a, b))
    ]
    joined = sides[0].join(sides[1], on=keys, how="inner", suffix="_b", nulls_equal=True, maintain_order="left")
    kept = [name for name in sides[0].columns if name not in keys]
    named = joined.rename({name: f"{name}_a" for name in kept})
    ratio = pl.col("cycles_b") / pl.col("cycles_a")
    low, high = pl.col("cycles_low_b") / pl.col("cycles_high_a"), pl.col("cycles_high_b") / pl.col("cycles_low_a")
    if mixes is not None:
        named = named.with_columns(differs=pl.struct("mix_a", "mix_b").map_elements(_differs, return_dtype=pl.Float64))
        # Of the error on both sides, as factors of the ratio, the share that does not cancel.
        error = (pl.max_horizontal(f"cycles_error_percent_{side}" for side in "ab") / 100).fill_null(0)
        cancels = ((1 + error) / (1 - error)).pow(1 - pl.col("differs"))
        low, high = low * cancels, high / cancels
    same = pl.all_horizontal(pl.col(f"{name}_a").eq_missing(pl.col(f"{name}_b")) for name in ("cycles", "instructions"))
    verdict = (
        pl.when(same & pl.col("cycles_a").is_not_null())
        .then(pl.lit("alike"))
        .when(high < 1)
        .then(pl.lit("fewer"))
        .when(low > 1)
        .then(pl.lit("more"))
        .otherwise(pl.lit("undecided"))
    )
    return named.with_columns(
        ratio=ratio,
        ratio_low=low,
        ratio_high=high,
        instructions_ratio=pl.col("instructions_b") / pl.col("instructions_a"),
        verdict=verdict,
    ).drop("mix_a", "mix_b", "cycles_error_percent_a", "cycles_error_percent_b", "differs", strict=False)


def _differs(mixes: Mapping[str, Sequence[Mapping[str, Any]] | None]) -> float:
    """The share of instructions by which two mixes differ: 0 where they are alike.

    It is 1 where they have no class in common or a mix is not known.
    """
    first, second = (
        {str(part["class"]): int(part["count"]) for part in mixes[side] or ()} for side in ("mix_a", "mix_b")
    )
    if not first or not second:
        return 1.0
    totals = sum(first.values()), sum(second.values())
    shares = ((first.get(name, 0) / totals[0], second.get(name, 0) / totals[1]) for name in first.keys() | second)
    return sum(abs(a - b) for a, b in shares) / 2


def _side(frame: pl.DataFrame, keys: Sequence[str], provider: str | None, mixes: Mixes) -> pl.DataFrame:
    """The cases of one side that were counted; of two implementations each keeps its provider's name."""
    counted = frame.filter(pl.col("state") == "counted")
    parts = [[{"class": name, "count": n} for name, n in mixes.get(case, {}).items()] for case in counted["case"]]
    mix = pl.Series(parts, dtype=pl.List(pl.Struct({"class": pl.String, "count": pl.Int64})))
    counted = counted.with_columns(pl.col("aad_B").fill_null(0), mix=mix)
    side_rows = counted if provider is None else counted.filter(pl.col("provider") == provider)
    valued = [name for name in ENERGY if name in side_rows.columns]
    named = [] if "provider" in keys else ["provider"]
    return side_rows.select(*keys, *named, *SIDE, "cycles_low", "cycles_high", "cycles_error_percent", "mix", *valued)


def more_than(compared: pl.DataFrame, share: float) -> pl.DataFrame:
    """The rows of `compare` whose second case takes more cycles by more than `share`, or instructions without them.

    A count repeats bit for bit, so no interval is asked.
    """
    return compared.filter(pl.col("ratio").fill_null(pl.col("instructions_ratio")) > 1 + share)


def lost(a: pl.DataFrame, b: pl.DataFrame) -> pl.DataFrame:
    """The cases of the first that were counted and of which the second has no count."""
    keys = ["cipher", *LIKE, "provider"]
    sides = [_side(frame, keys, None, {}) for frame in (a, b)]
    return sides[0].join(sides[1], on=keys, how="anti", nulls_equal=True, maintain_order="left")


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
        found = tau(*(_order_on_side(group, by, side) for side in "ab"))
        first = {f"first_{side}": group.sort(f"{by}_{side}")["cipher"][0] for side in "ab"}
        named = {"tau": found.value, "tau_low": found.low, "tau_high": found.high}
        pairs = {"pairs": found.pairs, "undecided": found.undecided}
        known = {"ciphers": group.height, "ordered_by": by} | named | pairs | first
        rows.append(dict(zip(factors, key, strict=True)) | known)
    schema = {name: compared.schema[name] for name in factors}
    return pl.DataFrame(rows, schema={**schema, **COLUMNS})


def _order_on_side(group: pl.DataFrame, by: str, side: str) -> CoreOrder:
    if by != "cycles":
        nothing = [None] * group.height
        return CoreOrder(group[f"{by}_{side}"].to_list(), nothing, nothing)
    return CoreOrder(*(group[f"{name}_{side}"].to_list() for name in ("cycles", "cycles_low", "cycles_high")))
