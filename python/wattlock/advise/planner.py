"""Which measurement to make next: of all that a fleet can make, the one that narrows the answer most by the minute.

Only the uncertain numbers that a device of the fleet can measure again are looked at: what a cipher costs on it. What a
measurement leaves of an uncertainty follows from how many processes there are: it falls with the root of their number.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from wattlock.advise.answer import Advice, width
from wattlock.advise.cipher_costs import CipherCost
from wattlock.advise.days import MonteCarlo, seconds
from wattlock.analysis.distributions import COVERAGE

STUDY = "advice"
"""It has the sizes that advice is worked out with."""
FIRST = 5
"""Processes of a first measurement: with fewer an interval by Student's law is wider than what is asked for."""
TARGET = 0.02
"""Half-width that a first measurement of the study `advice` is made to reach."""
LEAST = 0.001
"""A measurement that narrows the interval by a smaller share is not worth its minutes."""
CASE_s = 0.007
"""What a case takes in a process where the device has no run yet: 73 s for 35 processes of 306 cases on a server."""
STEPS = 20


class Station(NamedTuple):
    """A device of a fleet.

    * `name`: the target's. `card`: its device card, None where nobody named one. `machine`: what runs of it have in
      common, None where it has none. `case_s`: what a case takes in a process. `counts`: whether it counts cycles in an
      emulator and has no time.
    """

    name: str
    card: str | None
    machine: str | None = None
    case_s: float = CASE_s
    counts: bool = False


class Offer(NamedTuple):
    """What a cipher costs, measured (again) on a device of a fleet, sealing and opening.

    * `processes`: those that the uncertainty is of, 0 where the device never measured it. `process_min`: of one.
    * `first_left`: the share of the uncertainty that a first measurement leaves. `runs`: in how many runs it was
      measured, each of which is as long as the next one.
    """

    target: str
    cipher: str
    provider: str
    processes: int
    process_min: float
    first_left: float = 1.0
    runs: int = 1

    @property
    def factor(self) -> str:
        """The uncertain number of the answer that it is of."""
        return f"cipher {self.cipher} {self.provider}"

    @property
    def more(self) -> int:
        """Processes of the next measurement: as many as a run of it had so far."""
        return -(-self.processes // self.runs) or FIRST

    @property
    def minutes(self) -> float:
        """What the next measurement takes."""
        return self.more * self.process_min

    @property
    def left(self) -> float:
        """The share of the uncertainty, of its logarithm, that the next measurement leaves."""
        return math.sqrt(self.processes / (self.processes + self.more)) if self.processes else self.first_left

    def made(self) -> "Offer":
        """What is on offer once the next measurement is made."""
        return self._replace(processes=self.processes + self.more)


class Step(NamedTuple):
    """A measurement, and by how much it is expected to narrow the answer.

    * `within`: the half-width of the interval of days, of its logarithm, that is left. `narrower`: the share of the
      interval that goes.
    """

    offer: Offer
    within: float
    narrower: float

    @property
    def narrower_a_minute(self) -> float:
        """What it is chosen by."""
        return self.narrower / self.offer.minutes

    def row(self) -> dict[str, object]:
        """As a record."""
        return {
            "target": self.offer.target,
            "cipher": self.offer.cipher,
            "provider": self.offer.provider,
            "processes": self.offer.more,
            "minutes": self.offer.minutes,
            "narrower_percent": 100 * self.narrower,
            "narrower_percent_a_minute": 100 * self.narrower_a_minute,
            "within_percent": 100 * math.expm1(self.within),
        }


class MeasurementPlan(NamedTuple):
    """Measurements in the order to make them, and where that ends.

    * `now`, `then`: half-width of the interval of days, of its logarithm. `steps`: empty where none helps or is needed.
    * `ends`: why no step follows, in words.
    """

    now: float
    steps: list[Step]
    ends: str

    @property
    def then(self) -> float:
        """What is expected once all steps are made."""
        return self.steps[-1].within if self.steps else self.now


def offers(advice: Advice, fleet: Sequence[Station], *, machine: str | None = None) -> tuple[list[Offer], list[str]]:
    """What the fleet can measure of the answer's first choice, and why the others of it can't.

    * `machine`: that whose runs the ciphers' costs are of; None where they are published ones.
    """
    cost = advice.choices[advice.best.number].cost
    found, reasons = [], []
    for station in fleet:
        reason = _reason(advice, cost, station, machine)
        if reason:
            reasons.append(f"{station.name}: {reason}")
        else:
            found.append(_offer(cost, station))
    return found, reasons


def best(advice: Advice, offers: Sequence[Offer]) -> list[Step]:
    """What is on offer, the measurement first that narrows the answer most by the minute."""
    return _best(advice, offers, advice.monte_carlo)


def plan(advice: Advice, offers: Sequence[Offer], within: float) -> MeasurementPlan:
    """The measurements to make, one after the other, until the answer is as narrow as asked or none helps.

    * `within`: the half-width asked for, as a share of the days.

    What follows the first is what is expected: each measurement changes the answer that the next is planned by.
    """
    asked_log, monte_carlo, there = math.log1p(within), advice.monte_carlo, list(offers)
    now = _within(advice, monte_carlo)
    steps: list[Step] = []
    while (steps[-1].within if steps else now) > asked_log:
        ordered = _best(advice, there, monte_carlo)
        if not ordered or ordered[0].narrower < LEAST or len(steps) == STEPS:
            return MeasurementPlan(now, steps, _what_is_left(advice))
        step = ordered[0]
        steps.append(step)
        monte_carlo = _with(monte_carlo, {step.offer.factor: step.offer.left})
        there[there.index(step.offer)] = step.offer.made()
    return MeasurementPlan(
        now, steps, f"the answer is within {100 * within:g} % then" if steps else "it is as narrow as asked"
    )


def _best(advice: Advice, offers: Sequence[Offer], by: MonteCarlo) -> list[Step]:
    before = _within(advice, by)
    if not before:
        return []
    steps = []
    for offer in offers:
        after = _within(advice, _with(by, {offer.factor: offer.left}))
        steps.append(Step(offer, after, 1 - after / before))
    return sorted(steps, key=lambda step: -step.narrower_a_minute)


def _with(by: MonteCarlo, left: Mapping[str, float]) -> MonteCarlo:
    return by._replace(factors={**by.factors, **{name: by.factors[name] ** share for name, share in left.items()}})


def _within(advice: Advice, by: MonteCarlo) -> float:
    """Half the 95 % interval of the first choice's days, of its logarithm."""
    return width(seconds([advice.loads[advice.best.number]], by, advice.inputs.battery)) / 2


def _reason(advice: Advice, cost: CipherCost, station: Station, machine: str | None) -> str:
    """Why a device can measure nothing of the answer; empty where it can."""
    if cost.accelerator:
        return f"{cost.cipher} is done by hardware, which wattlock can't time"
    if station.counts:
        return "an emulated core counts, and what it counted is in the costs"
    if machine is not None and station.machine is None:
        return f"no run of it is known: measure the study {STUDY} on it first"
    if machine is not None:
        return "" if station.machine == machine else "not the machine that the costs were measured on"
    card = advice.inputs.device.name if advice.inputs.device else None
    if station.card is None:
        return "no device card is named for it"
    return "" if station.card == card else f"its card is {station.card}, the answer is for {card}"


def _offer(cost: CipherCost, station: Station) -> Offer:
    # Sealing and opening at each of the sizes that the cost is known at.
    cases = 2 * len(cost.sizes_B)
    now = cost.log_sigma
    first_left = min(1.0, TARGET / COVERAGE / now) if now else 1.0
    return Offer(station.name, cost.cipher, cost.provider, cost.processes, cases * station.case_s / 60, first_left)


def _what_is_left(advice: Advice) -> str:
    """What the interval is of, where no device of the fleet can narrow it."""
    first = next(_others(advice), None)
    rest = f"; most of it is {first}" if first else ""
    return f"no measurement of this fleet narrows it further{rest}"


def _others(advice: Advice) -> Iterator[str]:
    """The other uncertain numbers, those first whose knowledge would narrow most, with what to measure."""
    for information in advice.information:
        if not information.number.startswith("cipher ") and information.narrower >= LEAST:
            yield f"{information.number} ({information.how})" if information.how else information.number
