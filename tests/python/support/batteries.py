"""A battery and what is spent on it: what the tests of batteries share."""

from typing import Any

import numpy as np

from wattlock.energy import battery_cards, tasks
from wattlock.energy.battery_cards import Battery, Model

CELL = battery_cards.load("cgr18650da")


def certain(model: Model, *, draws: int = 100) -> battery_cards.BatterySamples:
    """The cell as it stands on its card, without laws and without uncertainty."""
    numbers = {key: np.full(draws, number.in_SI) for key, number in CELL.card.numbers(model, []).items()}
    return battery_cards.BatterySamples(numbers, np.ones(draws), np.zeros(draws))


def by_hand(shares: Any) -> tasks.BatteryPlan:
    """Batteries of the card that differ in nothing but the share of their capacity that is left."""
    batteries = certain("linear", draws=len(shares))._replace(capacity_share=np.asarray(shares))
    return tasks.BatteryPlan(CELL, "linear", [], "modelled", batteries)


def case(cipher: str, operation: str, energy_uJ: float, **changed: Any) -> dict[str, Any]:
    return {
        "cipher": cipher,
        "provider": "rustcrypto",
        "operation": operation,
        "payload_B": 1000,
        "aad_B": None,
        "keying": "ready",
        "encoding": "raw",
        "data": "random",
        "placement": "hot",
        "pattern": "independent",
        "readiness": "steady",
        "time_ns": 1e6,
        "cycles": 2e6,
        "energy_uJ": energy_uJ,
        "energy_low_uJ": energy_uJ / 1.1,
        "energy_high_uJ": energy_uJ * 1.1,
        "energy_evidence": "measured",
        **changed,
    }


def plan(battery: Battery = CELL, *, draws: int = 1000) -> tasks.BatteryPlan:
    return tasks.battery_plan(
        battery, "linear", [], draws=draws, seed=1, at=battery_cards.INDOORS, allow_assumed=battery.name != CELL.name
    )
