"""The figure beside the answer: what each cipher of the study's main question costs, as sorted bars."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from wattlock.report import bars, chip
from wattlock.report.evidence import EvidenceMix, one_evidence
from wattlock.report.formats import cipher_name, estimate, interval
from wattlock.report.markup import text, unbroken
from wattlock.report.run_answer import answered_group, answered_rows, doing

MOST, MOST_ON_A_PHONE = 12, 8
"""Bars that fit the first screen."""

ANSWER = "answer"
"""What the figure's files are called."""

UNITS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))


@dataclass(frozen=True, slots=True)
class MainFigure:
    """What is drawn: a title, the axis with its unit, what the numbers rest on, the bars from the cheapest on.

    `of` says what was chosen of which: empty where all are shown; `named_lines`: what the lines through the bars are,
    where they are not those of a run that measured.
    """

    title: str
    axis: str
    evidence: str
    rows: tuple[bars.Bar, ...]
    of: str
    named_lines: str | None = None

    @property
    def lines(self) -> str:
        """What the lines through the bars are, and a hollow bar."""
        if self.named_lines is not None:
            return self.named_lines
        shared = self.axis.startswith("µJ") and self.evidence != "measured"
        common = "; the device’s uncertainty is common to all" if shared else ""
        hollow = "" if all(bar.is_solid for bar in self.rows) else " A hollow bar is not resolved."
        return f"Lines: 95 % intervals{common}.{hollow}"


def main_figure(estimates: pl.DataFrame, ranking: pl.DataFrame) -> MainFigure | None:
    """The figure of the group that answers: joules where there are any, else CPU time, else cycles.

    Nothing where fewer than two can be compared, or what they rest on differs.
    """
    group, ranked = answered_group(estimates, ranking), answered_rows(estimates, ranking)
    if group is None or ranked.height < 2:
        return None
    columns = ["case", "family", "state", "path", "time_low_ns", "time_high_ns"]
    cases = ranked.drop("state", strict=False).join(estimates.select(columns), on="case", how="inner")
    try:
        costs, quantity, axis, evidence = _costs(cases, bool(group["payload_B"]))
    except EvidenceMix:
        return None
    if costs.height < 2:
        return None
    costs = costs.sort("value", "cipher", "provider")
    total, of = costs.height, ""
    if total > MOST and costs["cipher"].n_unique() > 1:
        costs = costs.unique("cipher", keep="first", maintain_order=True)
        if costs.height < total:
            of = f"Each of {costs.height} ciphers by the cheapest of its implementations."
    several = costs["provider"].n_unique() > 1
    rows = tuple(_bar(row, several, costs) for row in costs.iter_rows(named=True))
    return MainFigure(f"{quantity} of {doing(group)}", axis, evidence, rows, of)


def _costs(cases: pl.DataFrame, has_payload: bool) -> tuple[pl.DataFrame, str, str, str]:
    """The cases with `value, low, high`, and in words the quantity, its axis, what it rests on."""
    joules = cases.filter(pl.col("energy_uJ_per_byte") > 0)
    if has_payload and joules.height > 1:
        names = ("energy_uJ_per_byte", "energy_low_uJ_per_byte", "energy_high_uJ_per_byte")
        found = _limits(joules, names, 1.0)
        return found, "Energy", "µJ per byte", one_evidence(joules, "energy_evidence")
    timed = cases.filter(pl.col("time_ns") > 0)
    if timed.height > 1:
        longest = timed["time_ns"].max()
        unit, size = next(one for one in UNITS if isinstance(longest, float) and (longest >= one[1] or one[1] == 1))
        found = _limits(timed, ("time_ns", "time_low_ns", "time_high_ns"), size)
        return (
            found,
            "CPU time",
            f"{unit} a call, at the median clock",
            one_evidence(timed, "time_evidence"),
        )
    counted = cases.filter(pl.col("cycles_per_byte") > 0)
    names = ("cycles_per_byte", "cycles_per_byte_low", "cycles_per_byte_high")
    return _limits(counted, names, 1.0), "Cycles", "cycles per byte", one_evidence(counted, "time_evidence")


def _limits(rows: pl.DataFrame, names: tuple[str, str, str], size: float) -> pl.DataFrame:
    value, low, high = (pl.col(name) / size for name in names)
    bounded = high.is_finite()
    return rows.with_columns(value=value, low=pl.when(bounded).then(low), high=pl.when(bounded).then(high))


def _bar(row: dict[str, Any], several: bool, costs: pl.DataFrame) -> bars.Bar:
    value, low, high = row["value"], row["low"], row["high"]
    alike = costs.filter(pl.col("cipher") == row["cipher"], pl.col("provider") == row["provider"]).height
    beside = [str(row["provider"])] if several else []
    beside += [str(row["path"])] if alike > 1 and row["path"] else []
    return bars.Bar(
        cipher_name(row["cipher"], row["mode"]),
        ", ".join(beside),
        value,
        low,
        high,
        estimate(value, low, high),
        interval(value, low, high) if low is not None else "",
        bars.role_of(row["family"]),
        row["state"] == "resolved",
    )


def chosen(rows: tuple[bars.Bar, ...], most: int) -> list[bars.Bar | None]:
    """As many as fit: the cheapest, a gap, and the most expensive."""
    # A gap takes the room of a bar.
    return [*rows] if len(rows) <= most + 1 else [*rows[: most - 1], None, rows[-1]]


def bar_rows(run: str, figure: MainFigure) -> pl.DataFrame:
    """The numbers that a figure draws, a row a bar; `run`: its id."""
    return pl.DataFrame(
        {
            "run": run,
            "quantity": figure.axis,
            "name": bar.name,
            "of": bar.beside,
            "value": bar.value,
            "low": bar.low,
            "high": bar.high,
            "evidence": figure.evidence,
        }
        for bar in figure.rows
    )


def drawn_figure(figure: MainFigure, name: str = ANSWER) -> str:
    """The figure as HTML, for a screen and for a phone: the style shows one of them."""
    drawn = ""
    for kind, layout, most in (("wide", bars.WIDE, MOST), ("narrow", bars.NARROW, MOST_ON_A_PHONE)):
        total = len(figure.rows)
        cut = "" if total <= most + 1 else f"Shown are {most} of {total}."
        note = " ".join(part for part in (figure.lines, figure.of, cut) if part)
        drawn += (
            f'<div class="{kind}">{bars.picture(chosen(figure.rows, most), figure.axis, layout)}'
            f'<p class="quiet">{unbroken(note)}</p></div>'
        )
    return (
        f'<figure data-name="{name}" class="main-figure">'
        f"<figcaption><strong>{text(figure.title)} {chip.chip(figure.evidence)}</strong></figcaption>{drawn}</figure>"
    )
