"""A PostgreSQL server of a test's own on loopback: Debian's, in a folder that is gone afterwards."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
INITDB = shutil.which("initdb", path=os.pathsep.join([*map(str, PROGRAMS[-1:]), os.environ["PATH"]]))
"""Debian has the server's programs out of the path; null where there is no server."""
FOUND = INITDB if find_spec("psycopg") else None
"""Null where the server or the driver is missing."""
OWNER = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.getuid() == 0 else {}
"""The server refuses to run as root."""
PASSWORD = "open sesame"


@dataclass
class Server:
    """A server in `place`, which may be stopped and started again on its port."""

    place: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it and waits until it answers."""
        program = str(Path(str(INITDB)).resolve().parent / "postgres")
        # Nothing of a test outlives a crash of the machine: its disk is not waited for.
        command = [program, "-D", str(self.place / "data"), "-k", str(self.place), "-h", "127.0.0.1", "-F"]
        with (self.place / "log").open("ab") as log:
            self.process = subprocess.Popen([*command, "-p", str(self.port)], stdout=log, stderr=log, **OWNER)  # type: ignore[call-overload]
        deadline = time.monotonic() + 30
        while True:
            try:
                self.asked("SELECT 1")
                return
            except OperationalError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise AssertionError((self.place / "log").read_text()) from None
                time.sleep(0.05)

    def stop(self) -> None:
        """Ends it at once, and with it every connection."""
        if self.process is not None:
            self.process.send_signal(3)  # SIGQUIT: "immediate shutdown"
            self.process.wait(30)

    def url(self, database: str, password: str = PASSWORD) -> str:
        """Of a database of its only user."""
        return f"postgresql://lab:{password.replace(' ', '%20')}@127.0.0.1:{self.port}/{database}"

    def made(self, database: str) -> str:
        """A new database; gives its URL."""
        self.asked(f'CREATE DATABASE "{database}"')
        return self.url(database)

    def asked(self, words: str) -> None:
        """Carries out a command outside of a transaction."""
        url = self.url("postgres").replace("://", "+psycopg://")
        engine = create_engine(url, isolation_level="AUTOCOMMIT", poolclass=NullPool)
        with engine.connect() as connection:
            connection.execute(text(words))


@contextmanager
def running() -> Iterator[Server]:
    """A server with a language whose order of words is not that of octets, as a host's usually is."""
    place = Path(tempfile.mkdtemp(prefix="wattlock-pg-"))
    try:
        (place / "password").write_text(PASSWORD)
        if OWNER:
            for path in (place, place / "password"):
                shutil.chown(path, str(OWNER["user"]), str(OWNER["group"]))
        made = [str(INITDB), "-D", str(place / "data"), "-U", "lab", "-A", "scram-sha-256", "-N", "-E", "UTF8"]
        locale = ["--locale-provider=icu", "--icu-locale=en", "--locale=C.UTF-8"]
        command = [*made, *locale, "--pwfile", str(place / "password")]
        subprocess.run(command, check=True, capture_output=True, cwd=place, **OWNER)  # type: ignore[call-overload]
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        server = Server(place, port)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(place)
