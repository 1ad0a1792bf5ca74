"""The audit log, its writer `Audit` and its page, and the page of tokens without what lets in."""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from sqlalchemy import Engine

from wattlock.errors import WattlockError
from wattlock.lab import tokens
from wattlock.lab.database import AuditEntry, session
from wattlock.lab.layout import also, moment, page, section
from wattlock.report import formats
from wattlock.report.html import cell, paragraphs, table, text

LOG, TOKENS = "/log", "/tokens"
LATEST = 200
"""Lines that the page of the log shows; data has all."""
TOKEN_FIELDS = ("id", "scope", "created", "expires", "revoked")
BOTH = '<p class="links"><a href="/log">Audit log</a> <a href="/tokens">Tokens</a></p>'
"""Leads from one to the other."""


def log(lines: Sequence[Mapping[str, Any]]) -> str:
    """The latest lines of the audit log, of all that there are."""
    line = "What was sent, asked for, changed and refused, and by which token."
    if not lines:
        return page(
            "Audit log", line, section("lines", "Lines", "<p>Nothing was noted yet.</p>") + also(LOG) + BOTH, here=LOG
        )
    shown = lines[:LATEST]
    rows = (
        f"<tr>{cell(moment(str(entry['at'])))}{cell(entry['what'])}"
        f'<td class="reason">{text(entry["of"]) or formats.MISSING}</td>'
        f"{cell(entry['token'] or formats.MISSING)}{cell(entry['address'])}</tr>"
        for entry in shown
    )
    more = paragraphs([f"Below are the latest {len(shown)} of {len(lines):,} lines."]) if len(lines) > LATEST else ""
    head = ["When", "What", "Of", "Token", "Address"]
    body = more + table("Lines, the latest first", head, ["<tbody>", *rows, "</tbody>"], kind="sortable")
    return page("Audit log", line, section("lines", "Lines", body) + also(LOG) + BOTH, here=LOG)


def tokens_page(known: Sequence[Mapping[str, Any]]) -> str:
    """A row a token, the oldest first."""
    line = "Who may come in, and until when. A token is printed once, on the lab's host."
    prose = "<p><code>wattlock lab token</code> makes one, <code>wattlock lab revoke</code> ends one.</p>"
    if not known:
        prose = paragraphs(["There is none: this lab is open to its machine, and listens on loopback alone."])
        return page("Tokens", line, section("tokens", "Tokens", prose) + also(TOKENS) + BOTH, here=TOKENS)
    head = ["Id", "Scope", "Made", "Ends", "Revoked"]
    rows = (
        f'<tr><th scope="row"><code>{text(token["id"])}</code></th>{cell(token["scope"])}'
        + "".join(cell(moment(token[name]) if token[name] else formats.MISSING) for name in TOKEN_FIELDS[2:])
        + "</tr>"
        for token in known
    )
    body = table("Tokens, the oldest first", head, ["<tbody>", *rows, "</tbody>"], kind="sortable")
    return page("Tokens", line, section("tokens", "Tokens", prose + body) + also(TOKENS) + BOTH, here=TOKENS)


def tokens_frame(known: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """A row a token, as data."""
    return pl.DataFrame(known, schema=dict.fromkeys(TOKEN_FIELDS, pl.String))


MOST_WAITING = 1000
"""Lines that are kept while the database can't be written; of more the oldest are lost, and it is said so."""


class Audit:
    """Writes lines, one thread at a time for all; what can't be written goes with the next line that can."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._waiting: deque[dict[str, Any]] = deque(maxlen=MOST_WAITING)
        self._writing = threading.Lock()

    def note(self, by: tokens.By, what: str, subject: str) -> None:
        """Writes a line, now or later. What was done is done: nothing is raised."""
        self._waiting.append(tokens.fields(by, what, subject))
        while self._waiting and self._writing.acquire(blocking=False):
            try:
                is_written = self._write()
            finally:
                self._writing.release()
            if not is_written:
                return

    def _write(self) -> bool:
        lines = list(self._waiting)
        try:
            with session(self._engine) as opened:
                for line in lines:
                    tokens.add(opened, AuditEntry(**line))
        except WattlockError as error:
            lost = ", the oldest are lost" if len(lines) == MOST_WAITING else ""
            sys.stderr.write(f"warning: {len(lines)} lines of the audit log wait{lost}: {error.message}\n")
            return False
        for line in lines:
            if self._waiting and self._waiting[0] is line:  # else it was dropped for a later one
                self._waiting.popleft()
        return True
