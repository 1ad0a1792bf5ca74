"""What the index knows of a run: computed from its batches, never taken from who sent it."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import polars as pl

from wattlock.energy.device_cards import valued
from wattlock.errors import StoreError
from wattlock.run import counts
from wattlock.run.counts import Counts
from wattlock.run.machine import machine
from wattlock.run.result import Result, read
from wattlock.store import RunFolder
from wattlock.store.run_folder import FILES, SUMS, sums_sha256

Reading = Result | Counts
"""A run read back: one that measured, or one that counted."""
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


def reading(folder: RunFolder) -> Reading:
    """The run read back. Errors are those of `run.result.read` and `run.counts.read`."""
    return counts.read(folder) if counts.is_counted(folder) else read(folder)


def cases_of(found: Reading) -> pl.DataFrame:
    """A row a case, valued by the run's own meter or card."""
    return found.estimates if isinstance(found, Counts) else valued(found, None, allow_assumed=False)


def entry_of(folder: RunFolder) -> Entry:
    """What the index knows of a sealed run.

    Raises StoreError where it is not sealed or damaged, and the errors of reading it.
    """
    hash_, found = sums_sha256(folder), reading(folder)
    cases, is_counted = cases_of(found), isinstance(found, Counts)
    evidence = found.evidence if isinstance(found, Counts) else found.time_evidence
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
        device=_device(found, evidence),
        device_name=_device_name(found),
        card=_text_or_null(plan, "device"),
        way=str(plan.get("way") or "local"),
        is_counted=is_counted,
        evidence=evidence,
        energy_evidence=next(iter(energies), None),
        libraries=tuple(sorted(set(cases["provider"].drop_nulls()))),
        reasons=() if isinstance(found, Counts) else tuple(found.explained),
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


def _device(found: Reading, evidence: str) -> str:
    """Runs of one device have one: hardware, instruction set, virtual machine, card and kind of evidence agree."""
    known = {
        **machine(found.header),
        "counted": found.counted._asdict() if isinstance(found, Counts) else None,
        "card": [found.plan["device"], found.plan.get("device_card")],
        "evidence": evidence,
    }
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:16]


def _device_name(found: Reading) -> str:
    if isinstance(found, Counts):
        return found.title
    name = found.header["fingerprint"]["hardware"]["model_name"]
    return " ".join(str(name or f"a processor without a name ({found.isa})").split())
