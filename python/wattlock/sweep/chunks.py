"""A sweep on disk: its plan, a file a chunk that was answered, and at the end one table of all rows."""

from __future__ import annotations

import asyncio
import fcntl
import gc
import json
import multiprocessing
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from wattlock.errors import DiskFull, Interrupted, ProbeError, StoreError, WattlockError
from wattlock.store.disk import PART, named, settle, write_whole
from wattlock.sweep.answers import Columns, answered, columns, refuse_hopeless
from wattlock.sweep.plan import MUST_AGREE, NS3, Chunk, SweepPlan, builds
from wattlock.targets.cluster import AT_A_TIME, connected, of_worker, refuse_other, this_worker

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    import polars as pl

PLAN, CHUNKS, TABLE = "plan.json", "chunks", "sweep.parquet"
GO_ON = "the same command goes on"


class SweepFolder:
    """The folder of one sweep, written by one process at a time."""

    def __init__(self, path: Path, plan: SweepPlan) -> None:
        self.path, self.plan = path, plan
        self.chunks: list[Chunk] = plan.chunks()
        self.columns: Columns = columns(plan)

    @property
    def table(self) -> Path:
        """The rows, once all are answered."""
        return self.path / TABLE

    def missing(self) -> list[Chunk]:
        """The chunks that are not answered yet, in their order."""
        return [] if self.table.exists() else [chunk for chunk in self.chunks if not self._place(chunk).exists()]

    def keep(self, chunk: Chunk, rows: pl.DataFrame) -> bool:
        """Writes the rows of a chunk, whole or not at all; False where they are there, and stay as they are.

        Raises DiskFull, or StoreError where the folder can't be written.
        """
        place = self._place(chunk)
        if place.exists():
            return False
        with _told(self.path):
            _write(rows, place)
        return True

    def join(self) -> Path:
        """Makes one table of all chunks, in the order of their rows, and removes them.

        Raises StoreError naming a chunk that is not what was written, DiskFull.
        """
        if not self.table.exists():
            rows = pl.concat([self._read(chunk) for chunk in self.chunks])
            with _told(self.path):
                _write(rows.rechunk(), self.table)
        shutil.rmtree(self.path / CHUNKS, ignore_errors=True)
        return self.table

    def _place(self, chunk: Chunk) -> Path:
        return self.path / CHUNKS / f"{chunk.number:06}.parquet"

    def _read(self, chunk: Chunk) -> pl.DataFrame:
        place = self._place(chunk)
        try:
            rows = pl.read_parquet(place)
        except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise _broken(place) from error
        numbers = range(chunk.first_row, chunk.first_row + chunk.stop - chunk.start)
        if dict(rows.schema) != self.columns or rows["row"].to_list() != list(numbers):
            raise _broken(place)
        return rows


@contextmanager
def opened(path: Path, plan: SweepPlan) -> Iterator[SweepFolder]:
    """The folder of a sweep, made or gone on with; for as long as this lasts no other process writes to it.

    Raises StoreError where the folder holds something else, another sweep, or one begun by another build; DiskFull.
    """
    with _told(path):
        path.mkdir(parents=True, exist_ok=True)
        lock = os.open(path, os.O_RDONLY)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            what = f"sweep {path}: another wattlock is writing to it"
            raise StoreError(what, hint="wait until it ends, or stop it") from None
        begun = _begun(path, plan)
        with _told(path):
            if begun is None:
                write_whole(path / PLAN, [plan.encoded().encode()])
            (path / CHUNKS).mkdir(exist_ok=True)
        yield SweepFolder(path, plan if begun is None else begun)
    finally:
        os.close(lock)


def _begun(path: Path, plan: SweepPlan) -> SweepPlan | None:
    """The plan as it was begun in a folder, which keeps its day; None where the folder is empty."""
    place = path / PLAN
    if not place.exists():
        if any(file.name != f"{PLAN}{PART}" for file in path.iterdir()):
            raise StoreError(f"{path}: the folder is not empty", hint="name another one with --out")
        return None
    try:
        text = place.read_text(encoding="utf-8")
        before = json.loads(text)
        begun = plan.on(str(before["day"]))
        found: Mapping[str, str | None] = dict(before["builds"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StoreError(f"sweep {path}: {PLAN} can't be read", hint="name another folder with --out") from error
    for name, value in plan.builds.items():
        if found.get(name) != value:
            what = f"sweep {path}: was begun with another {MUST_AGREE[name][0]}: {found.get(name)}, not {value}"
            raise StoreError(what, hint="name another folder with --out: all rows of a table are answered by one build")
    if replace(begun, allow_assumed=not plan.allow_assumed).encoded() == text:
        what = f"sweep {path}: was begun {'without' if plan.allow_assumed else 'with'} --allow-assumed"
        raise StoreError(what, hint="name another folder with --out, or begin with the same option")
    if begun.encoded() != text:
        hint = "name another folder with --out; that one goes on with its own file, --cards and --allow-assumed"
        raise StoreError(f"sweep {path}: is another sweep, {before.get('title', '')!r}", hint=hint)
    return begun


def _write(rows: pl.DataFrame, place: Path) -> None:
    part = place.with_name(place.name + PART)
    try:
        rows.write_parquet(part)
        settle(part, place)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turns the system's refusals to write into DiskFull or StoreError, in words of a sweep."""
    try:
        with named(path):
            yield
    except DiskFull as error:
        what = f"sweep {path}: the disk is full; what was answered until now is kept"
        raise DiskFull(what, hint=f"make room, then {GO_ON}") from error
    except StoreError as error:
        raise StoreError(error.message.replace("run ", "sweep ", 1), hint=error.hint) from error


def _broken(place: Path) -> StoreError:
    return StoreError(f"{place}: is not what was written", hint=f"remove it: {GO_ON} and answers it again")


Told = Callable[[int, int], None]


def carry_out(
    plan: SweepPlan,
    out: Path,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    report: Told = lambda *_: None,
) -> Path:
    """Answers what is not answered yet, and gives the table of all rows.

    * `out`: the sweep's folder. `workers`: processes of this machine, as many as it has processors without; or
      `scheduler`, the address of one whose workers answer. `report`: hears how many rows of how many are answered.

    Raises InputError and EvidenceError where a grid has nothing that can be asked, StoreError where the folder holds
    something else, DiskFull, ProbeError where a program or a worker fails, WayError where the scheduler is lost,
    Interrupted where it is stopped. Rows that were answered are kept.
    """
    refuse_hopeless(plan)
    with opened(out, plan) as folder:
        if folder.missing():
            count = workers or len(os.sched_getaffinity(0))
            hands = of_scheduler(folder.plan, scheduler) if scheduler else of_this_machine(folder.plan, count)
            try:
                with hands as those:
                    _answer(folder, those, report)
            except BrokenProcessPool as error:
                what = "a worker's process was ended from outside; what was answered is kept"
                raise ProbeError(what, hint=f"{GO_ON}; --workers 1 needs the least memory") from error
            except KeyboardInterrupt:
                raise Interrupted("stopped; what was answered is kept", hint=GO_ON) from None
        else:
            report(plan.rows, plan.rows)
        return folder.join()


def _answer(folder: SweepFolder, workers: Workers, report: Told) -> None:
    missing = folder.missing()
    rows = folder.plan.rows
    done = rows - sum(chunk.stop - chunk.start for chunk in missing)
    waiting = iter(missing)
    under_way: dict[Future[pl.DataFrame], Chunk] = {}
    report(done, rows)
    while True:
        room = workers.at_a_time - len(under_way)
        under_way |= {workers.answer(chunk): chunk for chunk in islice(waiting, room)}
        if not under_way:
            return
        for future in wait(under_way, return_when=FIRST_COMPLETED).done:
            chunk = under_way.pop(future)
            folder.keep(chunk, future.result())
            done += chunk.stop - chunk.start
            report(done, rows)


KEPT = "what was answered is kept; the same command, with --scheduler or without, goes on"


class Workers(NamedTuple):
    """What answers a chunk, and how many are best under way at a time."""

    answer: Callable[[Chunk], Future[pl.DataFrame]]
    at_a_time: int


@contextmanager
def of_this_machine(plan: SweepPlan, count: int) -> Iterator[Workers]:
    """So many processes of this machine."""
    with processes(count) as pool:
        yield Workers(lambda chunk: pool.submit(answered, plan, chunk), 2 * count)


@contextmanager
def of_scheduler(plan: SweepPlan, address: str) -> Iterator[Workers]:
    """The workers of the scheduler at `address`.

    Raises what `connected` does, WayError where a worker differs from this machine in what decides an answer.
    """
    stopped = threading.Event()
    with connected(address, KEPT) as scheduler, ended(ThreadPoolExecutor(AT_A_TIME)) as pool:
        for worker, found in scheduler.workers(_look, plan.own, NS3 in plan.builds).items():
            refuse_other(worker, found, "this machine", plan.builds, MUST_AGREE)
        encoded = plan.encoded()

        def answer(chunk: Chunk) -> pl.DataFrame:
            who, decides = f"chunk {chunk.number}", [encoded, *chunk]
            rows: pl.DataFrame = scheduler.carry_out(
                _on_worker, plan, chunk, decides=decides, who=who, stopped=stopped.is_set
            )
            return rows

        try:
            yield Workers(lambda chunk: pool.submit(answer, chunk), AT_A_TIME)
        finally:
            stopped.set()


async def _look(cards: Path | None, with_ns3: bool) -> dict[str, str | None]:
    """On a worker: what it answers with now."""
    _builds.cache_clear()
    return await asyncio.to_thread(_builds, cards, with_ns3)


@lru_cache
def _builds(cards: Path | None, with_ns3: bool) -> dict[str, str | None]:
    return builds(cards, with_ns3=with_ns3)


def _on_worker(plan: SweepPlan, chunk: Chunk) -> pl.DataFrame:
    worker, _ = this_worker()
    try:
        refuse_other(worker, _builds(plan.own, NS3 in plan.builds), "the others", plan.builds, MUST_AGREE)
        return answered(plan, chunk)
    except WattlockError as error:
        raise of_worker(worker, error) from None


@contextmanager
def processes(count: int) -> Iterator[Executor]:
    """So many processes."""
    spawned = multiprocessing.get_context("spawn")
    with ended(ProcessPoolExecutor(count, mp_context=spawned, initializer=_begin)) as pool:
        yield pool


@contextmanager
def ended(pool: Executor) -> Iterator[Executor]:
    """A pool that ends with what is under way; what has not begun is left."""
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _begin() -> None:
    """In such a process: Ctrl-C is for the one that began it, and it ends with that one."""
    # What is loaded stays, and answers hold no circles: to look for them again and again takes a tenth of the time.
    gc.freeze()
    gc.set_threshold(100_000)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if parent := multiprocessing.parent_process():
        threading.Thread(target=_end_with, args=[parent], daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
