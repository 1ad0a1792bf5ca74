"""Writing so that a full disk or a pulled plug loses nothing that was there before."""

import errno
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from wattlock.errors import DiskFull, StoreError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
PART = ".part"
LEAST_ROOM_B = 2**20
"""With less of it free a disk is full for what Polars writes."""


@contextmanager
def named(folder: Path) -> Iterator[None]:
    """Turns the system's refusals to write below `folder` into DiskFull or StoreError, with its name."""
    try:
        yield
    except OSError as error:
        raise refused(folder, error) from error
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        # Polars hands the system's number on in words, or fails later at what it could not write.
        number = next((one for one in FULL if f"os error {one})" in str(error)), None)
        if number is None and shutil.disk_usage(folder).free < LEAST_ROOM_B:
            number = errno.ENOSPC
        known = OSError(number, os.strerror(number)) if number else OSError(" ".join(str(error).split()))
        raise refused(folder, known) from error


def refused(folder: Path, error: OSError) -> DiskFull | StoreError:
    """The error to raise for a write below `folder` that the system refused."""
    if error.errno in FULL:
        hint = f"make room, then `wattlock run --resume {folder}`"
        return DiskFull(f"run {folder}: the disk is full; what was measured until now is kept", hint=hint)
    what = f"run {folder}: can't be written: {error.strerror or error}"
    return StoreError(what, hint="check the folder's permissions")


def write_whole(path: Path, lines: Iterable[bytes]) -> None:
    """Writes a file that is there whole or not at all.

    Raises IsADirectoryError where `path` names no file, OSError where the system refuses.
    """
    if not path.name:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    part = path.with_name(path.name + PART)
    try:
        with part.open("wb") as file:
            file.writelines(lines)
        settle(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def settle(part: Path, path: Path) -> None:
    """Gives a finished file its name, once its bytes are on the disk."""
    sync(part)
    part.rename(path)
    sync(path.parent)


def sync(path: Path) -> None:
    """Waits until a file's bytes, or a folder's names, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
