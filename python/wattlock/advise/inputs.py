"""The things behind a question: device, radio, battery, costs, upkeep of the link, and what a key has carried."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import numpy as np

from wattlock.advise import days, pricing, sending
from wattlock.advise.choices import Choice
from wattlock.advise.cipher_costs import CipherCost
from wattlock.advise.days import DAY_s, Draws, Load, MonteCarlo, Stage, draws, in_watts
from wattlock.advise.published import DeviceCosts
from wattlock.advise.question import Association, BleConnection, KeepAlive, Question, spoken
from wattlock.advise.sending import PacketCost, PricedPacket, Sender
from wattlock.energy.battery_cards import Array
from wattlock.energy.device_cards import Device
from wattlock.energy.number import refuse_doubted
from wattlock.energy.tasks import BatteryPlan, weakest
from wattlock.errors import InputError
from wattlock.papers.literature import Claim, claims, sources
from wattlock.security import Cited, status_of
from wattlock.study.cases import CatalogueRow


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
    priced: DeviceCosts
    sender: Sender
    battery: BatteryPlan
    stage: Stage
    advice: dict[str, str]
    evidence: dict[str, str]
    asked: Question
    sentences: tuple[list[str], list[str]]
    assumed: list[str] = field(default_factory=list)

    @property
    def costs(self) -> list[CipherCost]:
        """What the ciphers cost that are ranked."""
        return self.priced.taken


def inputs(question: Question, *, cards: Path | None, allow_assumed: bool, known: Inputs | None = None) -> Inputs:
    """Read cards and run.

    * `cards`: the user's folder of cards. `known`: of a question like it: what is asked alike is not read again.

    Raises InputError and EvidenceError naming what is missing, contradictory or needs consent.
    """
    assumed: list[str] = []
    normalised = question
    sentences: tuple[list[str], list[str]] = ([], [])
    if known and (question.device.run or _costs_of(question) == _costs_of(known.asked)):
        name, device, priced = known.name, known.device, known.priced
    else:
        name, device, priced = pricing.price(question, cards, allow_assumed=allow_assumed)
    question = in_watts(question, device)
    drawn = draws(question, device, assumed)
    if known and device is known.device and normalised.radio == known.asked.radio:
        sender = known.sender
        sentences[0].extend(known.sentences[0])
    else:
        sender = sending.sender(question.radio, device, cards, sentences[0])
    assumed += sentences[0]
    question = settled(question, sender, assumed)
    if known and _battery_of(normalised) == _battery_of(known.asked):
        battery = known.battery
        sentences[1].extend(known.sentences[1])
    else:
        battery = days.battery_of(question, cards, sentences[1], allow_assumed=allow_assumed)
    assumed += sentences[1]
    stage = days.stage(question.supply, battery.battery, sender.radio, device, assumed)
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
        question, name, device, drawn, priced, sender, battery, stage, advice, evidence, normalised, sentences, assumed
    )


def _costs_of(question: Question) -> tuple[object, ...]:
    """What of a question says what ciphers cost."""
    device = question.device
    return device.card, device.run, device.costs, device.accelerator, question.flow


def _battery_of(question: Question) -> tuple[object, ...]:
    """What of a question says how batteries are drawn."""
    return question.battery, question.draws, question.seed


def check_radio(loads: Sequence[Load], inputs: Inputs, *, allow_assumed: bool) -> None:
    """The radio's evidence by the numbers in use.

    Raises EvidenceError where one of a card that was asked for is verified by nobody, without `allow_assumed`.
    """
    names = {name for load in loads for _, factors in load.terms_W for name in factors}
    numbers = inputs.sender.radio.card.numbers()
    used = {key: number for key, number in numbers.items() if f"radio {key}" in names}
    refuse_doubted(f"radio card {inputs.sender.radio.name}", used, allow_assumed=allow_assumed)
    inputs.evidence["radio"] = "assumed" if any(number.doubted for number in used.values()) else "modelled"


# After so long without a word a parent takes a sleeping child for lost (OpenThread, MLE_CHILD_TIMEOUT_DEFAULT).
CHILD_TIMEOUT_s = 240.0
# A station that sleeps listens to one beacon in three, each 102.4 ms, for so long: taken, as stations differ.
BEACONS = Association.model_construct(every=0.3072, time=0.003)
# How long a radio works to be back in its network, by technology: what is usual, to be offered.
REJOINING = {
    "802.11": "0.2s where channel, key and address are kept (T. von Eicken, ESP32 deep sleep, 2018), "
    "3s with scan and DHCP",
    "ble": "some 30ms of advertising and connection events where the other side listens all the time",
}


def settled(question: Question, sender: Sender, assumed: list[str]) -> Question:
    """The question with what keeps its link: what nobody gave is told in `assumed`.

    Raises InputError where a link can't be as it is asked for, with the key to set.
    """
    if sender.technology == "ble":
        return _ble(question, sender, assumed)
    if question.connection:
        raise InputError(
            f"connection: is of Bluetooth LE, the radio is for {sender.technology}", hint="keep_alive keeps other links"
        )
    if sender.technology == "802.11":
        return _wifi(question, sender, assumed)
    if sender.technology == "802.15.4":
        return _ieee802154(question, sender, assumed)
    if sender.radio.card.sleep is None:
        assumed.append(
            f"the radio idles until its receive windows: {sender.radio.name} has no power asleep (radio.sleep gives it)"
        )
    if sender.rest == "off":
        assumed.append("switched on again the radio knows its network: the device has kept session and settings")
    return question


def _ble(question: Question, sender: Sender, assumed: list[str]) -> Question:
    if sender.advertising:
        if question.connection:
            hint = "leave one of them out"
            raise InputError("connection: an advertisement has none, and radio.link.advertising is true", hint=hint)
        if "framings" in question.choices.model_fields_set:
            return question
        alone = ["full-nonce", "broadcast"]
        assumed.append(
            f"framings are {' and '.join(alone)}: nobody answers an advertisement, so that each must open by itself "
            "(choices.framings)"
        )
        return question.model_copy(update={"choices": question.choices.model_copy(update={"framings": alone})})
    if question.keep_alive and not question.keep_alive.message:
        hint = (
            "connection.interval and connection.latency say how often; keep_alive.message is for messages of your own"
        )
        raise InputError("keep_alive: a connection of Bluetooth LE is kept by its events", hint=hint)
    kept = question.connection
    if kept is None:
        kept = BleConnection()
        assumed.append(
            f"the connection has an event each {spoken(kept.every_s)} at least (interval {spoken(kept.interval)}, "
            f"{kept.left_out} of them left out, the most that Apple's rules for accessories allow): nobody gave it "
            "(connection.interval, connection.latency; connection.kept = false makes it anew for each message)"
        )
    if not kept.kept:
        _must_rejoin(question, sender, "connection.kept: a connection that is dropped must be made anew")
    return question.model_copy(update={"connection": kept})


def _wifi(question: Question, sender: Sender, assumed: list[str]) -> Question:
    if sender.rest == "off":
        _must_rejoin(question, sender, "radio.rest: a station that was off must join its network again")
    if sender.rest == "sleep" and question.association is None:
        assumed.append(
            f"asleep the radio wakes each {spoken(BEACONS.every)} and listens {spoken(BEACONS.time)} for a beacon: "
            "nobody gave it (association.every, association.time)"
        )
        return question.model_copy(update={"association": BEACONS})
    return question


def _ieee802154(question: Question, sender: Sender, assumed: list[str]) -> Question:
    silent_s = min((flow.every for flow in question.flow if flow.direction == "send"), default=CHILD_TIMEOUT_s + 1)
    if sender.rest == "idle" or question.keep_alive or silent_s <= CHILD_TIMEOUT_s:
        return question
    assumed.append(
        f"the radio asks its parent each {spoken(CHILD_TIMEOUT_s)} whether there is something for it, as a child "
        "that is silent for longer counts as lost (OpenThread's default): nobody gave it (keep_alive.every)"
    )
    return question.model_copy(update={"keep_alive": KeepAlive.model_construct(every=CHILD_TIMEOUT_s, message=0)})


def _must_rejoin(question: Question, sender: Sender, what: str) -> None:
    every_s = min(flow.every for flow in question.flow)
    usual = REJOINING[sender.technology]
    if question.association is None:
        raise InputError(
            f"{what}, and association says not what that takes",
            hint=f"association.every = {_written(every_s)} (each message) and association.time, usually {usual}",
        )
    if question.association.every > every_s:
        raise InputError(
            f"{what}: association.every is {spoken(question.association.every)}, messages go each {spoken(every_s)}",
            hint=f"association.every = {_written(every_s)}",
        )


def _written(seconds: float) -> str:
    """A duration as an option takes it."""
    return f"{seconds:.6g}s" if seconds >= 1 else f"{seconds * 1e3:.6g}ms"


FREE = "none: taken as free"
# Which claim of the papers is advice for a cipher.
ADVICE = {
    "blowfish128-cbc": "advice-blowfish-rc6",
    "rc6-20-128-cbc": "advice-blowfish-rc6",
    "rc4-128": "advice-rc4-100",
}


class Past(NamedTuple):
    """One cipher of the papers' advice, without authentication, as the papers sent it.

    * `saves_percent`: of days against the best sound choice, median; low and high are 95 %. `at_most`: the cipher has
      no cost on this device and was taken as free.
    """

    cipher: str
    advice: str
    days: float
    saves_percent: float
    saves_low_percent: float
    saves_high_percent: float
    at_most: bool
    not_done: str


class History:
    """The papers' advice for a question."""

    def __init__(self, question: Question, inputs: Inputs) -> None:
        self.question = question
        self.of = inputs
        largest = max(size_B for flow in question.flow for size_B, _ in flow.rates)
        known = {claim.id: claim for claim in claims()}
        self.advice = {name: known[claim] for name, claim in ADVICE.items()}
        self.ids = [name for name, claim in self.advice.items() if largest >= claim.expect.get("from_B", 0)]

    def choices(self, rows: Mapping[str, CatalogueRow], similar: Sequence[Choice]) -> list[Choice]:
        """The ciphers as choices: sent bare with its whole IV, on the link of the first choice."""
        return [self._choice(rows[name], similar[0]) for name in self.ids if name in rows]

    def described(
        self, old: Sequence[Choice], spent: Mapping[PricedPacket, PacketCost], monte_carlo: MonteCarlo, best_s: Array
    ) -> list[Past]:
        """What each would save against the best sound choice."""
        loads = [days.load(self.question, choice, self.of.sender, self.of.draws, spent) for choice in old]
        if not loads:
            return []
        life_s = days.seconds(loads, monte_carlo, self.of.battery)
        found = []
        for choice, life in zip(old, life_s, strict=True):
            saves = 100 * (life / best_s - 1)
            low, high = np.quantile(saves, (0.025, 0.975))
            statement = next(statement for statement in choice.security.statements if statement.about == "status")
            found.append(
                Past(
                    choice.cipher,
                    _advice(self.advice[choice.cipher]),
                    float(np.median(life)) / DAY_s,
                    float(np.median(saves)),
                    float(low),
                    float(high),
                    choice.provider == FREE,
                    _not_done(choice, statement),
                )
            )
        return found

    def _choice(self, row: CatalogueRow, choice: Choice) -> Choice:
        name = row["id"]
        # Any of its modes stands for it where the run has no other: CBC and CTR cost alike by the byte.
        family = name.rpartition("-")[0] if row["mode"] in {"cbc", "ctr"} else name
        known = [cost for cost in self.of.costs if fnmatchcase(cost.cipher, f"{family}*")]
        cost = min(known, key=lambda cost: cost.of("seal_J", 1024)) if known else free(name)
        cost = cost._replace(cipher=name)
        return Choice(row, status_of(row), cost, 0, "full-nonce", "raw", 1, choice.protection, resumed=False)


def _advice(claim: Claim) -> str:
    by = [f"{source.authors} ({source.year})" for source in sources() if source.id in claim.source]
    return f"The advice of {' and '.join(by)} is to {claim.says}"


def _not_done(choice: Choice, statement: Cited) -> str:
    standing = f"{choice.cipher} is {choice.security.status}: {statement.says} ({statement.source})"
    joined = "but" if choice.security.status in {"approved", "acceptable"} else "and"
    return f"{standing}; {joined} sent as the papers sent it, nothing notices a changed message"


def free(cipher: str) -> CipherCost:
    """A cost of nothing, as a bound for what is not known."""
    nothing = [0.0, 0.0]
    return CipherCost(cipher, FREE, [0, 1], nothing, nothing, nothing, nothing, 0.0, False, "modelled", FREE, "")
