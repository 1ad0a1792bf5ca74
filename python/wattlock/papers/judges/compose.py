"""From comparisons to a judgement: the first one decides, the others are its controls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from wattlock.papers.judges.evidence import FIXSLICED, HARDWARE, Evidence
from wattlock.papers.judges.verdict import Basis, Compared, Judgement, verdict
from wattlock.papers.record import Claim

Judge = Callable[[Claim, Evidence], Judgement]

STUDY = "wattlock papers"
NARROWER = "wattlock papers --length full"
ON_EACH_AES = "each implementation of AES by itself: tables, fixsliced, the processor's AES instructions"
MACHINES = {
    "pentium": "a Pentium",
    "32-bit": "a processor of 32 bits",
    "handheld": "a handheld",
    "microcontroller": "a microcontroller",
}
COMMANDS = {
    "pentium": STUDY,
    "32-bit": STUDY,
    "handheld": "wattlock papers --machine handheld",
    "microcontroller": "wattlock papers --machine microcontroller",
}
"""What a claim may be on, in words, and what judges a run of it."""
MOST_LISTED = 5
WORDS = {True: "holds", False: "does not hold", None: "can't be told"}


class Ground(NamedTuple):
    """What a judgement stands on.

    * `unsure`: where the interval holds both, what it would need and what gives it.
    * `by_model`: what decides is computed, not measured.
    """

    basis: Basis = "this machine"
    unsure: tuple[str, str] = ("a narrower interval: this one holds both", NARROWER)
    by_model: bool = False


MEASURED_HERE = Ground()


def judged(
    claim: Claim,
    evidence: str,
    compared: Sequence[Compared],
    *,
    control: str,
    needs: str,
    command: str = STUDY,
    also: str = "",
    ground: Ground = MEASURED_HERE,
) -> Judgement:
    """The judgement by comparisons, the deciding one first; without any the claim is not tested.

    * `needs`, `command`: what is missing where there is none, and what gives it. `also`: a sentence from further
      figures.
    """
    if not compared:
        return missing(claim, needs, command, control, ground.basis)
    first, *others = compared
    paper = f"; the claim: {claim.says}."
    sentence = f"{first.effect.what} is {first.effect.described()} with {first.cases}, {first.implementation}{paper}"
    if first.bounds:
        sentence += f" What counts as the claim: {first.bounds.described()}."
    if others:
        elsewhere = [_elsewhere(one, first) for one in others]
        if len(elsewhere) > MOST_LISTED:
            elsewhere[MOST_LISTED:] = [f"{len(elsewhere) - MOST_LISTED} more in the table"]
        sentence += f" Elsewhere: {'; '.join(elsewhere)}."
    if first.implementation in {FIXSLICED, HARDWARE}:
        sentence += " No table-based AES was measured, which is what the papers' libraries had."
    if also:
        sentence += f" {also}"
    more = ground.unsure if first.holds is None else ("", "")
    # An id such as rsa2048-oaep stays as it is written.
    if sentence.split(maxsplit=1)[0].isalpha():
        sentence = sentence[0].upper() + sentence[1:]
    return Judgement(
        claim.id,
        verdict(holds=first.holds, by_model=ground.by_model),
        first.effect,
        tuple(compared),
        evidence,
        sentence,
        control,
        ground.basis,
        *more,
    )


def _elsewhere(one: Compared, first: Compared) -> str:
    """Another comparison in words; what it compares is said where the first one compares something else."""
    what = "" if one.effect.what == first.effect.what else f"{one.effect.what} is "
    described = WORDS[one.holds] if one.bounds else "stands beside it"
    return f"{one.implementation} ({one.cases}): {what}{one.effect.described()}, {described}"


def missing(claim: Claim, needs: str, command: str, control: str = "", basis: Basis = "this machine") -> Judgement:
    """A claim that nothing at hand can decide; `basis`: what would."""
    sentence = f"Nothing at hand decides whether {claim.says}: it needs {needs}."
    return Judgement(claim.id, "not tested", None, (), "nothing", sentence, control, basis, needs, command)


def of_another_machine(
    claim: Claim, evidence: Evidence, compared: Sequence[Compared], *, control: str, basis: Basis = "this machine"
) -> Judgement:
    """A claim on a machine that the run is not of: what was found here stands beside it and decides nothing."""
    wanted = " or ".join(MACHINES[one] for one in claim.machine)
    needs = f"a run on {wanted} (this one is of a {evidence.machine[0]})"
    found = missing(claim, needs, COMMANDS[claim.machine[0]])
    beside = tuple(one._replace(holds=None, bounds=None) for one in compared)
    described = "; ".join(
        f"{one.effect.what} is {one.effect.described()} ({one.cases}, {one.implementation})" for one in beside
    )
    sentence = f"{found.sentence} Beside it, here: {described}." if described else found.sentence
    return replace(found, compared=beside, sentence=sentence, control=control, basis=basis)
