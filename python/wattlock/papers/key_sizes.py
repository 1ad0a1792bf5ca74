"""Claims on the length of the key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from wattlock.analysis.effects import Ratio, ratio
from wattlock.papers.implementations import MODES, CaseCost, Kind, by_library
from wattlock.papers.judge import (
    Bounds,
    ClaimComparison,
    Evidence,
    Judge,
    Judgement,
    above,
    alike,
    all_hold,
    inside,
    judged_by_kind,
    percent_band,
    percent_effect,
)
from wattlock.papers.literature import Claim

NEGLIGIBLE_PERCENT = 1.0
"""An effect within so much is no cost: the smallest one worth claiming in the studies."""

EACH_CODE = "all keys of one code; each kind of AES by itself: tables, constant-time software, AES instructions"

Keys = dict[int, CaseCost]
Compare = Callable[[Keys], tuple[str, Ratio, bool | None, Bounds]]


def _keys(cases: Sequence[CaseCost], family: str) -> list[tuple[Kind, str, Keys]]:
    """Kind, library and cases by key length of a family, the papers' kind first.

    Of each library that payload counts which most keys have, the largest of these, and all keys are of one provider.
    """
    found = []
    mine = [case for case in cases if case.family == family and case.row["mode"] in MODES]
    for (kind, library), several in by_library(mine).items():
        sizes: dict[tuple[str, int], Keys] = {}
        for case in several:
            sizes.setdefault((case.provider, case.payload_B), {}).setdefault(case.key_bits, case)
        best = max(sizes.items(), key=lambda keyed: (len(keyed[1]), keyed[0][0] == several[0].provider, keyed[0][1]))[1]
        if len(best) > 1:
            found.append((kind, library, best))
    return found


def _judge(
    claim: Claim,
    evidence: Evidence,
    family: str,
    parts: Mapping[str, Compare],
    *,
    control: str,
    least_keys: int = 2,
    also: str = "",
) -> Judgement:
    """The judgement by findings, each with what compares the keys of one code for it."""
    compared = []
    for finding, compare in parts.items():
        for kind, library, keys in _keys(evidence.cases(claim, operation="encrypt", data="random"), family):
            if len(keys) >= least_keys:
                what, found, holds, bounds = compare(keys)
                provider = next(iter(keys.values())).provider
                effect = percent_effect(what, found)
                compared.append(ClaimComparison(kind, provider, effect, holds, bounds, library, finding))
    also = " ".join(comparison for comparison in (_setup(claim, evidence, family), also) if comparison)
    needs = f"cases of {family} with several keys"
    return judged_by_kind(
        claim, evidence.rests_on(claim), list(parts), compared, control=control, needs=needs, also=also
    )


def _setup(claim: Claim, evidence: Evidence, family: str) -> str:
    """The key schedule apart: what the longest key's set-up costs over the shortest's."""
    described = []
    for _, _, keys in _keys(evidence.cases(claim, operation="key_setup"), family):
        _, low, high = keys[max(keys)].over(keys[min(keys)]).percent
        described.append(f"{low:+.1f} to {high:+.1f} % with {keys[min(keys)].provider}")
    return f"The key schedule apart costs, longest over shortest key, {'; '.join(described)}." if described else ""


def _ends(keys: Keys) -> tuple[str, Ratio]:
    low, high = min(keys), max(keys)
    return f"what a key of {high} bits costs over one of {low}", keys[high].over(keys[low])


def _toldinas(evidence: Evidence) -> str:
    """What another of the papers has for the same: they contradict each other."""
    rows = {(row.block_bits, row.key_bits): row.encrypt_battery_percent for row in evidence.papers.toldinas.rijndael}
    steps = [100 * (rows[128, bits] / rows[128, 128] - 1) for bits in (192, 256)]
    return f"The papers disagree: toldinas' tables give {steps[0]:+.0f} and {steps[1]:+.0f} % for 192 and 256 bits."


def aes_percent(claim: Claim, evidence: Evidence) -> Judgement:
    """192 and 256 bits over 128, in percent."""

    def of(bits: int, key: str) -> Compare:
        def compare(keys: Keys) -> tuple[str, Ratio, bool | None, Bounds]:
            found, band = keys[bits].over(keys[128]), percent_band(claim.expect[key])
            return f"what a key of {bits} bits costs over one of 128", found, inside(*found.percent[1:], band), band

        return compare

    parts = {f"{bits} bits over 128": of(bits, key) for bits, key in ((192, "key192_percent"), (256, "key256_percent"))}
    control = f"{EACH_CODE}; by the rounds +20 and +40 % are to be expected; the key schedule apart"
    return _judge(claim, evidence, "aes", parts, control=control, least_keys=3, also=_toldinas(evidence))


def aes_step(claim: Claim, evidence: Evidence) -> Judgement:
    """What 64 more key bits cost."""

    def compare(keys: Keys) -> tuple[str, Ratio, bool | None, Bounds]:
        whole = keys[256].over(keys[128])
        step = ratio(whole.value**0.5, 1.0, whole.sigma / 2)
        _, low, high = step.percent
        band = percent_band(claim.expect["per_64_bits_percent"])
        return "what 64 more key bits cost", step, inside(low, high, band), band

    control = f"{EACH_CODE}; whether 8 % is noticeable is the reader's to say, whether it is there is measured"
    return _judge(claim, evidence, "aes", {claim.says: compare}, control=control, least_keys=3)


def is_clear(family: str) -> Judge:
    """A judge of whether a longer key costs more at all: more than what is worth claiming."""

    def judge(claim: Claim, evidence: Evidence) -> Judgement:
        def compare(keys: Keys) -> tuple[str, Ratio, bool | None, Bounds]:
            what, found = _ends(keys)
            _, low, high = found.percent
            return what, found, above(low, high, NEGLIGIBLE_PERCENT), Bounds(NEGLIGIBLE_PERCENT, None, "%")

        control = f"the key schedule apart from the encryption; an effect below {NEGLIGIBLE_PERCENT:g} % is none"
        return _judge(claim, evidence, family, {claim.says: compare}, control=control)

    return judge


def aes_small(claim: Claim, evidence: Evidence) -> Judgement:
    """A longer key costs more, and not more than so many percent."""

    def compare(keys: Keys) -> tuple[str, Ratio, bool | None, Bounds]:
        what, found = _ends(keys)
        _, low, high = found.percent
        bounds = Bounds(0.0, claim.expect["percent_at_most"], "%")
        return what, found, inside(low, high, bounds), bounds

    return _judge(claim, evidence, "aes", {claim.says: compare}, control=EACH_CODE)


def rc4_none(claim: Claim, evidence: Evidence) -> Judgement:
    """RC4's cost doesn't depend on its key: each length against the shortest, and all must be alike."""
    least, most = claim.expect["effect_percent"]

    def compare(keys: Keys) -> tuple[str, Ratio, bool | None, Bounds]:
        shortest = keys[min(keys)]
        ratios = {bits: case.over(shortest) for bits, case in keys.items() if case is not shortest}
        holds = {bits: alike(ratio, least, most, systematic=shortest.systematic) for bits, ratio in ratios.items()}
        whole = all_hold(holds.values())
        # The one that is told is the furthest of those that come to the verdict.
        bits = max((bits for bits in ratios if holds[bits] is whole), key=lambda bits: abs(ratios[bits].log))
        what = f"what a key of {bits} bits costs over one of {min(keys)}, the greatest effect of all,"
        return what, ratios[bits], whole, Bounds(least, most, "%")

    control = "the key schedule apart, which is where a key's length could enter; two one-sided tests"
    return _judge(claim, evidence, "rc4", {claim.says: compare}, control=control)


def long_key(claim: Claim, evidence: Evidence) -> Judgement:
    """What the throughput loses by the longest key."""
    most = claim.expect["throughput_cost_percent_at_most"]

    def compare(keys: Keys) -> tuple[str, Ratio, bool | None, Bounds]:
        _, found = _ends(keys)
        inverse = Ratio(1 / found.value, 1 / found.high, 1 / found.low)
        what = f"the change of throughput by a key of {max(keys)} bits in place of {min(keys)}"
        bounds = Bounds(-most, None, "%")
        return what, inverse, inside(*inverse.percent[1:], bounds), bounds

    return _judge(claim, evidence, "aes", {claim.says: compare}, control=EACH_CODE)


JUDGES: dict[str, Judge] = {
    "aes-key-size": aes_percent,
    "aes-key-size-unnoticeable": aes_step,
    "aes-key-size-clear": is_clear("aes"),
    "aes-key-size-small": aes_small,
    "rc6-key-size": is_clear("rc6"),
    "rc4-key-size": rc4_none,
    "long-key-advice": long_key,
    "blowfish-key-tradeoff": is_clear("blowfish"),
}
