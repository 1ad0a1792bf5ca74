"""The figure beside the answer: what each cipher of the study's main question costs, as sorted bars."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from wattlock.report.drawings import CAPITALS, width_of
from wattlock.report.evidence import EvidenceMix, one_evidence
from wattlock.report.formats import cipher_name, estimate, interval
from wattlock.report.html import FAMILIES, FONT, chip, colour, text, unbroken
from wattlock.report.run_answer import answered_group, answered_rows, doing

MOST, MOST_ON_A_PHONE = 12, 8
"""Bars that fit the first screen."""

ANSWER = "answer"
"""What the figure's files are called."""

UNITS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: its name and what stands beside it in small type, its value with its interval, both in words too.

    `low` and `high` are null where the value has no interval; a bar that is not solid is drawn hollow.
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


@dataclass(frozen=True, slots=True)
class MainFigure:
    """What is drawn: a title, the axis with its unit, what the numbers rest on, the bars from the cheapest on.

    `of` says what was chosen of which: empty where all are shown; `named_lines`: what the lines through the bars are,
    where they are not those of a run that measured.
    """

    title: str
    axis: str
    evidence: str
    rows: tuple[Bar, ...]
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
    total, cases_words = costs.height, ""
    if total > MOST and costs["cipher"].n_unique() > 1:
        costs = costs.unique("cipher", keep="first", maintain_order=True)
        if costs.height < total:
            cases_words = f"Each of {costs.height} ciphers by the cheapest of its implementations."
    several = costs["provider"].n_unique() > 1
    rows = tuple(_bar(row, several, costs) for row in costs.iter_rows(named=True))
    return MainFigure(f"{quantity} of {doing(group)}", axis, evidence, rows, cases_words)


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


def _bar(row: dict[str, Any], several: bool, costs: pl.DataFrame) -> Bar:
    value, low, high = row["value"], row["low"], row["high"]
    alike = costs.filter(pl.col("cipher") == row["cipher"], pl.col("provider") == row["provider"]).height
    provider = [str(row["provider"])] if several else []
    provider += [str(row["path"])] if alike > 1 and row["path"] else []
    return Bar(
        cipher_name(row["cipher"], row["mode"]),
        ", ".join(provider),
        value,
        low,
        high,
        estimate(value, low, high),
        interval(value, low, high) if low is not None else "",
        role_of(row["family"]),
        row["state"] == "resolved",
    )


def chosen(rows: tuple[Bar, ...], most: int) -> list[Bar | None]:
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
    for kind, layout, most in (("wide", WIDE, MOST), ("narrow", NARROW, MOST_ON_A_PHONE)):
        total = len(figure.rows)
        cut = "" if total <= most + 1 else f"Shown are {most} of {total}."
        note = " ".join(part for part in (figure.lines, figure.of, cut) if part)
        drawn += (
            f'<div class="{kind}">{bar_chart(chosen(figure.rows, most), figure.axis, layout)}'
            f'<p class="quiet">{unbroken(note)}</p></div>'
        )
    return (
        f'<figure data-name="{name}" class="main-figure">'
        f"<figcaption><strong>{text(figure.title)} {chip(figure.evidence)}</strong></figcaption>{drawn}</figure>"
    )


SIZE_PX, SMALL_PX, BAR_PX, PAD_PX = 13, 11.5, 15, 6


LABEL_SHARE, MOST_NAME_SHARE = 0.36, 0.46
"""Of the width that labels may take; and names alone, so that two of a family are told apart on a phone."""

LEAST_BESIDE = 4
"""What stands beside a name is left out rather than cut to fewer letters."""

MOST_TICKS = 4


@dataclass(frozen=True, slots=True)
class Layout:
    """How a picture of bars is set: its width, the height of a row, and whether intervals are printed beside values."""

    width_px: int
    row_px: int
    with_words: bool


WIDE, NARROW = Layout(600, 24, with_words=True), Layout(358, 22, with_words=False)


def role_of(family: str) -> str:
    """The colour of a family; of one that has none, that of the others."""
    return family if family in FAMILIES else "other-1"


def bar_chart(bars: Sequence[Bar | None], axis: str, layout: Layout) -> str:
    """The bars in their order as one SVG; null stands for those left out between its neighbours."""
    shown = [bar for bar in bars if bar is not None]
    values = [" ".join(_value(bar, layout)) for bar in shown]
    names = max(_width(bar.name, bar.beside) for bar in shown)
    whole = min(max(_width(bar.name, "") for bar in shown), MOST_NAME_SHARE * layout.width_px)
    left = min(names, max(whole, LABEL_SHARE * layout.width_px)) + 8
    span = layout.width_px - left - max(width_of(value, SMALL_PX) for value in values) - 14
    ends = [end for bar in shown for end in (bar.value, bar.high) if end is not None and math.isfinite(end)]
    scale, bottom = span / max(ends), len(bars) * layout.row_px + PAD_PX
    parts = [_ticks(max(ends), left, scale, bottom, axis)]
    for place, bar in enumerate(bars):
        y = PAD_PX + place * layout.row_px
        parts.append(_gap(left, y, layout) if bar is None else _drawn_bar(bar, left, scale, y, layout))
    described = "; ".join(
        f"{bar.name} {bar.beside} {value}".replace("  ", " ") for bar, value in zip(shown, values, strict=True)
    )
    return (
        f'<svg class="bars" viewBox="0 0 {layout.width_px} {bottom + 36}" '
        f'width="{layout.width_px}" height="{bottom + 36}" role="img" font-family="{text(FONT)}" '
        f'aria-label="{text(f"{axis}. {described}")}"><title>{text(axis)}</title>{"".join(parts)}</svg>'
    )


def _ticks(most: float, left: float, scale: float, bottom: float, axis: str) -> str:
    step = 10 ** math.floor(math.log10(most / MOST_TICKS))
    step = next(step * times for times in (1, 2, 5, 10) if most / (step * times) <= MOST_TICKS)
    parts = []
    for place in range(math.floor(most / step) + 1):
        x = left + scale * place * step
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{bottom}" stroke="{colour("rule")}"/>'
            f'<text x="{x:.1f}" y="{bottom + 14}" text-anchor="middle" font-size="{SMALL_PX}" '
            f'fill="{colour("muted")}">{place * step:,.12g}</text>'
        )
    title = f'<text x="{left:.1f}" y="{bottom + 30}" font-size="{SMALL_PX}" fill="{colour("ink")}">{text(axis)}</text>'
    return f"{''.join(parts)}{title}"


def _gap(left: float, y: float, layout: Layout) -> str:
    return (
        f'<text x="{left:.1f}" y="{y + layout.row_px / 2 + 4:.1f}" font-size="{SIZE_PX}" '
        f'fill="{colour("muted")}">⋮</text>'
    )


def _drawn_bar(bar: Bar, left: float, scale: float, y: float, layout: Layout) -> str:
    middle = y + layout.row_px / 2
    end = left + scale * bar.value
    fill = f'fill="{colour(bar.role)}"' + ("" if bar.is_solid else ' fill-opacity="0.15"')
    parts = [
        _label(bar, left, middle + 4.5),
        f'<rect x="{left:.1f}" y="{middle - BAR_PX / 2:.1f}" width="{max(end - left, 1):.1f}" height="{BAR_PX}" '
        f'{fill} stroke="{colour(bar.role)}"/>',
    ]
    reach = end
    if bar.low is not None and bar.high is not None:
        low, reach = left + scale * bar.low, max(end, left + scale * bar.high)
        # A line of paper on either side keeps the interval apart from its bar.
        for stroke, width in (("paper", 3.6), ("ink", 1.6)):
            parts.append(
                f'<path d="M{low:.1f} {middle:.1f}H{reach:.1f}M{low:.1f} {middle - 3.5:.1f}v7M{reach:.1f} '
                f'{middle - 3.5:.1f}v7" stroke="{colour(stroke)}" stroke-width="{width}" fill="none"/>'
            )
    value, *words = (text(part) for part in _value(bar, layout))
    value = f'<tspan font-weight="600">{value}</tspan>'
    value += "".join(f'<tspan fill="{colour("muted")}"> {part}</tspan>' for part in words)
    parts.append(
        f'<text x="{reach + 7:.1f}" y="{middle + 4:.1f}" font-size="{SMALL_PX}" fill="{colour("ink")}">{value}</text>'
    )
    return "".join(parts)


def _value(bar: Bar, layout: Layout) -> list[str]:
    """The value, and its interval where the layout prints it."""
    return [bar.value_words, *([f"({bar.interval_words})"] if layout.with_words and bar.interval_words else [])]


def _width(name: str, aside: str) -> float:
    return CAPITALS * width_of(name) + (width_of(f" {aside}", SMALL_PX) if aside else 0)


def _label(bar: Bar, left: float, y: float) -> str:
    """The name, whole where there is room; what stands beside it is cut first."""
    room = left - 8
    aside, name = bar.beside, bar.name
    while aside and _width(name, aside) > room + 1:
        aside = f"{aside.removesuffix('…')[:-1]}…" if len(aside) > LEAST_BESIDE else ""
    while _width(name, "") > room + 1:
        name = f"{name.removesuffix('…')[:-1]}…"
    small = f'<tspan font-size="{SMALL_PX}" fill="{colour("muted")}"> {text(aside)}</tspan>' if aside else ""
    return (
        f'<text x="{room:.1f}" y="{y:.1f}" text-anchor="end" font-size="{SIZE_PX}" fill="{colour("ink")}">'
        f"{text(name)}{small}</text>"
    )
