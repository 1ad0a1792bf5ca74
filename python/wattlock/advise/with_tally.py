"""Days of battery of a profile with tally and without, from one answer: of the same samples."""

from typing import NamedTuple

import numpy as np

from wattlock.advise.advice import Advice
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


def days(of: Advice) -> Days:
    """Of an answer to a question that allows tally."""
    tally = [place for place in of.places if of.choices[place.number].framing == "tally"]
    (other, *_) = [place for place in of.places if place not in tally]
    if not tally:
        return Days(other.seconds / DAY_s, None, None, _why_not(of))
    best = tally[0]
    ratio = float(np.median(of.life_s[best.number] / of.life_s[other.number]))
    stands = "with" if of.best == best else "without"
    return Days(other.seconds / DAY_s, best.seconds / DAY_s, 100 * (ratio - 1), stands)


def _why_not(of: Advice) -> str:
    """What is said against tally, without its name."""
    said = [reason.says for one in of.excluded if one.choice.framing == "tally" for reason in one.reasons]
    return said[0].removeprefix("tally").lstrip(": ") if said else "no choice"
