"""Files of costs, `data/costs/` and a user's own: what ciphers take by one code or hardware, as sources print it."""

from functools import cache
from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from wattlock.advise.costs import FAR_B, at
from wattlock.definitions import Form, Shelf, Table, Text
from wattlock.energy.cards import Device, Isa
from wattlock.energy.number import Confidence
from wattlock.security.rules import Globs, matches

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


class Published(Table):
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
        if any(not self._rises(one) for one in (points, opened)):
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


class Spread(Table):
    """By how much one kind of code of a cipher takes more than another on one core, as published."""

    ciphers: Globs
    factor: Annotated[float, Field(ge=1)]
    source: Text


class File(Table):
    """One file of `data/costs/`, or of the user's.

    * `cores`: its names. `compared`: the language in which the ciphers of the core are compared like with like.
    """

    isa: Isa
    cores: list[Text] = Field(default_factory=list)
    compared: Language = "C"
    narrowed_by: Text = "cycles of this very code on this very board"
    cost: Annotated[list[Published], Field(min_length=1)]
    engine: list[Engine] = Field(default_factory=list)
    spread: list[Spread] = Field(default_factory=list)

    @model_validator(mode="after")
    def _slower_kinds_have_a_spread(self) -> Self:
        for place, one in enumerate(self.cost):
            for cipher in one.ciphers if one.unlike else []:
                if self.factor(cipher) is None:
                    raise ValueError(f"cost[{place}]: {cipher}: {one.unlike}, and no spread says by how much")
        return self

    def factor(self, cipher: str) -> float | None:
        """By which factor a slower kind of code takes more."""
        return next((one.factor for one in self.spread if matches(cipher, one.ciphers)), None)


FORM = Form(
    "costs",
    "Costs of ciphers on a core, by whose code and counted how.",
    File,
    ("costs",),
    {"what": "a core", "isa": "thumbv7em", "device": "nrf52840"},
)
COSTS = Shelf("cost card", "cards", "costs", File, own_too=True)
COUNTED_FILE = "-counted"
"""What the names of files have in common that `wattlock costs --from RUN` wrote, behind their instruction set's."""


def names() -> list[str]:
    """The instruction sets with published costs."""
    return sorted(name for name in COSTS.shipped() if COUNTED_FILE not in name)


@cache
def load(isa: str) -> File:
    """The costs of an instruction set: what is published, and what was counted of this code on its cores."""
    published, *counted = (COSTS.load(name)[1] for name in _files(isa))
    comparable = (file.compared for file in counted if any(one.confidence == "primary" for one in file.cost))
    every = [*published.cost, *(one for file in counted for one in file.cost)]
    return File(**{**dict(published), "cost": every, "compared": next(comparable, published.compared)})


def _files(isa: str) -> list[str]:
    return [name for name in COSTS.shipped() if name == isa or name.startswith(f"{isa}{COUNTED_FILE}")]
