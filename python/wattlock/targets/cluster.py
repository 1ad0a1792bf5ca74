"""Emulated cores on a Dask scheduler: what a process is told goes to one of its workers, and what it wrote comes back.

A task is one process. A worker needs what counting needs on this machine: the same wattlock, the same sources, the
emulator and the compiler; one that differs is refused by name.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

import wattlock
from wattlock.errors import InputError, WattlockError
from wattlock.targets import emulated
from wattlock.targets.emulated import Emulated
from wattlock.targets.facts import Facts
from wattlock.targets.hearing import Limits
from wattlock.targets.parts import PARTS
from wattlock.targets.programs import complaint_in, go_on, hint_in
from wattlock.targets.scheduler import AT_A_TIME, Scheduler, connected, of_worker, refuse_other, this_worker

SAME = {
    "wattlock": ("wattlock", "install the same version on both"),
    "probe": ("build of the probe", "install the same wheel on both, or name a copy of one probe by WATTLOCK_PROBE"),
    "sources": ("sources of the images or compiler", "check out the same commit, and use the same Rust on both"),
    "emulator": ("emulator", "install the same version of QEMU on both"),
    "part": ("flash of the part", "install the same version of wattlock on both"),
}
"""What decides a count: in words, and what to do where two workers differ."""


class Kit(NamedTuple):
    """What a worker counts with: what decides a count, by the names of `SAME`, and the core's facts."""

    decides: dict[str, str | None]
    facts: Facts


class Told(NamedTuple):
    """One process, as `Emulated.start` takes it, on the core of this name."""

    core: str
    words: Sequence[str]
    text: bytes
    limits: Limits
    who: str


class Done(NamedTuple):
    """What a process wrote on a worker, its exit code and its complaints."""

    written: bytes
    code: int
    complaints: bytes


@dataclass(frozen=True)
class Clustered:
    """One emulated core, on the workers of a scheduler."""

    core: Emulated
    scheduler: Scheduler

    way = "qemu"

    @property
    def name(self) -> str:
        """As `--on` takes it: a run may go on with or without a scheduler."""
        return self.core.name

    def facts(self) -> Facts:
        """What is true of the emulated core, by the workers.

        Raises WayError where there is no worker, where they differ from one another, or from this wattlock; what
        `Emulated.facts` raises, with the worker's name.
        """
        return self._kit.facts._replace(at_a_time=AT_A_TIME)

    @cached_property
    def _kit(self) -> Kit:
        """That of all workers."""
        kits: dict[str, Kit] = self.scheduler.workers(_look, self.name)
        first, kit = next(iter(kits.items()))
        for worker, found in kits.items():
            refuse_other(worker, found.decides, "this machine", {"wattlock": wattlock.__version__}, SAME)
            refuse_other(worker, found.decides, f"worker {first}", kit.decides, SAME)
        return kit

    def push(self, file: Path) -> str:
        """Raises InputError: a worker has no file of this machine."""
        raise InputError(f"{file}: a worker of {self.scheduler.address} can't read it", hint="leave --scheduler out")

    def fetch(self, place: str) -> bytes:
        """Raises InputError: an emulated core has no files."""
        return self.core.fetch(place)

    def start(
        self, words: Sequence[str], text: bytes, limits: Limits, take: Callable[[bytes], None], *, who: str
    ) -> tuple[int, bytes]:
        """Has a worker carry out what `Emulated.start` says; `take` receives all that was written, at the end.

        Raises what that does, with the worker's name; WayError where no worker is left or the scheduler is lost.
        """
        told = Told(self.name, list(words), text, replace(limits, stopped=None), who)
        decides = [told.core, self._kit.decides, told.words, text.decode()]
        done: Done = self.scheduler.carry_out(
            _carry_out, self._kit, told, decides=decides, who=who, stopped=limits.stopped
        )
        if done.written:
            take(done.written)
        return done.code, done.complaints


@contextmanager
def clustered(core: Emulated, address: str) -> Iterator[Clustered]:
    """An emulated core on the workers of the scheduler at `address`; raises what `connected` does."""
    with connected(address, f"{go_on(core.name)} on this machine") as scheduler:
        yield Clustered(core, scheduler)


async def _look(name: str) -> Kit:
    """On a worker: what it counts with now. Beside its loop, which answers the scheduler meanwhile."""
    _kit.cache_clear()
    return await asyncio.to_thread(_kit, name)


@lru_cache
def _kit(name: str) -> Kit:
    core = _core(name)
    facts = core.facts()
    part = core.counted.part
    of_part = None if part is None else hashlib.sha256(PARTS.find(part).source.read_bytes()).hexdigest()
    decides = {
        "wattlock": wattlock.__version__,
        "probe": facts.probe_sha256,
        "sources": facts.told["sources_sha256"],
        "emulator": facts.emulator,
        "part": of_part,
    }
    return Kit(decides, facts)


def _core(name: str) -> Emulated:
    return emulated.find(name.removeprefix("qemu:"))


def _carry_out(kit: Kit, told: Told) -> Done:
    """On a worker: one process, to its end, or until its task is released."""
    worker, released = this_worker()
    written: list[bytes] = []
    limits = replace(told.limits, stopped=released)
    try:
        refuse_other(worker, _kit(told.core).decides, "the others", kit.decides, SAME)
        code, complaints = _core(told.core).start(told.words, told.text, limits, written.append, who=told.who)
    except WattlockError as error:
        raise of_worker(worker, error) from None
    if code:
        named = f"error: worker {worker}: {complaint_in(complaints).removeprefix('error: ')}\n"
        complaints = f"{named}hint: {hint_in(complaints)}\n".encode()
    return Done(b"".join(written), code, complaints)
