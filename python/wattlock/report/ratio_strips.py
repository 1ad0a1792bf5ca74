"""Ratios on one logarithmic axis as SVG made here: a mark a case, whose shape, colour and word are its verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from wattlock.report.bars import CAPITALS
from wattlock.report.drawing import width_of
from wattlock.report.formats import number
from wattlock.report.look import FONT, colour
from wattlock.report.markup import text
from wattlock.report.strips import Axis
from wattlock.report.strips import Row as AxisRow
from wattlock.report.strips import axis_of as strip_axis

SIZE_PX, ROW_PX, FOOT_PX, PAD_PX, MARK_PX = 10.5, 15, 30, 6, 4.0
LABEL_SHARE = 0.42
"""Of the width that labels may take."""
NEAR = 0.1
"""A ratio that is nearer to 1 has three decimals."""

GREATER, SMALLER, EQUIVALENT, UNDECIDED = "▶", "◀", "◆", "○"


class Look(NamedTuple):
    """How a verdict looks: its shape, and the role of its colour."""

    shape: str
    role: str


LOOKS: Mapping[str, Look] = MappingProxyType(
    {
        "slower": Look(GREATER, "loud"),
        "more": Look(GREATER, "loud"),
        "faster": Look(SMALLER, "link"),
        "less": Look(SMALLER, "link"),
        "equivalent": Look(EQUIVALENT, "measured"),
        "undecided": Look(UNDECIDED, "muted"),
    }
)


class Mark(NamedTuple):
    """A case's ratio with its 95 % interval, and what is said of it."""

    ratio: float
    low: float
    high: float
    verdict: str


@dataclass(frozen=True)
class RatioRow:
    """A row: its label, its marks, the words at its end. One mark has its interval; several have the range they span.

    A row without marks and words heads those below it.
    """

    label: str
    marks: Sequence[Mark] = ()
    words: str = ""

    @property
    def is_head(self) -> bool:
        """Whether it only names what stands below."""
        return not self.marks and not self.words


def axis_of(marks: Sequence[Mark]) -> Axis:
    """The axis that holds all marks with their intervals, and 1."""
    return strip_axis([AxisRow("", mark.ratio, mark.low, mark.high) for mark in marks], log=True, line=1.0)


def picture(rows: Sequence[RatioRow], axis: Axis, title: str, width_px: int = 360) -> str:
    """The rows on an axis with a line at 1."""
    labels = max(_width(row.label) for row in rows if not row.is_head)
    left = min(labels, LABEL_SHARE * width_px) + 10
    span = width_px - left - max(_width(row.words) for row in rows) - 12
    bottom = ROW_PX * len(rows) + PAD_PX
    parts = [_axis(axis, title, left, span, bottom)]
    for place, row in enumerate(rows):
        parts.append(_row(row, axis, (left, span, width_px), ROW_PX * (place + 0.5) + PAD_PX / 2))
    height = bottom + FOOT_PX
    said = text(described(rows, title))
    return (
        f'<svg class="ratios bars" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width_px} {height:g}" role="img" '
        f'aria-label="{said}" font-family="{text(FONT)}" font-size="{SIZE_PX}">{"".join(parts)}</svg>'
    )


def described(rows: Sequence[RatioRow], title: str) -> str:
    """The picture in words."""
    parts, head = [], ""
    for row in rows:
        if row.is_head:
            head = f"{row.label}, "
        else:
            parts.append(f"{head}{row.label}: {row.words}")
    return f"{title}. {'; '.join(parts)}"


def _axis(axis: Axis, title: str, left: float, span: float, bottom: float) -> str:
    parts = []
    for tick in axis.ticks:
        at = left + span * axis.place(tick)
        parts.append(
            f'<line x1="{at:.1f}" x2="{at:.1f}" y1="0" y2="{bottom}" stroke="{colour("rule")}"/>'
            f'<text x="{at:.1f}" y="{bottom + 12}" text-anchor="middle" fill="{colour("muted")}">{tick:,.6g}</text>'
        )
    even = left + span * axis.place(1.0)
    line = f'<line x1="{even:.1f}" x2="{even:.1f}" y1="0" y2="{bottom}" stroke="{colour("ink")}" stroke-width="1.2"/>'
    # A title that is longer than the axis reaches to the left, where nothing stands below the labels.
    words = (
        f'<text x="{left + span:.1f}" y="{bottom + 26}" text-anchor="end" fill="{colour("ink")}">'
        f"{text(title)}{', log scale' if axis.log else ''}</text>"
    )
    return f"{''.join(parts)}{line}{words}"


def _row(row: RatioRow, axis: Axis, places: tuple[float, float, float], y: float) -> str:
    left, span, width = places
    foot = y + 3.7
    if row.is_head:
        return f'<text x="0" y="{foot:.1f}" font-weight="600" fill="{colour("ink")}">{text(row.label)}</text>'
    label = _cut(row.label, left - 8)
    parts = [f'<text x="{left - 6:.1f}" y="{foot:.1f}" text-anchor="end" fill="{colour("ink")}">{text(label)}</text>']
    if row.marks:
        low, high = min(mark.low for mark in row.marks), max(mark.high for mark in row.marks)
        if len(row.marks) > 1:
            low, high = (edge(mark.ratio for mark in row.marks) for edge in (min, max))
        role = LOOKS[row.marks[0].verdict].role if len(row.marks) == 1 else "muted"
        ends = [left + span * axis.place(end) for end in (low, high)]
        parts.append(
            f'<line x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour(role)}" '
            f'stroke-width="{1.6 if len(row.marks) == 1 else 1}"/>'
        )
    parts += [_mark(mark.verdict, left + span * axis.place(mark.ratio), y) for mark in _decided_last(row.marks)]
    role = LOOKS[row.marks[0].verdict].role if len(row.marks) == 1 else "ink" if row.marks else "muted"
    parts.append(
        f'<text x="{width:.1f}" y="{foot:.1f}" text-anchor="end" fill="{colour(role)}">{text(row.words)}</text>'
    )
    return "".join(parts)


def _decided_last(marks: Sequence[Mark]) -> list[Mark]:
    """What differs is drawn over what doesn't."""
    return sorted(marks, key=lambda mark: LOOKS[mark.verdict].shape in (GREATER, SMALLER))


def _mark(verdict: str, x: float, y: float) -> str:
    look, d = LOOKS[verdict], MARK_PX
    fill = f'fill="{colour(look.role)}" stroke="{colour("paper")}" stroke-width="0.6"'
    if look.shape == GREATER:
        return f'<path d="M{x - d:.1f} {y - d:.1f}L{x + d:.1f} {y:.1f}L{x - d:.1f} {y + d:.1f}Z" {fill}/>'
    if look.shape == SMALLER:
        return f'<path d="M{x + d:.1f} {y - d:.1f}L{x - d:.1f} {y:.1f}L{x + d:.1f} {y + d:.1f}Z" {fill}/>'
    if look.shape == EQUIVALENT:
        return f'<path d="M{x - d:.1f} {y:.1f}L{x:.1f} {y - d:.1f}L{x + d:.1f} {y:.1f}L{x:.1f} {y + d:.1f}Z" {fill}/>'
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{d - 0.8:g}" fill="{colour("paper")}" stroke="{colour(look.role)}" '
        'stroke-width="1.4"/>'
    )


def _cut(label: str, room: float) -> str:
    """The label as far as there is room for it; whole it stands in the table."""
    if _width(label) <= room + 2:
        return label
    while label and _width(f"{label}…") > room:
        label = label[:-1]
    return f"{label.rstrip(' ,')}…"


def ratio_words(ratio: float) -> str:
    """A ratio with the digits that tell it from 1: 1.034, 0.998, 28.4."""
    return f"{ratio:.3f}" if abs(math.log(ratio)) < NEAR else number(ratio)


def _width(label: str) -> float:
    return CAPITALS * width_of(label, SIZE_PX)
