"""Cost entries out of a run that counted on a microcontroller, as `--costs` and `data/costs/` take them."""

from __future__ import annotations

import json
import math
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import polars as pl
from pydantic import ValidationError

from wattlock.advise.cipher_costs import TALLY, CostFile, at
from wattlock.advise.published import BORROWED
from wattlock.energy.device_cards import DEVICES, Isa
from wattlock.energy.tasks import BACKWARD, FORWARD
from wattlock.errors import EvidenceError
from wattlock.targets import probe
from wattlock.targets.parts import PARTS, part_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wattlock.run.result import Result
    from wattlock.targets import Target

IN_RUST = ("rustcrypto", "wattlock", "wattlock-tables")
"""Whose code is the catalogue's own, compiled from Rust; a run doesn't say the language of others."""
BLOCK_B, PERIOD_B = 16, 64
BORDERS_B = [block_B + octets for block_B in range(0, 2 * PERIOD_B, BLOCK_B) for octets in (1, BLOCK_B - 1, BLOCK_B)]
"""The ends of the blocks of two periods: each cut of a block takes nearly the same, and a period what the last did."""
TALLYS_B = [octets_B for octets_B in BORDERS_B if octets_B <= PERIOD_B]
"""A gateway that is counted holds messages of at most one period; Ascon takes the same for each block."""
UNSEEN = 0.36
"""By how much lines over whole blocks through 16, 64 and 256 B miss the counts of 37 sizes on five cores, at most."""


def costs_file(found: Result, target: Target, page: str | None = None) -> str:
    """A file of costs: an entry a cipher and provider of the catalogue's own code, in board, part or core cycles.

    Records of tally have an entry where a report was counted too.

    Its law goes through the ends of blocks and is held against the other sizes of the run, as of the study `mcu-costs`;
    of a run without these it is straight lines over whole blocks, and may be off by UNSEEN.

    * `target`: whose probe knows on what the time of each code depends.
    * `page`: where the run is published; without one the run's id is its source.
    * The interval is that of the core's rules, or of a board's repetitions; `published` widens the former by the way
      from such cycles to a board's.
    * All of it is `assumed`, with a factor of two either way, where the core is that of no part in `data/parts`, as
      E31's is not the ESP32-C3's.

    Raises EvidenceError where no message has cycles, the core's rules have no published error, or no card has its
    instruction set.
    """
    if not found.estimates["cycles_high"].count():
        hint = "count on a core whose rules have an error: docs/method/cores.md"
        raise EvidenceError(f"run {found.id}: {found.core.name} has no cycles with a known error", hint=hint)
    column = found.cycles_column or "cycles"
    is_whole = pl.lit(_report(found, column) is not None) | (pl.col("cipher") != TALLY)
    usual = {"keying": "ready", "encoding": "raw", "placement": "hot", "pattern": "independent"}
    rows = found.estimates.filter(
        pl.col("operation").is_in(FORWARD | BACKWARD),
        pl.col("provider").is_in(IN_RUST),
        is_whole,
        pl.col("payload_B") > 0,
        pl.col(column).is_not_null(),
        pl.col("cycles_high").is_not_null(),
        pl.col("aad_B").fill_null(0) == 0,
        *(pl.col(name) == value for name, value in usual.items()),
    ).sort("cipher", "provider", "payload_B")
    if not rows["operation"].is_in(FORWARD).any():
        raise EvidenceError(f"run {found.id}: no message was counted", hint="count seal or encrypt of some payloads")
    known, _ = probe.catalogue(target, rows["cipher"].unique().to_list())
    timing = {(row["id"], row["provider"]): row["timing"] for several in known.values() for row in several}
    entries = [
        _entry(found, group, column, timing.get((cipher, provider)) or "not told", page)
        for (cipher, provider), group in rows.group_by("cipher", "provider", maintain_order=True)
        if group["operation"].is_in(FORWARD).any()
    ]
    text = "\n".join([*_head(found), *entries])
    try:
        CostFile.model_validate(tomllib.loads(text))
    except ValidationError as error:
        what = error.errors()[0]["msg"].removeprefix("Value error, ")
        hint = "count more payloads, of whole blocks: 16, 64, 256, 1024 B"
        raise EvidenceError(f"run {found.id}: its counts make no file of costs: {what}", hint=hint) from None
    return text


def isa_of(found: Result) -> str:
    """The instruction set of the run's images as device cards call it: `thumbv8m.main` is their `thumbv8m`.

    Raises EvidenceError where no card can have it.
    """
    isa = next((isa for isa in get_args(Isa) if found.isa.startswith(isa)), None)
    if isa is None:
        what = f"run {found.id}: {found.core.name} runs {found.isa}, and no device card has that instruction set"
        raise EvidenceError(what, hint="count on qemu:cortex-m4, cortex-m0plus, cortex-m33 or sifive-e31")
    return str(isa)


def _head(found: Result) -> Iterator[str]:
    on, run = found.core.target, found.id
    yield f"# Cycles of wattlock's catalogue on {on}, out of the run {run}: `wattlock costs --from RUN`."
    yield f"isa = {_text(isa_of(found))}"
    yield f"cores = [{_text(found.core.name)}]"
    yield 'compared = "Rust"'
    yield 'narrowed_by = "cycles of this very code on this very board: `--on board:BOARD@PORT`, then `--costs FILE`"'
    yield ""


def _entry(found: Result, rows: pl.DataFrame, column: str, timing: str, page: str | None) -> str:
    first = rows.row(0, named=True)
    # Both ends of the widest interval: `uniform` goes as far down as up, by a factor.
    width = rows.select(
        pl.max_horizontal(pl.col("cycles_high") / pl.col("cycles"), pl.col("cycles") / pl.col("cycles_low")).max()
    ).item()
    build = found.header["fingerprint"]["build"]
    is_tally = first["cipher"] == TALLY
    law = _law(rows, column)
    named = [word for word in (TALLY if is_tally else first["provider"], first["version"], first["path"]) if word]
    confidence = "primary"
    because = f"the rules of {found.core.name} are within {found.error_percent} % for 95 % of the published figures"
    if found.core.board is not None:
        counted, memory = "board cycles", f"the flash of {found.core.target}"
        because = "the interval is the range of the board's repetitions; another linker's layout may take more or less"
    elif column == "part_cycles":
        counted, memory = "part cycles", f"the flash of {found.core.target}, modelled"
    else:
        counted, memory = "core cycles", "answers at once: no wait states"
    if found.core.board is None and found.core.name not in {PARTS.load(name)[1].core for name in PARTS.shipped()}:
        confidence = "assumed"
        width *= 1 + BORROWED
        because = (
            f"counted on {found.core.name}, which is the core of no part here; another core of its instruction set may "
            f"take {1 + BORROWED:g} times as much or so much less; {because}"
        )
    entry: dict[str, Any] = {
        "ciphers": [first["cipher"]],
        "implementation": f"{' '.join(named)}, in wattlock {found.plan['wattlock']}",
        "language": "Rust",
        "compiler": build["rustc"] or "not told",
        "flags": f"opt-level {build['opt_level']}, LTO {build['lto']}, {build['flags'] or 'no further flags'}",
        "core": found.core.target if found.core.board else f"{found.core.target}, emulated by {found.emulator}",
        "memory": memory,
        "counted": counted,
        "timing": timing,
        "unit": "cycles",
        **law.keys,
        "report_cycles": _report(found, column) if is_tally else None,
        "devices": _cards(found) if found.cycles_column else None,
        "confidence": confidence,
        "relative_uncertainty": round(width - 1, 4),
        "law_uncertainty": round(law.uncertainty, 4),
        "source": f"{page or f'wattlock run {found.id}'}, image with the SHA-256 {first['image_sha256']}",
        "because": f"{because}; {law.because}",
    }
    lines = [f"{name} = {_value(value)}" for name, value in entry.items() if value is not None]
    return "\n".join(["[[cost]]", *lines, ""])


def _report(found: Result, column: str) -> int | None:
    """Cycles of a report that tally's sensor hears; None where none was counted."""
    rows = found.estimates.filter(pl.col("cipher") == TALLY, pl.col("operation") == "key_setup")
    return next(iter(rows[column].drop_nulls()), None)


class _Law(NamedTuple):
    """The keys of an entry that make its law, how far other sizes of the run are from it, and that in words."""

    keys: dict[str, Any]
    uncertainty: float
    because: str


def _law(rows: pl.DataFrame, column: str) -> _Law:
    """The law of an entry's cycles by its sizes; of opening too, where each of them was opened."""
    sealed, opened = (
        dict(rows.filter(pl.col("operation").is_in(ways)).select("payload_B", column).iter_rows())
        for ways in (FORWARD, BACKWARD)
    )
    borders_B = TALLYS_B if rows["cipher"][0] == TALLY else BORDERS_B
    by_borders = sealed.keys() >= set(borders_B)
    sizes = borders_B if by_borders else list(sealed)
    period_B = min(PERIOD_B, sizes[-1] - BLOCK_B)
    blocks = {"block_B": 1, "period_B": period_B} if by_borders else {"block_B": BLOCK_B, "period_B": 1}
    counted = {"figures": sealed} | ({"open_figures": opened} if opened.keys() >= set(sizes) else {})
    keys = {name: [(size_B, cycles[size_B]) for size_B in sizes] for name, cycles in counted.items()} | blocks
    off = [
        (abs(math.log(at(size_B, sizes, [cycles[size] for size in sizes], **blocks) / cycles[size_B])), size_B)
        for cycles in counted.values()
        for size_B in cycles.keys() - set(sizes)
        if by_borders
    ]
    if not off:
        because = f"sizes between were not counted, where such a law misses by up to {100 * UNSEEN:.0f} %"
        return _Law(keys, UNSEEN, because)
    error, farthest_B = max(off)
    uncertainty = math.expm1(error)
    others = len({size_B for _, size_B in off})
    because = f"{others} other sizes lie within {100 * uncertainty:.2g} % of its law, the farthest of {farthest_B} B"
    return _Law(keys, uncertainty, because)


def _cards(found: Result) -> list[str]:
    """The part's cards at its clock, or that name none; the part where none comes along: wait states go by both."""
    part, clock_Hz = found.core.part or ("", 0)
    cards = [(name, DEVICES.load(name)[1].frequency) for name in DEVICES.names() if part_of(name) == part]
    return [name for name, clock in cards if clock is None or clock.in_SI == clock_Hz] or [part]


def _value(value: Any) -> str:
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return _text(value) if isinstance(value, str) else str(value)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
