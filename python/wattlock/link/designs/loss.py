"""What loss does to designs: the share of messages that become verified, and for how many messages that takes."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wattlock.link.designs.rules import Design, compared

SAMPLES, SEED = 20_000, 1
MOST_COUNTED = 12
"""Other messages whose losses are counted one by one; of more they are sampled."""
SHORTEST = (0, 0, 1, 3, 6, 11, 17, 25, 34, 44)
"""No Golomb ruler of so many marks is shorter (OEIS A003022)."""
LEAST = 1e-12
"""Of a geometric distribution, what is left out of its sum."""


class Outcome(NamedTuple):
    """Of a message that was delivered, under loss.

    * `share`: of them that reach the strength. `wait`: messages sent until then, in the mean of those; None where none
      does.
    """

    share: float
    wait: float | None


class Cycle(NamedTuple):
    """tally's reports, in the mean.

    * `accepted`: messages that arrive between two reports; `said`: how often each report is said.
    """

    accepted: float
    said: float


def outcome(design: Design, bits: int, loss: float) -> Outcome:
    """How many of the messages that arrive are verified at so many bits.

    * `loss`: share of messages, and of reports, that never arrive, each for itself.
    """
    if design.cycle:
        return _by_reports(design, bits, loss)
    positions = tuple(tuple(one) for one in _tags(design))
    return _by_tags(positions, bits, loss)


# tally: docs/tally.md. Nobody attacks, and fewer than 64 messages in a row stay without a report.


def cycle(design: Design, loss: float) -> Cycle:
    """From one report to the next.

    A report is frozen when `report_every` messages came since the last one was, said after each message that arrives
    until it is heard, and done with when the next message arrives.
    """
    return Cycle(sum(length * share for length, share in _lengths(design, loss)), 1 / (1 - loss))


def _lengths(design: Design, loss: float) -> list[tuple[int, float]]:
    """Messages that arrive from one report to the next, and the chance of as many."""
    return [(max(compared().tally.report_every, late + 1), share) for late, share in _late(design, loss)]


def _late(design: Design, loss: float) -> Iterator[tuple[int, float]]:
    """Messages that arrive between a report's freezing and its being heard, and the chance of as many.

    An acknowledgement carries a report that was there before its message. It is said with every other one: whether it
    was heard shows in the message between.
    """
    first, step = (1, 2) if design.reports == "acknowledged" else (0, 1)
    for lost in count():
        share = (1 - loss) * loss**lost
        if share < LEAST:
            return
        yield first + step * lost, share


def _by_reports(design: Design, bits: int, loss: float) -> Outcome:
    """A message waits for its report to be frozen and heard, then for acceptances, each a message that arrives."""
    acceptances = -(-bits // design.bits) - 1
    lengths = _lengths(design, loss)
    accepted = sum(length * share for length, share in lengths)
    until_frozen = sum(length * (length - 1) / 2 * share for length, share in lengths) / accepted
    until_heard = sum(late * share for late, share in _late(design, loss))
    return Outcome(1.0, (until_frozen + until_heard + acceptances) / (1 - loss))


# Tags over several messages: one verifies where all that it covers arrived.

Tag = tuple[int, int, tuple[int, ...]]
"""Bits, messages after the one in question, and the messages covered, relative to it; its carrier is among them."""


def _tags(design: Design) -> Iterator[list[Tag]]:
    """The tags that cover a message, for each equally likely place of it."""
    if design.each > 1:
        for place in range(design.each):
            last = design.each - 1 - place
            yield [(design.bits, last, tuple(range(-place, last + 1)))]
        return
    rulers = shortest_rulers(design.rulers, design.bits) if design.rulers else [tuple(design.marks)]
    bits = design.bits // len(rulers)
    yield [(bits, mark, tuple(mark - other for other in ruler)) for ruler in rulers for mark in ruler]


@lru_cache(maxsize=256)
def _by_tags(positions: tuple[tuple[Tag, ...], ...], bits: int, loss: float) -> Outcome:
    drawn = [_reached(sorted(tags, key=lambda tag: tag[1]), bits, loss) for tags in positions]
    shares = [share for share, _ in drawn]
    reached = sum(shares)
    if not reached:
        return Outcome(0.0, None)
    return Outcome(reached / len(shares), sum(share * wait for share, wait in drawn) / reached)


def _reached(tags: list[Tag], bits: int, loss: float) -> tuple[float, float]:
    """The share that reaches the bits and the mean wait of those: exact where few other messages are covered."""
    others = sorted({other for _, _, covered in tags for other in covered} - {0})
    lost, chance = _losses(len(others), loss)
    covers = np.array([[other in covered for _, _, covered in tags] for other in others], dtype=np.float32)
    whole = lost.astype(np.float32) @ covers.reshape(len(others), len(tags)) == 0
    gained = np.cumsum(whole * np.array([tag[0] for tag in tags]), axis=1) >= bits
    reached = chance * gained[:, -1]
    waits = np.array([tag[1] for tag in tags])[gained.argmax(axis=1)]
    share = float(reached.sum() / chance.sum())
    return share, float((reached * waits).sum() / reached.sum()) if share else 0.0


def _losses(others: int, loss: float) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Which of so many messages are lost, a row a case, and how each case weighs: all cases, or samples of many."""
    if others > MOST_COUNTED:
        lost = np.random.default_rng(SEED).random((SAMPLES, others)) < loss
        return lost, np.ones(SAMPLES)
    lost = np.arange(1 << others)[:, None] >> np.arange(others) & 1 == 1
    return lost, np.where(lost, loss, 1 - loss).prod(axis=1)


@lru_cache(maxsize=8)
def shortest_rulers(marks: int, many: int) -> list[tuple[int, ...]]:
    """So many Golomb rulers of `marks` marks, the shortest first: no two pairs of marks are equally far apart."""
    found: list[tuple[int, ...]] = []
    for length in count(marks - 1):
        if len(found) >= many:
            return found[:many]
        found += _rulers((0,), 1, 0, marks, length)
    raise AssertionError


def _rulers(ruler: tuple[int, ...], behind: int, apart: int, marks: int, length: int) -> Iterator[tuple[int, ...]]:
    """The rulers of a length that begin with given marks; a mark and those after it are a ruler too.

    * `behind`: a bit for how far each mark lies behind the last; `apart`: a bit for each distance that is taken.
    """
    left = marks - len(ruler)
    if not left:
        yield ruler
        return
    first, last = (length, length) if left == 1 else (ruler[-1] + 1, length - SHORTEST[left])
    for mark in range(first, last + 1):
        new = behind << (mark - ruler[-1])
        if not new & apart:
            yield from _rulers((*ruler, mark), new | 1, apart | new, marks, length)
