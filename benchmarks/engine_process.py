"""One process of the engine on cases of any providers: what the benchmarks of ciphers are made of."""

from __future__ import annotations

import json
import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from wattlock.run import process
from wattlock.store.record_schema import SCHEMA
from wattlock.targets import local

VISITS = 12


@dataclass(frozen=True)
class Timed:
    """What is timed: one operation of one provider's cipher on messages of this size, the key ready."""

    cipher: str
    provider: str
    operation: str
    payload_B: int


@dataclass
class Machine:
    """What the processes tell: the clock for other tools' seconds, the quiet level, the ways of the code, refusals."""

    hertz: float = math.nan
    quiet_ppm: int | None = None
    model: str = "unknown processor"
    paths: dict[tuple[str, str], str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)


def measure(cases: Sequence[Timed], machine: Machine) -> tuple[dict[str, Any], pl.DataFrame]:
    """The header and the batches of one process; what can't be measured is noted in `machine.refused`.

    Raises ProbeError where the probe dies, SystemExit where this processor's cycles can't be told.
    """
    plan: list[dict[str, Any]] = [
        {
            "kind": "plan",
            "schema": SCHEMA,
            "process": 0,
            "seed": random.getrandbits(63),
            "cpu": None,
            "rounds": VISITS,
            "batch_ns": process.BATCH_NS,
            "quiet_ppm": machine.quiet_ppm,
        }
    ]
    factors = {"keying": "ready", "encoding": "raw", "placement": "hot", "pattern": "independent", "data": "random"}
    for number, case in enumerate(cases):
        plan.append({"kind": "case", "case": number, "role": "study", **vars(case), **factors, "visits": VISITS})
    written: list[bytes] = []
    process.measure(local.find(), iter(plan), 0, written.append)
    records = [json.loads(line) for line in b"".join(written).splitlines()]
    header: dict[str, Any] = records[0]
    if header["canary_cycles"] is None:
        raise SystemExit("error: the multiplier's latency of this processor is not known, so there are no cycles")
    for record in records:
        if record["kind"] == "failure":
            case = cases[record["case"]]
            machine.refused[f"{case.cipher} {case.operation} of {case.provider}"] = record["error"]
    batches = [record for record in records if record["kind"] == "batch"]
    if batches:
        ticks = statistics.median(batch["canary_before_ticks"] for batch in batches)
        machine.hertz = header["canary_cycles"] / ticks * header["ticks_per_second"]
    machine.quiet_ppm = min((ppm for ppm in (machine.quiet_ppm, header["quiet_ppm"]) if ppm), default=None)
    machine.model = header["fingerprint"]["hardware"]["model_name"] or machine.model
    for described in header["cases"]:
        machine.paths[(described["cipher"], described["provider"])] = described["path"] or ""
    return header, pl.DataFrame(batches, infer_schema_length=None)
