"""Sorted bars from zero with their intervals, as SVG made here: seen at once, without a script."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from wattlock.report.drawing import width_of
from wattlock.report.look import FAMILIES, FONT, colour
from wattlock.report.markup import text

SIZE_PX, SMALL_PX, BAR_PX, PAD_PX = 13, 11.5, 15, 6
CAPITALS = 1.14
"""Names of ciphers are mostly capitals and digits, which are wider than letters of prose."""

LABEL_SHARE, MOST_NAME_SHARE = 0.36, 0.46
"""Of the width that labels may take; and names alone, so that two of a family are told apart on a phone."""
LEAST_BESIDE = 4
"""What stands beside a name is left out rather than cut to fewer letters."""
MOST_TICKS = 4


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
class Layout:
    """How a picture of bars is set: its width, the height of a row, and whether intervals are printed beside values."""

    width_px: int
    row_px: int
    with_words: bool


WIDE, NARROW = Layout(600, 24, with_words=True), Layout(358, 22, with_words=False)


def role_of(family: str) -> str:
    """The colour of a family; of one that has none, that of the others."""
    return family if family in FAMILIES else "other-1"


def picture(bars: Sequence[Bar | None], axis: str, layout: Layout) -> str:
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
        parts.append(_gap(left, y, layout) if bar is None else _bar(bar, left, scale, y, layout))
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


def _bar(bar: Bar, left: float, scale: float, y: float, layout: Layout) -> str:
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


def _width(name: str, beside: str) -> float:
    return CAPITALS * width_of(name) + (width_of(f" {beside}", SMALL_PX) if beside else 0)


def _label(bar: Bar, left: float, y: float) -> str:
    """The name, whole where there is room; what stands beside it is cut first."""
    room = left - 8
    beside, name = bar.beside, bar.name
    while beside and _width(name, beside) > room + 1:
        beside = f"{beside.removesuffix('…')[:-1]}…" if len(beside) > LEAST_BESIDE else ""
    while _width(name, "") > room + 1:
        name = f"{name.removesuffix('…')[:-1]}…"
    small = f'<tspan font-size="{SMALL_PX}" fill="{colour("muted")}"> {text(beside)}</tspan>' if beside else ""
    return (
        f'<text x="{room:.1f}" y="{y:.1f}" text-anchor="end" font-size="{SIZE_PX}" fill="{colour("ink")}">'
        f"{text(name)}{small}</text>"
    )
