"""What a cipher costs on the device, and by whose code: a cost's shape over sizes, and the files that hold costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, Self, get_args

import numpy as np
from pydantic import Field, model_validator

from wattlock.analysis.distributions import COVERAGE
from wattlock.definitions import DefinitionForm, Shelf, Table, Text, suggestion
from wattlock.energy.device_cards import DEVICES, Device, Isa
from wattlock.energy.number import Confidence
from wattlock.energy.tasks import BACKWARD, FORWARD
from wattlock.errors import EvidenceError, InputError
from wattlock.security.status import Globs, matches

if TYPE_CHECKING:
    import polars as pl

FAR_B = 1 << 30


Kind = Literal["this code", "published", "hardware"]


class Origin(NamedTuple):
    """Whose code a cost is of, and how it was counted.

    * `timing`: on what its time depends. `own`: the user's figure. `composed`: made of printed figures of its parts.
    * `to_board`: by what counted cycles are multiplied to be a board's.
    """

    implementation: str
    language: str
    compiler: str
    flags: str
    core: str
    memory: str
    counted: str
    url: str
    because: str
    timing: str
    own: bool
    composed: bool
    to_board: float

    @property
    def marks(self) -> str:
        """How it was counted, for a table."""
        added = "" if self.to_board == 1 else f" {100 * (self.to_board - 1):+.1f} %"
        return f"{self.counted}{added}{', composed' * self.composed}"

    @property
    def kind(self) -> Kind:
        """Whether it is the catalogue's own code, hardware, or what others published."""
        if self.language == "hardware":
            return "hardware"
        # No Rust of others is among the costs.
        return "this code" if self.language == "Rust" else "published"


class CostedMessage(NamedTuple):
    """Messages of one size: octets of plaintext, how many a second, and whether the device opens them."""

    octets_B: int
    per_s: float
    opened: bool = False


class CipherCost(NamedTuple):
    """What one cipher of one provider costs at sizes, linear in between.

    * `seal_J`, `open_J`, `seal_s`, `open_s`: of a message of `sizes_B` octets, rising; seconds are nan where unknown.
    * `log_sigma`: standard uncertainty of its own, beside the device's; `uniform`: how far down and up the logarithm
      goes where its law is uniform.
    * `shared`: whether the device card's uncertainty comes on top: it values cycles or seconds.
    * `block_B`: so many octets are paid whole. `period_B`: beyond the last size, so many further octets take what the
      last so many did; by the octet that is a straight line.
    * `cycles`, `open_cycles`: to seal and to open a message of `sizes_B`; `origin`: whose code; all None of a run.
    * `report_cycles`: of tally's records alone, to hear a report.
    * `doubt`: why it is assumed, empty where it isn't. `processes`: those that measured it, 0 of what is published.
    """

    cipher: str
    provider: str
    sizes_B: list[int]
    seal_J: list[float]
    open_J: list[float]
    seal_s: list[float]
    open_s: list[float]
    log_sigma: float
    shared: bool
    evidence: str
    source: str
    narrowed_by: str
    uniform: tuple[float, float] | None = None
    block_B: int = 1
    period_B: int = 1
    accelerator: bool = False
    cycles: list[float] | None = None
    open_cycles: list[float] | None = None
    report_cycles: float | None = None
    origin: Origin | None = None
    doubt: str = ""
    processes: int = 0

    def of(
        self, what: Literal["seal_J", "open_J", "seal_s", "open_s", "cycles", "open_cycles"], octets_B: int
    ) -> float:
        """Joules, seconds or cycles of a message; nan where they are not known."""
        values = getattr(self, what)
        if values is None:
            return math.nan
        return at(octets_B, self.sizes_B, values, block_B=self.block_B, period_B=self.period_B)

    def spent(self, messages: Sequence[CostedMessage]) -> float:
        """Cycles a second for messages."""
        return sum(
            message.per_s * self.of("open_cycles" if message.opened else "cycles", message.octets_B)
            for message in messages
        )


def at(octets_B: int, sizes_B: Sequence[int], values: Sequence[float], *, block_B: int = 1, period_B: int = 1) -> float:
    """What a message takes by the law of a cost: `values` at `sizes_B`, whole blocks, periods beyond the last size."""
    whole_B = -(-octets_B // block_B) * block_B
    if len(sizes_B) == 1:
        return float(values[0] * whole_B / sizes_B[0])
    if whole_B < sizes_B[0]:
        slope = (values[1] - values[0]) / (sizes_B[1] - sizes_B[0])
        return float(max(values[0] + slope * (whole_B - sizes_B[0]), 0.0))
    periods = max(-(-(whole_B - sizes_B[-1]) // period_B), 0)
    a_period = values[-1] - np.interp(sizes_B[-1] - period_B, sizes_B, values)
    return float(np.interp(whole_B - periods * period_B, sizes_B, values) + periods * a_period)


def measured(
    estimates: pl.DataFrame, *, processes: int, clock_Hz: float | None, counts_cycles: bool, narrowed_by: str
) -> list[CipherCost]:
    """The costs of a run's ciphers, from cases with a key that is ready, raw, hot, messages independent.

    * `estimates`: valued in joules; `processes`: those that they are of.
    * `clock_Hz`, `counts_cycles`: of the card that valued them, whose time is cycles / clock.

    Raises EvidenceError where no case has energy.
    """
    import polars as pl

    rows = estimates.filter(pl.col("operation").is_in(FORWARD | BACKWARD), pl.col("payload_B") > 0)
    usual = {"keying": "ready", "encoding": "raw", "placement": "hot", "pattern": "independent", "readiness": "steady"}
    rows = rows.filter(*(pl.col(key) == value for key, value in usual.items()))
    rows = rows.filter(pl.col("energy_uJ").is_not_null(), pl.col("time_ns").is_not_null())
    if rows.is_empty():
        raise EvidenceError("no case of the run has energy", hint="name a device card with --device, or a meter's run")
    time = pl.col("time_ns") * 1e-9
    if counts_cycles:
        time = pl.col("cycles") / clock_Hz if clock_Hz else pl.lit(math.nan)
    by_meter = "energy_scope" in rows.columns
    low, high = ("energy_low_uJ", "energy_high_uJ") if by_meter else ("time_low_ns", "time_high_ns")
    rows = rows.with_columns(
        seconds=time,
        forward=pl.col("operation").is_in(FORWARD),
        sigma=(pl.col(high) / pl.col(low)).log() / (2 * COVERAGE),
    )
    middle = rows.group_by("cipher", "provider", "payload_B", "forward", maintain_order=True).agg(
        pl.col("energy_uJ").mean() * 1e-6, pl.col("seconds").mean(), pl.col("sigma").max(), pl.col("energy_evidence")
    )
    return [
        cost
        for _, rows in middle.group_by("cipher", "provider", maintain_order=True)
        if (cost := _cost(rows, narrowed_by, processes))
    ]


def _cost(rows: pl.DataFrame, narrowed_by: str, processes: int) -> CipherCost | None:
    by_way = rows.partition_by("forward", as_dict=True)
    sides = {way: by_way.get((way,), rows.clear()).sort("payload_B") for way in (True, False)}
    if sides[True].is_empty():
        return None
    # Where a run has no decryption, that of encryption stands for it, as a stream cipher's do.
    seal, opened = sides[True], sides[True] if sides[False].is_empty() else sides[False]
    sizes = seal["payload_B"].to_list()
    first = rows.row(0, named=True)

    def at(column: str) -> list[float]:
        return [float(cost) for cost in np.interp(sizes, opened["payload_B"], opened[column])]

    return CipherCost(
        first["cipher"],
        first["provider"],
        sizes,
        seal["energy_uJ"].to_list(),
        at("energy_uJ"),
        seal["seconds"].to_list(),
        at("seconds"),
        float(rows["sigma"].to_numpy().max()),
        first["energy_evidence"][0] != "measured",
        first["energy_evidence"][0],
        "the run",
        narrowed_by,
        processes=processes,
    )


def ids(costs: Sequence[CipherCost]) -> list[str]:
    """The ciphers that have a cost, each once."""
    return list(dict.fromkeys(cost.cipher for cost in costs))


Language = Literal["C", "Rust", "assembly", "hardware"]
Counted = Literal["core cycles", "part cycles", "board cycles", "hardware time"]
"""Counted without wait states, through a modelled flash, by a counter on a board, or by the clock
while the core waits for hardware."""
Timing = Literal[
    "constant", "constant in its memory", "table lookups", "data-dependent rotations", "branches", "not told"
]
"""On what the code's time depends: on neither key nor data; on neither where its tables lie as `memory` says; else."""
Unit = Literal["cycles", "cycles/B", "us", "kB/s", "KiB/s", "MB/s", "MiB/s"]
TALLY = "tally"
"""Whose records a cost may be of: a link, and no cipher that is chosen by itself."""
CUT_BLOCK = 0.6
"""A whole block may take less than a cut one before it, by 35 % as counted; over the last period figures rise."""
IN_B_PER_s = {"kB/s": 1e3, "KiB/s": 1024.0, "MB/s": 1e6, "MiB/s": 1024.0**2}
TIMES = {"us", *IN_B_PER_s}
Figures = Annotated[
    list[Annotated[list[Annotated[float, Field(gt=0)]], Field(min_length=2, max_length=2)]], Field(min_length=1)
]


class PublishedCost(Table):
    """What ciphers cost by one code, or by hardware, as its source prints it.

    * `implementation`: library and version. `compiler`, `flags`, `memory`: "not told" where the source doesn't.
    * `figures`: octets of a message and its value in `unit`; or `rate`: what each further octet takes, beside `fixed`.
    * `open_figures`: the same of opening, where it was counted too; else it is taken to cost what sealing does.
    * `period_B`: beyond the last figure, so many further octets take what the last so many did.
    * `report_cycles`: of a report that the sensor hears, of tally alone; its `figures` are of the sensor's records, its
      `open_figures` of the gateway's.
    * `timing`: what the code's author or its way of working says; hardware's is hardly ever told.
    * `times`: passes over the message, where the figure is of one. `fixed`: cycles of a message of no octets.
    * `composed`: no source prints it for this cipher; it is made of printed figures of its parts.
    * `devices`: only on these device cards.
    * `unlike`: in which way it is of a slower kind than the others of its core; a `spread` says how much slower.
    * `relative_uncertainty`: uniform, as in `energy.number.Number`; `law_uncertainty`: beside it, how far messages of
      other sizes may be from the law of the figures.
    """

    ciphers: Globs
    implementation: Text
    language: Language
    compiler: Text
    flags: Text
    core: Text
    memory: Text
    counted: Counted
    timing: Timing = "not told"
    unit: Unit
    clock_MHz: Annotated[float, Field(gt=0)] | None = None
    figures: Figures | None = None
    open_figures: Figures | None = None
    rate: Annotated[float, Field(gt=0)] | None = None
    times: Annotated[float, Field(gt=0)] = 1.0
    fixed: Annotated[float, Field(ge=0)] | None = None
    block_B: Annotated[int, Field(ge=1)] = 16
    period_B: Annotated[int, Field(ge=1)] = 1
    report_cycles: Annotated[float, Field(gt=0)] | None = None
    devices: list[Text] = Field(default_factory=list)
    composed: bool = False
    unlike: str = ""
    confidence: Confidence
    relative_uncertainty: Annotated[float, Field(ge=0)]
    law_uncertainty: Annotated[float, Field(ge=0)] = 0.0
    source: Text
    url: str = ""
    because: Text

    @model_validator(mode="after")
    def _tally_has_reports(self) -> Self:
        if self.ciphers != [TALLY] and (TALLY in self.ciphers or self.report_cycles is not None):
            raise ValueError(f'report_cycles is of {TALLY}, in an entry of its own: ciphers = ["{TALLY}"]')
        if self.ciphers == [TALLY] and self.report_cycles is None:
            raise ValueError(f"{TALLY} needs report_cycles")
        return self

    @model_validator(mode="after")
    def _one_law(self) -> Self:
        if (self.figures is None) == (self.rate is None):
            raise ValueError("needs figures or rate, one of them")
        if self.rate is not None and (self.fixed is None or self.unit != "cycles/B"):
            raise ValueError("rate is in cycles/B and needs fixed, the cycles of a message of no octets")
        if self.figures and len(self.figures) > 1 and self.fixed is not None:
            raise ValueError("fixed is for one figure: several say it themselves")
        if self.unit in TIMES and self.clock_MHz is None:
            raise ValueError(f"unit {self.unit} needs clock_MHz")
        if any(octets != int(octets) for octets, _ in self.figures or []):
            raise ValueError("figures begin with whole octets")
        points, opened = self.points, self._converted(self.open_figures)
        if opened and (len(points) == 1 or [octets for octets, _ in opened] != [octets for octets, _ in points]):
            raise ValueError("open_figures are of the octets of figures, two or more")
        if self.period_B > 1 and (len(points) == 1 or self.period_B > points[-1][0] - points[0][0]):
            raise ValueError(f"period_B is {self.period_B} B, more than from the first figure to the last")
        if any(not self._rises(side) for side in (points, opened)):
            raise ValueError("figures must rise, in octets and in what they take")
        if len(points) == 1 and self.fixed is not None and self.fixed >= points[0][1]:
            raise ValueError(f"fixed is {self.fixed:g} cycles, the whole message takes {points[0][1]:g}")
        return self

    @property
    def points(self) -> list[tuple[int, float]]:
        """Octets of a message and its cycles, as printed, converted; none where a rate is given."""
        return self._converted(self.figures)

    @property
    def opened(self) -> list[float]:
        """Cycles of opening messages of the law's octets."""
        return [cycles for _, cycles in self._converted(self.open_figures)] or self.law[1]

    @property
    def law(self) -> tuple[list[int], list[float]]:
        """Octets and cycles between and beyond which a message's are linear."""
        if self.rate is not None and self.fixed is not None:
            return [0, FAR_B], [self.fixed, self.fixed + self.times * self.rate * FAR_B]
        points = self.points
        if len(points) > 1:
            return [octets for octets, _ in points], [cycles for _, cycles in points]
        octets, cycles = points[0]
        fixed = self.fixed or 0.0
        return [0, FAR_B], [fixed, fixed + (cycles - fixed) / octets * FAR_B]

    def _converted(self, figures: Figures | None) -> list[tuple[int, float]]:
        return [(int(octets), self.times * self._cycles(octets, value)) for octets, value in figures or []]

    def _rises(self, points: list[tuple[int, float]]) -> bool:
        sizes, values = [octets for octets, _ in points], [cycles for _, cycles in points]
        a_period_before = [at(sizes[-1] - self.period_B, sizes, values)] if len(points) > 1 else []
        return (
            all(less < more for less, more in pairwise(sizes))
            and all(more > CUT_BLOCK * less for less, more in pairwise(values))
            and all(less < values[-1] for less in a_period_before)
        )

    def _cycles(self, octets: float, value: float) -> float:
        if self.unit == "cycles":
            return value
        if self.unit == "cycles/B":
            return value * octets
        clock_Hz = (self.clock_MHz or 0.0) * 1e6
        return value * 1e-6 * clock_Hz if self.unit == "us" else octets * clock_Hz / (value * IN_B_PER_s[self.unit])

    def is_for(self, device: Device) -> bool:
        """Whether it is for a device."""
        return not self.devices or device.name in self.devices


class Engine(Table):
    """Hardware for ciphers that a device has and of which no figure was found."""

    name: Text
    devices: list[Text]
    does: Text
    source: Text


class CodeSpread(Table):
    """By how much one kind of code of a cipher takes more than another on one core, as published."""

    ciphers: Globs
    factor: Annotated[float, Field(ge=1)]
    source: Text


class CostFile(Table):
    """One file of `data/costs/`, or of the user's.

    * `cores`: its names. `compared`: the language in which the ciphers of the core are compared like with like.
    """

    isa: Isa
    cores: list[Text] = Field(default_factory=list)
    compared: Language = "C"
    narrowed_by: Text = "cycles of this very code on this very board"
    cost: Annotated[list[PublishedCost], Field(min_length=1)]
    engine: list[Engine] = Field(default_factory=list)
    spread: list[CodeSpread] = Field(default_factory=list)

    @model_validator(mode="after")
    def _slower_kinds_have_a_spread(self) -> Self:
        for place, cost in enumerate(self.cost):
            for cipher in cost.ciphers if cost.unlike else []:
                if self.factor(cipher) is None:
                    raise ValueError(f"cost[{place}]: {cipher}: {cost.unlike}, and no spread says by how much")
        return self

    def factor(self, cipher: str) -> float | None:
        """By which factor a slower kind of code takes more."""
        return next((factor.factor for factor in self.spread if matches(cipher, factor.ciphers)), None)


FORM = DefinitionForm(
    "costs",
    "Costs of ciphers on a core, by whose code and counted how.",
    CostFile,
    ("costs",),
    {"what": "a core", "isa": "thumbv7em", "device": "nrf52840"},
)
COSTS = Shelf("cost card", "cards", "costs", CostFile, own_too=True, template="wattlock devices --template costs")
COUNTED_FILE = "-counted"
"""What the names of files have in common that `wattlock costs --from RUN` wrote, behind their instruction set's."""


def names() -> list[str]:
    """The instruction sets with published costs."""
    return sorted(name for name in COSTS.shipped() if COUNTED_FILE not in name)


@cache
def load(isa: str) -> CostFile:
    """The costs of an instruction set: what is published, and what was counted of this code on its cores."""
    published, *counted = (COSTS.load(name)[1] for name in _files(isa))
    comparable = (file.compared for file in counted if any(cost.confidence == "primary" for cost in file.cost))
    costs = [*published.cost, *(cost for file in counted for cost in file.cost)]
    return CostFile(**{**dict(published), "cost": costs, "compared": next(comparable, published.compared)})


def _files(isa: str) -> list[str]:
    return [name for name in COSTS.shipped() if name == isa or name.startswith(f"{isa}{COUNTED_FILE}")]


def template(core: str) -> str:
    """A file of costs to fill, for a core, an instruction set or a device card.

    Raises InputError where there is no such core.
    """
    devices = {name: DEVICES.load(name)[1].isa for name in DEVICES.names()}
    known: dict[str, str] = {isa: isa for isa in get_args(Isa)} | dict(devices)
    known |= {title: name for name in names() for title in load(name).cores}
    name = core.lower()
    isa = known.get(name)
    if isa is None:
        raise InputError(f'no core "{core[:80]}"', hint=suggestion(core, sorted(known), "there are"))
    device = name if name in devices else next((card for card, example in devices.items() if example == isa), "my-card")
    return FORM.template(what=core, isa=isa, device=device)
