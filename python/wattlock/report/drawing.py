"""Drawings as SVG: boxes, arrows and words on a sheet as wide as a phone, in the page's colours."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from textwrap import wrap

from wattlock.report.look import FONT, LIGHT, colour
from wattlock.report.markup import text

WIDTH = 360
SIZE, SMALL, LEADING = 13, 11.5, 17
LETTER = 0.56
"""A letter's mean width over its height in a sans-serif, on the wide side."""


def width_of(words: str, size: float = SIZE) -> float:
    """About how wide a text is set."""
    return len(words) * size * LETTER


def lines_of(words: str, room: float, size: float = SIZE) -> list[str]:
    """A text cut into lines that fit a width."""
    return wrap(words, max(4, int(room / (size * LETTER)))) or [""]


@dataclass
class Sheet:
    """A drawing in the making; y grows downwards."""

    title: str
    described: str
    parts: list[str] = field(default_factory=list)
    height: float = 0

    def words(  # noqa: PLR0917 - a place and how to set it
        self, x: float, y: float, label: str, anchor: str = "start", role: str = "ink", size: float = SIZE
    ) -> None:
        """One line of text, its foot at `y`."""
        self._reach(y + 4)
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size:g}" '
            f'fill="{colour(role)}">{text(label)}</text>'
        )

    def box(  # noqa: PLR0917 - two corners and how to draw it
        self, x: float, y: float, width: float, height: float, role: str = "muted", radius: float = 4
    ) -> None:
        """A rectangle with a panel's ground."""
        self._reach(y + height)
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}" '
            f'fill="{colour("panel")}" stroke="{colour(role)}"/>'
        )

    def line(self, points: Sequence[tuple[float, float]], role: str = "muted", *, head: bool = False) -> None:
        """A line through points, with an arrow's head at its end where asked."""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour(role)}" stroke-width="1.4"/>')
        if head:
            self._head(points[-2], points[-1], role)

    def svg(self) -> str:
        """The drawing, with its title and description for those who don't see it."""
        return (
            f'<svg class="drawing" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height + 4:g}" '
            f'role="img" font-family="{text(FONT)}"><title>{text(self.title)}</title>'
            f"<desc>{text(self.described)}</desc>{''.join(self.parts)}</svg>"
        )

    def _head(self, before: tuple[float, float], end: tuple[float, float], role: str) -> None:
        (x0, y0), (x, y) = before, end
        length = max(1e-9, ((x - x0) ** 2 + (y - y0) ** 2) ** 0.5)
        dx, dy = 8 * (x - x0) / length, 8 * (y - y0) / length
        corners = [(x, y), (x - dx - dy / 2, y - dy + dx / 2), (x - dx + dy / 2, y - dy - dx / 2)]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in corners)
        self.parts.append(f'<polygon points="{path}" fill="{colour(role)}"/>')

    def _reach(self, y: float) -> None:
        self.height = max(self.height, y)


def chips(names: Sequence[str], room: float, size: float = SMALL) -> Iterator[tuple[int, float, float, str]]:
    """Names in rows of boxes: the row's number, where the box begins, its width, its name."""
    row, x = 0, 0.0
    for name in names:
        width = width_of(name, size) + 12
        if x and x + width > room:
            row, x = row + 1, 0.0
        yield row, x, width, name
        x += width + 5


def standalone(svg: str) -> str:
    """A drawing as a file of its own, on white: no style sheet is there to give its colours."""
    for role, value in LIGHT.items():
        svg = svg.replace(colour(role), value)
    opened, _, rest = svg.partition(">")
    return f'{opened}><rect width="100%" height="100%" fill="{LIGHT["paper"]}"/>{rest}'
