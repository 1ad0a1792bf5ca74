"""Measuring on where a run would end invalid or with unresolved cases: `--keep-trying`.

The further looks are planned before anything is measured, so that they share the level with the others: an interval at
any of them holds the truth as often as one of a run that stops earlier.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

FURTHER_LOOKS = 4
"""Looks beyond the last: a case has up to five times as many processes, and an interval of less than half the width."""

GROWTH = 1.5
"""Each has so many times the processes of the one before."""


@dataclass(frozen=True)
class KeepTrying:
    """How long a run goes on, and from where.

    * `minutes`: since the session began. `usual`: the last look of the study; what is measured beyond it is tried on.
    """

    minutes: float
    usual: int

    def kept(self) -> dict[str, Any]:
        """As the plan keeps it."""
        return {"minutes": self.minutes, "usual": self.usual}


def recalled(plan: Mapping[str, Any]) -> KeepTrying | None:
    """As a plan's first line has it; null where the run ends at its last look."""
    kept = plan.get("keep_trying")
    return None if kept is None else KeepTrying(float(kept["minutes"]), int(kept["usual"]))


def extended(looks: Sequence[int], most: int) -> list[int]:
    """The looks with those beyond the last; `most`: as many processes as a study may have."""
    found = list(looks)
    for _ in range(FURTHER_LOOKS):
        found.append(min(most, math.ceil(found[-1] * GROWTH)))
    return sorted(set(found))
