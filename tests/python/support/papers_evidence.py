"""What a made-up world of the papers' claims is made of: cases of a run, and evidence around them."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import polars as pl
import pytest

from wattlock.analysis.effects import Ratio
from wattlock.papers import literature
from wattlock.papers.judge import Evidence
from wattlock.papers.literature import Claim

Kind = Literal["holds", "fails", "unclear"]
KINDS: tuple[Kind, ...] = ("holds", "fails", "unclear")
World = Callable[[Claim, Kind], Evidence]

PAPERS = literature.load()
FAMILIES = ("blowfish", "rc6", "aes", "des", "3des", "rc2")
KEY_BITS = {"aes": 128, "des": 64, "3des": 192, "rc2": 64, "blowfish": 128, "rc6": 128, "rc4": 128, "xor": 128}
SURE, VAGUE = 0.2, 900.0
FILE_B = 100_000
GHZ = 3.0


def row(family: str, time_ns: float, **factors: Any) -> dict[str, Any]:
    """A case of libtomcrypt's kind, AES by tables."""
    payload_B = factors.get("payload_B", FILE_B)
    bits = factors.get("key_bits", KEY_BITS.get(family, 128))
    half = factors.pop("half_width_percent", SURE)
    factor = 1 + half / 100
    per_byte = time_ns * GHZ / max(1, payload_B)
    return {
        "cipher": f"{family}{bits}-cbc",
        "family": family,
        "provider": "libtomcrypt",
        "path": "tables",
        "of": None,
        "operation": "encrypt",
        "keying": "ready",
        "mode": "cbc",
        "key_bits": bits,
        "block_bits": 128,
        "payload_B": FILE_B,
        "encoding": "raw",
        "data": "random",
        "placement": "hot",
        "pattern": "independent",
        "readiness": "steady",
        "aad_B": 0,
        "processes": 5,
        "state": "resolved",
        "time_ns": time_ns,
        "cycles_per_byte": per_byte,
        "cycles_per_byte_low": per_byte / factor,
        "cycles_per_byte_high": per_byte * factor,
        "half_width_percent": half,
        **factors,
    }


def run_of(rows: Sequence[dict[str, Any]], **more: Any) -> Evidence:
    return Evidence(pl.DataFrame(list(rows), infer_schema_length=None), **more)


def nothing(**more: Any) -> Evidence:
    """A run of one case that no claim needs."""
    return run_of([row("null", 1.0, placement="L2")], **more)


def half_of(kind: Kind) -> float:
    return VAGUE if kind == "unclear" else SURE


def spread(kind: Kind, value: float, width: float = 0.001) -> Ratio:
    share = 0.9 if kind == "unclear" else width
    return Ratio(value, value * (1 - share), value * (1 + share))


def about(value: float) -> Any:
    """A figure as it comes out of floating point, to stand among others of any kind."""
    return pytest.approx(value)
