"""tally as a choice: what its reports cost, how long a message waits for its bits, what requirements forbid of it."""

from collections.abc import Iterator
from typing import Literal

from wattlock.advise.choices import Choice
from wattlock.advise.costs import Cost
from wattlock.advise.quantity import spoken
from wattlock.advise.question import Question
from wattlock.link.designs import P8_B, REPORT_ROUNDS, Design, compared
from wattlock.security import Cited

# Where nobody counted a report, its work is that of so many octets more in a long message of Ascon.
WORK_B, SHORT_B, LONG_B = round(REPORT_ROUNDS / P8_B), 64, 1024
REQUESTED = "the question"
"""Who says what a requirement forbids."""


def design() -> Design:
    """Its own numbers."""
    return compared().design["tally"]


def messages_a_report() -> int:
    """Messages from one report to the next."""
    return compared().tally.report_every


def report_B() -> int:
    """Octets of a report, which the device receives."""
    return compared().tally.report_B


def report(cost: Cost, what: Literal["open_J", "open_cycles"]) -> float:
    """Joules or cycles of opening a report and deriving keys by it: as counted, else as so many rounds of Ascon."""
    more = cost.of(what, LONG_B) - cost.of(what, SHORT_B)
    if cost.report_cycles is None:
        return WORK_B * more / (LONG_B - SHORT_B)
    return cost.report_cycles * more / (cost.of("open_cycles", LONG_B) - cost.of("open_cycles", SHORT_B))


def wait_s(question: Question, choice: Choice) -> float:
    """The longest that a message waits for the tag's bits that are required, where nothing is lost.

    The first message after a report waits for all until the next one, then for as many as lift it.
    """
    lifts = -(-max(question.floor.tag, 1) // design().bits) - 1
    per_s = sum(rate for flow in question.flow if flow.direction == "send" for _, rate in flow.rates)
    return (messages_a_report() - 1 + lifts) * choice.aggregate / per_s


def reasons(question: Question, choice: Choice) -> Iterator[Cited]:
    """What the requirements say against it."""
    floor = question.floor
    if any(flow.direction == "receive" for flow in question.flow):
        yield Cited("framing", "tally seals what the device sends, and it receives messages", design().source, "", True)
        return
    if design().bits < floor.release:
        reason = f"{design().bits} bits when a message arrives are less than {floor.release}"
        yield Cited("release", reason, REQUESTED, "", True)
    if floor.wait is not None and wait_s(question, choice) > floor.wait:
        waits, allowed = spoken(wait_s(question, choice)), spoken(floor.wait)
        reason = f"{waits} until a message has {floor.tag} bits where nothing is lost, {allowed} allowed"
        yield Cited("wait", reason, REQUESTED, "", True)


def described(question: Question, choice: Choice) -> str:
    """What its tag is worth, and when."""
    waits = spoken(wait_s(question, choice))
    return (
        f"{choice.tag_bits} bits are sent; a message has {design().bits} when it arrives and is provisional: it may be "
        f"shown, and must cause nothing. It has {max(question.floor.tag, design().bits)} at most {waits} later, where "
        "nothing is lost; nobody outside has reviewed tally, and it is no product's security yet"
    )
