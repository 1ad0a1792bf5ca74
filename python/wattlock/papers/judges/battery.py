"""Claims on what is left of a battery."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from wattlock.analysis.effects import Ratio
from wattlock.papers.judges.compose import Ground, Judge, judged, of_another_machine
from wattlock.papers.judges.evidence import Discharge, Evidence
from wattlock.papers.judges.verdict import Bounds, Compared, Effect, Judgement, amount_band, inside
from wattlock.papers.record import Claim

COMMAND = "wattlock papers --length battery --device x86-server-assumed --allow-assumed"
UNSURE = ("a battery and joules that are known better: this interval holds both", COMMAND)
FILE_B = 5_000_000


def three_des(claim: Claim, evidence: Evidence) -> Judgement:
    """What is left after so many encryptions of a file with 3DES."""
    band = amount_band(claim.expect["left_percent"], unit="%")
    compared = []
    for discharge in _of(evidence.discharges, "3des", FILE_B):
        left = _scaled(discharge, claim.expect["encryptions"], FILE_B)
        effect = Effect(f"what is left after {claim.expect['encryptions']} encryptions of 5 MB", "%", *left)
        compared.append(_compared(discharge, effect, band))
    return _judged(
        claim, evidence, compared, "the case of 3DES alone; that the rest goes rapidly needs the whole curve"
    )


def blowfish(claim: Claim, evidence: Evidence) -> Judgement:
    """What one encryption of 13.6 KB takes out of a battery, and by how many orders of magnitude that misses."""
    claimed, size_B = claim.expect["drained_percent"], claim.expect["bytes"]
    band = amount_band(claimed, unit="%")
    compared, also = [], ""
    for discharge in _of(evidence.discharges, "blowfish", size_B):
        left = _scaled(discharge, 1, size_B)
        drained = Ratio(100 - left.value, 100 - left.high, 100 - left.low)
        effect = Effect("what one encryption of 13.6 KB drains", "%", *drained)
        compared.append(_compared(discharge, effect, band))
        if drained.value > 0:
            orders = math.log10(claimed / drained.value)
            also = also or f"The claim is {orders:.1f} orders of magnitude away."
    return _judged(
        claim, evidence, compared, "the same case a million times, so that the discharge can be seen at all", also
    )


def _of(discharges: Iterable[Discharge], family: str, size_B: int) -> list[Discharge]:
    """The falls of a family, measured ones first, the nearest size first."""
    mine = [one for one in discharges if one.cipher.startswith(family)]
    return sorted(
        mine, key=lambda one: (one.evidence != "measured", abs(math.log(one.payload_B / size_B)), one.battery)
    )


def _scaled(discharge: Discharge, calls: int, size_B: int) -> Ratio:
    """What so many calls leave, in proportion to the bytes; a battery can't hold less than nothing."""
    times = calls * size_B / (discharge.calls * discharge.payload_B)
    return Ratio(*(max(0.0, 100 - times * (100 - one)) for one in discharge.left_percent))


def _compared(discharge: Discharge, effect: Effect, band: Bounds) -> Compared:
    holds = inside(effect.low, effect.high, band)
    return Compared(f"battery {discharge.battery}, {discharge.evidence}", discharge.case, effect, holds, band)


def _judged(claim: Claim, evidence: Evidence, compared: list[Compared], control: str, also: str = "") -> Judgement:
    kinds = sorted({discharge.evidence for discharge in evidence.discharges})
    origin = (
        " and ".join(f"{'an' if kind == 'assumed' else 'a'} {kind} discharge of a battery" for kind in kinds)
        or "nothing"
    )
    if "measured" not in kinds and kinds:
        origin += ", where the paper discharged one"
    needs = "a battery to empty, measured or by its card"
    if not evidence.is_of(claim):
        found = of_another_machine(claim, evidence, compared[:1], control=control, basis="a battery")
        return replace(found, sentence=f"{found.sentence} {also}".strip())
    return judged(
        claim,
        origin,
        compared,
        control=control,
        needs=needs,
        command=COMMAND,
        also=also,
        ground=Ground("a battery", UNSURE, bool(compared) and not compared[0].implementation.endswith(", measured")),
    )


JUDGES: dict[str, Judge] = {"3des-battery": three_des, "blowfish-battery": blowfish}
