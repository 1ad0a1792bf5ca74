"""`records.jsonl`: the append-only file of a run that is being measured."""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from wattlock.errors import StoreError
from wattlock.store.bounds import LONGEST_LINE_B
from wattlock.store.disk import named

SLICE_B = 16 * 2**20


class Journal:
    """Appends whole lines, one writer at a time, and reads them in slices."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None

    def append(self, data: bytes) -> None:
        """Adds whole lines at the end.

        Where the system refuses a part of them, the file is cut behind the last whole line that it took.
        Raises DiskFull, or StoreError where another process writes to this run.
        """
        if not data:
            return
        if not data.endswith(b"\n"):
            raise ValueError("only whole lines are appended")
        with named(self.path.parent):
            handle = self._writer()
            end = os.fstat(handle).st_size
            written = 0
            try:
                while written < len(data):
                    written += os.write(handle, data[written:] if written else data)
            except OSError:
                os.ftruncate(handle, end + data.rfind(b"\n", 0, written) + 1)
                raise

    def cut(self) -> int:
        """Cuts a last line that was not written to its end; gives how many bytes that were."""
        with named(self.path.parent):
            handle = self._writer()
            size = os.fstat(handle).st_size
            whole = self._end_of_last_line(size)
            if whole < size:
                os.ftruncate(handle, whole)
            return size - whole

    def slices(self, start: int = 0) -> Iterator[tuple[int, bytes]]:
        """Whole lines from byte `start` on, about 16 MiB at a time, each with where it begins."""
        with self._reader() as file:
            file.seek(start)
            rest = b""
            while block := file.read(SLICE_B):
                data = rest + block
                end = data.rfind(b"\n") + 1
                if end:
                    yield start, data[:end]
                start, rest = start + end, data[end:]
                if len(rest) > LONGEST_LINE_B:
                    what = f"begins a line of more than {LONGEST_LINE_B} B, the limit"
                    what = f"run {self.path.parent}: byte {start} of {self.path.name} {what}"
                    raise StoreError(what, hint="the records before it are whole; cut the file there, in a copy")

    def read(self, start: int, size_B: int) -> bytes:
        """`size_B` bytes from byte `start` on."""
        with self._reader() as file:
            file.seek(start)
            return file.read(size_B)

    def close(self) -> None:
        """Lets another process write."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _reader(self) -> BinaryIO:
        try:
            return self.path.open("rb")
        except OSError as error:
            what = f"run {self.path.parent}: {self.path.name} can't be read: {error.strerror}"
            raise StoreError(what, hint="check its permissions") from error

    def _writer(self) -> int:
        if self._handle is None:
            handle = os.open(self.path, os.O_RDWR | os.O_APPEND)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
                hint = "wait until it ends, or stop it"
                raise StoreError(f"run {self.path.parent}: another wattlock is measuring into it", hint=hint) from None
            self._handle = handle
        return self._handle

    def _end_of_last_line(self, size: int) -> int:
        end, step = size, 64 * 2**10
        while end > 0:
            start = max(0, end - step)
            newline = self.read(start, end - start).rfind(b"\n")
            if newline >= 0:
                return start + newline + 1
            end = start
        return 0
