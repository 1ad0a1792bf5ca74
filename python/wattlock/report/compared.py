"""A comparison as its page, figures and files take it: runs with letters and names, the others beside the first."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from wattlock.errors import InputError
from wattlock.report.cycles import Group, answering, groups_of, shared_of
from wattlock.report.described import begun, conditions
from wattlock.run.result import Result
from wattlock.run.run_comparison import Comparison, Pair, meters_are_alike
from wattlock.store import find

MOST_SIDES = 8
"""More runs don't fit one page."""
LONGEST_NAME = 24
"""A run with a longer name is called by its letter alone where it stands often."""
NOISE = re.compile(r"\((?:R|TM|tm)\)|\bCPU\b|\bProcessor\b|@.*$|\b\d+-Core\b")
"""What a processor's name says beside its name."""


@dataclass(frozen=True, slots=True)
class LetteredRun:
    """One of the runs: its letter, what it is called, and itself; of implementations the cases of its own alone."""

    letter: str
    name: str
    result: Result

    @property
    def run(self) -> str:
        """The run's id."""
        return self.result.id

    @property
    def reasons(self) -> list[str]:
        """Why the run is invalid, if it is."""
        return self.result.explained

    @property
    def conditions(self) -> Mapping[str, str | None]:
        """What its times were measured under: the same labels on all sides, null where it is not known."""
        return dict(conditions(self.result))

    @property
    def label(self) -> str:
        """The letter with the name, as a figure has it."""
        return f"{self.letter} {self.name}"

    @property
    def brief(self) -> str:
        """Where it stands a thousand times: with its name where that is short, else the letter alone."""
        return self.label if len(self.name) <= LONGEST_NAME else self.letter

    @property
    def spoken(self) -> str:
        """The same in a sentence."""
        return f"{self.letter} ({self.name})"


@dataclass(frozen=True, slots=True)
class Against:
    """A run beside the first; `rows`: a row a case with its ratio, what that is of and its verdict."""

    side: LetteredRun
    pair: Pair
    rows: pl.DataFrame


@dataclass(frozen=True)
class RunComparison:
    """Runs beside the first: `found`: as they were compared; `command`: draws it again."""

    first: LetteredRun
    others: Sequence[Against]
    found: Comparison
    command: str

    @property
    def sides(self) -> list[LetteredRun]:
        """The first and the others."""
        return [self.first, *(other.side for other in self.others)]

    @cached_property
    def families(self) -> Mapping[str, str]:
        """Of each cipher."""
        frames = (side.result.estimates.select("cipher", "family") for side in self.sides)
        return {cipher: family for frame in frames for cipher, family in frame.iter_rows()}

    @property
    def evidence(self) -> str:
        """What times and cycles rest on, of several kinds the first."""
        return self.kinds[0] if self.kinds else self.first.result.evidence

    @cached_property
    def kinds(self) -> list[str]:
        """The kinds of evidence of all cases, one each."""
        frames = (side.result.estimates[side.result.evidence_column] for side in self.sides)
        return list(dict.fromkeys(kind for frame in frames for kind in frame.drop_nulls()))

    @property
    def has_joules(self) -> bool:
        """Whether joules are compared: those of times that alike meters measured."""
        return not self.found.is_exact and any(other.rows["energy_ratio"].count() for other in self.others)

    @property
    def smallest(self) -> float:
        """The difference that matters, as a share."""
        return max(other.pair.rules.smallest for other in self.others)

    @property
    def is_of_one_run(self) -> bool:
        """Whether implementations of one run are compared."""
        return len({side.run for side in self.sides}) == 1

    @property
    def has_ratios(self) -> bool:
        """Whether the cases are set beside those of the first: cycles of several cores are each their own."""
        return self.found.agreement is None

    @property
    def warnings(self) -> list[str]:
        """What the table of conditions doesn't say; of counts, which have none, in what the runs differ."""
        return list(self.found.warnings) if self.found.is_exact else list(_warnings(self.sides))

    @cached_property
    def groups(self) -> list[list[Group]]:
        """Comparable cases that were counted, of each side."""
        return [groups_of(side.result.estimates, side.result.ranking) for side in self.sides]

    @cached_property
    def answer(self) -> Group | None:
        """The group that answers, of the ciphers that every run has; null where no two of them can be compared."""
        return answering(shared_of(self.groups)[0])

    @property
    def files_of(self) -> str:
        """What the files of its figures begin with."""
        first, *others = self.sides
        last = others[0].run if len(others) == 1 else f"{len(others)}-others"
        return f"{first.run}-and-{last if last != first.run else others[0].name}"


def run_comparison(
    names: Sequence[str], found: Comparison, cards: Sequence[str] = (), folders: Sequence[str] | None = None
) -> RunComparison:
    """A comparison with the names of its runs.

    * `names`: the runs as they were asked for; `cards`: those that value them. `folders`: what the runs' folders are
      called, where `names` are no way to them.

    Raises InputError where there are more runs than fit a page.
    """
    if len(found.runs) > MOST_SIDES:
        hint = "`--format csv` compares any number"
        raise InputError(f"a page holds {MOST_SIDES} runs, these are {len(found.runs)}", hint=hint)
    runs, providers = [found.runs[0], *(pair.second for pair in found.pairs)], found.providers
    labels = _labels(folders or [find(name).name for name in names], found)
    if providers and found.is_exact:
        runs = [_of_provider(run, providers[min(place, 1)]) for place, run in enumerate(runs)]
    first, *sides = (LetteredRun(chr(ord("A") + n), labels[n], run) for n, run in enumerate(runs))
    options = [f"--providers {' '.join(map(shlex.quote, providers))}"] if providers else []
    options += [f"--device {shlex.quote(card)}" for card in cards]
    options += ["--allow-assumed"] if any(map(_is_assumed, runs)) else []
    command = " ".join(["wattlock compare", *map(shlex.quote, names), *options, "--html compare.html"])
    rows = [_ratio_rows(pair.compared, found) for pair in found.pairs]
    others = [Against(*parts) for parts in zip(sides, found.pairs, rows, strict=True)]
    return RunComparison(first, others, found, command)


def _is_assumed(run: Result) -> bool:
    return "energy_evidence" in run.estimates.columns and "assumed" in run.estimates["energy_evidence"]


def _of_provider(run: Result, provider: str) -> Result:
    """The run with the cases of one provider, which its name tells."""
    rows = run.estimates.filter(pl.col("provider") == provider).with_columns(provider=pl.lit(""))
    return replace(run, estimates=rows)


def _labels(folders: Sequence[str], found: Comparison) -> list[str]:
    """What stands beside each other: runs, implementations of one run, or those of several."""
    if found.providers is None:
        return _names(folders, found)
    if len(found.runs) == 1:
        return list(found.providers)
    return [f"{name}, {found.providers[min(place, 1)]}" for place, name in enumerate(_names(folders, found))]


def _names(folders: Sequence[str], found: Comparison) -> list[str]:
    """What the runs are called: by their cores, by their folders where people named them, by processor, when, id."""
    ids = [run.id for run in found.runs]
    if found.is_exact:
        choices = [[run.core.title for run in found.runs], list(folders)]
    else:
        are_named = all(folder != run for folder, run in zip(folders, ids, strict=True))
        times = [f"Run of {begun(run):%-d %b %H:%M}" for run in found.runs]
        choices = [list(folders) if are_named else [], list(map(_processor, found.runs)), times]
    return next((names for names in [*choices, ids] if all(names) and len(set(names)) == len(ids)), list(folders))


def _processor(result: Result) -> str:
    name = str(result.header["fingerprint"]["hardware"]["model_name"] or "")
    return " ".join(NOISE.sub(" ", name).split())


def _warnings(sides: Sequence[LetteredRun]) -> Iterator[str]:
    first = sides[0]
    for side in sides:
        yield from (f"{side.spoken}: {line}" for line in side.result.warnings)
        if first.result.meter and side.result.meter and not meters_are_alike(first.result, side.result):
            what = "the meters don’t include the same, so that joules are not compared"
            yield f"{first.spoken} and {side.spoken}: {what}"


def _ratio_rows(compared: pl.DataFrame, found: Comparison) -> pl.DataFrame:
    """The rows as figures of ratios take them: of counts those of the cycles, or of instructions where there are none.

    An instruction has no error.
    """
    if not found.is_exact or found.agreement is not None:
        return compared
    has_cycles = found.table["ratio"].count() > 0
    by = "ratio" if has_cycles else "instructions_ratio"
    more = pl.when(pl.col(by) > 1).then(pl.lit("more"))
    by_count = more.when(pl.col(by) < 1).then(pl.lit("less")).otherwise(pl.lit("equivalent"))
    by_interval = pl.col("verdict").replace({"alike": "equivalent", "fewer": "less"})
    # What the rules err by in the one, they err by in the same counts of the other.
    is_alike = pl.col("verdict") == "alike"
    ends = [
        pl.when(is_alike).then(by).otherwise(pl.col(name).fill_null(pl.col(by))).alias(name)
        for name in ("ratio_low", "ratio_high")
    ]
    return compared.with_columns(
        pl.col(by).alias("ratio"),
        *ends,
        quantity=pl.lit("cycles" if has_cycles else "instructions"),
        verdict=by_interval if has_cycles else by_count,
        provider_b=pl.col("provider_b" if "provider_b" in compared.columns else "provider"),
    )
