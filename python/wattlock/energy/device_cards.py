"""Device cards: what a device draws while a program runs; a run's cycles as joules by one, or by its meter."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

import polars as pl
from pydantic import Field, PrivateAttr, ValidationError, model_validator

from wattlock.analysis.comparison import core_classes
from wattlock.analysis.distributions import COVERAGE
from wattlock.definitions import DefinitionForm, Shelf, Table, Text, refusal
from wattlock.definitions.toml import problems_of
from wattlock.energy.number import Confidence, Number, refuse_doubted, refuse_mixed, require_units
from wattlock.errors import EvidenceError
from wattlock.run.begin import KeptCard
from wattlock.run.result import Result
from wattlock.run.validity import INVALID_RUN
from wattlock.study.study import CoreClass
from wattlock.targets import Target
from wattlock.targets.parts import PARTS, short_title
from wattlock.targets.target import refuse_emulated

__all__ = ["DEVICES", "Card", "Device", "Factor", "Number", "kept", "load", "names"]

Isa = Literal[
    "x86",
    "x86_64",
    "aarch64",
    "armv4",
    "armv5te",
    "thumbv6m",
    "thumbv7em",
    "thumbv8m",
    "riscv32",
    "xtensa",
    "wasm32",
]


class OperatingPoint(Table):
    """A clock and the least voltage of the core's rail that carries it."""

    frequency_MHz: Annotated[float, Field(gt=0)]
    voltage_V: Annotated[float, Field(gt=0)]


class OperatingPoints(Table):
    """The clocks that a processor can be set to, each with its voltage: what voltage scaling chooses from.

    * `at`: rising in clock, the voltage never falling.
    * `relative_uncertainty`, `distribution`, `because`: of the voltages, as in `Number`.
    """

    at: Annotated[list[OperatingPoint], Field(min_length=1)]
    source: Text
    confidence: Confidence
    relative_uncertainty: Annotated[float, Field(ge=0)]
    distribution: Literal["normal", "uniform"]
    because: Text
    conditions: Text

    @model_validator(mode="after")
    def _rising(self) -> Self:
        for low, high in pairwise(self.at):
            if high.frequency_MHz <= low.frequency_MHz or high.voltage_V < low.voltage_V:
                raise ValueError(
                    f"at {high.frequency_MHz:g} MHz comes behind {low.frequency_MHz:g} MHz; points must rise"
                )
        return self

    def number(self, point: OperatingPoint) -> Number:
        """The voltage of a point, as a number with its source."""
        return Number(value=point.voltage_V, unit="V", **self.model_dump(exclude={"at"}))


class Cores(Table):
    """What a device draws while a program runs on cores of another kind than the card's own numbers are of.

    It holds power as a card does, and its own clock.
    """

    core_class: CoreClass
    power: Number | None = None
    voltage: Number | None = None
    current: Number | None = None
    dynamic_power_coefficient: Number | None = None
    frequency: Number | None = None


class Factor(NamedTuple):
    """A number of a card, by its key, with its exponent in the product that is the energy."""

    key: str
    number: Number
    exponent: int


class Rate(NamedTuple):
    """Joules of one cycle, or of one second, and the standard uncertainty of the figure's natural logarithm."""

    joules: float
    log_sigma: float


class Card(Table):
    """What one device draws while one of its cores runs a program.

    It holds exactly one of these: `power`; `voltage` and `current` of the same rail; `voltage` and
    `dynamic_power_coefficient`, for P = C * V^2 * f. A card with a `frequency`, a current per MHz or a coefficient
    values cycles; one without values time, and then stands for the very machine that was measured.

    * `isa`: the instruction set whose cycles or time it may value.
    * `narrowed_by`: what would narrow its interval.
    * `idle_power`: what the device draws while no program runs; it enters no joules of a program.
    * `operating_points`: clocks and voltages; they enter no joules of a program at the card's own clock.
    * `radio`: the radio card of the same chip or board, taken where nobody names another.
    * `core_class`: the kind of core that the numbers are of, where the device has several; `cores`: those of others.
    """

    title: Text
    isa: Isa
    note: Text
    narrowed_by: Text
    power: Number | None = None
    voltage: Number | None = None
    current: Number | None = None
    dynamic_power_coefficient: Number | None = None
    frequency: Number | None = None
    idle_power: Number | None = None
    operating_points: OperatingPoints | None = None
    radio: Text | None = None
    core_class: CoreClass | None = None
    cores: list[Cores] = Field(default=[])

    _lacks: str | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _one_way_to_power(self) -> Self:
        ways = {("power",), ("voltage", "current"), ("voltage", "dynamic_power_coefficient")}
        given = tuple(key for key in _DRAWN if getattr(self, key))
        if given not in ways:
            raise ValueError(
                f"has {' and '.join(given) or 'no power'}; it needs power, or voltage and current, or voltage and "
                "dynamic_power_coefficient"
            )
        require_units(self, _UNITS)
        # The clock has no supply, and the idle power enters no product.
        refuse_mixed({key: getattr(self, key) for key in _DRAWN if getattr(self, key)}, self.voltage)
        return self

    @model_validator(mode="after")
    def _each_kind_once(self) -> Self:
        kinds = [self.core_class, *(table.core_class for table in self.cores)]
        if self.cores and self.core_class is None:
            raise ValueError("has cores of another kind, and doesn't say by core_class of which its own numbers are")
        for table in self.cores:
            if kinds.count(table.core_class) > 1:
                raise ValueError(f"has two tables of {table.core_class} cores")
            other = self.model_validate(self._numbers_on(table).model_dump())
            if other.counts_cycles != self.counts_cycles:
                raise ValueError(f"values cycles of one kind of core and time of another: see {table.core_class}")
        return self

    def on(self, kind: str | None) -> Self:
        """The card for one kind of core; null where a machine has one kind, or nobody knows on which it ran.

        Where the card knows other kinds and not this one, its own numbers stand for it, and are assumed.
        """
        if kind is None or self.core_class in {None, kind}:
            return self
        for table in self.cores:
            if table.core_class == kind:
                return self._numbers_on(table)
        card = self.model_copy()
        card._lacks = kind
        return card

    def _numbers_on(self, table: Cores) -> Self:
        # Operating points are of the card's own cores.
        own = {key: getattr(table, key) for key in (*_DRAWN, "frequency")}
        return self.model_copy(update={**own, "core_class": table.core_class, "cores": [], "operating_points": None})

    @property
    def counts_cycles(self) -> bool:
        """Whether the card values cycles, and not the time measured."""
        return bool(self.frequency or self.dynamic_power_coefficient or self._current_per_MHz)

    @property
    def _current_per_MHz(self) -> bool:
        return bool(self.current and self.current.unit == "uA/MHz")

    def factors(self) -> list[Factor]:
        """The numbers whose product is the joules of a cycle, or of a second where the card values time.

        A current per MHz and a coefficient hold for each clock, so that the frequency is none of their factors.
        """
        if self.dynamic_power_coefficient and self.voltage:
            return [
                Factor("dynamic_power_coefficient", self.dynamic_power_coefficient, 1),
                Factor("voltage", self.voltage, 2),
            ]
        drawn = [(key, getattr(self, key)) for key in ("power", "voltage", "current")]
        factors = [Factor(key, number, 1) for key, number in drawn if number]
        if self.frequency and not self._current_per_MHz:
            factors.append(Factor("frequency", self.frequency, -1))
        return factors

    @property
    def rate(self) -> Rate:
        """Joules of one cycle, or of one second where the card values time.

        The factors are taken as independent, so that their uncertainties add up in squares on the logarithmic scale,
        where a product is a sum: u^2(ln E) = sum of (exponent * u(ln factor))^2 (GUM, JCGM 100:2008, 5.1.6).
        """
        factors = self.factors()
        joules = math.prod(number.in_SI**exponent for _, number, exponent in factors)
        return Rate(joules, math.hypot(*(exponent * number.log_sigma for _, number, exponent in factors)))

    @property
    def active_W(self) -> float | None:
        """Watts while a program runs; None where the card values cycles and says no clock."""
        if not self.counts_cycles:
            return self.rate.joules
        return self.rate.joules * self.frequency.in_SI if self.frequency else None

    def doubted(self) -> list[str]:
        """The keys of the numbers in use that nobody could verify."""
        return [key for key, number, _ in self.factors() if number.doubted]

    @property
    def evidence(self) -> Literal["modelled", "assumed"]:
        """What an energy by this card is: modelled, or assumed where a number in use is not verified.

        Assumed is as well what is valued by the numbers of another kind of core.
        """
        return "assumed" if self.doubted() or self._lacks else "modelled"


_DRAWN = ("power", "voltage", "current", "dynamic_power_coefficient")
_UNITS = {
    "power": ["W"],
    "voltage": ["V"],
    "current": ["mA", "uA/MHz"],
    "dynamic_power_coefficient": ["uW/MHz/V^2"],
    "frequency": ["MHz"],
    "idle_power": ["W", "mW"],
}


class Device(NamedTuple):
    """A card and the name by which it was asked for."""

    name: str
    card: Card

    def on(self, kind: str | None) -> Device:
        """The same device by its card for one kind of core."""
        return Device(self.name, self.card.on(kind))

    def refuse_doubted(self, *, allow_assumed: bool) -> None:
        """Raises EvidenceError where a number in use is unverified, or of other cores, and nobody allowed that."""
        if self.card._lacks and not allow_assumed:
            what = f"has numbers of {self.card.core_class} cores, and none of {self.card._lacks} ones"
            hint = "--allow-assumed takes them all the same, and the result says so"
            raise EvidenceError(f"device card {self.name} {what}", hint=hint)
        numbers = {key: number for key, number, _ in self.card.factors()}
        refuse_doubted(f"device card {self.name}", numbers, allow_assumed=allow_assumed)


FORM = DefinitionForm("device", "A device card: what a device draws while a program runs.", Card, ("device",))
DEVICES = Shelf("device card", "cards", "devices", Card, own_too=True)


def names(own: Path | None = None) -> list[str]:
    """The device cards by name, those of the user's folder among them."""
    return DEVICES.names(own)


def load(name_or_path: str | Path, own: Path | None = None) -> Device:
    """Read a device card.

    * `name_or_path`: the name of a card, or the path of a TOML file.
    * `own`: the user's folder of cards; without one that of the environment variable `WATTLOCK_CARDS`.

    Raises InputError where there is no such card, or naming the first thing that is wrong with it.
    """
    return Device(*DEVICES.load(name_or_path, own))


def kept(name: str, card: Mapping[str, Any]) -> Device:
    """A card as it stands in a run's plan (`Card.model_dump`), so that a run is valued alike wherever it is read.

    Raises InputError where it was damaged.
    """
    try:
        return Device(name, Card.model_validate_json(json.dumps(card)))
    except ValidationError as error:
        wrong = [problem._replace(hint="name one with --device") for problem in problems_of(error, Card)]
        raise refusal("the run's device_card", wrong) from error


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
    return KeptCard(card.name, card.card.model_dump(mode="json"))


ENDS = {"cycles": "", "cycles_low": "_low", "cycles_high": "_high"}


def valued(result: Result, device: str | None, *, allow_assumed: bool, own: Path | None = None) -> pl.DataFrame:
    """The estimates with their energy columns: by the card asked for now, else by the run's meter, else by its card.

    * `allow_assumed`: the user asked for numbers that nobody could verify.

    Of a run whose self-check failed every case that has a number is in the state `invalid run`: nothing takes it for a
    result. Counted cycles have these columns where a card is named. Its interval joins the card's uncertainty and that
    of the cycles; that of a flash's model is not known.

    Raises EvidenceError where the card is of another instruction set, part or clock, or has unverified numbers that
    nobody asked for.
    """
    estimates = _valued_by(result, device, allow_assumed=allow_assumed, own=own)
    if not result.reasons:
        return estimates
    has_number = pl.col("state").is_in(["resolved", "unresolved"])
    return estimates.with_columns(
        state=pl.when(has_number).then(pl.lit(INVALID_RUN)).otherwise("state"),
        reason=pl.when(has_number).then(pl.lit("the run's self-check failed")).otherwise("reason"),
    )


def _valued_by(result: Result, device: str | None, *, allow_assumed: bool, own: Path | None) -> pl.DataFrame:
    if device is None and result.meter is not None and result.energies is not None:
        scope, baseline = result.meter["scope"], result.meter["baseline"]
        return measured(result.estimates, result.energies, scope=scope, baseline=baseline)
    card = card_of(result, device, own)
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
        own = [name for name in DEVICES.names() if _is_of_part(result, name)]
        none = f"no card of {short_title(part)} came along; docs/add/card.md says how to write one"
        raise EvidenceError(what, hint=f"its cards: {', '.join(own)}" if own else none)
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


def card_of(result: Result, device: str | None, own: Path | None = None) -> Device | None:
    """The card asked for now, else the one that the run holds; counted cycles are valued by none but the former."""
    if device is not None:
        return load(device, own)
    name = result.plan["device"]
    return kept(name, result.plan["device_card"]) if name is not None and "time" in result.quantities else None


class Clock(NamedTuple):
    """What turns a run's cycles into time: the card's clock, and whether the card counts cycles at all."""

    Hz: float | None
    counts_cycles: bool


def clock_of(result: Result, device: str | None, own: Path | None = None) -> Clock:
    """The clock of the card that values a run; nothing is known without one."""
    card = card_of(result, device, own)
    if card is None:
        return Clock(None, counts_cycles=False)
    clock = card.on(next(iter(result.core_classes), None)).card.frequency
    return Clock(clock.in_SI if clock else None, card.card.counts_cycles)
