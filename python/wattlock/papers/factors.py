"""Claims that one cipher takes so many times what another does."""

from __future__ import annotations

import math
from collections.abc import Sequence

from wattlock.analysis.effects import ratio
from wattlock.papers.implementations import KEY_BITS, MODES, CaseCost, by_library, grounds, largest
from wattlock.papers.judge import (
    NAMES,
    ONE_LIBRARY,
    ClaimComparison,
    Evidence,
    Judge,
    Judgement,
    effect_band,
    inside,
    judged_by_kind,
    on,
    ratio_effect,
)
from wattlock.papers.literature import Claim


def of_costs(operation: str, data: str) -> Judge:
    """A judge of the cost of one cipher over that of another, at files of a kind."""

    def judge(claim: Claim, evidence: Evidence) -> Judgement:
        over, under = claim.expect["numerator"], claim.expect["denominator"]
        cases = largest(evidence.cases(claim, operation=operation, data=data))
        band = effect_band(claim.expect["ratio"])
        compared = []
        for ground in grounds(cases, [over, under]):
            found = ground.cases[over].over(ground.cases[under])
            what = f"{NAMES[over]} over {NAMES[under]}, to {operation} {evidence.named(data)},"
            effect = ratio_effect(what, found)
            compared.append(on(ground, effect, claim.says, holds=inside(found.low, found.high, band), bounds=band))
        return judged_by_kind(
            claim,
            evidence.rests_on(claim),
            [claim.says],
            compared,
            control=ONE_LIBRARY,
            needs=f"cases of {over} and {under} that {operation} {data}",
            also=_explains(compared, claim.expect["ratio"]),
        )

    return judge


def throughput(claim: Claim, evidence: Evidence) -> Judgement:
    """3DES's throughput over that of DES."""
    over, under = claim.expect["numerator"], claim.expect["denominator"]
    cases = largest(evidence.cases(claim, operation="encrypt", data="text"))
    band = effect_band(claim.expect["throughput_ratio"])
    compared = []
    for ground in grounds(cases, [over, under]):
        # Bytes a second are the inverse of seconds a byte.
        found = ground.cases[under].over(ground.cases[over])
        effect = ratio_effect(f"the throughput of {NAMES[over]} over that of {NAMES[under]}", found)
        compared.append(on(ground, effect, claim.says, holds=inside(found.low, found.high, band), bounds=band))
    return judged_by_kind(
        claim,
        evidence.rests_on(claim),
        [claim.says],
        compared,
        control="both ciphers of one library, in several libraries",
        needs=f"cases of {over} and {under} that encrypt text",
    )


def asymmetric(claim: Claim, evidence: Evidence) -> Judgement:
    """RSA over AES, for a message that is encrypted and decrypted once: the claim names neither end alone."""
    band = effect_band(claim.expect["ratio"])
    ends = [evidence.cases(claim, operation=operation) for operation in ("encrypt", "decrypt")]
    public = [{case.name: case for case in cases if case.cipher.startswith("rsa")} for cases in ends]
    secret = [{case.name: case for case in _of_message(cases)} for cases in ends]
    compared, comparisons = [], []
    for rsa in (name for name in public[0] if name in public[1]):
        for aes in (name for name in secret[0] if name in secret[1]):
            (rsa_in, rsa_out), (aes_in, aes_out) = (
                [end[name] for end in keyed_cases] for name, keyed_cases in ((rsa, public), (aes, secret))
            )
            where = f"{rsa_in.provider}, {aes_in.provider}"
            kind, library = aes_in.kind, aes_in.library
            both = ratio(
                rsa_in.cost + rsa_out.cost, aes_in.cost + aes_out.cost, _joint(rsa_in, rsa_out), _joint(aes_in, aes_out)
            )
            what = f"{rsa_in.cipher} over {aes_in.cipher}, to encrypt and decrypt {RSA_MESSAGE_B} B once,"
            holds = inside(both.low, both.high, band)
            compared.append(ClaimComparison(kind, where, ratio_effect(what, both), holds, band, library, claim.says))
            for operation, mine, theirs in (("encrypt", rsa_in, aes_in), ("decrypt", rsa_out, aes_out)):
                found = ratio(mine.cost, theirs.cost, mine.sigma, theirs.sigma)
                effect = ratio_effect(f"{mine.cipher} over {theirs.cipher}, to {operation} alone,", found)
                comparisons.append(ClaimComparison(kind, where, effect, None))
    return judged_by_kind(
        claim,
        evidence.rests_on(claim),
        [claim.says],
        [*compared, *comparisons] if compared else [],
        control="encryption and decryption apart, as RSA's costs differ much; one message, no hybrid of the two",
        needs=f"cases of rsa2048-oaep and of AES at {RSA_MESSAGE_B} B that encrypt and decrypt: {INSTALL_RSA}",
        also="Nobody encrypts bulk data so: an asymmetric scheme carries a key, once a session.",
    )


def _of_message(cases: Sequence[CaseCost]) -> list[CaseCost]:
    """AES at the size of RSA's message: of each library and kind its first code."""
    aes = [case for case in cases if case.family == "aes" and case.payload_B == RSA_MESSAGE_B]
    own_cases = [case for case in aes if case.key_bits == KEY_BITS["aes"] and case.row["mode"] in MODES]
    return [several[0] for several in by_library(own_cases).values()]


def _joint(case: CaseCost, other: CaseCost) -> float:
    """The standard error of the logarithm of a sum of two costs, taken as independent."""
    return math.hypot(case.cost * case.sigma, other.cost * other.sigma) / (case.cost + other.cost)


INSTALL_RSA = "RSA is of OpenSSL, no code for it is built in; install libcrypto (libssl3 of Debian and Ubuntu)"
# SP 800-56B, 7.2.2: 256 bytes less two digests of SHA-256 and 2.
RSA_MESSAGE_B = 190


def _explains(compared: list[ClaimComparison], claimed: float) -> str:
    """How far the nearest and the furthest implementations are from the claim."""
    if not compared:
        return ""
    off = [
        (comparison.effect.value / claimed, f"{comparison.library} ({comparison.implementation})")
        for comparison in compared
    ]
    nearest = min(off, key=lambda distance: max(distance[0], 1 / distance[0]))
    return f"The nearest is {nearest[1]}, {nearest[0]:.3g} times the claimed ratio."


JUDGES: dict[str, Judge] = {
    "blowfish-vs-aes-text": of_costs("encrypt", "text"),
    "rc6-vs-aes-text": of_costs("encrypt", "text"),
    "blowfish-vs-aes-audio": of_costs("encrypt", "audio"),
    "rc6-vs-aes-audio": of_costs("encrypt", "audio"),
    "blowfish-vs-aes-video": of_costs("encrypt", "video"),
    "rc6-vs-aes-video-wlan": of_costs("encrypt", "video"),
    "rc6-vs-aes-video-singh": of_costs("encrypt", "video"),
    "blowfish-vs-aes-video-decrypt": of_costs("decrypt", "video"),
    "rc6-vs-aes-video-decrypt": of_costs("decrypt", "video"),
    "3des-vs-des": throughput,
    "asymmetric-vs-symmetric": asymmetric,
}
