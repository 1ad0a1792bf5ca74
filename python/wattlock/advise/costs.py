"""What a cipher costs on the device: by a run's cells, or by published cycles of its instruction set."""

import math
import tomllib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Annotated, Literal, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field

from wattlock.advise.rules import Globs
from wattlock.energy.cards import Device, Isa
from wattlock.energy.model import COVERAGE, rate
from wattlock.energy.number import Confidence, Table, Text
from wattlock.energy.tasks import BACKWARD, FORWARD
from wattlock.errors import EvidenceError, InputError

FAR_B = 1 << 30
# What borrowed cycles of another instruction set may be off by, either way: nobody measured it.
BORROWED = 1.0


class Published(Table):
    """Cycles of ciphers by somebody's code: `fixed` + `a_byte` * octets in whole blocks of `block_B`.

    * `devices`: only on these cards. `accelerator`: the work of hardware beside the core.
    * `relative_uncertainty`: uniform, as in `energy.number.Number`.
    """

    ciphers: Globs
    provider: Text
    devices: list[Text] = Field(default_factory=list)
    accelerator: bool = False
    block_B: Annotated[int, Field(ge=1)]
    a_byte: Annotated[float, Field(gt=0)]
    fixed: Annotated[float, Field(ge=0)]
    confidence: Confidence
    relative_uncertainty: Annotated[float, Field(ge=0)]
    source: Text
    because: Text


class Shelf(Table):
    """One file of `data/costs/`."""

    isa: Isa
    narrowed_by: Text
    cost: list[Published]


class Cost(NamedTuple):
    """What one cipher of one provider costs at sizes, linear in between and beyond.

    * `seal_J`, `open_J`, `seal_s`, `open_s`: of a message of `sizes_B` octets, rising; seconds are nan where unknown.
    * `log_sigma`: standard uncertainty of its own, beside the device's; `uniform_width`: half-width of the logarithm
      where its law is uniform.
    * `shared`: whether the device card's uncertainty comes on top: it values cycles or seconds.
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
    uniform_width: float | None = None
    block_B: int = 1
    accelerator: bool = False

    def of(self, what: Literal["seal_J", "open_J", "seal_s", "open_s"], octets_B: int) -> float:
        """Joules or seconds of a message."""
        whole_B = -(-octets_B // self.block_B) * self.block_B
        sizes, values = self.sizes_B, getattr(self, what)
        if len(sizes) == 1:
            return float(values[0] * whole_B / sizes[0])
        if whole_B > sizes[-1]:
            slope = (values[-1] - values[-2]) / (sizes[-1] - sizes[-2])
            return float(values[-1] + slope * (whole_B - sizes[-1]))
        if whole_B < sizes[0]:
            slope = (values[1] - values[0]) / (sizes[1] - sizes[0])
            return float(max(values[0] + slope * (whole_B - sizes[0]), 0.0))
        return float(np.interp(whole_B, sizes, values))


def measured(estimates: pl.DataFrame, *, clock_Hz: float | None, counts_cycles: bool, narrowed_by: str) -> list[Cost]:
    """The costs of a run's ciphers, from cells with a key that is ready, raw, hot, messages independent.

    * `estimates`: valued in joules. `clock_Hz`, `counts_cycles`: of the card that valued them, whose time is
      cycles / clock.

    Raises EvidenceError where no cell has energy.
    """
    rows = estimates.filter(pl.col("operation").is_in(FORWARD | BACKWARD), pl.col("payload_B") > 0)
    usual = {"keying": "ready", "encoding": "raw", "placement": "hot", "pattern": "independent"}
    rows = rows.filter(*(pl.col(key) == value for key, value in usual.items()))
    rows = rows.filter(pl.col("energy_uJ").is_not_null(), pl.col("time_ns").is_not_null())
    if rows.is_empty():
        raise EvidenceError("no cell of the run has energy", hint="name a device card with --device, or a meter's run")
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
        cost for _, of in middle.group_by("cipher", "provider", maintain_order=True) if (cost := _cost(of, narrowed_by))
    ]


def _cost(rows: pl.DataFrame, narrowed_by: str) -> Cost | None:
    sides = {way: rows.filter(pl.col("forward") == way).sort("payload_B") for way in (True, False)}
    if sides[True].is_empty():
        return None
    # Where a run has no decryption, that of encryption stands for it, as a stream cipher's do.
    seal, opened = sides[True], sides[True] if sides[False].is_empty() else sides[False]
    sizes = seal["payload_B"].to_list()
    first = rows.row(0, named=True)

    def at(column: str) -> list[float]:
        return [float(one) for one in np.interp(sizes, opened["payload_B"], opened[column])]

    return Cost(
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
    )


def published(device: Device, *, allow_assumed: bool, accelerator: bool = True) -> list[Cost]:
    """The costs by published cycles of the card's instruction set, valued by the card.

    Where nobody published any for it those of Cortex-M4 are taken with a factor of two either way, if assumed figures
    are allowed. Raises EvidenceError where they are not, InputError where the card values time and no cycles.
    """
    isa = device.card.isa
    if not device.card.counts_cycles:
        hint = f"name a run that measured an {isa} with --run, or a card that values cycles"
        raise InputError(f"device card {device.name} values time, and published costs are in cycles", hint=hint)
    found = isa in names()
    if not found and not allow_assumed:
        raise EvidenceError(
            f"what ciphers cost on {isa} is not known here",
            hint="measure it there and name the run with --run; --allow-assumed takes cycles of Cortex-M4 in their "
            f"place, which may be off by a factor of {1 + BORROWED:g} either way",
        )
    shelf = load(isa if found else "thumbv7em")
    here = [
        one
        for one in shelf.cost
        if (not one.devices or device.name in one.devices) and (found or not one.devices)
        if accelerator or not one.accelerator
    ]
    return [cost for one in here for cost in _valued(one, shelf, device, borrowed=not found)]


def names() -> list[str]:
    """The instruction sets with published costs."""
    folder = files("wattlock") / "data" / "costs"
    return sorted(one.name.removesuffix(".toml") for one in folder.iterdir() if one.name.endswith(".toml"))


def load(isa: str) -> Shelf:
    """The published costs of an instruction set."""
    return Shelf.model_validate(tomllib.loads((files("wattlock") / "data" / "costs" / f"{isa}.toml").read_text()))


def _valued(one: Published, shelf: Shelf, device: Device, *, borrowed: bool) -> Iterator[Cost]:
    joules = rate(device.card).joules
    clock = device.card.frequency
    sizes = [0, FAR_B]
    cycles = [one.fixed + one.a_byte * size for size in sizes]
    J = [joules * count for count in cycles]
    s = [count / clock.in_SI if clock else math.nan for count in cycles]
    width = math.log1p(one.relative_uncertainty) + (math.log1p(BORROWED) if borrowed else 0.0)
    doubted = borrowed or one.confidence in {"unverified", "assumed"}
    for cipher in one.ciphers:
        yield Cost(
            cipher,
            one.provider,
            sizes,
            J,
            J,
            s,
            s,
            width / math.sqrt(3),
            shared=True,
            evidence="assumed" if doubted or device.card.evidence == "assumed" else "modelled",
            source=f"{one.source}{f'; taken for {device.card.isa}' if borrowed else ''}",
            narrowed_by=shelf.narrowed_by,
            uniform_width=width,
            block_B=one.block_B,
            accelerator=one.accelerator,
        )


def ids(costs: Sequence[Cost]) -> list[str]:
    """The ciphers that have a cost, each once."""
    return list(dict.fromkeys(cost.cipher for cost in costs))
