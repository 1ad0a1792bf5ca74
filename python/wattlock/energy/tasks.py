"""What a battery is spent on: the operations of a run, or one of the user's own, and how many of them it carries."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wattlock.analysis.distributions import COVERAGE
from wattlock.definitions import suggestion
from wattlock.energy import battery_cards
from wattlock.energy.battery_cards import Array, Battery, BatterySamples, Curve, Law, Model, Surroundings
from wattlock.energy.device_cards import Device
from wattlock.errors import EvidenceError, InputError

if TYPE_CHECKING:
    import polars as pl

# The cases of one task agree in these; its two halves differ in what they do.
SAME = ["cipher", "provider", "payload_B", "aad_B", "keying", "encoding", "data", "placement", "pattern", "readiness"]
FORWARD, BACKWARD = {"encrypt", "seal"}, {"decrypt", "open"}
EVIDENCE = ["measured", "emulated", "modelled", "assumed"]
DAY_h = 24.0
QUANTILES = (0.5, 0.025, 0.975)


class Half(NamedTuple):
    """One direction of a task: joules of one operation with the uncertainty of their logarithm, and its seconds."""

    energy_J: float
    log_sigma: float
    time_s: float | None


class RepeatedOperation(NamedTuple):
    """An operation that is repeated until the battery is empty.

    * `payload_B`: octets of one operation, None where the user gave the joules.
    * `shares`: each direction with its share of the operations; the shares add up to 1.
    """

    cipher: str
    provider: str | None
    payload_B: int | None
    data: str | None
    shares: list[tuple[float, Half]]
    evidence: str

    @property
    def peak_W(self) -> float:
        """What it draws while it works, the larger of its directions; 0 where no time is known."""
        return max((half.energy_J / half.time_s for _, half in self.shares if half.time_s), default=0.0)

    @property
    def time_s(self) -> float | None:
        """Mean seconds of one operation, None where a direction's are not known."""
        times = [(share, half.time_s) for share, half in self.shares]
        return (
            None
            if any(time_s is None for _, time_s in times)
            else sum(share * (time_s or 0.0) for share, time_s in times)
        )


class Duty(NamedTuple):
    """How busy the device is: `share` of the time, or `per_second` operations; `idle_W` is drawn beside, always."""

    share: float = 1.0
    per_second: float | None = None
    idle_W: float = 0.0

    def rate(self, task: RepeatedOperation) -> float:
        """Operations a second.

        Raises InputError where the task's time is not known, or has no room for so many.
        """
        if self.per_second is None and task.time_s is None:
            raise InputError(
                f"how long one operation of {task.cipher} takes on the device is not known",
                hint="say by --per-second how many it does",
            )
        if self.per_second is None:
            return self.share / (task.time_s or math.inf)
        if task.time_s and self.per_second * task.time_s > 1:
            raise InputError(
                f"{self.per_second:g} operations a second of {task.cipher} take {self.per_second * task.time_s:.3g} s",
                hint=f"at most {1 / task.time_s:.4g} fit",
            )
        return self.per_second


def from_estimates(
    estimates: pl.DataFrame,
    *,
    encrypt_share: float = 1.0,
    payload_B: int | None = None,
    file_B: int | None = None,
    clock_Hz: float | None = None,
    counts_cycles: bool = False,
) -> list[RepeatedOperation]:
    """The tasks of a run, one for each combination of what its cases have in common but the direction.

    * `estimates`: with the energy columns filled.
    * `payload_B`: only cases of this many octets; `file_B`: the task is a file of so many octets, at the cost of a byte
      in the case with the largest payload.
    * `clock_Hz`, `counts_cycles`: where the card values cycles, the device takes cycles / clock; a clock of None then
      leaves the time unknown.

    Raises EvidenceError where no case has energy, InputError where none is left or a mix lacks a direction everywhere.
    """
    import polars as pl

    rows = estimates.filter(pl.col("operation").is_in(FORWARD | BACKWARD), pl.col("payload_B") > 0)
    if rows.filter(pl.col("energy_uJ").is_not_null()).is_empty():
        raise EvidenceError("no case of the run has energy", hint="name a device card with --device, or a meter's run")
    rows = rows.filter(pl.col("energy_uJ").is_not_null())
    if payload_B is not None:
        sizes = sorted(set(rows["payload_B"]))
        rows = rows.filter(pl.col("payload_B") == payload_B)
        if rows.is_empty():
            hint = suggestion(str(payload_B), [str(size) for size in sizes], "the sizes are")
            raise InputError(f"no case of the run has a payload of {payload_B} B", hint=hint)
    if file_B is not None:
        rows = rows.sort("payload_B", descending=True, maintain_order=True).unique(
            ["operation", *(column for column in SAME if column not in {"payload_B", "data"})],
            keep="first",
            maintain_order=True,
        )
    tasks = []
    for _, cases in rows.group_by(SAME, maintain_order=True):
        halves = {
            row["operation"] in FORWARD: _half(row, file_B, clock_Hz, counts_cycles=counts_cycles)
            for row in cases.iter_rows(named=True)
        }
        shares = [(share, forward) for share, forward in ((encrypt_share, True), (1 - encrypt_share, False)) if share]
        if all(forward in halves for _, forward in shares):
            first = cases.row(0, named=True)
            evidence = weakest(*cases["energy_evidence"])
            size_B = file_B or first["payload_B"]
            both = [(share, halves[forward]) for share, forward in shares]
            tasks.append(RepeatedOperation(first["cipher"], first["provider"], size_B, first["data"], both, evidence))
    if not tasks:
        raise InputError(
            f"no cipher of the run has what an encryption share of {encrypt_share:g} needs",
            hint="measure encrypting and decrypting, or take --encrypt-share 1",
        )
    return tasks


def by_card(device: Device, cycles: float, time_s: float | None = None) -> Half:
    """An operation of so many cycles by a device card; its time by the card's clock, where none is given.

    Raises InputError where the card values time and no cycles.
    """
    if not device.card.counts_cycles:
        hint = "take a card that values cycles, or give --energy-uJ"
        raise InputError(f"device card {device.name} values time, and no cycles", hint=hint)
    joules, log_sigma = device.card.rate
    clock = device.card.frequency
    return Half(joules * cycles, log_sigma, time_s or (cycles / clock.in_SI if clock else None))


def weakest(*kinds: str) -> str:
    """The evidence of a number that rests on several kinds."""
    return max(kinds, key=EVIDENCE.index)


def _half(row: dict[str, float], file_B: int | None, clock_Hz: float | None, *, counts_cycles: bool) -> Half:
    times = file_B / row["payload_B"] if file_B else 1.0
    log_sigma = math.log(row["energy_high_uJ"] / row["energy_low_uJ"]) / (2 * COVERAGE)
    time_s: float | None = row["time_ns"] * 1e-9
    if counts_cycles:
        time_s = row["cycles"] / clock_Hz if clock_Hz else None
    return Half(row["energy_uJ"] * 1e-6 * times, log_sigma, None if time_s is None else time_s * times)


class BatteryPlan(NamedTuple):
    """A battery, how it is modelled, and what it is drawn from."""

    battery: Battery
    model: Model
    laws: list[Law]
    evidence: str
    batteries: BatterySamples


def battery_plan(
    battery: Battery,
    model: Model,
    laws: list[Law],
    *,
    draws: int,
    seed: int,
    at: Surroundings,
    allow_assumed: bool,
) -> BatteryPlan:
    """Draw the batteries.

    Raises InputError where the card lacks what the model or a law takes, EvidenceError where nobody verified it.
    """
    evidence = battery.require(model, laws, allow_assumed=allow_assumed)
    return BatteryPlan(
        battery, model, laws, evidence, battery_cards.drawn(battery, model, laws, draws=draws, seed=seed, at=at)
    )


def answer(tasks: list[RepeatedOperation], duty: Duty, by: BatteryPlan, *, seed: int) -> pl.DataFrame:
    """How many operations, hours and days each task has on the battery: medians and 95 % intervals of the draws.

    The uncertainty of the joules is one draw for all tasks, as most of it is the card's or the meter's: ciphers can be
    compared within a draw. Raises InputError where a load is none, or too large for the battery.
    """
    import polars as pl

    rates = np.array([duty.rate(task) for task in tasks])
    power_W = _power(tasks, rates, duty, np.random.default_rng([seed, 1]).normal(size=by.batteries.capacity_share.size))
    life_s = battery_cards.seconds(by.battery, by.model, by.batteries, power_W)
    median, low, high = np.quantile(life_s, QUANTILES, axis=1)
    sides = (("", median), ("_low", low), ("_high", high))
    hours = {f"hours{side}": values / 3600 for side, values in sides}
    return pl.DataFrame(
        {
            "cipher": [task.cipher for task in tasks],
            "provider": pl.Series([task.provider for task in tasks], dtype=pl.String),
            "payload_B": pl.Series([task.payload_B for task in tasks], dtype=pl.Int64),
            "data": pl.Series([task.data for task in tasks], dtype=pl.String),
            "energy_uJ": [sum(share * half.energy_J for share, half in task.shares) * 1e6 for task in tasks],
            "power_W": np.median(power_W, axis=1),
            **{f"operations{side}": values * rates for side, values in sides},
            **hours,
            **{f"days{side}": values / 3600 / DAY_h for side, values in sides},
            "battery": by.battery.name,
            "model": by.model,
            "laws": [by.laws] * len(tasks),
            "evidence": [weakest(task.evidence, by.evidence) for task in tasks],
        }
    )


def curves(tasks: list[RepeatedOperation], duty: Duty, by: BatteryPlan) -> pl.DataFrame:
    """Level of the median battery over operations, one `task` a line; its last row is where it is empty."""
    import polars as pl

    frames = []
    for task, label in zip(tasks, _labels(tasks), strict=True):
        rate = duty.rate(task)
        power_W = _power([task], np.array([rate]), duty, np.zeros(1))[0, 0]
        curve: Curve = battery_cards.curve(by.battery, by.model, by.batteries, float(power_W))
        frames.append(
            pl.DataFrame(
                {
                    "task": label,
                    "cipher": task.cipher,
                    "payload_B": pl.Series([task.payload_B] * len(curve.time_s), dtype=pl.Int64),
                    "operations": curve.time_s * rate,
                    "hours": curve.time_s / 3600,
                    "level_percent": curve.level_percent,
                    "evidence": weakest(task.evidence, by.evidence),
                }
            )
        )
    return pl.concat(frames)


def _labels(tasks: list[RepeatedOperation]) -> list[str]:
    """The ciphers, each with what tells it from another task of the same one."""
    ciphers = Counter(task.cipher for task in tasks)
    return [
        task.cipher
        if ciphers[task.cipher] == 1
        else " ".join(str(label) for label in (task.cipher, task.provider, f"{task.payload_B} B", task.data) if label)
        for task in tasks
    ]


def _power(tasks: list[RepeatedOperation], rates: Array, duty: Duty, far: Array) -> Array:
    """Watts of each task in each draw, as (tasks, draws); `far` is a draw's distance in standard deviations."""
    joules = np.zeros((len(tasks), far.size))
    for place, task in enumerate(tasks):
        for share, half in task.shares:
            joules[place] += share * half.energy_J * np.exp(half.log_sigma * far)
    return np.asarray(duty.idle_W + rates[:, None] * joules)
