"""What may be drawn together: one kind of evidence, and only cases that have a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from wattlock.analysis.comparison import core_classes
from wattlock.report.formats import cipher_name
from wattlock.run.validity import INVALID_RUN

DRAWN_STATES = ("resolved", "unresolved")
PLAIN = {"keying": "ready", "encoding": "raw", "placement": "hot", "pattern": "independent", "readiness": "steady"}
ENERGY_COLUMNS = (
    "energy_uJ",
    "energy_low_uJ",
    "energy_high_uJ",
    "energy_uJ_per_byte",
    "energy_low_uJ_per_byte",
    "energy_high_uJ_per_byte",
)


def is_plain(row: Mapping[str, Any]) -> bool:
    """Whether every factor of a case or a group is at its plain level; a kind of core has none."""
    return all(row[name] in (None, plain) for name, plain in PLAIN.items())


def departures(row: Mapping[str, Any]) -> list[str]:
    """The factors of a case or a group that are not at their plain level, as `keying each`, and its kind of core."""
    named = [f"{name} {row[name]}" for name, plain in PLAIN.items() if row[name] not in (None, plain)]
    return [*named, *([f"{row['core_class']} cores"] if row.get("core_class") else [])]


class EvidenceMix(ValueError):
    """A figure was asked to draw numbers of more than one kind of evidence as one."""


class NothingToDraw(ValueError):
    """The frame has no case with a number that the figure shows."""


def one_evidence(rows: pl.DataFrame, column: str) -> str:
    """The one kind of evidence in `column` ("time_evidence", "energy_evidence"), nulls left aside.

    Raises EvidenceMix where there are several.
    """
    kinds = rows[column].drop_nulls().unique().sort().to_list()
    if len(kinds) > 1:
        raise EvidenceMix(f"{column} is {' and '.join(kinds)} in one figure; filter the frame to one of them")
    return str(kinds[0]) if kinds else "unknown"


def drawable(estimates: pl.DataFrame) -> pl.DataFrame:
    """The cases that have a number, at the plain level of each factor that no figure here shows, with their `name`.

    Of several kinds of core those on the first are drawn: a figure doesn't mix them.
    A name is the cipher without its mode; the provider and the code path follow where a cipher was measured in several.
    """
    rows = estimates.filter(
        pl.col("state").is_in(DRAWN_STATES),
        *(pl.col(column).is_null() | (pl.col(column) == level) for column, level in PLAIN.items()),
    )
    if len(kinds := core_classes(rows)) > 1:
        rows = rows.filter(pl.col("core_class") == kinds[0])
    names = [cipher_name(cipher, mode) for cipher, mode in rows.select("cipher", "mode").iter_rows()]
    rows = rows.with_columns(pl.Series("name", names, dtype=pl.String))
    for column in ("provider", "path"):
        several = rows.group_by("name", "mode").agg(pl.col(column).n_unique())[column].max()
        if isinstance(several, int) and several > 1:
            rows = rows.with_columns(pl.concat_str("name", column, separator=" ", ignore_nulls=True).alias("name"))
    return rows


def in_mode(rows: pl.DataFrame, mode: str) -> pl.DataFrame:
    """The rows of a mode, with the stream ciphers, which have none, beside them."""
    return rows.filter(pl.col("mode").is_in([mode, "stream"]))


def with_energy_columns(estimates: pl.DataFrame) -> pl.DataFrame:
    """The frame with every energy column that it lacks, as nulls; one that tells of no associated data has none.

    One that tells of no kinds of core is of a machine on which all are alike.
    """
    lacking = [pl.lit(None, pl.Float64).alias(name) for name in ENERGY_COLUMNS if name not in estimates.columns]
    if "aad_B" not in estimates.columns:
        lacking.append(pl.lit(0, pl.Int64).alias("aad_B"))
    if "core_class" not in estimates.columns:
        lacking.append(pl.lit(None, pl.String).alias("core_class"))
    if "energy_evidence" not in estimates.columns:
        lacking.append(pl.lit(None, pl.String).alias("energy_evidence"))
    return estimates.with_columns(lacking)


STATE_MARKS = {"resolved": "●", "unresolved": "○", "invalid": "⊘", INVALID_RUN: "⊘", "failed": "✕"}


def state_words(row: Mapping[str, Any]) -> str:
    """A state with its mark."""
    return f"{STATE_MARKS.get(row['state'], '')} {row['state']}".strip()
