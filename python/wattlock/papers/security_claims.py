"""Claims on security, and the papers' advice: what following it would cost and save, and whether it may be followed."""

from __future__ import annotations

from collections.abc import Sequence

from wattlock.analysis.effects import Ratio, joined, mix, ratio
from wattlock.papers.implementations import KEY_BITS, CaseCost, grounds, largest
from wattlock.papers.implementations import ComparableCases as OneLibrary
from wattlock.papers.judge import (
    NAMES,
    ONE_LIBRARY,
    Bounds,
    ClaimComparison,
    Effect,
    Evidence,
    Ground,
    Judge,
    Judgement,
    PairEffect,
    above,
    amount_band,
    inside,
    judged,
    judged_by_kind,
    missing,
    on,
    percent_effect,
    ratio_effect,
    together,
)
from wattlock.papers.literature import Claim
from wattlock.papers.packet_sizes import KEYING, with_keying

FAMILIES = ("aes", "blowfish", "rc6", "des", "3des", "rc2")
DECRYPTIONS = 10
"""How often a stored message is decrypted for each encryption, where the paper says often: ours."""


HOST_ALONE = ", of the host alone: the air is the same for all"
LEAST_APPROVED_BITS = 112
"""NIST SP 800-57 Part 1 Rev. 5, table 4: what has less strength than this is not acceptable any more."""


def crackable(claim: Claim, evidence: Evidence) -> Judgement:
    """Whether the best attack on AES-128 takes less work than what is approved at all must withstand."""
    control = (
        "what is broken told from what is shortened: the cited attack has related keys and reduced rounds of AES-256"
    )
    found = next((security for name, security in sorted(evidence.security.items()) if name.startswith("aes128-")), None)
    if found is None:
        return missing(
            claim, "the security data of aes128", "wattlock ciphers --show aes128-gcm", control, "what is known"
        )
    bits = found.strength_bits if found.attack_bits is None else found.attack_bits
    effect = Effect("the work of the best attack on AES-128, of the whole key and all rounds,", "bit", bits, bits, bits)
    bounds = Bounds(0, LEAST_APPROVED_BITS, "bit")
    holds = inside(bits, bits, bounds)
    compared = [ClaimComparison("security data", f"status {found.status}", effect, holds, bounds)]
    ground = Ground("what is known")
    also = f"AES-128 is {found.attack}." if found.attack else ""
    return judged(claim, "the security data, no run", compared, control=control, needs="", also=also, ground=ground)


def blowfish_rc6(claim: Claim, evidence: Evidence) -> Judgement:
    """What Blowfish and RC6 save over AES, and over the best sound cipher."""
    cases = largest(evidence.cases(claim, operation="encrypt", data="text"))
    findings = {family: f"{NAMES[family]} saves over AES" for family in ("blowfish", "rc6")}
    compared = []
    for family, finding in findings.items():
        for ground in grounds(cases, ["aes", family]):
            found = ground.cases[family].over(ground.cases["aes"])
            holds = above(1 - found.high, 1 - found.low, 0.0)
            effect = percent_effect(f"what {NAMES[family]} costs over AES", found)
            compared.append(on(ground, effect, finding, holds=holds, bounds=Bounds(None, 0, "%")))
    return judged_by_kind(
        claim,
        evidence.rests_on(claim) + HOST_ALONE,
        list(findings.values()),
        compared,
        control=f"{ONE_LIBRARY}; ciphers that authenticate; what sending adds is the same for all",
        needs="cases of aes, blowfish and rc6 that encrypt text",
        also=_against_sound(claim, evidence, ("blowfish", "rc6")),
    )


def rc4_from_100(claim: Claim, evidence: Evidence) -> Judgement:
    """RC4 against AES from about 100 B on, and AES against RC4 below, as the paper advises; at 100 B itself neither."""
    about = amount_band(claim.expect["from_B"])
    findings = {"aes": f"AES below {claim.expect['from_B']} B", "rc4": f"RC4 from {claim.expect['from_B']} B on"}
    compared = []
    # WEP has a key for each packet, and the paper's claim needs it.
    for keying in KEYING:
        cases = evidence.cases(claim, operation="encrypt", data="random", keying=keying)
        sized = [case for case in cases if not inside(case.payload_B, case.payload_B, about)]
        below, above_B = (
            [case for case in sized if (case.payload_B < claim.expect["from_B"]) is small] for small in (True, False)
        )
        for quick, several in (("aes", below), ("rc4", above_B)):
            compared += _least_saved(quick, several, findings[quick], keying)
    status = evidence.security.get("rc4-128")
    described = [f"RC4 is {status.status}: it may not be used whatever it saves (RFC 7465)."] if status else []
    return judged_by_kind(
        claim,
        evidence.rests_on(claim),
        list(findings.values()),
        compared,
        control=f"the key ready and a key for each packet apart; {ONE_LIBRARY}; sizes of about "
        f"{claim.expect['from_B']} B count for neither; the best cipher that may be advised",
        needs="cases of rc4-128 and aes128-cbc by packet size, below 100 B and above",
        also=" ".join([*_rc4_against_sound(claim, evidence), *described]),
    )


def _least_saved(quick: str, cases: Sequence[CaseCost], finding: str, keying: str) -> list[ClaimComparison]:
    """On each ground the size at which the advised cipher saves least; the advice holds where it saves at all sizes."""
    slow = "rc4" if quick == "aes" else "aes"
    sizes: dict[tuple[int, bool, str], list[tuple[Ratio, OneLibrary]]] = {}
    for size_B in sorted({case.payload_B for case in cases}):
        for ground in grounds([case for case in cases if case.payload_B == size_B], ["aes", "rc4"]):
            found = ground.cases[quick].over(ground.cases[slow])
            sizes.setdefault(ground.order, []).append((found, ground))
    compared = []
    for several in sizes.values():
        parts = []
        for found, ground in several:
            size_B = ground.cases[quick].payload_B
            what = f"what {NAMES[quick]} costs over {NAMES[slow]} at {size_B:,} B, where it saves least,"
            saves = above(1 - found.high, 1 - found.low, 0.0)
            parts.append(PairEffect(f"{NAMES[quick]} at {size_B:,} B", percent_effect(what, found), saves))
        holds, effect = together(parts, lambda part: part.effect.value)
        first, bounds = several[0][1], Bounds(None, 0, "%")
        compared.append(with_keying(first, effect, finding, keying, holds=holds, bounds=bounds, parts=parts))
    return compared


def _rc4_against_sound(claim: Claim, evidence: Evidence) -> list[str]:
    """What RC4 costs over the best cipher that may be advised, at the largest packet that both have."""
    plain = evidence.cases(claim, operation="encrypt", data="random", keying="each")
    rc4 = {case.payload_B: case for case in reversed(plain) if (case.family, case.key_bits) == ("rc4", KEY_BITS["rc4"])}
    sealed = [case for case in _sound(claim, evidence) if case.payload_B in rc4]
    if not sealed:
        return []
    best = min(largest(sealed), key=lambda case: case.cost)
    _, low, high = rc4[best.payload_B].over(best).percent
    return [
        f"Today RC4 with a key for each packet costs {low:+.0f} to {high:+.0f} % over {best.cipher} at "
        f"{best.payload_B:,} B, which also authenticates."
    ]


def decrypt_often(claim: Claim, evidence: Evidence) -> Judgement:
    """AES against the others where a message is decrypted many times for each encryption."""
    share = 1 / (1 + DECRYPTIONS)
    there = [largest(evidence.cases(claim, operation=operation, data="text")) for operation in ("encrypt", "decrypt")]
    encrypting, decrypting = (
        {family_cases.order: family_cases for family_cases in grounds(cases, FAMILIES)} for cases in there
    )
    compared = []
    for name, ground in encrypting.items():
        if name not in decrypting:
            continue
        costs = {family: _mixed(ground.cases[family], decrypting[name].cases[family], share) for family in FAMILIES}
        other = min((family for family in FAMILIES if family != "aes"), key=lambda family: costs[family][0])
        sigmas = costs["aes"][1], costs[other][1]
        found = ratio(costs["aes"][0], costs[other][0], *sigmas, systematic=ground.cases["aes"].systematic)
        holds = above(1 - found.high, 1 - found.low, 0.0)
        effect = ratio_effect(f"AES over {NAMES[other]}, {DECRYPTIONS} decryptions for each encryption,", found)
        compared.append(on(ground, effect, claim.says, holds=holds, bounds=Bounds(None, 1)))
    return judged_by_kind(
        claim,
        evidence.rests_on(claim) + HOST_ALONE,
        [claim.says],
        compared,
        control=f"the usage as a factor; {ONE_LIBRARY}",
        needs="cases of all six ciphers that encrypt and decrypt text",
    )


def _mixed(encrypt: CaseCost, decrypt: CaseCost, share: float) -> tuple[float, float]:
    """The mean cost of an operation and the standard error of its logarithm."""
    cost = mix(encrypt.cost, decrypt.cost, share)
    parts = (share * encrypt.cost * encrypt.sigma, (1 - share) * decrypt.cost * decrypt.sigma)
    return cost, joined(parts, systematic=encrypt.systematic) / cost


def _sound(claim: Claim, evidence: Evidence) -> list[CaseCost]:
    """Cases that seal with a cipher which may be advised."""
    sealed = evidence.cases(claim, operation="seal", data="random")
    return [case for case in sealed if (known := evidence.security.get(case.cipher)) and known.sound]


def _against_sound(claim: Claim, evidence: Evidence, families: Sequence[str]) -> str:
    """What the cheapest sound cipher costs beside the advised ones, and how these stand."""
    described = []
    sealed = largest(_sound(claim, evidence))
    for family in families:
        plain = evidence.cases(claim, operation="encrypt", data="random")
        cases = [case for case in plain if case.family == family and case.key_bits == KEY_BITS[family]]
        mine = [case for case in cases if sealed and case.payload_B == sealed[0].payload_B]
        if mine and sealed:
            cheap, best = min(mine, key=lambda case: case.cost), min(sealed, key=lambda case: case.cost)
            _, low, high = Ratio(*cheap.over(best)).percent
            described.append(
                f"{cheap.cipher} costs {low:+.0f} to {high:+.0f} % over {best.cipher}, which also authenticates"
            )
        known = next((evidence.security[case.cipher] for case in cases if case.cipher in evidence.security), None)
        if known:
            described.append(f"{NAMES[family]} is {known.status} and authenticates nothing")
    return f"Today: {'; '.join(described)}." if described else ""


JUDGES: dict[str, Judge] = {
    "aes-128-crackable": crackable,
    "advice-blowfish-rc6": blowfish_rc6,
    "advice-rc4-100": rc4_from_100,
    "advice-aes-decrypt-often": decrypt_often,
}
