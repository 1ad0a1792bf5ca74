"""What the device itself draws, computing and asleep: by its card, as the question says, or assumed."""

import math
from typing import NamedTuple

from wattlock.advise.quantity import watts
from wattlock.advise.question import Question
from wattlock.energy.cards import Device
from wattlock.energy.number import Number
from wattlock.errors import InputError
from wattlock.security.rules import matches, rules


class Draws(NamedTuple):
    """What the device draws.

    * `factors`: the numbers behind the joules of a cycle or second, with their exponents.
    * `active_W`: while it computes, None where no card says it. `sleep_W`: always; `sleep_width`: half-width of its
      logarithm's uniform law.
    """

    factors: list[tuple[Number, int]]
    active_W: float | None
    sleep_W: float
    sleep_width: float


def in_watts(question: Question, device: Device | None) -> Question:
    """The question with the device's currents as powers at its card's voltage.

    Raises InputError where there is no card, or its voltage is the core's alone.
    """
    if not question.device.currents_A:
        return question
    key = next(iter(question.device.currents_A))
    voltage = device.card.voltage if device else None
    inside = voltage is not None and voltage.under is not None and voltage.under.scope == "core"
    if device is None or voltage is None or inside:
        has = "its core's voltage alone" if inside else "none"
        card = f"device card {device.name} has {has}" if device else "no card"
        raise InputError(
            f"device.{key} is a current, and the voltage of the supply is not known: {card}",
            hint="give a power, as 9uW",
        )
    return question.model_copy(update={"device": question.device.at(voltage.in_SI)})


def draws(question: Question, device: Device | None, assumed: list[str]) -> Draws:
    """What the device draws; what nobody gave is told in `assumed`."""
    sleep_W, sleep_width = _asleep(question, device, assumed)
    active_W = device.card.active_W if device else None
    factors = [(number, exponent) for _, number, exponent in device.card.factors()] if device else []
    if question.wake_up is None:
        assumed.append(
            "waking up and what the link's software computes for a packet take nothing: nobody gave it (wake_up.time)"
        )
    if active_W is None and (question.wake_up or (question.session and question.session.computing)):
        assumed.append("what wake-up and handshake compute is left out: the device's clock is not known")
    return Draws(factors, active_W, sleep_W, sleep_width)


def _asleep(question: Question, device: Device | None, assumed: list[str]) -> tuple[float, float]:
    """Watts asleep, and the half-width of their logarithm's uniform law."""
    if question.device.sleep is not None:
        return question.device.sleep, 0.0
    idle = device.card.idle_power if device else None
    if idle is not None:
        return idle.in_SI, math.log1p(idle.relative_uncertainty)
    isa = device.card.isa if device else "x86_64"
    rule = next(one for one in rules().sleep if matches(isa, one.isa))
    middle_W, factor = rule.value_uW * 1e-6, 1 + rule.relative_uncertainty
    between = f"{watts(middle_W / factor)} to {watts(middle_W * factor)}"
    assumed.append(f"asleep the device draws {watts(middle_W)}, or {between}: nobody gave it ({rule.because})")
    return middle_W, math.log(factor)
