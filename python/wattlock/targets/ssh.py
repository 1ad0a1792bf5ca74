"""A device by OpenSSH's own client: its configuration, keys and known hosts are the user's."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import time
import weakref
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

from wattlock.errors import WayError
from wattlock.targets.programs import complaint_in, go_on
from wattlock.targets.scratch import scratch

VARIABLE = "WATTLOCK_SSH"
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

TROUBLES = (
    ("IDENTIFICATION HAS CHANGED", "its host key changed", "find out why; `ssh-keygen -R {host}` forgets the old key"),
    ("Host key verification failed", "its host key is not known", "`ssh {host}` once, and compare the key"),
    ("Could not resolve hostname", "there is no host of this name", "check the name, or ~/.ssh/config"),
    ("Permission denied", "it lets nobody in without a password", "`ssh-copy-id {host}` brings your key there"),
    ("Connection refused", "nobody listens there", "start sshd there, or name its port in ~/.ssh/config"),
    ("timed out", "it does not answer", "is it on, and on this network?"),
    ("No route to host", "there is no way to it", "is it on, and on this network?"),
)
"""What ssh complains of, what that means, and what to do."""

LOST = "the connection was lost"


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
        named = shlex.split(os.environ.get(VARIABLE, "ssh")) or ["ssh"]
        if shutil.which(named[0]) is None:
            raise WayError(f"{self.name}: there is no {named[0]} here", hint="Debian has ssh as openssh-client")
        client = [*named, "-T", *OPTIONS]
        connection = self._connected(client)
        return [*client, "-S", str(connection.socket), "-o", "ControlMaster=no", "--", self.host, words]

    def trouble(self, code: int, complaints: bytes) -> WayError | None:
        """What ssh says of the way, by its own exit code."""
        if code != FAILED:
            return None
        said = complaints.decode(errors="replace")
        for complaint, what, hint in TROUBLES:
            if complaint in said:
                return WayError(f"{self.name}: {what}", hint=hint.format(host=self.host))
        return WayError(f"{self.name}: {LOST}: {complaint_in(complaints) or 'no word'}", hint=go_on(self.name))

    def _connected(self, client: list[str]) -> Connection:
        if self._connection is None or not self._connection.stands:
            if self._connection is not None:
                self._connection.close()
            self._connection = None
            connection = Connection()
            if not connection.open(client, self.host):
                said = connection.said()
                connection.close()
                raise self.trouble(FAILED, said or b"timed out") or WayError(self.name)
            self._connection = connection
        return self._connection
