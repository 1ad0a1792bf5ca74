"""What an exhibit shows, as values: panels of numbers, a finding in a sentence, what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from wattlock.papers.record import Exhibit, Papers
from wattlock.papers.sending import Sending

Form = Literal["dots", "lines", "scatter", "bars", "table"]
Row = Mapping[str, Any]
SCHEMA = {
    "name": pl.String,
    "variant": pl.String,
    "x": pl.Float64,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "evidence": pl.String,
}
"""The columns of a drawn panel: what, which implementation of it, where, how much, 95 %, and what it rests on."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One chart, or one table.

    * `title`: what; `unit`: of the value, as the paper has it, the axis's title; `x_title`: of `x`, with its unit.
    * `rows`: with the columns of `SCHEMA`; of a table any columns, whose names are its heads.
    """

    title: str
    form: Form
    rows: pl.DataFrame
    unit: str = ""
    x_title: str = ""

    @property
    def evidence(self) -> list[str]:
        """What the numbers rest on; several kinds are never drawn as one line."""
        return self.rows["evidence"].drop_nulls().unique().sort().to_list() if "evidence" in self.rows.columns else []


@dataclass(frozen=True, slots=True)
class Drawing:
    """A diagram: its kind and what it is drawn from."""

    kind: Literal["exchange", "taxonomy", "features", "loop", "bitmap"]
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Shown:
    """An exhibit on this machine.

    * `finding`: one sentence made from the numbers, empty where there are none.
    * `missing`: which cases are lacking; `command`: what measures them, empty where nothing lacks.
    """

    exhibit: Exhibit
    panels: tuple[Panel, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    finding: str = ""
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    command: str = ""


@dataclass(frozen=True)
class Material:
    """All that an exhibit may be made from.

    * `estimates`: of one run or of several, with the columns of energy. * `curves`: of batteries that empty, by
      `energy.tasks.curves`. * `capture`: frames by their octets. * `catalogue`: the probe's rows, for the taxonomy.
    * `radio`: the card that valued sending, None without one. `no_battery`: why none could be discharged, if so.
    """

    papers: Papers
    estimates: pl.DataFrame
    sent: Sequence[Sending] = ()
    curves: pl.DataFrame | None = None
    capture: Mapping[int, int] | None = None
    catalogue: Sequence[Row] = ()
    radio: str | None = None
    no_battery: str = ""


QUICK = "wattlock papers"
FULL = "wattlock papers --length full"
JOULES = "wattlock papers --device x86-server-assumed --allow-assumed"


DIGITS = 9
"""Significant digits of what is drawn: sums in another order differ behind them, and a run drawn twice is the same."""


def frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows with the columns of `SCHEMA`, null where one has none."""
    made = pl.DataFrame([{name: row.get(name) for name in SCHEMA} for row in rows], schema=SCHEMA)
    return made.with_columns(pl.col("x", "value", "low", "high").round_sig_figs(DIGITS))
