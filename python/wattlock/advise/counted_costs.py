"""Cost entries out of a run that counted on a microcontroller, as `--costs` and `data/costs/` take them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from wattlock.energy.cards import DEVICES
from wattlock.energy.tasks import FORWARD
from wattlock.errors import EvidenceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wattlock.run.counts import Counts

IN_RUST = ("rustcrypto", "wattlock", "wattlock-tables")
"""Whose code is the catalogue's own, compiled from Rust; a run doesn't say the language of others."""


def costs_file(found: Counts) -> str:
    """A file of costs: an entry a cipher and provider of the catalogue's own code, in board, part or core cycles.

    Part and core cycles are `assumed`: how far a flash without a model, or the model itself, is off is not known.

    Raises EvidenceError where no message has cycles, or the core's rules have no published error.
    """
    if not found.estimates["cycles_high"].count():
        hint = "count on a core whose rules have an error: docs/method/cores.md"
        raise EvidenceError(f"run {found.id}: {found.core} has no cycles with a known error", hint=hint)
    column = found.cycles_column or "cycles"
    usual = {"keying": "ready", "encoding": "raw", "placement": "hot", "pattern": "independent"}
    rows = found.estimates.filter(
        pl.col("operation").is_in(FORWARD),
        pl.col("provider").is_in(IN_RUST),
        pl.col("payload_B") > 0,
        pl.col(column).is_not_null(),
        pl.col("cycles_high").is_not_null(),
        pl.col("aad_B").fill_null(0) == 0,
        *(pl.col(name) == value for name, value in usual.items()),
    ).sort("cipher", "provider", "payload_B")
    if rows.is_empty():
        raise EvidenceError(f"run {found.id}: no message was counted", hint="count seal or encrypt of some payloads")
    entries = [_entry(found, group, column) for _, group in rows.group_by("cipher", "provider", maintain_order=True)]
    return "\n".join([*_head(found), *entries])


def _head(found: Counts) -> Iterator[str]:
    yield f"# Cycles of wattlock's catalogue on {found.target}, out of the run {found.id}: `wattlock costs --from RUN`."
    yield f"isa = {_text(found.isa)}"
    yield f"cores = [{_text(found.core)}]"
    yield 'compared = "Rust"'
    yield 'narrowed_by = "cycles of this very code on this very board: `--on board:BOARD@PORT`, then `--costs FILE`"'
    yield ""


def _entry(found: Counts, rows: pl.DataFrame, column: str) -> str:
    first = rows.row(0, named=True)
    # Both ends of the widest interval: `uniform` goes as far down as up, by a factor.
    width = rows.select(
        pl.max_horizontal(pl.col("cycles_high") / pl.col("cycles"), pl.col("cycles") / pl.col("cycles_low")).max()
    ).item()
    build = found.header["fingerprint"]["build"]
    named = [word for word in (first["provider"], first["version"], first["path"]) if word]
    confidence = "assumed"
    if found.board is not None:
        counted, memory, confidence = "board cycles", f"the flash of {found.target}", "primary"
        because = "the interval is the range of the board's repetitions; another linker's layout may take more or less"
    elif column == "part_cycles":
        counted, memory = "part cycles", f"the flash of {found.target}, modelled"
        because = "the interval is of the core's rules; how far the flash's model is off is not known"
    else:
        counted, memory = "core cycles", "answers at once: no wait states"
        because = "the interval is of the core's rules; the flash of a board adds cycles that are not in it"
    entry: dict[str, Any] = {
        "ciphers": [first["cipher"]],
        "implementation": f"{' '.join(named)}, in wattlock {found.plan['wattlock']}",
        "language": "Rust",
        "compiler": build["rustc"] or "not told",
        "flags": f"opt-level {build['opt_level']}, LTO {build['lto']}, {build['flags'] or 'no further flags'}",
        "core": found.target if found.board else f"{found.target}, emulated by {found.emulator}",
        "memory": memory,
        "counted": counted,
        "unit": "cycles",
        "figures": rows.select("payload_B", column).rows(),
        "devices": _cards(found) if found.cycles_column else None,
        "confidence": confidence,
        "relative_uncertainty": round(width - 1, 4),
        "source": f"wattlock run {found.id}, image with the SHA-256 {first['image_sha256']}",
        "because": because,
    }
    lines = [f"{name} = {_value(value)}" for name, value in entry.items() if value is not None]
    return "\n".join(["[[cost]]", *lines, ""])


def _cards(found: Counts) -> list[str]:
    """The cards of the part at its clock; its name where none comes along: wait states go by both."""
    part, clock_Hz = found.part or ("", 0)
    cards = [(name, DEVICES.load(name)[1].frequency) for name in DEVICES.names() if f"{name}-".startswith(f"{part}-")]
    return [name for name, clock in cards if clock is not None and clock.in_SI == clock_Hz] or [part]


def _value(value: Any) -> str:
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return _text(value) if isinstance(value, str) else str(value)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
