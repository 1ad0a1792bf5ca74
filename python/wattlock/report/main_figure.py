"""The figure below the answer: what each cipher of the study's main question costs, as sorted dots on a log axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from wattlock.report.drawings import CAPITALS, width_of
from wattlock.report.evidence import EvidenceMix, one_evidence
from wattlock.report.formats import cipher_in_mode, cipher_name, estimate, interval
from wattlock.report.html import FAMILIES, FONT, chip, colour, text, unbroken
from wattlock.report.run_answer import answered_group, asked_cases, doing

MOST, MOST_ON_A_PHONE = 15, 8
"""Rows that fit the first screen; of more, the cheapest and the most expensive."""

ANSWER = "answer"
"""What the figure's files are called."""

UNITS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))


@dataclass(frozen=True, slots=True)
class Dot:
    """A row: its name and what stands beside it in small type, its value with its interval, both in words too.

    `low` and `high` are null where the value has no interval; `line` is what of it is drawn where a part is common to
    all marks; a mark that is not solid is drawn hollow.
    """

    name: str
    beside: str
    value: float
    low: float | None
    high: float | None
    value_words: str
    interval_words: str
    role: str
    is_solid: bool = True
    line: tuple[float, float] | None = None

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """Between what its line is drawn."""
        return self.line or (self.low, self.high)


@dataclass(frozen=True, slots=True)
class MainFigure:
    """What is drawn: a title, the axis with its unit, what the numbers rest on, the marks from the cheapest on.

    `of` says what was chosen of which: empty where all are shown; `named_lines`: what the lines through the marks are,
    where they are not those of a run that measured.
    """

    title: str
    axis: str
    evidence: str
    rows: tuple[Dot, ...]
    of: str
    named_lines: str | None = None

    @property
    def lines(self) -> str:
        """What the lines through the marks are, and a hollow mark."""
        if self.named_lines is not None:
            return self.named_lines
        hollow = "" if all(mark.is_solid for mark in self.rows) else " A hollow mark is not resolved."
        time = " of the time" if any(mark.line for mark in self.rows) else ""
        return f"Lines: 95 % intervals{time}. × is how many times the cheapest.{hollow}"


def main_figure(estimates: pl.DataFrame, ranking: pl.DataFrame) -> MainFigure | None:
    """The figure of all that was asked in the group that answers: joules where there are any, else CPU time or cycles.

    Nothing where fewer than two can be compared, or what they rest on differs.
    """
    group, cases = answered_group(estimates, ranking), asked_cases(estimates, ranking)
    if group is None or cases.height < 2:
        return None
    try:
        costs, quantity, axis, evidence = _costs(cases, bool(group["payload_B"]))
    except EvidenceMix:
        return None
    if costs.height < 2:
        return None
    costs = costs.sort("value", "cipher", "provider")
    total, cases_words = costs.height, ""
    if total > MOST and costs["cipher"].n_unique() > 1:
        costs = costs.unique("cipher", keep="first", maintain_order=True)
        if costs.height < total:
            cases_words = f"Each of {costs.height} ciphers by the cheapest of its implementations."
    several = costs["provider"].n_unique() > 1
    modes = costs["mode"].n_unique()
    rows = tuple(_dot(row, several, costs, has_modes=modes > 1) for row in costs.iter_rows(named=True))
    does = doing({**group, "mode": None} if modes > 1 else group)
    lines = _common_factor(costs) if evidence != "measured" and axis.startswith("µJ") else None
    return MainFigure(f"{quantity} of {does}", axis, evidence, rows, " ".join(filter(None, (lines, cases_words))))


def _common_factor(costs: pl.DataFrame) -> str | None:
    """What the card is uncertain by, in words; null where nobody says."""
    factor = (costs["energy_high_uJ_per_byte"] / costs["energy_uJ_per_byte"]).drop_nulls().min()
    if not isinstance(factor, float) or not math.isfinite(factor):
        return None
    return f"The device card may be wrong by a factor of {factor:.3g}, which moves all marks together."


def _costs(cases: pl.DataFrame, has_payload: bool) -> tuple[pl.DataFrame, str, str, str]:
    """The cases with `value, low, high`, and in words the quantity, its axis, what it rests on."""
    joules = cases.filter(pl.col("energy_uJ_per_byte") > 0)
    if has_payload and joules.height > 1 and joules["energy_evidence"].drop_nulls().n_unique() <= 1:
        names, evidence = ("energy_uJ_per_byte", "energy_low_uJ_per_byte", "energy_high_uJ_per_byte"), "energy_evidence"
        kind = one_evidence(joules, evidence)
        found = _limits(joules, names, 1.0)
        if kind != "measured":  # a card's joules are the time's, times what is common to all
            found = found.with_columns(
                line_low=pl.col("value") * pl.col("time_low_ns") / pl.col("time_ns"),
                line_high=pl.col("value") * pl.col("time_high_ns") / pl.col("time_ns"),
            )
        return found, "Energy", "µJ per byte", kind
    timed = cases.filter(pl.col("time_ns") > 0)
    if timed.height > 1:
        longest = timed["time_ns"].max()
        unit, size = next(
            unit_size
            for unit_size in UNITS
            if isinstance(longest, float) and (longest >= unit_size[1] or unit_size[1] == 1)
        )
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


def _dot(row: dict[str, Any], several: bool, costs: pl.DataFrame, *, has_modes: bool) -> Dot:
    value, low, high = row["value"], row["low"], row["high"]
    alike = costs.filter(pl.col("cipher") == row["cipher"], pl.col("provider") == row["provider"]).height
    provider = [str(row["provider"])] if several else []
    provider += [str(row["path"])] if alike > 1 and row["path"] else []
    return Dot(
        (cipher_in_mode if has_modes else cipher_name)(row["cipher"], row["mode"]),
        ", ".join(provider),
        value,
        low,
        high,
        estimate(value, low, high),
        interval(value, low, high) if low is not None and high is not None and "line_low" not in row else "",
        role_of(row["family"]),
        row["state"] == "resolved",
        (row["line_low"], row["line_high"]) if "line_low" in row else None,
    )


def chosen(rows: tuple[Dot, ...], most: int) -> list[Dot | None]:
    """As many as fit: the cheapest, a gap, and the most expensive."""
    # A gap takes the room of a row.
    return [*rows] if len(rows) <= most + 1 else [*rows[: most - 1], None, rows[-1]]


def mark_rows(run: str, figure: MainFigure) -> pl.DataFrame:
    """The numbers that a figure draws, a row a mark; `run`: its id."""
    return pl.DataFrame(
        {
            "run": run,
            "quantity": figure.axis,
            "name": mark.name,
            "of": mark.beside,
            "value": mark.value,
            "low": mark.low,
            "high": mark.high,
            "evidence": figure.evidence,
        }
        for mark in figure.rows
    )


def drawn_figure(figure: MainFigure, name: str = ANSWER) -> str:
    """The figure as HTML, for a screen and for a phone: the style shows one of them."""
    drawn = ""
    for kind, layout, most in (("wide", WIDE, MOST), ("narrow", NARROW, MOST_ON_A_PHONE)):
        total = len(figure.rows)
        cut = "" if total <= most + 1 else f"Shown are {most} of {total}."
        note = " ".join(part for part in (figure.lines, figure.of, cut) if part)
        drawn += (
            f'<div class="{kind}">{dot_chart(chosen(figure.rows, most), figure.axis, layout)}'
            f'<p class="quiet">{unbroken(note)}</p></div>'
        )
    return (
        f'<figure data-name="{name}" class="main-figure">'
        f"<figcaption><strong>{text(figure.title)} {chip(figure.evidence)}</strong></figcaption>{drawn}</figure>"
    )


SIZE_PX, SMALL_PX, DOT_PX, PAD_PX = 13, 11.5, 4.6, 6


LABEL_SHARE, MOST_NAME_SHARE = 0.36, 0.46
"""Of the width that labels may take; and names alone, so that two of a family are told apart on a phone."""

MARGIN, STEPS = 1.08, (1, 1.5, 2, 3, 5, 7)
LEAST_BESIDE = 4
"""What stands beside a name is left out rather than cut to fewer letters."""

TICK_PX = 74
"""A tick has so much room for its number, or more."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a picture is set: its width, the height of a row, and whether intervals are printed beside values."""

    width_px: int
    row_px: int
    with_words: bool


WIDE, NARROW = Layout(960, 18, with_words=True), Layout(358, 19, with_words=False)


def role_of(family: str) -> str:
    """The colour of a family; of one that has none, that of the others."""
    return family if family in FAMILIES else "other-1"


def dot_chart(marks: Sequence[Dot | None], axis: str, layout: Layout) -> str:
    """The marks in their order as one SVG on a log axis; null stands for those left out between its neighbours."""
    shown = [mark for mark in marks if mark is not None]
    cheapest = min(mark.value for mark in shown)
    words = [_value(mark, cheapest, layout) for mark in shown]
    values = [" ".join(parts) for parts in words]
    names = max(_width(mark.name, mark.beside) for mark in shown)
    whole = min(max(_width(mark.name, "") for mark in shown), MOST_NAME_SHARE * layout.width_px)
    left = min(names, max(whole, LABEL_SHARE * layout.width_px)) + 8
    span = layout.width_px - left - max(width_of(value, SMALL_PX) for value in values) - 30
    scale, bottom = Scale.over(shown, left + DOT_PX, span), len(marks) * layout.row_px + PAD_PX
    parts = [_ticks(scale, bottom, axis, left, layout.width_px)]
    written = iter(words)
    for place, mark in enumerate(marks):
        middle = PAD_PX + (place + 0.5) * layout.row_px
        if mark is None:
            parts.append(_gap(left, middle))
        else:
            parts += [_label(mark, left, middle + 4.5), _drawn(mark, next(written), scale, middle)]
    described = "; ".join(
        f"{mark.name} {mark.beside} {value}".replace("  ", " ") for mark, value in zip(shown, values, strict=True)
    )
    return (
        f'<svg class="bars" viewBox="0 0 {layout.width_px} {bottom + 36}" '
        f'width="{layout.width_px}" height="{bottom + 36}" role="img" font-family="{text(FONT)}" '
        f'aria-label="{text(f"{axis}. {described}")}"><title>{text(axis)}</title>{"".join(parts)}</svg>'
    )


@dataclass(frozen=True, slots=True)
class Scale:
    """A log axis: values from `least` to `most` over `span_px` from `left_px` on."""

    least: float
    most: float
    left_px: float
    span_px: float

    @classmethod
    def over(cls, marks: Sequence[Dot], left_px: float, span_px: float) -> Scale:
        """The axis that holds all marks and their intervals."""
        ends = [end for mark in marks for end in (mark.value, *mark.ends) if end and math.isfinite(end)]
        return cls(min(ends) / MARGIN, max(ends) * MARGIN, left_px, span_px)

    def x(self, value: float) -> float:
        """Where a value stands; what lies beyond the axis stands at its end."""
        share = math.log(min(max(value, self.least), self.most) / self.least) / math.log(self.most / self.least)
        return self.left_px + share * self.span_px

    def ticks(self) -> list[float]:
        """Round values on the axis: powers of ten, with 2 and 5 or more of each where there are few."""
        most = max(2, int(self.span_px // TICK_PX))
        first, last = math.floor(math.log10(self.least)), math.ceil(math.log10(self.most))
        for digits in (STEPS, (1, 2, 5), (1, 3), (1,)):
            found = [digit * 10.0**power for power in range(first, last + 1) for digit in digits]
            found = [value for value in found if self.least <= value <= self.most]
            if len(found) <= most:
                return found
        return found[:: math.ceil(len(found) / most)]


def _ticks(scale: Scale, bottom: float, axis: str, left: float, width_px: float) -> str:
    parts = []
    for value in scale.ticks():
        x = scale.x(value)
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{bottom}" stroke="{colour("rule")}"/>'
            f'<text x="{x:.1f}" y="{bottom + 14}" text-anchor="middle" font-size="{SMALL_PX}" '
            f'fill="{colour("muted")}">{value:,.6g}</text>'
        )
    words = f"{axis} (log axis)"
    left = max(0, min(left, width_px - width_of(words, SMALL_PX) - 4))
    title = f'<text x="{left:.1f}" y="{bottom + 30}" font-size="{SMALL_PX}" fill="{colour("ink")}">{text(words)}</text>'
    return f"{''.join(parts)}{title}"


def _gap(left: float, middle: float) -> str:
    return f'<text x="{left:.1f}" y="{middle + 4:.1f}" font-size="{SIZE_PX}" fill="{colour("muted")}">⋮</text>'


def _drawn(mark: Dot, words: Sequence[str], scale: Scale, middle: float) -> str:
    x = scale.x(mark.value)
    fill = "" if mark.is_solid else ' fill-opacity="0.15"'
    parts = []
    reach = x + DOT_PX
    low, high = mark.ends
    if low is not None and high is not None and scale.x(high) - scale.x(low) > 2 * DOT_PX:
        low, high = scale.x(low), scale.x(high)
        reach = max(reach, high)
        parts.append(
            f'<path d="M{low:.1f} {middle:.1f}H{high:.1f}M{low:.1f} {middle - 3.5:.1f}v7M{high:.1f} '
            f'{middle - 3.5:.1f}v7" stroke="{colour("ink")}" stroke-width="1.6" fill="none"/>'
        )
    parts.append(
        f'<circle cx="{x:.1f}" cy="{middle:.1f}" r="{DOT_PX}" fill="{colour(mark.role)}"{fill} '
        f'stroke="{colour(mark.role)}" stroke-width="1.4"/>'
    )
    value, *more = map(text, words)
    value = f'<tspan font-weight="600">{value}</tspan>'
    value += "".join(f'<tspan fill="{colour("muted")}"> {part}</tspan>' for part in more)
    parts.append(
        f'<text x="{reach + 6:.1f}" y="{middle + 4:.1f}" font-size="{SMALL_PX}" fill="{colour("ink")}">{value}</text>'
    )
    return "".join(parts)


def _value(mark: Dot, cheapest: float, layout: Layout) -> list[str]:
    """The value, its interval where the layout prints it, and how many times the cheapest it is."""
    interval_words = [f"({mark.interval_words})"] if layout.with_words and mark.interval_words else []
    return [mark.value_words, *interval_words, *([f"{mark.value / cheapest:.3g}×"] if mark.value > cheapest else [])]


def _width(name: str, aside: str) -> float:
    return CAPITALS * width_of(name) + (width_of(f" {aside}", SMALL_PX) if aside else 0)


def _label(mark: Dot, left: float, y: float) -> str:
    """The name, whole where there is room; what stands beside it is cut first."""
    room = left - 8
    aside, name = mark.beside, mark.name
    while aside and _width(name, aside) > room + 1:
        aside = f"{aside.removesuffix('…')[:-1]}…" if len(aside) > LEAST_BESIDE else ""
    while _width(name, "") > room + 1:
        name = f"{name.removesuffix('…')[:-1]}…"
    small = f'<tspan font-size="{SMALL_PX}" fill="{colour("muted")}"> {text(aside)}</tspan>' if aside else ""
    return (
        f'<text x="{room:.1f}" y="{y:.1f}" text-anchor="end" font-size="{SIZE_PX}" fill="{colour("ink")}">'
        f"{text(name)}{small}</text>"
    )
