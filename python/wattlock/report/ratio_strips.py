"""Ratios on one logarithmic axis as SVG made here: a mark a case, whose shape, colour and word are its verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
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
MOST_SAID = 24
"""Rows that a picture's words tell one by one."""
INTERVAL_PX, RING_PX = 1.6, 1.4
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
    # What most words and lines have in common stands here once: a page of eight runs has thousands of them.
    return (
        f'<svg class="ratios bars" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width_px} {height:g}" role="img" '
        f'aria-label="{said}" font-family="{text(FONT)}" font-size="{SIZE_PX}" fill="{colour("ink")}" '
        f'text-anchor="end" stroke-width="{INTERVAL_PX}">{"".join(parts)}</svg>'
    )


def described(rows: Sequence[RatioRow], title: str) -> str:
    """The picture in words; of one with many rows what they span, as each stands in the table of all cases."""
    ratios = [mark.ratio for row in rows for mark in row.marks]
    if len(rows) > MOST_SAID and ratios:
        ends = " to ".join(ratio_words(end) for end in (min(ratios), max(ratios)))
        return f"{title}. {len(ratios)} ratios, {ends}; each stands in the table of every case."
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
            f'<line x1="{at:.1f}" x2="{at:.1f}" y1="0" y2="{bottom}" stroke="{colour("rule")}" stroke-width="1"/>'
            f'<text x="{at:.1f}" y="{bottom + 12}" text-anchor="middle" fill="{colour("muted")}">{tick:,.6g}</text>'
        )
    even = left + span * axis.place(1.0)
    line = f'<line x1="{even:.1f}" x2="{even:.1f}" y1="0" y2="{bottom}" stroke="{colour("ink")}" stroke-width="1.2"/>'
    # A title that is longer than the axis reaches to the left, where nothing stands below the labels.
    words = (
        f'<text x="{left + span:.1f}" y="{bottom + 26}" text-anchor="end">'
        f"{text(title)}{', log scale' if axis.log else ''}</text>"
    )
    return f"{''.join(parts)}{line}{words}"


def _row(row: RatioRow, axis: Axis, places: tuple[float, float, float], y: float) -> str:
    left, span, width = places
    foot = y + 3.7
    if row.is_head:
        return f'<text x="0" y="{foot:.1f}" text-anchor="start" font-weight="600">{text(row.label)}</text>'
    parts = [f'<text x="{left - 6:.1f}" y="{foot:.1f}">{text(_cut(row.label, left - 8))}</text>']
    is_single = len(row.marks) == 1
    role, thin = (LOOKS[row.marks[0].verdict].role, "") if is_single else ("muted", ' stroke-width="1"')
    if row.marks:
        low, high = min(mark.low for mark in row.marks), max(mark.high for mark in row.marks)
        if not is_single:
            low, high = (edge(mark.ratio for mark in row.marks) for edge in (min, max))
        ends = [left + span * axis.place(end) for end in (low, high)]
        parts.append(
            f'<line x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{y:g}" y2="{y:g}" stroke="{colour(role)}"{thin}/>'
        )
    parts += _marks([(mark.verdict, left + span * axis.place(mark.ratio)) for mark in row.marks], y)
    words_role = "" if row.marks and not is_single else f' fill="{colour(role)}"'
    parts.append(f'<text x="{width:g}" y="{foot:.1f}"{words_role}>{text(row.words)}</text>')
    return "".join(parts)


def _marks(marks: Sequence[tuple[str, float]], y: float) -> Iterator[str]:
    """The marks of a row, a path for each look: what differs over what doesn't, and each place once."""
    by_look: dict[Look, dict[str, float]] = {}
    for verdict, x in marks:
        by_look.setdefault(LOOKS[verdict], {})[f"{x:.1f}"] = x
    for look in sorted(by_look, key=lambda one: one.shape in (GREATER, SMALLER)):
        d = "".join(_mark(look.shape, x, y) for x in by_look[look].values())
        if look.shape == UNDECIDED:
            drawn = f'fill="{colour("paper")}" stroke="{colour(look.role)}" stroke-width="{RING_PX}"'
        else:
            drawn = f'fill="{colour(look.role)}"'
        yield f'<path d="{d}" {drawn}/>'


def _mark(shape: str, x: float, y: float) -> str:
    """The outline of a mark: a triangle to the right or left, a diamond, or a ring."""
    d = MARK_PX
    if shape == GREATER:
        return f"M{x - d:.1f} {y - d:g}l{2 * d:g} {d:g}l{-2 * d:g} {d:g}Z"
    if shape == SMALLER:
        return f"M{x + d:.1f} {y - d:g}l{-2 * d:g} {d:g}l{2 * d:g} {d:g}Z"
    if shape == EQUIVALENT:
        return f"M{x - d:.1f} {y:g}l{d:g} {-d:g}l{d:g} {d:g}l{-d:g} {d:g}Z"
    r = d - 0.8
    return f"M{x - r:.1f} {y:g}a{r:g} {r:g} 0 1 0 {2 * r:g} 0a{r:g} {r:g} 0 1 0 {-2 * r:g} 0Z"


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
