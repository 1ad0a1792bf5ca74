"""What the index knows of a run: computed from its batches, never taken from who sent it."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import polars as pl

from wattlock.energy.valuing import valued
from wattlock.errors import StoreError
from wattlock.report.described import processor
from wattlock.run.result import Result, machine, read
from wattlock.store import RunFolder
from wattlock.store.run_folder import FILES, SUMS, sums_sha256

WITH_NUMBER = ("resolved", "unresolved", "counted")


@dataclass(frozen=True)
class Entry:
    """A run in the index.

    * `hash`: SHA-256 of its SHA256SUMS, which names it. `arrived`: when its files were written here.
    * `device`: what it ran on, a hash of the fingerprint, the card and the kind of evidence; `device_name`: in words.
    * `evidence`: of its times, or of its cycles where it counted; `energy_evidence`: of its joules, null without any.
    * `libraries`: the providers of its cases. `reasons`: why it is invalid. `estimates`: a row a case, as Parquet.
    """

    hash: str
    id: str
    study: str
    title: str
    created: str
    arrived: str
    device: str
    device_name: str
    card: str | None
    way: str
    is_counted: bool
    evidence: str
    energy_evidence: str | None
    libraries: tuple[str, ...]
    reasons: tuple[str, ...]
    cases: int
    with_number: int
    processes: int
    probe_sha256: str
    wattlock: str | None
    size_B: int
    estimates: bytes


def entry_of(folder: RunFolder) -> Entry:
    """What the index knows of a sealed run.

    Raises StoreError where it is not sealed or damaged, and the errors of reading it.
    """
    hash_, found = sums_sha256(folder), read(folder)
    cases = valued(found, None, allow_assumed=False)
    energies = cases["energy_evidence"].drop_nulls() if "energy_evidence" in cases.columns else pl.Series([])
    plan = found.plan
    arrived = datetime.fromtimestamp((folder.path / SUMS).stat().st_mtime, UTC)
    return Entry(
        hash=hash_,
        id=str(plan["id"]),
        study=str(plan["study"]["id"]),
        title=str(plan["study"]["title"]),
        created=str(plan["created"]),
        arrived=arrived.isoformat(timespec="seconds"),
        device=_device(found),
        device_name=" ".join(processor(found).split()),
        card=_text_or_null(plan, "device"),
        way=str(plan.get("way") or "local"),
        is_counted="time" not in found.quantities,
        evidence=found.evidence,
        energy_evidence=next(iter(energies), None),
        libraries=tuple(sorted(set(cases["provider"].drop_nulls()))),
        reasons=tuple(found.explained),
        cases=cases.height,
        with_number=cases.filter(pl.col("state").is_in(WITH_NUMBER)).height,
        processes=found.processes,
        probe_sha256=str(plan["probe_sha256"]),
        wattlock=_text_or_null(plan, "wattlock"),
        size_B=sum((folder.path / name).stat().st_size for name in FILES),
        estimates=to_parquet(cases),
    )


def _text_or_null(plan: Mapping[str, object], name: str) -> str | None:
    value = plan[name]
    if value is None or isinstance(value, str):
        return value
    hint = "the plan was changed; take the run from a copy"
    raise StoreError(f"run {plan['id']}: {name} of its plan is {str(value)[:40]!r}, no text", hint=hint)


def to_parquet(frame: pl.DataFrame) -> bytes:
    """A frame as bytes."""
    written = io.BytesIO()
    frame.write_parquet(written)
    return written.getvalue()


def _device(found: Result) -> str:
    """Runs of one device have one: hardware, instruction set, virtual machine, card and kind of evidence agree."""
    known = {
        **machine(found.header),
        "counted": None if "time" in found.quantities else found.core.counted._asdict(),
        "card": [found.plan["device"], found.plan.get("device_card")],
        "evidence": found.evidence,
    }
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:16]
