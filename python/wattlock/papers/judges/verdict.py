"""What a judge says, and how an interval becomes a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from wattlock.analysis.effects import Ratio

Verdict = Literal["reproduced", "not reproduced", "not measurable here"]
Basis = Literal["this machine", "the air", "a battery", "a capture", "their tables", "what is known"]
"""What decides: this machine's measurements, the model of the air, a battery's fall, a capture, the papers' own tables,
or what needs none of these: a sum done again, the security data."""

RATIO_SHARE = 0.25
PERCENT_SHARE, PERCENT_POINTS = 0.25, 2.0
"""The papers round: the tolerances in the head of `claims.toml`."""


class Effect(NamedTuple):
    """A figure with its 95 % interval: `what` in words, as what over what; `unit`: `1`, `%`, `B`, `cycles/B`, ..."""

    what: str
    unit: str
    value: float
    low: float
    high: float

    def told(self) -> str:
        """The figure in a sentence."""
        unit = "" if self.unit == "1" else f" {self.unit}"
        value, low, high = (_digits(one) for one in (self.value, self.low, self.high))
        return f"{value}{unit}" if low == high else f"{value}{unit} ({low} to {high})"


def _digits(value: float) -> str:
    """Three digits, without an exponent for what people count."""
    return f"{value:.3g}" if abs(value) < 1000 or abs(value) >= 1e6 else f"{value:,.0f}"


class Compared(NamedTuple):
    """One comparison: the implementation, which cells, its effect, whether the claim holds there (None: can't tell)."""

    implementation: str
    cells: str
    effect: Effect
    holds: bool | None


@dataclass(frozen=True)
class Judgement:
    """The verdict on a claim.

    * `effect`: the figure that decides; None where there is none.
    * `compared`: all comparisons, the deciding one first.
    * `evidence`: what the verdict rests on, and that it is of another kind than the claim's own where it is.
    * `sentence`: what was found, made from the figures; `control`: what the paper lacks.
    * `basis`: what kind of thing that is.
    * `needs`, `command`: of a claim that can't be measured here, what it would need and what measures it.
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


def verdict(*, holds: bool | None) -> Verdict:
    """The verdict of a comparison that holds, doesn't, or can't be told."""
    return {True: "reproduced", False: "not reproduced", None: "not measurable here"}[holds]  # type: ignore[return-value]


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
    told = list(parts)
    if any(one is False for one in told):
        return False
    return None if None in told or not told else True


def ratio_band(value: float, tolerance: float | None = None) -> tuple[float, float]:
    """The ratios that count as a printed one."""
    share = RATIO_SHARE if tolerance is None else tolerance
    return value * (1 - share), value * (1 + share)


def percent_band(value: float) -> tuple[float, float]:
    """The percentages that count as a printed one."""
    width = max(abs(value) * PERCENT_SHARE, PERCENT_POINTS)
    return value - width, value + width


def ratio_effect(what: str, found: Ratio) -> Effect:
    """A ratio as an effect."""
    return Effect(what, "1", *found)


def percent_effect(what: str, found: Ratio) -> Effect:
    """How many percent more a ratio's numerator is, as an effect."""
    return Effect(what, "%", *found.percent)
