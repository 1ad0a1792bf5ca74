"""What a notebook calls, `import wattlock as wl`: what the verbs of these names do, as Polars frames."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from wattlock import advise as advice
from wattlock import extras
from wattlock.advise.answer import advise as answer
from wattlock.energy import tasks
from wattlock.energy.counted import valued_counts
from wattlock.energy.device_cards import valued
from wattlock.errors import InputError
from wattlock.papers import literature, material
from wattlock.papers.counted_claims import judge_counted
from wattlock.papers.verdicts import table as verdicts
from wattlock.run import begin
from wattlock.run.compare import compare as compared
from wattlock.run.compare_counts import compare as compared_counts
from wattlock.run.counts import Counts, is_counted, open_counted, refuse
from wattlock.run.counts import read as read_counts
from wattlock.run.libraries import named_libraries
from wattlock.run.result import Result, open_run
from wattlock.run.result import read as read_result
from wattlock.store import RunFolder, find
from wattlock.targets import Target

Name = str | Path


@dataclass(frozen=True)
class Run:
    """A run that was read.

    * `estimates`: a row a case with its factors, time, cycles and joules, each with its 95 % interval.
    * `ranking`: its cases from the cheapest, with groups of those that can't be told apart.
    * `folder`, `result`: where it lies, and all that is known of it; `Counts` where it counted on an emulated core.
    """

    folder: RunFolder
    result: Result | Counts
    estimates: pl.DataFrame

    @property
    def batches(self) -> pl.DataFrame:
        """Every batch as it was measured, with the factors of its case; `complete`: whether its process ended.

        Raises EvidenceError where the run counted: it has none.
        """
        factors = pl.DataFrame(_measured(self.result).cases, infer_schema_length=None)
        return self.folder.scan().collect().join(factors, on="case", how="left", suffix="_of_case")

    @property
    def ranking(self) -> pl.DataFrame:
        """The cases from the cheapest."""
        return self.result.ranking


def run(
    study: str,
    *,
    only: str | Sequence[str] = (),
    libraries: Mapping[str, Name] | Sequence[Name] = (),
    out: Name | None = None,
    device: str | None = None,
    allow_assumed: bool = False,
    target: Target | None = None,
) -> Run:
    """Carry out a study to its end.

    * `study`: its name or file. `only`: some of its cases, as 'aes*'; `libraries`: your own, by name or as
      `["mine=./libmine.so"]`; of a path alone the file's name is taken.
    * `out`: the run's folder. `device`: a card that values it in joules. `target`: by which device, this machine else.

    Raises StudyError and ProbeError where it can't begin; what was measured is kept.
    """
    named = [f"{name}={path}" for name, path in libraries.items()] if isinstance(libraries, Mapping) else libraries
    chosen = [only] if isinstance(only, str) else only
    request = begin.Request(study, only=chosen, libraries=named_libraries(named))
    return _read(begin.measure(request, target=target, out=out), device, allow_assumed=allow_assumed)


def read(name: Name, *, device: str | None = None, allow_assumed: bool = False) -> Run:
    """Read a run by its path, its id, or `last`.

    Raises StoreError where there is no such run or it is damaged.
    """
    return _read(RunFolder.open(find(name)), device, allow_assumed=allow_assumed)


def compare(first: Run | Name, *others: Run | Name, providers: Sequence[str] | None = None) -> pl.DataFrame:
    """Ratios of runs to the first, or of two providers of one run: a row a case and other run, with their intervals.

    What differs between the runs, and cases that only the first has, are told as warnings. Raises InputError where
    `providers` are not two, or where there is nothing to compare the run with, EvidenceError where only some counted.
    """
    two = _two(providers, others)
    runs = [_anything(of) for of in (first, *others)]
    counts = [one for one in runs if isinstance(one, Counts)]
    if len(counts) == len(runs):
        counted = compared_counts(counts[0], counts[1:], two)
        for line in counted.warnings:
            warnings.warn(line, stacklevel=2)
        return counted.table
    results = [_measured(one) for one in runs]
    found = compared(results[0], results[1:], two)
    for line in [*found.against, *found.warnings]:
        warnings.warn(line, stacklevel=2)
    if found.lost.height:
        warnings.warn(f"{found.lost.height} cases have a number in the first run alone", stacklevel=2)
    return found.table


def _two(providers: Sequence[str] | None, others: Sequence[Run | Name]) -> tuple[str, str] | None:
    hint = 'for example providers=("rustcrypto", "openssl")'
    if providers is None:
        if not others:
            raise InputError("nothing to compare the run with: name a second run, or two providers", hint=hint)
        return None
    if isinstance(providers, str) or len(providers) != 2:
        raise InputError(f"providers={providers!r}: a comparison is of two", hint=hint)
    return providers[0], providers[1]


def papers(
    *runs: Run | Name,
    device: str | None = None,
    allow_assumed: bool = False,
    target: Target | None = None,
    counted: Sequence[Name] = (),
) -> pl.DataFrame:
    """The verdicts on the five papers' claims by runs, `last` without any: a row a claim, its findings with it.

    * `counted`: runs that counted, each on a core of its own; their answers stand in the column `counted`.
    """
    extras.require("report")
    beside = material.MaterialOptions(device, allow_assumed)
    names = [one.folder.path if isinstance(one, Run) else one for one in runs]
    cores = judge_counted(counted)
    return verdicts(material.judge(names or ["last"], beside, target=target).judgements, literature.load(), cores)


def battery(
    card: Name, of: Run | Name = "last", *, device: str | None = None, allow_assumed: bool = False
) -> pl.DataFrame:
    """How many operations, hours or days a battery carries, by a run that has joules: a row an operation."""
    work = tasks.of_run(_result(of), device, allow_assumed=allow_assumed)
    return tasks.battery(card, work, allow_assumed=allow_assumed).table


def advise(
    profile: Name | None = None,
    changes: Mapping[str, Any] | None = None,
    *,
    message: str | None = None,
    every: str | None = None,
    device: str | None = None,
    allow_assumed: bool = False,
    target: Target | None = None,
) -> pl.DataFrame:
    """The ways to protect a device's messages, longest life first; one rank holds what can't be told apart.

    * `profile`: its name or file; without it `message` and `every` are the traffic. `changes`: values by key, as
      `{"floor.approved": "nist"}`.

    Raises InputError naming each key that is wrong.
    """
    given = {"flow[0].message": message, "flow[0].every": every, "device.card": device}
    tables: dict[str, Any] = advice.read(profile) if profile else {"flow": [{}]}
    wanted = {key: value for key, value in given.items() if value is not None} | dict(changes or {})
    question = advice.checked(f"profile {profile}" if profile else "question", tables, wanted)
    return answer(question, allow_assumed=allow_assumed, target=target).ranked


def _read(folder: RunFolder, device: str | None, *, allow_assumed: bool) -> Run:
    if is_counted(folder):
        counted = read_counts(folder)
        return Run(folder, counted, valued_counts(counted, device, allow_assumed=allow_assumed))
    result = read_result(folder)
    return Run(folder, result, valued(result, device, allow_assumed=allow_assumed))


def _result(of: Run | Name) -> Result:
    return _measured(of.result) if isinstance(of, Run) else open_run(of)


def _anything(of: Run | Name) -> Result | Counts:
    return of.result if isinstance(of, Run) else open_counted(of) or open_run(of)


def _measured(found: Result | Counts) -> Result:
    """Raises EvidenceError where a run counted."""
    if isinstance(found, Counts):
        refuse(found.id, found.counted)
    return found
