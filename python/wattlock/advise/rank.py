"""Who lasts longest, who can't be told from whom, and who is excluded by a rule, with the reason."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from typing import NamedTuple

import numpy as np

from wattlock.advise import choices
from wattlock.advise.choices import REQUESTED, Choice
from wattlock.advise.days import Load
from wattlock.advise.question import Question, spoken
from wattlock.advise.sending import Band
from wattlock.energy.battery_cards import Array
from wattlock.energy.number import YEAR_s
from wattlock.errors import InputError
from wattlock.security import Cited
from wattlock.security.status import matches, rules

QUANTILES = (0.5, 0.025, 0.975)
# A difference that matters to nobody, and how sure a difference must be.
SMALLEST_EFFECT = 0.01
SURE = 0.975


class Place(NamedTuple):
    """One choice's place.

    * `number`: of the choice among those given. `group`: from 1; all of a group are tied with its first.
    * `seconds`, `low_s`, `high_s`: median and 95 % of the draws.
    * `behind`: the share of its life that the first has more, in the median of the draws.
    * `charge_s`, `charge_low_s`, `charge_high_s`: what the charge alone would give; `shelf`: the share of the draws in
      which the battery's shelf life ends it sooner.
    """

    number: int
    group: int
    seconds: float
    low_s: float
    high_s: float
    behind: float
    charge_s: float
    charge_low_s: float
    charge_high_s: float
    shelf: float


def ranked(life_s: Array, charge_s: Array | None = None) -> list[Place]:
    """The places, longest life first; among equals the one whose charge alone would last longest.

    * `life_s`, `charge_s`: seconds, and those by the charge alone where that differs, as (choices, draws).

    A choice is tied with the first of its group where their lives differ by less than 1 % in the median of the draws,
    or where neither lasts longer in 97.5 % of them.
    """
    median, low, high = np.quantile(life_s, QUANTILES, axis=1)
    charge_s = life_s if charge_s is None else charge_s
    ends = charge_s > life_s
    alone = np.array([median, low, high])
    longer = ends.any(axis=1)
    if longer.any():
        alone[:, longer] = np.quantile(charge_s[longer], QUANTILES, axis=1)
    shelf = ends.mean(axis=1)
    order = np.lexsort((-alone[0], -median))
    places: list[Place] = []
    group, head = 0, -1
    for number in order:
        first = life_s[order[0]] / life_s[number]
        middle = float(np.median(first))
        behind = middle - 1
        if head < 0 or not (_alike(first, middle) if head == order[0] else tied(life_s[head], life_s[number])):
            group, head = group + 1, number
        lasts, least, most, *charge = (float(seconds[number]) for seconds in (median, low, high, *alone))
        places.append(
            Place(int(number), group, lasts, least, most, behind, charge[0], charge[1], charge[2], float(shelf[number]))
        )
    return places


def tied(first_s: Array, second_s: Array) -> bool:
    """Whether two lives can't be told apart."""
    ratio = first_s / second_s
    return _alike(ratio, float(np.median(ratio)))


def _alike(ratio: Array, middle: float) -> bool:
    """Whether lives can't be told apart by their ratio in each draw, and its median."""
    return abs(middle - 1) < SMALLEST_EFFECT or 1 - SURE < float(np.mean(ratio > 1)) < SURE


def head(places: Sequence[Place]) -> list[int]:
    """The choices of the first group."""
    return [place.number for place in places if place.group == 1]


class Gain(NamedTuple):
    """How much longer the battery lasts, percent: median and 95 % of the draws."""

    percent: float
    low: float
    high: float


def gain(before_s: Array, after_s: Array) -> Gain:
    """The gain of one life over another, draw by draw."""
    percent = 100 * (after_s / before_s - 1)
    low, high = np.quantile(percent, (0.025, 0.975))
    return Gain(float(np.median(percent)), float(low), float(high))


SOUND = {"approved", "acceptable"}
REFUSALS = {"not", "never", "withdrawn"}
"""Words by which an authority says that it does not approve."""


class Excluded(NamedTuple):
    """A choice that the floor forbids, and all reasons why; `over`: how many times what is allowed its costs take."""

    choice: Choice
    reasons: list[Cited]
    over: float = 1.0


def by_security(question: Question, choice: Choice, today: date) -> list[Cited]:
    """The reasons of security against a choice; none where it is sound."""
    return list(_security(question, choice, today))


def by_room(choice: Choice, packet_B: int) -> list[Cited]:
    """The reason of the packet's size against a choice that leaves no room in it."""
    if choice.room_B(packet_B):
        return []
    reason = f"{choice.around_B} octets around a message leave no room in a packet of {packet_B}"
    return [Cited("packet", reason, "the link's largest packet, or choices.packet", "", True)]


def by_answer(choice: Choice, *, answered: bool) -> list[Cited]:
    """The reason of the framing against a choice on a link on which nobody answers."""
    frame = choice.frame
    if answered or frame.opens_alone:
        return []
    reason = f"{choice.framing}: nobody answers an advertisement, and {frame.needs}"
    return [Cited("framing", reason, frame.source, "", True)]


def by_cost(question: Question, choice: Choice, load: Load, band: Band) -> list[Cited]:
    """The reasons of time, memory and the radio against a choice."""
    return list(_cost(question, choice, load, band))


def times_allowed(question: Question, choice: Choice, load: Load, band: Band) -> float:
    """The product of how many times its latency, its memory and its radio's time go beyond what is allowed; 1: none."""
    floor = question.floor
    pairs = [
        (load.latency_s, floor.latency),
        (float(choice.memory_B or 0), floor.memory),
        (load.busy, 1.0),
        (load.sending, band.duty_cycle),
    ]
    return math.prod(max(1.0, took / allowed) for took, allowed in pairs if allowed and not math.isnan(took))


def refuse_none(excluded: Sequence[Excluded]) -> None:
    """Raises InputError saying which rule excludes how many choices, and the nearest choice that would pass."""
    if not excluded:
        raise InputError("no cipher has a cost to be compared by", hint="name a run with --run, or other ciphers")
    count = Counter(reason.about for exclusion in excluded for reason in exclusion.reasons)
    described = ", ".join(f"{about} {number}" for about, number in count.most_common())
    # What a product may give way in comes before what keeps its data safe.
    nearest = min(excluded, key=_distance)
    fails = "; ".join(f"{reason.about}: {reason.says}" for reason in nearest.reasons)
    raise InputError(
        f"no choice is left of {len(excluded)}: excluded by {described}",
        hint=f"nearest is {nearest.choice.label} ({nearest.choice.provider}), which fails by {fails}",
    )


def _distance(exclusion: Excluded) -> tuple[int, float, float]:
    away = sum(WEIGHT.get(reason.about, 1) for reason in exclusion.reasons)
    return away, exclusion.over, -exclusion.choice.security.strength_bits


# How far a reason takes a choice away from passing.
WEIGHT = {
    "status": 100,
    "authenticated": 50,
    "strength": 20,
    "lifetime": 20,
    "tag": 10,
    "release": 10,
    "wait": 5,
    "protocol": 10,
}


def _security(question: Question, choice: Choice, today: date) -> Iterator[Cited]:
    security, floor = choice.security, question.floor
    if security.status not in SOUND:
        statement = next(statement for statement in security.statements if statement.about == "status")
        yield statement._replace(says=f"{security.status}: {statement.says}")
    if floor.authenticated and not security.authenticated:
        yield Cited(
            "authenticated",
            "a changed message is not noticed; the question asks for authentication",
            REQUESTED,
            "",
            True,
        )
    if security.strength_bits < floor.strength:
        statement = next(statement for statement in security.statements if statement.about == "strength")
        less = f"{security.strength_bits:g} bits are less than {floor.strength:g}"
        yield statement._replace(says=f"{less}: {statement.says}")
    if choice.frame.amortised_bits is not None:
        yield from choices.reasons(question, choice)
    elif security.authenticated and choice.tag_bits < floor.tag:
        yield Cited("tag", f"{choice.tag_bits} bits are less than {floor.tag}", REQUESTED, "", True)
    if floor.approved:
        yield from _approval(choice, floor.approved)
    yield from _later(question, choice, today)


def _later(question: Question, choice: Choice, today: date) -> Iterator[Cited]:
    security, floor = choice.security, question.floor
    if floor.lifetime:
        until = today.year + floor.lifetime / YEAR_s
        for rule in rules().lifetime:
            if until > rule.beyond_year and security.strength_bits < rule.bits:
                yield rule.cited("lifetime", f"secret until {until:.0f}: {rule.says}")
    for ban in rules().forbidden:
        if ban.framing == choice.framing and matches(choice.cipher, ban.ciphers):
            yield ban.cited("protocol", f"{choice.framing}: {ban.says}")


def _approval(choice: Choice, authority: str) -> Iterator[Cited]:
    if any(rule.authority == authority and matches(choice.cipher, rule.ciphers) for rule in rules().approved):
        return
    statement = next((statement for statement in choice.security.statements if statement.about == authority), None)
    name = authority.upper()
    if statement and REFUSALS & set(statement.says.split()):
        yield statement._replace(about="approved", says=f"by {name}: {statement.says}")
    else:
        yield Cited("approved", f"no statement of {name} approves it", "security.toml and advise.toml", "", True)


def _cost(question: Question, choice: Choice, load: Load, band: Band) -> Iterator[Cited]:
    floor = question.floor
    if floor.latency is not None and math.isnan(load.latency_s):
        yield Cited("latency", "how long the device computes is not known: its card has no clock", REQUESTED, "", True)
    elif floor.latency is not None and load.latency_s > floor.latency:
        took, allowed = spoken(load.latency_s), spoken(floor.latency)
        reason = f"{took} from a message's birth to its end on the air, {allowed} allowed"
        yield Cited("latency", reason, REQUESTED, "", True)
    if floor.memory is not None and (choice.memory_B or 0) > floor.memory:
        reason = f"round keys and state take {choice.memory_B} octets, {floor.memory} allowed"
        yield Cited("memory", reason, REQUESTED, "", True)
    if load.busy > 1:
        reason = f"the traffic keeps the radio busy for {load.busy:.3g} times the time there is"
        yield Cited("radio", reason, "the link's time on the air", "", True)
    elif load.sending > band.duty_cycle:
        reason = f"it sends for {100 * load.sending:.2f} % of the time, the band allows {100 * band.duty_cycle:.0f} %"
        yield Cited("duty cycle", reason, band.source, "", True)
