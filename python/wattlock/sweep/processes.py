"""Processes of this machine that share out work: what is under way ends with them, and none outlives who began them."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess


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
