"""The runs of a lab: their folders below `runs/`, named by their hash, the index of them, and what changed on disk."""

from __future__ import annotations

import dataclasses
import fcntl
import os
import re
import shutil
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self

from sqlalchemy import ColumnElement, Engine, Select, delete, func, select
from sqlalchemy.orm import Session, undefer

from wattlock.errors import DiskFull, InputError, StoreError, TransferRefused, WattlockError
from wattlock.lab import tokens
from wattlock.lab.child import entry_by_child
from wattlock.lab.database import (
    NAME,
    DatabaseBusy,
    Library,
    PapersAnswers,
    Reason,
    RunRow,
    alone_at,
    open_database,
    session,
)
from wattlock.lab.entry import Entry, entry_of
from wattlock.lab.pack import unpack
from wattlock.run.result import Result, read
from wattlock.store import RunFolder
from wattlock.store.disk import FULL, sync
from wattlock.store.run_folder import FILES, HEADERS, sums_sha256
from wattlock.store.run_plan import NAME as PLAN
from wattlock.sweep.chunks import processes

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
            is_own = entry.hash not in hashes()
            with session(self.engine) as opened:
                is_known = opened.get(RunRow, entry.hash) is not None
                _put(opened, entry)
                if is_own and are_in(self.data):
                    opened.execute(delete(RunRow).where(RunRow.hash.in_(hashes())))
                if by is not None:
                    tokens.add(opened, tokens.line(by, "sent again" if is_known else "sent", entry.hash))
            if is_own:
                with suppress(OSError):  # the run is taken; the next start takes out what is left
                    take_out(self.data, self.data / RUNS, self.data / INCOMING)
        return is_new

    def remove(self, digits: str, by: tokens.By) -> str:
        """Takes the run whose hash begins with `digits` out of the lab, and gives its hash; it can be sent again.

        Its folder is kept below `removed/`. `by`: who wants it, for the audit log, which has its line together with the
        index. Raises NoSuchRun where there is none, or several, InputError where it is an example.
        """
        hash_ = self.find(digits).hash
        if hash_ in hashes():
            raise InputError(f"run {hash_[:12]} is an example", hint="it goes when the first run of your own arrives")
        with self._one_at_a_time():
            self._put_aside(hash_, REMOVED)
            with session(self.engine) as opened:
                opened.execute(delete(RunRow).where(RunRow.hash == hash_))
                tokens.add(opened, tokens.line(by, "removed", hash_))
        return hash_

    def catch_up(self) -> list[str]:
        """Makes the index agree with the folders, as after a crash or a copy; gives what is left out, and why.

        Every folder is hashed again: one that was changed leaves the index.
        """
        settle(self.data, self.data / RUNS, self.data / INCOMING)
        with session(self.engine) as opened:
            known = set(opened.scalars(select(RunRow.hash)))
        there = self._there()
        with ThreadPoolExecutor() as pool:  # hashing releases the interpreter's lock
            both = sorted(known & there)
            intact = {
                hash_ for hash_, is_intact in zip(both, pool.map(self._watch.holds, both), strict=True) if is_intact
            }
        left_out = self._enter(sorted(there - intact))
        if gone := known - intact:
            with session(self.engine) as opened:
                opened.execute(delete(RunRow).where(RunRow.hash.in_(gone)))
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
            return opened.scalar(select(RunRow.hash).limit(1)) is None

    def count(self, wanted: Filter = Filter()) -> int:
        """How many runs a filter keeps, without those that were changed."""
        with session(self.engine) as opened:
            return sum(map(self._watch.holds, opened.scalars(_kept(select(RunRow.hash), wanted))))

    def has(self, hash_: str) -> bool:
        """Whether a run is here, by its whole hash: in the index, and its folder as it was sealed."""
        with session(self.engine) as opened:
            is_known = opened.get(RunRow, hash_) is not None
        return is_known and self._is_intact(hash_)

    def find(self, digits: str) -> RunRow:
        """The run whose hash begins with `digits`, its estimates with it.

        Raises NoSuchRun where there is none, or several.
        """
        wanted = select(RunRow).where(RunRow.hash.startswith(digits)).options(undefer(RunRow.estimates)).limit(2)
        found: Sequence[RunRow] = []
        if re.fullmatch(rf"[0-9a-f]{{{LEAST_DIGITS},64}}", digits):
            with session(self.engine) as opened:
                found = opened.scalars(wanted).all()
                opened.expunge_all()
        if len(found) != 1:
            what = f"there is no run {digits[:64]}" if not found else f"several runs begin with {digits}"
            raise NoSuchRun(what, hint=f"name at least {LEAST_DIGITS} digits of one hash of the page of runs")
        return found[0]

    def runs(self, wanted: Filter = Filter(), most: int | None = None) -> list[RunRow]:
        """The runs that a filter keeps, without their estimates, the latest first; none that was changed."""
        query = _kept(select(RunRow), wanted).order_by(RunRow.created.desc(), RunRow.hash)
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
            rows = opened.execute(select(RunRow.hash, RunRow.estimates).where(RunRow.hash.in_(hashes)))
            return {row.hash: row.estimates for row in rows}

    def evidence_of(self, hashes: Sequence[str]) -> dict[str, str]:
        """The kind of evidence of several runs, by hash; a run that isn't there, or was changed, is left out."""
        with session(self.engine) as opened:
            rows = opened.execute(select(RunRow.hash, RunRow.evidence).where(RunRow.hash.in_(hashes))).all()
        return {row.hash: row.evidence for row in rows if self._watch.holds(row.hash)}

    def choices(self) -> dict[str, list[str]]:
        """The values that each part of a filter can have."""
        columns = {"study": RunRow.study, "library": Library.name, "evidence": RunRow.evidence}
        with session(self.engine) as opened:
            return {
                name: list(opened.scalars(select(column).distinct().order_by(column)))
                for name, column in columns.items()
            }

    def devices(self) -> list[dict[str, Any]]:
        """A row a device, the one with the latest run first: its hash, name, card, evidence, runs and studies."""
        query = (
            select(
                RunRow.device,
                func.max(RunRow.device_name).label("name"),
                func.max(RunRow.card).label("card"),
                func.max(RunRow.evidence).label("evidence"),
                func.count().label("runs"),
                func.count(RunRow.study.distinct()).label("studies"),
                func.max(RunRow.created).label("latest"),
            )
            .group_by(RunRow.device)
            .order_by(func.max(RunRow.created).desc(), RunRow.device)
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
            what = f"run {hash_[:12]}: can't be read: {error.strerror or error}"
            raise StoreError(what, hint="check its permissions on the lab's host") from error

    def reading(self, hash_: str) -> Result:
        """A run read back. Raises StoreError where its folder was changed, NoSuchRun where it was removed meanwhile."""
        try:
            self.folder(hash_)
            return self._readings.of(hash_)
        except (OSError, StoreError):
            with self._one_at_a_time():
                self.find(hash_)
            raise

    def _reading(self, hash_: str) -> Result:
        return read(RunFolder(self.data / RUNS / hash_))  # verified by `reading`

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
        return RunRow.hash.not_in(self._watch.changed(opened.scalars(select(RunRow.hash))))

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
                opened.execute(delete(RunRow).where(RunRow.hash.not_in(self._there().difference(names))))
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
            query = query.where(getattr(RunRow, name) == value)
    if wanted.library is not None:
        query = query.where(RunRow.libraries.any(Library.name == wanted.library))
    return query


def _put(opened: Session, entry: Entry) -> None:
    parts = dataclasses.asdict(entry)
    libraries, reasons = parts.pop("libraries"), parts.pop("reasons")
    row = RunRow(
        **parts,
        libraries=[Library(run=entry.hash, name=name) for name in libraries],
        reasons=[Reason(run=entry.hash, place=place, text=text) for place, text in enumerate(reasons)],
    )
    if opened.get(RunRow, entry.hash) is None:
        opened.add(row)


def _as_tuples(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields as JSON has them, its lists as an entry has them."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}


Signature = tuple[tuple[int, int, int], ...]
"""Of each file of a run its number on the disk, its size in octets and when it was written, in nanoseconds."""


class Watch:
    """Hashes a folder again only where a file of it was written since: a list of 1,000 runs costs 4,000 `stat`s.

    * `is_intact`: whether a run's folder is as it was sealed, by its hash. Who changes a file and sets its times back
      is noticed where the run itself is opened, which hashes it.
    """

    def __init__(self, runs: Path, is_intact: Callable[[str], bool]) -> None:
        self._runs = runs
        self._is_intact = is_intact
        self._known: dict[str, tuple[Signature, bool]] = {}

    def changed(self, hashes: Iterable[str]) -> list[str]:
        """Those of these runs whose folders are gone or no longer as they were sealed."""
        return [hash_ for hash_ in hashes if not self.holds(hash_)]

    def holds(self, hash_: str) -> bool:
        """Whether a run's folder is as it was sealed, as far as its files' times tell."""
        try:
            signature = self._signature(hash_)
        except OSError:
            return False
        known, intact = self._known.get(hash_, (None, False))
        if known != signature:
            intact = self._is_intact(hash_)
            self._known[hash_] = signature, intact
        return intact

    def seen(self, hashes: Iterable[str]) -> dict[str, Signature]:
        """What the files of these runs are now; a run that lacks one is left out."""
        found = {}
        for hash_ in hashes:
            with suppress(OSError):
                found[hash_] = self._signature(hash_)
        return found

    def note(self, intact: Mapping[str, Signature]) -> None:
        """Takes in runs that somebody else found as they were sealed, each with what `seen` gave before that."""
        self._known |= {hash_: (signature, True) for hash_, signature in intact.items()}

    def _signature(self, hash_: str) -> Signature:
        stats = (os.stat(f"{self._runs}/{hash_}/{name}") for name in FILES)  # noqa: PTH116 - a path costs ten times it
        return tuple((stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats)


MOST_KEPT = 16
"""Runs whose estimates stay in memory, for comparisons; a sealed run never changes."""
MOST_KEPT_B = 2**26
"""So many octets of plans and records may those have together: parsed they take about ten times that."""
PATIENCE_s = 60.0
"""So long somebody waits for a reading that another one began."""


class _Kept(NamedTuple):
    reading: Result
    size_B: int


class Readings:
    """What was read lately, by hash, and what is being read.

    * `read`: reads a run. `size_B`: the octets of its files that stay in memory when they are parsed.
    """

    def __init__(self, read: Callable[[str], Result], size_B: Callable[[str], int]) -> None:
        self._read, self._size_B = read, size_B
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._under_way: dict[str, Future[Result]] = {}

    def of(self, hash_: str) -> Result:
        """A run read back. The errors are those of `read`, for all who wait; Busy where that takes too long."""
        with self._lock:
            if (kept := self._kept.get(hash_)) is not None:
                self._kept.move_to_end(hash_)
                return kept.reading
            reading = self._under_way.get(hash_)
            is_first = reading is None
            if reading is None:
                reading = self._under_way[hash_] = Future()
        if is_first:
            self._carry_out(hash_, reading)
        try:
            return reading.result(PATIENCE_s)
        except TimeoutError:
            raise DatabaseBusy("the run is being read", hint="try again in a minute") from None

    def _carry_out(self, hash_: str, reading: Future[Result]) -> None:
        try:
            kept = _Kept(self._read(hash_), self._size_B(hash_))
        except BaseException as error:  # noqa: BLE001 - it is everybody's who waits, and `of` raises it
            with self._lock:
                del self._under_way[hash_]
            reading.set_exception(error)
            return
        with self._lock:
            del self._under_way[hash_]
            self._kept[hash_] = kept
            while len(self._kept) > MOST_KEPT or sum(kept.size_B for kept in self._kept.values()) > MOST_KEPT_B:
                self._kept.popitem(last=False)
        reading.set_result(kept.reading)


FOLDER = Path(__file__).parents[1] / "data" / "examples"
MARK = "example-set"
"""The file in a lab's folder that says that the examples are there."""


@cache
def hashes() -> dict[str, Path]:
    """The examples by what names a run in a lab."""
    return {sums_sha256(RunFolder.open(place)): place for place in sorted(FOLDER.iterdir())}


def put(data: Path, runs: Path, aside: Path) -> None:
    """Copies the examples into the runs of a lab, which has none of somebody's own.

    * `aside`: an empty folder on the same disk, where they are made before they get their names.

    Raises DiskFull, and leaves none of them, where there is no room. A start that is killed here leaves what `settle`
    brings to its end: a run below `runs` is always a whole one.
    """
    try:
        made = aside / "examples"
        shutil.rmtree(made, ignore_errors=True)
        for hash_, place in hashes().items():
            (made / hash_).mkdir(parents=True)
            for file in place.iterdir():
                shutil.copy(file, made / hash_)
                sync(made / hash_ / file.name)
            sync(made / hash_)
        (data / MARK).touch()
        sync(data)
        for hash_ in hashes():
            if (runs / hash_).exists():  # left by a start of an older wattlock that was killed
                shutil.rmtree(runs / hash_)
            (made / hash_).rename(runs / hash_)
        sync(runs)
        made.rmdir()
    except OSError as error:
        shutil.rmtree(aside / "examples", ignore_errors=True)
        take_out(data, runs, aside)
        if error.errno in FULL:
            raise DiskFull(f"{data}: the disk is full", hint="make room, then start the lab again") from error
        raise


def are_in(data: Path) -> bool:
    """Whether a lab has nothing but the examples."""
    return (data / MARK).exists()


def take_out(data: Path, runs: Path, aside: Path) -> None:
    """Takes the examples out of the runs of a lab, where they are there; each goes as a whole.

    * `aside`: a folder on the same disk, which a start empties.
    """
    if not are_in(data):
        return
    for hash_ in hashes():
        if (runs / hash_).exists():
            with tempfile.TemporaryDirectory(dir=aside, ignore_cleanup_errors=True) as place:
                (runs / hash_).rename(Path(place) / hash_)
    (data / MARK).unlink(missing_ok=True)


def settle(data: Path, runs: Path, aside: Path) -> None:
    """Brings to its end what was begun with the examples when a lab was killed."""
    if are_in(data):
        there = {place.name for place in runs.iterdir()}
        if there - hashes().keys():
            take_out(data, runs, aside)
        elif not all(_is_whole(runs / hash_) for hash_ in hashes()):
            put(data, runs, aside)


def _is_whole(run: Path) -> bool:
    try:
        return sums_sha256(RunFolder.open(run)) == run.name
    except StoreError:
        return False
