"""All SVG that is made by hand, in the page's colours.

Boxes and arrows of diagrams, small axes in cells of tables, a row of words and marks a case, a triangle of numbers a
pair of cores: no chart says these. A comparison draws up to some thousand rows, and the lab a series of runs while
somebody waits: an engine that takes a second to load is not started for them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from textwrap import wrap
from types import MappingProxyType
from typing import Any, NamedTuple

from wattlock.analysis.change import Change
from wattlock.report.formats import FAMILY_NAMES, listing, minus, number, size
from wattlock.report.html import FONT, LIGHT, colour, text

WIDTH = 360
SIZE, SMALL, LEADING = 13, 11.5, 17
LETTER = 0.56
"""A letter's mean width over its height in a sans-serif, on the wide side."""
CAPITALS = 1.14
"""Names of ciphers are mostly capitals and digits, which are wider than letters of prose."""


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


Row = Mapping[str, Any]
LANES = (52, WIDTH - 52)
INDENT = 20


def exchange(title: str, parties: Sequence[str], messages: Sequence[Row]) -> str:
    """Frames between two, one below the other, each with its octets.

    * `messages`: `from` (0 or 1), `says`, `octets_B`, and `is_protected` of a frame whose content is encrypted.
    """
    formatted = "; ".join(
        f"{parties[message['from']]}: {message['says']}, {message['octets_B']} octets" for message in messages
    )
    sheet = Sheet(title, f"{len(messages)} messages. {formatted}.")
    end = 46 + 46 * len(messages)
    for x, name in zip(LANES, parties, strict=True):
        sheet.box(x - 50, 2, 100, 26)
        sheet.words(x, 19, name, "middle")
        sheet.line([(x, 28), (x, end)])
    for place, row in enumerate(messages):
        y = 70 + 46 * place
        start, goal = (LANES[row["from"]], LANES[1 - row["from"]])
        role = "link" if row.get("is_protected") else "ink"
        sheet.words(WIDTH / 2, y - 20, row["says"], "middle", size=12)
        sheet.words(WIDTH / 2, y - 6, size(row["octets_B"]), "middle", role="muted", size=SMALL)
        sheet.line([(start, y), (goal, y)], role, head=True)
    sheet.height = max(sheet.height, end)
    return sheet.svg()


def taxonomy(rows: Iterable[Row]) -> str:
    """The catalogue's families by what they are: a heading a class, a box a family.

    * `rows`: of the catalogue: `family`, `mode`, `block_bits`, `public_key_B`, `operations`.
    """
    classes = classified(rows)
    formatted = "; ".join(f"{heading}, {name}: {listing(found)}" for heading, name, found in classes)
    sheet = Sheet("Taxonomy of the ciphers", f"{formatted}.")
    y, last = 2.0, ""
    for heading, name, found in classes:
        if heading != last:
            y += 12 if last else 0
            sheet.words(0, y + 14, heading)
            y, last = y + 22, heading
        top = y
        sheet.words(INDENT, y + 13, name, role="muted", size=12)
        y += 20
        rows_of = list(chips(found, WIDTH - INDENT))
        for row, x, width, label in rows_of:
            sheet.box(INDENT + x, y + 25 * row, width, 21)
            sheet.words(INDENT + x + width / 2, y + 25 * row + 15, label, "middle", size=SMALL)
        y += 25 * (rows_of[-1][0] + 1) + 6
        sheet.line([(6, top - 4), (6, top + 9), (INDENT - 5, top + 9)])
    return sheet.svg()


def classified(rows: Iterable[Row]) -> list[tuple[str, str, list[str]]]:
    """Heading, class and the names of its families, each family once a class, by name."""
    found: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        found.setdefault(_class(row), set()).add(_name(row["family"]))
    return [(heading, name, sorted(found[heading, name], key=str.lower)) for heading, name in sorted(found, key=_place)]


def _name(family: str) -> str:
    """A family without its block: `rijndael192` as Rijndael, `aes-gcm` as AES-GCM, `ccmp128` as CCMP-128."""
    if family in FAMILY_NAMES:
        return FAMILY_NAMES[family]
    stem, digits, rest = re.fullmatch(r"([a-z]+)(\d*)(.*)", family).groups("")  # type: ignore[union-attr]
    if stem in FAMILY_NAMES:
        return FAMILY_NAMES[stem] + rest.upper()
    return stem.upper() + (f"-{digits}" if digits else "") + rest.upper()


HEADINGS = ("Symmetric: one key for both ends", "Asymmetric: a public key", "No security: what copying costs")
BASELINES = ("xor", "null")
EXCHANGES = {
    "agree": "key agreement",
    "encapsulate": "key encapsulation",
    "encrypt": "encryption of a short message",
    "sign": "signatures",
}


KINDS = {
    "aead": "authenticated encryption",
    "frame": "protection of 802.11 frames",
    "link": "protection of a link's records",
    "stream": "streams, without a mode",
}


def _class(row: Row) -> tuple[str, str]:
    if row["family"] in BASELINES:
        return HEADINGS[2], "baselines"
    if row.get("public_key_B"):
        return HEADINGS[1], next(
            name for operation, name in EXCHANGES.items() if operation in (row.get("operations") or [])
        )
    blocks = f"blocks of {row['block_bits']} bits, in a mode of operation"
    return HEADINGS[0], KINDS.get(row["mode"], blocks)


def _place(key: tuple[str, str]) -> tuple[int, int, int, str]:
    heading, name = key
    digits = "".join(letter for letter in name if letter.isdigit()) if name.startswith("blocks") else ""
    order = ("streams", "blocks", "auth", "protection")
    kind = next((place for place, start in enumerate(order) if name.startswith(start)), len(order))
    return HEADINGS.index(heading), kind, int(digits or 0), name


MARKS = {"mandatory": "●", "optional": "○", "one of": "◇", "some of": "□"}


def feature_model(features: Sequence[Row]) -> str:
    """Features below each other, indented by depth, with what each kind of them means.

    * `features`: `name`, `kind` (of `MARKS`), `depth`, in the order of a walk through the tree.
    """
    formatted = "; ".join(f"{'> ' * feature['depth']}{feature['name']} ({feature['kind']})" for feature in features)
    sheet = Sheet("Feature model", f"{formatted}.")
    y = 4.0
    rails: dict[int, float] = {}
    for feature in features:
        x = INDENT * feature["depth"]
        lines = lines_of(feature["name"], WIDTH - x - 24)
        height = LEADING * len(lines) + 8
        middle = y + height / 2
        if feature["depth"]:
            left = x - INDENT / 2
            sheet.line([(left, rails[feature["depth"] - 1]), (left, middle), (x, middle)])
        sheet.box(x, y, WIDTH - x - 2, height)
        sheet.words(x + 8, middle + 4.5, MARKS[feature["kind"]])
        for place, line in enumerate(lines):
            sheet.words(x + 24, y + LEADING * (place + 1), line, size=12)
        rails[feature["depth"]] = y + height
        y += height + 7
    kinds = dict.fromkeys(feature["kind"] for feature in features)
    sheet.words(0, y + 10, "   ".join(f"{MARKS[kind]} {kind}" for kind in kinds), role="muted", size=SMALL)
    return sheet.svg()


def loop(title: str, steps: Sequence[str], question: int, back_to: int) -> str:
    """Steps below each other, and the way back from the one that asks.

    * `question`, `back_to`: which step asks, and which one it goes back to.
    """
    formatted = "; ".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    sheet = Sheet(title, f"{formatted}. Step {question + 1} goes back to step {back_to + 1} until it is so.")
    room, y, middles = WIDTH - 70, 2.0, []
    for place, step in enumerate(steps):
        lines = lines_of(step, room - 16)
        height = LEADING * len(lines) + 10
        sheet.box(0, y, room, height, "link" if place == question else "muted", 14 if place == question else 4)
        for row, line in enumerate(lines):
            sheet.words(room / 2, y + LEADING * (row + 1) + 1, line, "middle", size=SIZE - 0.5)
        middles.append(y + height / 2)
        if place < len(steps) - 1:
            sheet.line([(room / 2, y + height), (room / 2, y + height + 18)], head=True)
        y += height + 18
    far = room + 26
    sheet.line(
        [(room, middles[question]), (far, middles[question]), (far, middles[back_to]), (room, middles[back_to])],
        "link",
        head=True,
    )
    sheet.words(far + 5, (middles[question] + middles[back_to]) / 2, "no", role="muted", size=12)
    sheet.words(room / 2 + 8, middles[question] + 27, "yes", role="muted", size=12)
    return sheet.svg()


STRIP_ROW_PX, AXIS_PX, STRIP_PAD_PX = 15, 27, 8
DOT_PX, DIAMOND_PX = 3.6, 4.2
LABELS_PX, LETTER_PX = 110, 5.3
STEPS = (1, 2, 5)
MOST_TICKS = 5
ROOM = 0.06
"""Of the axis on either side of what is drawn."""
OPEN = 0.18
"""The same where what counts as the claim has no end there."""


class StripRow(NamedTuple):
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


def axis_of(rows: Sequence[StripRow], *, log: bool, line: float | None = None) -> Axis:
    """The axis that holds the rows: intervals, claimed figures and the line where nothing differs.

    A bound that lies far off is cut, so that it does not press the figures together.
    """
    values = [value for row in rows for value in (row.value, row.low, row.high, row.claimed) if value is not None]
    values = [value for value in [*values, line] if value is not None and math.isfinite(value)]
    log = log and min(values) > 0
    ends = [math.log(value) if log else value for value in (min(values), max(values))]
    width = ends[1] - ends[0] or (0.7 if log else abs(ends[0]) or 1.0)
    near = [math.log(end) if log else end for row in rows for end in _ends(row) if end > 0 or not log]
    near = [value for value in near if ends[0] - 0.3 * width <= value <= ends[1] + 0.3 * width]
    low, high = min([ends[0], *near]), max([ends[1], *near])
    width = (high - low) or width
    open_low, open_high = (any(row.bounds and row.bounds[side] is None for row in rows) for side in (0, 1))
    low, high = low - width * (OPEN if open_low else ROOM), high + width * (OPEN if open_high else ROOM)
    if log:
        low, high = math.exp(low), math.exp(high)
    return Axis(low, high, log, _ticks(low, high, log=log))


def _ends(row: StripRow) -> list[float]:
    return [value for value in row.bounds or () if value is not None]


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
    step = next(step_size * power for step_size in (*STEPS, 10) if step_size * power >= rough)
    first = math.ceil(low / step)
    return tuple(round(place * step, 12) for place in range(first, math.floor(high / step) + 1))


def strip(rows: Sequence[StripRow], axis: Axis, title: str, *, line: float | None = None, width_px: int = 360) -> str:
    """Rows on one axis, each with its label; the axis says where it is logarithmic."""
    longest = max(len(row.label) for row in rows)
    left = max(LABELS_PX, 10 + LETTER_PX * longest) if longest else STRIP_PAD_PX
    span = width_px - left - STRIP_PAD_PX
    bottom = STRIP_ROW_PX * len(rows) + 4
    height = bottom + AXIS_PX
    parts = [_strip_axis(axis, title, left, span, bottom)]
    parts += [
        _strip_row(row, axis, left, span, STRIP_ROW_PX * place + STRIP_ROW_PX / 2 + 2) for place, row in enumerate(rows)
    ]
    if line is not None:
        at = left + span * axis.place(line)
        parts.insert(1, f'<line class="even" x1="{at:.1f}" x2="{at:.1f}" y1="0" y2="{bottom}"/>')
    words = text(strip_described(rows, title))
    return (
        f'<svg class="strip" viewBox="0 0 {width_px} {height}" role="img" aria-label="{words}">'
        f"<title>{words}</title>{''.join(parts)}</svg>"
    )


def strip_described(rows: Sequence[StripRow], title: str) -> str:
    """The picture in words."""
    parts = []
    for row in rows:
        name = f"{row.label}: " if row.label else ""
        ends = " to ".join(number(value) if math.isfinite(value) else "no end" for value in (row.low, row.high))
        interval = f" ({ends})" if row.low != row.high else ""
        claimed = f", claimed {number(row.claimed)}" if row.claimed is not None else ""
        parts.append(f"{name}{number(row.value)}{interval}{claimed}")
    return minus(f"{title}. {'; '.join(parts)}")


def _strip_axis(axis: Axis, title: str, left: float, span: float, bottom: float) -> str:
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


def _strip_row(row: StripRow, axis: Axis, left: float, span: float, y: float) -> str:
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


RATIO_SIZE_PX, RATIO_ROW_PX, RATIO_FOOT_PX, RATIO_PAD_PX, MARK_PX = 10.5, 15, 30, 6, 4.0
RATIO_LABEL_SHARE = 0.42
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


def ratio_axis(marks: Sequence[Mark]) -> Axis:
    """The axis that holds all marks with their intervals, and 1."""
    return axis_of([StripRow("", mark.ratio, mark.low, mark.high) for mark in marks], log=True, line=1.0)


def ratio_rows(rows: Sequence[RatioRow], axis: Axis, title: str, width_px: int = 360) -> str:
    """The rows on an axis with a line at 1."""
    labels = max(_ratio_width(row.label) for row in rows if not row.is_head)
    left = min(labels, RATIO_LABEL_SHARE * width_px) + 10
    span = width_px - left - max(_ratio_width(row.words) for row in rows) - 12
    bottom = RATIO_ROW_PX * len(rows) + RATIO_PAD_PX
    parts = [_ratio_axis(axis, title, left, span, bottom)]
    for place, row in enumerate(rows):
        parts.append(_ratio_row(row, axis, (left, span, width_px), RATIO_ROW_PX * (place + 0.5) + RATIO_PAD_PX / 2))
    height = bottom + RATIO_FOOT_PX
    described_text = text(ratios_described(rows, title))
    # What most words and lines have in common stands here once: a page of eight runs has thousands of them.
    return (
        f'<svg class="ratios bars" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width_px} {height:g}" role="img" '
        f'aria-label="{described_text}" font-family="{text(FONT)}" font-size="{RATIO_SIZE_PX}" fill="{colour("ink")}" '
        f'text-anchor="end" stroke-width="{INTERVAL_PX}">{"".join(parts)}</svg>'
    )


def ratios_described(rows: Sequence[RatioRow], title: str) -> str:
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


def _ratio_axis(axis: Axis, title: str, left: float, span: float, bottom: float) -> str:
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


def _ratio_row(row: RatioRow, axis: Axis, places: tuple[float, float, float], y: float) -> str:
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
    for look in sorted(by_look, key=lambda look: look.shape in (GREATER, SMALLER)):
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
    if _ratio_width(label) <= room + 2:
        return label
    while label and _ratio_width(f"{label}…") > room:
        label = label[:-1]
    return f"{label.rstrip(' ,')}…"


def ratio_words(ratio: float) -> str:
    """A ratio with the digits that tell it from 1: 1.034, 0.998, 28.4."""
    return f"{ratio:.3f}" if abs(math.log(ratio)) < NEAR else number(ratio)


def _ratio_width(label: str) -> float:
    return CAPITALS * width_of(label, RATIO_SIZE_PX)


MATRIX_SIZE_PX, MATRIX_SMALL_PX, MATRIX_ROW_PX, HEAD_PX, GAP_PX = 13, 10, 38, 22, 14
MATRIX_LABEL_SHARE = 0.45
"""Of the width that names may take; where they are longer the letters stand alone."""
STRONGEST = 0.5
"""How opaque the ground of the same order is: the words on it stay readable in light and dark."""


class OrderCell(NamedTuple):
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


def order_matrix(names: Sequence[str], cells: Mapping[tuple[int, int], OrderCell], width_px: int) -> str:
    """The runs from above and from the left, each pair once.

    * `cells`: by the places of two runs, the lesser first.
    """
    letters = [chr(ord("A") + place) for place in range(len(names))]
    labels = [f"{letter} {name}" for letter, name in zip(letters, names, strict=True)]
    if max(map(width_of, labels)) > MATRIX_LABEL_SHARE * width_px:
        labels = letters
    left = max(width_of(label) for label in labels[1:]) + GAP_PX
    room = (width_px - left) / (len(names) - 1)
    parts = [
        f'<text x="{left + room * (place + 0.5):.1f}" y="15" text-anchor="middle">{letter}</text>'
        for place, letter in enumerate(letters[:-1])
    ]
    for row in range(1, len(names)):
        y = HEAD_PX + MATRIX_ROW_PX * (row - 1)
        parts.append(f'<text x="{left - GAP_PX / 2:.1f}" y="{y + 23}" text-anchor="end">{text(labels[row])}</text>')
        parts += [
            _square(cells[column, row], left + room * column, y, room)
            for column in range(row)
            if (column, row) in cells
        ]
    height = HEAD_PX + MATRIX_ROW_PX * (len(names) - 1) + 4
    return (
        f'<svg class="bars" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width_px} {height}" width="{width_px}" '
        f'height="{height}" role="img" aria-label="{text(orders_described(names, cells))}" font-family="{text(FONT)}" '
        f'font-size="{MATRIX_SIZE_PX}" fill="{colour("ink")}">{"".join(parts)}</svg>'
    )


def orders_described(names: Sequence[str], cells: Mapping[tuple[int, int], OrderCell]) -> str:
    """The picture in words."""
    pairs = (
        f"{names[a]} and {names[b]}: {cell.words}" + (f" ({cell.range_words})" if cell.range_words else "")
        for (a, b), cell in cells.items()
    )
    return f"Kendall’s tau of two cores’ orders. {'; '.join(pairs)}"


def _square(cell: OrderCell, x: float, y: float, room: float) -> str:
    opacity = STRONGEST * abs(cell.value or 0.0)
    role = "link" if (cell.value or 0.0) >= 0 else "loud"
    middle = x + room / 2
    ranged = cell.range_words if width_of(cell.range_words, MATRIX_SMALL_PX) <= room else ""
    below = (
        f'<text x="{middle:.1f}" y="{y + 30}" text-anchor="middle" font-size="{MATRIX_SMALL_PX}">{text(ranged)}</text>'
        if ranged
        else ""
    )
    return (
        f'<rect x="{x + 1:.1f}" y="{y + 1}" width="{room - 2:.1f}" height="{MATRIX_ROW_PX - 2}" fill="{colour(role)}" '
        f'fill-opacity="{opacity:.2f}" stroke="{colour("rule")}"/>'
        f'<text x="{middle:.1f}" y="{y + (17 if ranged else 23)}" text-anchor="middle" font-weight="600">'
        f"{text(cell.words)}</text>{below}"
    )


TIME_SIZE_PX, TIME_PAD_PX, TIME_FOOT_PX, TITLE_PX = 11, 10, 34, 20
HEIGHT_PX = 150
TIME_DOT_PX, TIME_INTERVAL_PX = 3.0, 1.3


class RunPoint(NamedTuple):
    """A run: its cost with the 95 % interval, and what it is called on the axis."""

    label: str
    cost: float
    low: float
    high: float


def cost_over_runs(points: Sequence[RunPoint], changed: Sequence[Change], title: str, width_px: int = 720) -> str:
    """Runs from left to right in their order, at even steps; `title` says what is drawn, and its unit."""
    axis = axis_of([StripRow("", point.cost, point.low, point.high) for point in points], log=False)
    left = max(width_of(f"{tick:,.6g}", TIME_SIZE_PX) for tick in axis.ticks) + TIME_PAD_PX
    span = width_px - left - TIME_PAD_PX
    frame = _Frame(axis, left, span, len(points))
    height = TITLE_PX + HEIGHT_PX + TIME_FOOT_PX
    parts = [
        *_ground(frame, title),
        *(_band(frame, change) for change in changed),
        *_levels(frame, points, changed),
        *(_dot(frame, at, point) for at, point in enumerate(points)),
        *_names(frame, points, changed),
    ]
    described_text = text(cost_described(points, changed, title))
    return (
        f'<svg class="bars" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width_px} {height}" role="img" '
        f'aria-label="{described_text}" font-family="{text(FONT)}" font-size="{TIME_SIZE_PX}" fill="{colour("ink")}">'
        f"{''.join(parts)}</svg>"
    )


def cost_described(points: Sequence[RunPoint], changed: Sequence[Change], title: str) -> str:
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


def _levels(frame: _Frame, points: Sequence[RunPoint], changed: Sequence[Change]) -> Iterator[str]:
    """The mean of the runs between two changes."""
    ends = [0, *(change.place for change in changed), len(points)]
    for first, end in pairwise(ends):
        mean = sum(point.cost for point in points[first:end]) / (end - first)
        yield (
            f'<line x1="{frame.x(first - 0.5):.1f}" x2="{frame.x(end - 0.5):.1f}" y1="{frame.y(mean):.1f}" '
            f'y2="{frame.y(mean):.1f}" stroke="{colour("muted")}" stroke-width="1.4"/>'
        )


def _dot(frame: _Frame, at: int, point: RunPoint) -> str:
    x = frame.x(at)
    return (
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{frame.y(point.low):.1f}" y2="{frame.y(point.high):.1f}" '
        f'stroke="{colour("link")}" stroke-width="{TIME_INTERVAL_PX}"/>'
        f'<circle cx="{x:.1f}" cy="{frame.y(point.cost):.1f}" r="{TIME_DOT_PX}" fill="{colour("link")}"/>'
    )


def _names(frame: _Frame, points: Sequence[RunPoint], changed: Sequence[Change]) -> Iterator[str]:
    """The first and the last run, and the first after each change where there is room."""
    foot = TITLE_PX + HEIGHT_PX + 14
    taken: list[tuple[float, float]] = []
    for at in dict.fromkeys([0, len(points) - 1, *(change.place for change in changed)]):
        label = points[at].label
        half = width_of(label, TIME_SIZE_PX) / 2
        x = min(max(frame.x(at), half), frame.left + frame.span + TIME_PAD_PX - 2 - half)
        if all(x + half < low or x - half > high for low, high in taken):
            taken.append((x - half, x + half))
            yield f'<text x="{x:.1f}" y="{foot}" text-anchor="middle" fill="{colour("muted")}">{text(label)}</text>'
