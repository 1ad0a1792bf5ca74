"""Emulated cores on a Dask scheduler: what a process is told goes to one of its workers, and what it wrote comes back.

A task is one process. A worker needs what counting needs on this machine: the same wattlock, the same sources, the
emulator and the compiler; one that differs is refused by name.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import re
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn
from urllib.parse import urlsplit

import wattlock
from wattlock import extras
from wattlock.errors import InputError, WattlockError, WayError
from wattlock.targets import microcontroller
from wattlock.targets.microcontroller import Emulated
from wattlock.targets.parts import PARTS
from wattlock.targets.target import LOOK_S, Facts, LimitExceeded, Limits, complaint_in, go_on, hint_in, patience

if TYPE_CHECKING:
    from distributed import Client, Future

MUST_AGREE = {
    "wattlock": ("wattlock", "install the same version on both"),
    "probe": ("build of the probe", "install the same wheel on both, or name a copy of one probe by WATTLOCK_PROBE"),
    "sources": ("sources of the images or compiler", "check out the same commit, and use the same Rust on both"),
    "emulator": ("emulator", "install the same version of QEMU on both"),
    "part": ("flash of the part", "install the same version of wattlock on both"),
}
"""What decides a count: in words, and what to do where two workers differ."""


class Kit(NamedTuple):
    """What a worker counts with: what decides a count, by the names of `MUST_AGREE`, and the core's facts."""

    decides: dict[str, str | None]
    facts: Facts


class Told(NamedTuple):
    """One process, as `Emulated.start` takes it, on the core of this name."""

    core: str
    words: Sequence[str]
    text: bytes
    limits: Limits
    who: str


class WorkerOutput(NamedTuple):
    """What a process wrote on a worker, its exit code and its complaints."""

    written: bytes
    code: int
    complaints: bytes


@dataclass(frozen=True)
class Scheduler:
    """A scheduler that answers.

    * `otherwise`: what to do where it is lost.
    """

    address: str
    client: Client = field(compare=False)
    otherwise: str

    def workers(self, look: Callable[..., Any], *given: Any) -> dict[str, Any]:
        """What `look` gives on each worker, by the worker's name.

        Raises WayError where there is no worker, what `look` raises with the worker's name.
        """
        try:
            self.client.wait_for_workers(1, timeout=CONNECT_S * patience())
            answers = self.client.run(look, *given, on_error="return")
            known = self.client.scheduler_info()["workers"]
        except TimeoutError:
            hint = START_WORKER.format(address=self.address)
            raise WayError(f"--scheduler {self.address}: has no worker", hint=hint) from None
        except Exception as error:  # noqa: BLE001 - whatever a cluster may fail by is told in two lines
            self.lost(_told(error))
        found = {}
        for address in sorted(answers):
            worker = _named(known.get(address, {}).get("id", address), address)
            if isinstance(answer := answers[address], BaseException):
                raise of_worker(worker, answer)
            found[worker] = answer
        return found

    def carry_out(
        self,
        task: Callable[..., Any],
        *given: Any,
        decides: Any,
        who: str,
        stopped: Callable[[], bool] | None = None,
        resources: Mapping[str, float] | None = None,
    ) -> Any:
        """What a worker gives for `task`.

        * `decides`: all that decides the result, as JSON holds it. `stopped`: says that it is to be given up.
        * `resources`: what of its own a worker must have free for it.

        Raises what the task raises, Refused where it is stopped, WayError where no worker is left or the scheduler is
        lost.
        """
        key = f"wattlock-{hashlib.sha256(json.dumps(decides).encode()).hexdigest()}"
        try:
            submitted = self.client.submit(task, *given, key=key, resources=resources)
        except Exception as error:  # noqa: BLE001 - whatever a cluster may fail by is told in two lines
            self.lost(_told(error))
        return self._wait(submitted, who, stopped)

    def _wait(self, task: Future, who: str, stopped: Callable[[], bool] | None) -> Any:
        ended = threading.Event()
        task.add_done_callback(lambda _: ended.set())
        seen = time.monotonic()
        try:
            while not ended.wait(LOOK_S):
                if stopped is not None and stopped():
                    raise LimitExceeded(f"{who} was stopped", hint=self.otherwise)
                if time.monotonic() - seen > ALONE_S * patience():
                    if not self.client.nthreads():
                        self.lost("has no worker left")
                    seen = time.monotonic()
            return task.result()
        except WattlockError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a cluster may fail by is told in two lines
            is_lost = getattr(error, "reason", None) == "scheduler-connection-lost"
            self.lost("the connection was lost" if is_lost else _told(error))
        finally:
            task.release()

    def lost(self, why: str) -> NoReturn:
        """Raises WayError."""
        raise WayError(f"--scheduler {self.address}: {why}", hint=self.otherwise)


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
            refuse_other(worker, found.decides, "this machine", {"wattlock": wattlock.__version__}, MUST_AGREE)
            refuse_other(worker, found.decides, f"worker {first}", kit.decides, MUST_AGREE)
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
        order = Told(self.name, list(words), text, replace(limits, stopped=None), who)
        decides = [order.core, self._kit.decides, order.words, text.decode()]
        done: WorkerOutput = self.scheduler.carry_out(
            _carry_out, self._kit, order, decides=decides, who=who, stopped=limits.stopped
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
        "sources": facts.answer["sources_sha256"],
        "emulator": facts.emulator,
        "part": of_part,
    }
    return Kit(decides, facts)


def _core(name: str) -> Emulated:
    return microcontroller.find_emulated(name.removeprefix("qemu:"))


def _carry_out(kit: Kit, order: Told) -> WorkerOutput:
    """On a worker: one process, to its end, or until its task is released."""
    worker, released = this_worker()
    written: list[bytes] = []
    limits = replace(order.limits, stopped=released)
    try:
        refuse_other(worker, _kit(order.core).decides, "the others", kit.decides, MUST_AGREE)
        code, complaints = _core(order.core).start(order.words, order.text, limits, written.append, who=order.who)
    except WattlockError as error:
        raise of_worker(worker, error) from None
    if code:
        named = f"error: worker {worker}: {complaint_in(complaints).removeprefix('error: ')}\n"
        complaints = f"{named}hint: {hint_in(complaints)}\n".encode()
    return WorkerOutput(b"".join(written), code, complaints)


CONNECT_S = 10.0
"""Until a scheduler answers, and until it has a first worker."""

ALONE_S = 60.0
"""How long a task may wait for a worker where there is none left: a nanny starts its own again within seconds."""

AT_A_TIME = 64
"""So many tasks wait for the scheduler, which hands them out: workers that come later get their share."""

ADDRESS = re.compile(r"(tcp|tls)://[^\s/]+:(?P<port>\d{1,5})")

GREATEST_PORT = 65_535

CERTIFICATES = "set DASK_DISTRIBUTED__COMM__TLS__CA_FILE, ..__TLS__CLIENT__CERT and ..__TLS__CLIENT__KEY to their files"

START_WORKER = "`dask worker {address}` starts one, where wattlock is installed with its extra cluster"


@contextmanager
def connected(address: str, otherwise: str) -> Iterator[Scheduler]:
    """The scheduler at `address`, as `tcp://HOST:8786`, for as long as this lasts.

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
    except socket.gaierror as error:
        what = f"--scheduler {address}: its host is not found: {error.strerror}"
        raise WayError(what, hint="is its name written as it should be? An address in numbers needs no name") from None
    except (OSError, ValueError, RuntimeError) as error:
        # A connection that is made, and no greeting, is an error without words.
        what = str(error) or "what listens there does not answer as a scheduler"
        hint = "`dask scheduler` starts one; one with certificates is tls://HOST:8786"
        raise WayError(f"--scheduler {address}: {what}", hint=hint) from error
    try:
        yield Scheduler(address, client, otherwise)
    finally:
        client.close(timeout=CONNECT_S)


async def _reach(address: str) -> None:
    from distributed.comm import connect
    from distributed.security import Security

    # Dask tries a name that nobody knows again and again until its time is up.
    place = urlsplit(address)
    await asyncio.get_running_loop().getaddrinfo(place.hostname, place.port)
    comm = await connect(address, timeout=CONNECT_S * patience(), **Security().get_connection_args("client"))
    await comm.close()


def this_worker() -> tuple[str, Callable[[], bool]]:
    """On a worker, in a task: the worker's name, and what tells whether the task was given up."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def released() -> bool:
        return getattr(worker.state.tasks.get(key), "state", None) == "cancelled"

    return _named(worker.name, worker.address), released


def of_worker(worker: str, error: BaseException) -> WattlockError:
    """An error with the worker's name before it."""
    if isinstance(error, WattlockError):
        return type(error)(f"worker {worker}: {error.message}", hint=error.hint)
    hint = f"start it where this wattlock is installed with its extra cluster: {extras.install('cluster')}"
    return WayError(f"worker {worker}: {_told(error)}", hint=hint)


def refuse_other(
    worker: str,
    has: Mapping[str, str | None],
    than: str,
    wanted: Mapping[str, str | None],
    same: Mapping[str, tuple[str, str]],
) -> None:
    """Raises WayError where a worker has something other than `wanted`, by which results may differ.

    * `than`: whose that is. `same`: what is compared, in words, and what to do where two differ.
    """
    for name, value in wanted.items():
        if has[name] != value:
            what, hint = same[name]
            raise WayError(f"worker {worker}: has another {what} than {than}: {has[name]}, not {value}", hint=hint)


def _named(name: object, address: str) -> str:
    return address if str(name) == address else f"{name} ({address})"


def _told(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
