"""What a run, or an operation of a user, takes out of a battery: how many of them it carries, and for how long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from wattlock.definitions import suggestion
from wattlock.energy import battery_cards, device_cards
from wattlock.energy.battery_cards import MODELS, Law, Model, Surroundings
from wattlock.energy.tasks import (
    BatteryPlan,
    Duty,
    Half,
    RepeatedOperation,
    answer,
    battery_plan,
    by_card,
    curves,
    from_estimates,
)
from wattlock.energy.valuing import clock_of, valued
from wattlock.errors import EvidenceError, InputError
from wattlock.run.result import Result

if TYPE_CHECKING:
    import polars as pl

LEAST_us = 1e-6
"""A picosecond: light goes 0.3 mm."""


@dataclass(frozen=True)
class CaseFilter:
    """Which cases of a run are spent on.

    * `only`: ciphers as globs; `payload_B`: of this payload alone; `file_B`: an operation is a file of so many octets.
    * `encrypt_share`: of encryptions, the others decrypt.
    """

    only: Sequence[str] = ()
    payload_B: int | None = None
    file_B: int | None = None
    encrypt_share: float = 1.0

    @property
    def is_made(self) -> bool:
        """Whether anything is chosen."""
        return self != CaseFilter()


@dataclass(frozen=True)
class OwnOperation:
    """An operation of the user's own: by its microjoules, or by its cycles, which a device card values."""

    energy_uJ: float | None = None
    cycles: float | None = None
    time_us: float | None = None


@dataclass(frozen=True)
class BatteryAnswer:
    """What a battery carries: `table` has a row an operation of `work`."""

    table: pl.DataFrame
    work: list[RepeatedOperation]
    duty: Duty
    plan: BatteryPlan

    def curves(self) -> pl.DataFrame:
        """The battery's level over time by each operation."""
        return curves(self.work, self.duty, self.plan)

    def warnings(self) -> list[str]:
        """What the operations ask for in pulses that the battery does not give; their mean may be far below it."""
        card, name = self.plan.battery.card, self.plan.battery.name
        limit_A = card.max_current.in_SI
        peaks_A = [(task.cipher, (task.peak_W + self.duty.idle_W) / card.voltage.in_SI) for task in self.work]
        cipher, most_A = max(peaks_A, key=lambda peak: peak[1])
        if most_A <= limit_A:
            return []
        drawn = f"{cipher} draws {1e3 * most_A:.3g} mA while it works, battery {name} gives {1e3 * limit_A:.3g} mA"
        return [f"{drawn}: a capacitor must carry the pulses"]


@dataclass(frozen=True)
class Circumstances:
    """What surrounds the battery.

    * `model`: linear, peukert, kibam or tremblay; `without`: laws of the card that are left out.
    * `draws`: batteries drawn, from `seed`.
    """

    model: str = "linear"
    without: Sequence[str] = ()
    at: Surroundings = field(default_factory=lambda: Surroundings(20.0, 5.0))
    draws: int = 10_000
    seed: int = 1


def battery(
    card: str | Path,
    work: Sequence[RepeatedOperation],
    duty: Duty | None = None,
    circumstances: Circumstances | None = None,
    *,
    cards: Path | None = None,
    allow_assumed: bool = False,
) -> BatteryAnswer:
    """How many operations, hours or days a battery carries, as medians with 95 % intervals.

    * `card`: a battery card's name or path; `cards`: the user's folder of cards.
    * `work`: by `of_run` or `of_own`; `duty`: how busy the device is, always without one.

    Raises InputError for a card, model or law that isn't there, EvidenceError for numbers that need consent.
    """
    duty, given = duty or Duty(), circumstances or Circumstances()
    chosen = battery_cards.load(card, cards)
    plan = battery_plan(
        chosen,
        _model(given.model),
        _laws(chosen.card.laws(), given.without),
        draws=given.draws,
        seed=given.seed,
        at=given.at,
        allow_assumed=allow_assumed,
    )
    return BatteryAnswer(answer(list(work), duty, plan, seed=given.seed), list(work), duty, plan)


def of_run(
    result: Result,
    device: str | None = None,
    choice: CaseFilter | None = None,
    *,
    cards: Path | None = None,
    allow_assumed: bool = False,
) -> list[RepeatedOperation]:
    """The operations of a run, valued by a device card, else by the run's meter or its own card.

    Raises InputError where nothing of the run is chosen, EvidenceError for numbers that need consent.
    """
    choice = choice or CaseFilter()
    estimates = valued(result, device, allow_assumed=allow_assumed, cards=cards)
    if choice.only:
        ciphers = sorted(set(estimates["cipher"]))
        kept = [cipher for cipher in ciphers if any(fnmatchcase(cipher, pattern) for pattern in choice.only)]
        if not kept:
            hint = suggestion(choice.only[0], ciphers, "it has")
            raise InputError(f"--only {choice.only[0]}: no cipher of the run", hint=hint)
        estimates = estimates.filter(pl.col("cipher").is_in(kept))
    clock = clock_of(result, device, cards)
    return from_estimates(
        estimates,
        encrypt_share=choice.encrypt_share,
        payload_B=choice.payload_B,
        file_B=choice.file_B,
        clock_Hz=clock.Hz,
        counts_cycles=clock.counts_cycles,
    )


def of_own(
    operation: OwnOperation, device: str | None = None, *, cards: Path | None = None, allow_assumed: bool = False
) -> list[RepeatedOperation]:
    """An operation of the user's own. Joules are theirs, and the answer says that they are assumed.

    Raises InputError where it can't be, or where cycles have no card; EvidenceError where cycles, which a card values,
    come without consent.
    """
    energy_uJ, cycles, time_us = operation.energy_uJ, operation.cycles, operation.time_us
    given = energy_uJ if cycles is None else cycles
    if given is None or given < 0 or (time_us is not None and time_us <= 0):
        hint = "--energy-uJ 12.5 --time-us 80"
        raise InputError("an operation has no negative joules and takes some time", hint=hint)
    if time_us is not None and time_us < LEAST_us:
        raise InputError(f"--time-us is {time_us:g}: no operation is that short", hint="--time-us 80")
    if cycles is not None and not allow_assumed:
        hint = "--allow-assumed takes it, and the result says so"
        raise EvidenceError(f"--cycles {given:g} has no source that could be checked", hint=hint)
    time_s = None if time_us is None else time_us * 1e-6
    if cycles is None:
        half = Half(given * 1e-6, 0.0, time_s)
    elif device is None:
        raise InputError("--cycles needs a card that values them", hint="name one with --device (`wattlock devices`)")
    else:
        half = by_card(device_cards.load(device, cards), cycles, time_s)
    return [RepeatedOperation("your own", None, None, None, [(1.0, half)], "assumed")]


def _model(name: str) -> Model:
    for model in MODELS:
        if model == name:
            return model
    raise InputError(f'there is no battery model "{name}"', hint=suggestion(name, MODELS, "there are"))


def _laws(known: list[Law], without: Sequence[str]) -> list[Law]:
    for name in without:
        if name not in known:
            hint = suggestion(name, known, "its laws are")
            raise InputError(f'--without {name}: the card has no law "{name}"', hint=hint)
    return [law for law in known if law not in without]
