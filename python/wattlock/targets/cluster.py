"""Emulated cores on a Dask scheduler: what a process is told goes to one of its workers, and what it wrote comes back.

A task is one process, known by the SHA-256 of all that decides what it writes. So a task whose worker died is done
again by another one, and a result is taken once. A worker needs what counting needs on this machine: the same wattlock,
the same sources, the emulator and the compiler; one that differs is refused by name.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import re
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import wattlock
from wattlock import extras
from wattlock.errors import InputError, WattlockError, WayError
from wattlock.targets import emulated
from wattlock.targets.emulated import Emulated
from wattlock.targets.facts import Facts
from wattlock.targets.hearing import LOOK_S, Limits, Refused, patience
from wattlock.targets.parts import PARTS
from wattlock.targets.programs import go_on, hint_in, last_line

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_S = 10.0
"""Until a scheduler answers, and until it has a first worker."""

ALONE_S = 60.0
"""How long a task may wait for a worker where there is none left: a nanny starts its own again within seconds."""

AT_A_TIME = 64
"""So many processes wait for the scheduler, which hands them out: workers that come later get their share."""

ADDRESS = re.compile(r"(tcp|tls)://[^\s/]+:(?P<port>\d{1,5})")
GREATEST_PORT = 65_535
CERTIFICATES = "set DASK_DISTRIBUTED__COMM__TLS__CA_FILE, ..__TLS__CLIENT__CERT and ..__TLS__CLIENT__KEY to their files"
START_WORKER = "`dask worker {address}` starts one, where wattlock[cluster] is installed"
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
    """One emulated core, on the workers of the scheduler at `address`."""

    core: Emulated
    address: str
    client: Client = field(compare=False)

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
        kits = self._kits()
        first, kit = next(iter(kits.items()))
        for worker, found in kits.items():
            _refuse_other(worker, found, "this machine", {"wattlock": wattlock.__version__})
            _refuse_other(worker, found, f"worker {first}", kit.decides)
        return kit

    def _kits(self) -> dict[str, Kit]:
        """What each worker has, by its name."""
        try:
            self.client.wait_for_workers(1, timeout=CONNECT_S * patience())
            answers = self.client.run(_look, self.name, on_error="return")
            known = self.client.scheduler_info()["workers"]
        except TimeoutError:
            hint = START_WORKER.format(address=self.address)
            raise WayError(f"--scheduler {self.address}: has no worker", hint=hint) from None
        except Exception as error:  # noqa: BLE001 - whatever a cluster may fail by is told in two lines
            self._lost(_told(error))
        kits = {}
        for address in sorted(answers):
            worker = _named(known.get(address, {}).get("id", address), address)
            if isinstance(answer := answers[address], BaseException):
                raise _of_worker(worker, answer)
            kits[worker] = answer
        return kits

    def push(self, file: Path) -> str:
        """Raises InputError: a worker has no file of this machine."""
        raise InputError(f"{file}: a worker of {self.address} can't read it", hint="leave --scheduler out")

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
        decides = json.dumps([told.core, self._kit.decides, told.words, text.decode()]).encode()
        key = f"wattlock-{hashlib.sha256(decides).hexdigest()}"
        task = self.client.submit(_carry_out, self._kit, told, key=key)
        done = self._wait(task, limits, who)
        if done.written:
            take(done.written)
        return done.code, done.complaints

    def _wait(self, task: Future, limits: Limits, who: str) -> Done:
        """What came of a task; it is given up where the run is stopped, or nobody is there to do it."""
        ended = threading.Event()
        task.add_done_callback(lambda _: ended.set())
        seen = time.monotonic()
        try:
            while not ended.wait(LOOK_S):
                if limits.stopped is not None and limits.stopped():
                    raise Refused(f"{who} was stopped", hint="`wattlock run --resume` goes on")
                if time.monotonic() - seen > ALONE_S * patience():
                    if not self.client.nthreads():
                        self._lost("has no worker left")
                    seen = time.monotonic()
            done: Done = task.result()
            return done
        except WattlockError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a cluster may fail by is told in two lines
            is_lost = getattr(error, "reason", None) == "scheduler-connection-lost"
            self._lost("the connection was lost" if is_lost else _told(error))
        finally:
            task.release()

    def _lost(self, why: str) -> NoReturn:
        raise WayError(f"--scheduler {self.address}: {why}", hint=f"{go_on(self.name)} on this machine")


@contextmanager
def clustered(core: Emulated, address: str) -> Iterator[Clustered]:
    """An emulated core on the workers of the scheduler at `address`, as `tcp://HOST:8786`.

    Raises MissingExtra without the extra, InputError for what is no address, WayError where no scheduler answers.
    """
    found = ADDRESS.fullmatch(address)
    if not found or not 0 < int(found["port"]) <= GREATEST_PORT:
        raise InputError(f"--scheduler {address[:80]}: is no address", hint="tcp://HOST:8786, or tls://HOST:8786")
    extras.require("cluster")
    from distributed import Client

    # What the scheduler's own library tells of lost connections is told here in one line.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        # A client that can't be made would keep its threads.
        asyncio.run(asyncio.wait_for(_reach(address), 2 * CONNECT_S * patience()))
        with warnings.catch_warnings(action="ignore"):
            client = Client(address, timeout=CONNECT_S * patience(), set_as_default=False)
    except TypeError:
        what = f"--scheduler {address}: Dask's configuration names no certificates of a client"
        raise WayError(what, hint=CERTIFICATES) from None
    except (OSError, ValueError, RuntimeError) as error:
        # A connection that is made, and no greeting, is an error without words.
        what = str(error) or "what listens there does not answer as a scheduler"
        hint = "`dask scheduler` starts one; one with certificates is tls://HOST:8786"
        raise WayError(f"--scheduler {address}: {what}", hint=hint) from error
    try:
        yield Clustered(core, address, client)
    finally:
        client.close(timeout=CONNECT_S)


async def _reach(address: str) -> None:
    from distributed.comm import connect
    from distributed.security import Security

    comm = await connect(address, timeout=CONNECT_S * patience(), **Security().get_connection_args("client"))
    await comm.close()


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
    from distributed import get_worker

    worker = get_worker()
    label, key = _named(worker.name, worker.address), worker.get_current_task()

    def released() -> bool:
        return getattr(worker.state.tasks.get(key), "state", None) == "cancelled"

    written: list[bytes] = []
    limits = replace(told.limits, stopped=released)
    try:
        _refuse_other(label, _kit(told.core), "the others", kit.decides)
        code, complaints = _core(told.core).start(told.words, told.text, limits, written.append, who=told.who)
    except WattlockError as error:
        raise _of_worker(label, error) from None
    if code:
        named = f"error: worker {label}: {last_line(complaints).removeprefix('error: ')}\n"
        complaints = f"{named}hint: {hint_in(complaints)}\n".encode()
    return Done(b"".join(written), code, complaints)


def _named(name: object, address: str) -> str:
    return address if str(name) == address else f"{name} ({address})"


def _of_worker(worker: str, error: BaseException) -> WattlockError:
    """An error with the worker's name before it."""
    if isinstance(error, WattlockError):
        return type(error)(f"worker {worker}: {error.message}", hint=error.hint)
    hint = "start it where this wattlock is installed: pip install 'wattlock[cluster]'"
    return WayError(f"worker {worker}: {_told(error)}", hint=hint)


def _told(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _refuse_other(worker: str, kit: Kit, than: str, wanted: Mapping[str, str | None]) -> None:
    """Raises WayError where a worker has something other than `wanted`, by which counts may differ."""
    for name, value in wanted.items():
        if kit.decides[name] != value:
            what, hint = SAME[name]
            raise WayError(
                f"worker {worker}: has another {what} than {than}: {kit.decides[name]}, not {value}", hint=hint
            )
