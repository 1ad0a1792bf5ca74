"""Claims on RC4 and AES by the size of the packet."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from wattlock.analysis.crossover import FEWEST_SIZES, Crossover, crossover
from wattlock.analysis.draws import Array
from wattlock.analysis.effects import ratio
from wattlock.analysis.policy import Costs, hybrid
from wattlock.papers.judges.compose import ONE_LIBRARY, Judge, judged_by_kind, of_another_machine, on
from wattlock.papers.judges.evidence import NAMES, Evidence
from wattlock.papers.judges.implementations import Case, Ground, grounds
from wattlock.papers.judges.verdict import (
    Bounds,
    Compared,
    Effect,
    Judgement,
    Part,
    above,
    amount_band,
    effect_band,
    inside,
    percent_effect,
    ratio_effect,
    together,
)
from wattlock.papers.record import Claim

DECIDING = "each"
KEYING = {DECIDING: "a key for each packet", "ready": "key ready"}
"""A key for each packet decides: WEP has it, and the claims need it. With the key ready the same stands beside."""
SMALL_B = 64
LARGE_B = 1024
CONTROL = f"the key ready and a key for each packet apart; {ONE_LIBRARY}"
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
    for keying in KEYING:
        for ground in _at(claim, evidence, keying, small=True):
            found = ground.cases["rc4"].over(ground.cases["aes"])
            effect = ratio_effect(f"RC4 over AES at {ground.cases['aes'].payload_B:,} B", found)
            compared.append(
                with_keying(ground, effect, claim.says, keying, holds=inside(found.low, found.high, band), bounds=band)
            )
    return _judge(claim, evidence, compared)


def _order(claim: Claim, evidence: Evidence, *, small: bool) -> list[Compared]:
    quick, slow = claim.expect["order"]
    compared = []
    for keying in KEYING:
        for ground in _at(claim, evidence, keying, small=small):
            found = ground.cases[slow].over(ground.cases[quick])
            effect = ratio_effect(f"{NAMES[slow]} over {NAMES[quick]} at {ground.cases['aes'].payload_B:,} B", found)
            holds = above(found.low, found.high, 1.0)
            compared.append(with_keying(ground, effect, claim.says, keying, holds=holds, bounds=Bounds(1, None)))
    return compared


def with_keying(
    ground: Ground,
    effect: Effect,
    finding: str,
    keying: str,
    *,
    holds: bool | None,
    bounds: Bounds,
    parts: Sequence[Part] = (),
) -> Compared:
    """What was found on a ground with this keying: where it is not the deciding one it stands beside."""
    if keying == DECIDING:
        return on(ground, effect, finding, holds=holds, bounds=bounds, where=KEYING[keying], parts=parts)
    return on(ground, effect, "", holds=None, bounds=None, where=KEYING[keying])


def _judge(claim: Claim, evidence: Evidence, compared: Sequence[Compared], also: str = "") -> Judgement:
    return judged_by_kind(
        claim, evidence.rests_on(claim), [claim.says], compared, control=CONTROL, needs=NEEDS, also=also
    )


def small_order(claim: Claim, evidence: Evidence) -> Judgement:
    """Who costs more on small packets."""
    return _judge(claim, evidence, _order(claim, evidence, small=True))


def large_order(claim: Claim, evidence: Evidence) -> Judgement:
    """Who costs more on large packets."""
    return _judge(claim, evidence, _order(claim, evidence, small=False))


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
            found = crossover(rc4.payload_B, (rc4.cost, rc4.sigma), (aes.cost, aes.sigma), systematic=rc4.systematic)
            effect = _from_size(found, rc4.payload_B)
            holds = inside(effect.low, effect.high, band)
            if found.payload_B is not None and found.cheaper_above == "b":
                effect = effect._replace(what="the size from which AES is cheaper")
                holds = False if math.isfinite(effect.high) else None
            if found.disagreement:
                described.append(f"{found.by_law_B:.0f} B with {ground.providers}, {words}")
            compared.append(with_keying(ground, effect, claim.says, keying, holds=holds, bounds=band))
    also = f"{BY_LAW} {'; '.join(described)}." if described else ""
    return _judge(claim, evidence, compared, also)


BY_LAW = (
    "These sizes lie between the two measured ones where the cheaper cipher changes. By another method, a straight "
    "line through all of a cipher's sizes, they cross elsewhere where the set-up of a key or a short packet costs more "
    "than its line says:"
)


def _from_size(found: Crossover, sizes_B: Array) -> Effect:
    """From which size on RC4 costs less; where it does at all sizes measured or at none the size lies beyond them.

    Whether they cross at all is for the draws to say: where these are not sure of it the interval is open.
    """
    what = "the size from which RC4 is cheaper"
    least_B, most_B = float(sizes_B[0]), float(sizes_B[-1])
    if found.payload_B is not None and found.low_B is not None and found.high_B is not None:
        is_sure = 1 - found.probability <= MOST_DOUBT
        ends = (found.low_B, found.high_B) if is_sure else (-math.inf, math.inf)
        return Effect(what, "B", found.payload_B, *ends)
    is_sure = found.probability <= MOST_DOUBT
    if found.crossings:  # they cross and cross again: there is no such size, or it is any
        return Effect(what, "B", least_B, least_B, most_B)
    if found.cheaper_above == "a":
        return Effect(what, "B", least_B, -math.inf, least_B if is_sure else most_B)
    return Effect(what, "B", most_B, most_B if is_sure else least_B, math.inf)


MOST_DOUBT = 0.05
"""The share of draws in which two costs may do otherwise than they do."""


def hybrid_policy(claim: Claim, evidence: Evidence) -> Judgement:
    """AES below 100 B and RC4 from there on, over sizes of packets, against the cheaper one alone."""
    from_B = evidence.papers.claim("rc4-aes-crossover").expect["bytes"]
    compared = []
    for keying in KEYING:
        for ground, rc4, aes in _curves(claim, evidence, keying):
            sizes = [float(size) for size in rc4.payload_B if size <= MTU_B]
            alike, costs = [1.0] * len(sizes), {"rc4": rc4, "aes": aes}
            found = hybrid(costs, small="aes", large="rc4", from_B=from_B, payload_B=sizes, weight=alike)
            against = found.against_best
            what = f"what the policy costs over {NAMES[found.best_alone]} alone, at sizes up to {MTU_B} B,"
            saves = above(1.0 - against.high, 1.0 - against.low, 0.0)
            parts = [Part(ALL, percent_effect(what, against), saves), *_at_each_size(rc4, aes, from_B)]
            # All sizes together are told, unless it is a size by itself that decides.
            holds, effect = together(parts, lambda part: math.inf if part.says == ALL else part.effect.value)
            bounds = Bounds(None, 0.0, "%")
            compared.append(with_keying(ground, effect, claim.says, keying, holds=holds, bounds=bounds, parts=parts))
    return judged_by_kind(
        claim,
        evidence.rests_on(claim),
        [claim.says],
        compared,
        control=f"the cheaper cipher alone at the same keying, over all sizes alike and at each by itself; {CONTROL}",
        needs=NEEDS,
        also="802.11 encrypts neither ACKs nor beacons, and two ciphers need separate keys.",
    )


def _at_each_size(rc4: Costs, aes: Costs, from_B: float) -> list[Part]:
    """Whether the policy's cipher is the cheaper one at each size: the claim is of any. About the line neither is."""
    found: list[Part] = []
    for size_B, rc4_cost, aes_cost, *sigmas in zip(
        rc4.payload_B, rc4.cost, aes.cost, rc4.sigma, aes.sigma, strict=True
    ):
        if size_B <= MTU_B and not inside(size_B, size_B, amount_band(from_B)):
            small = size_B < from_B
            quick, slow = ("AES", "RC4") if small else ("RC4", "AES")
            costs = (aes_cost, rc4_cost) if small else (rc4_cost, aes_cost)
            over = ratio(*costs, *sigmas, systematic=rc4.systematic)
            effect = percent_effect(f"what {quick} costs over {slow} at {size_B:,.0f} B", over)
            found.append(Part(f"{quick} at {size_B:,.0f} B", effect, above(1 - over.high, 1 - over.low, 0.0)))
    return found


MTU_B = 1500
ALL = "all sizes"


def _curves(claim: Claim, evidence: Evidence, keying: str) -> list[tuple[Ground, Costs, Costs]]:
    """Of each ground the costs of RC4 and AES by size, where there are enough sizes."""
    cases = evidence.cases(claim, operation="encrypt", data="random", keying=keying)
    by_size: dict[int, list[Case]] = {}
    for case in cases:
        by_size.setdefault(case.payload_B, []).append(case)
    at: dict[tuple[int, bool, str], list[Ground]] = {}
    for size in sorted(by_size):
        for ground in grounds(by_size[size], ["aes", "rc4"]):
            at.setdefault(ground.order, []).append(ground)
    found = []
    for several in at.values():
        if len(several) < FEWEST_SIZES:
            continue
        curves = []
        for family in ("rc4", "aes"):
            line = [ground.cases[family] for ground in several]
            size_B, cost, sigma = (
                np.array([float(getattr(case, name)) for case in line]) for name in ("payload_B", "cost", "sigma")
            )
            curves.append(Costs(size_B, cost, sigma, line[0].systematic))
        found.append((several[0], curves[0], curves[1]))
    return found


JUDGES: dict[str, Judge] = {
    "rc4-aes-small": small_ratio,
    "rc4-small-cpu": small_order,
    "rc4-aes-large": large_order,
    "rc4-aes-crossover": crossing,
    "hybrid-saves": hybrid_policy,
    "aes-low-power-devices": low_power,
}
