"""The self_checks: cases whose truth is known, which say whether a run is to be believed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from wattlock.analysis.distributions import t_quantile
from wattlock.analysis.estimate import errors_of, joined, level_of_a_look
from wattlock.definitions.constants import constant

SELF_CHECK_LEVEL = 0.001
"""A self-check fails by a 99.9 % interval: of a thousand sound runs one is called invalid."""

MISS = 0.003
"""A self-check whose interval comes as near to the truth as this does not make a run invalid."""

MATTERS = 0.005
"""A self-check with a wider half-width has not told anything yet: 0.5 %, as no smaller difference is ever claimed."""

CARRIED_OUT, CLAIMED = constant("injected_slowdown")
INJECTED_SLOWDOWN = CARRIED_OUT / CLAIMED
"""The injected slowdown carries out 61 calls for each 60 that it claims."""

NAMES = {"aa_test": "A/A test", "injected_slowdown": "injected slowdown"}
"""A self-check's role in the records, and its name for eyes."""

TRUTHS = {"aa_test": 1.0, "injected_slowdown": INJECTED_SLOWDOWN}

State = Literal["passed", "not resolved", "failed"]


@dataclass(frozen=True)
class Verdict:
    """What one self-check says: the ratio to the reference with its 95 % interval, and the truth.

    * `state`: failed where a 99.9 % interval excludes the truth by more than 0.3 %; else not resolved where the 95 %
      interval is wider than ±0.5 %; else passed.
    """

    name: str
    measured: float
    low: float
    high: float
    truth: float
    state: State
    processes: int
    core_class: str | None = None

    @property
    def named(self) -> str:
        """Its name, with the kind of core where a run knows several."""
        return self.name if self.core_class is None else f"{self.name} on {self.core_class} cores"

    @property
    def excess(self) -> float:
        """By how much (of a log) the measured ratio misses the truth beyond its interval; 0 where that holds it."""
        half = math.log(self.high / self.measured)
        return max(0.0, abs(math.log(self.measured / self.truth)) - half)

    def message(self) -> str:
        """What was measured, and what it should be."""
        shown = " to ".join(f"{100 * (ratio - 1):+.2f}" for ratio in (self.low, self.high))
        what = "two copies of the same case differ by" if self.truth == 1 else "a slowdown put in on purpose measured"
        measured, truth = (f"{100 * (ratio - 1):+.2f} %" for ratio in (self.measured, self.truth))
        return f"{what} {measured} ({shown}) in place of {truth} ({self.named})"


def judge(cases: Sequence[Mapping[str, Any]], summaries: pl.DataFrame, looks: Sequence[int] = ()) -> list[Verdict]:
    """Judges the copies and the injected slowdown of each kind of core against the reference of the same process.

    * `cases`: case records of the headers; `summaries`: rows of `within.summarise`; `looks`: those of the study, which
      share the level as for any case.
    """
    kinds = dict.fromkeys(case.get("core_class") for case in cases)
    return [
        verdict
        for kind in kinds
        for verdict in _judge_kind([case for case in cases if case.get("core_class") == kind], summaries, looks, kind)
    ]


def _judge_kind(
    cases: Sequence[Mapping[str, Any]], summaries: pl.DataFrame, looks: Sequence[int], core_class: str | None
) -> Iterator[Verdict]:
    roles = pl.DataFrame(
        {"case": [case["case"] for case in cases], "role": [case["role"] for case in cases]},
        schema={"case": pl.Int64, "role": pl.String},
    ).unique("case")
    leant = summaries.with_columns(error=pl.Series(errors_of(summaries), dtype=pl.Float64))
    by_role = leant.join(roles, on="case").select("process", "role", "log_canaries", "error")
    reference = by_role.filter(pl.col("role") == "reference").select("process", at="log_canaries", at_error="error")
    pairs = by_role.join(reference, on="process").sort("process")
    for role, truth in TRUTHS.items():
        found = pairs.filter(pl.col("role") == role)
        if found.height < 2:
            continue
        logs = (found["log_canaries"] - found["at"]).to_numpy()
        mean, error, freedom = joined(logs, np.hypot(found["error"].to_numpy(), found["at_error"].to_numpy()))
        half, wide = (
            t_quantile(freedom, 1 - level / 2) * error for level in (level_of_a_look(looks), SELF_CHECK_LEVEL)
        )
        missed = abs(mean - math.log(truth))
        state: State = "failed" if missed - wide > MISS else "passed" if half <= math.log1p(MATTERS) else "not resolved"
        interval = (math.exp(mean - half), math.exp(mean + half))
        yield Verdict(NAMES[role], math.exp(mean), *interval, truth, state, found.height, core_class)


def aa_excess(verdicts: Sequence[Verdict]) -> float:
    """By how much (of a log) two copies of a case differ beyond what their interval allows: 0 on a sound machine.

    Each ratio's half-width grows by it, so that what is wrong with a run can only make a case undecided.
    """
    return max((verdict.excess for verdict in verdicts if verdict.name == NAMES["aa_test"]), default=0.0)


def reasons_against(verdicts: Sequence[Verdict]) -> list[str]:
    """Why the run is invalid; empty where it is not."""
    return [verdict.message() for verdict in verdicts if verdict.state == "failed"]


def not_resolved(verdicts: Sequence[Verdict]) -> list[str]:
    """What the self-checks could not tell of the run; empty where they could."""
    return [
        f"a self-check is known to ±{100 * (verdict.high / verdict.measured - 1):.1f} % only: {verdict.message()}"
        for verdict in verdicts
        if verdict.state == "not resolved"
    ]
