"""A device card of this machine, fitted from a run that a meter measured: later runs are valued without the meter."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Mapping
from typing import Any, NamedTuple

import polars as pl

from wattlock.analysis.distributions import COVERAGE
from wattlock.analysis.estimate import t_half_width
from wattlock.energy.device_cards import Card, Number
from wattlock.errors import EvidenceError

LEAST_LOADS = 4
"""Fewer loads don't tell how far programs differ."""


class FitLoad(NamedTuple):
    """A load of the fit: what a cycle of it draws, and by how many percent that misses the fit."""

    cipher: str
    operation: str
    payload_B: int
    nJ_per_cycle: float
    random_percent: float
    off_percent: float


class PowerFit(NamedTuple):
    """Joules of a cycle, the same for all programs but for a spread.

    * `log_spread`: standard deviation of ln(joules of a cycle) from load to load: the lack of fit; `gain`: relative
      standard uncertainty of the meter's gain; `GHz`: median clock; `power_W`: net power at that clock.
    """

    nJ_per_cycle: float
    log_spread: float
    gain: float
    GHz: float
    idle_W: float
    loads: list[FitLoad]

    @property
    def power_W(self) -> float:
        """Net power of one busy core."""
        return self.nJ_per_cycle * self.GHz

    @property
    def log_sigma(self) -> float:
        """Standard uncertainty of the natural logarithm of another program's joules a cycle.

        Another program is one more draw from the spread, beside the uncertainty of the mean of those seen. The spread
        of a few loads is itself unsure: Student's t in place of 1.96 widens it, so that 1.96 of this hold 95 %.
        """
        count = len(self.loads)
        one_more = t_half_width(self.log_spread, count, 0.05) * math.sqrt(count + 1)
        return math.hypot(one_more / COVERAGE, math.log1p(self.gain))


def fit(estimates: pl.DataFrame, *, gain: float, GHz: float | None) -> PowerFit:
    """Fit joules a cycle to the cases of a run that a meter measured.

    * `estimates`: rows with `cycles`, `energy_uJ` (net, measured), `energy_random_percent`, `power_baseline_W`;
      `gain`: of the meter; `GHz`: the run's median core clock.

    Raises EvidenceError where the clock is not known or fewer than four cases have joules and cycles.

    The fit is the mean of the logarithms: a card is wrong by a factor, not by a difference.
    """
    if GHz is None:
        raise EvidenceError(
            "the core clock of this machine is not known, so its joules have no cycles to be compared with",
            hint="measure on a core whose multiplier wattlock knows; `wattlock doctor` says whether it does",
        )
    known = estimates.filter(pl.col("energy_uJ").is_not_null(), pl.col("cycles").is_not_null())
    if known.height < LEAST_LOADS:
        reasons = estimates.filter(pl.col("energy_uJ").is_null())["energy_reason"].drop_nulls().unique().to_list()
        because = f": {reasons[0]}" if reasons else ""
        raise EvidenceError(
            f"{known.height} loads have joules, a card needs {LEAST_LOADS}{because}",
            hint="measure on a quieter machine, or with a meter of a smaller domain",
        )
    rows = list(known.iter_rows(named=True))
    logs = [math.log(row["energy_uJ"] * 1e3 / row["cycles"]) for row in rows]
    mean = statistics.fmean(logs)
    loads = [
        FitLoad(
            row["cipher"],
            row["operation"],
            row["payload_B"],
            math.exp(log),
            row["energy_random_percent"],
            100 * math.expm1(log - mean),
        )
        for row, log in zip(rows, logs, strict=True)
    ]
    idle_W = statistics.fmean(row["power_baseline_W"] for row in rows)
    return PowerFit(math.exp(mean), statistics.stdev(logs), gain, GHz, idle_W, loads)


def card(found: PowerFit, *, isa: str, machine: str, run: str, meter: Mapping[str, Any]) -> Card:
    """The card of the machine that `run` measured; `meter` as in the run's headers, with its `baseline`."""
    source = f"wattlock calibrate: run {run}, meter {meter['name']}, {len(found.loads)} loads"
    power = {
        "value": float(f"{found.power_W:.4g}"),
        "unit": "W",
        "relative_uncertainty": float(f"{math.expm1(found.log_sigma):.3g}"),
        "distribution": "normal",
        "because": (
            f"loads differ by {100 * math.expm1(found.log_spread):.2g} %, the meter's gain by "
            f"{100 * found.gain:.2g} % ({meter['gain_source']})"
        ),
        "conditions": f"one core busy, net of the baseline {meter['baseline']}; {meter['scope']}",
    }
    frequency = {
        "value": float(f"{found.GHz * 1e3:.5g}"),
        "unit": "MHz",
        "relative_uncertainty": 0.001,
        "distribution": "uniform",
        "because": "ours: the median of the canary over the run",
        "conditions": "while the loads ran",
    }
    cited = {"source": source, "confidence": "primary"}
    return Card.model_validate(
        {
            "title": f"This machine: {machine}",
            "isa": isa,
            "note": (
                "Fitted to what a meter counted above the baseline. It values other runs on this very machine; "
                "a cycle at another clock, or on a busy machine, draws something else."
            ),
            "narrowed_by": "a meter of a smaller domain or a better known gain, or measuring the program itself",
            "power": Number.model_validate({**power, **cited}),
            "frequency": Number.model_validate({**frequency, **cited}),
        }
    )


def as_toml(card: Card) -> str:
    """The card as a file of the same form as those that come with wattlock."""
    # A JSON string or number is one of TOML too.
    given = card.model_dump(exclude_none=True)
    tables = {key: value for key, value in given.items() if isinstance(value, dict)}
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in given.items() if key not in tables]
    for key, table in tables.items():
        lines += [
            "",
            f"[{key}]",
            *(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in table.items()),
        ]
    return "\n".join(lines) + "\n"


def notes(found: PowerFit) -> list[str]:
    """The fit in words."""
    factor = math.exp(COVERAGE * found.log_sigma)
    return [
        f"{found.nJ_per_cycle:.3g} nJ a cycle, {found.power_W:.3g} W above the baseline of {found.idle_W:.3g} W at "
        f"{found.GHz:.2f} GHz",
        f"another program's joules lie within a factor of {factor:.3g} (95 %): loads differ by "
        f"{100 * math.expm1(found.log_spread):.2g} %, the gain by {100 * found.gain:.2g} %",
    ]
