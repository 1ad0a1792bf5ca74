"""Made-up worlds for the judges: for each claim one where it holds, one where it doesn't, one where nobody can tell.

A world is the evidence that a judge would be given there. Costs are nanoseconds of a call, exact but for the half-width
that a case says it has.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from support.papers_evidence import (
    FAMILIES,
    FILE_B,
    GHZ,
    PAPERS,
    SURE,
    Kind,
    World,
    half_of,
    nothing,
    row,
    run_of,
    spread,
)
from support.papers_evidence_sending import as_claimed, by_column, captured, fragments, joules, overheads, sent, tables
from wattlock.analysis.effects import Ratio
from wattlock.papers.judge import DischargeCurve, Evidence, Security
from wattlock.papers.literature import Claim


def ranked(operation: str, data: str, order: Sequence[str] | None = None) -> World:
    def world(claim: Claim, kind: Kind) -> Evidence:
        names = list(order or claim.expect["order"])
        costs = [1e6 * (1.0 if kind == "unclear" else 1.3**place) for place in range(len(names))]
        if kind == "fails":
            names.reverse()
        factors = {"operation": operation, "data": data, "half_width_percent": half_of(kind)}
        return run_of([row(name, cost, **factors) for name, cost in zip(names, costs, strict=True)])

    return world


def images(claim: Claim, kind: Kind) -> Evidence:
    return ranked("encrypt", "image", ["des", "3des", "aes", "rc6", "blowfish", "rc2"])(claim, kind)


def sounds(claim: Claim, kind: Kind) -> Evidence:
    """The order, and AES's lead greater in a small file; where the claim fails that alone is the other way round."""
    names = list(claim.expect["order"])
    half = half_of(kind)
    times = {name: 1.0 if kind == "unclear" else 1.3**place for place, name in enumerate(names)}
    rows = [row(name, 1e6 * times[name], data="audio", half_width_percent=half) for name in names]
    quicker = {"holds": 0.8, "fails": 1.25, "unclear": 1.0}[kind]
    for size_B, of_aes in ((40_000, quicker), (400_000, 1.0)):
        rows += [
            row(
                name,
                10.0 * size_B * times[name] * (of_aes if name == "aes" else 1),
                payload_B=size_B,
                half_width_percent=half,
            )
            for name in ("aes", "des", "3des", "rc2")
        ]
    return run_of(rows)


def good(_: Claim, kind: Kind) -> Evidence:
    """AES before Blowfish, of which no source speaks."""
    return ranked("encrypt", "text", ["aes", "blowfish", "des", "3des"])(_, kind)


def first_of_all(claim: Claim, kind: Kind) -> Evidence:
    return ranked("encrypt", "text", ["aes", "blowfish", "rc6", "des", "3des", "rc2"])(claim, kind)


def kinds_of_data(_: Claim, kind: Kind) -> Evidence:
    off = {"holds": 1.0, "fails": 1.1, "unclear": 1.0}[kind]
    rows = [
        row(family, 1e6 * (off if data == "video" else 1), data=data, half_width_percent=half_of(kind))
        for family in FAMILIES
        for data in ("text", "audio", "image", "video")
    ]
    return run_of(rows)


def pair(operation: str, data: str) -> World:
    def world(claim: Claim, kind: Kind) -> Evidence:
        value = claim.expect["ratio"] * (3 if kind == "fails" else 1)
        factors = {"operation": operation, "data": data, "half_width_percent": half_of(kind)}
        return run_of(
            [
                row(claim.expect["numerator"], 1e6 * value, **factors),
                row(claim.expect["denominator"], 1e6, **factors),
            ]
        )

    return world


def throughput(claim: Claim, kind: Kind) -> Evidence:
    slower = 1 / (claim.expect["throughput_ratio"] * (2 if kind == "fails" else 1))
    factors = {"data": "text", "half_width_percent": half_of(kind)}
    return run_of([row("3des", 1e6 * slower, **factors), row("des", 1e6, **factors)])


def asymmetric(claim: Claim, kind: Kind) -> Evidence:
    times = claim.expect["ratio"] * (0.02 if kind == "fails" else 1)
    rsa = {"cipher": "rsa2048-oaep", "key_bits": 2048, "provider": "openssl", "payload_B": 0, "mode": "establish"}
    half = half_of(kind)
    return run_of(
        [
            made
            for operation, share in (("encrypt", 0.01), ("decrypt", 1.99))
            for made in (
                row("rsa", 500 * share * times, operation=operation, half_width_percent=half, **rsa),
                row("aes", 500, operation=operation, payload_B=190, half_width_percent=half),
            )
        ]
    )


def encodings(_: Claim, kind: Kind) -> Evidence:
    """Hexadecimal against base64; what both cost over raw output is far out of bounds and decides nothing."""
    off = {"holds": 1.01, "fails": 1.3, "unclear": 1.03}[kind]
    times = {"raw": 0.5, "base64": 1.0, "hex": off}
    rows = [
        row(family, 1e5 * times[code], encoding=code, half_width_percent=half_of(kind))
        for family in FAMILIES
        for code in ("raw", "base64", "hex")
    ]
    return run_of(rows)


def keys(family: str, lengths: Sequence[int], percents: dict[Kind, Sequence[float]]) -> World:
    def world(_: Claim, kind: Kind) -> Evidence:
        half = half_of(kind)
        rows = [
            row(family, 1e6 * (1 + percent / 100), key_bits=bits, half_width_percent=half)
            for bits, percent in zip(lengths, percents[kind], strict=True)
        ]
        return run_of(
            [*rows, *(row(family, 500, key_bits=bits, operation="key_setup", payload_B=0) for bits in lengths)]
        )

    return world


def rijndael(
    cost: Callable[[Kind, int, int], float], decrypt: Callable[[Kind, float], float] = lambda _, one: one
) -> World:
    def world(_: Claim, kind: Kind) -> Evidence:
        rows = []
        for block in (128, 192, 256):
            for bits in (128, 192, 256):
                encrypting = 1e6 * cost(kind, block, bits)
                for operation, time in (("encrypt", encrypting), ("decrypt", decrypt(kind, encrypting))):
                    factors = {"cipher": f"rijndael{block}-{bits}-cbc", "key_bits": bits, "block_bits": block}
                    half = half_of(kind)
                    rows.append(row(f"rijndael{block}", time, operation=operation, half_width_percent=half, **factors))
        return run_of(rows)

    return world


def equal_blocks(kind: Kind, block: int, bits: int) -> float:
    if kind == "unclear":
        return 1.0
    return 1 + bits / 640 + abs(block - (bits if kind == "holds" else 384 - bits)) / 500


def by_profile(kind: Kind, block: int, bits: int) -> float:
    medium, high = (1.6, 2.2) if kind == "fails" else (1.10, 1.10 * 1.085)
    return {128: 1.0, 192: medium, 256: high}[max(block, bits)]


def spread_out(_: Kind, block: int, bits: int) -> float:
    return 1 + bits / 256 + block / 4096


def of_decryption(kind: Kind, encrypting: float) -> float:
    return encrypting * (2.0 if kind == "fails" else 1.14)


SIZES = (14, 64, 100, 127, 192, 256, 1024, 1500, 16384)


def packets(rc4: Callable[[Kind, int], float], aes: Callable[[Kind, int], float], **more: Any) -> World:
    def world(_: Claim, kind: Kind) -> Evidence:
        half = half_of(kind)
        rows = [
            row(family, cost(kind, size), payload_B=size, keying=keying, half_width_percent=half)
            for family, cost in (("rc4", rc4), ("aes", aes))
            for keying in ("each", "ready")
            for size in SIZES
        ]
        return run_of(rows, **more)

    return world


def rc4_ns(kind: Kind, size: int) -> float:
    """RC4 is ahead from 100 B on; where the claim fails from 4000 B on; where nothing is clear it costs as AES does."""
    fixed = {"holds": 900.0, "fails": 36_000.0, "unclear": 900.0}[kind]
    return fixed + size if kind != "unclear" else aes_ns(kind, size)


def aes_ns(_: Kind, size: int) -> float:
    return 10.0 * size


def three_times(kind: Kind, size: int) -> float:
    return aes_ns(kind, size) * (1.2 if kind == "fails" else 3.0)


def slower_small(kind: Kind, size: int) -> float:
    return aes_ns(kind, size) * {"holds": 2.0, "fails": 0.5, "unclear": 1.0}[kind]


def faster_large(kind: Kind, size: int) -> float:
    return aes_ns(kind, size) * {"holds": 0.5, "fails": 2.0, "unclear": 1.0}[kind]


def policy_rc4(kind: Kind, size: int) -> float:
    return aes_ns(kind, size) * 0.5 if kind == "fails" else rc4_ns(kind, size)


def low_power(claim: Claim, kind: Kind) -> Evidence:
    return packets(slower_small, aes_ns, machine=("microcontroller",))(claim, kind)


def metered(_: Claim, kind: Kind) -> Evidence:
    if kind == "unclear":
        return nothing()
    rows = []
    for number, family in enumerate(FAMILIES):
        time = 1e5 * 2**number
        energy = time if kind == "holds" else 1e5 * 2 ** (number / 3)
        rows.append(row(family, time, energy_uJ=energy * 1e-3, energy_evidence="measured", energy_random_percent=SURE))
    return run_of(rows)


def sample(claim: Claim, kind: Kind) -> Evidence:
    """The claim's own numbers are the world."""
    expect = dict(claim.expect)
    if kind == "fails":
        expect["voltage_V"] = 3.3
    if kind == "unclear":
        del expect["voltage_V"]
    changed = claim.model_copy(update={"expect": expect})
    claims = [changed if one.id == claim.id else one for one in PAPERS.claims]
    return nothing(papers=PAPERS.model_copy(update={"claims": claims}))


def cycles(family: str) -> World:
    def world(claim: Claim, kind: Kind) -> Evidence:
        per_byte = claim.expect["cycles_per_byte"] * (2 if kind == "fails" else 1)
        rows = [row(family, per_byte * FILE_B / GHZ, half_width_percent=half_of(kind))]
        return run_of(rows, machine=("computer", *claim.machine))

    return world


def fall_of(cipher: str, size_B: int, drained: Callable[[Claim, Kind], tuple[int, float]]) -> World:
    def world(claim: Claim, kind: Kind) -> Evidence:
        calls, percent = drained(claim, kind)
        lost = spread(kind, percent)
        left = Ratio(100 - lost.value, 100 - lost.high, 100 - lost.low)
        return nothing(
            discharges=[DischargeCurve(cipher, size_B, calls, left, "handheld", "measured")], machine=("handheld",)
        )

    return world


def after_600(claim: Claim, kind: Kind) -> tuple[int, float]:
    return 600, 100 - claim.expect["left_percent"] if kind != "fails" else 5.0


def after_one(claim: Claim, kind: Kind) -> tuple[int, float]:
    return 1, claim.expect["drained_percent"] if kind != "fails" else 1e-6


def secured(_: Claim, kind: Kind) -> Evidence:
    if kind == "unclear":
        return nothing()
    bits = 60.0 if kind == "holds" else 128.0
    return nothing(security={"aes128-gcm": Security(bits, 128, "broken" if kind == "holds" else "approved", True)})


def advised(_: Claim, kind: Kind) -> Evidence:
    cost = {"holds": 0.3, "fails": 3.0, "unclear": 1.0}[kind]
    factors = {"data": "text", "half_width_percent": half_of(kind)}
    rows = [row(family, 1e6 * (1 if family == "aes" else cost), **factors) for family in ("aes", "blowfish", "rc6")]
    return run_of(rows)


def rc4_by_size(claim: Claim, kind: Kind) -> Evidence:
    """RC4 is the dearer one below 100 B and the cheaper one above; where the claim fails it is so nowhere."""
    costs: dict[Kind, Callable[[Kind, int], float]] = {
        "holds": lambda _, size: aes_ns("holds", size) * (2.0 if size < 100 else 0.5),
        "fails": lambda _, size: aes_ns("fails", size) * 2.0,
        "unclear": aes_ns,
    }
    sound = Security(256, 256, "acceptable", True)
    security = {"chacha20-poly1305": sound, "rc4-128": Security(30, 128, "broken", False)}
    return packets(costs[kind], aes_ns, security=security)(claim, kind)


def decrypted_often(_: Claim, kind: Kind) -> Evidence:
    decrypting = {"holds": 0.3, "fails": 3.0, "unclear": 1.0}[kind]
    rows = [
        row(family, 1e6 * times, operation=operation, data="text", half_width_percent=half_of(kind))
        for family in FAMILIES
        for operation, times in (("encrypt", 1.0), ("decrypt", decrypting if family == "aes" else 1.0))
    ]
    return run_of(rows)


AES_KEYS = (128, 192, 256)
RISING: dict[Kind, Sequence[float]] = {"holds": (0, 8, 16), "fails": (0, 60, 90), "unclear": (0, 8, 16)}
CLEAR: dict[Kind, Sequence[float]] = {"holds": (0, 20, 40), "fails": (0, 0, 0), "unclear": (0, 5, 10)}
ALIKE: dict[Kind, Sequence[float]] = {"holds": (0, 0, 0), "fails": (0, 10, 20), "unclear": (0, 0, 0)}
SMALL: dict[Kind, Sequence[float]] = {"holds": (0, 3, 6), "fails": (0, 20, 40), "unclear": (0, 3, 6)}
CHEAP: dict[Kind, Sequence[float]] = {"holds": (0, 2, 4), "fails": (0, 30, 60), "unclear": (0, 4, 9)}

WORLDS: dict[str, World] = {
    "energy-sample": sample,
    "throughput-energy": metered,
    "text-encrypt-ranking": ranked("encrypt", "text"),
    "text-decrypt-ranking": ranked("decrypt", "text"),
    "audio-ranking": sounds,
    "audio-decrypt-ranking": ranked("decrypt", "audio"),
    "video-ranking": ranked("encrypt", "video"),
    "video-decrypt-ranking": ranked("decrypt", "video"),
    "image-ranking": images,
    "aes-fastest-cited": first_of_all,
    "blowfish-good-cited": good,
    "video-stream-cited": ranked("encrypt", "video"),
    "data-type": kinds_of_data,
    "blowfish-vs-aes-text": pair("encrypt", "text"),
    "rc6-vs-aes-text": pair("encrypt", "text"),
    "blowfish-vs-aes-audio": pair("encrypt", "audio"),
    "rc6-vs-aes-audio": pair("encrypt", "audio"),
    "blowfish-vs-aes-video": pair("encrypt", "video"),
    "rc6-vs-aes-video-wlan": pair("encrypt", "video"),
    "rc6-vs-aes-video-singh": pair("encrypt", "video"),
    "blowfish-vs-aes-video-decrypt": pair("decrypt", "video"),
    "rc6-vs-aes-video-decrypt": pair("decrypt", "video"),
    "3des-vs-des": throughput,
    "asymmetric-vs-symmetric": asymmetric,
    "encoding": encodings,
    "aes-key-size": keys("aes", AES_KEYS, RISING),
    "aes-key-size-unnoticeable": keys("aes", AES_KEYS, RISING),
    "aes-key-size-clear": keys("aes", AES_KEYS, CLEAR),
    "aes-key-size-small": keys("aes", AES_KEYS, SMALL),
    "rc6-key-size": keys("rc6", AES_KEYS, CLEAR),
    "rc4-key-size": keys("rc4", (40, 128, 256), ALIKE),
    "long-key-advice": keys("aes", AES_KEYS, CHEAP),
    "blowfish-key-tradeoff": keys("blowfish", (32, 128, 448), CLEAR),
    "rijndael-pareto": rijndael(equal_blocks),
    "rijndael-profiles": rijndael(by_profile),
    "decrypt-vs-encrypt": rijndael(spread_out, of_decryption),
    "aes-128-crackable": secured,
    "rc4-aes-small": packets(three_times, aes_ns),
    "rc4-small-cpu": packets(slower_small, aes_ns),
    "rc4-aes-large": packets(faster_large, aes_ns),
    "rc4-aes-crossover": packets(rc4_ns, aes_ns),
    "hybrid-saves": packets(policy_rc4, aes_ns),
    "fragmentation": fragments,
    "packet-sizes": captured,
    "rc4-cycles": cycles("rc4"),
    "blowfish-cycles": cycles("blowfish"),
    "aes-low-power-devices": low_power,
    "3des-battery": fall_of("3des-cbc", 5_000_000, after_600),
    "blowfish-battery": fall_of("blowfish32-cbc", 13_926, after_one),
    "transmission-dominates": joules,
    "adhoc-blowfish-rc6-vs-aes": sent(as_claimed),
    "bss-blowfish-rc6-vs-aes": sent(as_claimed),
    "poor-signal": by_column("adhoc_poor", 2.0, 1.2),
    "open-vs-wep": by_column("adhoc_wep", 1.02, 1.3),
    "bss-vs-adhoc": by_column("bss_open", 1.52, 2.0),
    "tkip-vs-open": by_column("bss_tkip", 1.11, 1.5),
    "ciphertext-faster-than-plaintext": tables,
    "mac-overhead-cited": overheads,
    "advice-blowfish-rc6": advised,
    "advice-aes-decrypt-often": decrypted_often,
    "advice-rc4-100": rc4_by_size,
}


def world(claim: Claim, kind: Kind) -> Evidence:
    """The evidence of a claim's world."""
    return replace(WORLDS[claim.id](claim, kind), run="made-up")
