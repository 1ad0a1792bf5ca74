"""A document in the making: sections of sentences, facts, tables and figures; and as Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from wattlock.advise import prose

WEB = ("https://", "http://")


class Link(NamedTuple):
    """Words that lead to an address."""

    words: str
    address: str


Cell = str | Link


class Bar(NamedTuple):
    """A line of the figure of days: its name, the median and the 95 % interval."""

    name: str
    days: float
    low: float
    high: float
    decided: bool


@dataclass(frozen=True)
class DaysFigure:
    """Days of battery of the options, beside those without cryptography."""

    bars: list[Bar]
    without: float
    kind: str


@dataclass(frozen=True)
class SplitFigure:
    """Where the battery's energy goes: named shares that add up to 1."""

    of: str
    shares: list[tuple[str, float]]
    kind: str


Figure = DaysFigure | SplitFigure


@dataclass(frozen=True)
class Section:
    """A part of the record.

    * `facts`: labels with values. `rows`: a table, whose columns are the keys of its first row. `figures`: by name.
    * `appendix`: whether it stands behind the record, and not on its paper.
    """

    title: str
    sentences: list[str] = field(default_factory=list)
    facts: list[tuple[str, str]] = field(default_factory=list)
    rows: list[dict[str, Cell]] = field(default_factory=list)
    figures: dict[str, Figure] = field(default_factory=dict)
    appendix: bool = False


def markdown(heading: str, parts: Sequence[Section], drawings: Mapping[str, str] | None = None) -> str:
    """The record as Markdown.

    * `drawings`: the files of its figures, by the figures' names.
    """
    lines = [f"# {heading}", ""]
    for part in parts:
        lines += [f"## {part.title}", ""]
        for sentence in part.sentences:
            lines += [_cell(sentence), ""]
        if part.facts:
            lines += [*(f"- {label}: {_cell(value)}" for label, value in part.facts), ""]
        for name, figure in part.figures.items():
            if drawings and name in drawings:
                title, note = caption(figure)
                lines += [f"![{title}]({drawings[name]})", "", f"{title} ({figure.kind}). {_cell(note)}", ""]
        if part.rows:
            columns = list(part.rows[0])
            lines += [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
            lines += [f"| {' | '.join(_cell(row.get(name, '')) for name in columns)} |" for row in part.rows]
            lines.append("")
    return "\n".join(lines)


def caption(figure: Figure) -> tuple[str, str]:
    """What a figure is called, and what it shows."""
    if isinstance(figure, DaysFigure):
        return "Days of battery", "A dot is the median, its bar the 95 % interval; bold: decided."
    return "Where the battery's energy goes", f"With {figure.of}: {_shares(figure)}."


def _shares(figure: SplitFigure) -> str:
    return ", ".join(f"{name} {prose.short_share(share)}" for name, share in figure.shares)


def _cell(value: Cell) -> str:
    if isinstance(value, Link):
        return f"[{_cell(value.words)}]({value.address})"
    return value.replace("|", "\\|").replace("\n", " ")


def linked(words: str, address: str) -> Cell:
    """Words that lead to their address where they have one on the web."""
    return Link(words, address) if address.startswith(WEB) else words
