"""How alike cores order ciphers, as SVG made here: a square a pair of runs, with Kendall's tau and its range in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from wattlock.report.drawing import width_of
from wattlock.report.formats import minus
from wattlock.report.look import FONT, colour
from wattlock.report.markup import text

SIZE_PX, SMALL_PX, ROW_PX, HEAD_PX, GAP_PX = 13, 10, 38, 22, 14
LABEL_SHARE = 0.45
"""Of the width that names may take; where they are longer the letters stand alone."""
STRONGEST = 0.5
"""How opaque the ground of the same order is: the words on it stay readable in light and dark."""


class Cell(NamedTuple):
    """Tau of two runs, null where one core tells no two ciphers apart; its range, null without the rules' errors."""

    value: float | None
    low: float | None
    high: float | None

    @property
    def words(self) -> str:
        """Tau to two decimals."""
        return "–" if self.value is None else minus(f"{self.value:.2f}")

    @property
    def range_words(self) -> str:
        """What no order within the errors lies beyond; empty where that is not known."""
        return "" if self.low is None or self.high is None else minus(f"{self.low:.2f} to {self.high:.2f}")


def picture(names: Sequence[str], cells: Mapping[tuple[int, int], Cell], width_px: int) -> str:
    """The runs from above and from the left, each pair once.

    * `cells`: by the places of two runs, the lesser first.
    """
    letters = [chr(ord("A") + place) for place in range(len(names))]
    labels = [f"{letter} {name}" for letter, name in zip(letters, names, strict=True)]
    if max(map(width_of, labels)) > LABEL_SHARE * width_px:
        labels = letters
    left = max(width_of(label) for label in labels[1:]) + GAP_PX
    room = (width_px - left) / (len(names) - 1)
    parts = [
        f'<text x="{left + room * (place + 0.5):.1f}" y="15" text-anchor="middle">{letter}</text>'
        for place, letter in enumerate(letters[:-1])
    ]
    for row in range(1, len(names)):
        y = HEAD_PX + ROW_PX * (row - 1)
        parts.append(f'<text x="{left - GAP_PX / 2:.1f}" y="{y + 23}" text-anchor="end">{text(labels[row])}</text>')
        parts += [
            _square(cells[column, row], left + room * column, y, room)
            for column in range(row)
            if (column, row) in cells
        ]
    height = HEAD_PX + ROW_PX * (len(names) - 1) + 4
    return (
        f'<svg class="bars" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width_px} {height}" width="{width_px}" '
        f'height="{height}" role="img" aria-label="{text(described(names, cells))}" font-family="{text(FONT)}" '
        f'font-size="{SIZE_PX}" fill="{colour("ink")}">{"".join(parts)}</svg>'
    )


def described(names: Sequence[str], cells: Mapping[tuple[int, int], Cell]) -> str:
    """The picture in words."""
    pairs = (
        f"{names[a]} and {names[b]}: {cell.words}" + (f" ({cell.range_words})" if cell.range_words else "")
        for (a, b), cell in cells.items()
    )
    return f"Kendall’s tau of two cores’ orders. {'; '.join(pairs)}"


def _square(cell: Cell, x: float, y: float, room: float) -> str:
    opacity = STRONGEST * abs(cell.value or 0.0)
    role = "link" if (cell.value or 0.0) >= 0 else "loud"
    middle = x + room / 2
    ranged = cell.range_words if width_of(cell.range_words, SMALL_PX) <= room else ""
    below = (
        f'<text x="{middle:.1f}" y="{y + 30}" text-anchor="middle" font-size="{SMALL_PX}">{text(ranged)}</text>'
        if ranged
        else ""
    )
    return (
        f'<rect x="{x + 1:.1f}" y="{y + 1}" width="{room - 2:.1f}" height="{ROW_PX - 2}" fill="{colour(role)}" '
        f'fill-opacity="{opacity:.2f}" stroke="{colour("rule")}"/>'
        f'<text x="{middle:.1f}" y="{y + (17 if ranged else 23)}" text-anchor="middle" font-weight="600">'
        f"{text(cell.words)}</text>{below}"
    )
