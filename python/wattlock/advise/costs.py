"""What a cipher costs on the device, and by whose code; by a run's cases here, by published cycles in `published`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from wattlock.analysis.draws import COVERAGE
from wattlock.energy.tasks import BACKWARD, FORWARD
from wattlock.errors import EvidenceError

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


class Message(NamedTuple):
    """Messages of one size: octets of plaintext, how many a second, and whether the device opens them."""

    octets_B: int
    per_s: float
    opened: bool = False


class Cost(NamedTuple):
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

    def spent(self, messages: Sequence[Message]) -> float:
        """Cycles a second for messages."""
        return sum(one.per_s * self.of("open_cycles" if one.opened else "cycles", one.octets_B) for one in messages)


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
) -> list[Cost]:
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
        for _, of in middle.group_by("cipher", "provider", maintain_order=True)
        if (cost := _cost(of, narrowed_by, processes))
    ]


def _cost(rows: pl.DataFrame, narrowed_by: str, processes: int) -> Cost | None:
    by_way = rows.partition_by("forward", as_dict=True)
    sides = {way: by_way.get((way,), rows.clear()).sort("payload_B") for way in (True, False)}
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
        processes=processes,
    )


def ids(costs: Sequence[Cost]) -> list[str]:
    """The ciphers that have a cost, each once."""
    return list(dict.fromkeys(cost.cipher for cost in costs))
