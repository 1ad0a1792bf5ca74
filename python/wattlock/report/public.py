"""What may leave the house: the estimates of a run without host, user, paths and serial numbers."""

import re
from collections.abc import Iterable

import polars as pl

WITHHELD = "(withheld)"
PATHS = re.compile(r"(?<![\w/\\.~])(?:~\w*|\.{1,2}|[A-Za-z]:)?(?:[/\\][^\s/\\:;,'\"()]+)+[/\\]?")
SERIALS = re.compile(r"\b(serial(?:[ _-]?(?:number|no))?)\b(\s*[:=#]?\s*)(?=\S*\d)[\w.-]+", re.IGNORECASE)
VOCABULARY = ("cipher", "family", "operation", "keying", "encoding", "mode", "placement", "pattern", "state")
"""Columns whose words are wattlock's own: a user called aes hides no cipher."""


def public(text: str, names: Iterable[str]) -> str:
    """A text with every path, serial number and each of `names` (host, user) withheld."""
    text = SERIALS.sub(rf"\1\2{WITHHELD}", PATHS.sub(WITHHELD, text))
    for name in filter(None, names):
        text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", WITHHELD, text, flags=re.IGNORECASE)
    return text


def public_frame(frame: pl.DataFrame, names: Iterable[str]) -> pl.DataFrame:
    """The frame with every free text of it made public."""
    known = list(names)
    free = [name for name, kind in frame.schema.items() if kind == pl.String and name not in VOCABULARY]
    return frame.with_columns(
        pl.Series(name, [None if value is None else public(value, known) for value in frame[name]], dtype=pl.String)
        for name in free
    )
