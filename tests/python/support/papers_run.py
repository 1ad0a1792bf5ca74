"""A made-up run of the papers' quick study, and what goes with it, without a probe: costs of about a core's size."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from wattlock.analysis.effects import Ratio
from wattlock.papers import literature
from wattlock.papers.exhibit import Material
from wattlock.papers.transfer_times import PLAIN, Sending

PAPERS = literature.load()
KINDS = ("text", "audio", "image", "video")
SIZES_B = (14, 64, 100, 127, 192, 256, 1024, 1500, 16384)
FILES_B = (28_000, 65_000, 1_000_000, 4_006_000, 5_073_000)
ENCODED_B = (33_000, 131_000, 321_000)
CYCLES_PER_B = {"aes": 10.0, "des": 39.0, "3des": 92.0, "rc2": 44.0, "blowfish": 23.0, "rc6": 12.0, "rc4": 7.0}
PLAIN_CASE = {"keying": "ready", "encoding": "raw", "placement": "hot", "pattern": "independent", "aad_B": 0}
PLAIN_CASE |= {"readiness": "steady"}
CATALOGUE = [
    {"id": "aes128-cbc", "family": "aes", "mode": "cbc", "block_bits": 128},
    {"id": "rc4-128", "family": "rc4", "mode": "stream", "block_bits": 8},
    {"id": "aes128-gcm", "family": "aes-gcm", "mode": "aead", "block_bits": 128},
]


def case(family: str, bits: int, payload_B: int, **factors: Any) -> dict[str, Any]:
    """A row of estimates; time by the family's cycles a byte at 3 GHz, 10 W."""
    speed = factors.pop("speed", 1.0)
    schedule_ns = 700.0 if factors.get("keying") == "each" and family == "rc4" else 0.0
    time_ns = 20.0 + schedule_ns + payload_B * CYCLES_PER_B[family] * speed / 3
    energy_uJ = time_ns * 1e-2
    mode = "stream" if family == "rc4" else "cbc"
    return {
        "cipher": f"{family}-{bits}" if family == "rc4" else f"{family}{bits}-cbc",
        "family": family,
        "provider": "libtomcrypt",
        "path": "tables",
        "of": None,
        "version": "1",
        "operation": "encrypt",
        **PLAIN_CASE,
        "mode": mode,
        "key_bits": bits,
        "block_bits": 128,
        "payload_B": payload_B,
        "data": "random",
        "processes": 5,
        "state": "resolved",
        "reason": None,
        "time_ns": time_ns,
        "time_low_ns": time_ns / 1.002,
        "time_high_ns": time_ns * 1.002,
        "cpu_ns": time_ns,
        "cycles": time_ns * 3,
        "cycles_per_byte": time_ns * 3 / payload_B,
        "cycles_per_byte_low": time_ns * 3 / payload_B / 1.002,
        "cycles_per_byte_high": time_ns * 3 / payload_B * 1.002,
        "half_width_percent": 0.2,
        "time_evidence": "measured",
        "energy_uJ": energy_uJ,
        "energy_low_uJ": energy_uJ / 2,
        "energy_high_uJ": energy_uJ * 2,
        "energy_uJ_per_byte": energy_uJ / payload_B,
        "energy_low_uJ_per_byte": energy_uJ / payload_B / 2,
        "energy_high_uJ_per_byte": energy_uJ / payload_B * 2,
        "energy_evidence": "assumed",
        **factors,
    }


def cases() -> Iterator[dict[str, Any]]:
    yield from of_files()
    yield from of_packets_and_keys()
    yield from of_rijndael()


def of_files() -> Iterator[dict[str, Any]]:
    keys = {"aes": 128, "des": 64, "3des": 192, "rc2": 64, "blowfish": 128, "rc6": 128}
    for family, bits in keys.items():
        for operation in ("encrypt", "decrypt"):
            for data in KINDS:
                yield case(family, bits, 100_000, operation=operation, data=data)
        for encoding, speed in (("raw", 1.0), ("base64", 1.1), ("hex", 1.2)):
            for size_B in ENCODED_B:
                yield case(family, bits, size_B, encoding=encoding, speed=speed)
        yield case(family, bits, 16384)
        for size_B in FILES_B:
            yield case(family, bits, size_B)
    for operation in ("encrypt", "decrypt"):
        for data in KINDS:
            yield case("aes", 128, 100_000, operation=operation, data=data, provider="rustcrypto", path="vaes512")
    for family in ("aes", "blowfish"):
        yield case(family, 128, 100_000, data="text", provider="openssl", path="hardware" if family == "aes" else None)


def of_packets_and_keys() -> Iterator[dict[str, Any]]:
    for keying in ("ready", "each"):
        for size in SIZES_B:
            yield case("aes", 128, size, keying=keying)
            yield case("rc4", 128, size, keying=keying, path=None)
            yield case("rc4", 256, size, keying=keying, path=None)
            for bits, speed in ((192, 1.2), (256, 1.4)):
                yield case("aes", bits, size, keying=keying, speed=speed)
    for bits in (192, 256):
        yield case("rc6", bits, 16384)


def of_rijndael() -> Iterator[dict[str, Any]]:
    for block in (128, 192, 256):
        for key in (128, 192, 256):
            for operation, more in (("encrypt", 1.0), ("decrypt", 1.1)):
                speed = more * (max(block, key) // 32 + 6) / 10
                row = case("aes", key, 16384, operation=operation, speed=speed, provider="libmcrypt")
                yield row | {"cipher": f"rijndael{block}-{key}-cbc", "family": "rijndael", "block_bits": block}


def estimates() -> pl.DataFrame:
    rows = [{"case": number, **row} for number, row in enumerate(cases())]
    return pl.DataFrame(rows, infer_schema_length=None)


def sent(*, radio: bool = True) -> list[Sending]:
    """Every cipher, condition and kind of data: a second a megabyte, and half as much again with a cipher."""
    found = []
    table = next(iter(PAPERS.sending.values()))
    for data in ("text", "audio", "video", "image"):
        for cipher in table.duration_s:
            for condition in table.columns:
                printed = PAPERS.sending[data].of(cipher, condition) if data in PAPERS.sending else None
                one = Ratio(10.0, 9.0, 11.0)
                host = None if cipher == PLAIN else Ratio(5.0, 5.0, 5.0)
                joules = one if radio else None
                found.append(Sending(data, cipher, condition, 1e7, one, host, joules, host, printed, "modelled"))
    return found


def curves() -> pl.DataFrame:
    rows = [
        {"task": task, "operations": done * share, "level_percent": 100 - done / 10, "battery": "handheld"}
        for task, share in (("3des-cbc", 1.0), ("cast128-cbc", 3.0), ("idea-cbc", 2.0))
        for done in range(0, 1001, 100)
    ]
    return pl.DataFrame(rows).with_columns(evidence=pl.lit("modelled"))


def material(**changes: Any) -> Material:
    given: dict[str, Any] = {
        "papers": PAPERS,
        "estimates": estimates(),
        "sent": sent(),
        "curves": curves(),
        "capture": {60: 10, 100: 500, 1024: 90},
        "catalogue": CATALOGUE,
        "radio": "intel-5300",
    }
    return Material(**(given | changes))
