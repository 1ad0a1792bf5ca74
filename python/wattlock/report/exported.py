"""Estimates as a file for other programs, or for a paper."""

from __future__ import annotations

import io
from enum import StrEnum

import polars as pl

from wattlock.report.described import About
from wattlock.report.latex import latex
from wattlock.report.written import csv_text, json_array


class ExportForm(StrEnum):
    """What is written."""

    csv = "csv"
    parquet = "parquet"
    latex = "latex"
    json = "json"


def content(frame: pl.DataFrame, about: About, form: ExportForm) -> bytes:
    """The file's bytes: the estimates, each row with what its run was."""
    if form is ExportForm.latex:
        return latex(frame, {key: value for key, value in about.items() if value is not None}).encode()
    columns = (
        pl.lit(value, pl.Boolean if isinstance(value, bool) else pl.String).alias(key) for key, value in about.items()
    )
    whole = frame.select(*columns, *frame.columns)
    if form is ExportForm.json:
        return f"{json_array(whole)}\n".encode()
    if form is ExportForm.csv:
        return csv_text(whole).encode()
    written = io.BytesIO()
    whole.write_parquet(written)
    return written.getvalue()
