"""Runs of schema 1, of before November 2026, read as those of today: the same facts under other names."""

import polars as pl

VERSION = 1

_NAMES = {
    b'"kind":"cell"': b'"kind":"case"',
    b'"role":"cell"': b'"role":"case"',
    b'"cell":': b'"case":',
    b'"cells":': b'"cases":',
    b'"follows":"skip_cell"': b'"follows":"skip_case"',
    b'"role":"copy"': b'"role":"aa_test"',
    b'"role":"known_effect"': b'"role":"injected_slowdown"',
}
"""As written, without spaces. Within a string a quote has a backslash before it: no string holds any of these."""


def lines(data: bytes) -> bytes:
    """Lines of a plan or of records, in today's names."""
    for old, new in _NAMES.items():
        data = data.replace(old, new)
    return data


def batches(frame: pl.LazyFrame) -> pl.LazyFrame:
    """The batches of a sealed run, in today's names."""
    return frame.rename({"cell": "case"}, strict=False)
