"""A device on the other end of ssh or adb: a shell there, by which a probe is pushed once and started.

The device needs a POSIX shell and nothing else: no Python, no compiler, no root. Whatever is put there lies in one
folder of the user's own, named by its hash.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shlex
import shutil
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol

from wattlock.errors import InputError, ProbeError, WayError
from wattlock.study.cases import sha256
from wattlock.targets import local
from wattlock.targets.target import Facts, Limits, ask_facts, complaint_in, go_on, hear, scratch

BEAT_S, SILENCE_S = 1.0, 4
"""The host says so often that it is still there; without a word for so long the probe is ended."""

SHORT = Limits(start_s=60.0, silence_s=60.0, most_s=60.0, most_B=2**24)
PUSH = Limits(start_s=600.0, silence_s=600.0, most_s=600.0, most_B=2**16)
"""Some megabytes over a slow link."""

NOT_STARTED = (126, 127)
"""What a shell says of a program that it can't start, or doesn't find."""

SIGNALLED = 128

GREETING = "wattlock: survey"
SURVEY = f"""
echo '{GREETING}'
echo "machine $(uname -m)"
echo "system $(uname -s)"
umask 077
for folder in "$HOME/.cache" /data/local/tmp /var/tmp /tmp; do
  own="$folder/wattlock"
  if ! mkdir -p "$own" 2>/dev/null; then echo "folder missing $own"; continue; fi
  trial="$own/trial.$$"
  if ! printf '#!%s\\nexit 0\\n' "$(command -v sh)" 2>/dev/null >"$trial"; then
    rm -f "$trial" 2>/dev/null; echo "folder unwritable $own"; continue
  fi
  chmod 700 "$trial"
  if "$trial" 2>/dev/null; then rm -f "$trial"; echo "folder fit $own"; break; fi
  rm -f "$trial"; echo "folder noexec $own"
done
"""
"""Says what the machine is and where programs may be put; every line begins with what it is."""

UNFIT = {
    "missing": "can't be made",
    "unwritable": "can't be written",
    "noexec": "starts no programs",
}


class Way(Protocol):
    """How a command of a shell reaches a device."""

    @property
    def name(self) -> str:
        """`ssh:pi4`, `adb:SERIAL`."""

    def __hash__(self) -> int:
        """Two of one device are alike."""

    def command(self, words: str) -> list[str]:
        """The local command that carries out a command of the device's shell. Raises WayError without a connection."""

    def trouble(self, code: int, complaints: bytes) -> WayError | None:
        """What was wrong with the way itself; null where the command there is to blame."""


class Survey(NamedTuple):
    """What a device's shell tells: the machine's name, and the folder for what is put there."""

    machine: str
    folder: str


class Remote:
    """A device behind a way; connected to, surveyed and given its probe when that is first needed."""

    def __init__(self, way: Way) -> None:
        self._way = way
        self._pushed: dict[Path, str] = {}

    def __hash__(self) -> int:
        return hash(self._way)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Remote) and other._way == self._way

    @property
    def name(self) -> str:
        """What errors call its probe."""
        return f"the probe on {self._way.name}"

    @property
    def way(self) -> str:
        """`ssh` or `adb`."""
        return self._way.name.partition(":")[0]

    def facts(self) -> Facts:
        """What the device says of itself. Raises WayError, ProbeError or InputError where it can't be had."""
        return self._ready[1]

    def push(self, file: Path) -> str:
        """Brings a file to the device once, known by its content; gives its path there."""
        if file not in self._pushed:
            self._pushed[file] = self._bring(file, f"files/{sha256(file)}", executable=False)
        return self._pushed[file]

    def fetch(self, place: str) -> bytes:
        """The content of a file of the device. Raises ProbeError where there is none, or it can't be read."""
        code, written, complaints = self._run(f"cat {shlex.quote(place)}")
        if code:
            raise ProbeError(f"{self._way.name}:{place}: {_reason(complaints)}", hint="check the path")
        return written

    def start(
        self, words: Sequence[str], text: bytes, limits: Limits, take: Callable[[bytes], None], *, who: str
    ) -> tuple[int, bytes]:
        """Runs the probe there, as `Target.start` says; it ends when nobody here is heard of any more."""
        return self._start(self._ready[0], words, text, limits, take, who=who)

    @cached_property
    def _ready(self) -> tuple[str, Facts]:
        """The probe's path on the device, and what it says. It is what was pushed, or it is refused."""
        survey = self._survey
        started: WayError | ProbeError | None = None
        for program in fitting(survey.machine):
            wanted = sha256(program)
            place = self._bring(program, f"{wanted}/{local.NAME}", executable=True)
            try:
                facts = ask_facts(lambda *given, place=place, **named: self._start(place, *given, **named), self.name)
            except ProbeError as error:
                started = error
                continue
            if facts.probe_sha256 != wanted:
                what = f"{self.name} says that it is {facts.probe_sha256[:12]}..., and {wanted[:12]}... was pushed"
                raise ProbeError(what, hint=f"remove {survey.folder} there, and look who else writes to it")
            return place, facts
        raise started or ProbeError(f"{self.name}: there is none", hint="`make probes` builds them")

    @cached_property
    def _survey(self) -> Survey:
        code, written, complaints = self._run(SURVEY)
        lines = written.decode(errors="replace").splitlines()
        name = self._way.name
        if code or not lines:
            raise WayError(
                f"{name}: its shell answers with {_reason(complaints)}", hint=f"try {self._by_hand('uname')}"
            )
        if lines[0] != GREETING:
            what = f"{name}: its login writes {lines[0][:80]!r} to standard output before anything else"
            raise WayError(what, hint="let the shell's start files there write only where they are interactive")
        fields = [line.split(" ", 2) for line in lines[1:]]
        facts = {words[0]: " ".join(words[1:]) for words in fields if words[0] in {"machine", "system"}}
        folders = [(words[1], words[2]) for words in fields if words[0] == "folder" and len(words) == 3]
        if facts.get("system") != "Linux":
            what = f"{name}: its system is {facts.get('system', 'not told')[:80]}"
            raise WayError(what, hint="probes are built for Linux and Android")
        fit = next((folder for state, folder in folders if state == "fit"), None)
        if fit is None:
            tried = "; ".join(f"{folder} {UNFIT.get(state, state)}" for state, folder in folders)
            raise WayError(f"{name}: no folder for the probe: {tried}", hint="make room, or let one start programs")
        return Survey(facts["machine"], fit)

    def _bring(self, file: Path, place: str, *, executable: bool) -> str:
        """Puts a file there, unless it is there with that length; gives its path. It appears whole or not at all."""
        path = f"{self._survey.folder}/{place}"
        quoted, part, size_B = shlex.quote(path), shlex.quote(f"{path}.{os.getpid()}"), file.stat().st_size
        code, written, _ = self._run(f"test -f {quoted} && wc -c <{quoted}")
        if not code and written.split() == [str(size_B).encode()]:
            return path
        mode = "700" if executable else "600"
        command = (
            f"umask 077; mkdir -p {shlex.quote(path.rpartition('/')[0])} && cat >{part} && chmod {mode} {part} "
            f"&& mv -f {part} {quoted} || {{ rm -f {part}; exit 1; }}"
        )
        with file.open("rb") as content:
            code, _, complaints = self._run(command, content.fileno(), PUSH)
        if code:
            what = (
                f"{self._way.name}: {file.name} ({size_B / 1e6:.1f} MB) can't be put into {path}: {_reason(complaints)}"
            )
            raise WayError(what, hint="make room there")
        return path

    def _start(
        self,
        place: str,
        words: Sequence[str],
        text: bytes,
        limits: Limits,
        take: Callable[[bytes], None],
        *,
        who: str,
    ) -> tuple[int, bytes]:
        supervised = [place, "supervise", "--silence-s", str(SILENCE_S), "--", *words]
        command = self._way.command("exec " + shlex.join(supervised))
        with _fed(text) as given:
            code, complaints = hear(command, given, limits, take, who=who)
        self._refuse_trouble(code, complaints)
        if code in NOT_STARTED:
            raise ProbeError(f"{self.name} can't be started there: {_reason(complaints)}", hint="`make probes`")
        return SIGNALLED - code if SIGNALLED < code < SIGNALLED + 65 else code, complaints

    def _run(self, command: str, given: bytes | int = b"", limits: Limits = SHORT) -> tuple[int, bytes, bytes]:
        written: list[bytes] = []
        name = self._way.name
        code, complaints = hear(self._way.command(command), given, limits, written.append, who=f"{name}'s shell")
        self._refuse_trouble(code, complaints)
        return code, b"".join(written), complaints

    def _refuse_trouble(self, code: int, complaints: bytes) -> None:
        """Raises WayError where the way is to blame: by its own words, or because its client here was ended."""
        if code < 0:
            what = f"{self._way.name}: the connection was lost: its client was ended by {signal.Signals(-code).name}"
            raise WayError(what, hint=go_on(self._way.name))
        if (trouble := self._way.trouble(code, complaints)) is not None:
            raise trouble

    def _by_hand(self, words: str) -> str:
        return f"`{shlex.join(self._way.command(words))}`"


@contextmanager
def _fed(text: bytes) -> Iterator[int]:
    """A descriptor from which the length of `text` is read, `text`, and then a beat now and again, until it is left."""
    reading, writing = os.pipe()
    over = threading.Event()

    def feed() -> None:
        # Who reads may be gone: what it says of that is heard elsewhere.
        with suppress(BrokenPipeError), os.fdopen(writing, "wb") as pipe:
            pipe.write(b"%d\n" % len(text) + text)
            pipe.flush()
            while not over.wait(BEAT_S):
                pipe.write(b".")
                pipe.flush()

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    try:
        yield reading
    finally:
        over.set()
        os.close(reading)
        feeder.join()


def _reason(complaints: bytes) -> str:
    return complaint_in(complaints) or "no word"


SSH_VARIABLE = "WATTLOCK_SSH"
"""Names another ssh, or one with options of the user's: `ssh -F FILE`."""

CONNECT_S = 15.0
LOOK_S = 0.02
OPTIONS = (
    *("-o", "BatchMode=yes"),
    *("-o", "ConnectTimeout=10"),
    *("-o", "ServerAliveInterval=2"),
    *("-o", "ServerAliveCountMax=3"),
)
"""It never asks; a host that is silent for six seconds is gone."""

FAILED = 255
"""ssh's own exit code where the way is to blame."""

SSH_TROUBLES = (
    ("IDENTIFICATION HAS CHANGED", "its host key changed", "find out why; `ssh-keygen -R {host}` forgets the old key"),
    ("Host key verification failed", "its host key is not known", "`ssh {host}` once, and compare the key"),
    ("Could not resolve hostname", "there is no host of this name", "check the name, or ~/.ssh/config"),
    ("Permission denied", "it lets nobody in without a password", "`ssh-copy-id {host}` brings your key there"),
    ("Connection refused", "nobody listens there", "start sshd there, or name its port in ~/.ssh/config"),
    ("timed out", "it does not answer", "is it on, and on this network?"),
    ("No route to host", "there is no way to it", "is it on, and on this network?"),
)
"""What ssh complains of, what that means, and what to do."""

SSH_LOST = "the connection was lost"


class Connection:
    """One master client and its socket; both are gone when nobody holds it any more, or this process ends."""

    def __init__(self) -> None:
        self._things = ExitStack()
        self.close = weakref.finalize(self, self._things.close)
        folder = self._things.enter_context(scratch())
        self.socket, self._complaints = folder / "way", folder / "complaints"
        self._master: subprocess.Popen[bytes] | None = None

    @property
    def stands(self) -> bool:
        """Whether commands can go by it."""
        return self._master is not None and self._master.poll() is None

    def open(self, client: list[str], host: str) -> bool:
        """Gives whether it came to be; it stands while this process holds its input: `cat` there ends with that."""
        words = ["-M", "-S", str(self.socket), "-o", "ControlPersist=no", "--", host, "cat >&2"]
        with self._complaints.open("wb") as complaints:
            master = subprocess.Popen(
                [*client, *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=complaints,
                start_new_session=True,
            )
        self._things.callback(_hang_up, master)
        self._master = master
        due = time.monotonic() + CONNECT_S
        while not self.socket.exists():
            if not self.stands or time.monotonic() > due:
                return False
            time.sleep(LOOK_S)
        return True

    def said(self) -> bytes:
        """What its client complained of."""
        return self._complaints.read_bytes()


def _hang_up(master: subprocess.Popen[bytes]) -> None:
    with suppress(OSError, subprocess.TimeoutExpired):
        master.communicate(timeout=1)  # closes its input
    master.kill()
    master.wait()


@dataclass(eq=False)
class Ssh:
    """One host; `host`: as ssh takes it. All commands share one connection, which ends with this process."""

    host: str
    _connection: Connection | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """`ssh:HOST`."""
        return f"ssh:{self.host}"

    def __hash__(self) -> int:
        return hash(self.host)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ssh) and other.host == self.host

    def command(self, words: str) -> list[str]:
        """Ssh with the shared connection. Raises WayError where there is none to be had."""
        named = shlex.split(os.environ.get(SSH_VARIABLE, "ssh")) or ["ssh"]
        if shutil.which(named[0]) is None:
            raise WayError(f"{self.name}: there is no {named[0]} here", hint="Debian has ssh as openssh-client")
        client = [*named, "-T", *OPTIONS]
        connection = self._connected(client)
        return [*client, "-S", str(connection.socket), "-o", "ControlMaster=no", "--", self.host, words]

    def trouble(self, code: int, complaints: bytes) -> WayError | None:
        """What ssh says of the way, by its own exit code."""
        if code != FAILED:
            return None
        text = complaints.decode(errors="replace")
        for complaint, what, hint in SSH_TROUBLES:
            if complaint in text:
                return WayError(f"{self.name}: {what}", hint=hint.format(host=self.host))
        return WayError(f"{self.name}: {SSH_LOST}: {complaint_in(complaints) or 'no word'}", hint=go_on(self.name))

    def _connected(self, client: list[str]) -> Connection:
        if self._connection is None or not self._connection.stands:
            if self._connection is not None:
                self._connection.close()
            self._connection = None
            connection = Connection()
            if not connection.open(client, self.host):
                complaint = connection.said()
                connection.close()
                raise self.trouble(FAILED, complaint or b"timed out") or WayError(self.name)
            self._connection = connection
        return self._connection


TROUBLES = (
    ("unauthorized", "it does not trust this computer", "unlock it and allow USB debugging"),
    ("offline", "it is offline", "reconnect it; `adb reconnect` tries again"),
    ("not found", "there is no such device", "`adb devices` lists those there are"),
    ("no devices", "there is no device", "connect one and allow USB debugging; `adb devices` lists them"),
    ("more than one", "there are several devices", "ANDROID_SERIAL=SERIAL names one; `adb devices` lists them"),
    ("cannot connect to daemon", "adb's own server does not start", "`adb start-server` says why"),
)
"""What adb complains of, what that means, and what to do."""

LOST = ("closed", "the connection was lost", go_on("{name}"))
LONGEST_S = 30.0
"""adb starts its own server first, which takes some seconds."""


@dataclass(frozen=True)
class Adb:
    """One device; `serial`: as `adb devices` lists it."""

    serial: str

    @property
    def name(self) -> str:
        """`adb:SERIAL`."""
        return f"adb:{self.serial}"

    def command(self, words: str) -> list[str]:
        """Adb's shell without a terminal, so that input, output and exit code are the command's. Raises WayError."""
        return [_program(self.name), "-s", self.serial, "shell", "-T", words]

    def trouble(self, code: int, complaints: bytes) -> WayError | None:
        """What adb itself says: its lines begin with its name or with `error:`, and its exit code is 1 or 255."""
        if code not in {1, 255}:
            return None
        complaint = complaint_in(complaints)
        if not complaint.startswith(("adb: ", "error: device", "error: no devices", "error: closed")):
            return None
        return _trouble(self.name, complaint, (*TROUBLES, LOST))


@contextlib.contextmanager
def reversed_port(port: int) -> Iterator[None]:
    """While it lasts, the connected device reaches this machine's `127.0.0.1:port` under its own. Raises WayError."""
    name = "adb reverse"
    program, here = _program(name), f"tcp:{port}"
    try:
        done = subprocess.run([program, "reverse", here, here], capture_output=True, timeout=LONGEST_S, check=False)
    except subprocess.TimeoutExpired:
        raise WayError(
            f"{name}: no answer in {LONGEST_S:g} s", hint="`adb kill-server` ends adb's own server"
        ) from None
    if done.returncode:
        raise _trouble(name, complaint_in(done.stderr), TROUBLES)
    try:
        yield
    finally:
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run([program, "reverse", "--remove", here], capture_output=True, timeout=LONGEST_S, check=False)


def _program(name: str) -> str:
    program = shutil.which("adb")
    if program is None:
        raise WayError(f"{name}: there is no adb here", hint="Debian has it as adb")
    return program


def _trouble(name: str, complaint: str, known: Sequence[tuple[str, str, str]]) -> WayError:
    for part, what, hint in known:
        if part in complaint:
            return WayError(f"{name}: {what}", hint=hint.format(name=name))
    return WayError(f"{name}: {complaint}", hint="`adb devices` lists what is connected")


TRIPLES = {
    "x86_64": "x86_64-unknown-linux-musl",
    "aarch64": "aarch64-unknown-linux-musl",
    "armv7l": "armv7-unknown-linux-gnueabihf",
    "armv8l": "armv7-unknown-linux-gnueabihf",
    "riscv64": "riscv64gc-unknown-linux-gnu",
}
"""What a probe is built for, by what the device's system calls its machine."""

COMPILERS = {
    "armv7-unknown-linux-gnueabihf": "gcc-arm-linux-gnueabihf",
    "riscv64gc-unknown-linux-gnu": "gcc-riscv64-linux-gnu",
}
"""Debian's package of the cross compiler that links a probe; the others are linked by what Rust brings."""

PROBES_VARIABLE = "WATTLOCK_PROBES"
BUILT = Path("build") / "probes"


def fitting(machine: str) -> Iterator[Path]:
    """The probes that may run on a machine, the best first.

    This machine's own one is the best where the other one is of its kind: it opens the device's libraries, which a
    static probe can't. Where the other system is too old for it the static one follows.

    * `machine`: as `uname -m` tells.

    Raises InputError where there is none.
    """
    found = False
    if machine == platform.machine():
        try:
            yield local.find().program
            found = True
        except ProbeError:
            pass  # the static one is left
    for folder in _folders():
        program = folder / TRIPLES.get(machine, machine) / local.NAME
        if program.is_file():
            yield program
            return
    if not found:
        places = " and ".join(str(folder) for folder in _folders())
        raise InputError(f"no probe for {machine[:80]} in {places}", hint=_how_to_build(machine))


def _how_to_build(machine: str) -> str:
    """The command that builds a machine's probe, or for which machines there is one."""
    target = TRIPLES.get(machine)
    if target is None:
        names = f"{PROBES_VARIABLE} names the folder of another, in {machine[:80]}/"
        return f"there are probes for {', '.join(TRIPLES)}; {names}"
    needs = [
        f"`rustup target add {target}`",
        *(f"Debian's {package}" for package in [COMPILERS.get(target)] if package),
    ]
    build = (
        f"in wattlock's source `make probes PROBES={target}` builds it into {BUILT} (it needs {' and '.join(needs)})"
    )
    return f"{build}; {PROBES_VARIABLE} names that folder elsewhere"


def _folders() -> list[Path]:
    named = os.environ.get(PROBES_VARIABLE)
    package = Path(__file__).parents[1]
    usual = package / "data" / "probes", package.parents[1] / BUILT, BUILT.absolute()
    return [Path(named)] if named else list(dict.fromkeys(usual))
