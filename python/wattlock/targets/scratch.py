"""A folder for temporary files, and the clearing of those that a killed wattlock left behind."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from wattlock.errors import DiskFull

PREFIX = "wattlock-"
LOCK = ".held"
YOUNG_S = 60.0
"""A younger folder may be one whose wattlock has not locked it yet."""


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder of this process's own, gone at the end; before it, those whose process is gone are swept."""
    with _no_room_is_told():
        tempfile.gettempdir()
    sweep()
    with tempfile.TemporaryDirectory(prefix=PREFIX) as name, (Path(name) / LOCK).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # it goes with the process, however that ends
        yield Path(name)


@contextmanager
def file_of(text: bytes) -> Iterator[IO[bytes]]:
    """A file without a name that holds `text`, read from its begin."""
    with ExitStack() as stack:
        with _no_room_is_told():
            file = stack.enter_context(tempfile.TemporaryFile())
            file.write(text)
            file.seek(0)
        yield file


@contextmanager
def _no_room_is_told() -> Iterator[None]:
    """Turns the system's refusals of a temporary file into DiskFull, with the folder's name."""
    try:
        yield
    except OSError as error:
        place = tempfile.tempdir or "TMPDIR, /tmp, /var/tmp or here"
        what = f"temporary files can't be written to {place}: {error.strerror or error}"
        raise DiskFull(what, hint="make room there, or name another folder by TMPDIR") from error


def sweep() -> None:
    """Removes the folders of `scratch` that no process holds any more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            about = folder.lstat()
            if about.st_uid != os.geteuid() or time.time() - about.st_mtime < YOUNG_S:
                continue
            with (folder / LOCK).open("r+") as held:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
