"""Battery runs: what a call takes out of a battery, by its level before and after many of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import polars as pl

WIDE = 1.959964
"""Standard uncertainties in half a 95 % interval."""

PERCENT_STEP = 1.0
"""Batteries tell their level in whole percents."""

SCHEMA: dict[str, type[pl.DataType]] = {
    "case": pl.Int64,
    "calls": pl.Int64,
    "hours": pl.Float64,
    "from_percent": pl.Float64,
    "to_percent": pl.Float64,
    "drawn_percent": pl.Float64,
    "drawn_percent_half_width": pl.Float64,
    "calls_per_percent": pl.Float64,
    "energy_uJ": pl.Float64,
    "energy_low_uJ": pl.Float64,
    "energy_high_uJ": pl.Float64,
    "energy_evidence": pl.String,
    "state": pl.String,
    "reason": pl.String,
}


class FullCharge(NamedTuple):
    """What the battery holds when it is full, by its card, where its gauge tells a level alone.

    * `relative_uncertainty`: a standard one; `evidence`: of the card's numbers.
    """

    energy_J: float
    relative_uncertainty: float
    evidence: str


def parts(levels: Sequence[Mapping[str, Any]]) -> dict[int, list[list[Mapping[str, Any]]]]:
    """The lines of `battery_level` by case, and within it by process, in the order of their time.

    Lines that tell why a part ended early are left out: the battery was being charged when they were taken.
    """
    found: dict[int, dict[int, list[Mapping[str, Any]]]] = {}
    for line in sorted(levels, key=lambda line: line["unix_ns"]):
        if not line["error"]:
            found.setdefault(line["case"], {}).setdefault(line["process"], []).append(line)
    return {case: list(several.values()) for case, several in found.items()}


def discharges(
    levels: Sequence[Mapping[str, Any]], battery: Mapping[str, Any], full: FullCharge | None = None
) -> pl.DataFrame:
    """A row a case: calls, hours, percent drawn and joules a call, gross: all that the battery fed meanwhile.

    * `levels`: the run's `battery_level` records, whole or cut off; `battery`: what the gauge is (quantum, gain).
    * `full`: makes joules of percents where the gauge counts none; null leaves them out.

    Each part of a fall, from one start of the probe to its end, counts with its own first and last line: what was
    charged between two parts does not enter. A part's difference is uncertain by a gauge's step and by what is drawn in
    one of its updates, each over the root of six; the gauge's gain is common to all. A fall of fewer than five steps is
    inconclusive.
    """
    rows = [_discharge(case, several, battery, full) for case, several in sorted(parts(levels).items())]
    return pl.DataFrame(rows, schema=SCHEMA)


def _discharge(
    case: int, several: Sequence[Sequence[Mapping[str, Any]]], battery: Mapping[str, Any], full: FullCharge | None
) -> dict[str, Any]:
    ends = [(part[0], part[-1]) for part in several]
    calls = sum(last["repeats_done"] - first["repeats_done"] for first, last in ends)
    root = math.sqrt(len(ends) / 6)
    drawn = _difference(ends, "level_percent")
    energy_nJ = _energy_nJ(several)
    row: dict[str, Any] = {
        "case": case,
        "calls": calls,
        "hours": sum(last["unix_ns"] - first["unix_ns"] for first, last in ends) / 3.6e12,
        "from_percent": ends[0][0]["level_percent"],
        "to_percent": ends[-1][1]["level_percent"],
        "drawn_percent": drawn,
        "drawn_percent_half_width": WIDE * PERCENT_STEP * root if drawn is not None else None,
        "state": "inconclusive",
    }
    steps = drawn if energy_nJ is None else energy_nJ / battery["quantum_nJ"]
    if not calls or steps is None or steps < 5:
        described = "nothing" if steps is None else f"{max(steps, 0):.3g} steps"
        return row | {"reason": f"the gauge fell by {described}; 5 are the least: more calls, or down to a lower level"}
    if drawn:
        row["calls_per_percent"] = calls / drawn
    if energy_nJ is not None:
        step, of_card, evidence = battery["quantum_nJ"] * root / energy_nJ, 0.0, "measured"
    elif full is not None and drawn:
        energy_nJ = drawn / 100 * full.energy_J * 1e9
        step, of_card, evidence = PERCENT_STEP * root / drawn, full.relative_uncertainty, full.evidence
    else:
        return row | {"state": "resolved", "reason": "the battery tells its level alone: percents, and no joules"}
    stale = battery["update_period_ns"] * root / (row["hours"] * 3.6e12)
    relative = math.hypot(step, stale, battery["gain_relative_uncertainty"], of_card)
    energy_uJ = energy_nJ / calls / 1e3
    wide = math.exp(WIDE * math.log1p(relative))
    bounds = {"energy_low_uJ": energy_uJ / wide, "energy_high_uJ": energy_uJ * wide}
    return row | {"energy_uJ": energy_uJ, **bounds, "energy_evidence": evidence, "state": "resolved"}


def _difference(ends: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]], key: str) -> float | None:
    if any(line[key] is None for pair in ends for line in pair):
        return None
    return float(sum(first[key] - last[key] for first, last in ends))


def _energy_nJ(several: Sequence[Sequence[Mapping[str, Any]]]) -> float | None:
    """Joules drawn: counted by the battery, else its charge times the mean of the voltages meanwhile."""
    counted = _difference([(part[0], part[-1]) for part in several], "energy_nJ")
    if counted is not None:
        return counted
    total = 0.0
    for part in several:
        for before, after in pairwise(part):
            known = [line[key] for line in (before, after) for key in ("charge_uAh", "voltage_uV")]
            if None in known:
                return None
            voltage_V = (before["voltage_uV"] + after["voltage_uV"]) / 2e6
            # uAh times V is 3600 uJ.
            total += (before["charge_uAh"] - after["charge_uAh"]) * voltage_V * 3.6e6
    return total


def curves(levels: Sequence[Mapping[str, Any]], names: Mapping[int, tuple[str, int]]) -> pl.DataFrame:
    """Level over calls, a row a line of the log: `task`, `payload_B`, `operations`, `level_percent`, `evidence`.

    * `names`: what each case is called, and its payload in bytes.
    """
    rows = [
        (*names[case], line["repeats_done"], float(line["level_percent"]), "measured")
        for case, several in parts(levels).items()
        for part in several
        for line in part
        if line["level_percent"] is not None
    ]
    return pl.DataFrame(rows, schema=["task", "payload_B", "operations", "level_percent", "evidence"], orient="row")
