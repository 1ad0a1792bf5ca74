"""Joins sealed runs to what a published set is made of: pages, files, comparisons, and the first page of all."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from wattlock.errors import StoreError, WattlockError
from wattlock.store import RunFolder
from wattlock.store.run_folder import SUMS
from wattlock.store.run_plan import NAME as PLAN

if TYPE_CHECKING:
    import polars as pl

    from wattlock.cli.export import About
    from wattlock.publish.citation import Citation
    from wattlock.publish.imported import PublishedSet
    from wattlock.publish.minisign import SecretKey
    from wattlock.report.set_page import OfOthers, SetRun
    from wattlock.run.counts import Counts
    from wattlock.run.result import Result

CITATION, BIBTEX, LICENCE, PUBLIC_KEY = "CITATION.cff", "citation.bib", "LICENSE.txt", "minisign.pub"
PUBLISHED = "published"
TIMED, COUNTED = "timed", "counted"


@dataclass(frozen=True)
class Member:
    """A sealed run of a set, read: what it measured, or what it counted."""

    folder: RunFolder
    sha256: str
    result: Result | None = None
    counts: Counts | None = None

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.path.name

    @property
    def kind(self) -> str:
        """Whether it was timed or counted: no comparison has both."""
        return TIMED if self.counts is None else COUNTED

    @property
    def created(self) -> str:
        """When it began, ISO 8601."""
        return str(self.folder.plan()[0]["created"])

    @property
    def evidence(self) -> str:
        """What its numbers rest on."""
        return self.result.time_evidence if self.result else self._counts.evidence

    @property
    def reasons(self) -> list[str]:
        """Why it is invalid, in words; empty where it is to be believed."""
        return self.result.explained if self.result else []

    @property
    def _counts(self) -> Counts:
        assert self.counts is not None  # noqa: S101 - it has one of the two
        return self.counts

    @property
    def on(self) -> str:
        """The processor or the core."""
        from wattlock.cli.facts import host

        return dict(host(self.result)).get("Processor", self.result.isa) if self.result else self._counts.title

    @cached_property
    def estimates(self) -> pl.DataFrame:
        """A row a case, valued by the run's own meter or card."""
        from wattlock.energy.counted import valued_counts
        from wattlock.energy.device_cards import valued

        if self.result:
            return valued(self.result, None, allow_assumed=False)
        return valued_counts(self._counts, None, allow_assumed=False)

    @property
    def rows(self) -> pl.DataFrame:
        """The estimates with what a byte costs."""
        from wattlock.analysis import distributions

        if self.result:
            return distributions.per_byte(self.estimates, self.result.summaries)
        return distributions.counted_per_byte(self.estimates, self._counts.cycles_column or "cycles")

    @property
    def about(self) -> About:
        """What the run was: what stands in each row that is exported."""
        from wattlock.cli import counted, export

        return export.described(self.result, None) if self.result else counted.about(self._counts, None)

    def write_report(self, page: Path) -> None:
        """Writes the page of the run."""
        from wattlock.cli import counted
        from wattlock.cli.facts import facts
        from wattlock.report.page import write_report

        if self.result:
            write_report(page, facts(self.result, None), self.estimates, self.result.ranking)
        else:
            counted.write_page(self._counts, page)


def members(folder: Path) -> list[Member]:
    """The sealed runs of a folder, or the one that it is, the oldest first.

    Raises StoreError where there is none, where one is damaged or not sealed, or is there twice.
    """
    if not folder.is_dir():
        raise StoreError(f"{folder}: there is no such folder", hint="name the folder that holds the runs, as `runs`")
    is_run = (folder / PLAN).exists()
    inside = [folder.resolve()] if is_run else [path for path in folder.iterdir() if (path / PLAN).exists()]
    if not inside:
        raise StoreError(f"{folder}: holds no run", hint="name the folder that holds the runs, as `runs`")
    found = sorted(map(_member, inside), key=lambda run: (run.created, run.name))  # seconds may be shared
    by_hash: dict[str, Member] = {}
    for run in found:
        if (other := by_hash.setdefault(run.sha256, run)) is not run:
            what = f"{other.folder.path} and {run.folder.path} are the same run"
            raise StoreError(what, hint="take one of them out of the folder")
    return found


def _member(path: Path) -> Member:
    from wattlock.run import counts, result
    from wattlock.store.run_folder import sums_sha256

    folder = RunFolder.open(path)
    sha256 = sums_sha256(folder)
    if counts.is_counted(folder):
        return Member(folder, sha256, counts=counts.read(folder))
    return Member(folder, sha256, result=result.read(folder))


def write_set(
    runs: Sequence[Member], place: Path, key: SecretKey, citation: Citation, beside: Mapping[str, PublishedSet]
) -> None:
    """Writes the set of `runs` into the folder `place`, signed; the same runs, key and citation give the same bytes.

    * `place`: it must not exist; it is there whole or not at all. `beside`: figures of others by their names.
    """
    from wattlock.publish import signed_set
    from wattlock.report import formats

    part = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    try:
        _write_files(runs, part, key, citation, beside)
        runs_are = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
        newest = formats.day_and_time(citation.date)
        signed_set.sign(part, key, f"{citation.title}; {runs_are}, the newest of {newest}")
        part.chmod(0o755)
        part.rename(place)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _write_files(
    runs: Sequence[Member], place: Path, key: SecretKey, citation: Citation, beside: Mapping[str, PublishedSet]
) -> None:
    from wattlock.report.set_page import SetFacts, set_page

    described = [_write_run(run, place) for run in runs]
    files = dict(_write_estimates(runs, place))
    compared: dict[str, str] = {}
    notes: list[str] = []
    for named, path, note in _write_comparisons(runs, place):
        if note:
            notes.append(f"Not compared: {named}: {note}")
        else:
            compared[named] = path
    (place / CITATION).write_text(citation.cff(), encoding="utf-8")
    (place / BIBTEX).write_text(citation.bibtex(), encoding="utf-8")
    (place / PUBLIC_KEY).write_text(key.public.file(), encoding="utf-8")
    licensed = f"{citation.licence_name}\nSPDX-License-Identifier: {citation.licence}\n{citation.licence_page}\n"
    (place / LICENCE).write_text(licensed, encoding="utf-8")
    files |= {name: name for name in (CITATION, BIBTEX, LICENCE, PUBLIC_KEY, SUMS, f"{SUMS}.minisig")}
    who = "; ".join(citation.authors)
    facts = SetFacts(
        title=citation.title,
        created=citation.date,
        runs=described,
        compared=compared,
        files=files,
        notes=notes,
        licence=citation.licence_name,
        licence_page=citation.licence_page,
        cite=(f"{who}: {citation.title}. {citation.date[:10]}. {citation.note}.", citation.bibtex()),
        key=key.public.line,
        key_id=key.public.id,
        published=list(_write_published(beside, place)),
    )
    (place / "index.html").write_text(set_page(facts), encoding="utf-8")


def _write_run(run: Member, place: Path) -> SetRun:
    """Writes what a set has of a run: the packed folder, its page, and, where it is valid, its estimates."""
    from wattlock.cli.export import ExportFormat, content
    from wattlock.publish import signed_set
    from wattlock.publish.signed_set import RUNS
    from wattlock.report.set_page import SetRun

    own = place / RUNS / run.name
    own.mkdir(parents=True)
    run.write_report(own / "report.html")
    files = {"report": f"{RUNS}/{run.name}/report.html"}
    for form in () if run.reasons else (ExportFormat.csv, ExportFormat.json, ExportFormat.parquet):
        name = f"{RUNS}/{run.name}/estimates.{form}"
        (place / name).write_bytes(content(run.estimates, run.about, form))
        files[_called(form)] = name
    signed_set.pack(run.folder, place / RUNS / f"{run.name}.zip")
    return SetRun(
        name=run.name,
        id=run.folder.id,
        title=run.folder.plan()[0]["study"]["title"],
        on=run.on,
        created=run.created,
        evidence=run.evidence,
        rows=run.rows,
        sha256=run.sha256,
        files={**files, "sealed run": f"{RUNS}/{run.name}.zip"},
        reasons=run.reasons,
    )


def _write_estimates(runs: Sequence[Member], place: Path) -> Iterator[tuple[str, str]]:
    """Writes the estimates of all valid runs that were timed, and of all that counted; gives what they are called."""
    import polars as pl

    from wattlock.cli.export import ExportFormat, content

    for kind, named in (
        (TIMED, "Estimates of all runs that were timed"),
        (COUNTED, "Estimates of all runs that counted"),
    ):
        frames = [
            run.rows.select(*(pl.lit(value).alias(name) for name, value in run.about.items()), pl.all())
            for run in runs
            if run.kind == kind and not run.reasons
        ]
        for form in (ExportFormat.csv, ExportFormat.json, ExportFormat.parquet) if frames else ():
            name = f"{kind}.{form}"
            (place / name).write_bytes(content(pl.concat(frames, how="diagonal_relaxed"), {}, form))
            yield f"{named}, {_called(form)}", name


def _called(form: str) -> str:
    """A format as its makers write it."""
    return form.capitalize() if form == "parquet" else form.upper()


def _write_published(beside: Mapping[str, PublishedSet], place: Path) -> Iterator[OfOthers]:
    """Writes the figures of others, and gives them in the words of the page."""
    import polars as pl

    from wattlock.publish.imported import ImportedFigure
    from wattlock.report.set_page import OfOthers

    for name, found in beside.items():
        path = f"{PUBLISHED}/{name}.json"
        (place / PUBLISHED).mkdir(exist_ok=True)
        (place / path).write_bytes(found.write())
        rows = pl.DataFrame(
            [figure.model_dump() for figure in found.figures],
            schema_overrides={"payload_B": pl.Int64, "aad_B": pl.Int64, "low": pl.Float64, "high": pl.Float64},
            infer_schema_length=None,
        ).select(list(ImportedFigure.model_fields))
        yield OfOthers(f"{name}.json", path, found.machine, found.source, found.file, found.statistic, found.unit, rows)


def _write_comparisons(runs: Sequence[Member], place: Path) -> Iterator[tuple[str, str, str]]:
    """Draws the runs of one kind and evidence beside each other; gives what, the page's path, or why there is none."""
    from wattlock.report.compare_facts import MOST_SIDES

    valid = [run for run in runs if not run.reasons]
    for kind, evidence in sorted({(run.kind, run.evidence) for run in valid}):
        alike = [run for run in valid if (run.kind, run.evidence) == (kind, evidence)]
        if len(alike) < 2:
            continue
        path = f"compared-{kind}-{evidence}.html"
        named = f"{len(alike)} runs that were {kind}, {evidence}"
        try:
            page = _comparison(alike[:MOST_SIDES])
        except WattlockError as error:
            yield named, path, error.message
            continue
        (place / path).write_text(page, encoding="utf-8")
        yield named + (f", the first {MOST_SIDES}" if len(alike) > MOST_SIDES else ""), path, ""


def _comparison(runs: Sequence[Member]) -> str:
    from wattlock.cli.compare_counted import counted_compare_facts
    from wattlock.cli.compare_facts import compare_facts
    from wattlock.report.compare_page import compare_page
    from wattlock.report.counted_compare import counted_compare_page
    from wattlock.run import compare, compare_counts

    paths = [str(run.folder.path) for run in runs]
    command = f"wattlock compare {shlex.join(run.name for run in runs)} --html compare.html"
    counted = [run.counts for run in runs if run.counts]
    if counted:
        of_counts = compare_counts.compare(counted[0], counted[1:], None)
        return counted_compare_page(replace(counted_compare_facts(paths, of_counts, None, ()), command=command))
    results = [run.result for run in runs if run.result]
    found = compare.compare(results[0], results[1:], None)
    return compare_page(replace(compare_facts(paths, results, found, None), command=command))
