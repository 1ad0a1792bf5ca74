"""A run in joules: its cycles by a device card, or what its meter measured; null where there is neither."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from wattlock.analysis.comparison import core_classes
from wattlock.analysis.distributions import COVERAGE
from wattlock.energy.device_cards import DEVICES, Card, Device, kept, load
from wattlock.errors import EvidenceError
from wattlock.run.result import Result
from wattlock.run.validity import INVALID_RUN
from wattlock.targets import Target
from wattlock.targets.parts import PARTS, short_title
from wattlock.targets.target import refuse_emulated

if TYPE_CHECKING:
    from wattlock.run.begin import KeptCard

COLUMNS = {
    "energy_uJ": pl.Float64,
    "energy_low_uJ": pl.Float64,
    "energy_high_uJ": pl.Float64,
    "energy_uJ_per_byte": pl.Float64,
    "energy_low_uJ_per_byte": pl.Float64,
    "energy_high_uJ_per_byte": pl.Float64,
    "energy_evidence": pl.String,
}
SIDES = ("", "_low", "_high")
MEASURED = {
    "energy_gross_uJ": pl.Float64,
    "energy_random_percent": pl.Float64,
    "power_net_W": pl.Float64,
    "power_baseline_W": pl.Float64,
    "energy_state": pl.String,
    "energy_reason": pl.String,
    "energy_scope": pl.String,
    "energy_baseline": pl.String,
}
"""The columns that a meter adds."""
# 32-bit and 64-bit programs of one processor.
X86 = {"x86", "x86_64"}


def without_card(estimates: pl.DataFrame) -> pl.DataFrame:
    """The energy columns, all null: without a meter or a card there is no energy."""
    return estimates.with_columns(pl.lit(None, dtype=kind).alias(name) for name, kind in COLUMNS.items())


def value(estimates: pl.DataFrame, device: Device, *, isa: str, allow_assumed: bool = False) -> pl.DataFrame:
    """Value estimates in joules by a device card.

    * `estimates`: one row a case, with `cycles`, `time_ns`, their `_low` and `_high`, and `payload_B`.
    * `isa`: the instruction set of the run, as its header states it.
    * `allow_assumed`: the user asked for numbers that nobody could verify.
    * Each kind of core is valued by its own numbers of the card.

    Returns the rows with the columns of `COLUMNS`; a row without time has no energy. Intervals are 95 %: they join the
    case's interval and the card's uncertainty in squares, on the logarithmic scale, each side for itself; where one
    uniform number dominates they are wide on the safe side. The card's part is the same in all cases: it cancels in
    the ratio of two of them. What the rest of the device draws meanwhile
    (memory, radio, screen) is included only where the card's conditions say so.

    Raises EvidenceError where the card is of another instruction set, has unverified numbers that nobody asked for, or
    needs cycles that the run doesn't have, and where the processor was emulated.

    Source: Prasithsangaree and Krishnamurthy, GLOBECOM 2003, for E = Vcc * I * T; it gives no uncertainty.
    """
    kinds = core_classes(estimates)
    if len(kinds) > 1:
        known = estimates.filter(pl.col("core_class").is_not_null())
        parts = [
            value(known.filter(pl.col("core_class") == kind), device, isa=isa, allow_assumed=allow_assumed)
            for kind in kinds
        ]
        columns = parts[0].columns
        return estimates.select("case").join(pl.concat(parts), on="case", maintain_order="left").select(columns)
    device = device.on(next(iter(kinds), None))
    refuse(device, isa=isa, allow_assumed=allow_assumed)
    if "time_evidence" in estimates.columns and (estimates["time_evidence"] == "emulated").any():
        from wattlock.targets.target import refuse_emulated

        refuse_emulated("its times are of a program that imitates one")
    if device.card.counts_cycles:
        _refuse_unknown_cycles(estimates, device)
        return _valued(estimates, device.card, ("cycles", "cycles_low", "cycles_high"), 1.0)
    return _valued(estimates, device.card, ("time_ns", "time_low_ns", "time_high_ns"), 1e-9)


def measured(estimates: pl.DataFrame, energies: pl.DataFrame, *, scope: str, baseline: str) -> pl.DataFrame:
    """The estimates with the energies that a meter measured: the columns of `COLUMNS` and of `MEASURED`.

    * `energies`: a row a case of `analysis.energy_blocks.by_case`: of one call, net of the baseline.
    * `scope`: what the meter's domain includes; `baseline`: what was taken off.

    A case whose energy is inconclusive or failed has none: no card fills it in.
    """
    payload_B = pl.when(pl.col("payload_B") > 0).then(pl.col("payload_B"))
    joined = estimates.join(energies.drop("energy_processes"), on="case", how="left", maintain_order="left")
    has_one = pl.col("energy_uJ").is_not_null()
    return joined.with_columns(
        *((pl.col(f"energy{side}_uJ") / payload_B).alias(f"energy{side}_uJ_per_byte") for side in SIDES),
        energy_evidence=pl.when(has_one).then(pl.lit("measured")),
        energy_state=pl.col("energy_state").fill_null("failed"),
        energy_scope=pl.when(has_one).then(pl.lit(scope)),
        energy_baseline=pl.when(has_one).then(pl.lit(baseline)),
    ).select(*estimates.columns, *COLUMNS, *MEASURED)


def refuse(device: Device, *, isa: str, allow_assumed: bool) -> None:
    """Raises EvidenceError where the card can't value a run of this instruction set, or only with consent not given."""
    _refuse_other_isa(device, isa)
    device.refuse_doubted(allow_assumed=allow_assumed)


def _valued(estimates: pl.DataFrame, card: Card, columns: tuple[str, str, str], unit: float) -> pl.DataFrame:
    joules, log_sigma = card.rate
    card_width = COVERAGE * log_sigma
    middle, low, high = map(pl.col, columns)
    energy_uJ = middle * (joules * unit * 1e6)
    down = ((middle / low).log() ** 2 + card_width**2).sqrt()
    up = ((high / middle).log() ** 2 + card_width**2).sqrt()
    joined = estimates.with_columns(
        energy_uJ=energy_uJ,
        energy_low_uJ=energy_uJ * (-down).exp(),
        energy_high_uJ=energy_uJ * up.exp(),
        energy_evidence=pl.when(middle.is_not_null()).then(pl.lit(card.evidence)),
    )
    payload_B = pl.when(pl.col("payload_B") > 0).then(pl.col("payload_B"))
    per_byte = [(pl.col(f"energy{side}_uJ") / payload_B).alias(f"energy{side}_uJ_per_byte") for side in SIDES]
    return joined.with_columns(per_byte).select(*(c for c in estimates.columns if c not in COLUMNS), *COLUMNS)


def _refuse_other_isa(device: Device, isa: str) -> None:
    card_isa = device.card.isa
    if card_isa == isa or {card_isa, isa} <= X86:
        return
    unit = "cycles" if device.card.counts_cycles else "seconds"
    hint = "a program takes other cycles on another instruction set; `wattlock devices` names the one of each card"
    if isa == "wasm32":
        hint = 'for a browser take a card of your own with isa = "wasm32" and the power of that device in its browser'
    raise EvidenceError(f"device card {device.name} values {unit} of {card_isa}, the run's are of {isa}", hint=hint)


def _refuse_unknown_cycles(estimates: pl.DataFrame, device: Device) -> None:
    # Cases in main memory never have cycles and stay without energy; where no other case has any, the clock is unknown.
    timed = estimates.filter(pl.col("time_ns").is_not_null())
    unknown = timed.filter(pl.col("cycles").is_null()).height
    if unknown and unknown == timed.height:
        raise EvidenceError(
            f"device card {device.name} values cycles, and none of {unknown} cases has any: the core clock of the "
            "machine that was measured is unknown, or all lie in main memory",
            hint=_values_time(device.card.isa),
        )


def _values_time(isa: str) -> str:
    """Which cards value the time measured in place of cycles."""
    same = X86 if isa in X86 else {isa}
    known = [name for name, card in DEVICES.all()[0].items() if card.isa in same and not card.counts_cycles]
    named = (
        f"--device {' or '.join(known)} values the time measured" if known else f"none here values the time of {isa}"
    )
    return f"{named}; a card of your own does too, with the machine's power and without a frequency"


def kept_card(name_or_path: str, target: Target, core_classes: Sequence[str], *, allow_assumed: bool) -> KeptCard:
    """A card as a run's plan keeps it.

    * `core_classes`: kinds of core that the run measures on, the fastest without.

    Raises InputError where there is no such card, EvidenceError where it can't value runs of this device, or only with
    a consent that was not given.
    """
    card = load(name_or_path)
    facts = target.facts()
    if facts.emulator is not None:
        refuse_emulated(facts.emulator)
    fastest = facts.core_classes[0].name if facts.core_classes else None
    for kind in core_classes or (fastest,):
        refuse(card.on(kind), isa=facts.isa, allow_assumed=allow_assumed)
    from wattlock.run.begin import KeptCard  # to plan a run takes more than to read one

    return KeptCard(card.name, card.card.model_dump(mode="json"))


ENDS = {"cycles": "", "cycles_low": "_low", "cycles_high": "_high"}


def valued(result: Result, device: str | None, *, allow_assumed: bool, cards: Path | None = None) -> pl.DataFrame:
    """The estimates with their energy columns: by the card asked for now, else by the run's meter, else by its card.

    * `allow_assumed`: the user asked for numbers that nobody could verify.

    Of a run whose self-check failed every case that has a number is in the state `invalid run`: nothing takes it for a
    result. Counted cycles have these columns where a card is named. Its interval joins the card's uncertainty and that
    of the cycles; that of a flash's model is not known.

    Raises EvidenceError where the card is of another instruction set, part or clock, or has unverified numbers that
    nobody asked for.
    """
    estimates = _valued_by(result, device, allow_assumed=allow_assumed, cards=cards)
    if not result.reasons:
        return estimates
    has_number = pl.col("state").is_in(["resolved", "unresolved"])
    return estimates.with_columns(
        state=pl.when(has_number).then(pl.lit(INVALID_RUN)).otherwise("state"),
        reason=pl.when(has_number).then(pl.lit("the run's self-check failed")).otherwise("reason"),
    )


def _valued_by(result: Result, device: str | None, *, allow_assumed: bool, cards: Path | None) -> pl.DataFrame:
    if device is None and result.meter is not None and result.energies is not None:
        scope, baseline = result.meter["scope"], result.meter["baseline"]
        return measured(result.estimates, result.energies, scope=scope, baseline=baseline)
    card = card_of(result, device, cards)
    if "time" not in result.quantities:
        return result.estimates if card is None else _by_part(result, card, allow_assumed=allow_assumed)
    if card is None:
        return without_card(result.estimates)
    # Who measured the run with a card has allowed its numbers then.
    return value(result.estimates, card, isa=result.isa, allow_assumed=allow_assumed or device is None)


def _by_part(result: Result, card: Device, *, allow_assumed: bool) -> pl.DataFrame:
    """Counted estimates by the card of their part."""
    per_cycle = pl.col(_column_for(result, card)) / pl.col("cycles")
    frame = result.estimates.with_columns((pl.col(name) * per_cycle).alias(name) for name in ENDS)
    # Without a published error there is no interval but the card's.
    frame = frame.with_columns(pl.col(name).fill_null(pl.col("cycles")) for name in ENDS)
    energies = value(frame, card, isa=result.isa, allow_assumed=allow_assumed).select("case", *COLUMNS)
    return result.estimates.join(energies, on="case", how="left", maintain_order="left")


def valued_runs(runs: Sequence[Result], devices: Sequence[str], *, allow_assumed: bool) -> list[Result]:
    """Runs that counted, each valued by the card of its part; without one it has energy columns without numbers.

    Raises EvidenceError as `valued` does, and where a card values no run.
    """
    if not devices:
        return list(runs)
    by_run = [next((name for name in devices if _is_of_part(result, name)), None) for result in runs]
    for name in devices:
        if name not in by_run:
            what = f"device card {load(name).name}: is of no part whose cycles were counted"
            raise EvidenceError(
                what, hint="a run with part cycles takes the first card of its part: --on qemu:CORE/PART"
            )
    frames = (
        without_card(result.estimates) if name is None else valued(result, name, allow_assumed=allow_assumed)
        for name, result in zip(by_run, runs, strict=True)
    )
    return [replace(result, estimates=frame) for result, frame in zip(runs, frames, strict=True)]


def _is_of_part(result: Result, card: str) -> bool:
    """Whether a card is named after the part whose cycles a run counted."""
    part = result.core.part
    return part is not None and (card == part[0] or card.startswith(f"{part[0]}-"))


def _way_to_part_cycles(card: str) -> str:
    """What counts the cycles that a card values, or why none does."""
    for name in PARTS.names():
        if card == name or card.startswith(f"{name}-"):
            part = PARTS.load(name)[1]
            if part.has_cycles:
                return f"count with the part's flash: wattlock run STUDY --on qemu:{part.core}/{name}"
            return f"{short_title(name)} has no part cycles: not published are {'; '.join(part.not_published)}"
    having = ", ".join(name for name in PARTS.names() if PARTS.load(name)[1].has_cycles)
    return f"no part of that card is described; those with part cycles are {having}"


def _column_for(result: Result, card: Device) -> str:
    """The cycles that the card values."""
    if result.core.part is None:
        what = f"device card {card.name}: core cycles are no part's, and not valued in joules"
        raise EvidenceError(what, hint=_way_to_part_cycles(card.name))
    part, clock_Hz = result.core.part
    if not _is_of_part(result, card.name):
        what = f"device card {card.name} is none of {part}, whose cycles were counted"
        cards = [name for name in DEVICES.names() if _is_of_part(result, name)]
        none = f"no card of {short_title(part)} came along; docs/add/card.md says how to write one"
        raise EvidenceError(what, hint=f"its cards: {', '.join(cards)}" if cards else none)
    if (column := result.cycles_column) is None:
        raise EvidenceError(
            f"run {result.id}: has no part cycles, and nothing else is valued", hint=f"see {part}'s file"
        )
    if not card.card.counts_cycles:
        raise EvidenceError(f"device card {card.name} values time, and none was measured", hint="name one by the cycle")
    clock = card.card.frequency
    if clock is not None and clock.in_SI != clock_Hz:
        what = f"device card {card.name} holds at {clock.in_SI / 1e6:g} MHz, the part ran at {clock_Hz / 1e6:g} MHz"
        hint = f"--on qemu:{result.core.name}/{part}@{clock.in_SI / 1e6:g}MHz counts at its clock"
        raise EvidenceError(
            what, hint=hint if result.core.board is None else f"`wattlock devices` lists the cards of {part}"
        )
    return column


def card_of(result: Result, device: str | None, cards: Path | None = None) -> Device | None:
    """The card asked for now, else the one that the run holds; counted cycles are valued by none but the former."""
    if device is not None:
        return load(device, cards)
    name = result.plan["device"]
    return kept(name, result.plan["device_card"]) if name is not None and "time" in result.quantities else None


class Clock(NamedTuple):
    """What turns a run's cycles into time: the card's clock, and whether the card counts cycles at all."""

    Hz: float | None
    counts_cycles: bool


def clock_of(result: Result, device: str | None, cards: Path | None = None) -> Clock:
    """The clock of the card that values a run; nothing is known without one."""
    card = card_of(result, device, cards)
    if card is None:
        return Clock(None, counts_cycles=False)
    clock = card.on(next(iter(result.core_classes), None)).card.frequency
    return Clock(clock.in_SI if clock else None, card.card.counts_cycles)
