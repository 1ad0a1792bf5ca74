"""What the page is told of a run beside the two frames."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """A check that ran among the cases: what it showed with its 95 % interval, and the truth where it is known.

    `verdict` is shown as it stands: "passed", "not resolved", "failed", "no truth known".
    """

    name: str
    measured: float
    low: float
    high: float
    truth: float | None
    verdict: str


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """The device card that valued the cycles: its evidence, what to know of it, what would narrow its interval."""

    name: str
    evidence: str
    notes: Sequence[str] = ()
    narrowed_by: str = ""


@dataclass(frozen=True, slots=True)
class MeterFacts:
    """The meter that measured the energy: its name, what its domain includes, the baseline that was taken off.

    `gain_percent` is the standard uncertainty of its gain and `gain_source` says whose figure that is; `read_us` is
    what a read at the edge of a block costs; `overlaps` names meters that count some of the same joules; `without` says
    how many cases have no energy.
    """

    name: str
    scope: str
    baseline: str
    gain_percent: float
    gain_source: str
    read_us: float | None
    overlaps: Sequence[str] = ()
    without: int = 0


@dataclass(frozen=True, slots=True)
class DischargeFacts:
    """A battery that was discharged: the gauge's name and standard uncertainty, a row a case, and the level over calls.

    `rows` are those of `Result.discharges`; `curves` those that `discharge` draws.
    """

    name: str
    gain_percent: float
    rows: pl.DataFrame
    curves: pl.DataFrame

    @property
    def is_drawn(self) -> bool:
        """Whether there is more than one level to draw."""
        return self.curves["operations"].n_unique() > 1


@dataclass(frozen=True, slots=True)
class CoreClassFacts:
    """The kinds of core of a run that knows several: their names, the study's first one first, and their clocks.

    `rows` are those of `Result.core_class_ratios`: a row a case and other kind of core.
    """

    names: Sequence[str]
    clocks_GHz: Sequence[float | None]
    rows: pl.DataFrame


@dataclass(frozen=True, slots=True)
class InputFacts:
    """One measured file: its label in the frame, its octets, its SHA-256 in hexadecimal. Never its name."""

    data: str
    size_B: int
    sha256: str


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run in the words of the page.

    `created` is an ISO 8601 time; `host` and `inputs` are printed in their order; `canary_GHz` is the median, the 5th
    and the 95th percentile of the core clock, or None where the canary's latency is unknown; `clean_share` is a
    fraction of the batches; `reasons` say why a run is not valid, what disturbed it and what helps; `study` is the name
    that `wattlock run` takes; `crossings` say from which size on a browser's own ciphers are faster, `after_pause` how
    many times as much a single packet costs after a pause.
    """

    study: str
    title: str
    question: str
    id: str
    created: str
    host: Sequence[tuple[str, str]]
    duration_s: float
    cases: int
    resolved: int
    processes: int
    batches: int
    clean_share: float
    canary_GHz: tuple[float, float, float] | None
    self_checks: Sequence[SelfCheck]
    valid: bool
    reasons: Sequence[str] = ()
    device: DeviceFacts | None = None
    meter: MeterFacts | None = None
    discharge: DischargeFacts | None = None
    core_classes: CoreClassFacts | None = None
    inputs: Sequence[InputFacts] = ()
    warnings: Sequence[str] = ()
    crossings: Sequence[str] = ()
    after_pause: Sequence[str] = ()
