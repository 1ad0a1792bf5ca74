"""Who answers the chunks of a sweep: processes of this machine, or the workers of a Dask scheduler."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from wattlock.errors import WattlockError
from wattlock.sweep.answers import answered
from wattlock.sweep.plan import Chunk, Plan
from wattlock.targets.builds import SAME, builds
from wattlock.targets.scheduler import AT_A_TIME, connected, of_worker, refuse_other, this_worker

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    import polars as pl

KEPT = "what was answered is kept; the same command, with --scheduler or without, goes on"


class Workers(NamedTuple):
    """What answers a chunk, and how many are best under way at a time."""

    answer: Callable[[Chunk], Future[pl.DataFrame]]
    at_a_time: int


@contextmanager
def of_this_machine(plan: Plan, count: int) -> Iterator[Workers]:
    """So many processes of this machine."""
    spawned = multiprocessing.get_context("spawn")
    with _ended(ProcessPoolExecutor(count, mp_context=spawned, initializer=_begin)) as pool:
        yield Workers(lambda chunk: pool.submit(answered, plan, chunk), 2 * count)


@contextmanager
def of_scheduler(plan: Plan, address: str) -> Iterator[Workers]:
    """The workers of the scheduler at `address`.

    Raises what `connected` does, WayError where a worker differs from this machine in what decides an answer.
    """
    stopped = threading.Event()
    with connected(address, KEPT) as scheduler, _ended(ThreadPoolExecutor(AT_A_TIME)) as pool:
        for worker, found in scheduler.workers(_look, plan.own).items():
            refuse_other(worker, found, "this machine", plan.builds, SAME)
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


@contextmanager
def _ended(pool: Executor) -> Iterator[Executor]:
    """A pool that ends with what is under way; what has not begun is left."""
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _begin() -> None:
    """In a process of this machine: Ctrl-C is for the one that began it, and it ends with that one."""
    # What is loaded stays, and answers hold no circles: to look for them again and again takes a tenth of the time.
    gc.freeze()
    gc.set_threshold(100_000)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if parent := multiprocessing.parent_process():
        threading.Thread(target=_end_with, args=[parent], daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


async def _look(own: Path | None) -> dict[str, str | None]:
    """On a worker: what it answers with now."""
    _builds.cache_clear()
    return await asyncio.to_thread(_builds, own)


_builds = lru_cache(builds)


def _on_worker(plan: Plan, chunk: Chunk) -> pl.DataFrame:
    worker, _ = this_worker()
    try:
        refuse_other(worker, _builds(plan.own), "the others", plan.builds, SAME)
        return answered(plan, chunk)
    except WattlockError as error:
        raise of_worker(worker, error) from None
