"""A made-up first look: what the report is given, with costs near those of a real x86-64 core.

The costs (cycles a byte of CBC encryption, CBC decryption, CTR; fixed cycles a call; cycles of a key set-up) are of the
size that RustCrypto's generic builds show. The noise is seeded, so that every test sees the same numbers.
"""

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import polars as pl

from wattlock.analysis.comparison import GROUP
from wattlock.analysis.estimate import CanaryClock
from wattlock.analysis.self_checks import Verdict
from wattlock.energy.device_cards import Device
from wattlock.energy.device_cards import load as load_card
from wattlock.run.result import TIMED, Result

CLOCK_HZ = 3.9e9
CORE_W = 10.0
PAYLOADS_B = (14, 64, 1500, 16384)
FILE_B = 350_000
KINDS = ("text", "image", "audio", "video")


@dataclass(frozen=True)
class Cost:
    """What one family costs: cycles a byte in each use, cycles a call, cycles a key set-up."""

    family: str
    block_bits: int
    rounds: int | None
    encrypt: float
    decrypt: float
    counter: float
    fixed: float
    setup: float


AES = Cost("aes", 128, None, 2.37, 0.43, 0.47, 38, 104)
RC4 = Cost("rc4", 8, None, 9.1, 9.1, 9.1, 24, 1_930)
RC6 = Cost("rc6", 128, 20, 12.5, 11.8, 10.2, 31, 784)
BLOWFISH = Cost("blowfish", 64, None, 27.7, 18.4, 15.4, 42, 95_900)

CIPHERS: tuple[tuple[str, int, Cost], ...] = (
    ("aes128", 128, AES),
    ("aes192", 192, replace(AES, encrypt=2.74, decrypt=0.47, counter=0.50, setup=131)),
    ("aes256", 256, replace(AES, encrypt=3.11, decrypt=0.50, counter=0.53, setup=148)),
    ("des", 64, Cost("des", 64, None, 102, 97, 95, 66, 303)),
    ("3des", 192, Cost("3des", 64, None, 300, 296, 292, 120, 858)),
    ("rc2-64", 64, Cost("rc2", 64, None, 44.0, 29.0, 40.0, 35, 1_040)),
    *((f"rc4-{bits}", bits, RC4) for bits in (40, 64, 104, 128, 256)),
    ("rc5-32-12-128", 128, Cost("rc5", 64, 12, 11.3, 7.1, 6.5, 28, 449)),
    *((f"rc6-20-{bits}", bits, RC6) for bits in (128, 192, 256)),
    *((f"blowfish{bits}", bits, BLOWFISH) for bits in (32, 128, 448)),
)
ON_FILES = (
    "aes128",
    "aes192",
    "aes256",
    "des",
    "3des",
    "rc2-64",
    "rc4-128",
    "rc5-32-12-128",
    "rc6-20-128",
    "blowfish128",
)


def _keys(name: str, bits: int, cost: Cost) -> list[dict[str, object]]:
    """The factor columns that depend on the cipher alone, one dict a mode."""
    modes = ["stream"] if cost.family == "rc4" else ["cbc", "ctr"]
    return [
        {
            "cipher": name if mode == "stream" else f"{name}-{mode}",
            "family": cost.family,
            "mode": mode,
            "key_bits": bits,
            "block_bits": cost.block_bits,
            "rounds": cost.rounds,
            "path": "aesni" if cost.family == "aes" else "portable",
            "of": None,
        }
        for mode in modes
    ]


def _factors() -> list[tuple[dict[str, object], Cost]]:
    """Every case of the study as its factor columns and the cost behind it."""
    cases: list[tuple[dict[str, object], Cost]] = []
    for name, bits, cost in CIPHERS:
        keys = _keys(name, bits, cost)
        cases.append((keys[0] | {"operation": "key_setup", "payload_B": 0, "data": "none"}, cost))
        cases += [
            (key | {"operation": operation, "payload_B": payload, "data": "random"}, cost)
            for key in keys
            for operation in ("encrypt", "decrypt")
            for payload in PAYLOADS_B
        ]
        if name in ON_FILES:
            cases += [(keys[0] | {"operation": "encrypt", "payload_B": FILE_B, "data": kind}, cost) for kind in KINDS]
    return cases


def _true_cycles(factors: dict[str, object], cost: Cost) -> float:
    """Cycles of one call by the law fixed + per byte."""
    if factors["operation"] == "key_setup":
        return cost.setup
    rate = cost.counter if factors["mode"] == "ctr" else getattr(cost, str(factors["operation"]))
    return float(cost.fixed + rate * float(str(factors["payload_B"])))


def estimates() -> pl.DataFrame:
    """The estimates of about 300 cases, valued by an assumed card: four unresolved, two failed, one invalid."""
    chance = random.Random(2)
    rows = []
    for case, (factors, cost) in enumerate(_factors()):
        cycles = _true_cycles(factors, cost) * math.exp(chance.gauss(0, 0.002))
        half = abs(chance.gauss(0.4, 0.15)) + 0.05
        state, reason = "resolved", None
        if case in (40, 97, 170, 288):
            state, half, reason = "unresolved", 2.6, "half-width 2.6 % after 30 processes, asked for 1 %"
        if case in (120, 121):
            state, reason = "failed", "the output of process 2 differs from the checked one"
        if case == 150:
            state, reason = "invalid", "T(2n)/T(n) = 2.031, more than 0.5 % from 2"
        known = {"case": case, **factors, "state": state, "reason": reason}
        rows.append(known | _results(float(str(factors["payload_B"])), cycles, half, state))
    return pl.DataFrame(rows, infer_schema_length=None)


def _results(payload: float, cycles: float, half: float, state: str) -> dict[str, object]:
    """The results of one case: time, cycles and joules of one call with 95 % intervals; null where it failed."""
    time_ns = cycles / CLOCK_HZ * 1e9
    energy_uJ = time_ns * 1e-9 * CORE_W * 1e6
    low, high = math.exp(-half / 100), math.exp(half / 100)
    numbers: dict[str, float | None] = {
        "time_ns": time_ns,
        "time_low_ns": time_ns * low,
        "time_high_ns": time_ns * high,
        "cpu_ns": time_ns * 1.004,
        "cycles": cycles,
        "cycles_low": cycles * low,
        "cycles_high": cycles * high,
        "cycles_per_byte": cycles / payload if payload else None,
        "throughput_MB_s": payload / time_ns * 1e3 if payload else None,
        "half_width_percent": half,
        "energy_uJ": energy_uJ,
        "energy_low_uJ": energy_uJ / 2,
        "energy_high_uJ": energy_uJ * 2,
        "energy_uJ_per_byte": energy_uJ / payload if payload else None,
        "energy_low_uJ_per_byte": energy_uJ / payload / 2 if payload else None,
        "energy_high_uJ_per_byte": energy_uJ / payload * 2 if payload else None,
    }
    if state == "failed":
        numbers = dict.fromkeys(numbers)
    return {
        "provider": "rustcrypto",
        "version": "0.9.4",
        "keying": "ready",
        "tag_bits": None,
        "aad_B": 0,
        "core_class": None,
        "encoding": "raw",
        "placement": "hot",
        "pattern": "independent",
        "readiness": "steady",
        "processes": 30 if state == "unresolved" else 8,
        "clean_share": 0.93,
        **numbers,
        "time_evidence": "measured",
        "energy_evidence": None if state == "failed" else "assumed",
    }


def ranking(frame: pl.DataFrame) -> pl.DataFrame:
    """Ranks within the groups of a real ranking; neighbours closer than 1 % share a tie group."""
    rows: list[dict[str, object]] = []
    ranked = frame.filter(pl.col("state") == "resolved", pl.col("cycles_per_byte").is_not_null())
    for _, members in ranked.sort("cycles_per_byte").group_by(GROUP, maintain_order=True):
        best = members["cycles_per_byte"][0]
        tie, before = 1, best
        for row in members.iter_rows(named=True):
            value, payload = row["cycles_per_byte"], row["payload_B"]
            tie += value / before > 1.01
            before = value
            rows.append(
                {name: row[name] for name in (*GROUP, "case", "cipher", "provider", "cycles_per_byte", "time_ns")}
                | {
                    "cycles_per_byte_low": row["cycles_low"] / payload,
                    "cycles_per_byte_high": row["cycles_high"] / payload,
                    "tie_group": tie,
                    "ratio_to_best": value / best,
                    "ratio_low": value / best * 0.994,
                    "ratio_high": value / best * 1.006,
                }
            )
    return pl.DataFrame(rows)


@dataclass(frozen=True)
class MadeUp(Result):
    """A run of made-up frames; `ranks`: its ranking, and `told`: its warnings, in place of those of batches."""

    ranks: pl.DataFrame = field(default_factory=pl.DataFrame)
    told: tuple[str, ...] = ()

    @cached_property
    def ranking(self) -> pl.DataFrame:
        return self.ranks.clear() if self.reasons else self.ranks

    @cached_property
    def warnings(self) -> list[str]:
        return list(self.told)

    @cached_property
    def after_pause(self) -> pl.DataFrame:
        return pl.DataFrame(schema={"ratio": pl.Float64})

    @cached_property
    def crossings(self) -> list[str]:
        return []


PASSED = Verdict("A/A test", 1.0002, 0.9991, 1.0013, 1.0, "passed", 8)
SLOWDOWN = Verdict("injected slowdown", 1.0169, 1.0158, 1.0181, 61 / 60, "passed", 8)
FAILED = replace(PASSED, measured=1.031, low=1.029, high=1.033, state="failed")
BATCHES = 61_884


def card() -> Device:
    """The card by which the frame is valued."""
    return load_card("x86-server-assumed")


def header(**hardware: Any) -> dict[str, Any]:
    """The header of its first process."""
    build: dict[str, Any] = {"rustc": "rustc 1.89.0", "opt_level": "3", "lto": "fat", "flags": None, "isa": "x86_64"}
    build |= {"commit": "3b1f9c0d", "dirty": False, "lock_sha256": "b" * 64}
    fingerprint = {
        "hardware": {"model_name": "Intel Xeon Platinum 8481C, 2 of 2 cores seen"} | hardware,
        "kernel": {"os": "Linux", "release": "6.1.0-28-cloud-amd64", "clock_source": "tsc"},
        "virtualisation": {"hypervisor": True, "product": "KVM", "emulator": None},
        "power": {"governor": None},
        "build": build,
    }
    return {"fingerprint": fingerprint}


def discharged(run: MadeUp) -> MadeUp:
    """The same run with a battery that its first case emptied by ten percent in an hour."""
    battery = {"name": "a gauge", "gain_relative_uncertainty": 0.01, "quantum_nJ": 3.6e10, "update_period_ns": 1e9}
    line = {"case": 0, "process": 1, "error": None, "charge_uAh": None, "voltage_uV": None}
    levels = [
        line
        | {"unix_ns": hour * 3_600 * 10**9, "repeats_done": 9 * hour, "level_percent": 90 - 10 * hour}
        | {"energy_nJ": (90 - 10 * hour) * 10**12}
        for hour in (0, 1)
    ]
    case = {"case": 0, "cipher": "aes128-cbc", "provider": "rustcrypto", "operation": "encrypt", "payload_B": 64}
    return replace(run, battery=battery, levels=levels, cases=[case | {"data": "random"}])


def result(frame: pl.DataFrame, ranks: pl.DataFrame | None = None, **study: Any) -> MadeUp:
    """A valid run of this frame."""
    plan: Mapping[str, Any] = {
        "id": "first-look-20261121-0216-3f9a",
        "created": "2026-11-21T02:16:08Z",
        "probe_sha256": "3b1f9c0d6ae27f41d4c2b8e95a6cdd0173f2a1e89c7b5f60142d8e3a9b7c6d5e",
        "wattlock": "0.1.0",
        "seed": 7,
        "way": "local",
        "device": None,
        "study": {
            "id": "first-look",
            "title": "The papers' ciphers on this machine",
            "question": "What does each of the papers' ciphers cost on this machine, in time, cycles and joules?",
            "looks": [5, 8],
            "smallest_effect_percent": 1.0,
        }
        | study,
    }
    return MadeUp(
        plan=plan,
        header=header(),
        estimates=frame,
        processes=30,
        wall_s=71.4,
        is_sealed=True,
        quantities=TIMED,
        inputs=[{"data": kind, "size_B": FILE_B, "sha256": f"{index:x}" * 64} for index, kind in enumerate(KINDS, 10)],
        verdicts=[PASSED, SLOWDOWN],
        clocks={None: CanaryClock(256.3, 1000, 3.641, 3.902, 4.087)},
        batches=BATCHES,
        causes={"switch": round(0.069 * BATCHES)},
        ranks=ranking(frame) if ranks is None else ranks,
        told=("The core clock wandered by 12 % (canary p95/p5 = 1.12): times are less sure than cycles.",),
    )
