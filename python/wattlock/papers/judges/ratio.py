"""Claims that one cipher takes so many times what another does."""

from __future__ import annotations

from wattlock.papers.judges.compose import ON_EACH_AES, Judge, judged
from wattlock.papers.judges.evidence import NAMES, Cell, Evidence, grounds, largest
from wattlock.papers.judges.verdict import Compared, Judgement, ratio_band, ratio_effect, within
from wattlock.papers.record import Claim


def of_costs(operation: str, data: str) -> Judge:
    """A judge of the cost of one cipher over that of another, at files of a kind."""

    def judge(claim: Claim, evidence: Evidence) -> Judgement:
        over, under = claim.expect["numerator"], claim.expect["denominator"]
        cells = largest(evidence.cells(claim, operation=operation, data=data))
        band = ratio_band(claim.expect["ratio"], claim.tolerance)
        compared = []
        for ground in grounds(cells, [over, under]):
            found = ground.cells[over].over(ground.cells[under])
            effect = ratio_effect(f"{NAMES[over]} over {NAMES[under]}, to {operation} {data},", found)
            holds = within(found.low, found.high, *band)
            compared.append(Compared(ground.implementation, ", ".join(ground.providers), effect, holds))
        return judged(
            claim,
            evidence.rests_on(claim),
            compared,
            control=f"{ON_EACH_AES}, and both ciphers of one library",
            needs=f"cells of {over} and {under} that {operation} {data}",
            also=_explains(compared, claim.expect["ratio"]),
        )

    return judge


def throughput(claim: Claim, evidence: Evidence) -> Judgement:
    """3DES's throughput over that of DES."""
    over, under = claim.expect["numerator"], claim.expect["denominator"]
    cells = largest(evidence.cells(claim, operation="encrypt", data="text"))
    compared = []
    for ground in grounds(cells, [over, under]):
        # Bytes a second are the inverse of seconds a byte.
        found = ground.cells[under].over(ground.cells[over])
        holds = within(found.low, found.high, *ratio_band(claim.expect["throughput_ratio"], claim.tolerance))
        effect = ratio_effect(f"the throughput of {NAMES[over]} over that of {NAMES[under]}", found)
        compared.append(Compared(ground.implementation, ", ".join(ground.providers), effect, holds))
    return judged(
        claim,
        evidence.rests_on(claim),
        compared,
        control="both ciphers of one library, in several libraries",
        needs=f"cells of {over} and {under} that encrypt text",
    )


def asymmetric(claim: Claim, evidence: Evidence) -> Judgement:
    """RSA's encryption and decryption of a message over AES's of the same."""
    band = ratio_band(claim.expect["ratio"], claim.tolerance)
    compared = []
    for operation in ("encrypt", "decrypt"):
        cells = evidence.cells(claim, operation=operation)
        public = [cell for cell in cells if cell.cipher.startswith("rsa")]
        secret = [cell for cell in cells if cell.family == "aes" and cell.payload_B == RSA_MESSAGE_B]
        for mine in public:
            for theirs in _one_each(secret):
                found = mine._replace(payload_B=RSA_MESSAGE_B).over(theirs)
                effect = ratio_effect(f"{mine.cipher} over {theirs.cipher}, to {operation} {RSA_MESSAGE_B} B,", found)
                where = f"{mine.provider}, {theirs.provider}"
                compared.append(Compared(theirs.implementation, where, effect, within(found.low, found.high, *band)))
    compared.sort(key=lambda one: one.implementation != "table-based")
    return judged(
        claim,
        evidence.rests_on(claim),
        compared,
        control="both directions apart: RSA encrypts cheaply and decrypts dearly; one message, no hybrid of the two",
        needs="cells of rsa2048-oaep and of AES at 190 B",
        also="Nobody encrypts bulk data so: an asymmetric scheme carries a key, once a session.",
    )


# SP 800-56B, 7.2.2: 256 bytes less two digests of SHA-256 and 2.
RSA_MESSAGE_B = 190


def _one_each(cells: list[Cell]) -> list[Cell]:
    return list({cell.implementation: cell for cell in reversed(cells)}.values())


def _explains(compared: list[Compared], claimed: float) -> str:
    """How far the nearest and the furthest implementations are from the claim."""
    if not compared:
        return ""
    off = [(one.effect.value / claimed, one.implementation) for one in compared]
    nearest = min(off, key=lambda one: max(one[0], 1 / one[0]))
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
