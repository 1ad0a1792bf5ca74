"""The claim on the encoding of the ciphertext."""

from __future__ import annotations

from wattlock.analysis.effects import Ratio, equivalence
from wattlock.papers.judges.compose import Judge, judged
from wattlock.papers.judges.evidence import AS_BUILT, FIXSLICED, HARDWARE, TABLES, Case, Evidence, largest
from wattlock.papers.judges.verdict import Bounds, Compared, Judgement, all_hold, percent_effect
from wattlock.papers.record import Claim

# RFC 4648: octets sent for each of the ciphertext.
EXPANSION = {"base64": 4 / 3, "hex": 2.0}
OF_THE_TIME = (AS_BUILT, TABLES)
GROUPS = (OF_THE_TIME, (FIXSLICED,), (HARDWARE,))
"""AES by its own instructions, which no paper had, and fixsliced stand apart."""


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
    compared, beside = [], []
    for over, under in (("hex", "base64"), ("hex", "raw"), ("base64", "raw")):
        pairs = [(case, case.over(by_code[under][key])) for key, case in by_code[over].items() if key in by_code[under]]
        for group in GROUPS:
            mine = [(case, found) for case, found in pairs if case.implementation in group]
            if not mine:
                continue
            several = f"{len(mine)} cipher{'s' if len(mine) > 1 else ''}"
            case, worst = max(mine, key=lambda one: abs(one[1].log))
            effect = percent_effect(
                f"what {over} costs over {under} output with {case.cipher}, the most of all,", worst
            )
            if under == "raw":
                beside.append(Compared(group[0], f"{several}; the paper shows no raw output", effect, None))
            else:
                findings = [_alike(found, low, high) for _, found in mine]
                where = f"{findings.count(True)} of {several} within the bounds"
                compared.append(Compared(group[0], where, effect, all_hold(findings), Bounds(low, high, "%")))
    sent = ", ".join(f"{name} sends {times:.3g} times the bytes" for name, times in EXPANSION.items())
    return judged(
        claim,
        evidence.rests_on(claim),
        [*compared, *beside] if compared else [],
        control="the encoder's own time counted; two one-sided tests for each cipher; raw output, the expansion apart",
        needs="cases of a cipher with base64 and hexadecimal output",
        also=f"On the air {sent}, whatever the time here.",
    )


def _alike(found: Ratio, low: float, high: float) -> bool | None:
    return {"equivalent": True, "different": False, "undecided": None}[equivalence(found, low, high).verdict]


def _key(case: Case) -> tuple[str, str, str, int]:
    return case.cipher, case.provider, str(case.row["data"]), case.payload_B


JUDGES: dict[str, Judge] = {"encoding": encoding}
