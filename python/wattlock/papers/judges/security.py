"""Claims on security, and the papers' advice: what following it would cost and save, and whether it may be followed."""

from __future__ import annotations

from collections.abc import Sequence

from wattlock.analysis.effects import Ratio, ratio
from wattlock.analysis.policy import mix
from wattlock.papers.judges.compose import ON_EACH_AES, Judge, judged, missing
from wattlock.papers.judges.evidence import HARDWARE, IMPLEMENTATIONS, KEY_BITS, NAMES, Cell, Evidence, grounds, largest
from wattlock.papers.judges.verdict import Compared, Effect, Judgement, above, all_hold, percent_effect, ratio_effect
from wattlock.papers.record import Claim

FAMILIES = ("aes", "blowfish", "rc6", "des", "3des", "rc2")
DECRYPTIONS = 10
"""How often a stored message is decrypted for each encryption, where the paper says often: ours."""


def crackable(claim: Claim, evidence: Evidence) -> Judgement:
    """Whether the best attack on AES-128 takes less than its key's search."""
    control = (
        "what is broken told from what is shortened: the cited attack has related keys and reduced rounds of AES-256"
    )
    found = next((one for name, one in sorted(evidence.security.items()) if name.startswith("aes128-")), None)
    if found is None:
        return missing(
            claim, "the security data of aes128", "wattlock ciphers --show aes128-gcm", control, "what is known"
        )
    bits = found.strength_bits
    effect = Effect("the strength of AES-128 after the best attack", "bit", bits, bits, bits)
    compared = [Compared("security data", f"status {found.status}", effect, bits < found.key_bits)]
    return judged(claim, "the security data, no run", compared, control=control, needs="", basis="what is known")


def blowfish_rc6(claim: Claim, evidence: Evidence) -> Judgement:
    """What Blowfish and RC6 save over AES, and over the best sound cipher."""
    cells = largest(evidence.cells(claim, operation="encrypt", data="text"))
    compared = []
    for ground in grounds(cells, ["aes", "blowfish", "rc6"]):
        ratios = [ground.cells[family].over(ground.cells["aes"]) for family in ("blowfish", "rc6")]
        holds = all_hold(above(1 - one.high, 1 - one.low, 0.0) for one in ratios)
        dearer = max(ratios, key=lambda one: one.value)
        effect = percent_effect("what the dearer of Blowfish and RC6 costs over AES", dearer)
        compared.append(Compared(ground.implementation, ", ".join(ground.providers), effect, holds))
    return judged(
        claim,
        evidence.rests_on(claim),
        compared,
        control=f"{ON_EACH_AES}; ciphers that authenticate",
        needs="cells of aes, blowfish and rc6 that encrypt text",
        also=_against_sound(claim, evidence, ("blowfish", "rc6")),
    )


def rc4_from_100(claim: Claim, evidence: Evidence) -> Judgement:
    """What RC4 saves over the best sound cipher, from about 100 B on."""
    sealed, from_B = _sound(claim, evidence), claim.expect["from_B"]
    compared = []
    for keying, words in KEYING.items():
        plain = evidence.cells(claim, operation="encrypt", data="random", keying=keying)
        rc4 = {one.payload_B: one for one in reversed(plain) if one.cipher == "rc4-128" and one.payload_B >= from_B}
        for group in (IMPLEMENTATIONS[:-1], (HARDWARE,)):
            sound = [cell for cell in sealed if cell.implementation in group]
            for size_B in sorted(set(rc4) & {cell.payload_B for cell in sound}):
                best = min((cell for cell in sound if cell.payload_B == size_B), key=lambda one: one.cost)
                found = rc4[size_B].over(best)
                effect = percent_effect(f"what RC4 costs over {best.cipher} at {size_B} B", found)
                both = " and ".join(dict.fromkeys((rc4[size_B].provider, best.provider)))
                holds = above(1 - found.high, 1 - found.low, 0.0)
                compared.append(Compared(best.implementation, f"{both}, {words}", effect, holds))
    # The papers' devices had no AES instructions, and WEP has a key for each packet.
    compared.sort(
        key=lambda one: (
            not one.cells.endswith(KEYING["each"]),
            IMPLEMENTATIONS.index(one.implementation),
            (False, None, True).index(one.holds),
        )
    )
    standing = evidence.security.get("rc4-128")
    return judged(
        claim,
        evidence.rests_on(claim),
        compared,
        control=(
            "the best cipher that may be advised, in place of AES as the paper had it; its nonce changes with each "
            "packet, its key need not"
        ),
        needs="cells of rc4-128 and of a sound AEAD at the same sizes from 100 B on, and the security data",
        also=f"RC4 is {standing.status}: it may not be used whatever it saves (RFC 7465)." if standing else "",
    )


KEYING = {"each": "RC4 with a key for each packet", "ready": "RC4 with its key ready"}


def decrypt_often(claim: Claim, evidence: Evidence) -> Judgement:
    """AES against the others where a message is decrypted many times for each encryption."""
    share = 1 / (1 + DECRYPTIONS)
    there = [largest(evidence.cells(claim, operation=one, data="text")) for one in ("encrypt", "decrypt")]
    encrypting, decrypting = ({one.name: one for one in grounds(cells, FAMILIES)} for cells in there)
    compared = []
    for name, ground in encrypting.items():
        if name not in decrypting:
            continue
        costs = {family: _mixed(ground.cells[family], decrypting[name].cells[family], share) for family in FAMILIES}
        other = min((family for family in FAMILIES if family != "aes"), key=lambda family: costs[family][0])
        found = ratio(costs["aes"][0], costs[other][0], costs["aes"][1], costs[other][1])
        holds = above(1 - found.high, 1 - found.low, 0.0)
        effect = ratio_effect(f"AES over {NAMES[other]}, {DECRYPTIONS} decryptions for each encryption,", found)
        compared.append(Compared(ground.implementation, ", ".join(ground.providers), effect, holds))
    return judged(
        claim,
        evidence.rests_on(claim) + ", of the host alone: the air is the same for all",
        compared,
        control=f"the usage as a factor; {ON_EACH_AES}",
        needs="cells of all six ciphers that encrypt and decrypt text",
    )


def _mixed(encrypt: Cell, decrypt: Cell, share: float) -> tuple[float, float]:
    """The mean cost of an operation and the standard error of its logarithm, the two taken as independent."""
    cost = mix(encrypt.cost, decrypt.cost, share)
    parts = (share * encrypt.cost * encrypt.sigma, (1 - share) * decrypt.cost * decrypt.sigma)
    return cost, (parts[0] ** 2 + parts[1] ** 2) ** 0.5 / cost


def _sound(claim: Claim, evidence: Evidence) -> list[Cell]:
    """Cells that seal with a cipher which may be advised."""
    sealed = evidence.cells(claim, operation="seal", data="random")
    return [cell for cell in sealed if (known := evidence.security.get(cell.cipher)) and known.sound]


def _against_sound(claim: Claim, evidence: Evidence, families: Sequence[str]) -> str:
    """What the cheapest sound cipher costs beside the advised ones, and how these stand."""
    told = []
    sealed = largest(_sound(claim, evidence))
    for family in families:
        plain = evidence.cells(claim, operation="encrypt", data="random")
        cells = [cell for cell in plain if cell.family == family and cell.key_bits == KEY_BITS[family]]
        mine = [cell for cell in cells if sealed and cell.payload_B == sealed[0].payload_B]
        if mine and sealed:
            cheap, best = min(mine, key=lambda one: one.cost), min(sealed, key=lambda one: one.cost)
            _, low, high = Ratio(*cheap.over(best)).percent
            told.append(
                f"{cheap.cipher} costs {low:+.0f} to {high:+.0f} % over {best.cipher}, which also authenticates"
            )
        known = next((evidence.security[one.cipher] for one in cells if one.cipher in evidence.security), None)
        if known:
            told.append(f"{NAMES[family]} is {known.status} and authenticates nothing")
    return f"Today: {'; '.join(told)}." if told else ""


JUDGES: dict[str, Judge] = {
    "aes-128-crackable": crackable,
    "advice-blowfish-rc6": blowfish_rc6,
    "advice-rc4-100": rc4_from_100,
    "advice-aes-decrypt-often": decrypt_often,
}
