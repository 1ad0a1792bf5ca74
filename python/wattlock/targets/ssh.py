"""A device by OpenSSH's own client: its configuration, keys and known hosts are the user's."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from wattlock.errors import WayError
from wattlock.targets.programs import go_on, last_line

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


@dataclass(eq=False)
class Ssh:
    """One host; `host`: as ssh takes it. All commands share one connection, which ends with this process."""

    host: str
    _master: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    _folder: tempfile.TemporaryDirectory[str] | None = field(default=None, repr=False)

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
        return [*self._client(), "-o", "ControlMaster=no", "--", self.host, words]

    def trouble(self, code: int, complaints: bytes) -> WayError | None:
        """What ssh says of the way, by its own exit code."""
        if code != FAILED:
            return None
        said = complaints.decode(errors="replace")
        for complaint, what, hint in TROUBLES:
            if complaint in said:
                return WayError(f"{self.name}: {what}", hint=hint.format(host=self.host))
        return WayError(f"{self.name}: {LOST}: {last_line(complaints) or 'no word'}", hint=go_on(self.name))

    def _client(self) -> list[str]:
        named = shlex.split(os.environ.get(VARIABLE, "ssh")) or ["ssh"]
        if shutil.which(named[0]) is None:
            raise WayError(f"{self.name}: there is no {named[0]} here", hint="Debian has ssh as openssh-client")
        client = [*named, "-T", *OPTIONS]
        if self._master is not None and self._master.poll() is None and self._folder is not None:
            return [*client, "-S", self._socket(self._folder)]
        self._close()
        self._connect(client)
        assert self._folder is not None  # noqa: S101 - connecting made it
        return [*client, "-S", self._socket(self._folder)]

    def _connect(self, client: list[str]) -> None:
        """A connection that stands while this process holds its input: `cat` there ends when that is closed."""
        self._folder = tempfile.TemporaryDirectory(prefix="wattlock-ssh-")
        with tempfile.TemporaryFile() as complaints:
            self._master = subprocess.Popen(
                [
                    *client,
                    "-M",
                    "-S",
                    self._socket(self._folder),
                    "-o",
                    "ControlPersist=no",
                    "--",
                    self.host,
                    "cat >&2",
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=complaints,
                start_new_session=True,
            )
            due = time.monotonic() + CONNECT_S
            while not Path(self._socket(self._folder)).exists():
                if self._master.poll() is not None or time.monotonic() > due:
                    said = _all_of(complaints)
                    self._close()
                    raise self.trouble(FAILED, said or b"timed out") or WayError(self.name)
                time.sleep(LOOK_S)

    @staticmethod
    def _socket(folder: tempfile.TemporaryDirectory[str]) -> str:
        return f"{folder.name}/way"

    def _close(self) -> None:
        if self._master is not None:
            with suppress(OSError, subprocess.TimeoutExpired):
                self._master.communicate(timeout=1)  # closes its input
            self._master.kill()
            self._master.wait()
        if self._folder is not None:
            self._folder.cleanup()
        self._master = self._folder = None

    def __del__(self) -> None:
        self._close()


def _all_of(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()
