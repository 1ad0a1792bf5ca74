"""What is published of microcontrollers: their memory and its wait states, the error of core rules, cycles of others.

`crates/cores` makes part cycles of the same files. Part cycles are no board's: a board has a debugger, interrupts and a
linker's layout besides.
"""

import math
from functools import cache
from itertools import pairwise
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from wattlock.definitions.shelf import Shelf
from wattlock.definitions.toml import Table, Text
from wattlock.errors import InputError

Core = Literal["cortex-m0", "cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m33", "sifive-e31", "esp32-c3"]
Count = Annotated[int, Field(ge=0)]
Size = Annotated[int, Field(gt=0)]
MOST_WAIT_STATES = 15


class SourcedNumbers(Table):
    """Numbers of one source. Confidence as in cards: primary where it was read there, secondary where it was quoted."""

    source: Text
    url: Text | None = None
    confidence: Literal["primary", "secondary", "unverified"]


class WaitStates(Table):
    """`count` cycles are added to a read of the flash where the clock is at most `up_to_Hz`."""

    up_to_Hz: Size
    count: Annotated[int, Field(ge=0, le=MOST_WAIT_STATES)]


class Range(SourcedNumbers):
    """Wait states in one range of the supply or of the core's voltage; the usual range of a part stands first.

    * `prefetch`: whether it may be used there.
    """

    name: Text
    wait_states: Annotated[list[WaitStates], Field(min_length=1)]
    prefetch: bool = True

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        steps = [(step.up_to_Hz, step.count) for step in self.wait_states]
        for (low_Hz, few), (high_Hz, more) in pairwise(steps):
            if low_Hz >= high_Hz or few >= more:
                raise ValueError(f"{high_Hz} Hz with {more} wait states does not follow {low_Hz} Hz with {few}")
        return self


class PartMemory(SourcedNumbers):
    """How much one variant of the part has; the flash is absent where it is another chip.

    * `ram_B`: the largest piece whose addresses follow each other, since a stack can't be divided.
    """

    variant: Text
    flash_B: Size | None = None
    ram_B: Size


class Flash(SourcedNumbers):
    """Where code lies: inside the part, or outside behind a serial interface. One read gives `width_bits`."""

    where: Literal["inside", "outside"]
    width_bits: Size | None = None


class Prefetch(SourcedNumbers):
    """Blocks that are read ahead of the fetch; none where `blocks` is 0."""

    blocks: Count
    block_B: Size | None = None
    after_reset: bool | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.blocks > 0) != (self.block_B is not None and self.after_reset is not None):
            raise ValueError("a prefetch of blocks needs block_B and after_reset, and one without blocks has neither")
        return self


class Cache(SourcedNumbers):
    """A cache between core and flash. What is absent is not published. `ways` of a fully associative one is absent."""

    holds: Literal["instructions", "data", "both"]
    lines: Size | None = None
    line_B: Size | None = None
    ways: Size | None = None
    replacement: Literal["lru", "pseudo-lru", "direct", "not published"]
    after_reset: bool


class Sram(SourcedNumbers):
    """Wait states of the memory for data."""

    wait_states: Count


Percents = Annotated[list[Annotated[float, Field(gt=-100, lt=100)]], Field(min_length=2, max_length=2)]


class Apart(Table):
    """By how much counts lay below what others' boards of the part took, in percent of the latter: least and most.

    * `core_percent`: core cycles, which have no wait states; `part_percent`: part cycles, through the modelled flash.
      A count above a board's is below nothing.
    """

    core_percent: Percents | None = None
    part_percent: Percents | None = None
    source: Text

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        for seen in (self.core_percent, self.part_percent):
            if seen and seen[0] > seen[1]:
                raise ValueError(f"least, {seen[0]:g} %, is more than most, {seen[1]:g} %")
        return self


class Part(Table):
    """A microcontroller as its vendor describes its memory.

    * `not_published`: in words, what a model of its flash would need and the vendor does not say.
    * `apart`: absent where no figure of a board was compared.
    """

    title: Text
    core: Core
    greatest_Hz: Size
    note: Text | None = None
    not_published: list[Text]
    memory: PartMemory
    flash: Flash
    ranges: list[Range] = Field(default=[])
    prefetch: Prefetch | None = None
    caches: list[Cache] = Field(default=[])
    sram: Sram
    apart: Apart | None = None

    @property
    def _sizes(self) -> list[int | None]:
        return [self.flash.width_bits, *(size for cache in self.caches for size in (cache.lines, cache.line_B))]

    @property
    def has_cycles(self) -> bool:
        """Whether what is published makes part cycles; `crates/cores` refuses the others."""
        return self.flash.where == "inside" and None not in self._sizes

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.flash.where == "inside") != bool(self.ranges):
            raise ValueError("flash inside has wait states in ranges, and flash outside has none")
        if (self.flash.where == "inside") != (self.memory.flash_B is not None):
            raise ValueError("memory.flash_B is the size of a flash inside, and of no other")
        if self.ranges and self.ranges[0].wait_states[-1].up_to_Hz != self.greatest_Hz:
            raise ValueError(f"the first range does not end at greatest_Hz, {self.greatest_Hz}")
        if None in self._sizes and not self.not_published:
            raise ValueError("sizes are absent and not_published does not name them")
        return self


PARTS = Shelf("part", "parts", "parts", Part)


def short_title(part: str) -> str:
    """A part as its maker writes it, without the maker: `stm32f407` as STM32F407; an unknown one as it stands."""
    try:
        words = PARTS.load(part)[1].title.partition(",")[0].split()
    except InputError:
        return part
    named = (" ".join(words[start:]) for start in range(len(words)))
    return next((name for name in named if name.replace(" ", "").lower() == part), part)


class BoardFactor(NamedTuple):
    """From counted cycles to a board's, which takes a factor between `low` and `high` of them.

    * `own`: whether boards of this very part were compared, so that the error of its core's rules is in both.
    """

    low: float
    high: float
    own: bool
    source: str

    @property
    def factor(self) -> float:
        """The middle of both, as their logarithms have it."""
        return math.sqrt(self.low * self.high)

    @property
    def width(self) -> float:
        """From the middle to either end, as a logarithm."""
        return math.log(self.high / self.low) / 2


def part_of(device: str) -> str | None:
    """The part of a device card: its name begins with the part's; null where none does."""
    return next((name for name in PARTS.shipped() if f"{device}-".startswith(f"{name}-")), None)


@cache
def step(device: str, cycles: Literal["core cycles", "part cycles"]) -> BoardFactor:
    """From counts to a board of the device: by its own part, else from as counted to the farthest that was compared."""
    found = {name: PARTS.load(name)[1].apart for name in PARTS.shipped()}
    steps = {
        name: BoardFactor(low=100 / (100 - seen[0]), high=100 / (100 - seen[1]), own=True, source=apart.source)
        for name, apart in found.items()
        if apart and (seen := apart.core_percent if cycles == "core cycles" else apart.part_percent)
    }
    part = part_of(device)
    if part in steps:
        return steps[part]
    measured = steps.values()
    farthest = max(measured, key=lambda board: board.high)
    return farthest._replace(low=min(1.0, *(board.low for board in measured)), own=False)


Percent = Annotated[float, Field(ge=0, lt=100)]


class PipelineRule(Table):
    """A number of the pipeline, with its source."""

    value: int | float
    source: Text
    note: Text | None = None


class Error(Table):
    """How far counted cycles lie from published ones: `unseen` figures of all decided no rule."""

    figures: Annotated[int, Field(ge=1)]
    unseen: Annotated[int, Field(ge=0)]
    percentile_95_percent: Percent
    greatest_percent: Percent


class CoreError(Table):
    """A core; one without rules has instructions and no cycles.

    * `limits`: in words, what its cycles don't hold.
    """

    core: Text
    name: Text
    set: Literal["thumb", "rv32"]
    pipeline: Text | None = None
    limits: list[Text]
    rules: dict[str, PipelineRule] = Field(default={})
    error: Error | None = None


CORES = Shelf("core", "cores", "cores", CoreError)


class PublishedCycles(Table):
    """One published number.

    * `function`: as its authors' source calls it. `cycles`: of one call of it.
    * `rounded_to`: the step of the printed number, in cycles of the call: 0.1 a byte over 32 bytes is 3.2.
    * `part`: the name of the part whose flash takes part in the number, where wait states or caches do.
    """

    id: Text
    core: Core
    board: Text
    wait_states: Count
    part: Text | None = None
    function: Text
    operation: Text
    key_bits: Size | None = None
    length_B: Size | None = None
    cycles: Annotated[float, Field(gt=0)]
    rounded_to: Annotated[float, Field(gt=0)] = 1.0
    where: Text


class Figures(Table):
    """The figures of one work and the code that they are of, at the commit that was built.

    * `method`: counted on a board, or by the authors' hand from the pipeline's timing.
    * `counted`: what a number includes: call, return, registers saved.
    * `compiler`: the authors', where C takes part; another one makes other numbers.
    """

    title: Text
    authors: Text
    url: Annotated[str, Field(pattern=r"^https://\S+$")]
    repository: Annotated[str, Field(pattern=r"^https://\S+$")]
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
    licence: Text
    language: Literal["assembly", "assembly and C"]
    compiler: Text | None = None
    method: Literal["board", "by hand"]
    counted: Text
    figures: Annotated[list[PublishedCycles], Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [figure.id for figure in self.figures]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"more than one figure is called {twice[0]}")
        if (self.language == "assembly and C") != (self.compiler is not None):
            raise ValueError("code with C names its compiler, and assembly has none")
        for figure in self.figures:
            if figure.wait_states and figure.part is None:
                raise ValueError(f"{figure.id} has wait states and no part")
            if figure.part is not None and figure.part not in PARTS.shipped():
                raise ValueError(f"{figure.id}: there is no part {figure.part}")
        return self


FIGURES = Shelf("work with published cycles", "works", "published/cycles", Figures)
