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
from wattlock.sweep.plan import NS3, SAME, Chunk, SweepPlan, builds
from wattlock.targets.cluster import AT_A_TIME, connected, of_worker, refuse_other, this_worker

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    import polars as pl

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
        refuse_other(worker, _builds(plan.own, NS3 in plan.builds), "the others", plan.builds, SAME)
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
