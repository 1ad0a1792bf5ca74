"""The pages for who keeps the lab: its audit log, and its tokens without what lets in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

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
        f"<tr>{cell(moment(str(one['at'])))}{cell(one['what'])}"
        f'<td class="reason">{text(one["of"]) or formats.MISSING}</td>'
        f"{cell(one['token'] or formats.MISSING)}{cell(one['address'])}</tr>"
        for one in shown
    )
    more = paragraphs([f"Below are the latest {len(shown)} of {len(lines):,} lines."]) if len(lines) > LATEST else ""
    head = ["When", "What", "Of", "Token", "Address"]
    body = more + table("Lines, the latest first", head, ["<tbody>", *rows, "</tbody>"], kind="sortable")
    return page("Audit log", line, section("lines", "Lines", body) + also(LOG) + BOTH, here=LOG)


def tokens(known: Sequence[Mapping[str, Any]]) -> str:
    """A row a token, the oldest first."""
    line = "Who may come in, and until when. A token is printed once, on the lab's host."
    told = "<p><code>wattlock lab token</code> makes one, <code>wattlock lab revoke</code> ends one.</p>"
    if not known:
        told = paragraphs(["There is none: this lab is open to its machine, and listens on loopback alone."])
        return page("Tokens", line, section("tokens", "Tokens", told) + also(TOKENS) + BOTH, here=TOKENS)
    head = ["Id", "Scope", "Made", "Ends", "Revoked"]
    rows = (
        f'<tr><th scope="row"><code>{text(one["id"])}</code></th>{cell(one["scope"])}'
        + "".join(cell(moment(one[name]) if one[name] else formats.MISSING) for name in TOKEN_FIELDS[2:])
        + "</tr>"
        for one in known
    )
    body = table("Tokens, the oldest first", head, ["<tbody>", *rows, "</tbody>"], kind="sortable")
    return page("Tokens", line, section("tokens", "Tokens", told + body) + also(TOKENS) + BOTH, here=TOKENS)


def tokens_frame(known: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """A row a token, as data."""
    return pl.DataFrame(known, schema=dict.fromkeys(TOKEN_FIELDS, pl.String))
