"""Ways to spend less, as named experiments: replace primitives, modify the protocol. Each says what it found."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from wattlock.advise import hybrid as policies
from wattlock.advise.advice import Advice
from wattlock.advise.choices import Choice
from wattlock.advise.costs import Cost
from wattlock.advise.days import DAY_s, given_up, most_B
from wattlock.advise.framings import framings
from wattlock.advise.gain import Gain, gain
from wattlock.advise.quantity import LEAST, spoken
from wattlock.advise.question import Flow, Question
from wattlock.advise.rank import SMALLEST_EFFECT
from wattlock.advise.what_if import changed, charges, lives, loads, usual
from wattlock.definitions import suggestion
from wattlock.errors import InputError
from wattlock.security.rules import first, rules
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


class Bench(NamedTuple):
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


def row(one: Experiment) -> dict[str, Any]:
    """As a record."""
    return {
        "experiment": one.name,
        "way": one.way,
        "before_days": one.before_days,
        "after_days": one.after_days,
        "gain_percent": one.gain.percent if one.gain else None,
        "gain_low_percent": one.gain.low if one.gain else None,
        "gain_high_percent": one.gain.high if one.gain else None,
        "finding": one.finding,
    }


def names() -> list[str]:
    """The experiments."""
    return list(EXPERIMENTS)


def experiments(of: Advice, net: Toolbox | None, only: str | None = None) -> list[Experiment]:
    """Carry out the experiments, or the one that is named.

    Raises InputError where there is none of that name.
    """
    if only is not None and only not in EXPERIMENTS:
        raise InputError(f'there is no experiment "{only}"', hint=suggestion(only, names(), "there are"))
    bench = Bench(of, usual(of), net)
    chosen = names() if only is None else [only]
    return [saving for name in chosen for saving in EXPERIMENTS[name](bench)]


def _found(
    name: str, way: str, bench: Bench, variants: list[tuple[Question, Choice]], findings: list[str]
) -> Experiment:
    number, before, after, by, charge = bench.best(variants)
    small = "" if abs(by.percent) >= 100 * SMALLEST_EFFECT else "; too little to matter"
    if small and abs(charge) >= 100 * LEAST and abs(by.percent) < abs(charge) / 2:
        longer = "longer" if charge > 0 else "less long"
        small = f"; its charge alone would last {abs(charge):.2g} % {longer}, but the battery's shelf life ends it"
    return Experiment(name, way, before, after, by, findings[number] + small)


def _replace(bench: Bench) -> Iterator[Experiment]:
    start = bench.start
    others = [
        one
        for one in bench.of.choices
        if one.security.strength_bits >= start.security.strength_bits
        and one._replace(row=start.row, security=start.security, cost=start.cost, tag_bits=start.tag_bits) == start
        and one.tag_bits == min(one.row["tag_bits"], start.tag_bits)
        and one.cost is not start.cost
    ]
    if not others:
        yield _not("replace", REPLACE, "no other cipher of equal strength passes the floor")
        return
    findings = [f"{one.cipher} of {one.provider} in place of {start.cipher}, {start.provider}" for one in others]
    yield _found("replace", REPLACE, bench, [(bench.question, one) for one in others], findings)


def _accelerate(bench: Bench) -> Iterator[Experiment]:
    """Hardware for a cipher in place of code: it pays from the size on at which its joules of a message are fewer."""
    device = bench.of.inputs.device
    hardware = [one for one in bench.of.choices if one.cost.accelerator]
    if device is None or not hardware:
        yield _not("accelerate", REPLACE, "no figures of hardware for a cipher are published for this device")
        return
    start = bench.start
    same = [one for one in hardware if one.cipher == start.cipher] or hardware
    best = min(same, key=lambda one: (one.framing != start.framing, one.aggregate, -one.tag_bits))
    code = next((one for one in bench.of.inputs.costs if one.cipher == best.cipher and not one.accelerator), None)
    finding = f"{best.provider} for {best.cipher}"
    if code:
        pays = [size for size in policies.SIZES if best.cost.of("seal_J", size) < code.of("seal_J", size)]
        compared = f"fewer joules than code from {min(pays)} B on" if pays else "more joules than code at every size"
        finding += f": {compared}"
        finding += f"; {_idle(bench, best, code)}"
    yield _found("accelerate", REPLACE, bench, [(bench.question, best)], [finding])


def _idle(bench: Bench, best: Choice, code: Cost) -> str:
    """The floor of a block of hardware that waits, against what it saves over code."""
    by_code, by_block = (
        one.group_W("cipher")
        for one in loads(bench.of, [(bench.question, best._replace(cost=code)), (bench.question, best)], bench.net)
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


def _aggregate(bench: Bench) -> Iterator[Experiment]:
    every = max((flow.every for flow in bench.question.flow if flow.direction == "send"), default=0.0)
    allowed = bench.question.floor.latency
    many = [one for one in MANY if allowed is None or (one - 1) * every < allowed]
    if not every or not many:
        yield _not("aggregate", PROTOCOL, "the latency leaves no time to wait for a second message")
        return
    variants = [(bench.question, bench.start._replace(aggregate=one)) for one in many]
    pieces = [_pieces(bench, choice) for _, choice in variants]
    findings = [
        f"{one} messages in {'a packet' if cut == 1 else f'{cut} packets'}, the first waits {spoken((one - 1) * every)}"
        for one, cut in zip(many, pieces, strict=True)
    ]
    yield _found("aggregate", PROTOCOL, bench, variants, findings)


def _pieces(bench: Bench, choice: Choice) -> int:
    """Packets that the largest message of the choice takes."""
    room_B = most_B(bench.question, bench.of.inputs.sender)
    largest = max(size_B for flow in bench.question.flow if flow.direction == "send" for size_B, _ in flow.rates)
    return sum(count for _, count in choice.packets(choice.aggregate * largest, room_B))


def _batch(bench: Bench) -> Iterator[Experiment]:
    wake_up = bench.question.wake_up
    if wake_up is None:
        yield _not("batch", PROTOCOL, "the question has no wake-up that a batch would save")
        return
    every = max(flow.every for flow in bench.question.flow)
    allowed = bench.question.floor.latency
    many = [one for one in MANY if allowed is None or (one - 1) * every < allowed]
    if not many:
        yield _not("batch", PROTOCOL, "the latency leaves no time to wait for a second message")
        return
    # As many packets as before: only the time awake for each shrinks.
    variants = [
        (changed(bench.question, {"wake_up": wake_up.model_copy(update={"time": wake_up.time / one})}), bench.start)
        for one in many
    ]
    findings = [f"{one} packets in one wake-up, the first waits {spoken((one - 1) * every)}" for one in many]
    yield _found("batch", PROTOCOL, bench, variants, findings)


def _truncate(bench: Bench) -> Iterator[Experiment]:
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


def _headers(bench: Bench) -> Iterator[Experiment]:
    framing = "broadcast" if bench.of.inputs.sender.advertising else "implicit-nonce"
    finding = framings()[framing].title
    variant = bench.start._replace(framing=framing)
    yield _found("headers", PROTOCOL, bench, [(bench.question, variant)], [finding])


def _compress(bench: Bench) -> Iterator[Experiment]:
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


def _probe(bench: Bench) -> Iterator[Experiment]:
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
    heavy, probing = (one.group_W("radio") for one in loads(bench.of, [(bulk, start), (light, start)], bench.net))
    share = probing / heavy
    finding = (
        f"{PROBE_B} octets asked first cost {100 * share:.1f} % of a message of {size}: it pays where the other end is "
        "not there more often than that"
    )
    yield _not("probe", PROTOCOL, finding)


def _resume(bench: Bench) -> Iterator[Experiment]:
    session = bench.question.session
    if session is None or session.resumption is None:
        yield _not("resume", PROTOCOL, "the question has no session, or no resumption, to compare")
        return
    saved = session.sent + session.received - session.resumption.sent - session.resumption.received
    finding = f"{saved} octets less for each session, and what its handshake computes"
    yield _found("resume", PROTOCOL, bench, [(bench.question, bench.start._replace(resumed=True))], [finding])


def _fragment(bench: Bench) -> Iterator[Experiment]:
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


def _scale(bench: Bench) -> Iterator[Experiment]:
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


def _hybrid(bench: Bench) -> Iterator[Experiment]:
    policy = policies.hybrid(bench.of, bench.start, bench.net)
    yield Experiment("hybrid", REPLACE, policy.alone_days, policy.days, policy.gain, policy.finding)


def _flow(size_B: int, rate: float) -> Flow:
    return Flow.model_construct(name="bulk", message=size_B, sizes=None, every=1 / rate, direction="send")


def _not(name: str, way: str, finding: str) -> Experiment:
    return Experiment(name, way, None, None, None, finding)


REPLACE, PROTOCOL = "replace primitives", "modify the protocol"
EXPERIMENTS: dict[str, Callable[[Bench], Iterator[Experiment]]] = {
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
