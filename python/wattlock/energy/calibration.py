"""A device card of this machine, fitted from a run that a meter measured: later runs are valued without the meter."""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field

from wattlock.analysis.distributions import COVERAGE
from wattlock.analysis.estimate import t_half_width
from wattlock.definitions import Shelf, Table, Text
from wattlock.energy import battery_cards
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


def as_toml(one: Card) -> str:
    """The card as a file of the same form as those that come with wattlock."""
    # A JSON string or number is one of TOML too.
    given = one.model_dump(exclude_none=True)
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


Operation = Literal["encrypt", "decrypt"]
OPERATIONS: tuple[Operation, ...] = ("encrypt", "decrypt")
Positive = Annotated[float, Field(gt=0)]
# Of a normal distribution's standard deviation, the median of the distances from the median (Rousseeuw, Croux 1993).
MAD_OF_SIGMA = 0.6745
# A rate this many robust standard deviations off is named.
FAR = 3.5
# Three equal times to the second of some thousands don't come about by chance.
TWINS = 3


class PrintedRow(Table):
    """One combination of block and key: seconds and percent of the battery, for all iterations."""

    block_bits: int
    key_bits: int
    encrypt_s: Positive
    encrypt_battery_percent: Positive
    decrypt_s: Positive
    decrypt_battery_percent: Positive


class Tables(Table):
    """What a paper prints of one battery run.

    * `iterations` over `payload_B` bytes each make the seconds and percents of a row.
    * `device`, `battery`: the cards that stand for the paper's machine.
    """

    iterations: Annotated[int, Field(gt=0)]
    payload_B: Annotated[int, Field(gt=0)]
    device: Text
    battery: Text
    source: Text
    rijndael: Annotated[list[PrintedRow], Field(min_length=1)]


class PrintedFigure(NamedTuple):
    """One printed figure beside what the fitted power makes of its time.

    * `why`: what is wrong with it, empty where nothing is.
    """

    operation: Operation
    block_bits: int
    key_bits: int
    rounds: int
    time_s: float
    battery_percent: float
    by_power_percent: float
    off_percent: float
    by_law_percent: float
    why: str


class CostLaw(NamedTuple):
    """percent = a + b * rounds + c / block_bits, by least squares, for one operation."""

    operation: Operation
    a: float
    b: float
    c: float
    r_squared: float


class PublishedRun(NamedTuple):
    """A device's power as a published run shows it.

    * `percent_per_s`: the battery's fall in a second, the median of all rows; `spread`: standard deviation of its
      logarithm between rows, from the median distance.
    * `power_W`: by the battery's card; its uncertainty is that of the card's capacity and voltage, besides `spread`.
    * `uJ_per_byte`: the mean over all rows by their printed percentages.
    """

    source: str
    device: str
    battery: str
    percent_per_s: float
    spread: float
    power_W: float
    power_low_W: float
    power_high_W: float
    uJ_per_byte: float
    evidence: Literal["modelled", "assumed"]
    cases: list[PrintedFigure]
    laws: list[CostLaw]

    @property
    def worst_percent(self) -> float:
        """How far the worst row lies from what the power makes of its time, in percent of what is printed."""
        return max(abs(case.off_percent) for case in self.cases)


RUNS = Shelf("published run", "published runs", "published", Tables, marked_by="iterations")


def names() -> list[str]:
    """The published battery runs that come along; beside them lie tables of other kinds."""
    return RUNS.names()


def tables(name: str) -> Tables:
    """The printed tables of a published run.

    Raises InputError where there is none of that name.
    """
    return RUNS.load(name)[1]


def published(name: str, *, allow_assumed: bool = False) -> PublishedRun:
    """Fit a device's effective power to a published run.

    One rate, the battery's percent a second, is fitted to all rows: its median, which a few wrong times can't move.
    The card of the battery makes watts of it. Beside it stands the law of cost over rounds and block.

    Raises InputError where there is no such run, EvidenceError where the battery's size is verified by nobody and
    `allow_assumed` is not given.
    """
    printed = tables(name)
    battery = battery_cards.load(printed.battery)
    evidence = battery.require("linear", [], allow_assumed=allow_assumed)
    capacity, voltage = battery.card.capacity, battery.card.voltage
    joules_a_percent = capacity.in_SI * voltage.in_SI / 100
    laws = {operation: _law(printed, operation) for operation in OPERATIONS}
    rows = [(operation, row) for operation in OPERATIONS for row in printed.rijndael]
    seconds = [_of(row, operation, "s") for operation, row in rows]
    percents = [_of(row, operation, "battery_percent") for operation, row in rows]
    rates = np.array(percents) / np.array(seconds)
    rate = float(np.median(rates))
    apart = np.log(rates / rate)
    spread = float(np.median(np.abs(apart))) / MAD_OF_SIGMA
    twins = Counter((operation, time_s) for (operation, _), time_s in zip(rows, seconds, strict=True))
    cases = [
        PrintedFigure(
            operation,
            row.block_bits,
            row.key_bits,
            _rounds(row),
            time_s,
            percent,
            rate * time_s,
            100 * (rate * time_s / percent - 1),
            _at(laws[operation], row),
            "; ".join(_doubts(float(far), spread, time_s, twins[operation, time_s])),
        )
        for (operation, row), time_s, percent, far in zip(rows, seconds, percents, apart, strict=True)
    ]
    power_W = rate * joules_a_percent
    width = float(np.exp(COVERAGE * np.hypot(np.hypot(capacity.log_sigma, voltage.log_sigma), spread)))
    work_B = len(rows) * printed.iterations * printed.payload_B
    return PublishedRun(
        source=printed.source,
        device=printed.device,
        battery=printed.battery,
        percent_per_s=rate,
        spread=spread,
        power_W=power_W,
        power_low_W=power_W / width,
        power_high_W=power_W * width,
        uJ_per_byte=sum(percents) * joules_a_percent / work_B * 1e6,
        evidence=evidence,
        cases=cases,
        laws=list(laws.values()),
    )


def _of(row: PrintedRow, operation: Operation, what: str) -> float:
    return float(getattr(row, f"{operation}_{what}"))


def _rounds(row: PrintedRow) -> int:
    """Rounds of Rijndael by block and key (Daemen and Rijmen, The Design of Rijndael, 2002, table 3.2)."""
    return max(row.block_bits, row.key_bits) // 32 + 6


def _law(printed: Tables, operation: Operation) -> CostLaw:
    rounds_and_blocks = np.array([[1.0, _rounds(row), 1.0 / row.block_bits] for row in printed.rijndael])
    percents = np.array([_of(row, operation, "battery_percent") for row in printed.rijndael])
    (a, b, c), *_ = np.linalg.lstsq(rounds_and_blocks, percents)
    left = percents - rounds_and_blocks @ (a, b, c)
    r_squared = 1.0 - float(left @ left) / float(np.sum((percents - percents.mean()) ** 2))
    return CostLaw(operation, float(a), float(b), float(c), r_squared)


def _at(law: CostLaw, row: PrintedRow) -> float:
    return law.a + law.b * _rounds(row) + law.c / row.block_bits


def _doubts(far: float, spread: float, time_s: float, alike: int) -> list[str]:
    doubts = []
    if alike >= TWINS:
        doubts.append(f"{time_s:g} s stands {alike} times")
    if abs(far) > FAR * spread:
        doubts.append(f"{abs(far) / spread:.1f} spreads {'above' if far > 0 else 'below'} the rate of the others")
    return doubts
