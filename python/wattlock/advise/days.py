"""Days of battery, for all choices and draws at once: loads on the device, through its supply.

Every term of a choice is watts at the cards' own values times a product of factors that are drawn: the device's joules
of a cycle, the cipher's own cycles, a radio's state, its voltage. So the watts of all choices in all draws are one
product of matrices, and one sample is the same for every choice.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from wattlock.advise.choices import Choice, messages_a_report, report, report_B
from wattlock.advise.question import BleConnection, Exchange, KeepAlive, Question, SupplyOptions, watts
from wattlock.advise.sending import PacketCost, PricedPacket, Sender, Way
from wattlock.energy import battery_cards, tasks
from wattlock.energy.battery_cards import Array, Battery, BatterySamples, Samples, Surroundings
from wattlock.energy.device_cards import Device
from wattlock.energy.number import Number
from wattlock.energy.radio_cards import Radio
from wattlock.energy.tasks import BatteryPlan
from wattlock.errors import InputError
from wattlock.security.status import matches, rules

DAY_s = 86_400.0

GROUPS = ("cipher", "radio", "handshake", "upkeep", "wake-up", "idle")
"""What the load's joules go into: `radio` messages, `upkeep` connection events, keep-alive and association."""

SPLIT = (*GROUPS, "supply", "self-discharge")
"""What the battery's go into."""

# What stands for an empty packet of Wi-Fi: the air knows none without an octet.
LEAST_B = 1

# Rounding of a ratio of times, and a self-discharge that takes nothing in any life.
CLOSE, NO_LEAK_per_s = 1e-9, 1e-15

Term = tuple[str, tuple[str, ...]]
"""A group, and the factors whose product its watts are multiplied by."""


class Load(NamedTuple):
    """What one choice asks of the battery, at the cards' own values.

    * `terms_W`: by group and factors. `latency_s`: of the slowest flow; nan where computing takes an unknown time.
    * `octets_B`, `packets`: on the air for a message of the first flow that sends, else receives. `busy`: share of the
      time that the radio is busy; `sending`: that it sends. `rekeys_per_s`: keys that the limits of data ask for.
      `packet_B`: octets sealed in a packet that is sent, in the mean.
    """

    terms_W: dict[Term, float]
    latency_s: float
    octets_B: float
    packets: float
    busy: float
    sending: float
    rekeys_per_s: float
    packet_B: float

    def group_W(self, group: str) -> float:
        """Watts of one group."""
        return sum(watts for (name, _), watts in self.terms_W.items() if name == group)

    @property
    def total_W(self) -> float:
        """All of them."""
        return sum(self.terms_W.values())


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

    def drawn_W(self, power_W: Array, batteries: BatterySamples, factor: Array | float) -> Array:
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
        by_kind = {"voltage": np.asarray(self.battery_V)}
        whole = self.drawn_W(np.asarray(power_W), BatterySamples(by_kind, np.ones(1), np.zeros(1)), 1.0)
        return 1 - power_W / float(whole)


DIRECT = Stage("direct", 1.0)


class MonteCarlo(NamedTuple):
    """The draws: factors around 1 by name, and batteries; `stage` stands between these and the load."""

    factors: dict[str, Array]
    batteries: BatterySamples
    stage: Stage = DIRECT

    @property
    def draws(self) -> int:
        """How many."""
        return self.batteries.capacity_share.size


def most_B(question: Question, sender: Sender) -> int:
    """The most octets above the link in one packet, sealed."""
    return min(sender.packet_B, question.choices.packet or sender.packet_B)


def packets_of(question: Question, choice: Choice, packet_B: int) -> Iterator[tuple[int, int, float, Way]]:
    """Plain octets a message, plain octets a packet, packets a second, and the way, of all flows."""
    most_B = min(packet_B, question.choices.packet or packet_B)
    for flow in question.flow:
        many = choice.aggregate if flow.direction == "send" else 1
        for size_B, rate in flow.rates:
            message_B = many * size_B
            for plain_B, count in choice.packets(message_B, most_B):
                yield message_B, plain_B, rate / many * count, flow.direction


def needed(question: Question, choices: Sequence[Choice], sender: Sender) -> Iterator[PricedPacket]:
    """Every packet that the choices send or receive."""
    packet_B = sender.packet_B
    for choice in choices:
        for _, plain_B, _, way in packets_of(question, choice, packet_B):
            yield PricedPacket(choice.sealed(plain_B).wire_B, way, choice.protection)
        if choice.frame.amortised_bits is not None:
            yield PricedPacket(report_B(), "receive", choice.protection)
            if sender.asks:
                yield PricedPacket(0, "send", choice.protection)
        if question.keep_alive:
            yield PricedPacket(_beat_B(question.keep_alive, choice, sender), "send", choice.protection)
        if question.session:
            both: list[Exchange] = [
                question.session,
                *([question.session.resumption] if question.session.resumption else []),
            ]
            for exchange in both:
                for octets_B, way, _ in _exchanged(exchange, packet_B):
                    yield PricedPacket(octets_B, way, choice.protection)


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


def load(
    question: Question, choice: Choice, sender: Sender, device: Draws, spent: Mapping[PricedPacket, PacketCost]
) -> Load:
    """What a choice asks of the battery."""
    total = _Sum(choice, sender, device, spent)
    total.messages(question)
    if question.wake_up:
        for flow in question.flow:
            per_s = sum(rate for _, rate in flow.rates) / (choice.aggregate if flow.direction == "send" else 1)
            total.compute("wake-up", question.wake_up.time, per_s)
    if question.keep_alive:
        total.radio("upkeep", _beat_B(question.keep_alive, choice, sender), "send", 1 / question.keep_alive.every)
        if question.keep_alive.message:
            inside_B = choice.frame.inside_B(question.keep_alive.message)
            total.terms["upkeep", total.own] += choice.cost.of("seal_J", inside_B) / question.keep_alive.every
    if question.connection and question.connection.kept:
        total.connection(question, question.connection)
    if question.session:
        usual = (question.session.resumption if choice.resumed else None) or question.session
        total.exchange(usual, 1 / question.session.every)
        total.exchange(question.session, total.rekeys_per_s)
    if question.association:
        total.listen(question.association.time / question.association.every)
    total.terms["idle", ("sleep",)] += device.sleep_W
    if sender.rest != "off":
        factors, watts = sender.state(sender.rest)
        total.terms["idle", factors] += watts
    if choice.cost.accelerator and question.device.accelerator_idle:
        total.terms["idle", ("",)] += question.device.accelerator_idle
    latency_s, octets_B, packets = _message(question, choice, sender, spent)
    terms = {term: watts for term, watts in total.terms.items() if watts}
    return Load(terms, latency_s, octets_B, packets, total.busy, total.sending, total.rekeys_per_s, total.packet_B)


class _Sum:
    """A load as it adds up."""

    def __init__(self, choice: Choice, sender: Sender, device: Draws, spent: Mapping[PricedPacket, PacketCost]) -> None:
        self.choice, self.sender, self.device, self.spent = choice, sender, device, spent
        self.terms: defaultdict[Term, float] = defaultdict(float)
        self.busy = self.sending = self.packets_per_s = self.octets_per_s = 0.0
        cost = choice.cost
        self.own = (f"cipher {cost.cipher} {cost.provider}", *(("device",) if cost.shared else ()))

    @property
    def rekeys_per_s(self) -> float:
        """Keys a second that the limits of data ask for."""
        if not self.packets_per_s:
            return 0.0
        return self.packets_per_s / self.choice.messages_a_key(self.packet_B)

    @property
    def packet_B(self) -> float:
        """Octets sealed in a packet that is sent, in the mean."""
        return self.octets_per_s / self.packets_per_s if self.packets_per_s else 0.0

    def messages(self, question: Question) -> None:
        """Radio and cipher of all flows."""
        cost = self.choice.cost
        for _, plain_B, per_s, way in packets_of(question, self.choice, self.sender.packet_B):
            self.radio("radio", self.choice.sealed(plain_B).wire_B, way, per_s)
            inside_B = self.choice.frame.inside_B(plain_B)
            if way == "receive":
                self.terms["cipher", self.own] += per_s * cost.of("open_J", inside_B)
                continue
            self.packets_per_s += per_s
            self.octets_per_s += per_s * inside_B
            joules = cost.of("seal_J", inside_B) + question.decrypt_share * cost.of("open_J", inside_B)
            self.terms["cipher", self.own] += per_s * joules
        if self.choice.frame.amortised_bits is not None:
            reports_per_s = self.packets_per_s / messages_a_report()
            self.radio("radio", report_B(), "receive", reports_per_s)
            if self.sender.asks:
                self.radio("radio", 0, "send", reports_per_s)
            if question.connection and question.connection.kept:
                # A report is a PDU in place of an empty one, in an event that takes place anyway.
                self.states("radio", self.sender.event(), "send", -reports_per_s)
            self.terms["cipher", self.own] += reports_per_s * report(cost, "open_J")

    def radio(self, group: str, octets_B: int, way: Way, per_s: float) -> None:
        """So many packets a second, in place of the radio's rest."""
        self.states(group, self.spent[PricedPacket(octets_B, way, self.choice.protection)], way, per_s)

    def states(self, group: str, cost: PacketCost, way: Way, per_s: float) -> None:
        """What the radio does so many times a second, in place of its rest."""
        for factors, joules in _joules(self.sender, cost, way):
            self.terms[group, factors] += per_s * joules
        self._instead_of_rest(group, per_s * cost.busy_s)
        self.sending += per_s * (cost.air_s if way == "send" else 0.0)

    def connection(self, question: Question, kept: BleConnection) -> None:
        """The events that keep a connection of Bluetooth LE, and what both clocks being off makes it listen longer.

        A message goes in an event too, and the events that may be left out are counted from there. The window widens
        with the time since the last event, so that its mean is a share of all time, however often the events are.
        Source: Bluetooth Core 5.4, Vol 6, Part B, 4.2.4 and 4.5.1.
        """
        messages_per_s = sum(
            rate / (self.choice.aggregate if flow.direction == "send" else 1)
            for flow in question.flow
            for _, rate in flow.rates
        )
        between = max(0, math.ceil(1 / (messages_per_s * kept.every_s) - CLOSE) - 1)
        self.states("upkeep", self.sender.event(), "send", messages_per_s * between)
        self.listen(kept.clock_ppm * 1e-6)

    def listen(self, share: float) -> None:
        """A share of the time in which the radio listens."""
        factors, watts = self.sender.state("rx")
        self.terms["upkeep", factors] += share * watts
        self._instead_of_rest("upkeep", share)

    def exchange(self, exchanged: Exchange, per_s: float) -> None:
        """So many handshakes a second."""
        for octets_B, way, count in _exchanged(exchanged, self.sender.packet_B):
            self.radio("handshake", octets_B, way, per_s * count)
        self.compute("handshake", exchanged.computing or 0.0, per_s)

    def compute(self, group: str, seconds: float, per_s: float) -> None:
        """The core at work."""
        if self.device.active_W is not None:
            self.terms[group, ("device",)] += per_s * seconds * self.device.active_W

    def _instead_of_rest(self, group: str, share: float) -> None:
        self.busy += share
        if self.sender.rest != "off":
            factors, watts = self.sender.state(self.sender.rest)
            self.terms[group, factors] -= share * watts


def monte_carlo(
    question: Question,
    choices: Sequence[Choice],
    sender: Sender,
    device: Draws,
    batteries: BatteryPlan,
    *,
    stage: Stage = DIRECT,
) -> MonteCarlo:
    """Draw what is uncertain; a cipher's own factor is the same in all of its choices."""
    draws = batteries.batteries.capacity_share.size
    samples = Samples([question.seed, 2], draws, battery_cards.COORDINATES)
    factors: dict[str, Array] = {"device": np.ones(draws), "": np.ones(draws)}
    factors["sleep"] = np.exp(samples.uniform(-device.sleep_width, device.sleep_width))
    for number, exponent in device.factors:
        factors["device"] = factors["device"] * samples.factor(number) ** exponent
    factors[EFFICIENCY] = np.exp(samples.uniform(-stage.width, stage.width))
    for key, number in sender.radio.card.numbers().items():
        factors[f"radio {key}"] = samples.factor(number)
    for choice in choices:
        cost = choice.cost
        name = f"cipher {cost.cipher} {cost.provider}"
        if name not in factors:
            off = samples.uniform(*cost.uniform) if cost.uniform else samples.normal(0.0, cost.log_sigma)
            factors[name] = np.exp(off)
    return MonteCarlo(factors, batteries.batteries, stage)


def power_W(loads: Sequence[Load], by: MonteCarlo) -> Array:
    """Watts at the battery of each load in each draw, as (loads, draws)."""
    terms = sorted({term for load in loads for term in load.terms_W})
    watts = np.array([[load.terms_W.get(term, 0.0) for term in terms] for load in loads])
    # Terms with the same factors are one column.
    names = sorted({names for _, names in terms})
    columns = np.zeros((len(loads), len(names)))
    for place, (_, factors) in enumerate(terms):
        columns[:, names.index(factors)] += watts[:, place]
    drawn = np.array([np.prod([by.factors[name] for name in factors], axis=0) for factors in names])
    return by.stage.drawn_W(columns @ drawn, by.batteries, by.factors.get(EFFICIENCY, 1.0))


def seconds(loads: Sequence[Load], by: MonteCarlo, plan: BatteryPlan) -> Array:
    """Seconds of battery of each load in each draw, as (loads, draws): its charge's or its shelf life's end.

    Raises InputError where a load is more than the battery may give.
    """
    return given_up(by_charge(loads, by, plan), by)


def by_charge(loads: Sequence[Load], by: MonteCarlo, plan: BatteryPlan) -> Array:
    """Seconds that the charge alone lasts, as `seconds` has it."""
    return battery_cards.by_charge(plan.battery, plan.model, by.batteries, power_W(loads, by))


def leaked(charge_s: Array, life_s: Array, by: MonteCarlo) -> Array:
    """The share of the charge that goes by itself until a life ends, of what is gone by then, as (loads, draws).

    With the rate s, and the time A that the load alone would take, what is left falls as (1 + x) exp(-s t) - x, where
    x = 1 / (s A) and A = (exp(s T) - 1) / s of a charge that lasts T.
    """
    rate = np.where(by.batteries.self_discharge_per_s > 0, by.batteries.self_discharge_per_s, NO_LEAK_per_s)
    alone_s = np.expm1(rate * charge_s) / rate
    gone = -np.expm1(-rate * life_s) * (1 + 1 / (rate * alone_s))
    return np.asarray(np.clip(1 - life_s / alone_s / gone, 0.0, 1.0))


def given_up(charge_s: Array, by: MonteCarlo) -> Array:
    """Seconds until the charge ends or the battery's shelf life does, whichever comes first."""
    return np.minimum(charge_s, by.batteries.shelf_life_s)


def _beat_B(beat: KeepAlive, choice: Choice, sender: Sender) -> int:
    """Octets above the link of a keep-alive: one without data is the link's own, and nothing of it is sealed."""
    if beat.message:
        return choice.sealed(beat.message).wire_B
    return LEAST_B if sender.technology == "802.11" else 0


def _joules(sender: Sender, spent: PacketCost, way: Way) -> Iterator[tuple[tuple[str, ...], float]]:
    card = sender.radio.card
    if card.has_states:
        for state, time_s in spent.states_s.items():
            if time_s:
                factors, watts = sender.state(state)
                yield factors, time_s * watts
        return
    for key, amount in ((f"{way}_packet", spent.packets), (f"{way}_byte", spent.packet_B)):
        number: Number = getattr(card, key)
        yield (f"radio {key}",), number.in_SI * amount
    if card.idle:
        # The linear model's joules come on top of idling.
        factors, watts = sender.state("idle")
        yield factors, watts * spent.busy_s


def _exchanged(exchange: Exchange, packet_B: int) -> Iterator[tuple[int, Way, int]]:
    ways: tuple[tuple[int, Way], ...] = ((exchange.sent, "send"), (exchange.received, "receive"))
    for octets_B, way in ways:
        full, rest_B = divmod(octets_B, packet_B)
        yield from ((size_B, way, count) for size_B, count in ((packet_B, full), (rest_B, 1)) if size_B and count)


def _message(
    question: Question, choice: Choice, sender: Sender, spent: Mapping[PricedPacket, PacketCost]
) -> tuple[float, float, float]:
    """Seconds from a message's birth to its end on the air, of the slowest flow; octets and packets of the first.

    Where nothing is sent these are of what is received, from its first packet to its decryption.
    """
    most = most_B(question, sender)
    way: Way = "send" if any(flow.direction == "send" for flow in question.flow) else "receive"
    many = choice.aggregate if way == "send" else 1
    slowest = 0.0
    first: tuple[float, float] | None = None
    for flow in question.flow:
        if flow.direction != way:
            continue
        sizes = [size_B for size_B, _ in flow.rates]
        took = [_once(choice, many * size_B, most, spent, way) for size_B in (max(sizes), sizes[0])]
        waited = (many - 1) * flow.every + (question.wake_up.time if question.wake_up else 0.0) + _link_s(question, way)
        # Not `max`, which loses a time that is not known.
        slowest = float(np.maximum(slowest, waited + took[0][0]))
        first = first or (took[1][1] / many, took[1][2] / many)
    return slowest, *(first or (0.0, 0.0))


def _link_s(question: Question, way: Way) -> float:
    """How long a message may have to wait for the link: for the next connection event, or for a new connection."""
    link = question.connection
    if link is None:
        return 0.0
    if not link.kept:
        return question.association.time if question.association else 0.0
    return link.interval if way == "send" else link.every_s


def _once(
    choice: Choice, message_B: int, most_B: int, spent: Mapping[PricedPacket, PacketCost], way: Way
) -> tuple[float, float, float]:
    """Seconds until a message's last packet has left, or is decrypted; its octets and packets."""
    took_s = octets_B = packets = after_s = 0.0
    for plain_B, count in choice.packets(message_B, most_B):
        cost = spent[PricedPacket(choice.sealed(plain_B).wire_B, way, choice.protection)]
        computes: Literal["seal_s", "open_s"] = "seal_s" if way == "send" else "open_s"
        took_s += count * (cost.next_s + choice.cost.of(computes, choice.frame.inside_B(plain_B)))
        octets_B += count * cost.octets_B
        packets += count
        after_s = cost.next_s - cost.left_s
    return took_s - after_s, octets_B, packets


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
    rule = next(sleep for sleep in rules().sleep if matches(isa, sleep.isa))
    middle_W, factor = rule.value_uW * 1e-6, 1 + rule.relative_uncertainty
    between = f"{watts(middle_W / factor)} to {watts(middle_W * factor)}"
    assumed.append(f"asleep the device draws {watts(middle_W)}, or {between}: nobody gave it ({rule.because})")
    return middle_W, math.log(factor)


USUAL_BATTERY = "lipo-1000"

EFFICIENCY = "supply efficiency"
"""The drawn factor of an efficiency that nobody gave."""

# What a converter is taken to keep: converters for small loads stay above 80 % over six decades of load and reach 96 %
# (Texas Instruments, SLYY203B, figure 10: TPS63900).
ASSUMED_EFFICIENCY, UNCERTAINTY = 0.88, 0.09

# A battery up to so many times its rail's voltage feeds it through an LDO; parts hang on one that is no higher.
DIRECT_UP_TO, LDO_UP_TO = 1.1, 2.0

# Below it a rail is the core's own, and its converter stands on the board.
CORE_V = 2.0


def battery_of(question: Question, cards: Path | None, assumed: list[str], *, allow_assumed: bool) -> BatteryPlan:
    """The battery as asked, else a usual one, told in `assumed`.

    * `cards`: the user's folder of cards.
    """
    name = question.battery.card
    if name is None:
        assumed.append("the battery is one of 1000 mAh: none was given")
    card = battery_cards.load(name or USUAL_BATTERY, cards)
    return tasks.battery_plan(
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
    volts = [card.card.voltage for card in (radio, device) if card and card.card.voltage]
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
    efficiency = question.efficiency or (ASSUMED_EFFICIENCY if kind == "dcdc" else 1.0)
    found = Stage(kind, battery_V, rail_V, efficiency, 0.0 if given else float(np.log1p(UNCERTAINTY)), quiescent_W)
    if question.stage is None:
        assumed.append(f"{_why(found)}: nobody gave it (supply.stage: direct, ldo or dcdc)")
    elif not given:
        low, high = (100 * ASSUMED_EFFICIENCY * by for by in (1 / (1 + UNCERTAINTY), 1 + UNCERTAINTY))
        span = f"{low:.0f} to {high:.0f} %"
        assumed.append(
            f"the converter keeps {100 * ASSUMED_EFFICIENCY:.0f} %, or {span}: nobody gave it (supply.efficiency)"
        )
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
