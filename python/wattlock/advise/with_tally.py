"""Days of battery of a profile with tally and without, from one answer: of the same samples."""

from typing import NamedTuple

import numpy as np

from wattlock.advise.answer import Advice
from wattlock.advise.days import DAY_s


class Days(NamedTuple):
    """Days of the best choice without tally and of the best with it, medians.

    * `change_percent`: the median of the ratio in the same samples. `stands`: which is first, or why tally, which then
      has no days, is no choice.
    """

    without: float
    with_tally: float | None
    change_percent: float | None
    stands: str


def days(advice: Advice) -> Days:
    """Of an answer to a question that allows tally."""
    tally = [place for place in advice.places if advice.choices[place.number].framing == "tally"]
    (other, *_) = [place for place in advice.places if place not in tally]
    if not tally:
        return Days(other.seconds / DAY_s, None, None, _why_not(advice))
    best = tally[0]
    ratio = float(np.median(advice.life_s[best.number] / advice.life_s[other.number]))
    stands = "with" if advice.best == best else "without"
    return Days(other.seconds / DAY_s, best.seconds / DAY_s, 100 * (ratio - 1), stands)


def _why_not(advice: Advice) -> str:
    """What is said against tally, without its name."""
    reasons = [
        reason.says
        for exclusion in advice.excluded
        if exclusion.choice.framing == "tally"
        for reason in exclusion.reasons
    ]
    return reasons[0].removeprefix("tally").lstrip(": ") if reasons else "no choice"
