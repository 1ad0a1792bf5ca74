"""Claims on RC4 and AES by the size of the packet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wattlock.analysis.crossover import FEWEST_SIZES, crossover
from wattlock.analysis.policy import Costs, hybrid
from wattlock.papers.judges.compose import ON_EACH_AES, Judge, judged, of_another_machine
from wattlock.papers.judges.evidence import NAMES, Capture, Case, Evidence, Ground, grounds
from wattlock.papers.judges.verdict import (
    Bounds,
    Compared,
    Effect,
    Judgement,
    above,
    amount_band,
    effect_band,
    inside,
    percent_effect,
    ratio_effect,
)
from wattlock.papers.record import Claim

KEYING = {"each": "a key for each packet", "ready": "key ready"}
"""A key for each packet comes first: WEP has it, and the claims need it."""
SMALL_B = 64
LARGE_B = 1024
CONTROL = f"the key ready and a key for each packet apart; {ON_EACH_AES}"
NEEDS = "cases of rc4-128 and aes128-cbc by packet size, with the key ready and with a key for each packet"


def _at(claim: Claim, evidence: Evidence, keying: str, *, small: bool) -> list[Ground]:
    """The grounds at the smallest packet, or the largest."""
    cases = evidence.cases(claim, operation="encrypt", data="random", keying=keying)
    sizes = {case.payload_B for case in cases if case.family == "rc4"}
    sizes &= {case.payload_B for case in cases if case.family == "aes"}
    fit = [size for size in sizes if (size <= SMALL_B if small else size >= LARGE_B)]
    if not fit:
        return []
    size = min(fit) if small else max(fit)
    return grounds([case for case in cases if case.payload_B == size], ["aes", "rc4"])


def small_ratio(claim: Claim, evidence: Evidence) -> Judgement:
    """RC4 over AES at the smallest packet."""
    band = effect_band(claim.expect["ratio"])
    compared = []
    for keying, words in KEYING.items():
        for ground in _at(claim, evidence, keying, small=True):
            found = ground.cases["rc4"].over(ground.cases["aes"])
            what = f"RC4 over AES at {ground.cases['aes'].payload_B} B"
            effect, holds = ratio_effect(what, found), inside(found.low, found.high, band)
            compared.append(Compared(ground.implementation, _where(ground, words), effect, holds, band))
    return judged(claim, evidence.rests_on(claim), compared, control=CONTROL, needs=NEEDS)


def _order(claim: Claim, evidence: Evidence, *, small: bool) -> list[Compared]:
    quick, slow = claim.expect["order"]
    compared = []
    for keying, words in KEYING.items():
        for ground in _at(claim, evidence, keying, small=small):
            found = ground.cases[slow].over(ground.cases[quick])
            effect = ratio_effect(f"{NAMES[slow]} over {NAMES[quick]} at {ground.cases['aes'].payload_B} B", found)
            holds = above(found.low, found.high, 1.0)
            compared.append(Compared(ground.implementation, _where(ground, words), effect, holds, Bounds(1, None)))
    return compared


def small_order(claim: Claim, evidence: Evidence) -> Judgement:
    """Who costs more on small packets."""
    compared = _order(claim, evidence, small=True)
    return judged(claim, evidence.rests_on(claim), compared, control=CONTROL, needs=NEEDS)


def large_order(claim: Claim, evidence: Evidence) -> Judgement:
    """Who costs more on large packets."""
    compared = _order(claim, evidence, small=False)
    return judged(claim, evidence.rests_on(claim), compared, control=CONTROL, needs=NEEDS)


def low_power(claim: Claim, evidence: Evidence) -> Judgement:
    """The same order on a device of low power: a run of a computer says nothing of it."""
    if not evidence.is_of(claim):
        return of_another_machine(claim, evidence, [], control=CONTROL)
    return small_order(claim, evidence)


def crossing(claim: Claim, evidence: Evidence) -> Judgement:
    """From which size on RC4 costs less than AES."""
    band = amount_band(claim.expect["bytes"], claim.tolerance, "B")
    compared, described = [], []
    for keying, words in KEYING.items():
        for ground, rc4, aes in _curves(claim, evidence, keying):
            found = crossover(rc4.payload_B, (rc4.cost, rc4.sigma), (aes.cost, aes.sigma))
            where = _where(ground, words)
            if found.payload_B is None or found.low_B is None or found.high_B is None:
                cheaper = "RC4" if found.cheaper_below == "a" else "AES"
                what = f"the share of draws in which RC4 and AES cross, {cheaper} being the cheaper one all along,"
                effect = Effect(what, "1", found.probability, found.probability, found.probability)
                # That they might cross after all is for the draws to say.
                holds = None if found.probability > 0.05 else False
            else:
                effect = Effect("the size from which RC4 is cheaper", "B", found.payload_B, found.low_B, found.high_B)
                turned = found.cheaper_above == "b"
                holds = False if turned else inside(found.low_B, found.high_B, band)
                if turned:
                    effect = effect._replace(what="the size from which AES is cheaper")
                if found.disagreement:
                    described.append(f"by the two laws of cost {found.by_law_B:.0f} B with {where}")
            compared.append(Compared(ground.implementation, where, effect, holds, band))
    also = f"The other method: {'; '.join(described)}." if described else ""
    return judged(claim, evidence.rests_on(claim), compared, control=CONTROL, needs=NEEDS, also=also)


def hybrid_policy(claim: Claim, evidence: Evidence) -> Judgement:
    """AES below 100 B and RC4 from there on, over sizes of packets, against the cheaper one alone."""
    from_B = evidence.papers.claim("rc4-aes-crossover").expect["bytes"]
    compared = []
    for keying, words in KEYING.items():
        for ground, rc4, aes in _curves(claim, evidence, keying):
            sizes, weights, source = _sizes(evidence.capture, rc4)
            found = hybrid(
                {"rc4": rc4, "aes": aes}, small="aes", large="rc4", from_B=from_B, payload_B=sizes, weight=weights
            )
            against = found.against_best
            holds = above(1.0 - against.high, 1.0 - against.low, 0.0)
            what = f"what the policy costs over {NAMES[found.best_alone]} alone, {source},"
            effect, bounds = percent_effect(what, against), Bounds(None, 0.0, "%")
            compared.append(Compared(ground.implementation, _where(ground, words), effect, holds, bounds))
    return judged(
        claim,
        evidence.rests_on(claim),
        compared,
        control=f"the cheaper cipher alone at the same keying; {CONTROL}",
        needs=NEEDS,
        also="802.11 encrypts neither ACKs nor beacons, and two ciphers need separate keys.",
    )


def _sizes(capture: Capture | None, costs: Costs) -> tuple[Sequence[float], Sequence[float], str]:
    """Packet sizes with their weights: those of a capture within what is measured, or each measured one alike."""
    low, high = costs.payload_B[0], costs.payload_B[-1]
    counted = capture.sizes if capture else {}
    within_B = {size: count for size, count in sorted(counted.items()) if low <= size <= high}
    if within_B:
        return list(within_B), list(within_B.values()), "over the capture's sizes"
    sizes = [float(size) for size in costs.payload_B if size <= MTU_B]
    return sizes, [1.0] * len(sizes), f"over the measured sizes up to {MTU_B} B, each as often"


MTU_B = 1500


def _curves(claim: Claim, evidence: Evidence, keying: str) -> list[tuple[Ground, Costs, Costs]]:
    """Of each ground the costs of RC4 and AES by size, where there are enough sizes."""
    cases = evidence.cases(claim, operation="encrypt", data="random", keying=keying)
    by_size: dict[int, list[Case]] = {}
    for case in cases:
        by_size.setdefault(case.payload_B, []).append(case)
    at: dict[str, list[Ground]] = {}
    for size in sorted(by_size):
        for ground in grounds(by_size[size], ["aes", "rc4"]):
            at.setdefault(ground.name, []).append(ground)
    found = []
    for several in at.values():
        if len(several) < FEWEST_SIZES:
            continue
        curves = []
        for family in ("rc4", "aes"):
            line = [ground.cases[family] for ground in several]
            curves.append(
                Costs(*(np.array([float(getattr(c, k)) for c in line]) for k in ("payload_B", "cost", "sigma")))
            )
        found.append((several[0], curves[0], curves[1]))
    return found


def _where(ground: Ground, words: str) -> str:
    return f"{', '.join(ground.providers)}, {words}"


JUDGES: dict[str, Judge] = {
    "rc4-aes-small": small_ratio,
    "rc4-small-cpu": small_order,
    "rc4-aes-large": large_order,
    "rc4-aes-crossover": crossing,
    "hybrid-saves": hybrid_policy,
    "aes-low-power-devices": low_power,
}
