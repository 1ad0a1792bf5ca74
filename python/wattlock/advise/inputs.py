"""The things behind a question: device, radio, battery, what ciphers cost; what is not given is assumed and told."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wattlock.advise import pricing, sending, supply
from wattlock.advise.costs import Cost
from wattlock.advise.days import Load
from wattlock.advise.device import Draws, draws, in_watts
from wattlock.advise.published import Priced
from wattlock.advise.question import Question
from wattlock.advise.sending import Sender
from wattlock.advise.supply import Stage
from wattlock.advise.upkeep import settled
from wattlock.energy.cards import Device
from wattlock.energy.number import refuse_doubted
from wattlock.energy.tasks import Plan, weakest


@dataclass
class Inputs:
    """What the answer is computed with.

    * `question`: the question, with what keeps its link up. `stage`: between the battery and the load.
    * `device`: None where a run was measured by a meter. `assumed`: sentences on what nobody gave or verified.
    * `priced`: what the ciphers cost; `costs`: those of them that are ranked.
    * `advice`: by what it is of, what would narrow it. `evidence`: by what it is of.
    * `asked`: the question as it came; `sentences`: those of `assumed` on the sender and on the battery.
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
    asked: Question
    sentences: tuple[list[str], list[str]]
    assumed: list[str] = field(default_factory=list)

    @property
    def costs(self) -> list[Cost]:
        """What the ciphers cost that are ranked."""
        return self.priced.taken


def inputs(question: Question, *, own: Path | None, allow_assumed: bool, known: Inputs | None = None) -> Inputs:
    """Read cards and run.

    * `own`: the user's folder of cards. `known`: of a question like it: what is asked alike is not read again.

    Raises InputError and EvidenceError naming what is missing, contradictory or needs consent.
    """
    assumed: list[str] = []
    asked = question
    sentences: tuple[list[str], list[str]] = ([], [])
    if known and (question.device.run or _costs_of(question) == _costs_of(known.asked)):
        name, device, priced = known.name, known.device, known.priced
    else:
        name, device, priced = pricing.price(question, own, allow_assumed=allow_assumed)
    question = in_watts(question, device)
    drawn = draws(question, device, assumed)
    if known and device is known.device and asked.radio == known.asked.radio:
        sender = known.sender
        sentences[0].extend(known.sentences[0])
    else:
        sender = sending.sender(question.radio, device, own, sentences[0])
    assumed += sentences[0]
    question = settled(question, sender, assumed)
    if known and _battery_of(asked) == _battery_of(known.asked):
        battery = known.battery
        sentences[1].extend(known.sentences[1])
    else:
        battery = supply.battery(question, own, sentences[1], allow_assumed=allow_assumed)
    assumed += sentences[1]
    stage = supply.stage(question.supply, battery.battery, sender.radio, device, assumed)
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
        "sleep": "assumed" if drawn.sleep_width else "modelled",
    }
    return Inputs(
        question, name, device, drawn, priced, sender, battery, stage, advice, evidence, asked, sentences, assumed
    )


def _costs_of(question: Question) -> tuple[object, ...]:
    """What of a question says what ciphers cost."""
    device = question.device
    return device.card, device.run, device.costs, device.accelerator, question.flow


def _battery_of(question: Question) -> tuple[object, ...]:
    """What of a question says how batteries are drawn."""
    return question.battery, question.draws, question.seed


def check_radio(loads: Sequence[Load], of: Inputs, *, allow_assumed: bool) -> None:
    """The radio's evidence by the numbers in use.

    Raises EvidenceError where one of a card that was asked for is verified by nobody, without `allow_assumed`.
    """
    names = {name for load in loads for _, factors in load.terms_W for name in factors}
    numbers = of.sender.radio.card.numbers()
    used = {key: number for key, number in numbers.items() if f"radio {key}" in names}
    refuse_doubted(f"radio card {of.sender.radio.name}", used, allow_assumed=allow_assumed)
    of.evidence["radio"] = "assumed" if any(number.doubted for number in used.values()) else "modelled"
