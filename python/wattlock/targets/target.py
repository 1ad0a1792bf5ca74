"""The port `Target`: a device on which a probe runs, its facts by itself, how a program on it is heard, in bounds."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import math
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn, Protocol

from wattlock.definitions.constants import contract
from wattlock.errors import DiskFull, EvidenceError, InputError, ProbeError, WayError
from wattlock.store.record_schema import judge_of


class Target(Protocol):
    """A device on which a probe runs."""

    def __hash__(self) -> int:
        """Two of one device are alike: what is known of it is kept by it."""

    @property
    def name(self) -> str:
        """What errors call its probe."""

    @property
    def way(self) -> str:
        """How it is reached: `local`, `ssh`, `adb`, `qemu`, `board`, `page`."""

    def facts(self) -> Facts:
        """What is true of the device. Raises WayError where it can't be reached, ProbeError where its probe fails."""

    def push(self, file: Path) -> str:
        """Brings a file of the host to the device, and gives the path that its probe finds it by."""

    def fetch(self, place: str) -> bytes:
        """The content of a file of the device. Raises ProbeError where there is none."""

    def start(
        self, words: Sequence[str], text: bytes, limits: Limits, take: Callable[[bytes], None], *, who: str
    ) -> tuple[int, bytes]:
        """Runs the probe there to its end, and gives its exit code, below 0 for a signal, and its last complaints.

        * `words`: its arguments; `text`: its standard input; `take`: receives what it writes, as it comes.
        * `who`: what it is called in errors.

        Raises Refused where it takes more than `limits`, ProbeError where it can't be started, WayError where the
        device is lost meanwhile.
        """


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


LIMITS = Limits(start_s=60.0, silence_s=60.0, most_s=60.0, most_B=2**20)
"""Facts take some milliseconds and have some kB."""

OUT_OF_STEP_S = 60
"""A clock that differs by more is told: records of two clocks are hard to put in order."""


class CoreClass(NamedTuple):
    """Cores of one kind: `big`, `middle`, `little`, null where all are alike; `part`: implementer and part on ARM."""

    name: str | None
    part: str | None
    processors: tuple[int, ...]


class CountedCore(NamedTuple):
    """The core on which cycles are counted, emulated or on a `board`.

    * `part`, `part_clock_Hz`: whose flash is modelled, at which clock; on a board what it has, null where not
      known, and the clock that its file names.
    """

    core: str
    part: str | None = None
    part_clock_Hz: int | None = None
    board: str | None = None

    @property
    def place(self) -> str:
        """Where it is, in words."""
        if self.board is not None:
            return f"the board {self.board}"
        part = f" in {self.part} at {self.part_clock_Hz} Hz" if self.part else ""
        return f"an emulated {self.core}{part}"


class Facts(NamedTuple):
    """What is true of a device, by the device itself and never by the host.

    * `probe_sha256`: of its probe: a run is measured by one build.
    * `isa`: the architecture of its processor, as cards name it.
    * `processors`: those that may be used, the last first: the first ones have the most interrupts.
    * `core_classes`: the fastest first; one where all cores are alike.
    * `emulator`: by what an emulator was noticed, null where none was.
    * `answer`: all that the device said.
    * `clock_ahead_s`: by how much its clock is ahead of the host's, below 0 where it is behind.
    * `counted`: the core on which no time is measured and cycles are counted; null where time is measured.
    * `at_a_time`: how many processes count there at a time.
    * `batch_ns`: how long batches have to be where the device's clock is coarse; null for the usual length.
    * `self_check_B`: the payload of the self-checks, of which a batch holds 60 calls at least.
    """

    probe_sha256: str
    isa: str
    processors: tuple[int, ...]
    core_classes: tuple[CoreClass, ...] = ()
    emulator: str | None = None
    answer: Mapping[str, Any] = {}
    clock_ahead_s: float = 0.0
    counted: CountedCore | None = None
    at_a_time: int = 1
    batch_ns: int | None = None
    self_check_B: int = 1024

    def out_of_step(self) -> str | None:
        """What is wrong with the device's clock; null where it goes with the host's."""
        if abs(self.clock_ahead_s) <= OUT_OF_STEP_S:
            return None
        apart = "ahead of" if self.clock_ahead_s > 0 else "behind"
        return f"its clock is {abs(self.clock_ahead_s):.0f} s {apart} this machine's: set it"

    def alike(self, class_name: str | None = None) -> tuple[int, ...]:
        """The processors of one class of cores, the last first; of the fastest where none is named.

        Raises KeyError where the device has no such class.
        """
        if len(self.core_classes) < 2 and class_name is None:
            return self.processors
        classes = {core_class.name: core_class for core_class in self.core_classes}
        chosen = self.core_classes[0] if class_name is None else classes[class_name]
        return tuple(cpu for cpu in self.processors if cpu in chosen.processors)


def refuse_emulated(noticed: str) -> NoReturn:
    """Raises EvidenceError: an emulated processor has no joules; `noticed`: by what the emulator was noticed."""
    raise EvidenceError(f"the processor is emulated: {noticed}", hint="joules are of a device: run on one, by --on")


def ask_facts(start: Callable[..., tuple[int, bytes]], who: str) -> Facts:
    """The facts of a device; `start`: of its target, `who`: its name in errors.

    Raises ProbeError where it answers something else.
    """
    written: list[bytes] = []
    code, complaints = start(["facts"], b"", LIMITS, written.append, who=f"{who} facts")
    answer: Any = read(written, json.loads, code, complaints, f"{who} facts")
    wrong = judge_of(contract()["facts"])(answer)
    if code or wrong is not None:
        raise ProbeError(f"{who} facts: {wrong or f'exit code {code}'}", hint="`make setup` builds the probe anew")
    sha256, usable = answer["build"].get("executable_sha256"), answer["processors"]
    if sha256 is None:
        raise ProbeError(f"{who} facts: it can't read its own program", hint="it needs /proc, or another folder")
    ahead_s = answer["clocks"]["unix_ns"] / 1e9 - time.time()
    build = answer["build"]
    return Facts(sha256, build["isa"], _last_first(usable), _classes(answer), answer.get("emulator"), answer, ahead_s)


def _last_first(processors: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(processors, reverse=True))


def _classes(answer: Mapping[str, Any]) -> tuple[CoreClass, ...]:
    return tuple(
        CoreClass(cores.get("class"), cores.get("part"), tuple(cores["processors"])) for cores in answer["core_classes"]
    )


CHUNK_B = 2**16

COMPLAINTS_B = 2**16
"""Of what a program complains of so much is kept: its last words."""

MOST_COMPLAINTS_B = 8 * 2**20

LEAVE_S = 10.0
"""A program that has closed its output ends within this time, and one that ended has its output closed."""

LOOK_S = 0.5
"""Where the system does not tell that a program ended it is asked as often."""

PATIENCE = "WATTLOCK_PATIENCE"

BY_A_LIBRARY = (
    "a library of your own that prints or starts programs does that: measure without it; what was measured is kept"
)

BROKEN = "`make setup` builds the probe anew; what was measured is kept, and `wattlock run --resume` goes on"

SLOW = f"a machine that slow needs more time: {PATIENCE}=4 waits four times as long"


class LimitExceeded(ProbeError):
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
                command,
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                env=supervised(),
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


SUPERVISED = "WATTLOCK_SUPERVISED"
"""Set, to the number of this process, for programs of wattlock's that end with it, however it ends."""


def supervised() -> dict[str, str]:
    """The environment of a program that ends with this one."""
    return {**os.environ, SUPERVISED: str(os.getpid())}


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
        self._refuse(f"{self.who} ended and left another program behind that holds its output", BY_A_LIBRARY)

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
                    self._refuse(f"{self.who} complained in more than {MOST_COMPLAINTS_B:,} bytes", BY_A_LIBRARY)
                self.complaints += chunk
                del self.complaints[:-COMPLAINTS_B]
                if not everything:
                    return
            if not everything:
                self.selector.unregister(err)

    def _refuse(self, what: str, hint: str) -> NoReturn:
        code = self.child.poll()
        raise LimitExceeded(what + (f"; it had ended with code {code}" if code else ""), hint=hint)


class NotInstalled(WayError):
    """A program of this machine's is missing or too old by which a device is reached: to wait brings none."""


def located(name: str, variable: str) -> Path:
    """A program: named by an environment variable, beside this Python, or on the path.

    Raises ProbeError where it is nowhere.
    """
    named = os.environ.get(variable)
    sibling = Path(sys.executable).with_name(name)
    for candidate in (named,) if named else (sibling, shutil.which(name)):
        if candidate and os.access(candidate, os.X_OK):
            return Path(candidate)
    place = f"{variable}={named}" if named else f"{sibling} and PATH"
    raise ProbeError(f"{place}: no program {name}", hint=f"`make setup` builds it; {variable} names another one")


def go_on(device: str) -> str:
    """What to do where a device was lost; `device`: its name, as `--on` takes it."""
    return f"what was measured is kept; `wattlock run --resume last --on {device}` goes on"


def complaint_in(complaints: bytes) -> str:
    """What a program complained of: the first line of its error where it says one, else its last line; hints apart."""
    lines = [line for line in complaints.decode(errors="replace").splitlines() if not line.startswith("hint:")]
    complaint_lines = [line for line in lines if line.startswith("error: ")] or lines[-1:]
    return complaint_lines[0].strip() if complaint_lines else ""


def hint_in(complaints: bytes) -> str:
    """What a program itself says would mend it; empty where it says nothing."""
    hints = [line for line in complaints.decode(errors="replace").splitlines() if line.startswith("hint:")]
    return hints[-1].removeprefix("hint:").strip() if hints else ""


def read(written: Sequence[bytes], form: Callable[[bytes], Any], code: int, complaints: bytes, who: str) -> Any:
    """What a program answered, read by `form`; `who`: the program and its verb.

    Raises ProbeError with its own complaint where the answer can't be read.
    """
    try:
        return form(b"".join(written))
    except (ValueError, RecursionError):
        complaint = complaint_in(complaints).removeprefix("error: ")
        described = f"{who.rpartition(' ')[2]}: {complaint}" if complaint else f"{who}: exit code {code}, and no JSON"
        raise ProbeError(described, hint=hint_in(complaints) or "`make setup` builds it anew") from None


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
