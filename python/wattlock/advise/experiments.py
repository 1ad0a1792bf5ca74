"""Ways to spend less, as named experiments: replace primitives, modify the protocol, energy first, hybrids."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from wattlock.advise import days
from wattlock.advise.answer import Advice
from wattlock.advise.choices import PROTECTIONS, Choice, framings, short
from wattlock.advise.cipher_costs import CipherCost
from wattlock.advise.days import DAY_s, Load, MonteCarlo, Term, given_up, most_B
from wattlock.advise.question import LEAST, Flow, Question, RadioOptions, spoken
from wattlock.advise.rank import SMALLEST_EFFECT, Gain, gain, tied
from wattlock.advise.sending import PacketCost, PricedPacket, Sender
from wattlock.analysis import front
from wattlock.definitions import suggestion
from wattlock.energy import radio_cards
from wattlock.energy.battery_cards import Array, BatterySamples
from wattlock.errors import InputError
from wattlock.security.status import first, rules
from wattlock.targets.toolbox import Toolbox

MANY = (2, 4, 8, 16)

PROBE_B = 8

# Pieces smaller than that are nearly all header.
LEAST_B = 8


class Experiment(NamedTuple):
    """What an experiment found.

    * `before_days`, `after_days`: medians; None where it has no such answer. `finding`: in a sentence.
    """

    name: str
    way: str
    before_days: float | None
    after_days: float | None
    gain: Gain | None
    finding: str


class ExperimentInputs(NamedTuple):
    """What experiments are done with: an answer, the choice that they start from, the probe."""

    of: Advice
    start: Choice
    net: Toolbox | None

    @property
    def question(self) -> Question:
        """The question."""
        return self.of.question

    def best(self, variants: list[tuple[Question, Choice]]) -> tuple[int, float, float, Gain, float]:
        """Which variant's charge lasts longest, its days and the start's, its gain, and that of its charge, percent."""
        charge_s = charges(self.of, loads(self.of, [(self.question, self.start), *variants], self.net))
        number = 1 + int(np.argmax(np.median(charge_s[1:], axis=1)))
        life_s = given_up(charge_s[[0, number]], self.of.monte_carlo)
        before, after = np.median(life_s, axis=1) / DAY_s
        return number - 1, before, after, gain(*life_s), gain(charge_s[0], charge_s[number]).percent


def row(experiment: Experiment) -> dict[str, Any]:
    """As a record."""
    return {
        "experiment": experiment.name,
        "way": experiment.way,
        "before_days": experiment.before_days,
        "after_days": experiment.after_days,
        "gain_percent": experiment.gain.percent if experiment.gain else None,
        "gain_low_percent": experiment.gain.low if experiment.gain else None,
        "gain_high_percent": experiment.gain.high if experiment.gain else None,
        "finding": experiment.finding,
    }


def names() -> list[str]:
    """The experiments."""
    return list(EXPERIMENTS)


def experiments(advice: Advice, net: Toolbox | None, only: str | None = None) -> list[Experiment]:
    """Carry out the experiments, or the one that is named.

    Raises InputError where there is none of that name.
    """
    if only is not None and only not in EXPERIMENTS:
        raise InputError(f'there is no experiment "{only}"', hint=suggestion(only, names(), "there are"))
    bench = ExperimentInputs(advice, usual(advice), net)
    chosen = names() if only is None else [only]
    return [saving for name in chosen for saving in EXPERIMENTS[name](bench)]


def _found(
    name: str, way: str, bench: ExperimentInputs, variants: list[tuple[Question, Choice]], findings: list[str]
) -> Experiment:
    number, before, after, by, charge = bench.best(variants)
    small = "" if abs(by.percent) >= 100 * SMALLEST_EFFECT else "; too little to matter"
    if small and abs(charge) >= 100 * LEAST and abs(by.percent) < abs(charge) / 2:
        longer = "longer" if charge > 0 else "less long"
        small = f"; its charge alone would last {abs(charge):.2g} % {longer}, but the battery's shelf life ends it"
    return Experiment(name, way, before, after, by, findings[number] + small)


def _replace(bench: ExperimentInputs) -> Iterator[Experiment]:
    start = bench.start
    others = [
        choice
        for choice in bench.of.choices
        if choice.security.strength_bits >= start.security.strength_bits
        and choice._replace(row=start.row, security=start.security, cost=start.cost, tag_bits=start.tag_bits) == start
        and choice.tag_bits == min(choice.row["tag_bits"], start.tag_bits)
        and choice.cost is not start.cost
    ]
    if not others:
        yield _not("replace", REPLACE, "no other cipher of equal strength passes the floor")
        return
    findings = [
        f"{cipher.cipher} of {cipher.provider} in place of {start.cipher}, {start.provider}" for cipher in others
    ]
    yield _found("replace", REPLACE, bench, [(bench.question, choice) for choice in others], findings)


def _accelerate(bench: ExperimentInputs) -> Iterator[Experiment]:
    """Hardware for a cipher in place of code: it pays from the size on at which its joules of a message are fewer."""
    device = bench.of.inputs.device
    hardware = [choice for choice in bench.of.choices if choice.cost.accelerator]
    if device is None or not hardware:
        yield _not("accelerate", REPLACE, "no figures of hardware for a cipher are published for this device")
        return
    start = bench.start
    same = [choice for choice in hardware if choice.cipher == start.cipher] or hardware
    best = min(same, key=lambda choice: (choice.framing != start.framing, choice.aggregate, -choice.tag_bits))
    code = next((cost for cost in bench.of.inputs.costs if cost.cipher == best.cipher and not cost.accelerator), None)
    finding = f"{best.provider} for {best.cipher}"
    if code:
        pays = [size for size in SIZES if best.cost.of("seal_J", size) < code.of("seal_J", size)]
        compared = f"fewer joules than code from {min(pays)} B on" if pays else "more joules than code at every size"
        finding += f": {compared}"
        finding += f"; {_idle(bench, best, code)}"
    yield _found("accelerate", REPLACE, bench, [(bench.question, best)], [finding])


def _idle(bench: ExperimentInputs, best: Choice, code: CipherCost) -> str:
    """The floor of a block of hardware that waits, against what it saves over code."""
    by_code, by_block = (
        load.group_W("cipher")
        for load in loads(bench.of, [(bench.question, best._replace(cost=code)), (bench.question, best)], bench.net)
    )
    floor = bench.question.device.accelerator_idle
    if by_block >= by_code:
        waits = f", and waiting it draws {1e6 * floor:.3g} uW on top" if floor else ""
        return f"it takes {1e6 * (by_block - by_code):.3g} uW more than code at this rate{waits}"
    saves = f"it saves {1e6 * (by_code - by_block):.3g} uW over code at this rate"
    if floor is None:
        return f"{saves}, which is the most that it may draw while it waits: no figure of that is published"
    often = floor / (by_code - by_block)
    return f"{saves} and draws {1e6 * floor:.3g} uW while it waits: it pays from {often:.3g} times this rate on"


def _aggregate(bench: ExperimentInputs) -> Iterator[Experiment]:
    interval_s = max((flow.every for flow in bench.question.flow if flow.direction == "send"), default=0.0)
    allowed = bench.question.floor.latency
    many = [count for count in MANY if allowed is None or (count - 1) * interval_s < allowed]
    if not interval_s or not many:
        yield _not("aggregate", PROTOCOL, "the latency leaves no time to wait for a second message")
        return
    variants = [(bench.question, bench.start._replace(aggregate=count)) for count in many]
    pieces = [_pieces(bench, choice) for _, choice in variants]
    findings = [
        f"{count} messages in {'a packet' if cut == 1 else f'{cut} packets'}, "
        f"the first waits {spoken((count - 1) * interval_s)}"
        for count, cut in zip(many, pieces, strict=True)
    ]
    yield _found("aggregate", PROTOCOL, bench, variants, findings)


def _pieces(bench: ExperimentInputs, choice: Choice) -> int:
    """Packets that the largest message of the choice takes."""
    room_B = most_B(bench.question, bench.of.inputs.sender)
    largest = max(size_B for flow in bench.question.flow if flow.direction == "send" for size_B, _ in flow.rates)
    return sum(count for _, count in choice.packets(choice.aggregate * largest, room_B))


def _batch(bench: ExperimentInputs) -> Iterator[Experiment]:
    wake_up = bench.question.wake_up
    if wake_up is None:
        yield _not("batch", PROTOCOL, "the question has no wake-up that a batch would save")
        return
    interval_s = max(flow.every for flow in bench.question.flow)
    allowed = bench.question.floor.latency
    many = [count for count in MANY if allowed is None or (count - 1) * interval_s < allowed]
    if not many:
        yield _not("batch", PROTOCOL, "the latency leaves no time to wait for a second message")
        return
    # As many packets as before: only the time awake for each shrinks.
    variants = [
        (changed(bench.question, {"wake_up": wake_up.model_copy(update={"time": wake_up.time / count})}), bench.start)
        for count in many
    ]
    findings = [f"{count} packets in one wake-up, the first waits {spoken((count - 1) * interval_s)}" for count in many]
    yield _found("batch", PROTOCOL, bench, variants, findings)


def _truncate(bench: ExperimentInputs) -> Iterator[Experiment]:
    start = bench.start
    rule = first(start.cipher, rules().tag)
    allowed = [bits for bits in (rule.bits if rule else []) if bench.question.floor.tag <= bits < start.tag_bits]
    if rule is None or not allowed:
        yield _not(
            "truncate", PROTOCOL, f"no standard lets the tag of {start.cipher} be shorter, or the floor forbids it"
        )
        return
    least = min(allowed)
    finding = f"a tag of {least} bits in place of {start.tag_bits}: {rule.says}"
    yield _found("truncate", PROTOCOL, bench, [(bench.question, start._replace(tag_bits=least))], [finding])


def _headers(bench: ExperimentInputs) -> Iterator[Experiment]:
    framing = "broadcast" if bench.of.inputs.sender.advertising else "implicit-nonce"
    finding = framings()[framing].title
    variant = bench.start._replace(framing=framing)
    yield _found("headers", PROTOCOL, bench, [(bench.question, variant)], [finding])


def _compress(bench: ExperimentInputs) -> Iterator[Experiment]:
    question, start = bench.question, bench.start
    half = [
        flow.model_copy(
            update={
                "message": None if flow.message is None else max(1, flow.message // 2),
                "sizes": None if flow.sizes is None else [[max(1, size // 2), count] for size, count in flow.sizes],
            }
        )
        for flow in question.flow
    ]
    smaller = changed(question, {"flow": half})
    before, after = loads(bench.of, [(question, start), (smaller, start)], bench.net)
    life_s = lives(bench.of, [before, after])
    octets_per_s = sum(size * rate for flow in question.flow if flow.direction == "send" for size, rate in flow.rates)
    spare_uJ = 1e6 * (before.total_W - after.total_W) / octets_per_s if octets_per_s else 0.0
    finding = (
        "messages half as long, encrypted after compressing; it pays while compressing takes less than "
        f"{spare_uJ:.3g} uJ a byte"
    )
    medians = np.median(life_s, axis=1) / DAY_s
    yield Experiment("compress", PROTOCOL, medians[0], medians[1], gain(life_s[0], life_s[1]), finding)


def _probe(bench: ExperimentInputs) -> Iterator[Experiment]:
    question, start = bench.question, bench.start
    if bench.of.inputs.sender.advertising:
        yield _not("probe", PROTOCOL, "nobody answers an advertisement")
        return
    sending = [(size, rate) for flow in question.flow if flow.direction == "send" for size, rate in flow.rates]
    if not sending:
        yield _not("probe", PROTOCOL, "nothing is sent")
        return
    size, rate = max(sending)
    bulk = changed(question, {"flow": [_flow(size, rate)], "session": None, "keep_alive": None, "association": None})
    light = changed(bulk, {"flow": [_flow(min(PROBE_B, size), rate)]})
    heavy, probing = (load.group_W("radio") for load in loads(bench.of, [(bulk, start), (light, start)], bench.net))
    share = probing / heavy
    finding = (
        f"{PROBE_B} octets asked first cost {100 * share:.1f} % of a message of {size}: it pays where the other end is "
        "not there more often than that"
    )
    yield _not("probe", PROTOCOL, finding)


def _resume(bench: ExperimentInputs) -> Iterator[Experiment]:
    session = bench.question.session
    if session is None or session.resumption is None:
        yield _not("resume", PROTOCOL, "the question has no session, or no resumption, to compare")
        return
    saved = session.sent + session.received - session.resumption.sent - session.resumption.received
    finding = f"{saved} octets less for each session, and what its handshake computes"
    yield _found("resume", PROTOCOL, bench, [(bench.question, bench.start._replace(resumed=True))], [finding])


def _fragment(bench: ExperimentInputs) -> Iterator[Experiment]:
    largest = max(size for flow in bench.question.flow for size, _ in flow.rates)
    most = min(bench.of.inputs.sender.packet_B, bench.start.sealed(largest).wire_B)
    sizes = [most // cut for cut in (2, 4, 8) if bench.start.room_B(most // cut) >= LEAST_B]
    if not sizes:
        yield _not("fragment", PROTOCOL, "messages are too short to be cut")
        return
    options = bench.question.choices
    variants = [
        (changed(bench.question, {"choices": options.model_copy(update={"packet": size})}), bench.start)
        for size in sizes
    ]
    errors = bench.question.radio.bit_errors
    air = f"at a bit error rate of {errors:g}" if bench.of.inputs.sender.technology != "802.11" else "at this signal"
    findings = [f"packets of at most {size} octets, each sealed, {air}" for size in sizes]
    yield _found("fragment", PROTOCOL, bench, variants, findings)


def _scale(bench: ExperimentInputs) -> Iterator[Experiment]:
    device = bench.of.inputs.device
    points = device.card.operating_points if device else None
    clock = device.card.frequency if device else None
    volts = device.card.voltage if device else None
    if device is None or points is None or clock is None or volts is None:
        yield _not("scale", PROTOCOL, "the device's card has no operating points, or no clock of its own")
        return
    before = bench.of.loads[bench.of.choices.index(bench.start)]
    slow = points.at[0]
    ratio = (slow.voltage_V / volts.in_SI) ** 2
    # Joules of a cycle go by the square of the voltage; what the device draws beside its core stays as it is.
    scaled = before._replace(
        terms_W={term: watts * (ratio if "device" in term[1] else 1.0) for term, watts in before.terms_W.items()}
    )
    life_s = lives(bench.of, [before, scaled])
    medians = np.median(life_s, axis=1) / DAY_s
    finding = (
        f"{slow.frequency_MHz:g} MHz at {slow.voltage_V:g} V in place of {clock.value:g} MHz: each cycle takes "
        f"{100 * ratio:.0f} % of its joules, and computing {clock.value / slow.frequency_MHz:.2g} times as long; what "
        "draws power only while the core runs is not counted"
    )
    yield Experiment("scale", PROTOCOL, medians[0], medians[1], gain(life_s[0], life_s[1]), finding)


def _hybrid(bench: ExperimentInputs) -> Iterator[Experiment]:
    policy = hybrid(bench.of, bench.start, bench.net)
    yield Experiment("hybrid", REPLACE, policy.alone_days, policy.days, policy.gain, policy.finding)


def _flow(size_B: int, rate: float) -> Flow:
    return Flow.model_construct(name="bulk", message=size_B, sizes=None, every=1 / rate, direction="send")


def _not(name: str, way: str, finding: str) -> Experiment:
    return Experiment(name, way, None, None, None, finding)


REPLACE, PROTOCOL = "replace primitives", "modify the protocol"


class Policy(NamedTuple):
    """A policy against the best single cipher.

    * `switches`: sizes from which on another cipher is the cheapest, with it; the first stands for the smallest.
    * `days`, `alone_days`: of the policy and of the best single cipher, medians.
    """

    switches: list[tuple[int, str]]
    days: float
    alone_days: float
    gain: Gain
    finding: str


# Octets at which the cheapest cipher is looked for, to say where the policy would switch.
SIZES = (1, 16, 32, 64, 100, 128, 256, 512, 1024, 1400)


def _add(terms: dict[Term, float], load: Load, sign: float) -> None:
    for term, watts in load.terms_W.items():
        terms[term] = terms.get(term, 0.0) + sign * watts


def _alone(question: Question, flow: Flow, size_B: int, rate: float) -> Question:
    only = Flow.model_construct(name=flow.name, message=size_B, sizes=None, every=1 / rate, direction=flow.direction)
    nothing = {"session": None, "keep_alive": None, "association": None, "wake_up": None}
    return changed(question, {"flow": [only], **nothing})


def _ciphers(advice: Advice, choice: Choice) -> list[Choice]:
    """The cheapest provider of each sound cipher, all framed alike."""
    found: dict[str, Choice] = {}
    for place in advice.places:
        choice = advice.choices[place.number]
        alike = (choice.framing, choice.encoding, choice.aggregate, choice.protection, choice.resumed) == (
            choice.framing,
            choice.encoding,
            choice.aggregate,
            choice.protection,
            choice.resumed,
        )
        if alike and choice.tag_bits == choice.row["tag_bits"]:
            found.setdefault(choice.cipher, choice)
    return list(found.values()) or [choice]


def _described(switches: list[tuple[int, str]], by: Gain, alone: str) -> str:
    if len(switches) == 1:
        return f"it does not pay: {switches[0][1]} is the cheapest at every size from 1 to {SIZES[-1]} octets"
    rule = ", ".join(f"{name} from {size_B} B" for size_B, name in switches)
    if by.percent < 100 * SMALLEST_EFFECT:
        gained = f"{by.percent:.2g} % over {alone} alone, with two keys to keep"
        return f"the cheapest is {rule}; it does not pay here: {gained}"
    return f"{rule}, each with a key of its own"


def _switches(advice: Advice, ciphers: list[Choice], net: Toolbox | None) -> list[tuple[int, str]]:
    flow = advice.question.flow[0]
    variants = [(_alone(advice.question, flow, size_B, 1.0), choice) for size_B in SIZES for choice in ciphers]
    watts = np.array([load.total_W for load in loads(advice, variants, net)]).reshape(len(SIZES), len(ciphers))
    found: list[tuple[int, str]] = []
    for size_B, row in zip(SIZES, watts, strict=True):
        name = ciphers[int(row.argmin())].cipher
        if not found or found[-1][1] != name:
            found.append((size_B, name))
    return found


def hybrid(advice: Advice, choice: Choice, net: Toolbox | None) -> Policy:
    """The policy that takes the cheapest sound cipher for each size.

    * `choice`: whose framing, tag and encoding all have, as far as a cipher has them.
    """
    ciphers = _ciphers(advice, choice)
    question = advice.question
    single = loads(advice, [(question, choice) for choice in ciphers], net)
    best = min(range(len(ciphers)), key=lambda number: single[number].total_W)
    terms = dict(single[best].terms_W)
    for flow in question.flow:
        for size_B, rate in flow.rates:
            part = _alone(question, flow, size_B, rate)
            hybrids = loads(advice, [(part, choice) for choice in ciphers], net)
            cheapest = min(hybrids, key=lambda load: load.total_W)
            _add(terms, cheapest, 1.0)
            _add(terms, hybrids[best], -1.0)
    life_s = lives(advice, [single[best], single[best]._replace(terms_W=terms)])
    switches = _switches(advice, ciphers, net)
    medians = np.median(life_s, axis=1) / DAY_s
    by = gain(life_s[0], life_s[1])
    return Policy(switches, float(medians[1]), float(medians[0]), by, _described(switches, by, ciphers[best].cipher))


def changed(question: Question, changes: Mapping[str, Any]) -> Question:
    """The question with some of its own parts replaced."""
    return question.model_copy(update=dict(changes))


def lives(advice: Advice, loads: Sequence[Load]) -> Array:
    """Seconds of battery, as (loads, draws)."""
    return days.seconds(loads, advice.monte_carlo, advice.inputs.battery)


def loads(advice: Advice, variants: Sequence[tuple[Question, Choice]], net: Toolbox | None) -> list[Load]:
    """What variants ask of the battery; all packets that are new are asked of the link at once.

    * `net`: the toolbox, needed for Wi-Fi alone.
    """
    sender = advice.inputs.sender
    packets = [packet for question, choice in variants for packet in days.needed(question, [choice], sender)]
    spent = sender.evaluate(packets, net)
    return [days.load(question, choice, sender, advice.inputs.draws, spent) for question, choice in variants]


EXPERIMENTS: dict[str, Callable[[ExperimentInputs], Iterator[Experiment]]] = {
    "replace": _replace,
    "hybrid": _hybrid,
    "accelerate": _accelerate,
    "aggregate": _aggregate,
    "batch": _batch,
    "truncate": _truncate,
    "headers": _headers,
    "compress": _compress,
    "probe": _probe,
    "resume": _resume,
    "fragment": _fragment,
    "scale": _scale,
}

RADIOS = ("nrf52840-ble", "nrf52840-802154", "sx1262-lora", "esp32-c3-wifi")


class Budget(NamedTuple):
    """One design on one radio.

    * `octets_B`: on the air for a message; `energy_uJ`: of the radio beside its rest; `over_percent`: over the least.
    * `link`: the link's own protection.
    """

    radio: str
    design: str
    link: str
    octets_B: float
    energy_uJ: float
    over_percent: float


def budgets(advice: Advice, net: Toolbox | None, cards: Path | None = None) -> list[Budget]:
    """The least and today's designs for the first flow's message, on the question's radio and on the usual ones."""
    flow = next((flow for flow in advice.question.flow if flow.direction == "send"), advice.question.flow[0])
    message_B = flow.rates[0][0]
    found = []
    for name in dict.fromkeys((advice.inputs.sender.radio.name, *RADIOS)):
        question = advice.question.radio if name == advice.inputs.sender.radio.name else RadioOptions()
        sender = Sender(radio_cards.load(name, cards), question)
        found += list(_on(sender, advice, message_B, net))
    return found


def _on(sender: Sender, advice: Advice, message_B: int, net: Toolbox | None) -> Iterator[Budget]:
    usual_link = sender.protections[0] if sender.advertising else PROTECTIONS[sender.technology][0]
    bare = "none" if not sender.advertising and "none" in PROTECTIONS[sender.technology] else usual_link
    tag_B = -(-advice.question.floor.tag // 8)
    designs: list[tuple[str, str, int]] = [("least: octets and tag", bare, message_B + tag_B)]
    if not sender.advertising:
        designs.append((f"the link alone ({short(usual_link)})", usual_link, message_B))
    start = usual(advice)
    # What a floor excludes is compared all the same: it is the framing that is looked at.
    known = [*advice.choices, *(exclusion.choice for exclusion in advice.excluded)]
    poly = next((choice for choice in known if choice.cipher == "chacha20-poly1305"), None)
    for framing in ("dtls12", "dtls13", "wireguard"):
        choice: Choice | None = start if framings()[framing].carries(start.cipher) else poly
        if choice:
            whole = choice._replace(framing=framing, tag_bits=choice.row["tag_bits"])
            label = f"{framings()[framing].title.partition(',')[0]}, {choice.cipher}"
            designs.append((label, usual_link, whole.sealed(message_B).wire_B))
    packets = {(design, link): _cut(octets, link, sender.packet_B) for design, link, octets in designs}
    spent = sender.evaluate([packet for counted_packets in packets.values() for packet, _ in counted_packets], net)
    least = None
    for (design, link), counted_packets in packets.items():
        joules = sum(count * _joules(sender, spent[packet]) for packet, count in counted_packets)
        octets = sum(count * spent[packet].octets_B for packet, count in counted_packets)
        least = joules if least is None else least
        yield Budget(sender.radio.name, design, short(link), octets, 1e6 * joules, 100 * (joules / least - 1))


def _cut(octets_B: int, link: str, packet_B: int) -> list[tuple[PricedPacket, int]]:
    full, rest = divmod(octets_B, packet_B)
    return [
        (PricedPacket(size, "send", link), count) for size, count in ((packet_B, full), (rest, 1)) if size and count
    ]


def _joules(sender: Sender, spent: PacketCost) -> float:
    card = sender.radio.card
    rest_W = 0.0 if sender.rest == "off" else card.power_W(sender.number(sender.rest))
    if card.has_states:
        states = sum(time_s * card.power_W(sender.number(state)) for state, time_s in spent.states_s.items() if time_s)
        return states - rest_W * spent.busy_s
    packet, byte = card.send_packet, card.send_byte
    return (packet.in_SI * spent.packets + byte.in_SI * spent.packet_B) if packet and byte else 0.0


def rows(found: list[Budget]) -> list[dict[str, Any]]:
    """As records."""
    return [budget._asdict() for budget in found]


FACTORS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 2.0, 4.0, 8.0, 16.0)

RATES = (1e-3, 1e-2, 1e-1, 10.0, 100.0, 1e3)

BIT_ERRORS = (1e-6, 1e-5, 1e-4, 3e-4, 1e-3)

WEAKER_dB = (5.0, 10.0, 15.0, 20.0)

# Enough to tell who is first; and choices far behind never come first by a change of traffic alone.
DRAWS, CHOICES = 200, 60


class BreakingPoint(NamedTuple):
    """One variable: the nearest value at which the first group no longer holds the answer, or that none was found.

    * `at`: in words; None where the answer holds wherever it could be looked at. `then`: who comes first there.
    * `looked_at`: the points; those that the radio can't carry say why.
    """

    variable: str
    now: str
    at: str | None
    then: str | None
    looked_at: str


def sensitivity(advice: Advice, net: Toolbox | None) -> list[BreakingPoint]:
    """The flips by message size, rate and signal; by battery there is none, and why."""
    choices = [advice.choices[place.number] for place in advice.places[:CHOICES]]
    few = _few(advice.monte_carlo)
    found = []
    for variable, now, points in _variables(advice):
        at = then = None
        looked_at = []
        for described, question in points:
            try:
                winner = _winner(advice, question, choices, few, net)
            except InputError as error:
                looked_at.append(f"{described} (not carried: {error})")
                continue
            looked_at.append(described)
            if winner is not None:
                at, then = described, winner
                break
        found.append(BreakingPoint(variable, now, at, then, ", ".join(looked_at)))
    found.append(
        BreakingPoint(
            "battery",
            advice.inputs.battery.battery.name,
            None,
            None,
            "any: on every battery the charge of who draws less lasts longer, up to its shelf life",
        )
    )
    return found


def pareto(advice: Advice) -> list[dict[str, Any]]:
    """The choices on the front of strength, days and latency in some draws, with the share of the draws."""
    places = advice.places[:CHOICES]
    numbers = [place.number for place in places]
    power = 1 / advice.life_s[numbers][:, :DRAWS]
    strength = np.array([advice.choices[number].security.strength_bits for number in numbers])
    quick = -np.nan_to_num(np.array([advice.loads[number].latency_s for number in numbers]), nan=np.inf)
    share = front.front(power.T, strength, quick).mean(axis=0)
    # By what they draw: days that a shelf life ends tell nothing apart.
    watts = np.array([advice.loads[number].total_W for number in numbers])
    profile = {number: name for name, number in front.profiles(watts, strength).items()}
    rows: list[dict[str, Any]] = [
        {
            "choice": advice.choices[place.number].label,
            "provider": advice.choices[place.number].provider,
            "strength_bits": float(strength[row]),
            "days": place.seconds / DAY_s,
            "latency_s": advice.loads[place.number].latency_s,
            "on_front": float(share[row]),
            "profile": profile.get(row, ""),
        }
        for row, place in enumerate(places)
    ]
    kept = [row for row in rows if row["on_front"] or row["profile"]]
    return sorted(kept, key=lambda row: row["on_front"], reverse=True)


def _variables(advice: Advice) -> Iterator[tuple[str, str, list[tuple[str, Question]]]]:
    question = advice.question
    size_B, _ = question.flow[0].rates[0]
    by_nearness = sorted(FACTORS, key=lambda factor: abs(np.log(factor)))
    sizes = [(f"{max(1, round(size_B * number))} B", _sized(question, number)) for number in by_nearness]
    yield "message", f"{size_B} B", sizes
    interval_s = question.flow[0].every
    rates = sorted(RATES, key=lambda factor: abs(np.log(factor)))
    yield "every", spoken(interval_s), [(spoken(interval_s / rate), _faster(question, rate)) for rate in rates]
    radio = question.radio
    if radio.rssi_dBm is not None:
        weaker = [radio.rssi_dBm - weaker_dB for weaker_dB in WEAKER_dB]
        points = [
            (f"{weaker_dB:g} dBm", changed(question, {"radio": radio.model_copy(update={"rssi_dBm": weaker_dB})}))
            for weaker_dB in weaker
        ]
        yield "signal", f"{radio.rssi_dBm:g} dBm", points
    elif advice.inputs.sender.technology != "802.11" and not advice.inputs.sender.advertising:
        worse = [bit_error_rate for bit_error_rate in BIT_ERRORS if bit_error_rate > radio.bit_errors]
        points = [
            (
                f"{bit_error_rate:g}",
                changed(question, {"radio": radio.model_copy(update={"bit_errors": bit_error_rate})}),
            )
            for bit_error_rate in worse
        ]
        yield "bit errors", f"{radio.bit_errors:g}", points


def _sized(question: Question, by: float) -> Question:
    flows = [
        flow.model_copy(
            update={
                "message": None if flow.message is None else max(1, round(flow.message * by)),
                "sizes": None
                if flow.sizes is None
                else [[max(1, round(size_B * by)), count] for size_B, count in flow.sizes],
            }
        )
        for flow in question.flow
    ]
    return changed(question, {"flow": flows})


def _faster(question: Question, by: float) -> Question:
    return changed(question, {"flow": [flow.model_copy(update={"every": flow.every / by}) for flow in question.flow]})


def _winner(
    advice: Advice, question: Question, choices: list[Choice], few: MonteCarlo, net: Toolbox | None
) -> str | None:
    """Who beats the first choice there; None where it holds.

    Raises InputError where the radio can't carry that traffic or the battery not that load.
    """
    sender = advice.inputs.sender
    if question.radio is not advice.question.radio:
        sender = Sender(sender.radio, question.radio)
    spent = sender.evaluate(days.needed(question, choices, sender), net)
    loads = [days.load(question, choice, sender, advice.inputs.draws, spent) for choice in choices]
    carried = [number for number, load in enumerate(loads) if load.busy <= 1 and load.sending <= sender.band.duty_cycle]
    if not carried:
        times = min(max(load.busy, load.sending / sender.band.duty_cycle) for load in loads)
        raise InputError(f"the radio would need {times:.3g} times the time that the clock or the band allows")
    life_s = days.seconds([loads[number] for number in carried], few, advice.inputs.battery)
    lives = dict(zip(carried, life_s, strict=True))
    best = max(carried, key=lambda number: float(np.median(lives[number])))
    held = choices.index(advice.choices[advice.best.number])
    if held in carried and (best == held or tied(lives[best], lives[held])):
        return None
    return choices[best].label


def _few(monte_carlo: MonteCarlo) -> MonteCarlo:
    drawn = monte_carlo.batteries
    batteries = BatterySamples(
        {name: values[:DRAWS] for name, values in drawn.numbers.items()},
        drawn.capacity_share[:DRAWS],
        drawn.self_discharge_per_s[:DRAWS],
        np.broadcast_to(drawn.shelf_life_s, monte_carlo.draws)[:DRAWS],
    )
    return monte_carlo._replace(
        factors={name: values[:DRAWS] for name, values in monte_carlo.factors.items()}, batteries=batteries
    )


# What engineers reach for: the cipher of CCMP, Bluetooth, 802.15.4 and DTLS profiles, then what passes.
USUAL = ("aes128-ccm", "aes128-gcm", "aes256-ccm", "aes256-gcm", "chacha20-poly1305", "ascon-aead128")


def charges(advice: Advice, loads: Sequence[Load]) -> Array:
    """Seconds that the charge alone lasts, as (loads, draws)."""
    return days.by_charge(loads, advice.monte_carlo, advice.inputs.battery)


def usual(advice: Advice) -> Choice:
    """The choice that experiments start from: the usual cipher that passes, its nonce sent whole, its tag whole."""

    def far(choice: Choice) -> tuple[int, ...]:
        place = USUAL.index(choice.cipher) if choice.cipher in USUAL else len(USUAL)
        framing = ("full-nonce", "dtls12", "dtls13", "wireguard", "broadcast", "implicit-nonce", "tally")
        return (
            place,
            framing.index(choice.framing),
            choice.row["tag_bits"] - choice.tag_bits,
            choice.aggregate,
            int(choice.resumed),
            int(choice.cost.accelerator),
        )

    whole = [choice for choice in advice.choices if choice.frame.amortised_bits is None]
    return min(whole or advice.choices, key=far)
