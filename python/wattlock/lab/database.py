"""A lab's tables, in SQLite with a write-ahead log or in PostgreSQL, brought up to date by alembic."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.util.exc import CommandError
from sqlalchemy import (
    JSON,
    URL,
    Dialect,
    Engine,
    ForeignKey,
    LargeBinary,
    String,
    TypeDecorator,
    create_engine,
    event,
    make_url,
    text,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship
from sqlalchemy.pool import NullPool

from wattlock import extras
from wattlock.errors import DiskFull, InputError, StoreError, WattlockError

NAME, LOCK = "lab.db", "lab.lock"

LONGEST_WAIT_s = 10
"""How long a writer waits for another one, and a lab for an answer of PostgreSQL's host."""

LEAST_FREE_B = 2**20
"""With less room an error of the disk is taken for a full one; the log's index takes 32 KiB (SQLite, walformat)."""

POSTGRESQL = "postgresql"

MIGRATING, SERVING = 0x77617474, 0x6C6F636B
"""Keys of PostgreSQL's advisory locks: any two numbers that no other program takes in a database of a lab's own."""


class DatabaseBusy(StoreError):
    """Another program holds the database."""


class Away(StoreError):
    """The database's server doesn't answer, or doesn't let in."""


def open_database(data: Path, url: str | None = None) -> Engine:
    """The database of the lab whose folder is `data`, its tables made where there are none.

    * `url`: of a PostgreSQL database, `postgresql://USER:PASSWORD@HOST:PORT/NAME`; SQLite in `data` where it is null.

    Raises InputError where the URL is none of PostgreSQL's, StoreError where the database can't be opened, is none or
    is of a newer wattlock, Away, Busy, DiskFull.
    """
    engine = _sqlite(data / NAME) if url is None else _postgresql(url)
    config = Config()
    config.set_main_option("script_location", "wattlock.lab:migrations")
    try:
        with told(engine), engine.connect() as connection:
            config.attributes["connection"] = connection
            if engine.name == POSTGRESQL:  # labs that start at a time: the second finds the tables made
                connection.execute(text(f"SELECT pg_advisory_xact_lock({MIGRATING})"))
            else:  # by itself sqlite3 commits each table, so that a full disk would leave the first ones
                driver: Any = connection.connection.driver_connection
                driver.isolation_level = None
                connection.exec_driver_sql("BEGIN")
            command.upgrade(config, "head")
            connection.commit()
    except CommandError as error:
        hint = "open it with the wattlock that wrote it, or a newer one; the runs below runs/ need no database"
        raise StoreError(f"{_named(engine)}: its schema is newer than this wattlock's", hint=hint) from error
    finally:
        engine.dispose()  # what opened it may have failed; the next one connects anew
    return engine


@contextmanager
def session(engine: Engine) -> Iterator[Session]:
    """One unit of work: committed at its end, or not at all. Errors of the database become a lab's own."""
    with told(engine), Session(engine) as opened, opened.begin():
        yield opened


@contextmanager
def alone_at(data: Path, engine: Engine, hint: str = "stop it, or name another --data") -> Iterator[None]:
    """Keeps others from serving the lab whose folder is `data`, or out of its database, and from making its index.

    * `hint`: of the error of the folder. Raises StoreError where there is another one.
    """
    with (data / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreError(f"{data}: another lab serves this folder", hint=hint) from None
        with alone(engine):
            yield


@contextmanager
def alone(engine: Engine) -> Iterator[None]:
    """Keeps a second lab from serving out of the same PostgreSQL database. Raises StoreError where there is one.

    Of SQLite the lock of the lab's folder is enough. PostgreSQL's lock ends with the connection, however that ends.
    """
    if engine.name != POSTGRESQL:
        yield
        return
    holder = create_engine(engine.url, poolclass=NullPool, connect_args=_WAITS)
    with told(engine):
        connection = holder.connect()
    try:
        with told(engine):
            is_first = connection.scalar(text(f"SELECT pg_try_advisory_lock({SERVING})"))
            connection.commit()
        if not is_first:
            hint = "stop it, or make another database: createdb lab2"
            raise StoreError(f"{_named(engine)}: another lab serves out of it", hint=hint)
        yield
    finally:
        connection.close()


@contextmanager
def told(engine: Engine) -> Iterator[None]:
    """Turns what a database refuses into errors that a person can act on."""
    try:
        yield
    except DBAPIError as error:
        raise (_told_by_postgresql if engine.name == POSTGRESQL else _told_by_sqlite)(_named(engine), error) from error


def _sqlite(path: Path) -> Engine:
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": LONGEST_WAIT_s})
    event.listen(engine, "connect", _prepare)
    return engine


_WAITS = {
    "connect_timeout": LONGEST_WAIT_s,
    "tcp_user_timeout": 1000 * LONGEST_WAIT_s,
    "options": f"-c lock_timeout={LONGEST_WAIT_s}s",
}


def _postgresql(url: str) -> Engine:
    extras.require(POSTGRESQL)
    try:
        parsed: URL | None = make_url(url)
    except (ArgumentError, ValueError):
        parsed = None
    if parsed is None or parsed.drivername not in {POSTGRESQL, f"{POSTGRESQL}+psycopg"} or not parsed.database:
        shown = url.partition("://")[0] if "://" in url else url  # behind it may be a password
        hint = "postgresql://USER:PASSWORD@HOST:PORT/NAME, or none for SQLite in the lab's folder"
        raise InputError(f"--database {shown[:80]}...: no URL of a PostgreSQL database", hint=hint)
    return create_engine(parsed.set(drivername=f"{POSTGRESQL}+psycopg"), pool_pre_ping=True, connect_args=_WAITS)


def _named(engine: Engine) -> str:
    """What errors call the database: they go to whoever asks the lab, who is told no host and no user of a server."""
    return "the database" if engine.name == POSTGRESQL else str(engine.url.database)


def _told_by_sqlite(name: str, error: DBAPIError) -> WattlockError:
    words = " ".join(str(error.orig).split())
    if "locked" in words or "busy" in words:
        return DatabaseBusy(f"{name}: another program holds the database", hint="wait until it ends, then try again")
    # Without room for the log's index SQLite tells of an error of the disk.
    if "full" in words or ("I/O" in words and shutil.disk_usage(Path(name).parent).free < LEAST_FREE_B):
        return DiskFull(f"{name}: the disk is full; all runs are kept", hint="make room, then try again")
    hint = "check the folder's permissions" if isinstance(error, OperationalError) else REBUILD
    return StoreError(f"{name}: {words}", hint=hint)


def _told_by_postgresql(name: str, error: DBAPIError) -> WattlockError:
    """By PostgreSQL's state (https://www.postgresql.org/docs/15/errcodes-appendix.html); without one it is away."""
    state = getattr(error.orig, "sqlstate", None) or ""
    words = " ".join(str(error.orig).split())
    if state in {"55P03", "40P01", "40001", "53300"}:  # lock not available, deadlock, serialisation, connections
        return DatabaseBusy(f"{name}: other programs hold it", hint="wait until they end, then try again")
    if state == "53100":
        return DiskFull(f"{name}: the disk of its server is full; all runs are kept", hint="make room, then try again")
    if "password" in words or state.startswith("28"):
        return Away(f"{name}: its server doesn't let the lab in", hint="check user and password of --database")
    if words.endswith("does not exist"):
        return Away(f"{name}: its server has none of that name", hint="make it by createdb, or check --database")
    if isinstance(error, OperationalError) and state[:2] in {"", "08", "57"}:  # connection, operator's intervention
        return Away(f"{name}: its server doesn't answer; all runs are kept", hint="start it, or check --database")
    return StoreError(f"{name}: {words}", hint=EMPTY)


EMPTY = "check --database, or name an empty one: a start makes the index again from runs/; tokens are to be made anew"

REBUILD = "move it away: the next start makes the index again from runs/; tokens are to be made anew"


def _prepare(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


TEXT = String().with_variant(String(collation="C"), "postgresql")
"""Ordered by its octets in UTF-8, as SQLite does; PostgreSQL would by the language of its host."""


class Text(TypeDecorator[str]):
    """A text as every database takes it: PostgreSQL knows no NUL in one, and none knows half a surrogate pair."""

    impl = TEXT
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ARG002 - SQLAlchemy's own
        """The text without what can't be stored, `?` and U+FFFD in its place."""
        return value and value.replace("\0", "\ufffd").encode(errors="replace").decode()


class Base(DeclarativeBase):
    """What all tables are known to."""

    type_annotation_map = {str: Text}  # noqa: RUF012 - SQLAlchemy's own


class Library(Base):
    """A provider of cases of a run."""

    __tablename__ = "library"

    run: Mapped[str] = mapped_column(ForeignKey("run.hash", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True, index=True)


class Reason(Base):
    """Why a run is invalid."""

    __tablename__ = "reason"

    run: Mapped[str] = mapped_column(ForeignKey("run.hash", ondelete="CASCADE"), primary_key=True)
    place: Mapped[int] = mapped_column(primary_key=True)
    text: Mapped[str]


class RunRow(Base):
    """A run: the fields of an `Entry`, its tuples in tables or texts of their own. It can be made again."""

    __tablename__ = "run"

    hash: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[str]
    study: Mapped[str] = mapped_column(index=True)
    title: Mapped[str]
    created: Mapped[str] = mapped_column(index=True)
    arrived: Mapped[str]
    device: Mapped[str] = mapped_column(index=True)
    device_name: Mapped[str]
    card: Mapped[str | None]
    way: Mapped[str]
    is_counted: Mapped[bool]
    evidence: Mapped[str]
    energy_evidence: Mapped[str | None]
    cases: Mapped[int]
    with_number: Mapped[int]
    processes: Mapped[int]
    probe_sha256: Mapped[str]
    wattlock: Mapped[str | None]
    size_B: Mapped[int]
    estimates: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)
    libraries: Mapped[list[Library]] = relationship(
        cascade="all, delete-orphan", lazy="selectin", order_by="Library.name"
    )
    reasons: Mapped[list[Reason]] = relationship(cascade="all, delete-orphan", lazy="selectin", order_by="Reason.place")


class Token(Base):
    """Who may come in, and for what: the token's SHA-256, never the token. Times are ISO 8601 in UTC."""

    __tablename__ = "token"

    id: Mapped[str] = mapped_column(primary_key=True)
    scope: Mapped[str]
    sha256: Mapped[str] = mapped_column(unique=True)
    created: Mapped[str]
    expires: Mapped[str | None]
    revoked: Mapped[str | None]


class AuditEntry(Base):
    """The audit log: what changed something, or was refused at the door."""

    __tablename__ = "action"

    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    at: Mapped[str]
    token: Mapped[str | None]
    address: Mapped[str]
    what: Mapped[str]
    of: Mapped[str]


class PapersAnswers(Base):
    """The papers' questions answered by runs; `key`: names the runs and the version of wattlock that judged them."""

    __tablename__ = "papers_answers"

    key: Mapped[str] = mapped_column(primary_key=True)
    answers: Mapped[dict[str, Any]] = mapped_column(JSON)
