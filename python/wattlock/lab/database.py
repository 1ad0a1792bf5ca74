"""Opens a lab's database: SQLite with a write-ahead log, brought up to date by alembic."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.util.exc import CommandError
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.orm import Session

from wattlock.errors import DiskFull, StoreError, WattlockError

NAME = "lab.db"
LONGEST_WAIT_s = 10.0
"""How long a writer waits for another one."""


class Busy(StoreError):
    """Another program holds the database."""


def open_database(data: Path) -> Engine:
    """The database of the lab whose folder is `data`, made where there is none.

    Raises StoreError where it can't be opened, is no database or is of a newer wattlock, Busy, DiskFull.
    """
    path = data / NAME
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": LONGEST_WAIT_s})
    event.listen(engine, "connect", _prepare)
    config = Config()
    config.set_main_option("script_location", "wattlock.lab:migrations")
    try:
        with told(path), engine.connect() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            connection.commit()
    except CommandError as error:
        hint = "open it with the wattlock that wrote it, or a newer one; the runs below runs/ need no database"
        raise StoreError(f"{path}: its schema is newer than this wattlock's", hint=hint) from error
    return engine


@contextmanager
def session(engine: Engine) -> Iterator[Session]:
    """One unit of work: committed at its end, or not at all. Errors of the database become a lab's own."""
    with told(Path(engine.url.database or NAME)), Session(engine) as opened, opened.begin():
        yield opened


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turns what SQLite refuses into errors that a person can act on."""
    try:
        yield
    except DBAPIError as error:
        raise _told(path, error) from error


def _told(path: Path, error: DBAPIError) -> WattlockError:
    words = " ".join(str(error.orig).split())
    if "locked" in words or "busy" in words:
        return Busy(f"{path}: another program holds the database", hint="wait until it ends, then try again")
    if "full" in words:
        return DiskFull(f"{path}: the disk is full; all runs are kept", hint="make room, then try again")
    hint = "check the folder's permissions" if isinstance(error, OperationalError) else REBUILD
    return StoreError(f"{path}: {words}", hint=hint)


REBUILD = "move it away: the next start makes the index again from runs/; tokens are to be made anew"


def _prepare(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()
