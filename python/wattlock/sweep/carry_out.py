"""A sweep carried out: chunks handed to workers, kept as they come, joined at the end."""

import os
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from pathlib import Path

import polars as pl

from wattlock.errors import Interrupted, ProbeError
from wattlock.sweep.answers import refuse_hopeless
from wattlock.sweep.folder import GO_ON, SweepFolder, opened
from wattlock.sweep.plan import Chunk, Plan
from wattlock.sweep.workers import Workers, of_scheduler, of_this_machine

Told = Callable[[int, int], None]


def carry_out(
    plan: Plan, out: Path, *, workers: int | None = None, scheduler: str | None = None, told: Told = lambda *_: None
) -> Path:
    """Answers what is not answered yet, and gives the table of all rows.

    * `out`: the sweep's folder. `workers`: processes of this machine, as many as it has processors without; or
      `scheduler`, the address of one whose workers answer. `told`: hears how many rows of how many are answered.

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
                    _answer(folder, those, told)
            except BrokenProcessPool as error:
                what = "a worker's process was ended from outside; what was answered is kept"
                raise ProbeError(what, hint=f"{GO_ON}; --workers 1 needs the least memory") from error
            except KeyboardInterrupt:
                raise Interrupted("stopped; what was answered is kept", hint=GO_ON) from None
        else:
            told(plan.rows, plan.rows)
        return folder.join()


def _answer(folder: SweepFolder, workers: Workers, told: Told) -> None:
    missing = folder.missing()
    rows = folder.plan.rows
    done = rows - sum(chunk.stop - chunk.start for chunk in missing)
    waiting = iter(missing)
    under_way: dict[Future[pl.DataFrame], Chunk] = {}
    told(done, rows)
    while True:
        room = workers.at_a_time - len(under_way)
        under_way |= {workers.answer(chunk): chunk for chunk in islice(waiting, room)}
        if not under_way:
            return
        for future in wait(under_way, return_when=FIRST_COMPLETED).done:
            chunk = under_way.pop(future)
            folder.keep(chunk, future.result())
            done += chunk.stop - chunk.start
            told(done, rows)
