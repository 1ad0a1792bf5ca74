"""Runs that counted, beside each other: of one core its versions by their counts, of several cores how they order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import polars as pl

from wattlock.analysis import count_orders, counts
from wattlock.errors import EvidenceError, InputError, Slower
from wattlock.run.counts import Counts

SHOWN_CASES = 5


@dataclass(frozen=True)
class CountPair:
    """A run beside the first: a row a case of both, and the cases that the first alone counted."""

    first: Counts
    second: Counts
    compared: pl.DataFrame
    lost: pl.DataFrame


@dataclass(frozen=True)
class CountComparison:
    """Runs that counted, each compared with the first.

    * `runs`: all of them; one alone where two providers of it are compared. `warnings`: in what they differ.
    """

    runs: Sequence[Counts]
    pairs: Sequence[CountPair]
    warnings: Sequence[str]

    @cached_property
    def table(self) -> pl.DataFrame:
        """A row a case and other run."""
        named = [
            pair.compared.with_columns(
                run_b=pl.lit(pair.second.id),
                core_b=pl.lit(pair.second.core),
                evidence_a=pl.lit(pair.first.evidence),
                evidence_b=pl.lit(pair.second.evidence),
            )
            for pair in self.pairs
        ]
        return pl.concat(named, how="diagonal_relaxed")

    @property
    def is_of_cores(self) -> bool:
        """Whether the runs are of several cores, whose cycles are each their own."""
        return len({run.core for run in self.runs}) > 1

    @cached_property
    def agreement(self) -> pl.DataFrame | None:
        """How alike the cores order the ciphers: of each two runs, by their places, a row a group; null of one."""
        if not self.is_of_cores:
            return None
        frames = []
        for a, b in combinations(range(len(self.runs)), 2):
            first, second = self.runs[a], self.runs[b]
            found = count_orders.agreement(counts.compare(first.estimates, second.estimates))
            places = {"a": a, "b": b, "core_a": first.core, "core_b": second.core}
            frames.append(found.select(*(pl.lit(value).alias(name) for name, value in places.items()), pl.all()))
        return pl.concat(frames, how="diagonal_relaxed")

    def refuse_more(self, share: float) -> None:
        """Raises Slower where a case takes more cycles by more than `share`, or was counted in the first run alone.

        Raises EvidenceError where the runs are of several cores, or of a board and an emulated core.
        """
        if self.is_of_cores:
            what = "--fail-above: cycles of two cores are no slower and no faster version of each other"
            raise EvidenceError(what, hint="compare runs of one core")
        if len({run.evidence for run in self.runs}) > 1:
            what = "--fail-above: cycles of a board and counted cycles are no version of each other"
            raise EvidenceError(what, hint="compare runs of one kind")
        lost = pl.concat([pair.lost for pair in self.pairs])
        if lost.height:
            what = f"{lost.height} cases were counted in the first and not in the second: {_named(lost)}"
            raise Slower(what, hint="`wattlock show RUN` says why each failed; a cipher that is gone has no row")
        more = counts.more_than(self.table, share)
        if more.height:
            what = f"{more.height} of {self.table.height} cases take more by more than {share * 100:.4g} %"
            raise Slower(f"{what}: {_named(more)}", hint="`--format json` prints the counts of all cases")


def _named(rows: pl.DataFrame) -> str:
    shown = rows.head(SHOWN_CASES).to_dicts()
    cases = ", ".join(f"{row['cipher']} {row['operation']} {row['payload_B']} B" for row in shown)
    return cases + (f" and {rows.height - SHOWN_CASES} more" if rows.height > SHOWN_CASES else "")


def compare(first: Counts, others: Sequence[Counts] = (), providers: tuple[str, str] | None = None) -> CountComparison:
    """Compares runs that counted with the first, or one with itself by two providers.

    Raises InputError where no case of the one has its like in the other.
    """
    pairs = [_pair(first, other, providers) for other in others or [first]]
    runs = [first, *others]
    return CountComparison(runs, pairs, list(dict.fromkeys(_differences(runs))))


def _pair(first: Counts, second: Counts, providers: tuple[str, str] | None) -> CountPair:
    for name, run in zip(providers or (), (first, second), strict=False):
        if name not in (there := run.estimates["provider"].unique().sort().to_list()):
            what = f'run {run.id}: no case is by the provider "{name}"'
            raise InputError(what, hint=f"its providers are {', '.join(there)}")
    # One core's rules are wrong alike on both sides; those of two cores each in its own way.
    mixes = (first.mixes, second.mixes) if first.core == second.core else None
    compared = counts.compare(first.estimates, second.estimates, providers, mixes)
    if compared.is_empty():
        raise InputError("no case of the one has its like in the other", hint="`wattlock show RUN` lists a run's cases")
    lost = counts.lost(first.estimates, second.estimates)
    return CountPair(first, second, compared, lost if providers is None else lost.clear())


def _differences(runs: Sequence[Counts]) -> Iterator[str]:
    first = runs[0]
    for other in runs[1:]:
        if first.core != other.core:
            yield f"the runs are of two cores: {first.title} and {other.title}; cycles of each are its own"
        elif first.evidence != other.evidence:
            kinds = " and ".join(f"{run.evidence} on {run.title}" for run in (first, other))
            yield (
                f"the runs differ in their evidence: {kinds}; a board's cycles hold its flash, caches and layout, "
                "core cycles the error of the core's rules"
            )
        elif first.target != other.target:
            what = "part" if first.board is None else "board"
            yield f"the runs differ in their {what}: {first.title} and {other.title}"
        conditions = (
            ("compiler", *(run.header["fingerprint"]["build"]["rustc"] for run in (first, other))),
            ("build (SHA-256 of the probe)", *(run.plan["probe_sha256"][:12] for run in (first, other))),
            ("emulator", *(run.emulator or "none" for run in (first, other))),
        )
        yield from (f"the runs differ in their {what}: {a} and {b}" for what, a, b in conditions if a != b)
