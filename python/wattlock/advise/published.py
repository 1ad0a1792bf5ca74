"""Published cycles of ciphers by core, and a user's own: which code, counted how; the best of each cipher is taken."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from wattlock.advise.costs import FAR_B, Cost, Message, Origin, at
from wattlock.definitions import Form, Shelf, Table, Text, own_folder
from wattlock.energy.cards import Device, Isa
from wattlock.energy.number import Confidence
from wattlock.errors import InputError
from wattlock.security.rules import Globs, matches
from wattlock.targets.parts import step

# What borrowed cycles of another core may be off by, either way: nobody counted them there.
BORROWED = 1.0
# Whose cycles are borrowed where nobody published any for a core.
LENDER: Isa = "thumbv7em"
COMPILED = {"C", "Rust"}
Language = Literal["C", "Rust", "assembly", "hardware"]
Counted = Literal["core cycles", "part cycles", "board cycles", "hardware time"]
"""Counted without wait states, through a modelled flash, by a counter on a board, or by the clock
while the core waits for hardware."""
Timing = Literal[
    "constant", "constant in its memory", "table lookups", "data-dependent rotations", "branches", "not told"
]
"""On what the code's time depends: on neither key nor data; on neither where its tables lie as `memory` says; else."""
SOUND: set[Timing] = {"constant", "constant in its memory"}
Unit = Literal["cycles", "cycles/B", "us", "kB/s", "KiB/s", "MB/s", "MiB/s"]
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
    * `timing`: what the code's author or its way of working says; hardware's is hardly ever told.
    * `times`: passes over the message, where the figure is of one. `fixed`: cycles of a message of no octets.
    * `composed`: no source prints it for this cipher; it is made of printed figures of its parts.
    * `devices`: only on these device cards.
    * `unlike`: in which way it is of another kind than the others of its core; a `spread` says how much that is.
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
    """By how much kinds of code of one cipher differ on one core, as published."""

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
    def _kinds_apart_have_a_spread(self) -> Self:
        for place, one in enumerate(self.cost):
            for cipher in one.ciphers:
                if self.apart(one, cipher) and self.factor(cipher) is None:
                    raise ValueError(f"cost[{place}]: {cipher} {self.apart(one, cipher)}, and no spread has it")
        return self

    def apart(self, one: Published, cipher: str) -> str:
        """In which way a cost can't be compared like with like; empty where it can."""
        if one.unlike:
            return one.unlike
        like = [other for other in self.cost if cipher in other.ciphers and other.language == self.compared]
        if one.language in {"hardware", self.compared} or like:
            return ""
        return f"has no figure in {self.compared} on this core, as the others have"

    def factor(self, cipher: str) -> float | None:
        """By which factor kinds of code differ."""
        return next((one.factor for one in self.spread if matches(cipher, one.ciphers)), None)


class Priced(NamedTuple):
    """What ciphers cost on a device.

    * `taken`: the best of each cipher, code and hardware apart. `unranked`: assumed ones that nobody consented to.
    * `slower`: what else is known of them. `engines`: hardware without a figure. `compared`: in which language.
    """

    taken: list[Cost]
    unranked: list[Cost]
    slower: list[Cost]
    engines: list[Engine]
    compared: str = "C"


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


def price(
    device: Device,
    messages: Sequence[Message],
    *,
    allow_assumed: bool,
    accelerator: bool = True,
    given: Path | None = None,
    own: Path | None = None,
) -> Priced:
    """What ciphers cost by published cycles of the card's core and by the user's own, valued by the card.

    * `messages`: for which the best is sought. `given`: a file of the user's; `own`: the user's folder of cards.

    A cipher that nobody counted on the core takes cycles of Cortex-M4 with a factor of two either way. Raises
    InputError where the card values time and no cycles, or a file of the user's is wrong.
    """
    isa = device.card.isa
    if not device.card.counts_cycles:
        hint = f"name a run that measured an {isa} with --run, or a card that values cycles"
        raise InputError(f"device card {device.name} values time, and published costs are in cycles", hint=hint)
    files = [*_own(isa, own), *([_given(given, device)] if given else [])]
    mine = [cost for file in files for cost in _valued(file, device, own=True)]
    home = load(isa) if isa in names() else None
    described = list(_valued(home, device)) if home else []
    # The user's own figure of a cipher stands for what is published of it, code and hardware apart.
    preferred = [cost for cost in mine if allow_assumed or not cost.doubt]
    replaced = {(cost.cipher, cost.accelerator) for cost in preferred}
    every = preferred + [cost for cost in described if (cost.cipher, cost.accelerator) not in replaced]
    known = {cost.cipher for cost in every}
    every += [cost for cost in _borrowed(device) if cost.cipher not in known]
    every = [cost for cost in _through_flash(every) if accelerator or not cost.accelerator]
    best = _best(every, messages)
    engines = [one for one in home.engine if device.name in one.devices] if home else []
    return Priced(
        [cost for cost in best if allow_assumed or not cost.doubt],
        [cost for cost in [*best, *(one for one in mine if one not in preferred)] if cost.doubt and not allow_assumed],
        [cost for cost in every if not any(cost is one for one in best)],
        engines if accelerator else [],
        home.compared if home else "C",
    )


def names() -> list[str]:
    """The instruction sets with published costs."""
    return sorted(name for name in COSTS.shipped() if COUNTED_FILE not in name)


@cache
def load(isa: str) -> File:
    """The costs of an instruction set: what is published, and what was counted of this code on its cores."""
    published, *counted = (COSTS.load(name)[1] for name in _files(isa))
    comparable = (file.compared for file in counted if any(one.confidence == "primary" for one in file.cost))
    every = [*published.cost, *(one for file in counted for one in file.cost)]
    return published.model_copy(update={"cost": every, "compared": next(comparable, published.compared)})


def _files(isa: str) -> list[str]:
    return [name for name in COSTS.shipped() if name == isa or name.startswith(f"{isa}{COUNTED_FILE}")]


def _given(path: Path, device: Device) -> File:
    isa = device.card.isa
    if not path.is_file():
        raise InputError(f"--costs {path}: there is no such file", hint="--costs-template CORE prints one to fill")
    file = COSTS.load(path)[1]
    if file.isa != isa:
        hint = f"count on a core of {isa}: `wattlock run mcu-costs --on qemu:CORE`, then `wattlock costs --from last`"
        raise InputError(f"--costs {path}: is for {file.isa}, the device is {isa}", hint=hint)
    if not any(one.is_for(device) for one in file.cost):
        named = sorted({name for one in file.cost for name in one.devices})
        hint = (
            f"figures hold for a device by its name in devices; part cycles of another part are none of {device.name}"
        )
        raise InputError(f"--costs {path}: all of it is for {', '.join(named)}, none for {device.name}", hint=hint)
    return file


def _own(isa: str, own: Path | None) -> list[File]:
    folder = own_folder(own)
    paths = sorted((folder / "costs").glob("*.toml")) if folder else []
    return [file for file in (COSTS.load(path)[1] for path in paths) if file.isa == isa]


def _borrowed(device: Device) -> Iterator[Cost]:
    lender = load(LENDER)
    lent = lender.model_copy(update={"cost": [one for one in lender.cost if one.language in COMPILED]})
    yield from _valued(lent, device, borrowed=True)


def _valued(file: File, device: Device, *, borrowed: bool = False, own: bool = False) -> Iterator[Cost]:
    for one in file.cost:
        if not one.is_for(device):
            continue
        for cipher in one.ciphers:
            yield _cost(one, cipher, file, device, borrowed=borrowed, own=own)


def _cost(one: Published, cipher: str, file: File, device: Device, *, borrowed: bool, own: bool) -> Cost:
    joules = device.card.rate.joules
    clock = device.card.frequency
    sizes, cycles = one.law
    to_open = one.opened
    clock_Hz = clock.in_SI if clock else math.nan
    apart = file.apart(one, cipher)
    width = math.log1p(one.relative_uncertainty) + math.log1p(one.law_uncertainty)
    width += math.log1p(BORROWED) if borrowed else 0.0
    because = one.because
    if one.counted in {"core cycles", "part cycles"}:
        to_board = step(device.name, one.counted)
        width -= math.log1p(-to_board.percent / 100)
        because += f"; a board's are at most {to_board.percent:g} % away, which its interval holds ({to_board.source})"
    if apart:
        width += math.log(file.factor(cipher) or 1.0)
    doubt = apart
    if borrowed:
        doubt = f"nobody counted it on {device.card.isa}: borrowed from {file.cores[0]}"
    elif one.confidence in {"unverified", "assumed"}:
        unverified = (
            "nobody could verify its source" if one.confidence == "unverified" else one.because.partition(";")[0]
        )
        why = "its file says so" if own else unverified
        doubt = "; ".join(part for part in (apart, why) if part)
    origin = Origin(
        one.implementation,
        one.language,
        one.compiler,
        one.flags,
        one.core,
        one.memory,
        one.counted,
        one.url,
        because,
        one.timing,
        own=own,
        composed=one.composed,
    )
    return Cost(
        cipher,
        f"{one.implementation.partition(',')[0]}, {one.language}",
        sizes,
        [joules * count for count in cycles],
        [joules * count for count in to_open],
        [count / clock_Hz for count in cycles],
        [count / clock_Hz for count in to_open],
        width / math.sqrt(3),
        shared=True,
        evidence="assumed" if doubt or device.card.evidence == "assumed" else "modelled",
        source=one.source,
        narrowed_by=file.narrowed_by,
        uniform_width=width,
        block_B=one.block_B,
        period_B=one.period_B,
        accelerator=one.language == "hardware",
        cycles=cycles,
        open_cycles=to_open,
        origin=origin,
        doubt=doubt,
    )


def _through_flash(every: list[Cost]) -> list[Cost]:
    """Without core cycles of code whose part cycles are known for this very device."""

    def code(cost: Cost, counted: Counted) -> tuple[str, str] | None:
        origin = cost.origin
        return (cost.cipher, origin.implementation) if origin and origin.counted == counted else None

    in_flash = {code(cost, "part cycles") for cost in every} - {None}
    return [cost for cost in every if code(cost, "core cycles") not in in_flash]


def _best(every: Sequence[Cost], messages: Sequence[Message]) -> list[Cost]:
    """Of each cipher the code and the hardware with the fewest cycles for the messages.

    What needs no consent stands before all else, then code whose time tells nothing of the key, and the user's own.
    """

    def order(one: Cost) -> tuple[bool, bool, float]:
        return bool(one.doubt), not is_sound(one), one.spent(messages)

    found: dict[tuple[str, bool], Cost] = {}
    for cost in sorted(every, key=order):
        found.setdefault((cost.cipher, cost.accelerator), cost)
    return list(found.values())


def is_sound(cost: Cost) -> bool:
    """Whether a cost is of code whose time tells nothing of the key, or of what the user brought."""
    return cost.origin is None or cost.origin.own or cost.origin.timing in SOUND


def follows_the_code(priced: Priced, messages: Sequence[Message]) -> list[str]:
    """Of which ciphers the order follows the code: other languages, and like with like it is another order or none."""
    code = [cost for cost in priced.taken if cost.origin and not cost.accelerator]
    every = [*code, *(cost for cost in priced.slower if cost.origin and not cost.accelerator)]
    like = {}
    for cost in sorted(every, key=lambda one: -one.spent(messages)):
        if cost.origin and cost.origin.language == priced.compared and not cost.doubt:
            like[cost.cipher] = cost
    by_reason: dict[tuple[str, str], list[str]] = {}
    for first, second in combinations(sorted(code, key=lambda one: one.spent(messages)), 2):
        why = _order(first, second, like, priced.compared, messages)
        if why and first.origin != second.origin:
            by_reason.setdefault((why, second.cipher), []).append(first.cipher)
    merged: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (why, after), before in by_reason.items():
        merged.setdefault((why, tuple(before)), []).append(after)
    return [
        f"the order between {', '.join(before)} and {', '.join(after)} follows the code, not the cipher: {why}"
        for (why, before), after in merged.items()
    ]


def _order(first: Cost, second: Cost, like: Mapping[str, Cost], compared: str, messages: Sequence[Message]) -> str:
    """Why the order of two costs says nothing of their ciphers; empty where it does."""
    origins = [one.origin for one in (first, second) if one.origin]
    languages = [one.language for one in origins]
    missing = [one.cipher for one in (first, second) if one.cipher not in like]
    if len({(one.language, one.core, one.counted) for one in origins}) == 1:
        return ""
    if missing and (languages[0] != languages[1] or first.doubt or second.doubt):
        return f"of {missing[0]} no figure in {compared} is comparable on this core"
    if missing or languages[0] == languages[1]:
        return ""
    cycles = [like[one.cipher].spent(messages) for one in (first, second)]
    turned = f"{languages[0]} against {languages[1]}; both in {compared} it is the other way round"
    return turned if cycles[0] > cycles[1] else ""
