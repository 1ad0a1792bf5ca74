"""What a judge says, and how an interval becomes a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from wattlock.analysis.effects import Ratio, equivalence

Verdict = Literal[
    "reproduced",
    "not reproduced",
    "depends on the implementation",
    "explained",
    "not explained",
    "inconclusive",
    "not tested",
]
"""What is said of a claim: three verdicts by measurement, two by a model, which refutes nothing, then measured but
undecided, and no data at all. It depends on the implementation where libraries of one kind disagree."""
DEPENDS: Verdict = "depends on the implementation"
DECIDED: tuple[Verdict, ...] = ("reproduced", "not reproduced", DEPENDS, "explained", "not explained")
OPEN: tuple[Verdict, ...] = ("inconclusive", "not tested")
Basis = Literal["this machine", "the air", "a battery", "a capture", "their tables", "what is known"]
"""What decides: this machine's measurements, the model of the air, a battery's fall, a capture, the papers' own tables,
or what needs none of these: a sum done again, the security data."""

EFFECT_SHARE = 1 / 3
AMOUNT_SHARE = 0.25
"""The papers round: the tolerances in the head of `claims.toml`."""


class Bounds(NamedTuple):
    """What counts as the claim: from `low` to `high`, None where that side is open.

    * `of`: what must lie between, where it is not the effect itself; `ours`: the paper gives no such bound.
    * `claimed`: the figure that the paper prints, where the bounds lie about one.
    """

    low: float | None
    high: float | None
    unit: str = "1"
    of: str = ""
    ours: bool = True
    claimed: float | None = None

    def described(self) -> str:
        """The bounds in a sentence."""
        unit = "" if self.unit == "1" else f" {self.unit}"
        low, high = (None if one is None else _digits(one) for one in (self.low, self.high))
        if low is None:
            words = f"at most {high}{unit}"
        elif high is None:
            words = f"above {low}{unit}"
        else:
            words = f"{low}{unit}" if low == high else f"{low} to {high}{unit}"
        return f"{f'{self.of} ' if self.of else ''}{words} ({'our' if self.ours else 'the paper’s'} bound)"


class Effect(NamedTuple):
    """A figure with its 95 % interval: `what` in words, as what over what; `unit`: `1`, `%`, `B`, `cycles/B`, ...

    An end that is not finite is open. Where the other one is the figure itself, it was the last one that was measured
    and the truth lies beyond.
    """

    what: str
    unit: str
    value: float
    low: float
    high: float

    def described(self) -> str:
        """The figure in a sentence."""
        unit = "" if self.unit == "1" else f" {self.unit}"
        value, low, high = (_digits(one) for one in (self.value, self.low, self.high))
        if self.beyond:
            return f"{self.beyond} {value}{unit}"
        return f"{value}{unit}" if low == high else f"{value}{unit} ({low} to {high})"

    @property
    def beyond(self) -> str:
        """On which side the figure lies of the last one measured, `above` or `below`; empty where it has both ends."""
        if math.isinf(self.high) and self.low == self.value:
            return "above"
        return "below" if math.isinf(self.low) and self.high == self.value else ""


def _digits(value: float) -> str:
    """Three digits, without an exponent for what people count."""
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:.3g}" if abs(value) < 999.5 or abs(value) >= 1e6 else f"{value:,.0f}"


class Part(NamedTuple):
    """One of several things that a comparison takes together, a pair of ciphers, a cipher or a size, by its name."""

    says: str
    effect: Effect
    holds: bool | None


class Compared(NamedTuple):
    """One comparison: of what, which cases, its effect, whether the claim holds there (None: can't tell).

    * `implementation`: the kind of implementation, or where else the figure comes from.
    * `bounds`: what it was compared with; None where it only stands beside and decides nothing.
    * `library`, `finding`: of a comparison of ciphers, whose code it is and which finding of the claim it answers.
    * `parts`: what it takes together, where these are several; the effect is that of the part which decides.
    """

    implementation: str
    cases: str
    effect: Effect
    holds: bool | None
    bounds: Bounds | None = None
    library: str = ""
    finding: str = ""
    parts: tuple[Part, ...] = ()

    @property
    def failing(self) -> list[str]:
        """The parts that do not hold, by name."""
        return [part.says for part in self.parts if part.holds is False]


class Finding(NamedTuple):
    """A part of a claim: who before whom, by how much, for which data; and its answer by kind of implementation."""

    says: str
    answers: Mapping[str, Verdict]


@dataclass(frozen=True)
class Judgement:
    """The verdict on a claim.

    * `effect`: the figure that decides; None where there is none.
    * `compared`: all comparisons, the deciding one first.
    * `evidence`: what the verdict rests on, and that it is of another kind than the claim's own where it is.
    * `sentence`: what was found, made from the figures; `also`: its end, on further figures; `control`: what the paper
      lacks.
    * `basis`: what kind of thing that is.
    * `findings`: the claim's parts, each with its answer by kind of implementation; of a claim on ciphers.
    * `needs`, `command`: of a claim that stays open, what it would need and what measures it.
    """

    claim: str
    verdict: Verdict
    effect: Effect | None
    compared: tuple[Compared, ...]
    evidence: str
    sentence: str
    control: str
    basis: Basis = "this machine"
    needs: str = ""
    command: str = ""
    findings: tuple[Finding, ...] = ()
    also: str = ""


def failing(one: Judgement, kind: str, finding: str = "") -> list[str]:
    """The parts that do not hold with a kind of implementation, by name; with whose code, where it is not all of them.

    * `finding`: of which part of the claim, of all without.
    """
    own = [of for of in one.compared if of.implementation == kind and of.bounds is not None and of.parts]
    own = [of for of in own if not finding or of.finding == finding]
    names = dict.fromkeys(name for of in own for name in of.failing)
    told = []
    for name in names:
        having = {of.library for of in own if name in {part.says for part in of.parts}}
        not_with = list(dict.fromkeys(of.library for of in own if name in of.failing))
        told.append(name if having == set(not_with) else f"{name} (with {', '.join(not_with)})")
    return told


def verdict(*, holds: bool | None, by_model: bool = False) -> Verdict:
    """The verdict of a comparison that holds, doesn't, or can't be told; a model only explains or fails to."""
    if holds is None:
        return "inconclusive"
    if by_model:
        return "explained" if holds else "not explained"
    return "reproduced" if holds else "not reproduced"


def alike(found: Ratio, low_percent: float, high_percent: float, *, systematic: bool = False) -> bool | None:
    """Whether a ratio is equivalent to 1 within bounds, by two one-sided tests; None where they can't tell.

    * `systematic`: its error is no chance that a test could weigh: the whole interval must lie within.
    """
    if systematic:
        return within(*found.percent[1:], low_percent, high_percent)
    return {"equivalent": True, "different": False, "undecided": None}[
        equivalence(found, low_percent, high_percent).verdict
    ]


def over_libraries(holds: Sequence[bool | None]) -> Verdict:
    """The verdict of several libraries: that of those which can be told, where these agree."""
    decided = {one for one in holds if one is not None}
    if len(decided) > 1:
        return DEPENDS
    return verdict(holds=decided.pop() if decided else None) if holds else "not tested"


def over_findings(answers: Sequence[Verdict]) -> Verdict:
    """The verdict on a claim by its findings: all must be reproduced; one that is not decides."""
    for decisive in ("not reproduced", DEPENDS):
        if decisive in answers:
            return decisive
    alike = set(answers)
    return answers[0] if len(alike) == 1 else "inconclusive"


def within(low: float, high: float, least: float, most: float) -> bool | None:
    """Whether an interval lies wholly within bounds: no where it lies wholly outside, None where it holds both."""
    if math.isnan(low) or math.isnan(high):
        return None
    if least <= low and high <= most:
        return True
    return False if high < least or low > most else None


def above(low: float, high: float, bound: float) -> bool | None:
    """Whether an interval lies wholly above a bound: no where it lies wholly below or on it."""
    return True if low > bound else False if high <= bound else None


def all_hold(parts: Iterable[bool | None]) -> bool | None:
    """Whether all parts of a claim hold: one that fails decides, then one that can't be told."""
    described = list(parts)
    if any(one is False for one in described):
        return False
    return None if None in described or not described else True


def together(parts: Sequence[Part], far: Callable[[Part], float]) -> tuple[bool | None, Effect]:
    """Whether all parts hold, and the effect of the one that decides: of those that come to the same, the furthest.

    * `far`: how far off a part is.
    """
    holds = all_hold(part.holds for part in parts)
    return holds, max((part for part in parts if part.holds is holds), key=far).effect


def effect_band(ratio: float) -> Bounds:
    """The ratios that count as a printed one: as logarithms within a third of it, so on the claimed side of 1."""
    low, high = sorted((ratio ** (1 - EFFECT_SHARE), ratio ** (1 + EFFECT_SHARE)))
    return Bounds(low, high, claimed=ratio)


def percent_band(percent: float) -> Bounds:
    """The same for a ratio that is printed as so many percent more or less."""
    low, high, *_ = effect_band(1 + percent / 100)
    return Bounds(100 * (low - 1), 100 * (high - 1), "%", claimed=percent)  # type: ignore[operator]


def amount_band(value: float, tolerance: float | None = None, unit: str = "1") -> Bounds:
    """The amounts that count as a printed one, which is no effect: bytes, cycles, what is left of a battery."""
    share = AMOUNT_SHARE if tolerance is None else tolerance
    low, high = sorted((value * (1 - share), value * (1 + share)))
    return Bounds(low, high, unit, claimed=value)


def inside(low: float, high: float, bounds: Bounds) -> bool | None:
    """Whether an interval lies wholly within bounds: no where it lies wholly outside, None where it holds both."""
    least = -math.inf if bounds.low is None else bounds.low
    most = math.inf if bounds.high is None else bounds.high
    return within(low, high, least, most)


def ratio_effect(what: str, found: Ratio) -> Effect:
    """A ratio as an effect."""
    return Effect(what, "1", *found)


def percent_effect(what: str, found: Ratio) -> Effect:
    """How many percent more a ratio's numerator is, as an effect."""
    return Effect(what, "%", *found.percent)
