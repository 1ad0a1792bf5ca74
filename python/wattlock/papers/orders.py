"""Claims that order ciphers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wattlock.analysis.effects import Ratio, mean, ratio
from wattlock.papers.implementations import CaseCost, by_library, grounds, largest
from wattlock.papers.judge import (
    NAMES,
    ONE_LIBRARY,
    Bounds,
    ClaimComparison,
    Evidence,
    Judge,
    Judgement,
    PairEffect,
    above,
    alike,
    judged_by_kind,
    on,
    percent_effect,
    ratio_effect,
    together,
)
from wattlock.papers.literature import Claim

KINDS_OF_DATA = ("text", "audio", "image", "video")
DEARER = Bounds(1, None)
Pairs = Sequence[tuple[str, str]]
"""Of each pair the first is the one that is to cost less."""


def before(quick: str, slow: Sequence[str]) -> str:
    """A finding in words: one cipher before others."""
    *most, last = (NAMES[family] for family in slow)
    return f"{NAMES[quick]} before {', '.join(most)}{' and ' if most else ''}{last}"


def _in_order(order: Sequence[str]) -> dict[str, Pairs]:
    """The findings of an order, the cheapest first: each cipher before all that come after it."""
    return {
        before(quick, order[place + 1 :]): [(quick, slow) for slow in order[place + 1 :]]
        for place, quick in enumerate(order[:-1])
    }


def _pairs(found: Mapping[str, Pairs], cases: Sequence[CaseCost]) -> list[ClaimComparison]:
    """Of each finding and each library that has its ciphers: whether of every pair the second costs more."""
    compared = []
    for finding, pairs in found.items():
        families = list(dict.fromkeys(family for pair in pairs for family in pair))
        for ground in grounds(cases, families):
            parts = [_pair(quick, slow, ground.cases[slow].over(ground.cases[quick])) for quick, slow in pairs]
            holds, effect = together(parts, cheapest)
            compared.append(on(ground, effect, finding, holds=holds, bounds=DEARER, parts=parts))
    return compared


def _pair(quick: str, slow: str, found: Ratio) -> PairEffect:
    """One cipher before another: whether the second costs more."""
    effect = ratio_effect(f"{NAMES[slow]} over {NAMES[quick]}", found)
    return PairEffect(before(quick, [slow]), effect, above(found.low, found.high, 1.0))


def cheapest(part: PairEffect) -> float:
    """How far off a part of an order is: the less its ratio."""
    return -part.effect.value


def in_order(operation: str, data: str) -> Judge:
    """A judge of an order of ciphers, the cheapest first, at files of a kind."""

    def judge(claim: Claim, evidence: Evidence) -> Judgement:
        order = claim.expect["order"]
        found = _in_order(order)
        compared = _pairs(found, largest(evidence.cases(claim, operation=operation, data=data)))
        findings = list(found)
        if "lead" in claim.expect:
            findings.append(LEAD)
            compared += _leads_of_small_files(claim, evidence)
        return judged_by_kind(
            claim,
            evidence.rests_on(claim),
            findings,
            compared,
            control=f"{ONE_LIBRARY}; sizes equal for all data types",
            needs=f"cases of {', '.join(order)} that {operation} {data}",
        )

    return judge


LEAD = "the lead is greater in small files"


def _leads_of_small_files(claim: Claim, evidence: Evidence) -> list[ClaimComparison]:
    """What one cipher's lead over others is at the smallest file over that at the largest; the paper has it greater."""
    first, others = claim.expect["lead"], claim.expect["over"]
    low_B, high_B = (1000 * evidence.papers.conditions["data"]["audio"][end] for end in ("from_KB", "to_KB"))
    by_size: dict[int, list[CaseCost]] = {}
    for case in evidence.cases(claim, operation="encrypt", data="random"):
        if low_B <= case.payload_B <= high_B:
            by_size.setdefault(case.payload_B, []).append(case)
    at = {size: {side.order: side for side in grounds(cases, [first, *others])} for size, cases in by_size.items()}
    found = []
    for name in sorted({name for several in at.values() for name in several}):
        sizes = sorted(size for size in at if name in at[size])
        if len(sizes) > 1:
            small, large = at[sizes[0]][name], at[sizes[-1]][name]
            parts = []
            for other in others:
                leads = [cases.cases[other].over(cases.cases[first]) for cases in (small, large)]
                over = _over_over(*leads)
                what = f"{NAMES[first]}'s lead over {NAMES[other]} at {sizes[0]:,} B over that at {sizes[-1]:,} B"
                holds = above(over.low, over.high, 1.0)
                parts.append(PairEffect(f"its lead over {NAMES[other]}", ratio_effect(what, over), holds))
            whole, effect = together(parts, cheapest)
            found.append(on(small, effect, LEAD, holds=whole, bounds=DEARER, parts=parts))
    return found


def _over_over(small: Ratio, large: Ratio) -> Ratio:
    return ratio(small.value, large.value, small.sigma, large.sigma)


def image(claim: Claim, evidence: Evidence) -> Judgement:
    """RC2, RC6 and Blowfish behind AES, DES and 3DES on images, and 3DES behind DES."""
    slower, faster = claim.expect["slower"], claim.expect["faster"]
    last, first = claim.expect["also_slower"]
    found: dict[str, Pairs] = {before(quick, slower): [(quick, slow) for slow in slower] for quick in faster}
    found[before(first, [last])] = [(first, last)]
    cases = largest(evidence.cases(claim, operation="encrypt", data="image"))
    return judged_by_kind(
        claim,
        evidence.rests_on(claim),
        list(found),
        _pairs(found, cases),
        control=f"the key schedule apart (key set-up is a case of its own); {ONE_LIBRARY}",
        needs=f"cases of {', '.join(sorted({*slower, *faster}))} that encrypt images",
        also=_start_up(claim, evidence, cases),
    )


def _start_up(claim: Claim, evidence: Evidence, cases: Sequence[CaseCost]) -> str:
    """The hypothesis that the key schedule explains it: its share of the smallest image's encryption, the greatest."""
    spoken_of = {*claim.expect["slower"], *claim.expect["faster"], *claim.expect["also_slower"]}
    smallest_B = 1000 * evidence.papers.conditions["data"]["image"]["from_KB"]
    files = {(case.cipher, case.provider): case.cost / case.payload_B * smallest_B for case in cases}
    setups = evidence.cases(claim, operation="key_setup")
    shares = [
        (100 * case.cost / (case.cost + files[case.cipher, case.provider]), NAMES[case.family])
        for case in setups
        if case.family in spoken_of and (case.cipher, case.provider) in files
    ]
    if not shares:
        return ""
    share, name = max(shares)
    return f"Key set-up is at most {share:.1f} % of an image of {smallest_B // 1000} KB ({name})."


def first_of_all(claim: Claim, evidence: Evidence) -> Judgement:
    """One cipher ahead of all others of the papers, each by itself."""
    first = claim.expect["first"]
    others = [family for family in ("blowfish", "rc6", "aes", "des", "3des", "rc2") if family != first]
    return _pair_by_pair(claim, evidence, [(first, other) for other in others], ONE_LIBRARY)


def streamed(claim: Claim, evidence: Evidence) -> Judgement:
    """The first of an order ahead of each of the others on video; of the others' order the claim says nothing."""
    first, *others = claim.expect["order"]
    return _pair_by_pair(claim, evidence, [(first, other) for other in others], ONE_LIBRARY, data="video")


def good(claim: Claim, evidence: Evidence) -> Judgement:
    """Pairs of which the first is the faster one, as several sources together have it; of the rest they say nothing."""
    pairs = [(quick, slow) for quick, slow in claim.expect["before"]]
    control = f"{ONE_LIBRARY}; Blowfish and AES are not compared with each other, as no source does"
    return _pair_by_pair(claim, evidence, pairs, control)


def _pair_by_pair(claim: Claim, evidence: Evidence, pairs: Pairs, control: str, *, data: str = "text") -> Judgement:
    found = {before(quick, [slow]): [(quick, slow)] for quick, slow in pairs}
    families = dict.fromkeys(family for pair in pairs for family in pair)
    return judged_by_kind(
        claim,
        evidence.rests_on(claim),
        list(found),
        _pairs(found, largest(evidence.cases(claim, operation="encrypt", data=data))),
        control=control,
        needs=f"cases of {', '.join(families)} that encrypt {data}",
    )


def data_type(claim: Claim, evidence: Evidence) -> Judgement:
    """Whether the kind of data has an effect at equal size: each cipher of a library against its own text.

    The mean over the ciphers decides, which is known better than any of them, unless one of them differs for sure.
    """
    low, high = claim.expect["effect_percent"]
    by_kind: dict[str, dict[tuple[str, str, int], CaseCost]] = {}
    for kind in KINDS_OF_DATA:
        cases = evidence.cases(claim, operation="encrypt", data=kind)
        by_kind[kind] = {(case.cipher, case.provider, case.payload_B): case for case in cases}
    compared = []
    findings = {kind: f"{kind} costs as text" for kind in KINDS_OF_DATA[1:]}
    for data, finding in findings.items():
        shared = [case for key, case in by_kind[data].items() if key in by_kind["text"]]
        for (kind, library), cases in by_library(shared).items():
            texts = [by_kind["text"][case.cipher, case.provider, case.payload_B] for case in cases]
            ratios = [(case.cipher, case.over(text)) for case, text in zip(cases, texts, strict=True)]
            parts = tuple(
                PairEffect(
                    cipher, percent_effect(f"what {data} costs over text with {cipher}", ratio), alike(ratio, low, high)
                )
                for cipher, ratio in ratios
            )
            whole = mean([ratio for _, ratio in ratios])
            holds, effect = alike(whole, low, high), percent_effect(f"what {data} costs over text", whole)
            where = f"{library}, the mean of {len(cases)} cipher{'s' if len(cases) > 1 else ''}"
            if apart := [part for part in parts if part.holds is False]:
                holds, effect = False, max(apart, key=lambda part: abs(part.effect.value)).effect
                where = f"{library}, {len(apart)} of {len(cases)} ciphers differ"
            compared.append(
                ClaimComparison(kind, where, effect, holds, Bounds(low, high, "%"), library, finding, parts)
            )
    return judged_by_kind(
        claim,
        evidence.rests_on(claim),
        list(findings.values()),
        compared,
        control="equal sizes for all data types; two one-sided tests of the mean over a library's ciphers, and of each",
        needs="cases of one cipher at one size for text and other data",
    )


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
    "video-stream-cited": streamed,
    "data-type": data_type,
}
