"""A cost through a series of runs as SVG made here: a dot a run with its interval, and bands where it changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from wattlock.analysis.change import Change
from wattlock.report.drawings import Axis, StripRow, axis_of, ratio_words, width_of
from wattlock.report.formats import number
from wattlock.report.html import FONT, colour, text

SIZE_PX, PAD_PX, FOOT_PX, TITLE_PX = 11, 10, 34, 20
HEIGHT_PX = 150
DOT_PX, INTERVAL_PX = 3.0, 1.3


class Point(NamedTuple):
    """A run: its cost with the 95 % interval, and what it is called on the axis."""

    label: str
    cost: float
    low: float
    high: float


def picture(points: Sequence[Point], changed: Sequence[Change], title: str, width_px: int = 720) -> str:
    """Runs from left to right in their order, at even steps; `title` says what is drawn, and its unit."""
    axis = axis_of([StripRow("", point.cost, point.low, point.high) for point in points], log=False)
    left = max(width_of(f"{tick:,.6g}", SIZE_PX) for tick in axis.ticks) + PAD_PX
    span = width_px - left - PAD_PX
    frame = _Frame(axis, left, span, len(points))
    height = TITLE_PX + HEIGHT_PX + FOOT_PX
    parts = [
        *_ground(frame, title),
        *(_band(frame, change) for change in changed),
        *_levels(frame, points, changed),
        *(_dot(frame, at, point) for at, point in enumerate(points)),
        *_names(frame, points, changed),
    ]
    described_text = text(described(points, changed, title))
    return (
        f'<svg class="bars" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width_px} {height}" role="img" '
        f'aria-label="{described_text}" font-family="{text(FONT)}" font-size="{SIZE_PX}" fill="{colour("ink")}">'
        f"{''.join(parts)}</svg>"
    )


def described(points: Sequence[Point], changed: Sequence[Change], title: str) -> str:
    """The picture in words."""
    ends = (
        f"{title}. {len(points)} runs, {number(points[0].cost)} in the first and {number(points[-1].cost)} in the last"
    )
    spoken = [f"from {points[change.place].label} on {ratio_words(change.ratio)} times as much" for change in changed]
    return f"{ends}. {'; '.join(spoken).capitalize() or 'No change was found'}"


class _Frame(NamedTuple):
    axis: Axis
    left: float
    span: float
    runs: int

    def x(self, at: float) -> float:
        return self.left + self.span * (at + 0.5) / self.runs

    def y(self, cost: float) -> float:
        return TITLE_PX + HEIGHT_PX * (1 - self.axis.place(cost))


def _ground(frame: _Frame, title: str) -> Iterator[str]:
    yield f'<text x="0" y="12" font-weight="600">{text(title)}</text>'
    for tick in frame.axis.ticks:
        y = frame.y(tick)
        yield (
            f'<line x1="{frame.left:.1f}" x2="{frame.left + frame.span:.1f}" y1="{y:.1f}" y2="{y:.1f}" '
            f'stroke="{colour("rule")}"/><text x="{frame.left - 5:.1f}" y="{y + 3.8:.1f}" text-anchor="end" '
            f'fill="{colour("muted")}">{tick:,.6g}</text>'
        )


def _band(frame: _Frame, change: Change) -> str:
    """Where the change may lie: from the run before its first place to its last place."""
    first, last = frame.x(change.first - 1), frame.x(change.last)
    return (
        f'<rect x="{first:.1f}" y="{TITLE_PX}" width="{last - first:.1f}" height="{HEIGHT_PX}" '
        f'fill="{colour("panel")}" stroke="{colour("muted")}" stroke-dasharray="3 3"/>'
    )


def _levels(frame: _Frame, points: Sequence[Point], changed: Sequence[Change]) -> Iterator[str]:
    """The mean of the runs between two changes."""
    ends = [0, *(change.place for change in changed), len(points)]
    for first, end in pairwise(ends):
        mean = sum(point.cost for point in points[first:end]) / (end - first)
        yield (
            f'<line x1="{frame.x(first - 0.5):.1f}" x2="{frame.x(end - 0.5):.1f}" y1="{frame.y(mean):.1f}" '
            f'y2="{frame.y(mean):.1f}" stroke="{colour("muted")}" stroke-width="1.4"/>'
        )


def _dot(frame: _Frame, at: int, point: Point) -> str:
    x = frame.x(at)
    return (
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{frame.y(point.low):.1f}" y2="{frame.y(point.high):.1f}" '
        f'stroke="{colour("link")}" stroke-width="{INTERVAL_PX}"/>'
        f'<circle cx="{x:.1f}" cy="{frame.y(point.cost):.1f}" r="{DOT_PX}" fill="{colour("link")}"/>'
    )


def _names(frame: _Frame, points: Sequence[Point], changed: Sequence[Change]) -> Iterator[str]:
    """The first and the last run, and the first after each change where there is room."""
    foot = TITLE_PX + HEIGHT_PX + 14
    taken: list[tuple[float, float]] = []
    for at in dict.fromkeys([0, len(points) - 1, *(change.place for change in changed)]):
        label = points[at].label
        half = width_of(label, SIZE_PX) / 2
        x = min(max(frame.x(at), half), frame.left + frame.span + PAD_PX - 2 - half)
        if all(x + half < low or x - half > high for low, high in taken):
            taken.append((x - half, x + half))
            yield f'<text x="{x:.1f}" y="{foot}" text-anchor="middle" fill="{colour("muted")}">{text(label)}</text>'
