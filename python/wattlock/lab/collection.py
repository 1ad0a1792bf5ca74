"""The runs of a lab: their folders below `runs/`, named by their hash, and the index of them."""

from __future__ import annotations

import dataclasses
import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, Self

from sqlalchemy import ColumnElement, Engine, Select, delete, func, select
from sqlalchemy.orm import Session, undefer

from wattlock.errors import DiskFull, InputError, StoreError, TransferRefused, WattlockError
from wattlock.lab import examples, tokens
from wattlock.lab.child import entry_by_child
from wattlock.lab.database import NAME, alone_at, open_database, session
from wattlock.lab.entry import Entry, Reading, entry_of, reading
from wattlock.lab.pack import unpack
from wattlock.lab.readings import Readings
from wattlock.lab.tables import Library, PapersAnswers, Reason, Run
from wattlock.lab.watch import Watch
from wattlock.store import RunFolder
from wattlock.store.derived import sums_sha256
from wattlock.store.disk import FULL, sync
from wattlock.store.plan import NAME as PLAN
from wattlock.store.seal import FILES, HEADERS
from wattlock.sweep.processes import processes

RUNS, INCOMING, DAMAGED, REMOVED = "runs", "incoming", "damaged", "removed"
LEAST_DIGITS = 8
DEVICE_FIELDS = ("device", "name", "card", "evidence", "runs", "studies", "latest")
"""What of a device is given as data."""
FEW = 4
"""More runs than these are read by a process a processor."""


class NoSuchRun(StoreError):
    """A hash that names no run of the lab, or several."""


@dataclasses.dataclass(frozen=True)
class Filter:
    """Which runs: those that have all that is named; null is any."""

    device: str | None = None
    study: str | None = None
    library: str | None = None
    evidence: str | None = None


class Collection:
    """What a lab holds."""

    def __init__(self, data: Path, engine: Engine) -> None:
        self.data = data
        self.engine = engine
        self._readings = Readings(self._reading, self._kept_B)
        self._watch = Watch(data / RUNS, self._is_intact)

    @classmethod
    def open(cls, data: Path, database: str | None = None) -> Self:
        """The lab whose folder is `data`, made where there is none.

        * `database`: as of `open_database`.

        Raises InputError where the folder can't be made or holds runs of one's own; the errors of `open_database`.
        """
        if not is_lab(data) and any(data.glob(f"*/{PLAN}")):
            hint = f"name another folder with --data; `wattlock push RUN --to ADDRESS` brings a run of {data} there"
            raise InputError(f"{data}: holds runs of your own and no lab", hint=hint)
        try:
            for name in (RUNS, INCOMING):
                (data / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            hint = "name another folder with --data"
            raise InputError(f"{data}: can't be the folder of a lab: {error.strerror}", hint=hint) from error
        return cls(data, open_database(data, database))

    @contextmanager
    def arriving(self) -> Iterator[Path]:
        """A folder for one upload, on the disk of the runs; gone at the end. Raises DiskFull where there is no room."""
        try:
            with tempfile.TemporaryDirectory(dir=self.data / INCOMING, ignore_cleanup_errors=True) as place:
                yield Path(place)
        except OSError as error:
            if error.errno in FULL:
                raise DiskFull("the lab's disk is full; nothing of this run was kept", hint=ROOM) from error
            raise

    def admit(self, pack: Path, expected: str, by: tokens.By | None = None) -> bool:
        """Takes the run of a pack that arrived; gives whether the lab lacked it.

        A folder of its name that was changed is put aside, below `damaged/`.

        * `expected`: the hash that the sender named. `by`: who sent it, for the audit log, which has its line together
          with the index.

        Raises TransferRefused where the pack is no such run.
        """
        folder = pack.parent / "run"
        folder.mkdir()
        with pack.open("rb") as content:
            unpack(content, folder)
        entry = Entry(**_as_tuples(entry_by_child(folder)))
        if entry.hash != expected:
            what = f"the pack is run {entry.hash[:12]}, and was sent as {expected[:12]}"
            raise TransferRefused(what, hint="send it again by `wattlock push`")
        for name in FILES:
            sync(folder / name)
        sync(folder)
        with self._one_at_a_time():
            is_new = not self._is_intact(entry.hash)
            if is_new:
                self._put_aside(entry.hash)
                folder.rename(self.data / RUNS / entry.hash)
                sync(self.data / RUNS)
            is_own = entry.hash not in examples.hashes()
            with session(self.engine) as opened:
                is_known = opened.get(Run, entry.hash) is not None
                _put(opened, entry)
                if is_own and examples.are_in(self.data):
                    opened.execute(delete(Run).where(Run.hash.in_(examples.hashes())))
                if by is not None:
                    tokens.add(opened, tokens.line(by, "sent again" if is_known else "sent", entry.hash))
            if is_own:
                with suppress(OSError):  # the run is taken; the next start takes out what is left
                    examples.take_out(self.data, self.data / RUNS, self.data / INCOMING)
        return is_new

    def remove(self, digits: str, by: tokens.By) -> str:
        """Takes the run whose hash begins with `digits` out of the lab, and gives its hash; it can be sent again.

        Its folder is kept below `removed/`. `by`: who wants it, for the audit log, which has its line together with the
        index. Raises NoSuchRun where there is none, or several, InputError where it is an example.
        """
        hash_ = self.find(digits).hash
        if hash_ in examples.hashes():
            raise InputError(f"run {hash_[:12]} is an example", hint="it goes when the first run of your own arrives")
        with self._one_at_a_time():
            self._put_aside(hash_, REMOVED)
            with session(self.engine) as opened:
                opened.execute(delete(Run).where(Run.hash == hash_))
                tokens.add(opened, tokens.line(by, "removed", hash_))
        return hash_

    def catch_up(self) -> list[str]:
        """Makes the index agree with the folders, as after a crash or a copy; gives what is left out, and why.

        Every folder is hashed again: one that was changed leaves the index.
        """
        examples.settle(self.data, self.data / RUNS, self.data / INCOMING)
        with session(self.engine) as opened:
            known = set(opened.scalars(select(Run.hash)))
        there = self._there()
        with ThreadPoolExecutor() as pool:  # hashing releases the interpreter's lock
            both = sorted(known & there)
            intact = {
                hash_ for hash_, is_intact in zip(both, pool.map(self._watch.holds, both), strict=True) if is_intact
            }
        left_out = self._enter(sorted(there - intact))
        if gone := known - intact:
            with session(self.engine) as opened:
                opened.execute(delete(Run).where(Run.hash.in_(gone)))
        return left_out

    def reindex(self) -> list[str]:
        """Makes the index again from the folders, every estimate from the batches; gives what is left out, and why.

        Raises StoreError where a lab serves the folder, or out of the database: what it takes in meanwhile would be
        left out.
        """
        with alone_at(self.data, self.engine, AFTERWARDS):
            with session(self.engine) as opened:
                opened.execute(delete(PapersAnswers))
            return self._enter(sorted(self._there()), is_anew=True)

    def is_blank(self) -> bool:
        """Whether the index names no run."""
        with session(self.engine) as opened:
            return opened.scalar(select(Run.hash).limit(1)) is None

    def count(self, wanted: Filter = Filter()) -> int:
        """How many runs a filter keeps, without those that were changed."""
        with session(self.engine) as opened:
            return sum(map(self._watch.holds, opened.scalars(_kept(select(Run.hash), wanted))))

    def has(self, hash_: str) -> bool:
        """Whether a run is here, by its whole hash: in the index, and its folder as it was sealed."""
        with session(self.engine) as opened:
            is_known = opened.get(Run, hash_) is not None
        return is_known and self._is_intact(hash_)

    def find(self, digits: str) -> Run:
        """The run whose hash begins with `digits`, its estimates with it.

        Raises NoSuchRun where there is none, or several.
        """
        wanted = select(Run).where(Run.hash.startswith(digits)).options(undefer(Run.estimates)).limit(2)
        found: Sequence[Run] = []
        if re.fullmatch(rf"[0-9a-f]{{{LEAST_DIGITS},64}}", digits):
            with session(self.engine) as opened:
                found = opened.scalars(wanted).all()
                opened.expunge_all()
        if len(found) != 1:
            what = f"there is no run {digits[:64]}" if not found else f"several runs begin with {digits}"
            raise NoSuchRun(what, hint=f"name at least {LEAST_DIGITS} digits of one hash of the page of runs")
        return found[0]

    def runs(self, wanted: Filter = Filter(), most: int | None = None) -> list[Run]:
        """The runs that a filter keeps, without their estimates, the latest first; none that was changed."""
        query = _kept(select(Run), wanted).order_by(Run.created.desc(), Run.hash)
        if most is not None:  # no more rows are read than are wanted
            query = query.execution_options(yield_per=most)
        with session(self.engine) as opened:
            with opened.scalars(query) as rows:
                found = list(islice((run for run in rows if self._watch.holds(run.hash)), most))
            opened.expunge_all()
        return found

    def estimates_of(self, hashes: Sequence[str]) -> dict[str, bytes]:
        """The estimates of several runs as Parquet, by hash; a run that isn't there is left out."""
        with session(self.engine) as opened:
            rows = opened.execute(select(Run.hash, Run.estimates).where(Run.hash.in_(hashes)))
            return {row.hash: row.estimates for row in rows}

    def evidence_of(self, hashes: Sequence[str]) -> dict[str, str]:
        """The kind of evidence of several runs, by hash; a run that isn't there, or was changed, is left out."""
        with session(self.engine) as opened:
            rows = opened.execute(select(Run.hash, Run.evidence).where(Run.hash.in_(hashes))).all()
        return {row.hash: row.evidence for row in rows if self._watch.holds(row.hash)}

    def choices(self) -> dict[str, list[str]]:
        """The values that each part of a filter can have."""
        columns = {"study": Run.study, "library": Library.name, "evidence": Run.evidence}
        with session(self.engine) as opened:
            return {
                name: list(opened.scalars(select(column).distinct().order_by(column)))
                for name, column in columns.items()
            }

    def devices(self) -> list[dict[str, Any]]:
        """A row a device, the one with the latest run first: its hash, name, card, evidence, runs and studies."""
        query = (
            select(
                Run.device,
                func.max(Run.device_name).label("name"),
                func.max(Run.card).label("card"),
                func.max(Run.evidence).label("evidence"),
                func.count().label("runs"),
                func.count(Run.study.distinct()).label("studies"),
                func.max(Run.created).label("latest"),
            )
            .group_by(Run.device)
            .order_by(func.max(Run.created).desc(), Run.device)
        )
        with session(self.engine) as opened:
            return [dict(row) for row in opened.execute(query.where(self._intact(opened))).mappings()]

    def folder(self, hash_: str) -> RunFolder:
        """The folder of a run, verified. Raises StoreError where it was changed."""
        path = self.data / RUNS / hash_
        try:
            if sums_sha256(RunFolder(path)) != hash_:
                raise StoreError(f"run {path}: its hash is another now")
            return RunFolder.open(path)
        except StoreError as error:
            what = error.message.replace(str(path), hash_[:12])
            raise StoreError(what, hint="push it again: the lab puts the changed folder aside") from error
        except OSError as error:
            what = f"run {hash_[:12]}: can't be read: {error.strerror}"
            raise StoreError(what, hint="check its permissions on the lab's host") from error

    def reading(self, hash_: str) -> Reading:
        """A run read back. Raises StoreError where its folder was changed."""
        self.folder(hash_)
        return self._readings.of(hash_)

    def _reading(self, hash_: str) -> Reading:
        return reading(RunFolder(self.data / RUNS / hash_))  # verified by `reading`

    def _kept_B(self, hash_: str) -> int:
        return sum((self.data / RUNS / hash_ / name).stat().st_size for name in (PLAN, HEADERS))

    def _there(self) -> set[str]:
        return {folder.name for folder in (self.data / RUNS).iterdir() if folder.is_dir()}

    @contextmanager
    def _one_at_a_time(self) -> Iterator[None]:
        """Of all threads and processes that take runs in: the server's, and the fleet's beside it."""
        handle = os.open(self.data / RUNS, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _intact(self, opened: Session) -> ColumnElement[bool]:
        """What keeps the runs whose folders are as they were sealed."""
        return Run.hash.not_in(self._watch.changed(opened.scalars(select(Run.hash))))

    def _is_intact(self, hash_: str) -> bool:
        try:
            self.folder(hash_)
        except StoreError:
            return False
        return True

    def _put_aside(self, hash_: str, below: str = DAMAGED) -> None:
        """Moves what has the name of a run out of `runs/`."""
        if (there := self.data / RUNS / hash_).exists():
            (self.data / below).mkdir(exist_ok=True)
            there.rename(Path(tempfile.mkdtemp(dir=self.data / below, prefix=f"{hash_[:12]}-")) / hash_)
            sync(self.data / RUNS)

    def _enter(self, names: Sequence[str], *, is_anew: bool = False) -> list[str]:
        """Computes the entries of these folders and puts them into the index, all at once."""
        folders = [self.data / RUNS / name for name in names]
        seen = self._watch.seen(names)
        if len(folders) > FEW:
            workers = min(len(folders), os.cpu_count() or 1)
            with processes(workers) as pool:
                found = list(pool.map(_entered, folders, chunksize=8))
        else:
            found = list(map(_entered, folders))
        with session(self.engine) as opened:
            if is_anew:  # but for what a fleet took in meanwhile whose server was killed
                opened.execute(delete(Run).where(Run.hash.not_in(self._there().difference(names))))
            for entry in found:
                if isinstance(entry, Entry):
                    _put(opened, entry)
        read = {entry.hash for entry in found if isinstance(entry, Entry)}
        self._watch.note({hash_: files for hash_, files in seen.items() if hash_ in read})
        return [entry for entry in found if isinstance(entry, str)]


AFTERWARDS = "stop it, reindex, then start it again; a start enters by itself what was copied below runs/"
ROOM = "make room on the lab's host, then send it again"


def is_lab(data: Path) -> bool:
    """Whether `data` is the folder of a lab: it holds a database, or runs of which one can be made."""
    return (data / NAME).is_file() or (data / RUNS).is_dir()


def empty_incoming(data: Path) -> None:
    """Takes away what uploads of a lab left that was ended hard."""
    for left in (data / INCOMING).iterdir():
        shutil.rmtree(left, ignore_errors=True)


def _entered(folder: Path) -> Entry | str:
    """The entry of a folder, or why it is left out."""
    try:
        entry = entry_of(RunFolder.open(folder))
    except WattlockError as error:
        return error.message
    except Exception as error:  # noqa: BLE001 - whatever a file made a reader do, it is the file's fault
        return f"run {folder}: can't be read: {type(error).__name__}"
    if entry.hash != folder.name:
        return f"run {folder}: is called {entry.hash[:12]}... by its hash; `wattlock push {folder}` takes it in"
    return entry


def _kept(query: Select[Any], wanted: Filter) -> Select[Any]:
    """The query for what a filter keeps."""
    for name in ("device", "study", "evidence"):
        if (value := getattr(wanted, name)) is not None:
            query = query.where(getattr(Run, name) == value)
    if wanted.library is not None:
        query = query.where(Run.libraries.any(Library.name == wanted.library))
    return query


def _put(opened: Session, entry: Entry) -> None:
    parts = dataclasses.asdict(entry)
    libraries, reasons = parts.pop("libraries"), parts.pop("reasons")
    row = Run(
        **parts,
        libraries=[Library(run=entry.hash, name=name) for name in libraries],
        reasons=[Reason(run=entry.hash, place=place, text=text) for place, text in enumerate(reasons)],
    )
    if opened.get(Run, entry.hash) is None:
        opened.add(row)


def _as_tuples(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields as JSON has them, its lists as an entry has them."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
