"""A device on the other end of a way: a shell there, by which a probe is pushed once and started.

The device needs a POSIX shell and nothing else: no Python, no compiler, no root. Whatever is put there lies in one
folder of the user's own, named by its hash.
"""

from __future__ import annotations

import os
import shlex
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol

from wattlock.errors import ProbeError, WayError
from wattlock.study.inputs import sha256
from wattlock.targets import local
from wattlock.targets.facts import Facts, ask
from wattlock.targets.hearing import Limits, hear
from wattlock.targets.probes import fitting
from wattlock.targets.programs import complaint_in, go_on

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
                facts = ask(lambda *given, place=place, **named: self._start(place, *given, **named), self.name)
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
        said = [line.split(" ", 2) for line in lines[1:]]
        facts = {words[0]: " ".join(words[1:]) for words in said if words[0] in {"machine", "system"}}
        folders = [(words[1], words[2]) for words in said if words[0] == "folder" and len(words) == 3]
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
