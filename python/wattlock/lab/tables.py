"""The tables of a lab's database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, Dialect, ForeignKey, LargeBinary, String, TypeDecorator
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

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


class Run(Base):
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


class Token(Base):
    """Who may come in, and for what: the token's SHA-256, never the token. Times are ISO 8601 in UTC."""

    __tablename__ = "token"

    id: Mapped[str] = mapped_column(primary_key=True)
    scope: Mapped[str]
    sha256: Mapped[str] = mapped_column(unique=True)
    created: Mapped[str]
    expires: Mapped[str | None]
    revoked: Mapped[str | None]


class Action(Base):
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
