"""A Dask scheduler: its workers compared with this machine, and tasks that they carry out, each taken once.

A task is known by the SHA-256 of all that decides what comes of it. So a task whose worker died is done again by
another one, and a result is taken once. A worker that differs in what decides a result is refused by name.
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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlsplit

from wattlock import extras
from wattlock.errors import InputError, WattlockError, WayError
from wattlock.targets.hearing import LOOK_S, Refused, patience

if TYPE_CHECKING:
    from distributed import Client, Future

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
                    raise Refused(f"{who} was stopped", hint=self.otherwise)
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
