"""What the five papers say, as data: sources, conditions, claims, exhibits, contradictions.

The tables that they print lie in `data/published/`: other rooms fit cards and explain durations by them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from wattlock.definitions import Table, Text, shipped
from wattlock.energy.published_power import PrintedTables as BatteryTables
from wattlock.energy.published_power import tables as battery_tables
from wattlock.link import durations

Origin = Literal["stated", "cited", "read-off", "ours"]
About = Literal["time", "energy", "battery", "air", "capture", "table", "security", "model"]
Theme = Literal[
    "rankings",
    "ratios",
    "speed and memory",
    "key and block",
    "packets",
    "encoding and data type",
    "sending",
    "battery",
    "security and advice",
]
THEMES: tuple[Theme, ...] = get_args(Theme)
"""What claims are about, in the order of the page."""
Against = Literal["tables", "itself", "papers", "known"]
Kind = Literal["chart", "diagram", "procedure", "input"]
On = Literal["pentium", "32-bit", "handheld", "microcontroller"]
Sources = Annotated[list[Text], Field(min_length=1)]


class PaperSource(Table):
    """A paper, where it appeared as far as that is known, and the machine that it measured on."""

    id: Text
    year: int
    authors: Text
    title: Text
    venue: Text | None = None
    kind: Literal["article", "inproceedings", "misc"] = "misc"
    volume: Text | None = None
    number: Text | None = None
    pages: Text | None = None
    doi: Text | None = None
    machine: Text


class Claim(Table):
    """One sentence of a paper, or of several.

    * `theme`: under which it stands on the page; `about`: the kind of evidence that it speaks of.
    * `expect`: its numbers; `tolerance`: of an amount, as a share, where the common one doesn't hold.
    * `machine`: what it speaks of, where a run of another machine says nothing of it: any of these.
    """

    id: Text
    theme: Theme
    about: About
    origin: Origin
    source: Sources
    says: Text
    expect: Annotated[dict[str, Any], Field(default_factory=dict)]
    tolerance: Annotated[float, Field(gt=0)] | None = None
    machine: Annotated[list[On], Field(default_factory=list)]
    note: str = ""


class Exhibit(Table):
    """A figure or a table of a paper; its id begins with that of its paper.

    * `numbers`: the claims whose printed numbers stand beside it.
    """

    id: Text
    kind: Kind = "chart"
    shows: Text
    x: Text | None = None
    y: Annotated[list[Text], Field(default_factory=list)]
    series: Text | None = None
    numbers: Annotated[list[Text], Field(default_factory=list)]


class Contradiction(Table):
    """A sentence of a paper that something else does not bear out.

    * `against`: the paper's own tables, its own other sentences, another of the papers, or what is known.
    * `source`: who says it; `by`: of another of the papers, which. `origin`: whose sentence it is.
    * `claims`: ids of the claims that it bears on.
    """

    against: Against
    source: Sources
    by: Annotated[list[Text], Field(default_factory=list)]
    origin: Literal["stated", "read-off", "ours"] = "stated"
    claims: list[Text]
    says: Text
    but: Text


class SendingTable(Table):
    """A table of seconds that a data set was on its way, by cipher, a figure for each of `columns`."""

    data: Text
    columns: list[Text]
    duration_s: dict[str, list[Annotated[float, Field(gt=0)]]]

    def of(self, cipher: str, column: str) -> float:
        """Seconds of one case."""
        return self.duration_s[cipher][self.columns.index(column)]


class Papers(Table):
    """All of it.

    * `sending`: tables 1 to 3 of elminaam-wlan, by data type.
    * `toldinas`: the two tables of toldinas.
    * `conditions`: as they stand in `conditions.toml`, by table.
    """

    sources: list[PaperSource]
    claims: list[Claim]
    exhibits: list[Exhibit]
    contradictions: list[Contradiction]
    sending: dict[str, SendingTable]
    toldinas: BatteryTables
    conditions: dict[str, dict[str, Any]]

    def claim(self, name: str) -> Claim:
        """The claim of that id."""
        return next(claim for claim in self.claims if claim.id == name)


class _Claims(Table):
    claim: list[Claim]


class _Exhibits(Table):
    exhibit: list[Exhibit]


class _Contradictions(Table):
    contradiction: list[Contradiction]


class _Sources(Table):
    source: list[PaperSource]


class _Conditions(Table):
    data: dict[str, Any]
    key_bits: dict[str, Any]
    wlan: dict[str, Any]
    metrics: dict[str, Any]
    not_said: dict[str, Any]


@cache
def claims() -> list[Claim]:
    """The claims alone, for who asks of one and not of the rest."""
    return shipped("papers/claims.toml", _Claims).claim


@cache
def sources() -> list[PaperSource]:
    """The papers."""
    return shipped("papers/sources.toml", _Sources).source


@cache
def load() -> Papers:
    """The papers' data.

    Raises InputError naming the file and the key of the first thing that is wrong.
    """
    return Papers(
        sources=sources(),
        claims=claims(),
        exhibits=shipped("papers/exhibits.toml", _Exhibits).exhibit,
        contradictions=shipped("papers/contradictions.toml", _Contradictions).contradiction,
        sending=_sending(),
        toldinas=battery_tables("toldinas"),
        conditions=shipped("papers/conditions.toml", _Conditions).model_dump(),
    )


def _sending() -> dict[str, SendingTable]:
    cases, _ = durations.printed("elminaam-wlan")
    columns = list(dict.fromkeys(case.condition for case in cases))
    found: dict[str, dict[str, list[float]]] = {}
    for case in cases:
        found.setdefault(case.data, {}).setdefault(case.cipher, []).append(case.duration_s)
    return {data: SendingTable(data=data, columns=columns, duration_s=rows) for data, rows in found.items()}


VENUE = {"article": "journal", "inproceedings": "booktitle", "misc": "howpublished"}
"""The field of BibTeX that says where a kind of entry appeared."""


def bibtex(sources: Sequence[PaperSource]) -> str:
    """An entry for each paper, keyed by its id; what is not known of it is left out."""
    return "\n".join(_entry(source) for source in sources)


def _entry(source: PaperSource) -> str:
    fields = "".join(f"  {name} = {{{value}}},\n" for name, value in _fields(source))
    return f"@{source.kind}{{{source.id},\n{fields}}}\n"


def _fields(source: PaperSource) -> Iterator[tuple[str, str]]:
    yield "author", " and ".join(_names(source))
    yield "title", f"{{{source.title}}}"
    yield "year", str(source.year)
    for name, value in ((VENUE[source.kind], source.venue), ("volume", source.volume), ("number", source.number)):
        if value is not None:
            yield name, value
    if source.pages is not None:
        yield "pages", source.pages.replace("-", "--")
    if source.doi is not None:
        yield "doi", source.doi


def _names(source: PaperSource) -> list[str]:
    return [name.strip() for name in source.authors.split(",")]


def published(source: PaperSource) -> str:
    """Where and when a paper appeared, in a line."""
    numbered = f" {source.volume or ''}{f'({source.number})' if source.number else ''}".rstrip()
    parts = [f"{source.venue}{numbered}" if source.venue else "", source.pages or "", str(source.year)]
    return ", ".join(part for part in parts if part)
