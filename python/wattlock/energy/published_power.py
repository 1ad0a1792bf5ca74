"""Calibration from a published run: a device's effective power from printed times and battery percentages."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field

from wattlock.analysis.distributions import COVERAGE
from wattlock.definitions import Shelf, Table, Text
from wattlock.energy import battery_cards

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


class PrintedTables(Table):
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


RUNS = Shelf("published run", "published runs", "published", PrintedTables, marked_by="iterations")


def names() -> list[str]:
    """The published battery runs that come along; beside them lie tables of other kinds."""
    return RUNS.names()


def tables(name: str) -> PrintedTables:
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


def _law(printed: PrintedTables, operation: Operation) -> CostLaw:
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
