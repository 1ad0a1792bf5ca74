"""Battery lives as rows: how many operations and days a battery carries, each from thousands of drawn lives."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field

from wattlock.definitions import Table, Text, validated
from wattlock.definitions.changes import changed
from wattlock.energy import operations
from wattlock.energy.lifetime import Surroundings
from wattlock.energy.operations import Circumstances, OwnOperation
from wattlock.energy.tasks import Duty
from wattlock.errors import EvidenceError, InputError, WattlockError

OPTION = re.compile(r"--([a-z][\w-]*)")
FIGURES = ("power_W", *(f"{what}{side}" for what in ("operations", "days") for side in ("", "_low", "_high")))


class Life(Table):
    """An operation and what surrounds the battery that carries it: the options of `wattlock battery` as keys.

    * `draws`: lives. All rows of one `seed` draw the same batteries, so that they differ by what varies alone.
    """

    energy_uJ: float | None = None
    cycles: float | None = None
    time_us: float | None = None
    device: Text | None = None
    duty: float = Field(default=1.0, ge=0, le=1)
    per_second: float | None = Field(default=None, ge=0)
    idle_W: float = 0.0
    model: Text = "linear"
    without: list[Text] = Field(default_factory=list)
    temperature_C: float = 20.0
    temperature_sigma_C: float = 5.0
    draws: int = Field(default=10_000, ge=100, le=1_000_000)
    seed: int = Field(default=1, ge=0)


class Carried(NamedTuple):
    """A battery card's name, and what it carries."""

    card: str
    life: Life


def checked(card: str, tables: Mapping[str, Any], changes: Mapping[str, Any]) -> Carried:
    """A battery and what it carries, from the values of a row.

    Raises InputError naming every key that is wrong.
    """
    label = f"battery {card}"
    life = validated(Life, changed(label, tables, changes), label)
    if (life.energy_uJ is None) == (life.cycles is None):
        has = "neither energy_uJ nor cycles" if life.cycles is None else "both energy_uJ and cycles"
        raise InputError(f"{label}: has {has}", hint='for example "energy_uJ" = 12.5 under [grid.fixed]')
    if life.energy_uJ is not None and life.device is not None:
        raise InputError(
            f"{label}: device: values cycles, and energy_uJ is joules already", hint="leave one of them out"
        )
    if life.per_second is not None and life.duty < 1:
        raise InputError(f"{label}: duty: is there beside per_second", hint="leave one of them out")
    return Carried(card, life)


def figures(carried: Carried, *, own: Path | None, allow_assumed: bool) -> dict[str, Any]:
    """Operations and days that the battery carries: medians and 95 % intervals of the drawn lives.

    Raises InputError where there is no such load, model or law, EvidenceError for numbers that need consent.
    """
    card, life = carried
    duty = Duty(life.duty, life.per_second, life.idle_W)
    at = Surroundings(life.temperature_C, life.temperature_sigma_C)
    around = Circumstances(life.model, life.without, at, life.draws, life.seed)
    operation = OwnOperation(life.energy_uJ, life.cycles, life.time_us)
    try:
        work = operations.of_own(operation, life.device, own=own, allow_assumed=allow_assumed)
        found = operations.battery(card, work, duty, around, own=own, allow_assumed=allow_assumed).table
    except (InputError, EvidenceError) as error:
        raise _in_keys(error) from error
    row = found.row(0, named=True)
    return {"operation_uJ": row["energy_uJ"], **{name: row[name] for name in FIGURES}, "evidence": row["evidence"]}


def _in_keys(error: WattlockError) -> WattlockError:
    """An error in which options of `wattlock battery` are called as the keys of a sweep."""

    def key(option: re.Match[str]) -> str:
        name = option[1].replace("-", "_")
        return name if name in Life.model_fields else option[0]

    return type(error)(OPTION.sub(key, error.message), hint=OPTION.sub(key, error.hint or ""))
