"""The policy of two builds: both are measured in each process, visit by visit, until every case is decided.

A pair of cases is decided where the interval of its ratio lies wholly above the margin, wholly below it or wholly
within it. What isn't when the budget is spent stays undecided. Where one build can't be loaded beside the other,
processes of the one and of the other take turns.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl

from wattlock.analysis import estimate, self_checks
from wattlock.analysis.comparison import verdict
from wattlock.analysis.estimate import consensus
from wattlock.analysis.within import beside, leant, summarise_pairs
from wattlock.analysis.within import ratios as paired_ratios
from wattlock.errors import InputError
from wattlock.run import shards
from wattlock.run.timing import Timing
from wattlock.study import Case


class PairedPlan(NamedTuple):
    """What a run of two builds is to decide, as its plan keeps it.

    * `pairs`: numbers of two cases that differ in the library alone, the first library's first.
    * `margin`: the share by which a ratio may differ from 1; `budget_s`: what measuring may take.
    * `apart`: why the two can't be in one process; null where they are.
    """

    pairs: Sequence[tuple[int, int]]
    margin: float
    budget_s: float
    apart: str | None = None

    @classmethod
    def of(
        cls, cases: Sequence[Case], libraries: Sequence[str], margin: float, budget_s: float, apart: str | None
    ) -> Self:
        """The plan of these cases: each of the first of two libraries with its like of the second."""
        alike: dict[tuple[Any, ...], dict[str, int]] = {}
        for case in cases:
            key = tuple(value for name, value in asdict(case).items() if name not in {"case", "provider"})
            alike.setdefault(key, {})[case.provider] = case.case
        first, second = libraries
        pairs = [(by_name[first], by_name[second]) for by_name in alike.values() if len(by_name) == 2]
        return cls(pairs, margin, budget_s, apart)

    @classmethod
    def kept_in(cls, plan: Mapping[str, Any]) -> Self | None:
        """That of a run's plan, whose first line this is; null where the run is of no two builds."""
        kept = plan.get("paired")
        return None if kept is None else cls(**kept | {"pairs": [(first, second) for first, second in kept["pairs"]]})


@dataclass
class PairedTiming(Timing):
    """One session of a run of two builds.

    * `decides`: what it is to decide; `ratios`: rows of `paired.SCHEMA` by process; `rounds`: how often all cases that
      were due were measured.
    """

    decides: PairedPlan = field(kw_only=True)
    ratios: dict[int, pl.DataFrame] = field(default_factory=dict)
    rounds: int = 0
    begun_s: float = field(default_factory=time.monotonic)

    def pending(self) -> list[Case]:
        """The cases of pairs that are not decided, and of which neither has failed."""
        left = {case for pair in self.decides.pairs if not self.failed.intersection(pair) for case in pair}
        return [case for case in super().pending() if case.case in left]

    def look(self) -> None:
        """Settles the pairs that are decided, where the run is believed; sets the visits."""
        if not self.summaries:
            return
        self.rounds += 1
        cases = [asdict(case) for case in (*self.cases, *self.watch)]
        verdicts = self_checks.judge(cases, pl.concat(self.summaries.values()))
        is_believed, excess = not self_checks.reasons_against(verdicts), self_checks.aa_excess(verdicts)
        invalid = set(self._across().filter(pl.col("state") == "invalid")["case"])
        rows, due = self._rows(), {case.case for case in self.pending()}
        ratios = paired_ratios(rows, self.study.looks)
        groups = {pair: group for pair, group in rows.group_by("first", "second") if due.issuperset(pair)}
        for pair, group in groups.items():
            count, ratio = group.height, ratios.get(pair)
            is_decided = ratio is not None and verdict(ratio[0], ratio[1] + excess, self.decides.margin) != "undecided"
            is_decided &= is_believed and not invalid.intersection(pair)
            if (count in self.study.looks and is_decided) or count >= self.study.looks[-1]:
                self.settled.update(pair)
            if count >= 3:
                self.visits |= dict.fromkeys(pair, self._next_visits(pair[0], group))

    def _next_visits(self, case: int, rows: pl.DataFrame) -> int:
        least, _, most = shards.bounds_of_visits(self.segments.get(case, 1))
        errors = leant(rows["error"].to_list(), rows["visits"].to_list())
        spread = float(np.median(errors * rows["visits"].sqrt().to_numpy()))
        between = consensus(rows["log_ratio"].to_numpy()[None], errors[None]).between[0]
        return max(least, estimate.next_visits(float(between), spread, most))

    def _rows(self) -> pl.DataFrame:
        if self.decides.apart is None:
            return pl.concat(self.ratios.values())
        return beside(pl.concat(self.summaries.values()), dict(self.decides.pairs))

    def _summarise(self, process: int) -> None:
        super()._summarise(process)
        header = self.headers[process]
        self.ratios[process] = summarise_pairs(
            self.bench.folder.batches_of(process),
            header,
            self.summaries[process],
            dict(self.decides.pairs),
            self.quiet_ppm.get(self._core_class(header)),
        )

    def _due(self) -> list[Case]:
        spent_s = time.monotonic() - self.begun_s
        budget_s, first_look = self.decides.budget_s, self.study.looks[0]
        if 0 < self.rounds < first_look and (look_s := spent_s / self.rounds * first_look) > budget_s:
            what = f"--budget {budget_s:g}s: is too short: {first_look} processes, the least, take {look_s:.0f} s here"
            raise InputError(what, hint=f"--budget {math.ceil(1.5 * look_s)}s, or a study of fewer cases")
        return self.pending() if spent_s < budget_s else []

    def _shards(self, due: Sequence[Case]) -> list[list[Case]]:
        if self.decides.apart is None:
            return shards.split(due, self._seed("split"), pairs=dict(self.decides.pairs))
        return super()._shards(due)

    def _pairs(self) -> Mapping[int, int]:
        return {} if self.decides.apart else dict(self.decides.pairs)
