"""The self_checks: cases whose truth is known, which say whether a run is to be believed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from wattlock.analysis.estimate import t_half_width
from wattlock.definitions.constants import constant

SELF_CHECK_LEVEL = 0.001
"""Self-checks are judged by 99.9 % intervals."""

AA_BOUND = 0.003
"""Two copies that differ by less than this share do not make a run invalid."""

CARRIED_OUT, CLAIMED = constant("injected_slowdown")
INJECTED_SLOWDOWN = CARRIED_OUT / CLAIMED
"""The injected slowdown carries out 61 calls for each 60 that it claims."""

SLOWDOWN_BOUND = 0.003
"""A injected slowdown that is missed by less than this share does not make a run invalid."""

NAMES = {"aa_test": "A/A test", "injected_slowdown": "injected slowdown"}
"""A self-check's role in the records, and its name for eyes."""


@dataclass(frozen=True)
class Verdict:
    """What one self-check says: the ratio to the reference with its 99.9 % interval, and the truth."""

    name: str
    measured: float
    low: float
    high: float
    truth: float
    believed: bool
    processes: int
    core_class: str | None = None

    @property
    def named(self) -> str:
        """Its name, with the kind of core where a run knows several."""
        return self.name if self.core_class is None else f"{self.name} on {self.core_class} cores"


def judge(cases: Sequence[Mapping[str, Any]], summaries: pl.DataFrame) -> list[Verdict]:
    """Judges the copies and the injected slowdown of each kind of core against the reference of the same process.

    * `cases`: case records of the headers; `summaries`: rows of `within.summarise`.
    * A self-check is not believed where its 99.9 % interval excludes the truth and it misses it by more than 0.3 %, the
      injected slowdown neither where its interval does not exclude that there is none.
    """
    kinds = dict.fromkeys(case.get("core_class") for case in cases)
    return [
        verdict
        for kind in kinds
        for verdict in _judge_kind([case for case in cases if case.get("core_class") == kind], summaries, kind)
    ]


def _judge_kind(
    cases: Sequence[Mapping[str, Any]], summaries: pl.DataFrame, core_class: str | None
) -> Iterator[Verdict]:
    roles = pl.DataFrame(
        {"case": [case["case"] for case in cases], "role": [case["role"] for case in cases]},
        schema={"case": pl.Int64, "role": pl.String},
    ).unique("case")
    by_role = summaries.join(roles, on="case").select("process", "role", "log_canaries")
    reference = by_role.filter(pl.col("role") == "reference").select("process", reference="log_canaries")
    pairs = by_role.join(reference, on="process")
    for role, truth, bound in (("aa_test", 1.0, AA_BOUND), ("injected_slowdown", INJECTED_SLOWDOWN, SLOWDOWN_BOUND)):
        ratios = pairs.filter(pl.col("role") == role).select(log=pl.col("log_canaries") - pl.col("reference"))["log"]
        if len(ratios) < 2:
            continue
        mean = _number(ratios.mean())
        error = t_half_width(_number(ratios.std()), len(ratios), SELF_CHECK_LEVEL)
        missed = abs(mean - math.log(truth))
        # An interval that holds no effect as well has found nothing: noise must not pass for a check.
        found = truth == 1.0 or mean - error > 0
        believed = found and (missed <= error or missed <= bound)
        interval = (math.exp(mean - error), math.exp(mean + error))
        yield Verdict(NAMES[role], math.exp(mean), *interval, truth, believed, len(ratios), core_class)


def aa_excess(verdicts: Sequence[Verdict]) -> float:
    """By how much (log) two copies of one case differ beyond the interval of the A/A test: no noise, and nobody's cost.

    Every ratio of the run may be off by as much. It is 0 where the interval holds 1.
    """
    tests = (verdict for verdict in verdicts if verdict.name == NAMES["aa_test"])
    return max((max(0.0, math.log(test.low), -math.log(test.high)) for test in tests), default=0.0)


def reasons_against(verdicts: Sequence[Verdict]) -> list[str]:
    """Why the run is invalid; empty where it is not."""
    return [
        f"the {v.named} measured {v.measured:.5f} of the reference "
        f"(99.9 % interval {v.low:.5f} to {v.high:.5f}), the truth is {v.truth:.5f}"
        for v in verdicts
        if not v.believed
    ]


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
