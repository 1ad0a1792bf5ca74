"""What a notebook calls, `import wattlock as wl`: what the verbs of these names do, as Polars frames."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from wattlock import extras
from wattlock.energy.device_cards import Device
from wattlock.energy.valuing import card_of, valued
from wattlock.errors import InputError
from wattlock.run.result import Result, open_run
from wattlock.run.result import read as read_result
from wattlock.store import RunFolder, find

if TYPE_CHECKING:
    from wattlock.publish.minisign import SecretKey
    from wattlock.publish.published_set import Member
    from wattlock.targets import Target

Name = str | Path


@dataclass(frozen=True)
class Run:
    """A run that was read.

    * `estimates`: a row a case with its factors, time, cycles and joules, each with its 95 % interval.
    * `ranking`: its cases from the cheapest, with groups of those that can't be told apart.
    * `folder`, `result`: where it lies, and all that is known of it; `card`: what valued the estimates, null where a
      meter or nothing did.
    """

    folder: RunFolder
    result: Result
    estimates: pl.DataFrame
    card: Device | None = None

    @property
    def batches(self) -> pl.DataFrame:
        """Every batch as it was measured, with the factors of its case; `complete`: whether its process ended.

        Raises EvidenceError where the run counted: it has none.
        """
        factors = pl.DataFrame(self.result.timed().cases, infer_schema_length=None)
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
    from wattlock.run import begin
    from wattlock.run.libraries import named_libraries

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
    from wattlock.run.run_comparison import compare as compared

    two = _two(providers, others)
    first_run, *other_runs = (_result(run) for run in (first, *others))
    found = compared(first_run, other_runs, two)
    for line in [*(() if found.is_exact else found.against), *found.warnings]:
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
    from wattlock.papers import literature, material
    from wattlock.papers.verdicts import judge_counted
    from wattlock.papers.verdicts import table as verdicts

    extras.require("report")
    options = material.MaterialOptions(device, allow_assumed)
    names = [run.folder.path if isinstance(run, Run) else run for run in runs]
    cores = judge_counted(counted)
    return verdicts(material.judge(names or ["last"], options, target=target).judgements, literature.load(), cores)


def battery(
    card: Name, subject: Run | Name = "last", *, device: str | None = None, allow_assumed: bool = False
) -> pl.DataFrame:
    """How many operations, hours or days a battery carries, by a run that has joules: a row an operation."""
    from wattlock.energy import battery_operations

    work = battery_operations.of_run(_result(subject).timed(), device, allow_assumed=allow_assumed)
    return battery_operations.battery(card, work, allow_assumed=allow_assumed).table


def link(
    *scenarios: Name,
    changes: Mapping[str, Any] | None = None,
    run: Run | Name | None = None,
    device: str | None = None,
    cards: Name | None = None,
    allow_assumed: bool = False,
    target: Target | None = None,
) -> pl.DataFrame:
    """What sending takes, a row a scenario: duration, frames, octets and joules of each node.

    * `scenarios`: names or files, all of 802.11 or all of other radios. `changes`: values by key, as
      `{"phy": ["b", "g"], "payload.cipher": "aes128-cbc"}`; a list is crossed with the others, a row a combination.
    * `run`: what the ciphers cost, valued by the card `device`, which is the hosts' too. `cards`: a folder of cards.

    A scenario that can't be has the reason in its row. Raises InputError where none can be, EvidenceError for numbers
    that need consent.
    """
    from wattlock.link import ledger, lowpower, scenario, wifi
    from wattlock.targets import or_this_machine, probe, toolbox

    files, folder = [str(name) for name in scenarios], None if cards is None else Path(cards)
    values = dict(changes or {})
    crossed = {key: value for key, value in values.items() if isinstance(value, list | tuple)}
    fixed = {key: value for key, value in values.items() if key not in crossed}
    if device is not None:
        fixed |= {"cost.sender": device, "cost.receiver": device}
    ids = scenario.ciphers_of(files, crossed, fixed)
    ciphers = probe.first_rows(or_this_machine(target), ids) if ids else {}
    named = scenario.cross(files, crossed, fixed, ciphers)
    if scenario.messages_among(files):
        found = lowpower.evaluate_each(named, user_cards=folder, allow_assumed=allow_assumed)
    else:
        measured = run and wifi.measured(_result(run), device, user_cards=folder, allow_assumed=allow_assumed)
        transfers = [row for row in named if not isinstance(row, scenario.RefusedScenario)]
        found = wifi.evaluate_each(
            transfers,
            toolbox.find(),
            ciphers,
            measured=measured or None,
            user_cards=folder,
            allow_assumed=allow_assumed,
        )
    answers = [answer for answer in found if not isinstance(answer, scenario.RefusedScenario)]
    if not answers:
        raise next(answer.error for answer in found if isinstance(answer, scenario.RefusedScenario))
    rows = [
        ledger.refused(answer) if isinstance(answer, scenario.RefusedScenario) else ledger.record(answer, answers[0])
        for answer in found
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def sweep(
    definition: Name,
    out: Name,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    cards: Name | None = None,
    allow_assumed: bool = False,
    target: Target | None = None,
) -> pl.DataFrame:
    """Every combination of a sweep's values, a row each; one that can't be has the reason in its column `error`.

    * `out`: the sweep's folder: new, or of the same sweep, which goes on. `workers`: processes of this machine, as many
      as it has processors without; or `scheduler`, the address of a Dask scheduler whose workers answer.

    Raises InputError for a sweep that can't be, StoreError where the folder holds something else.
    """
    from wattlock.sweep import plan
    from wattlock.sweep.chunks import carry_out
    from wattlock.targets import or_this_machine

    folder = None if cards is None else Path(cards)
    ready = plan.planned(plan.load(definition), or_this_machine(target), cards=folder, allow_assumed=allow_assumed)
    return pl.read_parquet(carry_out(ready, Path(out), workers=workers, scheduler=scheduler))


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
    from wattlock.advise import checked
    from wattlock.advise import read as read_profile
    from wattlock.advise.answer import advise as answer

    given = {"flow[0].message": message, "flow[0].every": every, "device.card": device}
    tables: dict[str, Any] = read_profile(profile) if profile else {"flow": [{}]}
    wanted = {key: value for key, value in given.items() if value is not None} | dict(changes or {})
    question = checked(f"profile {profile}" if profile else "question", tables, wanted)
    return answer(question, allow_assumed=allow_assumed, target=target).ranked


def report(
    run: Run | Name = "last", *, device: str | None = None, allow_assumed: bool = False, out: Name | None = None
) -> Path:
    """Draw the page of a run again, into its folder or as `out`; gives where it is."""
    extras.require("report")
    from wattlock.report.run_page import write_report

    opened = _opened(run, device, allow_assumed=allow_assumed)
    page = Path(out) if out is not None else opened.folder.path / "report.html"
    write_report(page, opened.result, opened.estimates, opened.card)
    return page


def figures(run: Run | Name, folder: Name, *, device: str | None = None, allow_assumed: bool = False) -> int:
    """Write each figure of a run's page as PNG, SVG, PDF and its numbers as CSV; gives how many files.

    Raises EvidenceError where there is nothing to draw.
    """
    extras.require("report")
    from wattlock.report.figure_files import write_report_figures

    opened = _opened(run, device, allow_assumed=allow_assumed)
    return write_report_figures(Path(folder), opened.result, opened.estimates)


def publish(
    folder: Name,
    out: Name,
    key: SecretKey | Name,
    *,
    title: str | None = None,
    authors: Sequence[str] = (),
    licence: str | None = None,
    url: str | None = None,
    published: Sequence[Name] = (),
) -> list[Member]:
    """Make a signed set of the sealed runs of a folder that others can read, cite and check; gives its runs.

    * `key`: the file of a key without a password, or one that was read.
    * `published`: files of figures of others, as `wattlock import` wrote them.

    Raises InputError where `out` is there, StoreError where there is no run or one is damaged or not sealed.
    """
    extras.require("publish")
    extras.require("report")
    from wattlock.publish import minisign, published_set

    given = {"title": title, "licence": licence, "url": url}
    cited = published_set.CitedAs(authors=authors, **{name: text for name, text in given.items() if text is not None})
    if not isinstance(key, minisign.SecretKey):
        key = minisign.SecretKey.parse(minisign.read(Path(key)), None, named=str(key))
    return published_set.publish(Path(folder), Path(out), key, cited, [Path(file) for file in published])


def _read(folder: RunFolder, device: str | None, *, allow_assumed: bool) -> Run:
    result = read_result(folder)
    return Run(folder, result, valued(result, device, allow_assumed=allow_assumed), card_of(result, device))


def _opened(run: Run | Name, device: str | None, *, allow_assumed: bool) -> Run:
    """The run, valued anew where a card is asked for."""
    if isinstance(run, Run) and device is None:
        return run
    folder = run.folder if isinstance(run, Run) else RunFolder.open(find(run))
    return _read(folder, device, allow_assumed=allow_assumed)


def _result(run: Run | Name) -> Result:
    return run.result if isinstance(run, Run) else open_run(run)
