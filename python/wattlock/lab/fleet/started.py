"""Starts the fleet's own process beside the lab's server, and again whenever it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

AGAIN_S, LONGEST_S = 1.0, 60.0
"""The wait before a fleet that ended is started again; it doubles while none can be started."""
DATABASE = "WATTLOCK_FLEET_DATABASE"
"""A URL may hold a password, which the environment shows to this user alone, and a command line to everybody."""
QUIET = {
    "DASK_LOGGING__DISTRIBUTED": "critical",
    "DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD": "forkserver",
    "DASK_DISTRIBUTED__WORKER__PRELOAD": "wattlock.lab.fleet.worker",
    "PYTHONWARNINGS": "ignore::UserWarning:multiprocessing.resource_tracker",
}
"""What Dask logs is told by the queue; workers are forks of one process that has imported what they need."""


@contextmanager
def started(
    data: Path, targets: Sequence[str], say: Callable[[str], None], database: str | None = None
) -> Iterator[None]:
    """A fleet of these targets for as long as this lasts; none where none is named.

    * `say`: is told where it ended and is started again. `database`: as of `open_database`.
    """
    if not targets:
        yield
        return
    over = threading.Event()
    running: list[subprocess.Popen[bytes]] = []
    environment = {**os.environ, **QUIET, **({DATABASE: database} if database else {})}

    def watch() -> None:
        command = [sys.executable, "-m", "wattlock.lab.fleet.conductor", str(data.resolve()), *targets]
        again_s = AGAIN_S
        while not over.is_set():
            try:
                # In a session of its own: Ctrl-C is for the lab, which then closes its input.
                process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, start_new_session=True)
            except OSError as error:  # the machine is short of memory or processes, say
                say(f"warning: the fleet can't be started ({error.strerror}), and is tried again in {again_s:g} s")
                over.wait(again_s)
                again_s = min(2 * again_s, LONGEST_S)
                continue
            again_s = AGAIN_S
            with process:
                running[:] = [process]
                if over.is_set():
                    process.kill()
                code = process.wait()
            if not over.wait(AGAIN_S):
                say(f"warning: the fleet ended with {code} and is started again; nothing is lost")

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        for process in running:
            if process.stdin is not None:
                process.stdin.close()
        watcher.join(10)
