"""The things behind a question: device, radio, battery, what ciphers cost; what is not given is assumed and told."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from wattlock.advise import costs as costing
from wattlock.advise import published
from wattlock.advise.costs import Cost
from wattlock.advise.days import Device as Draws
from wattlock.advise.days import Load
from wattlock.advise.published import Priced
from wattlock.advise.quantity import watts
from wattlock.advise.question import Question
from wattlock.advise.sending import Sender
from wattlock.advise.supply import CORE_V, Stage, stage
from wattlock.advise.upkeep import settled
from wattlock.energy import battery_cards, cards, radio_cards, tasks
from wattlock.energy.cards import Device
from wattlock.energy.lifetime import Surroundings
from wattlock.energy.model import measured, rate, value
from wattlock.energy.number import refuse_doubted
from wattlock.energy.tasks import Plan, weakest
from wattlock.errors import InputError
from wattlock.security.rules import matches, rules
from wattlock.store import RunFolder, find

if TYPE_CHECKING:
    from wattlock.run.result import Result

BATTERY = "lipo-1000"


@dataclass
class Inputs:
    """What the answer is computed with.

    * `question`: the question, with what keeps its link up. `stage`: between the battery and the load.
    * `device`: None where a run was measured by a meter. `assumed`: sentences on what nobody gave or verified.
    * `priced`: what the ciphers cost; `costs`: those of them that are ranked.
    * `evidence`: by what it is of.
    """

    question: Question
    name: str
    device: Device | None
    draws: Draws
    priced: Priced
    sender: Sender
    battery: Plan
    stage: Stage
    advice: dict[str, str]
    evidence: dict[str, str]
    assumed: list[str] = field(default_factory=list)

    @property
    def costs(self) -> list[Cost]:
        """What the ciphers cost that are ranked."""
        return self.priced.taken


def inputs(question: Question, *, own: Path | None, allow_assumed: bool, known: "Inputs | None" = None) -> Inputs:
    """Read cards and run.

    * `own`: the user's folder of cards. `known`: things of the same run, which is then not read again.

    Raises InputError and EvidenceError naming what is missing, contradictory or needs consent.
    """
    assumed: list[str] = []
    if known and question.device.run:
        device, priced, name = known.device, known.priced, known.name
    else:
        device, priced, name = _costs(question, own, allow_assumed=allow_assumed)
    isa = device.card.isa if device else "x86_64"
    question = _in_watts(question, device)
    sender = _radio(question, device, own, assumed)
    question = settled(question, sender, assumed)
    battery = _battery(question, own, assumed, allow_assumed=allow_assumed)
    stage = _supply(question, device, sender, battery, assumed)
    sleep_W, width = _sleep(question, device, isa, assumed)
    active_W = None
    if device:
        clock = device.card.frequency
        if not device.card.counts_cycles:
            active_W = rate(device.card).joules
        elif clock:
            active_W = rate(device.card).joules * clock.in_SI
    factors = [(number, exponent) for _, number, exponent in device.card.factors()] if device else []
    if question.wake_up is None:
        assumed.append(
            "waking up and what the link's software computes for a packet take nothing: nobody gave it (wake_up.time)"
        )
    if active_W is None and (question.wake_up or (question.session and question.session.computing)):
        assumed.append("what wake-up and handshake compute is left out: the device's clock is not known")
    advice = {
        "device": device.card.narrowed_by if device else "the run's meter",
        "radio": sender.radio.card.narrowed_by,
        "battery": battery.battery.card.narrowed_by,
        "sleep": "what the very board draws asleep",
        "supply": "the supply stage's efficiency at the very load",
    }
    evidence = {
        "cipher": weakest(*{cost.evidence for cost in priced.taken}) if priced.taken else "modelled",
        "battery": battery.evidence,
        "sleep": "assumed" if width else "modelled",
    }
    return Inputs(
        question,
        name,
        device,
        Draws(factors, active_W, sleep_W, width),
        priced,
        sender,
        battery,
        stage,
        advice,
        evidence,
        assumed,
    )


def check_radio(loads: Sequence[Load], of: Inputs, *, allow_assumed: bool) -> None:
    """The radio's evidence by the numbers in use.

    Raises EvidenceError where one of a card that was asked for is verified by nobody, without `allow_assumed`.
    """
    names = {name for load in loads for _, factors in load.terms_W for name in factors}
    numbers = of.sender.radio.card.numbers()
    used = {key: number for key, number in numbers.items() if f"radio {key}" in names}
    refuse_doubted(f"radio card {of.sender.radio.name}", used, allow_assumed=allow_assumed)
    of.evidence["radio"] = "assumed" if any(number.doubted for number in used.values()) else "modelled"


def _costs(question: Question, own: Path | None, *, allow_assumed: bool) -> tuple[Device | None, Priced, str]:
    card = cards.load(question.device.card, own) if question.device.card else None
    if question.device.run is None:
        if card is None:
            hint = "--device nrf52840 takes published cycles; --run last what this machine took (`wattlock run advice`)"
            raise InputError("neither a device nor a run is named", hint=hint)
        refuse_doubted(f"device card {card.name}", _numbers(card), allow_assumed=allow_assumed)
        priced = published.price(
            card,
            [one for flow in question.flow for one in flow.rates],
            allow_assumed=allow_assumed,
            accelerator=question.device.accelerator,
            given=Path(question.device.costs) if question.device.costs else None,
            own=own,
        )
        return card, priced, card.name
    if question.device.costs:
        raise InputError("device.costs and device.run both say what the ciphers cost", hint="give one of them")
    # Loaded where there is a run: with its statistics it takes a fifth of a second.
    from wattlock.run.result import read

    result = read(RunFolder.open(find(question.device.run)))
    if result.reasons:
        raise InputError(f"the run is invalid: {result.reasons[0]}", hint="measure again on a quieter machine")
    device, costs, name = _of_run(result, card, allow_assumed=allow_assumed)
    return device, Priced(costs, [], [], []), name


def _of_run(result: "Result", card: Device | None, *, allow_assumed: bool) -> tuple[Device | None, list[Cost], str]:
    kept = result.plan["device"]
    if card is None and kept is not None:
        card = cards.kept(kept, result.plan["device_card"])
        # Who measured the run with a card has allowed its numbers then.
        allow_assumed = True
    if card is None and result.meter is not None and result.energies is not None:
        scope, baseline = result.meter["scope"], result.meter["baseline"]
        valued = measured(result.estimates, result.energies, scope=scope, baseline=baseline)
        by = "longer blocks, or a finer meter"
        return None, costing.measured(valued, clock_Hz=None, counts_cycles=False, narrowed_by=by), "the run's machine"
    if card is None:
        raise InputError("the run has no energy", hint="name a device card with --device, or take a meter's run")
    valued = value(result.estimates, card, isa=result.isa, allow_assumed=allow_assumed)
    clock = card.card.frequency
    found = costing.measured(
        valued,
        clock_Hz=clock.in_SI if clock else None,
        counts_cycles=card.card.counts_cycles,
        narrowed_by="more processes of the run",
    )
    return card, found, card.name


def _numbers(card: Device) -> dict[str, cards.Number]:
    return {key: number for key, number, _ in card.card.factors()}


def _radio(question: Question, device: Device | None, own: Path | None, assumed: list[str]) -> Sender:
    name = question.radio.card or (device.card.radio if device else None)
    if name is None:
        there = ", ".join(radio_cards.RADIOS.names(own))
        raise InputError("no radio is named, and the device's card names none", hint=f"--radio takes one of: {there}")
    if question.radio.card is None:
        assumed.append(f"the radio is the device's own, {name}: none was given")
    sender = Sender(radio_cards.load(name, own), question.radio)
    if sender.rest == "idle" and not question.radio.rest:
        assumed.append(f"the radio listens between messages: {name} has no sleep (radio.rest says otherwise)")
    powers = {one.power_dBm for one in sender.radio.card.tx if one.power_dBm is not None}
    sent = sender.number("tx") if sender.radio.card.has_states else None
    if isinstance(sent, radio_cards.Sending) and sent.because.startswith("between"):
        span = sent.because.partition(":")[0]
        assumed.append(f"what the radio draws at {sent.power_dBm:g} dBm lies {span}, the card's nearest figures")
    if question.radio.tx_power_dBm is None and len(powers) > 1 and isinstance(sent, radio_cards.Sending):
        assumed.append(f"the radio sends at {sent.power_dBm:g} dBm: nobody gave its power (radio.tx_power_dBm)")
    return sender


def _battery(question: Question, own: Path | None, assumed: list[str], *, allow_assumed: bool) -> Plan:
    name = question.battery.card
    if name is None:
        assumed.append("the battery is one of 1000 mAh: none was given")
    battery = battery_cards.load(name or BATTERY, own)
    at = Surroundings(question.battery.temperature_C, question.battery.temperature_sigma_C)
    return tasks.plan(
        battery,
        question.battery.model,
        battery.card.laws(),
        draws=question.draws,
        seed=question.seed,
        at=at,
        allow_assumed=allow_assumed or name is None,
    )


def _supply(question: Question, device: Device | None, sender: Sender, battery: Plan, assumed: list[str]) -> Stage:
    """The stage between the battery and the rail at which the cards say their watts."""
    card = battery.battery.card
    volts = [one.card.voltage for one in (sender.radio, device) if one and one.card.voltage]
    core = device.card.voltage if device else None
    # A core below any radio's rail has a converter of its own.
    rail = core if core and core.in_SI < CORE_V else (volts[0] if volts else None)
    try:
        return stage(question.supply.at(card.voltage.in_SI), card.voltage.in_SI, rail.in_SI if rail else None, assumed)
    except ValueError as error:
        what, hint = error.args
        raise InputError(f"supply.stage: {what}", hint=hint) from error


def _in_watts(question: Question, device: Device | None) -> Question:
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


def _sleep(question: Question, device: Device | None, isa: str, assumed: list[str]) -> tuple[float, float]:
    """Watts asleep, and the half-width of their logarithm's uniform law."""
    if question.device.sleep is not None:
        return question.device.sleep, 0.0
    idle = device.card.idle_power if device else None
    if idle is not None:
        return idle.in_SI, math.log1p(idle.relative_uncertainty)
    rule = next(one for one in rules().sleep if matches(isa, one.isa))
    middle_W, factor = rule.value_uW * 1e-6, 1 + rule.relative_uncertainty
    between = f"{watts(middle_W / factor)} to {watts(middle_W * factor)}"
    assumed.append(f"asleep the device draws {watts(middle_W)}, or {between}: nobody gave it ({rule.because})")
    return middle_W, math.log(factor)
