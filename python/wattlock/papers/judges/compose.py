"""From comparisons to a judgement: of the papers' kind of implementation all libraries together, else the first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from wattlock.papers.judges.evidence import Evidence
from wattlock.papers.judges.implementations import ERA, KINDS
from wattlock.papers.judges.implementations import Ground as OneLibrary
from wattlock.papers.judges.verdict import (
    DEPENDS,
    Basis,
    Bounds,
    Compared,
    Effect,
    Finding,
    Judgement,
    Part,
    Verdict,
    over_findings,
    over_libraries,
    verdict,
)
from wattlock.papers.record import Claim

Judge = Callable[[Claim, Evidence], Judgement]

STUDY = "wattlock papers"
NARROWER = "wattlock papers --length full"
ONE_LIBRARY = "all ciphers of one library; each kind of AES by itself: tables, constant-time software, AES instructions"
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
    first = compared[0]
    sentence = _lead(claim, first)
    if also:
        sentence += f" {also}"
    more = ground.unsure if first.holds is None else ("", "")
    return Judgement(
        claim.id,
        verdict(holds=first.holds, by_model=ground.by_model),
        first.effect,
        tuple(compared),
        evidence,
        _capital(sentence),
        control,
        ground.basis,
        *more,
        also=also,
    )


def on(
    ground: OneLibrary,
    effect: Effect,
    finding: str,
    *,
    holds: bool | None,
    bounds: Bounds | None,
    where: str = "",
    parts: Sequence[Part] = (),
) -> Compared:
    """What was found on a ground for a finding; `where`: more than whose codes it is of; `parts`: as of `Compared`."""
    cases = f"{ground.providers}, {where}" if where else ground.providers
    return Compared(ground.kind, cases, effect, holds, bounds, ground.library, finding, tuple(parts))


def judged_by_kind(
    claim: Claim,
    evidence: str,
    findings: Sequence[str],
    compared: Sequence[Compared],
    *,
    control: str,
    needs: str,
    also: str = "",
) -> Judgement:
    """The judgement of a claim on ciphers, by its findings: that of the papers' kind, over all its libraries.

    * `findings`: the claim's parts in words; `compared`: each names the one it answers, and its library.
    * `needs`, `also`: as of `judged`.
    """
    answered = tuple(Finding(says, _answers(says, compared)) for says in findings)
    whole = over_findings([finding.answers.get(ERA, "not tested") for finding in answered])
    first = _deciding(answered, compared, whole)
    if first is None:
        found = missing(claim, needs, STUDY, control)
        return replace(found, compared=tuple(compared), findings=answered)
    others = [one for one in compared if one is not first]
    parts = [_lead(claim, first), *_split(answered, compared), _failing(first), _that_hold(answered, whole), also]
    sentence = " ".join(part for part in parts if part)
    untested = [finding.says for finding in answered if finding.answers.get(ERA, "not tested") == "not tested"]
    more = ("", "")
    if whole == "inconclusive":
        more = (f"{needs} ({'; '.join(untested)})", STUDY) if untested else MEASURED_HERE.unsure
    return Judgement(
        claim.id,
        whole,
        first.effect,
        (first, *others),
        evidence,
        _capital(sentence),
        control,
        "this machine",
        *more,
        findings=answered,
        also=also,
    )


def _answers(says: str, compared: Sequence[Compared]) -> Mapping[str, Verdict]:
    """The answers to a finding by kind, where there is any."""
    own = [one for one in compared if one.finding == says and one.bounds is not None]
    by_kind = {kind: [one.holds for one in own if one.implementation == kind] for kind in KINDS}
    return {kind: over_libraries(holds) for kind, holds in by_kind.items() if holds}


def _deciding(answered: Sequence[Finding], compared: Sequence[Compared], whole: Verdict) -> Compared | None:
    """The comparison that is told first: of the papers' kind, of the first finding that comes to the verdict."""
    own = [one for one in compared if one.implementation == ERA and one.bounds is not None and one.finding]
    for finding in answered:
        if finding.answers.get(ERA) == whole:
            of = [one for one in own if one.finding == finding.says]
            return next((one for one in of if verdict(holds=one.holds) == whole), of[0])
    return next((one for one in own if one.holds is None), own[0] if own else None)


def _lead(claim: Claim, first: Compared) -> str:
    sentence = f"{first.effect.what} is {first.effect.described()} with {first.cases}, {first.implementation}"
    sentence += f"; the claim: {claim.says}."
    return f"{sentence} What counts as the claim: {first.bounds.described()}." if first.bounds else sentence


def _split(answered: Sequence[Finding], compared: Sequence[Compared]) -> list[str]:
    """Where libraries of the papers' kind disagree, which of them say what."""
    told = []
    for finding in answered:
        if finding.answers.get(ERA) == DEPENDS:
            own = [one for one in compared if (one.finding, one.implementation) == (finding.says, ERA)]
            sides = [
                ", ".join(dict.fromkeys(one.library for one in own if one.bounds and one.holds is side))
                for side in (True, False)
            ]
            which = f"{finding.says}: it" if len(answered) > 1 else "It"
            told.append(f"{which[0].upper()}{which[1:]} holds with {sides[0]}, and not with {sides[1]}.")
    return told


def _failing(first: Compared) -> str:
    """Of what is told first the parts that do not hold, where it has several."""
    return (
        f"Of its {len(first.parts)} parts {len(first.failing)} do not hold there: {', '.join(first.failing)}."
        if (first.failing and len(first.parts) > 1)
        else ""
    )


def _that_hold(answered: Sequence[Finding], whole: Verdict) -> str:
    """Of a claim that is not reproduced the findings that are, by the papers' kind."""
    own = [finding.says for finding in answered if finding.answers.get(ERA) == "reproduced"]
    if not own or whole == "reproduced":
        return ""
    return f"{len(own)} of the claim's {len(answered)} findings are reproduced: {'; '.join(own)}."


def _capital(sentence: str) -> str:
    """A sentence with a capital; an id such as rsa2048-oaep stays as it is written."""
    return sentence[0].upper() + sentence[1:] if sentence.split(maxsplit=1)[0].isalpha() else sentence


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
