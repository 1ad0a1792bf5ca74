"""The first page of a published set of runs: their tables, what they rest on, files, how to cite and to check it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from urllib.parse import quote

import polars as pl

from wattlock.publish.citation import Citation
from wattlock.publish.minisign import PublicKey
from wattlock.report import formats
from wattlock.report.evidence import departures
from wattlock.report.html import (
    INVALID,
    bullets,
    cell,
    chip,
    commands,
    facts,
    folded,
    opening,
    paragraphs,
    spoken,
    table,
    text,
)

SECTIONS = {
    "runs": "The runs",
    "measured": "Measured",
    "emulated": "Emulated",
    "published": "Published by others",
    "compared": "Compared",
    "files": "Files",
    "cite": "How to cite it",
    "check": "How to check it",
}
TABLES = {
    "measured": "What a byte cost on the machines themselves.",
    "emulated": "Counted or timed in an emulator: no cost of a device, and ranked with nothing that was measured.",
}
OF_OTHERS = "Read from files of others, as they printed it: wattlock measured none of it, and ranks none."
MOST_ROWS = 300
"""Figures of others that the page has of one file; the file in the set has all."""
HOW_TO_READ = (
    "A number is the median over fresh processes, what follows it the quartiles; in brackets where the run did not "
    "reach its target. The columns are the lengths of eBACS’s tables (8, 64, 576, 1,536 and 4,096 bytes) where a run "
    "measured at least three of them, and all lengths of the run otherwise. Nothing is interpolated, and a – was not "
    "measured."
)


@dataclass(frozen=True, slots=True)
class SetRun:
    """A run of the set.

    * `name`: its folder's; `on`: the processor or core; `rows`: estimates with the cost a byte, as `set_tables` takes
      them; `reasons`: why it is invalid; `files`: their paths in the set by what they are called; `sha256`: of its
      sums.
    """

    name: str
    id: str
    title: str
    on: str
    created: str
    evidence: str
    rows: pl.DataFrame
    sha256: str
    files: Mapping[str, str]
    reasons: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class OfOthers:
    """Figures that others published, in the set beside its runs.

    * `name`: of its file in the set, and `path` there; `rows`: `cipher`, `implementation`, `build`, `operation`,
      `payload_B`, `aad_B`, `value`, `low`, `high`; `statistic`: what `value` is; `unit`: cycles, or us.
    """

    name: str
    path: str
    machine: str
    source: str
    file: str
    statistic: str
    unit: str
    rows: pl.DataFrame


@dataclass(frozen=True, slots=True)
class SignedSet:
    """A published set.

    * `key`: that of who signed it. `compared`: pages of comparisons by what they compare; `notes`: what was left out,
      and why; `files`: of the whole set; `published`: figures of others.
    """

    citation: Citation
    key: PublicKey
    runs: Sequence[SetRun]
    compared: Mapping[str, str]
    files: Mapping[str, str]
    notes: Sequence[str]
    published: Sequence[OfOthers] = ()


def set_page(found: SignedSet) -> str:
    """The page as HTML; nothing in it is fetched from elsewhere, and it needs no script."""
    bodies = {
        "runs": _runs(found),
        "measured": _tables(found.runs, "measured"),
        "emulated": _tables(found.runs, "emulated"),
        "published": _of_others(found.published),
        "compared": _compared(found),
        "files": _links(found.files),
        "cite": _cite(found.citation),
        "check": _check(found),
    }
    shown = {name: body for name, body in bodies.items() if body}
    links = "".join(f'<li><a href="#{name}">{text(SECTIONS[name])}</a></li>' for name in shown)
    sections = "".join(
        f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{text(SECTIONS[name])}</h2>'
        f"{body}</section>"
        for name, body in shown.items()
    )
    title, day = found.citation.title, formats.day_and_time(found.citation.date)
    return (
        f'{opening(title)}<a class="skip" href="#runs">Skip to the runs</a><header>'
        f'<p class="kicker">wattlock <span>{text(day)}</span></p><h1>{text(title)}</h1>'
        f'<p class="question">{len(found.runs)} sealed {"run" if len(found.runs) == 1 else "runs"}, signed by the key '
        f'{text(found.key.id)}</p><nav aria-label="On this page"><ul>{links}</ul></nav></header>'
        f"<main>{sections}</main><footer><p>Made by wattlock. The sealed runs beside this page are the source.</p>"
        "</footer></body></html>"
    )


def _runs(found: SignedSet) -> str:
    def row(run: SetRun) -> str:
        return (
            f'<tr><th scope="row">{text(run.name)}</th><td>{text(run.title)}</td><td>{text(run.on)}</td>'
            f"<td>{INVALID if run.reasons else chip(run.evidence)}</td>"
            f"<td>{text(formats.day_and_time(run.created))}</td>"
            f"<td>{_anchors(run.files)}</td></tr>"
        )

    listed = table("Runs of this set", ["Run", "Study", "On", "Evidence", "Begun", "Files"], map(row, found.runs))
    invalid = "".join(
        f"<p>{text(run.name)} is invalid, and shows no number:</p>{spoken(run.reasons)}"
        for run in found.runs
        if run.reasons
    )
    return f"{listed}{invalid}{paragraphs([HOW_TO_READ])}"


def _tables(runs: Sequence[SetRun], evidence: str) -> str:
    """The tables of the runs of one kind of evidence; nothing where there are none."""
    parts = [
        f"<h3>{text(run.name)}: {text(run.on)}</h3>{set_tables(run.rows, run.name) or '<p>No case has a payload.</p>'}"
        for run in runs
        if run.evidence == evidence and not run.reasons
    ]
    return "".join([paragraphs([TABLES[evidence]]), *parts]) if parts else ""


def _of_others(published: Sequence[OfOthers]) -> str:
    parts = [f"<h3>{text(of_others.machine)} {chip('published')}</h3>{_figures(of_others)}" for of_others in published]
    return "".join([paragraphs([OF_OTHERS]), *parts]) if parts else ""


def _figures(found: OfOthers) -> str:
    """The table of one file; columns that hold nothing are left out."""
    unit = {"us": "µs"}.get(found.unit, found.unit)
    heads = {"implementation": "Implementation", "build": "Build", "operation": "Operation", "payload_B": "#Bytes"}
    heads |= {"aad_B": "#Associated data, B", "value": f"#{unit}, {found.statistic}"}
    spread = "quartiles" if found.statistic == "median" else "least and greatest"
    shown = {name: head for name, head in heads.items() if found.rows[name].null_count() < found.rows.height}
    has_spread = found.rows["low"].null_count() < found.rows.height
    numbers = {name for name, head in shown.items() if head.startswith("#")}

    def row(figure: Mapping[str, Any]) -> str:
        cells = [cell(_printed(figure[name]), name in numbers) for name in shown]
        cells += [cell(f"{_printed(figure['low'])}–{_printed(figure['high'])}", is_number=True)] if has_spread else []
        return f'<tr><th scope="row">{text(figure["cipher"])}</th>{"".join(cells)}</tr>'

    head = ["Cipher", *shown.values(), *([f"#{formats.capital(spread)}"] if has_spread else [])]
    listed = table(f"Published: {found.name}", head, map(row, found.rows.head(MOST_ROWS).iter_rows(named=True)))
    source = f"{found.source} ({found.file})."
    if found.rows.height > MOST_ROWS:
        source += f" Here stand {MOST_ROWS} of {found.rows.height:,} figures; the file has all."
    return f"<p>{text(source)} {_anchor(found.name, found.path)}</p>{folded('The figures', listed)}"


def _printed(value: object) -> str:
    if value is None:
        return formats.MISSING
    return f"{value:,.10g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def _compared(found: SignedSet) -> str:
    return f"{_links(found.compared)}{bullets(list(found.notes))}" if found.compared or found.notes else ""


def _links(files: Mapping[str, str]) -> str:
    return f"<ul>{''.join(f'<li>{_anchor(named, path)}</li>' for named, path in files.items())}</ul>" if files else ""


def _anchors(files: Mapping[str, str]) -> str:
    return ", ".join(_anchor(named, path) for named, path in files.items())


def _anchor(named: str, path: str) -> str:
    return f'<a href="{text(quote(path))}">{text(named)}</a>'


def _cite(citation: Citation) -> str:
    who = "; ".join(citation.authors)
    sentence = f"{who}: {citation.title}. {citation.date[:10]}. {citation.note}."
    page = f'<a href="{text(citation.licence_page)}">{text(citation.licence_name)}</a>'
    return (
        f"<p>{text(sentence)}</p>{commands([citation.bibtex().rstrip()], 'BibTeX')}"
        f"<p>The set may be used under this licence: {page}.</p>"
    )


def _check(found: SignedSet) -> str:
    lines = [
        f"wattlock verify . --key {found.key.line}",
        f"minisign -VHm SHA256SUMS -P {found.key.line} && sha256sum -c SHA256SUMS",
    ]
    words = [
        "Either line, in the folder of this set, says whether every file is as it was signed; the first one also "
        "checks the seal of each run. A key says who signed only to those who have it from elsewhere than this page.",
    ]
    return f"{paragraphs(words)}{commands(lines)}{facts(_seals(found.runs))}"


def _seals(runs: Sequence[SetRun]) -> Iterator[tuple[str, str]]:
    yield from ((f"{run.name}, SHA-256 of its sums", run.sha256) for run in runs)


EBACS_B = (8, 64, 576, 1536, 4096)
"""Lengths of a message in eBACS's tables. Their column for long messages is extrapolated, so that it is not here.

# Source
eBACS: ECRYPT Benchmarking of Cryptographic Systems, https://bench.cr.yp.to/results-stream.html.
"""
LEAST_SHARED = 3
"""A run with fewer of these lengths has a table of all of its own."""
Row = Mapping[str, Any]


def set_tables(rows: pl.DataFrame, run: str) -> str:
    """The tables of a run, one an operation, in eBACS's lengths; in the run's own ones behind a summary, or alone.

    * `rows`: estimates with `per_byte`, its quartiles and its `unit`; `run`: what it is called.
    """
    return "".join(_operation(named, list(of_it), run) for named, of_it in groupby(_sorted(rows), key=_named))


def _sorted(rows: pl.DataFrame) -> list[Row]:
    """Cases with a payload, those of one table beside each other; the study's order stays otherwise."""
    known = [row for row in rows.iter_rows(named=True) if row["payload_B"]]
    order = {named: place for place, named in enumerate(dict.fromkeys(map(_named, known)))}
    return sorted(known, key=lambda row: order[_named(row)])


def _named(row: Row) -> str:
    """What a table holds equal: operation, unit, associated data, kind of data, and factors off their plain level."""
    more = [row["data"], *([f"{row['aad_B']:,} B of associated data"] if row["aad_B"] else []), *departures(row)]
    return f"{formats.OPERATION_NAMES.get(row['operation'], row['operation'])}, {row['unit']} ({'; '.join(more)})"


def _operation(named: str, rows: Sequence[Row], run: str) -> str:
    sizes = sorted({row["payload_B"] for row in rows})
    shared = [length_B for length_B in EBACS_B if length_B in sizes]
    others = [length_B for length_B in sizes if length_B not in EBACS_B]
    title = f"<h4>{text(formats.capital(named))}</h4>"
    if len(shared) < LEAST_SHARED:
        return f"{title}{_table(named, rows, sizes, run)}"
    more = folded(f"Other lengths: {len(others)}", _table(named, rows, others, run)) if others else ""
    return f"{title}{_table(named, rows, shared, run)}{more}"


def _table(named: str, rows: Sequence[Row], lengths_B: Sequence[int], run: str) -> str:
    caption = f"{run}: {named}, {formats.size(lengths_B[0])} to {formats.size(lengths_B[-1])}"
    head = ["Cipher", "Provider", *(f"#{formats.size(length_B)}" for length_B in lengths_B)]
    return table(caption, head, _body(rows, lengths_B))


def _body(rows: Sequence[Row], lengths_B: Sequence[int]) -> Iterator[str]:
    found: dict[tuple[str, str], dict[int, Row]] = {}
    for row in rows:
        found.setdefault((row["cipher"], row["provider"]), {})[row["payload_B"]] = row
    for (cipher, provider), by_length in found.items():
        cells = "".join(_cell(by_length.get(length_B)) for length_B in lengths_B)
        yield f'<tr><th scope="row">{text(cipher)}</th><td>{text(provider)}</td>{cells}</tr>'


def _cell(row: Row | None) -> str:
    if row is None or row["per_byte"] is None:
        return f'<td class="n">{formats.MISSING}</td>'
    value = formats.number(row["per_byte"])
    shown = value if row["state"] != "unresolved" else f"({value})"
    if row["per_byte_q1"] is None:
        return f'<td class="n">{shown}</td>'
    quartiles = f"{formats.number(row['per_byte_q1'])}–{formats.number(row['per_byte_q3'])}"
    return f'<td class="n">{shown} <span class="quiet">{quartiles}</span></td>'
