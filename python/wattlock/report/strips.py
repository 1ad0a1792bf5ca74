"""Figures with their intervals on one small axis, as SVG made here: what is drawn beside a claim and on a headline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from wattlock.report.formats import minus, number
from wattlock.report.markup import text

ROW_PX, AXIS_PX, PAD_PX = 15, 27, 8
DOT_PX, DIAMOND_PX = 3.6, 4.2
LABELS_PX, LETTER_PX = 110, 5.3
STEPS = (1, 2, 5)
MOST_TICKS = 5
ROOM = 0.06
"""Of the axis on either side of what is drawn."""
OPEN = 0.18
"""The same where what counts as the claim has no end there."""


class Row(NamedTuple):
    """A figure with its interval; the bounds that count as the claim, open where None; the claimed figure."""

    label: str
    value: float
    low: float
    high: float
    bounds: tuple[float | None, float | None] | None = None
    claimed: float | None = None


class Axis(NamedTuple):
    """An axis: its ends, whether it is logarithmic, and its ticks."""

    low: float
    high: float
    log: bool
    ticks: tuple[float, ...]

    def place(self, value: float) -> float:
        """Where a value stands from 0 to 1; what lies beyond an end stands at it."""
        low, high, at = (math.log(one) if self.log else one for one in (self.low, self.high, max(value, self.low)))
        return min(1.0, max(0.0, (at - low) / (high - low)))


def axis_of(rows: Sequence[Row], *, log: bool, line: float | None = None) -> Axis:
    """The axis that holds the rows: intervals, claimed figures and the line where nothing differs.

    A bound that lies far off is cut, so that it does not press the figures together.
    """
    values = [one for row in rows for one in (row.value, row.low, row.high, row.claimed) if one is not None]
    values = [one for one in [*values, line] if one is not None and math.isfinite(one)]
    log = log and min(values) > 0
    ends = [math.log(one) if log else one for one in (min(values), max(values))]
    width = ends[1] - ends[0] or (0.7 if log else abs(ends[0]) or 1.0)
    near = [math.log(one) if log else one for row in rows for one in _ends(row) if one > 0 or not log]
    near = [one for one in near if ends[0] - 0.3 * width <= one <= ends[1] + 0.3 * width]
    low, high = min([ends[0], *near]), max([ends[1], *near])
    width = (high - low) or width
    open_low, open_high = (any(row.bounds and row.bounds[side] is None for row in rows) for side in (0, 1))
    low, high = low - width * (OPEN if open_low else ROOM), high + width * (OPEN if open_high else ROOM)
    if log:
        low, high = math.exp(low), math.exp(high)
    return Axis(low, high, log, _ticks(low, high, log=log))


def _ends(row: Row) -> list[float]:
    return [one for one in row.bounds or () if one is not None]


def _ticks(low: float, high: float, *, log: bool) -> tuple[float, ...]:
    """Round numbers between the ends: of a narrow logarithmic axis as of a linear one."""
    if log and high / low > 4:
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for steps in (STEPS, (1, 3), (1,)):
            found = [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
            if len(found) <= MOST_TICKS:
                return tuple(found)
        return tuple(found[:: math.ceil(len(found) / MOST_TICKS)])
    rough = (high - low) / (MOST_TICKS - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(one * power for one in (*STEPS, 10) if one * power >= rough)
    first = math.ceil(low / step)
    return tuple(round(place * step, 12) for place in range(first, math.floor(high / step) + 1))


def picture(rows: Sequence[Row], axis: Axis, title: str, *, line: float | None = None, width_px: int = 360) -> str:
    """Rows on one axis, each with its label; the axis says where it is logarithmic."""
    longest = max(len(row.label) for row in rows)
    left = max(LABELS_PX, 10 + LETTER_PX * longest) if longest else PAD_PX
    span = width_px - left - PAD_PX
    bottom = ROW_PX * len(rows) + 4
    height = bottom + AXIS_PX
    parts = [_axis(axis, title, left, span, bottom)]
    parts += [_row(row, axis, left, span, ROW_PX * place + ROW_PX / 2 + 2) for place, row in enumerate(rows)]
    if line is not None:
        at = left + span * axis.place(line)
        parts.insert(1, f'<line class="even" x1="{at:.1f}" x2="{at:.1f}" y1="0" y2="{bottom}"/>')
    return (
        f'<svg class="strip" viewBox="0 0 {width_px} {height}" role="img" aria-label="{text(described(rows, title))}">'
        f"<title>{text(described(rows, title))}</title>{''.join(parts)}</svg>"
    )


def described(rows: Sequence[Row], title: str) -> str:
    """The picture in words."""
    parts = []
    for row in rows:
        name = f"{row.label}: " if row.label else ""
        ends = " to ".join(number(one) if math.isfinite(one) else "no end" for one in (row.low, row.high))
        interval = f" ({ends})" if row.low != row.high else ""
        claimed = f", claimed {number(row.claimed)}" if row.claimed is not None else ""
        parts.append(f"{name}{number(row.value)}{interval}{claimed}")
    return minus(f"{title}. {'; '.join(parts)}")


def _axis(axis: Axis, title: str, left: float, span: float, bottom: float) -> str:
    ticks = ""
    for tick in axis.ticks:
        at = left + span * axis.place(tick)
        ticks += (
            f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="0" y2="{bottom}"/>'
            f'<text class="tick" x="{at:.1f}" y="{bottom + 11}">{text(_tick(tick))}</text>'
        )
    words = f"{title}{', log scale' if axis.log else ''}"
    return f'{ticks}<text class="title" x="{left + span:.1f}" y="{bottom + 23}">{text(words)}</text>'


def _tick(value: float) -> str:
    return minus(f"{value:,.12g}")


def _row(row: Row, axis: Axis, left: float, span: float, y: float) -> str:
    def at(value: float) -> float:
        return left + span * axis.place(value)

    parts = []
    if row.bounds is not None:
        low, high = row.bounds
        start, end = at(axis.low if low is None else low), at(axis.high if high is None else high)
        parts.append(
            f'<rect class="counts" x="{start:.1f}" y="{y - 5:.1f}" width="{max(end - start, 2):.1f}" height="10"/>'
        )
    if row.label:
        parts.append(f'<text class="label" x="0" y="{y + 3.5:.1f}">{text(row.label)}</text>')
    parts.append(f'<line class="interval" x1="{at(row.low):.1f}" x2="{at(row.high):.1f}" y1="{y}" y2="{y}"/>')
    parts.append(f'<circle class="found" cx="{at(row.value):.1f}" cy="{y}" r="{DOT_PX}"/>')
    if row.claimed is not None:
        x, d = at(row.claimed), DIAMOND_PX
        parts.append(f'<path class="claimed" d="M{x - d:.1f} {y}L{x:.1f} {y - d}L{x + d:.1f} {y}L{x:.1f} {y + d}Z"/>')
    return "".join(parts)
