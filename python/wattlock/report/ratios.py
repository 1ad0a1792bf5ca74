"""The ratios of a comparison as rows to draw: how they are grouped, what a case is called, which figures there are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from wattlock.report.compared import RunComparison
from wattlock.report.drawings import Axis, Mark, RatioRow, ratio_axis, ratio_words
from wattlock.report.evidence import departures
from wattlock.report.formats import capital, cipher_name, does, size

MOST_ROWS = 16
"""Ciphers beyond so many are drawn by family in the first figure."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What ratios are of: its name, the columns of the table, what the axis says."""

    name: str
    ratio: str
    verdict: str
    of: str


COST = Measure("cost", "ratio", "verdict", "")
ENERGY = Measure("energy", "energy_ratio", "energy_verdict", "joules")


@dataclass(frozen=True, slots=True)
class RatioFigure:
    """A figure: the name of its files, its title, its axis, the rows that are drawn, and the same as a frame."""

    name: str
    title: str
    axis: Axis
    axis_title: str
    rows: Sequence[RatioRow]
    numbers: pl.DataFrame
    note: str = ""


def measures(compared: RunComparison) -> list[Measure]:
    """Joules where there are any, then times."""
    return [*([ENERGY] if compared.has_joules else []), COST]


def quantity_of(compared: RunComparison) -> str:
    """What the ratios of times are of, in words."""
    kinds = {kind for other in compared.others for kind in other.rows["quantity"]}
    return {"cycles": "cycles", "time": "time", "instructions": "instructions"}.get("".join(kinds), "cycles or time")


def cipher_title(cipher: str) -> str:
    """An id as a title: `aes128-cbc` as AES-128-CBC."""
    return cipher_name(cipher, "aead")


def ratios(compared: RunComparison, measure: Measure) -> pl.DataFrame:
    """A row a case and other run: `letter, side, run, cipher, case, title, label, group, family`, and its numbers.

    * `case` says what is done; `title` and `label`: what its figure is called and what its row is, by cipher, or by
      what is done where no cipher has two cases. Rows without a ratio have none here either.
    """
    rows = [
        {
            "letter": other.side.letter,
            "side": other.side.name,
            "run": other.side.run,
            "cipher": row["cipher"],
            "provider": row["provider_b"],
            "family": compared.families.get(row["cipher"], row["cipher"]),
            "case": case_words(row),
            "measure": measure.of or row["quantity"],
            "ratio": row[measure.ratio],
            "ratio_low": row[f"{measure.ratio}_low"],
            "ratio_high": row[f"{measure.ratio}_high"],
            "verdict": row[measure.verdict],
        }
        for other in compared.others
        for row in other.rows.iter_rows(named=True)
    ]
    texts = ("letter", "side", "run", "cipher", "provider", "family", "case", "measure", "verdict")
    schema = dict.fromkeys(texts, pl.String) | dict.fromkeys(("ratio", "ratio_low", "ratio_high"), pl.Float64)
    return _grouped(pl.DataFrame(rows, schema_overrides=schema))


def _grouped(frame: pl.DataFrame) -> pl.DataFrame:
    several = frame.group_by("letter", "cipher", "case").len()["len"].max()
    ciphers = [cipher_title(cipher) for cipher in frame["cipher"]]
    named = pl.Series("named", ciphers, dtype=pl.String)
    if isinstance(several, int) and several > 1:
        named = pl.Series("named", [f"{a} of {b}" for a, b in zip(ciphers, frame["provider"], strict=True)])
    frame = frame.with_columns(named)
    by_cipher = frame.height >= 2 * frame.select("letter", "named").unique().height
    capital = pl.col("case").str.head(1).str.to_uppercase() + pl.col("case").str.slice(1)
    title, label = (pl.col("named"), pl.col("case")) if by_cipher else (capital, pl.col("named"))
    return frame.with_columns(title=title, label=label)


def case_words(row: dict[str, Any]) -> str:
    """What a case does, in words: encrypt 1,500 B."""
    data = "" if row["data"] in ("random", "none", None) else f" {row['data']}"
    payload = f" {size(row['payload_B'])}" if row["payload_B"] else ""
    words = f"{does(row)}{payload}{data}"
    associated = [f"{size(row['aad_B'])} of associated data"] if row["aad_B"] else []
    kind = row.get("core_class_a")
    cores = [f"{kind} cores"] if kind is not None and kind == row.get("core_class_b") else []
    return ", ".join([words, *associated, *departures(row), *cores])


def figures(compared: RunComparison, measure: Measure) -> list[RatioFigure]:
    """The figures of a measure on one axis, the first one of all cases; none where no case has a ratio."""
    frame = ratios(compared, measure)
    drawn = frame.filter(pl.col("ratio").is_not_null())
    if drawn.is_empty():
        return []
    axis = ratio_axis([_mark(row) for row in drawn.iter_rows(named=True)])
    quantity_words = measure.of or quantity_of(compared)
    words = f"{quantity_words}, times that of {compared.first.letter}"
    rows = list(_overview(compared, drawn))
    note = _note(compared, drawn, rows)
    first = RatioFigure(
        f"{measure.name}-all-cases", _overview_title(compared, quantity_words), axis, words, rows, drawn, note
    )
    groups = [
        RatioFigure(_name(measure, str(title[0])), str(title[0]), axis, words, list(_rows(compared, rows)), rows)
        for title, rows in frame.group_by("title", maintain_order=True)
        if rows["ratio"].null_count() < rows.height
    ]
    return [first, *groups]


def _name(measure: Measure, title: str) -> str:
    return f"{measure.name}-{re.sub(r'[^a-z0-9]+', '-', title.lower().replace(',', '')).strip('-')}"


def _overview_title(compared: RunComparison, quantity_words: str) -> str:
    what = capital(quantity_words)
    if len(compared.others) == 1:
        return f"{what} of {compared.others[0].side.letter} over {compared.first.letter}"
    return f"{what} of each run over {compared.first.letter}"


def common(rows: pl.DataFrame) -> pl.DataFrame:
    """Of rows with a ratio those of cases that all runs have."""
    return rows.filter(pl.len().over("named", "case") == pl.col("letter").n_unique())


def case_count(rows: pl.DataFrame) -> int:
    """How many cases the rows are of, whatever the number of runs."""
    return rows.select("named", "case").unique().height


def _note(compared: RunComparison, drawn: pl.DataFrame, rows: Sequence[RatioRow]) -> str:
    if all(len(row.marks) < 2 for row in rows):
        return ""
    shared = case_count(common(drawn)) if len(compared.others) > 1 else 0
    medians = f" Medians are over the {shared} cases that all runs have." if shared else ""
    return f"Each mark is one case; the line spans all cases of the row.{medians}"


def _overview(compared: RunComparison, drawn: pl.DataFrame) -> Iterator[RatioRow]:
    """A row a run; of one run alone a row a cipher, or a family where there are many."""
    by = "letter"
    if len(compared.others) == 1:
        by = "named" if drawn["named"].n_unique() <= MOST_ROWS else "family"
    else:
        yield RatioRow(compared.first.label, [Mark(1.0, 1.0, 1.0, "equivalent")], "1")
    labels = {other.side.letter: other.side.label for other in compared.others}
    shared = common(drawn)
    for (key,), rows in drawn.group_by(by, maintain_order=True):
        marks = [_mark(row) for row in rows.iter_rows(named=True)]
        median = (shared if by == "letter" and shared.height else rows).filter(pl.col(by) == key)["ratio"].median()
        words = ratio_words(median) if isinstance(median, float) else ""
        label = labels[str(key)] if by == "letter" else cipher_title(str(key)) if by == "family" else str(key)
        yield RatioRow(label, marks, words if len(marks) == 1 else f"median {words}")


def _rows(compared: RunComparison, rows: pl.DataFrame) -> Iterator[RatioRow]:
    """A row a case; of several runs a row a run under each case."""
    if len(compared.others) == 1:
        for row in rows.iter_rows(named=True):
            yield _row(row["label"], row)
        return
    brief = {other.side.letter: other.side.brief for other in compared.others}
    for (label,), cases in rows.group_by("label", maintain_order=True):
        yield RatioRow(str(label))
        for row in cases.iter_rows(named=True):
            yield _row(brief[row["letter"]], row)


def _row(label: str, row: dict[str, Any]) -> RatioRow:
    if row["ratio"] is None:
        return RatioRow(label, (), "no ratio")
    return RatioRow(label, [_mark(row)], f"{ratio_words(row['ratio'])} {row['verdict']}")


def _mark(row: dict[str, Any]) -> Mark:
    return Mark(row["ratio"], row["ratio_low"], row["ratio_high"], row["verdict"])
