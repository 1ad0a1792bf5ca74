"""What the page of a run that counted says of its cycles, by what they rest on: a core's rules, a board's counter."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

MEMORY = (
    "What is counted is one call of the operation. Flash is what the key schedule and the operation can reach, "
    "functions and constants; RAM what a key takes between two messages, with the variables that the operation can "
    "reach; stack is what lies below the call at its deepest."
)


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one kind of evidence.

    * `cycles`: what its cycles are called; `within`: what makes their interval. `no_board`: ends what they are not.
    * `lead`: what the numbers are; `steps`: how they were counted.
    * `of_a_part`: the cycles that a card values; `not_in_joules`: what these lack, behind a semicolon.
    """

    cycles: str
    within: str
    no_board: str
    lead: str
    steps: tuple[str, ...]
    of_a_part: str
    not_in_joules: str = ""


WORDS: Mapping[str, Words] = {
    "emulated": Words(
        cycles="core cycles",
        within="the error of the core’s rules",
        no_board=": no board was measured.",
        lead="Core cycles are counted with every memory answering at once; part cycles have the part’s flash in them.",
        steps=(
            "An image of each cipher family is compiled for the core and carries out its cases in QEMU, after it "
            "proved itself by the vectors of its ciphers. A plugin writes which instructions ran, in order; cycles "
            "come from these by the rules of the core’s pipeline, each with its source. The same image gives the same "
            "count in every run, so nothing is repeated.",
            MEMORY,
        ),
        of_a_part="part cycles",
        not_in_joules="; that of the flash’s model is not known, and not in them",
    ),
    "measured": Words(
        cycles="board cycles",
        within="the range of its repetitions",
        no_board=".",
        lead="Board cycles are those of the board’s own counter, with its flash, caches and clock as they are: the "
        "median of the repetitions of a case, without what reading the counter takes.",
        steps=(
            "An image of each cipher family is compiled for the board’s memory and registers, brought onto it, and "
            "carries out its cases there, after it proved itself by the vectors of its ciphers. A loop of known length "
            "shows first that the counter is the core’s; then each case is repeated, and the counter read before and "
            "after the call.",
            MEMORY,
        ),
        of_a_part="board cycles",
    ),
}
"""By the kind of evidence."""


def cycles_of(kinds: Iterable[str | None]) -> str:
    """What cycles of one or of several kinds of evidence are called."""
    words = _only(kinds)
    return words.cycles if words else "cycles"


def within_of(kinds: Iterable[str | None]) -> str:
    """What makes the intervals of one or of several kinds of evidence."""
    words = _only(kinds)
    return words.within if words else "their intervals"


def _only(kinds: Iterable[str | None]) -> Words | None:
    known = {kind for kind in kinds if kind is not None}
    return WORDS[known.pop()] if len(known) == 1 else None
