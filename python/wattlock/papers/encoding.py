"""The claim on the encoding of the ciphertext."""

from __future__ import annotations

from wattlock.analysis.effects import Ratio
from wattlock.papers.implementations import CaseCost, by_library, largest
from wattlock.papers.judge import (
    Bounds,
    ClaimComparison,
    Evidence,
    Judge,
    Judgement,
    PairEffect,
    alike,
    judged_by_kind,
    percent_effect,
    together,
)
from wattlock.papers.literature import Claim

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


JUDGES: dict[str, Judge] = {"encoding": encoding}
