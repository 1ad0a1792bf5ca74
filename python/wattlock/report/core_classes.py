"""The page's section on kinds of core: what every case costs on each beside what it costs on the first."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any, NamedTuple

import polars as pl

from wattlock.report import formats
from wattlock.report.cases_table import does
from wattlock.report.markup import cell, facts, folded, paragraphs, table, text
from wattlock.report.ratio_strips import LOOKS, Mark, RatioRow, axis_of, picture, ratio_words
from wattlock.report.ratios import COST, ENERGY, Measure, case_words, cipher_title
from wattlock.run.result import Result

WIDTH_PX = 520
Row = dict[str, Any]


class _Cores(NamedTuple):
    """The kinds of core, the study's first one first, and a row a case and other kind, as `core_class_ratios` has."""

    names: list[str]
    rows: pl.DataFrame


def core_class_section(run: Result) -> str:
    """The ratios of every other kind of core to the first: in words, as figures, in a table; nothing of one kind."""
    if run.core_class_ratios is None:
        return ""
    cores = _Cores(run.core_classes, run.core_class_ratios)
    measures = [measure for measure in (ENERGY, COST) if cores.rows[measure.ratio].count()]
    first = cores.names[0]
    about = [
        f"Every case was measured on the {formats.listing(list(cores.names))} cores, each kind in processes of its "
        f"own, by its own canary and its own self-checks. A ratio is that of a case to the same case on the {first} "
        "cores, with its 95 % interval. Cycles of two kinds of core are not alike, and so times are compared.",
    ]
    said = [sentence for name in cores.names[1:] for measure in measures for sentence in _said(cores, name, measure)]
    parts = [paragraphs([*said, *about]), facts(_clocks(run))]
    for name in cores.names[1:]:
        figures = "".join(_figure(cores, name, measure) for measure in measures)
        heading = f"{name.capitalize()} cores beside {cores.names[0]} ones"
        parts.append(f'<h3>{text(heading)}</h3><div class="plates">{figures}</div>')
    return f"{''.join(parts)}{folded('The ratio of every case', _table(cores))}"


def _of_what(measure: Measure) -> str:
    """Cycles of two kinds of core are not compared: what is no joules is time."""
    return measure.of or "time"


def _of(cores: _Cores, name: str) -> pl.DataFrame:
    return cores.rows.filter(pl.col("core_class_b") == name)


def _said(cores: _Cores, name: str, measure: Measure) -> Iterator[str]:
    found = _of(cores, name)[measure.ratio].drop_nulls().to_list()
    if not found:
        return
    middle, first = median(found), cores.names[0]
    takes = f"take {formats.number(middle)} times the {_of_what(measure)} of the {first} ones"
    if len(found) == 1:
        yield f"The {name} cores {takes}."
        return
    ends = f"from {formats.number(min(found))} to {formats.number(max(found))}"
    yield f"At the median of {len(found)} cases the {name} cores {takes} ({ends})."


def _clocks(run: Result) -> list[tuple[str, str]]:
    known = ((name, run.clocks[name].GHz) for name in run.core_classes)
    return [(f"Clock, {name}", "not known" if GHz is None else f"{formats.number(GHz)} GHz") for name, GHz in known]


def _figure(cores: _Cores, name: str, measure: Measure) -> str:
    """A row a cipher; a mark a case."""
    drawn = _of(cores, name).filter(pl.col(measure.ratio).is_not_null())
    if drawn.is_empty():
        return ""
    rows = []
    for (cipher, provider), cases in drawn.group_by("cipher", "provider_a", maintain_order=True):
        marks = [_mark(row, measure) for row in cases.iter_rows(named=True)]
        several = drawn.filter(pl.col("cipher") == cipher)["provider_a"].n_unique() > 1
        label = f"{cipher_title(str(cipher))} of {provider}" if several else cipher_title(str(cipher))
        middle = ratio_words(median(mark.ratio for mark in marks))
        rows.append(RatioRow(label, marks, middle if len(marks) == 1 else f"median {middle}"))
    axis = axis_of([mark for row in rows for mark in row.marks])
    what = _of_what(measure)
    title = f"{what.capitalize()} on {name} cores, times that on {cores.names[0]} ones"
    return (
        f"<figure><figcaption><strong>{text(title)}</strong> "
        f'<span class="quiet">A mark is a case; the line holds all of a row.</span></figcaption>'
        f"{picture(rows, axis, f'{what}, times {cores.names[0]}', WIDTH_PX)}</figure>"
    )


def _mark(row: Row, measure: Measure) -> Mark:
    name = measure.ratio
    return Mark(row[name], row[f"{name}_low"], row[f"{name}_high"], row[measure.verdict])


def _table(cores: _Cores) -> str:
    has_joules = bool(cores.rows["energy_ratio"].count())
    joules = ["#Energy ratio", "#95 % interval", "Energy"] if has_joules else []
    first = cores.names[0]
    head = ["Cipher", "Library", "Case", "Cores", *joules, "#Time ratio", "#95 % interval", "Verdict"]
    head += [f"#Time on {first}", "#Time", "Why"]
    rows = ("".join(_cells(row, has_joules=has_joules)) for row in cores.rows.iter_rows(named=True))
    return table("Every case on each kind of core", head, (f"<tr>{row}</tr>" for row in rows), kind="sortable")


def _cells(row: Row, *, has_joules: bool) -> Iterator[str]:
    yield f'<th scope="row">{text(row["cipher"])}</th>'
    yield cell(str(row["provider_a"]))
    yield cell(case_words(row) if row["payload_B"] else does(row))
    yield cell(str(row["core_class_b"]))
    for measure in (ENERGY, COST) if has_joules else (COST,):
        value, low, high = (row[f"{measure.ratio}{end}"] for end in ("", "_low", "_high"))
        if value is None:
            yield from (cell(formats.MISSING, True), cell(formats.MISSING, True), cell(formats.MISSING))
            continue
        yield f'<td class="n" data-v="{value:.6g}">{text(formats.within(value, low, high))}</td>'
        yield cell(f"{formats.within(low, low, high)} to {formats.within(high, low, high)}", True)
        verdict = row[measure.verdict]
        yield f'<td><span data-look="{text(verdict)}">{LOOKS[verdict].shape} {text(verdict)}</span></td>'
    yield from (cell(formats.time(row[f"time_ns_{side}"]), True) for side in "ab")
    yield f'<td class="reason">{text(row["reason"] or "")}</td>'
