"""One conversation with a program: given its words at once, heard to its end, and never for longer than it may take.

What it writes is handed on as it comes; what it complains of is kept in part. It may not say nothing, say too much, go
on for ever, close its output and stay, or leave another program behind that holds it.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NoReturn

from wattlock.errors import InputError, ProbeError
from wattlock.targets.scratch import file_of

CHUNK_B = 2**16
COMPLAINTS_B = 2**16
"""Of what a program complains of so much is kept: its last words."""

MOST_COMPLAINTS_B = 8 * 2**20
LEAVE_S = 10.0
"""A program that has closed its output ends within this time, and one that ended has its output closed."""

LOOK_S = 0.5
"""Where the system does not tell that a program ended it is asked as often."""

PATIENCE = "WATTLOCK_PATIENCE"
BROKEN = "`make setup` builds the probe anew; what was measured is kept, and `wattlock run --resume` goes on"
SLOW = f"a machine that slow needs more time: {PATIENCE}=4 waits four times as long"


@dataclass(frozen=True)
class Limits:
    """What a program may take: seconds until it says anything, between two words and in all; bytes of all its words.

    * `stopped`: says that it is to end at once, where several are heard at a time and one of them may end all.
    """

    start_s: float
    silence_s: float
    most_s: float
    most_B: float
    stopped: Callable[[], bool] | None = None


class Refused(ProbeError):
    """A program that took more than its limits."""


def patience() -> float:
    """By what all times are multiplied: `WATTLOCK_PATIENCE`, 1 without it.

    Raises InputError where that is no number above 0.
    """
    described = os.environ.get(PATIENCE, "1")
    with contextlib.suppress(ValueError):
        if 0 < (found := float(described)) < math.inf:
            return found
    raise InputError(f"{PATIENCE}={described}: is no number above 0", hint=f"{PATIENCE}=4 waits four times as long")


def hear(
    command: Sequence[str | Path], text: bytes | int, limits: Limits, take: Callable[[bytes], None], *, who: str
) -> tuple[int, bytes]:
    """Runs a program and gives its exit code, below 0 for a signal, and its last complaints.

    * `text`: its standard input, or the descriptor that it reads.
    * `take`: receives what it writes, as it comes; what that raises ends the program.
    * `who`: its name in errors.

    Raises Refused where it takes more than its limits, ProbeError where it can't be started; it has ended then.
    """
    factor = patience()
    with nullcontext(text) if isinstance(text, int) else file_of(text) as given:
        try:
            # A session of its own: Ctrl-C is for this program, which then ends the other one itself.
            child = subprocess.Popen(
                command, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            raise ProbeError(f"{command[0]}: {error.strerror}", hint=hint_of(error)) from error
    with child, _Hearing(child, limits, factor, who) as hearing:
        try:
            hearing.to_the_end(take)
        except BaseException:
            end(child)
            raise
    return child.returncode, bytes(hearing.complaints)


def end(child: subprocess.Popen[bytes]) -> None:
    """Ends a program and those that it started, by their common group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


def hint_of(error: OSError) -> str:
    """What mends that a program can't be started, by the cause."""
    match error.errno:
        case errno.EMFILE | errno.ENFILE:
            return "`ulimit -n` tells how many files may be open at a time: raise it, or close other programs"
        case errno.EAGAIN | errno.ENOMEM:
            return "there is no room for another program: close some, or raise `ulimit -u` and `ulimit -v`"
        case errno.E2BIG:
            return "name fewer ciphers at a time"
    return "`make setup` builds it anew"


@dataclass
class _Hearing:
    """What was heard of a program so far."""

    child: subprocess.Popen[bytes]
    limits: Limits
    patience: float
    who: str
    complaints: bytearray = field(default_factory=bytearray)
    heard_B: int = 0
    complained_B: int = 0

    def __enter__(self) -> _Hearing:
        self.selector = selectors.DefaultSelector()
        self.ending: int | None = None
        with contextlib.suppress(AttributeError, OSError):
            self.ending = os.pidfd_open(self.child.pid)
            self.selector.register(self.ending, selectors.EVENT_READ)
        for pipe in self._pipes():
            os.set_blocking(pipe.fileno(), False)
            self.selector.register(pipe, selectors.EVENT_READ)
        return self

    def __exit__(self, *_: object) -> None:
        self.selector.close()
        if self.ending is not None:
            os.close(self.ending)

    def to_the_end(self, take: Callable[[bytes], None]) -> None:
        """Hears it until its output is closed and it has ended.

        Raises Refused.
        """
        out, err = self._pipes()
        begun = last = time.monotonic()
        ended: float | None = None
        closed: float | None = None
        while closed is None or ended is None:
            due, too_long = self._due(begun, last, ended, closed)
            for key, _ in self.selector.select(max(0.0, min(due - time.monotonic(), self._step()))):
                if key.fileobj is out:
                    chunk = os.read(out.fileno(), CHUNK_B)
                    if chunk:
                        last = time.monotonic()
                        self._count(chunk)
                        take(chunk)
                    else:
                        self.selector.unregister(out)
                        closed = time.monotonic()
                elif key.fileobj is err:
                    self._complain(err)
            self._heed_stop()
            if ended is None and self.child.poll() is not None:
                ended = time.monotonic()
                if self.ending is not None:
                    self.selector.unregister(self.ending)
            if time.monotonic() >= due and (closed is None or ended is None):
                too_long()
        if err in {key.fileobj for key in self.selector.get_map().values()}:
            self._complain(err, everything=True)

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        assert self.child.stdout is not None and self.child.stderr is not None  # noqa: PT018, S101 - pipes by construction
        return self.child.stdout, self.child.stderr

    def _step(self) -> float:
        return math.inf if self.ending is not None and self.limits.stopped is None else LOOK_S

    def _due(
        self, begun: float, last: float, ended: float | None, closed: float | None
    ) -> tuple[float, Callable[[], NoReturn]]:
        """When it must have gone on, and what is said where it has not."""
        if closed is not None:
            return closed + LEAVE_S * self.patience, self._stays
        if ended is not None:
            return ended + LEAVE_S * self.patience, self._left_behind
        quiet_s = (self.limits.silence_s if self.heard_B else self.limits.start_s) * self.patience
        most_s = self.limits.most_s * self.patience
        if last + quiet_s <= begun + most_s:
            return last + quiet_s, lambda: self._refuse(f"{self.who} said nothing for {quiet_s:.4g} s", SLOW)
        return begun + most_s, lambda: self._refuse(f"{self.who} did not end within {most_s:.4g} s", SLOW)

    def _stays(self) -> NoReturn:
        self._refuse(f"{self.who} closed its output and did not end", BROKEN)

    def _left_behind(self) -> NoReturn:
        self._refuse(f"{self.who} ended and left another program behind that holds its output", BROKEN)

    def _count(self, chunk: bytes) -> None:
        self.heard_B += len(chunk)
        if self.heard_B > self.limits.most_B:
            self._refuse(f"{self.who} wrote more than {self.limits.most_B:,.0f} bytes", BROKEN)

    def _heed_stop(self) -> None:
        if self.limits.stopped is not None and self.limits.stopped():
            self._refuse(f"{self.who} was stopped", "`wattlock run --resume` goes on")

    def _complain(self, err: IO[bytes], *, everything: bool = False) -> None:
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(err.fileno(), CHUNK_B):
                self.complained_B += len(chunk)
                if self.complained_B > MOST_COMPLAINTS_B:
                    self._refuse(f"{self.who} complained in more than {MOST_COMPLAINTS_B:,} bytes", BROKEN)
                self.complaints += chunk
                del self.complaints[:-COMPLAINTS_B]
                if not everything:
                    return
            if not everything:
                self.selector.unregister(err)

    def _refuse(self, what: str, hint: str) -> NoReturn:
        code = self.child.poll()
        raise Refused(what + (f"; it had ended with code {code}" if code else ""), hint=hint)
