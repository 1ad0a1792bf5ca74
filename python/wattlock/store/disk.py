"""Writing so that a full disk or a pulled plug loses nothing that was there before."""

import errno
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from wattlock.errors import HINT_OF_SYSTEM, DiskFull, InputError, StoreError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
PART = ".part"
MOST_LINKS = 40
"""As Linux follows for one path."""
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
        number = next((code for code in FULL if f"os error {code})" in str(error)), None)
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


def cache_folder() -> Path:
    """This user's cache, of what can be made again (XDG Base Directory Specification 0.8).

    Raises RuntimeError where the user has no home.
    """
    return Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "wattlock"


def write_out(path: Path, content: str | bytes, option: str = "") -> None:
    """Writes the file that somebody named, whole or not at all; every option that writes a file comes here.

    A regular file is replaced by its successor, which keeps its mode and owner; a link leads to it and stays. What
    else is there (a device, a pipe) is opened and written, and stays what it is; `-` and what links into /proc are
    streams.

    * `option`: what named the file, for the error.

    Raises DiskFull or InputError; BrokenPipeError where the reader of a stream of this process has gone.
    """
    data = content.encode() if isinstance(content, str) else content
    number = None
    try:
        number = _descriptor(path)
        if number is not None:
            _write_descriptor(number, data)
        elif is_stream(path):
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_NOCTTY), "wb") as stream:
                stream.write(data)
        else:
            _replace(Path(os.path.realpath(path)), data)
    except OSError as error:
        if number is not None and isinstance(error, BrokenPipeError):
            raise
        raise unwritten(path, error, option) from error


def unwritten(path: Path, error: OSError, option: str = "") -> DiskFull | InputError:
    """The error to raise for a file that somebody named by `option`, and that the system refused."""
    named_by = f"{option} {path}" if option else str(path)
    if error.errno in FULL:
        return DiskFull(f"{named_by}: no room left on the disk", hint="free some space and try again")
    hint = HINT_OF_SYSTEM.get(error.errno or 0, "name another file")
    return InputError(f"{named_by}: can't be written: {error.strerror or error}", hint=hint)


def is_stream(path: Path) -> bool:
    """Whether `write_out` writes into what is there in place of making a file: a device, a pipe, a stream, a folder."""
    if str(path) == "-" or any(folder.is_relative_to("/proc") for folder, _ in _chain(path)):
        return True
    return path.exists() and not path.is_file()


def _chain(path: Path) -> Iterator[tuple[Path, str]]:
    """The folder and the name of a path, and of each link that it leads to."""
    for _ in range(MOST_LINKS):
        folder = Path(os.path.realpath(path.parent))
        yield folder, path.name
        if not path.is_symlink():
            return
        path = folder / path.readlink()


def _descriptor(path: Path) -> int | None:
    """The number of this process's descriptor that a path names, as /dev/stdout does; None where it names none.

    Opened by its path it would be cut to nothing, or written from its start, where it is a file.
    """
    if str(path) == "-":
        return 1
    this = {os.path.realpath(place) for place in ("/proc/self/fd", "/proc/thread-self/fd")}
    return next((int(name) for folder, name in _chain(path) if str(folder) in this and name.isdecimal()), None)


def _write_descriptor(number: int, data: bytes) -> None:
    if number == 1 and sys.__stdout__ is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    for printed in (sys.stdout, sys.stderr):
        printed.flush()
    with os.fdopen(os.dup(number), "wb") as stream:
        stream.write(data)


def _replace(place: Path, data: bytes) -> None:
    """Gives a regular file, or a new one, this content; `place` is no link."""
    if not place.name:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(place))
    try:
        # A file that may not be written stays, though its folder would let it be replaced.
        with os.fdopen(os.open(place, os.O_WRONLY), "wb") as file:
            about = os.fstat(file.fileno())
    except FileNotFoundError:
        about = None
    part = place.with_name(f".wattlock-{secrets.token_hex(6)}{PART}")
    mode = 0o666 if about is None else stat.S_IMODE(about.st_mode)
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            if about is not None:
                _give(file.fileno(), about)
            file.write(data)
        settle(part, place)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _give(handle: int, about: os.stat_result) -> None:
    """Gives a new file the owner and the mode of the one whose name it gets."""
    made = os.fstat(handle)
    if (made.st_uid, made.st_gid) != (about.st_uid, about.st_gid):
        os.fchown(handle, about.st_uid, about.st_gid)
    os.fchmod(handle, stat.S_IMODE(about.st_mode))


def write_whole(path: Path, lines: Iterable[bytes]) -> None:
    """Writes a file of a folder of wattlock's own, whole or not at all; what somebody named is `write_out`'s.

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
