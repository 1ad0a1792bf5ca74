"""The claim on the encoding of the ciphertext."""

from __future__ import annotations

from wattlock.analysis.effects import equivalence
from wattlock.papers.judges.compose import Judge, judged
from wattlock.papers.judges.evidence import AS_BUILT, FIXSLICED, HARDWARE, TABLES, Cell, Evidence, largest
from wattlock.papers.judges.verdict import Compared, Judgement, all_hold, percent_effect
from wattlock.papers.record import Claim

# RFC 4648: octets sent for each of the ciphertext.
EXPANSION = {"base64": 4 / 3, "hex": 2.0}


def encoding(claim: Claim, evidence: Evidence) -> Judgement:
    """What base64 and hexadecimal output cost over raw bytes: every cipher must be within the bounds.

    AES by its own instructions, which no paper had, and fixsliced is judged apart.
    """
    low, high = claim.expect["effect_percent"]
    raw = {_key(cell): cell for cell in evidence.cells(claim, operation="encrypt")}
    compared = []
    for name in EXPANSION:
        cells = largest(evidence.cells(claim, operation="encrypt", encoding=name))
        pairs = [(cell, cell.over(raw[_key(cell)])) for cell in cells if _key(cell) in raw]
        for group in (OF_THE_TIME, (FIXSLICED,), (HARDWARE,)):
            mine = [(cell, found) for cell, found in pairs if cell.implementation in group]
            if mine:
                says = [equivalence(found, low, high).says for _, found in mine]
                holds = all_hold({"equivalent": True, "different": False, "undecided": None}[one] for one in says)
                cell, worst = max(mine, key=lambda one: abs(one[1].log))
                alike = says.count("equivalent")
                effect = percent_effect(
                    f"what {name} costs over raw output with {cell.cipher}, the most of all,", worst
                )
                compared.append(Compared(group[0], f"{alike} of {len(mine)} ciphers within the bounds", effect, holds))
    order = [OF_THE_TIME[0], FIXSLICED, HARDWARE]
    compared.sort(key=lambda one: (order.index(one.implementation), (False, None, True).index(one.holds)))
    sent = ", ".join(f"{name} sends {times:.3g} times the bytes" for name, times in EXPANSION.items())
    return judged(
        claim,
        evidence.rests_on(claim),
        compared,
        control="the encoder's own time counted; two one-sided tests for each cipher; the expansion apart",
        needs="cells of a cipher with raw, base64 and hexadecimal output",
        also=f"On the air {sent}, whatever the time here.",
    )


OF_THE_TIME = (AS_BUILT, TABLES)


def _key(cell: Cell) -> tuple[str, str, str, int]:
    return cell.cipher, cell.provider, str(cell.row["data"]), cell.payload_B


JUDGES: dict[str, Judge] = {"encoding": encoding}
