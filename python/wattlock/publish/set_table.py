"""A run's cost a byte as eBACS's tables have it: median and quartiles by message length, a row an implementation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import polars as pl

from wattlock.report import formats
from wattlock.report.evidence import departures
from wattlock.report.html import folded, table, text

EBACS_B = (8, 64, 576, 1536, 4096)
"""Lengths of a message in eBACS's tables. Their column for long messages is extrapolated, so that it is not here.

# Source
eBACS: ECRYPT Benchmarking of Cryptographic Systems, https://bench.cr.yp.to/results-stream.html.
"""
LEAST_SHARED = 3
"""A run with fewer of these lengths has a table of all of its own."""
Row = Mapping[str, Any]


def set_tables(rows: pl.DataFrame, run: str) -> str:
    """The tables of a run, one an operation, in eBACS's lengths; in the run's own ones behind a summary, or alone.

    * `rows`: estimates with `per_byte`, its quartiles and its `unit`; `run`: what it is called.
    """
    return "".join(_operation(named, list(of_it), run) for named, of_it in groupby(_sorted(rows), key=_named))


def _sorted(rows: pl.DataFrame) -> list[Row]:
    """Cases with a payload, those of one table beside each other; the study's order stays otherwise."""
    known = [row for row in rows.iter_rows(named=True) if row["payload_B"]]
    order = {named: place for place, named in enumerate(dict.fromkeys(map(_named, known)))}
    return sorted(known, key=lambda row: order[_named(row)])


def _named(row: Row) -> str:
    """What a table holds equal: operation, unit, associated data, kind of data, and factors off their plain level."""
    more = [row["data"], *([f"{row['aad_B']:,} B of associated data"] if row["aad_B"] else []), *departures(row)]
    return f"{formats.OPERATION_NAMES.get(row['operation'], row['operation'])}, {row['unit']} ({'; '.join(more)})"


def _operation(named: str, rows: Sequence[Row], run: str) -> str:
    own = sorted({row["payload_B"] for row in rows})
    shared = [length_B for length_B in EBACS_B if length_B in own]
    others = [length_B for length_B in own if length_B not in EBACS_B]
    title = f"<h4>{text(formats.capital(named))}</h4>"
    if len(shared) < LEAST_SHARED:
        return f"{title}{_table(named, rows, own, run)}"
    more = folded(f"Other lengths: {len(others)}", _table(named, rows, others, run)) if others else ""
    return f"{title}{_table(named, rows, shared, run)}{more}"


def _table(named: str, rows: Sequence[Row], lengths_B: Sequence[int], run: str) -> str:
    caption = f"{run}: {named}, {formats.size(lengths_B[0])} to {formats.size(lengths_B[-1])}"
    head = ["Cipher", "Provider", *(f"#{formats.size(length_B)}" for length_B in lengths_B)]
    return table(caption, head, _body(rows, lengths_B))


def _body(rows: Sequence[Row], lengths_B: Sequence[int]) -> Iterator[str]:
    found: dict[tuple[str, str], dict[int, Row]] = {}
    for row in rows:
        found.setdefault((row["cipher"], row["provider"]), {})[row["payload_B"]] = row
    for (cipher, provider), by_length in found.items():
        cells = "".join(_cell(by_length.get(length_B)) for length_B in lengths_B)
        yield f'<tr><th scope="row">{text(cipher)}</th><td>{text(provider)}</td>{cells}</tr>'


def _cell(row: Row | None) -> str:
    if row is None or row["per_byte"] is None:
        return f'<td class="n">{formats.MISSING}</td>'
    value = formats.number(row["per_byte"])
    shown = value if row["state"] != "unresolved" else f"({value})"
    if row["per_byte_q1"] is None:
        return f'<td class="n">{shown}</td>'
    quartiles = f"{formats.number(row['per_byte_q1'])}–{formats.number(row['per_byte_q3'])}"
    return f'<td class="n">{shown} <span class="quiet">{quartiles}</span></td>'
