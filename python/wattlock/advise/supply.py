"""The battery, and what a regulator or a converter between it and the load takes on the way: given or assumed."""

from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from wattlock.advise.question import Question, SupplyOptions
from wattlock.energy import battery_cards, tasks
from wattlock.energy.battery import Array
from wattlock.energy.battery_cards import Battery
from wattlock.energy.cards import Device
from wattlock.energy.lifetime import Drawn, Surroundings
from wattlock.energy.radio_cards import Radio
from wattlock.energy.tasks import Plan
from wattlock.errors import InputError

USUAL_BATTERY = "lipo-1000"
FACTOR = "supply efficiency"
"""The drawn factor of an efficiency that nobody gave."""
# What a converter is taken to keep: converters for small loads stay above 80 % over six decades of load and reach 96 %
# (Texas Instruments, SLYY203B, figure 10: TPS63900).
EFFICIENCY, UNCERTAINTY = 0.88, 0.09
# A battery up to so many times its rail's voltage feeds it through an LDO; parts hang on one that is no higher.
DIRECT_UP_TO, LDO_UP_TO = 1.1, 2.0
# Below it a rail is the core's own, and its converter stands on the board.
CORE_V = 2.0


class Stage(NamedTuple):
    """A supply stage.

    * `battery_V`: the battery card's mean, where a model has no voltage of its own. `rail_V`: behind the stage, where a
      card says it. `width`: half of the uniform law of the efficiency's logarithm.
    """

    kind: Literal["direct", "ldo", "dcdc"]
    battery_V: float
    rail_V: float | None = None
    efficiency: float = 1.0
    width: float = 0.0
    quiescent_W: float = 0.0

    def drawn_W(self, power_W: Array, batteries: Drawn, factor: Array | float) -> Array:
        """Watts at the battery for watts of the load, as (loads, draws).

        * `factor`: draws of the efficiency over its own value.

        An LDO passes the load's current on, so that the battery gives it at its own voltage.
        """
        if self.kind == "ldo" and self.rail_V:
            volts = batteries.numbers.get("voltage", np.asarray(self.battery_V))
            return np.asarray(power_W * np.maximum(volts / self.rail_V, 1.0) + self.quiescent_W)
        if self.kind == "dcdc":
            return np.asarray(power_W / np.minimum(self.efficiency * factor, 1.0) + self.quiescent_W)
        return power_W + self.quiescent_W

    def lost(self, power_W: float) -> float:
        """The share of what the battery gives that the stage takes, at the cards' own values."""
        own = {"voltage": np.asarray(self.battery_V)}
        whole = self.drawn_W(np.asarray(power_W), Drawn(own, np.ones(1), np.zeros(1)), 1.0)
        return 1 - power_W / float(whole)


DIRECT = Stage("direct", 1.0)


def battery(question: Question, own: Path | None, assumed: list[str], *, allow_assumed: bool) -> Plan:
    """The battery as asked, else a usual one, told in `assumed`.

    * `own`: the user's folder of cards.
    """
    name = question.battery.card
    if name is None:
        assumed.append("the battery is one of 1000 mAh: none was given")
    card = battery_cards.load(name or USUAL_BATTERY, own)
    return tasks.plan(
        card,
        question.battery.model,
        card.card.laws(),
        draws=question.draws,
        seed=question.seed,
        at=Surroundings(question.battery.temperature_C, question.battery.temperature_sigma_C),
        allow_assumed=allow_assumed or name is None,
    )


def stage(question: SupplyOptions, battery: Battery, radio: Radio, device: Device | None, assumed: list[str]) -> Stage:
    """The stage between the battery and the rail at which the cards say their watts: as asked, else as they suggest.

    Raises InputError where a regulator can't be: from a battery below its rail, or to an unknown rail.
    """
    battery_V = battery.card.voltage.in_SI
    volts = [one.card.voltage for one in (radio, device) if one and one.card.voltage]
    core = device.card.voltage if device else None
    # A core below any radio's rail has a converter of its own.
    rail = core if core and core.in_SI < CORE_V else (volts[0] if volts else None)
    return by_voltages(question.at(battery_V), battery_V, rail.in_SI if rail else None, assumed)


def by_voltages(question: SupplyOptions, battery_V: float, rail_V: float | None, assumed: list[str]) -> Stage:
    """The stage as asked, else the one that the voltages suggest, told in `assumed`.

    * `rail_V`: by the cards, None where they say none.

    Raises InputError as `stage`.
    """
    # A rail that is asked for above the battery's voltage is made by a converter; parts may hang below their card's.
    raised = question.voltage_V is not None and question.voltage_V > DIRECT_UP_TO * battery_V
    rail_V = question.voltage_V or rail_V
    kind = question.stage or ("dcdc" if raised else _suggested(battery_V, rail_V))
    quiescent_W = question.quiescent or 0.0
    if kind == "ldo" and rail_V is None:
        what = "supply.stage: no card says the voltage behind the LDO"
        raise InputError(what, hint="supply.voltage_V = 3.0 says it")
    if kind == "ldo" and rail_V is not None and battery_V < rail_V:
        hint = 'supply.stage = "dcdc" raises it, "direct" runs the parts at the battery\'s own voltage'
        raise InputError(f"supply.stage: an LDO makes no {rail_V:g} V of a battery of {battery_V:g} V", hint=hint)
    given = question.efficiency is not None or kind != "dcdc"
    efficiency = question.efficiency or (EFFICIENCY if kind == "dcdc" else 1.0)
    found = Stage(kind, battery_V, rail_V, efficiency, 0.0 if given else float(np.log1p(UNCERTAINTY)), quiescent_W)
    if question.stage is None:
        assumed.append(f"{_why(found)}: nobody gave it (supply.stage: direct, ldo or dcdc)")
    elif not given:
        span = f"{100 * EFFICIENCY / (1 + UNCERTAINTY):.0f} to {100 * EFFICIENCY * (1 + UNCERTAINTY):.0f} %"
        assumed.append(f"the converter keeps {100 * EFFICIENCY:.0f} %, or {span}: nobody gave it (supply.efficiency)")
    if kind != "direct" and question.quiescent is None:
        assumed.append("what the supply stage draws by itself is not counted: nobody gave it (supply.quiescent)")
    return found


def _suggested(battery_V: float, rail_V: float | None) -> Literal["direct", "ldo", "dcdc"]:
    if rail_V is None or (rail_V >= CORE_V and battery_V <= DIRECT_UP_TO * rail_V):
        return "direct"
    return "ldo" if rail_V >= CORE_V and battery_V <= LDO_UP_TO * rail_V else "dcdc"


def _why(found: Stage) -> str:
    if found.kind == "direct":
        if found.rail_V is None:
            return "no card says at which voltage its watts are drawn: the battery gives them without loss"
        return f"the parts hang on the battery itself: {found.battery_V:g} V for cards at {found.rail_V:g} V"
    between = f"between {found.battery_V:g} V and {found.rail_V:g} V"
    if found.kind == "ldo":
        more = 100 * (found.battery_V / (found.rail_V or found.battery_V) - 1)
        return f"an LDO stands {between} and takes {more:.0f} % more from the battery"
    return f"a DC/DC converter stands {between} and keeps {100 * found.efficiency:.0f} %"
