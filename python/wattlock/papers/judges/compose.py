"""From comparisons to a judgement: the first one decides, the others are its controls."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wattlock.papers.judges.evidence import FIXSLICED, HARDWARE, Evidence
from wattlock.papers.judges.verdict import Compared, Judgement, verdict
from wattlock.papers.record import Claim

Judge = Callable[[Claim, Evidence], Judgement]

STUDY = "wattlock run papers/quick"
ON_EACH_AES = "each implementation of AES by itself: tables, fixsliced, the processor's AES instructions"
MOST_TOLD = 5
WORDS = {True: "holds", False: "does not hold", None: "can't be told"}


def judged(
    claim: Claim,
    evidence: str,
    compared: Sequence[Compared],
    *,
    control: str,
    needs: str,
    command: str = STUDY,
    also: str = "",
) -> Judgement:
    """The judgement by comparisons, the deciding one first; without any the claim is not measurable.

    * `needs`: what is missing where there is none; `also`: a sentence from further figures.
    """
    if not compared:
        return missing(claim, needs, command, control)
    first, *others = compared
    paper = f"; the claim: {claim.says}."
    sentence = f"{first.effect.what} is {first.effect.told()} with {first.cells}, {first.implementation}{paper}"
    if others:
        said = [_elsewhere(one, first) for one in others]
        if len(said) > MOST_TOLD:
            said[MOST_TOLD:] = [f"{len(said) - MOST_TOLD} more in the table"]
        sentence += f" Elsewhere: {'; '.join(said)}."
    if first.implementation in {FIXSLICED, HARDWARE}:
        sentence += " No table-based AES was measured, which is what the papers' libraries had."
    if also:
        sentence += f" {also}"
    unsure = first.holds is None
    sentence = sentence[0].upper() + sentence[1:]
    return Judgement(
        claim.id,
        verdict(holds=first.holds),
        first.effect,
        tuple(compared),
        evidence,
        sentence,
        control,
        "a narrower interval: this one holds both" if unsure else "",
        command if unsure else "",
    )


def _elsewhere(one: Compared, first: Compared) -> str:
    """Another comparison in words; what it compares is said where the first one compares something else."""
    what = "" if one.effect.what == first.effect.what else f"{one.effect.what} is "
    return f"{one.implementation} ({one.cells}): {what}{one.effect.told()}, {WORDS[one.holds]}"


def missing(claim: Claim, needs: str, command: str, control: str = "", evidence: str = "nothing") -> Judgement:
    """A claim that nothing at hand can decide."""
    sentence = f"Nothing at hand decides whether {claim.says}: it needs {needs}."
    return Judgement(claim.id, "not measurable here", None, (), evidence, sentence, control, needs, command)
