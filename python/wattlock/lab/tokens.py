"""Who may come in: tokens with a scope, of which the lab keeps the hash alone."""

from __future__ import annotations

import hashlib
import secrets
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import Engine, delete, func, select
from sqlalchemy.orm import Session

from wattlock.errors import InputError, TransferRefused
from wattlock.lab.database import AuditEntry, Token, session

BEGIN = "wl_"
BITS = 256
ACTION_FIELDS = ("at", "token", "address", "what", "of")
"""What of a line of the audit log is given as data."""

MOST_LINES, TRIMMED_EVERY = 100_000, 1000
"""So many lines the audit log has, and up to so many more before the oldest are taken out: about 15 MB."""


class Scope(StrEnum):
    """What a token is for: to send runs, to read them, to read and to plan what is measured, or all and the log."""

    send = "send"
    read = "read"
    plan = "plan"
    admin = "admin"

    def allows(self, wanted: Scope) -> bool:
        """Whether who has this scope may do that."""
        return self in {wanted, Scope.admin} or (self, wanted) == (Scope.plan, Scope.read)


class Denied(TransferRefused):
    """Nobody is let in by this token; `status` is that of HTTP."""

    def __init__(self, message: str, *, hint: str, status: int) -> None:
        super().__init__(message, hint=hint)
        self.status = status


def make(engine: Engine, scope: Scope, days: int | None) -> str:
    """A new token, which is shown this once.

    * `days`: how long it lets in; without an end where it is null.
    """
    token, now = BEGIN + secrets.token_urlsafe(BITS // 8), datetime.now(UTC)
    expires = None if days is None else _text(now + timedelta(days=days))
    with session(engine) as opened:
        opened.add(
            Token(id=secrets.token_hex(4), scope=scope, sha256=_sha256(token), created=_text(now), expires=expires)
        )
    return token


def revoke(engine: Engine, id_: str) -> None:
    """Ends a token. Raises InputError where there is none of that id."""
    with session(engine) as opened:
        token = opened.get(Token, id_)
        if token is None:
            raise InputError(f"there is no token {id_}", hint="`wattlock lab tokens` lists them")
        token.revoked = token.revoked or _text(datetime.now(UTC))


def listed(engine: Engine) -> list[dict[str, Any]]:
    """A row a token, the oldest first: id, scope, when it was made, when it expires, when it was revoked."""
    with session(engine) as opened:
        rows = opened.scalars(select(Token).order_by(Token.created, Token.id))
        names = ("id", "scope", "created", "expires", "revoked")
        return [{name: getattr(row, name) for name in names} for row in rows]


def is_open(engine: Engine) -> bool:
    """Whether no token was ever made, so that everybody who reaches the lab may do everything."""
    with session(engine) as opened:
        return not opened.scalar(select(func.count()).select_from(Token))


def check(engine: Engine, token: str | None, wanted: Scope) -> str | None:
    """Raises Denied where the token doesn't allow that; gives its id, null in a lab without tokens."""
    if is_open(engine):
        return None
    if not token:
        raise Denied("this lab needs a token", hint=ASK, status=401)
    with session(engine) as opened:
        found = opened.scalar(select(Token).where(Token.sha256 == _sha256(token)))
        if found is None or found.revoked is not None:
            raise Denied("the token is not one of this lab's", hint=ASK, status=401)
        if found.expires is not None and found.expires <= _text(datetime.now(UTC)):
            raise Denied(f"the token {found.id} expired at {found.expires}", hint=ASK, status=401)
        if not Scope(found.scope).allows(wanted):
            raise Denied(f"the token {found.id} is for {found.scope}, not for {wanted}", hint=ASK, status=403)
        return str(found.id)


ASK = "ask who runs the lab for one: `wattlock lab token --data DIR --scope read`"


class By(NamedTuple):
    """Who did something: the id of a token, null in a lab without tokens or by none of its own, and the address."""

    token: str | None
    address: str


def note(engine: Engine, token: str | None, address: str, what: str, subject: str) -> None:
    """Writes a line of the audit log."""
    with session(engine) as opened:
        add(opened, line(By(token, address), what, subject))


def line(by: By, what: str, subject: str) -> AuditEntry:
    """A line of the audit log, of now."""
    return AuditEntry(**fields(by, what, subject))


def fields(by: By, what: str, subject: str) -> dict[str, Any]:
    """What a line of now has."""
    return {"at": _text(datetime.now(UTC)), "token": by.token, "address": by.address, "what": what, "of": subject}


def add(opened: Session, action: AuditEntry) -> None:
    """Adds a line to the audit log, and takes out the oldest ones now and then."""
    opened.add(action)
    opened.flush()
    if action.number % TRIMMED_EVERY == 0:
        opened.execute(delete(AuditEntry).where(AuditEntry.number <= action.number - MOST_LINES))


def actions(engine: Engine) -> list[dict[str, Any]]:
    """The audit log, the latest line first."""
    with session(engine) as opened:
        rows = opened.scalars(select(AuditEntry).order_by(AuditEntry.number.desc()))
        return [{name: getattr(row, name) for name in ACTION_FIELDS} for row in rows]


def _sha256(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
