"""E = Vcc * I * T with T = cycles / f, and its uncertainty."""

import polars as pl

from wattlock.analysis.core_classes import core_classes
from wattlock.analysis.draws import COVERAGE
from wattlock.energy.cards import DEVICES, Card, Device
from wattlock.errors import EvidenceError

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
        from wattlock.targets.facts import refuse_emulated

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
