"""Reads a run that somebody sent, in a process of its own with bounded memory and time: `python -m wattlock.lab.child`.

What is written into a run's files can make any reader of Parquet or JSON ask for more than there is. Here that costs
this process alone. It prints one JSON object: the entry, or `error` and `hint`.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattlock.errors import StoreError, TransferRefused, WattlockError

if TYPE_CHECKING:
    from wattlock.store import RunFolder

ROOM_B = 6 * 2**30
"""Address space; Polars reserves more than it uses. A child that finds no more may wait for ever: WALL_s ends it."""
MOST_MEMORY_B = 2**30
"""What reading a run may take: a page takes as much of the server. A run of a million batches takes 400 MB."""
CPU_s, WALL_s = 40, 120
NAMES = ("process", "case", "round", "segment", "attempt", "calls")
"""What names a batch: whole and half batches of one visit have other calls. The contract of a probe has none twice."""
UNREAD = "measure again, or send another run: nothing of this one was kept"


def entry_by_child(folder: Path, wall_s: float = WALL_s) -> dict[str, Any]:
    """The fields of the entry of a run that nobody has checked yet.

    * `wall_s`: how long reading it may take.

    Raises TransferRefused where it can't be read, or not within the limits.
    """
    answer = ask(["wattlock.lab.child", str(folder)], wall_s)
    if answer is None:
        raise TransferRefused("the run can't be read within the limits of memory and time", hint=UNREAD)
    if "error" in answer:
        raise TransferRefused(answer["error"], hint=answer["hint"])
    answer["estimates"] = base64.b64decode(answer["estimates"])
    return answer


def ask(module: Sequence[str], wall_s: float, sent: str = "", cwd: Path | None = None) -> dict[str, Any] | None:
    """The JSON object that a module prints, run in a process of its own; null where it ended without, or too late.

    * `module`: its name and arguments. `wall_s`: how long it may take. `sent`: what it reads. `cwd`: where it runs.
    """
    command = [sys.executable, "-m", *module]
    environment = {**os.environ, "POLARS_MAX_THREADS": "2"}
    try:
        done = subprocess.run(
            command, env=environment, input=sent.encode(), capture_output=True, timeout=wall_s, check=False, cwd=cwd
        )
        answer: dict[str, Any] = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        return None
    return answer


def main(folder: Path) -> dict[str, Any]:
    """The entry of a run as JSON can hold it, or what is wrong with the run."""
    try:
        answer = dataclasses.asdict(_entry(folder))
    except WattlockError as error:
        return {"error": error.message.replace(f"run {folder}: ", "the run: "), "hint": error.hint or UNREAD}
    except Exception as error:  # noqa: BLE001 - whatever a file made a reader do, it is the file's fault
        return {"error": f"the run can't be read: {type(error).__name__}", "hint": UNREAD}
    return {**answer, "estimates": base64.b64encode(answer["estimates"]).decode()}


def _entry(folder: Path) -> Any:
    from wattlock.lab.entry import entry_of
    from wattlock.store import RunFolder

    run = RunFolder.open(folder)
    _refuse_foreign(run)
    return entry_of(run)


def _refuse_foreign(run: RunFolder) -> None:
    """Raises StoreError where the sums are not those of a run, or a batch is there twice."""
    from wattlock.store import run_folder

    run_folder.refuse_uncommon(run.path)
    batches = run.scan().select(NAMES).collect().hash_rows()
    if batches.n_unique() != len(batches):
        raise StoreError(f"run {run.path}: has a batch twice", hint="measure again: no probe writes that")


def within(answer: dict[str, Any], taken_B: int) -> dict[str, Any]:
    """The same, or that it took more memory to be read than pages may."""
    if taken_B <= MOST_MEMORY_B:
        return answer
    limit_MiB = MOST_MEMORY_B >> 20
    return {"error": f"the run took {taken_B >> 20} MiB to be read, the limit is {limit_MiB} MiB", "hint": UNREAD}


def peak_B() -> int:
    """The memory that this process had at most. What `getrusage` tells begins with that of the process before it."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:  # no Linux
        return 0
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (ROOM_B, ROOM_B))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_s, CPU_s))
    sys.stdout.write(json.dumps(within(main(Path(sys.argv[1])), peak_B())))
