"""Numbers and names as a reader wants them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

FAMILY_NAMES = {
    "aes": "AES",
    "des": "DES",
    "3des": "3DES",
    "3des2": "3DES two-key",
    "rc2": "RC2",
    "rc4": "RC4",
    "rc5": "RC5",
    "rc6": "RC6",
    "blowfish": "Blowfish",
    "cast": "CAST",
    "idea": "IDEA",
    "camellia": "Camellia",
    "twofish": "Twofish",
    "serpent": "Serpent",
    "rijndael": "Rijndael",
    "sm4": "SM4",
    "speck": "Speck",
    "present": "PRESENT",
    "tea": "TEA",
    "xtea": "XTEA",
    "chacha20": "ChaCha20",
    "salsa20": "Salsa20",
    "chacha20-poly1305": "ChaCha20-Poly1305",
    "xchacha20-poly1305": "XChaCha20-Poly1305",
    "ascon-aead128": "Ascon-AEAD128",
    "xor": "XOR",
    "null": "Copy",
    "tally": "tally",
    "x25519": "X25519",
    "ed25519": "Ed25519",
    "ecdh-p256": "ECDH P-256",
    "ecdsa-p256": "ECDSA P-256",
    "ml-kem-768": "ML-KEM-768",
    "ml-dsa-65": "ML-DSA-65",
    "rsa2048-oaep": "RSA-2048-OAEP",
    "rsa3072-oaep": "RSA-3072-OAEP",
}
OPERATION_NAMES = {
    "encrypt": "encrypt",
    "decrypt": "decrypt",
    "key_setup": "key set-up",
    "seal": "seal",
    "open": "open",
    "open_forged": "refuse forged",
    "generate": "make key pairs",
    "agree": "agree on a key",
    "sign": "sign",
    "verify": "verify",
    "encapsulate": "encapsulate",
    "decapsulate": "decapsulate",
    "protect": "protect frames",
    "unprotect": "unprotect frames",
}
MISSING = "–"


def family_name(family: str) -> str:
    """`aes` as AES; an unknown family as it is written."""
    return FAMILY_NAMES.get(family, family)


def cipher_name(cipher: str, mode: str | None) -> str:
    """An id without its mode: `aes128-cbc` as AES-128, `rc5-32-12-128-ctr` as RC5-32-12-128."""
    bare = cipher.removesuffix(f"-{mode}")
    if bare in FAMILY_NAMES:
        return FAMILY_NAMES[bare]
    parts = re.fullmatch(r"([a-z]+)(\d.*)", bare)
    if parts and parts[1] in FAMILY_NAMES:
        # The mode of an AEAD is part of its name.
        return f"{FAMILY_NAMES[parts[1]]}-{parts[2].upper() if mode == 'aead' else parts[2]}"
    return bare.upper()


def cipher_in_mode(cipher: str, mode: str | None) -> str:
    """The same with its mode, where it has one: AES-128-CBC, RC4-128."""
    name = cipher_name(cipher, mode)
    return f"{name}-{mode.upper()}" if mode and mode not in {"stream", "aead", "frame", "link"} else name


CIPHER_ID = re.compile(
    r"(?<![\w-])(?:aes|blowfish|rc2|rc4|rc5|rc6|des|3des|cast|idea|rijndael|rsa|chacha20)-?\d[\w-]*(?![\w-])"
)
MINUS = re.compile(r"(?<![\w.\-–/])-(?=[\d.∞])")


def named(words: str) -> str:
    """A sentence with its ids of ciphers as they are written: `aes128-cbc` as AES-128-CBC."""
    return CIPHER_ID.sub(lambda found: cipher_name(found[0], "aead"), words)


def minus(words: str) -> str:
    """A text whose negative numbers begin with a minus sign, as everywhere on a page, and not with a hyphen."""
    return MINUS.sub("−", words)


def number(value: float | None, digits: int = 3) -> str:
    """A number to so many significant digits, without an exponent, thousands apart by commas."""
    if value is None or not math.isfinite(value):
        return MISSING
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{decimals}f}"


def digits_for(value: float, low: float | None, high: float | None) -> int:
    """Significant digits that an interval bears: three where it is within 5 % of the value, else two."""
    if low is None or high is None or not value:
        return 3
    return 3 if (high - low) / 2 <= 0.05 * abs(value) else 2


def estimate(value: float | None, low: float | None, high: float | None) -> str:
    """A value with the digits that its interval bears."""
    return MISSING if value is None else number(value, digits_for(value, low, high))


def interval(value: float | None, low: float | None, high: float | None) -> str:
    """The ends of an interval, with enough digits that they differ."""
    if value is None or low is None or high is None:
        return MISSING
    for digits in range(digits_for(value, low, high), 7):
        ends = number(low, digits), number(high, digits)
        if ends[0] != ends[1]:
            break
    return f"{ends[0]} to {ends[1]}"


def within(value: float | None, low: float, high: float) -> str:
    """A number to the decimals that an interval bears: two significant digits of its width."""
    if value is None:
        return MISSING
    width = high - low
    return f"{value:,.{max(0, 1 - math.floor(math.log10(width))) if width > 0 else 4}f}"


def time(value_ns: float | None) -> str:
    """A time in the unit that leaves one to three digits before the point."""
    if value_ns is None:
        return MISSING
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if value_ns >= size:
            return f"{number(value_ns / size)} {unit}"
    return f"{number(value_ns)} ns"


def size(octets: int) -> str:
    """A size in bytes: 16,384 B."""
    return f"{octets:,} B"


def duration(seconds: float) -> str:
    """A stretch of time for people: 1 min 11 s."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def day_and_time(iso: str) -> str:
    """An ISO 8601 time as 21 November 2026, 02:16 UTC; a text that is none as it stands."""
    try:
        moment = datetime.fromisoformat(iso)
    except ValueError:
        return iso
    return f"{moment.day} {moment:%B %Y, %H:%M} {moment.tzname() or ''}".rstrip()


def percent(fraction: float, digits: int = 3) -> str:
    """A fraction as a percentage."""
    return f"{number(100 * fraction, digits)} %"


def capital(words: str) -> str:
    """A sentence's first letter large."""
    return words[:1].upper() + words[1:]


def listing(words: list[str]) -> str:
    """`a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def does(row: Mapping[str, Any]) -> str:
    """The operation in words."""
    return OPERATION_NAMES.get(row["operation"], str(row["operation"]))
