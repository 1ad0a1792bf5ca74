"""A published set out of sealed runs: their pages, files, comparisons, and the first page of all, signed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

import wattlock
from wattlock.analysis import quartiles
from wattlock.energy.valuing import card_of, valued
from wattlock.errors import InputError, StoreError, WattlockError
from wattlock.publish import signed_set as packed
from wattlock.publish import signed_set as signed
from wattlock.publish.citation import Citation
from wattlock.publish.imported import ImportedFigure, PublishedSet
from wattlock.publish.minisign import SecretKey
from wattlock.publish.set_page import OfOthers, SetRun, SignedSet, set_page
from wattlock.publish.signed_set import RUNS
from wattlock.report import formats
from wattlock.report.compare_page import compare_page
from wattlock.report.compared import MOST_SIDES, run_comparison
from wattlock.report.described import About, about, processor
from wattlock.report.exported import ExportForm, content
from wattlock.report.run_page import write_report
from wattlock.run.result import Result, read
from wattlock.run.run_comparison import compare
from wattlock.store import RunFolder
from wattlock.store.run_folder import SUMS, sums_sha256
from wattlock.store.run_plan import NAME as PLAN

CITATION, BIBTEX, LICENCE, PUBLIC_KEY = "CITATION.cff", "citation.bib", "LICENSE.txt", "minisign.pub"
PUBLISHED = "published"
TIMED, COUNTED = "timed", "counted"


@dataclass(frozen=True)
class Member:
    """A sealed run of a set, read."""

    folder: RunFolder
    sha256: str
    result: Result

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.path.name

    @property
    def kind(self) -> str:
        """Whether it was timed or counted: no comparison has both."""
        return TIMED if "time" in self.result.quantities else COUNTED

    @property
    def created(self) -> str:
        """When it began, ISO 8601."""
        return str(self.result.plan["created"])

    @property
    def reasons(self) -> list[str]:
        """Why it is invalid, in words; empty where it is to be believed."""
        return self.result.explained

    @cached_property
    def estimates(self) -> pl.DataFrame:
        """A row a case, valued by the run's own meter or card."""
        return valued(self.result, None, allow_assumed=False)

    @property
    def rows(self) -> pl.DataFrame:
        """The estimates with what a byte costs."""
        if self.kind == TIMED:
            return quartiles.per_byte(self.estimates, self.result.summaries)
        return quartiles.counted_per_byte(self.estimates, self.result.cycles_column or "cycles")

    @property
    def about(self) -> About:
        """What the run was: what stands in each row that is exported."""
        return about(self.result, None)


@dataclass(frozen=True)
class CitedAs:
    """How a set is cited, and under which licence.

    * `authors`: the holder of the key without any; `licence`: its SPDX identifier; `url`: where the set will lie.
    """

    title: str = "What encryption costs"
    authors: Sequence[str] = ()
    licence: str = "CC-BY-4.0"
    url: str | None = None


def publish(
    folder: Path, out: Path, key: SecretKey, cited: CitedAs = CitedAs(), published_sets: Sequence[Path] = ()
) -> list[Member]:
    """Makes a signed set of the sealed runs of a folder, or of the one that it is; gives the runs.

    * `published_sets`: files of figures of others, as `wattlock import` wrote them.

    Raises InputError where `out` is there, StoreError where there is no run or one is damaged or not sealed.
    """
    if out.exists():
        raise InputError(f"--out {out}: is there already", hint="name a new folder, or take the old one away")
    published = {path.stem: PublishedSet.read(path) for path in published_sets}
    if len(published) < len(published_sets):
        raise InputError("--beside: two files have one name", hint="rename one of them")
    runs, signer = members(folder), key.public.id
    authors = list(cited.authors) or [f"The holder of the minisign key {signer}"]
    newest = max(run.created for run in runs)
    citation = Citation(cited.title, authors, newest, cited.licence, signer, wattlock.__version__, cited.url)
    write_set(runs, out, key, citation, published)
    return runs


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
    folder = RunFolder.open(path)
    return Member(folder, sums_sha256(folder), read(folder))


def write_set(
    runs: Sequence[Member], place: Path, key: SecretKey, citation: Citation, published: Mapping[str, PublishedSet]
) -> None:
    """Writes the set of `runs` into the folder `place`, signed; the same runs, key and citation give the same bytes.

    * `place`: it must not exist; it is there whole or not at all. `published`: figures of others by their names.
    """
    part = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    try:
        _write_files(runs, part, key, citation, published)
        runs_are = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
        newest = formats.day_and_time(citation.date)
        signed.sign(part, key, f"{citation.title}; {runs_are}, the newest of {newest}")
        part.chmod(0o755)
        part.rename(place)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _write_files(
    runs: Sequence[Member], place: Path, key: SecretKey, citation: Citation, published_sets: Mapping[str, PublishedSet]
) -> None:
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
    published = list(_write_published(published_sets, place))
    signed_set = SignedSet(citation, key.public, described, compared, files, notes, published)
    (place / "index.html").write_text(set_page(signed_set), encoding="utf-8")


def _write_run(run: Member, place: Path) -> SetRun:
    """Writes what a set has of a run: the packed folder, its page, and, where it is valid, its estimates."""
    folder = place / RUNS / run.name
    folder.mkdir(parents=True)
    write_report(folder / "report.html", run.result, run.estimates, card_of(run.result, None))
    files = {"report": f"{RUNS}/{run.name}/report.html"}
    for form in () if run.reasons else (ExportForm.csv, ExportForm.json, ExportForm.parquet):
        name = f"{RUNS}/{run.name}/estimates.{form}"
        (place / name).write_bytes(content(run.estimates, run.about, form))
        files[_called(form)] = name
    packed.pack(run.folder, place / RUNS / f"{run.name}.zip")
    return SetRun(
        name=run.name,
        id=run.folder.id,
        title=run.result.study["title"],
        on=processor(run.result),
        created=run.created,
        evidence=run.result.evidence,
        rows=run.rows,
        sha256=run.sha256,
        files={**files, "sealed run": f"{RUNS}/{run.name}.zip"},
        reasons=run.reasons,
    )


def _write_estimates(runs: Sequence[Member], place: Path) -> Iterator[tuple[str, str]]:
    """Writes the estimates of all valid runs that were timed, and of all that counted; gives what they are called."""
    for kind, named in (
        (TIMED, "Estimates of all runs that were timed"),
        (COUNTED, "Estimates of all runs that counted"),
    ):
        frames = [
            run.rows.select(*(pl.lit(value).alias(name) for name, value in run.about.items()), pl.all())
            for run in runs
            if run.kind == kind and not run.reasons
        ]
        for form in (ExportForm.csv, ExportForm.json, ExportForm.parquet) if frames else ():
            name = f"{kind}.{form}"
            (place / name).write_bytes(content(pl.concat(frames, how="diagonal_relaxed"), {}, form))
            yield f"{named}, {_called(form)}", name


def _called(form: str) -> str:
    """A format as its makers write it."""
    return form.capitalize() if form == "parquet" else form.upper()


def _write_published(published: Mapping[str, PublishedSet], place: Path) -> Iterator[OfOthers]:
    """Writes the figures of others, and gives them in the words of the page."""
    for name, found in published.items():
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
    valid = [run for run in runs if not run.reasons]
    for kind, evidence in sorted({(run.kind, run.result.evidence) for run in valid}):
        alike = [run for run in valid if (run.kind, run.result.evidence) == (kind, evidence)]
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
    names = [run.name for run in runs]
    first, *others = (run.result for run in runs)
    return compare_page(run_comparison(names, compare(first, others), folders=names))
