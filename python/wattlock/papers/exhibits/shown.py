"""What an exhibit shows, as values: panels of numbers, a finding in a sentence, what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import polars as pl

from wattlock.papers.record import Exhibit, Papers
from wattlock.papers.sending import Sending
from wattlock.papers.transfers import Transferred

Form = Literal["dots", "lines", "scatter", "bars", "table"]
Row = Mapping[str, Any]
Ends = tuple[float, float]
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


PRINTED, IN_TEXT, CITED, READ_OFF = "printed", "in the text", "cited", "read off its table"
"""Where a number of a paper stands: in one of its tables, in its sentences, there from another work, or computed from
a table by us."""
BY_ORIGIN = {"stated": IN_TEXT, "cited": CITED, "read-off": READ_OFF}


def of_the_paper(provenance: str, what: str = "") -> str:
    """How a legend names a paper's numbers: what they are of, where that is another thing, and where they stand."""
    return f"the paper{f', {what}' if what else ''} ({provenance})"


@dataclass(frozen=True, slots=True)
class Panel:
    """One chart, or one table.

    * `title`: what; `unit`: of the value, as the paper has it, the axis's title; `x_title`: of `x`, with its unit.
    * `rows`: with the columns of `SCHEMA`; of a table any columns, whose names are its heads.
    * `marks`: the paper's own numbers, drawn apart: columns of `SCHEMA`, `evidence` says where each stands; one of
      lines without a value marks its `x`.
    * `order`: of the names; `ends`, `x_ends`: of the axes, None where the rows' own do. `alike` fills them in.
    """

    title: str
    form: Form
    rows: pl.DataFrame
    unit: str = ""
    x_title: str = ""
    marks: pl.DataFrame | None = None
    order: tuple[str, ...] = ()
    ends: Ends | None = None
    x_ends: Ends | None = None

    @property
    def drawn(self) -> pl.DataFrame:
        """The rows and the paper's marks behind them."""
        return self.rows if self.marks is None else pl.concat([self.rows, self.marks])

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
      `transferred`: transfers of the reader's own.
    """

    papers: Papers
    estimates: pl.DataFrame
    sent: Sequence[Sending] = ()
    curves: pl.DataFrame | None = None
    capture: Mapping[int, int] | None = None
    catalogue: Sequence[Row] = ()
    radio: str | None = None
    no_battery: str = ""
    transferred: Sequence[Transferred] = ()


QUICK = "wattlock papers"
FULL = "wattlock papers --length full"
JOULES = "wattlock papers --device x86-server-assumed --allow-assumed"


DIGITS = 9
"""Significant digits of what is drawn: sums in another order differ behind them, and a run drawn twice is the same."""


def frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows with the columns of `SCHEMA`, null where one has none."""
    made = pl.DataFrame([{name: row.get(name) for name in SCHEMA} for row in rows], schema=SCHEMA)
    return made.with_columns(pl.col("x", "value", "low", "high").round_sig_figs(DIGITS))


def alike(panels: Sequence[Panel]) -> tuple[Panel, ...]:
    """Panels that a reader compares, drawn so: of one unit on one scale, and their names in one order.

    The order is that of the first panel of rows: as it has it, or from its best.
    """
    order = next((_order(panel) for panel in panels if panel.form == "dots"), ())
    made = []
    for panel in panels:
        if panel.form not in {"dots", "lines", "scatter"}:
            made.append(panel)
            continue
        others = [one for one in panels if (one.form, one.unit, one.x_title) == (panel.form, panel.unit, panel.x_title)]
        together = pl.concat([one.drawn for one in others])
        x_ends = None if panel.form == "dots" else _ends(together, "x")
        known = set(panel.drawn["name"].to_list())
        own = order if known <= set(order) else panel.order or tuple(panel.drawn["name"].unique(maintain_order=True))
        own = tuple(name for name in own if name in known)
        ends = _ends(together, "low", "value", "high")
        made.append(replace(panel, order=own, ends=ends, x_ends=x_ends))
    return tuple(made)


def _order(panel: Panel) -> tuple[str, ...]:
    if panel.order:
        return panel.order
    is_speed = panel.unit.startswith("throughput")
    best = panel.drawn.group_by("name").agg(pl.col("value").max() if is_speed else pl.col("value").min())
    return tuple(best.sort("value", "name", descending=[is_speed, False])["name"].to_list())


def _ends(rows: pl.DataFrame, *columns: str) -> Ends | None:
    values = [value for name in columns for value in rows[name].drop_nulls().to_list()]
    return (min(values), max(values)) if values else None
