"""Claims that one cipher takes so many times what another does."""

from __future__ import annotations

import math
from collections.abc import Sequence

from wattlock.analysis.distributions import line, t_quantile
from wattlock.analysis.effects import Ratio, ratio
from wattlock.analysis.estimate import LEVEL
from wattlock.papers.implementations import KEY_BITS, MODES, CaseCost, by_library, grounds, largest
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
    alike,
    all_hold,
    amount_band,
    effect_band,
    inside,
    judged,
    judged_by_kind,
    missing,
    of_another_machine,
    on,
    percent_effect,
    ratio_effect,
    together,
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


# RFC 4648: octets sent for each of the ciphertext.
EXPANSION = {"base64": 4 / 3, "hex": 2.0}


def encoding(claim: Claim, evidence: Evidence) -> Judgement:
    """What hexadecimal output costs over base64, as the paper compares: every cipher must be within the bounds.

    What either costs over raw output, which the paper does not show, stands beside it.
    """
    low, high = claim.expect["effect_percent"]
    by_code = {
        code: {_key(case): case for case in largest(evidence.cases(claim, operation="encrypt", encoding=code))}
        for code in EXPANSION
    }
    by_code["raw"] = {_key(case): case for case in evidence.cases(claim, operation="encrypt")}
    compared, comparisons = [], []
    for over, under in (("hex", "base64"), ("hex", "raw"), ("base64", "raw")):
        pairs = [(case, case.over(by_code[under][key])) for key, case in by_code[over].items() if key in by_code[under]]
        ratios = {case.name: found for case, found in pairs}
        for (kind, library), cases in by_library([case for case, _ in pairs]).items():
            several = f"{len(cases)} cipher{'s' if len(cases) > 1 else ''}"
            if under == "raw":
                case = max(cases, key=lambda case: abs(ratios[case.name].log))
                effect = percent_effect(_what(over, under, case), ratios[case.name])
                where = f"{library}, {several}; the paper shows no raw output"
                comparisons.append(ClaimComparison(kind, where, effect, None, library=library))
            else:
                parts = tuple(_of_cipher(over, under, case, ratios[case.name], (low, high)) for case in cases)
                holds, effect = together(parts, lambda part: abs(part.effect.value))
                where = f"{library}, {[part.holds for part in parts].count(True)} of {several} within the bounds"
                bounds = Bounds(low, high, "%")
                compared.append(ClaimComparison(kind, where, effect, holds, bounds, library, claim.says, parts))
    sent = ", ".join(f"{name} sends {times:.3g} times the bytes" for name, times in EXPANSION.items())
    return judged_by_kind(
        claim,
        evidence.rests_on(claim),
        [claim.says],
        [*compared, *comparisons] if compared else [],
        control="the encoder's own time counted; two one-sided tests for each cipher; raw output, the expansion apart",
        needs="cases of a cipher with base64 and hexadecimal output",
        also=f"On the air {sent}, whatever the time here.",
    )


def _what(over: str, under: str, case: CaseCost) -> str:
    return f"what {over} costs over {under} output with {case.cipher}, the most of all,"


def _of_cipher(over: str, under: str, case: CaseCost, found: Ratio, bounds: tuple[float, float]) -> PairEffect:
    return PairEffect(case.cipher, percent_effect(_what(over, under, case), found), alike(found, *bounds))


def _key(case: CaseCost) -> tuple[str, str, str, int]:
    return case.cipher, case.provider, str(case.row["data"]), case.payload_B


FEWEST_CIPHERS = 5
GIVEN = ("cycles", "clock_MHz", "current_mA", "voltage_V")


def sample(claim: Claim, evidence: Evidence) -> Judgement:
    """The paper's own example of E = Vcc * I * T, computed again."""
    del evidence
    control = "the sum done again, with its units"
    if not all(key in claim.expect for key in GIVEN):
        return missing(claim, f"the numbers {', '.join(GIVEN)}", "none", control, "what is known")
    cycles, clock_MHz, current_mA, voltage_V = (float(claim.expect[key]) for key in GIVEN)
    charge_mAs = cycles / (clock_MHz * 1e6) * current_mA
    energy_uJ = charge_mAs * 1e3 * voltage_V
    bands = {key: amount_band(claim.expect[key], claim.tolerance) for key in ("charge_mAs", "energy_uJ")}
    sums = {"charge_mAs": charge_mAs, "energy_uJ": energy_uJ}
    holds = all_hold(inside(found, found, bands[key]) for key, found in sums.items())
    effect = Effect("the energy of the example", "uJ", energy_uJ, energy_uJ, energy_uJ)
    band = bands["energy_uJ"]._replace(unit="uJ")
    compared = [ClaimComparison("a sum", f"{cycles:g} cycles", effect, holds, band)]
    return judged(
        claim,
        "a sum, no run",
        compared,
        control=control,
        needs="",
        ground=Ground("what is known"),
        also=f"The charge is {charge_mAs:.3g} mA*s.",
    )


def inverse(claim: Claim, evidence: Evidence) -> Judgement:
    """The slope of energy a byte over throughput, both as logarithms, where a meter measured them."""
    control = "a meter: where energy is modelled from time, the slope is -1 by construction"
    needs = f"the joules of {FEWEST_CIPHERS} ciphers by a meter; modelled ones can't test this"
    command = "wattlock run papers/quick --meter NAME"
    if not evidence.is_metered:
        return missing(claim, needs, command, control)
    cases = largest(evidence.cases(claim, operation="encrypt"))
    if len({case.cipher for case in cases}) < FEWEST_CIPHERS:
        return missing(claim, needs, command, control)
    speed = [math.log(case.payload_B / float(case.row["time_ns"])) for case in cases]
    energy = [math.log(case.cost / case.payload_B) for case in cases]
    fit = line(speed, energy)
    half = t_quantile(len(cases) - 2, 1 - LEVEL / 2) * fit.slope_error
    slope = float(fit.slope)
    band = amount_band(claim.expect["slope_log_log"], claim.tolerance)
    effect = Effect("the slope of log energy over log throughput", "1", slope, slope - half, slope + half)
    compared = [
        ClaimComparison("measured", f"{len(cases)} cases", effect, inside(slope - half, slope + half, band), band)
    ]
    return judged(claim, evidence.rests_on(claim), compared, control=control, needs=needs, command=command)


def cycles(family: str) -> Judge:
    """A judge of a cipher's cycles a byte on the core that the claim names; its state's bytes are by definition."""

    def judge(claim: Claim, evidence: Evidence) -> Judgement:
        band = amount_band(claim.expect["cycles_per_byte"], claim.tolerance, "cycles/B")
        found = []
        cases = evidence.cases(claim, operation="encrypt", data="random")
        mine = [case for case in cases if (case.family, case.key_bits) == (family, KEY_BITS[family])]
        for case in [case for name in dict.fromkeys(c.provider for c in mine) for case in _largest_of(mine, name)]:
            per_byte = case.row["cycles_per_byte"]
            if per_byte is not None:
                low, high = case.row["cycles_per_byte_low"], case.row["cycles_per_byte_high"]
                effect = Effect(f"what {NAMES[family]} takes here", "cycles/B", per_byte, low, high)
                found.append(ClaimComparison(case.kind, case.provider, effect, inside(low, high, band), band))
        # A cipher's cycles are those of its best code.
        found.sort(key=lambda comparison: comparison.effect.value)
        control = "the processor named: cycles of another core are others"
        if not evidence.is_of(claim):
            return of_another_machine(claim, evidence, found[:1], control=control)
        return judged(
            claim,
            evidence.rests_on(claim),
            found,
            control=control,
            needs=f"cycles of {family}; a core whose multiplier's latency is known",
            also=f"Its state has {_state_B(family)} bytes; claimed are {claim.expect['state_bytes']}.",
        )

    return judge


def _largest_of(cases: Sequence[CaseCost], provider: str) -> list[CaseCost]:
    return largest(cases, lambda case: case.provider == provider and case.row["mode"] in MODES)


def _state_B(family: str) -> int:
    """Bytes of a cipher's tables: RC4 has a permutation of 256; Blowfish 18 words and four boxes of 256 words."""
    return 256 if family == "rc4" else 4 * (18 + 4 * 256)


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
    "encoding": encoding,
    "energy-sample": sample,
    "throughput-energy": inverse,
    "rc4-cycles": cycles("rc4"),
    "blowfish-cycles": cycles("blowfish"),
}
