"""Claims that order ciphers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from wattlock.analysis.draws import drawn, interval
from wattlock.analysis.effects import Ratio, equivalence, mean, ratio
from wattlock.papers.judges.compose import ON_EACH_AES, Judge, judged
from wattlock.papers.judges.evidence import AS_BUILT, NAMES, Case, Evidence, Ground, grounds, largest
from wattlock.papers.judges.verdict import (
    Bounds,
    Compared,
    Effect,
    Judgement,
    above,
    all_hold,
    percent_effect,
    ratio_effect,
)
from wattlock.papers.record import Claim

KINDS = ("text", "audio", "image", "video")
IN_ORDER = Bounds(1, None, of="of each pair the slower over the faster:")
"""An order holds where of each pair the whole interval says so."""


def in_order(operation: str, data: str) -> Judge:
    """A judge of an order of ciphers, the cheapest first, at files of a kind."""

    def judge(claim: Claim, evidence: Evidence) -> Judgement:
        order = claim.expect["order"]
        cases = largest(evidence.cases(claim, operation=operation, data=data))
        compared = [_ordered(ground, list(combinations(order, 2))) for ground in grounds(cases, order)]
        also = ""
        if "lead" in claim.expect:
            leads = _leads_of_small_files(claim, evidence)
            also = "" if leads else SIZES_LACK
            compared = _with_part(compared, leads)
        return judged(
            claim,
            evidence.rests_on(claim),
            compared,
            control=f"{ON_EACH_AES}; all ciphers of one library; sizes equal for all data types",
            needs=f"cases of {', '.join(order)} that {operation} {data}",
            also=also,
        )

    return judge


SIZES_LACK = "Whether the lead is greater in small files is not tested: no library has these ciphers at two sizes."


def _leads_of_small_files(claim: Claim, evidence: Evidence) -> list[Compared]:
    """What one cipher's lead over others is at the smallest file over that at the largest; the paper has it greater."""
    first, others = claim.expect["lead"], claim.expect["over"]
    low_B, high_B = (1000 * evidence.papers.conditions["data"]["audio"][end] for end in ("from_KB", "to_KB"))
    by_size: dict[int, list[Case]] = {}
    for case in evidence.cases(claim, operation="encrypt", data="random"):
        if low_B <= case.payload_B <= high_B:
            by_size.setdefault(case.payload_B, []).append(case)
    at = {size: {one.name: one for one in grounds(cases, [first, *others])} for size, cases in by_size.items()}
    found = []
    for name in dict.fromkeys(name for size in sorted(at) for name in at[size]):
        sizes = sorted(size for size in at if name in at[size])
        if len(sizes) > 1:
            small, large = at[sizes[0]][name], at[sizes[-1]][name]
            parts = [
                _over_over(small.cases[other].over(small.cases[first]), large.cases[other].over(large.cases[first]))
                for other in others
            ]
            least = min(parts, key=lambda one: one.value)
            what = f"{NAMES[first]}'s least lead at {sizes[0]:,} B over that at {sizes[-1]:,} B"
            holds = all_hold(above(one.low, one.high, 1.0) for one in parts)
            where = ", ".join(small.providers)
            bounds = Bounds(1, None)
            found.append(Compared(small.implementation, where, ratio_effect(what, least), holds, bounds))
    return found


def _over_over(small: Ratio, large: Ratio) -> Ratio:
    return ratio(small.value, large.value, small.sigma, large.sigma)


def _with_part(compared: list[Compared], parts: list[Compared]) -> list[Compared]:
    """An order with a further part of its claim: where the order holds, the part decides."""
    own = [one for one in parts if compared and one.implementation == compared[0].implementation]
    if compared and compared[0].holds and own:
        return [*own, *compared, *(one for one in parts if one not in own)]
    return [*compared, *parts]


def image(claim: Claim, evidence: Evidence) -> Judgement:
    """RC2, RC6 and Blowfish behind AES, DES and 3DES on images, and 3DES behind DES."""
    slower, faster = claim.expect["slower"], claim.expect["faster"]
    last, first = claim.expect["also_slower"]
    pairs = [(quick, slow) for quick in faster for slow in slower] + [(first, last)]
    families = sorted({*slower, *faster})
    cases = largest(evidence.cases(claim, operation="encrypt", data="image"))
    compared = [_ordered(ground, pairs) for ground in grounds(cases, families)]
    return judged(
        claim,
        evidence.rests_on(claim),
        compared,
        control=f"the key schedule apart (key set-up is a case of its own); {ON_EACH_AES}",
        needs=f"cases of {', '.join(families)} that encrypt images",
        also=_start_up(claim, evidence, cases),
    )


def _start_up(claim: Claim, evidence: Evidence, cases: Sequence[Case]) -> str:
    """The hypothesis that the key schedule explains it: its share of the smallest image's encryption, the greatest."""
    smallest_B = 1000 * evidence.papers.conditions["data"]["image"]["from_KB"]
    files = {(case.cipher, case.provider): case.cost / case.payload_B * smallest_B for case in cases}
    setups = evidence.cases(claim, operation="key_setup")
    shares = [
        (100 * case.cost / (case.cost + files[case.cipher, case.provider]), NAMES[case.family])
        for case in setups
        if (case.cipher, case.provider) in files
    ]
    if not shares:
        return ""
    share, name = max(shares)
    return f"Key set-up is at most {share:.1f} % of an image of {smallest_B // 1000} KB ({name})."


def first_of_all(claim: Claim, evidence: Evidence) -> Judgement:
    """One cipher ahead of all others of the papers."""
    first = claim.expect["first"]
    others = [family for family in ("blowfish", "rc6", "aes", "des", "3des", "rc2") if family != first]
    cases = largest(evidence.cases(claim, operation="encrypt", data="text"))
    pairs = [(first, other) for other in others]
    compared = [_ordered(ground, pairs) for ground in grounds(cases, [first, *others])]
    return judged(
        claim,
        evidence.rests_on(claim),
        compared,
        control=ON_EACH_AES,
        needs="cases of all six ciphers that encrypt text",
    )


def good(claim: Claim, evidence: Evidence) -> Judgement:
    """Pairs of which the first is the faster one, as several sources together have it; of the rest they say nothing."""
    pairs = [(quick, slow) for quick, slow in claim.expect["before"]]
    families = list(dict.fromkeys(family for pair in pairs for family in pair))
    cases = largest(evidence.cases(claim, operation="encrypt", data="text"))
    return judged(
        claim,
        evidence.rests_on(claim),
        [_ordered(ground, pairs) for ground in grounds(cases, families)],
        control=f"{ON_EACH_AES}; Blowfish and AES are not compared with each other, as no source does",
        needs=f"cases of {', '.join(families)} that encrypt text",
    )


def data_type(claim: Claim, evidence: Evidence) -> Judgement:
    """Whether the kind of data has an effect at equal size: each cipher and provider against its own text."""
    low, high = claim.expect["effect_percent"]
    by_kind: dict[str, dict[tuple[str, str, int], Case]] = {}
    for kind in KINDS:
        cases = evidence.cases(claim, operation="encrypt", data=kind)
        by_kind[kind] = {(case.cipher, case.provider, case.payload_B): case for case in cases}
    compared = []
    for kind in KINDS[1:]:
        shared = [key for key in by_kind["text"] if key in by_kind[kind]]
        if shared:
            found = mean([by_kind[kind][key].over(by_kind["text"][key]) for key in shared])
            finding = equivalence(found, low, high).verdict
            holds = {"equivalent": True, "different": False, "undecided": None}[finding]
            effect = percent_effect(f"what {kind} costs over text", found)
            where = f"{kind} and text of {len(shared)} ciphers and libraries"
            compared.append(Compared(AS_BUILT, where, effect, holds, Bounds(low, high, "%")))
    if compared:
        # All kinds must be alike: the one that says no decides, then the one that can't tell.
        compared.sort(key=lambda one: ((False, None, True).index(one.holds), -abs(one.effect.value)))
    return judged(
        claim,
        evidence.rests_on(claim),
        compared,
        control="equal sizes for all data types, and two one-sided tests in place of a look at bars",
        needs="cases of one cipher at one size for text and other data",
    )


def _ordered(ground: Ground, pairs: Sequence[tuple[str, str]]) -> Compared:
    """Whether of each pair the second costs more; the effect is the share of pairs in order, by draws."""
    holds = all_hold(above(*ground.cases[slow].over(ground.cases[quick])[1:], 1.0) for quick, slow in pairs)
    families = sorted(ground.cases, key=lambda family: ground.cases[family].cost)
    cases = [ground.cases[family] for family in families]
    draws = drawn([case.cost for case in cases], [case.sigma for case in cases], draws=1000)
    at = {family: number for number, family in enumerate(families)}
    agree = np.mean([draws[:, at[quick]] < draws[:, at[slow]] for quick, slow in pairs], axis=0)
    value = float(np.mean([ground.cases[quick].cost < ground.cases[slow].cost for quick, slow in pairs]))
    what = f"the share of pairs in the claimed order (here {' < '.join(NAMES[one] for one in families)})"
    effect = Effect(what, "1", value, *interval(agree))
    return Compared(ground.implementation, ", ".join(ground.providers), effect, holds, IN_ORDER)


JUDGES: dict[str, Judge] = {
    "text-encrypt-ranking": in_order("encrypt", "text"),
    "text-decrypt-ranking": in_order("decrypt", "text"),
    "audio-ranking": in_order("encrypt", "audio"),
    "audio-decrypt-ranking": in_order("decrypt", "audio"),
    "video-ranking": in_order("encrypt", "video"),
    "video-decrypt-ranking": in_order("decrypt", "video"),
    "image-ranking": image,
    "aes-fastest-cited": first_of_all,
    "blowfish-good-cited": good,
    "video-stream-cited": in_order("encrypt", "video"),
    "data-type": data_type,
}
