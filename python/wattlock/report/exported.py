"""Estimates as a file for other programs, or for a paper."""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import polars as pl

from wattlock.analysis.comparison import GROUP
from wattlock.report import formats
from wattlock.report.cycles import within_of
from wattlock.report.described import About
from wattlock.report.evidence import DRAWN_STATES, departures
from wattlock.report.written import csv_text, json_array
from wattlock.text import harmless


class ExportForm(StrEnum):
    """What is written."""

    csv = "csv"
    parquet = "parquet"
    latex = "latex"
    json = "json"


def content(frame: pl.DataFrame, about: About, form: ExportForm) -> bytes:
    """The file's bytes: the estimates, each row with what its run was."""
    if form is ExportForm.latex:
        return latex(frame, {key: value for key, value in about.items() if value is not None}).encode()
    columns = (
        pl.lit(value, pl.Boolean if isinstance(value, bool) else pl.String).alias(key) for key, value in about.items()
    )
    whole = frame.select(*columns, *frame.columns)
    if form is ExportForm.json:
        return f"{json_array(whole)}\n".encode()
    if form is ExportForm.csv:
        return csv_text(whole).encode()
    written = io.BytesIO()
    whole.write_parquet(written)
    return written.getvalue()


Row = Mapping[str, Any]
ROWS = 45
"""As many rows as a page holds; what is longer goes on in another table."""

FITTED = (
    r"\sbox0{%",
    r"}\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi",
)
"""Around a tabular: as it is where the line holds it, else as wide as the line."""

DAGGER = r"$^\dagger$"
ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "µ": r"$\mu$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "–": "--",
    "’": "'",
    **{letter: f"\\{letter}" for letter in "{}$&#%_"},
}


def escaped(value: object) -> str:
    """A text as LaTeX shows it: nothing in it is a command, and what pdfLaTeX's own fonts lack is told in ASCII."""
    plain = unicodedata.normalize("NFC", " ".join(str(value).split()))
    return "".join(ESCAPES.get(letter) or _settable(letter) for letter in plain)


def _settable(letter: str) -> str:
    if letter.isascii():
        return letter if letter.isprintable() else ""
    bare = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
    return "".join(ESCAPES.get(character, character) for character in bare) or "?"


def comment(label: str, value: object) -> str:
    """A line that LaTeX skips, whatever the value holds."""
    return f"% {label}: {harmless(' '.join(str(value).split()))}"


def latex(estimates: pl.DataFrame, about: Mapping[str, object]) -> str:
    """Tables of the cases that have a number, one for each operation, mode, payload and setting.

    * `estimates`: as `wattlock show` prints them, with the columns of energy where it measured.
    * `about`: what the comments at the top say of the run; `run` names the labels too.
    * A dagger marks a case that is not resolved; the cases without a number stand in the comments.
    """
    drawn = pl.col("state").is_in([*DRAWN_STATES, COUNTED])
    head = [r"% \usepackage{booktabs,graphicx} in the preamble, \input of this file in the text."]
    head += [comment(label, value) for label, value in about.items()]
    head += [comment("within", within_of(estimates["evidence"]))] if INSTRUCTIONS in estimates.columns else []
    head += [comment("left out", _formatted(row)) for row in estimates.filter(~drawn).iter_rows(named=True)]
    run = re.sub(r"[^a-z0-9]+", "-", str(about.get("run", "run")).lower()).strip("-")
    groups = estimates.filter(drawn).group_by(*GROUP, maintain_order=True)
    tables = [
        _table(members.slice(start, ROWS), f"tab:{run}-{number}-{1 + start // ROWS}", goes_on=start > 0)
        for number, (_, members) in enumerate(groups, 1)
        for start in range(0, members.height, ROWS)
    ]
    breaks = [
        table_text + "\\clearpage\n" if not number % FLOATS else table_text
        for number, table_text in enumerate(tables, 1)
    ]
    return "\n".join([*head, "", *breaks])


INSTRUCTIONS = "instructions"
"""The column that counts have, and times have not."""

COUNTED = "counted"
"""The state of a case that was counted: it has no time, and needs no dagger."""

FLOATS = 12
"""Tables before a page is ended: pdfLaTeX ends with an error where some hundred wait for one."""


def _formatted(row: Row) -> str:
    return f"{row['cipher']} {row['provider']} {row['operation']} {row['payload_B']} B: {row['state']}: {row['reason']}"


@dataclass(frozen=True, slots=True)
class _Column:
    """A column: its head as LaTeX, the words of a row, whether a table of these rows has it."""

    head: str
    shown: Callable[[Row], str]
    needs: str
    is_number: bool = True
    only_if_several: bool = False

    def stands_in(self, rows: pl.DataFrame) -> bool:
        """Whether the rows have something to show in it."""
        if self.needs not in rows.columns:
            return False
        column = rows[self.needs].drop_nulls()
        return column.n_unique() > 1 if self.only_if_several else not column.is_empty()


def _with_interval(head: str, value: str, low: str, high: str) -> tuple[_Column, _Column]:
    return (
        _Column(head, lambda row: formats.estimate(row[value], row[low], row[high]), value),
        _Column(r"95\,\% interval", lambda row: formats.interval(row[value], row[low], row[high]), value),
    )


def _whole(head: str, name: str) -> _Column:
    return _Column(head, lambda row: formats.MISSING if row[name] is None else f"{row[name]:,}", name)


def _cipher(row: Row) -> str:
    return formats.cipher_name(row["cipher"], row["mode"])


NAMES = (
    _Column("Cipher", _cipher, "cipher", is_number=False),
    _Column("Provider", lambda row: row["provider"], "provider", is_number=False, only_if_several=True),
    _Column("Code", lambda row: row["path"] or "", "path", is_number=False, only_if_several=True),
)
COLUMNS = (
    *NAMES,
    *_with_interval("cycles/B", "cycles_per_byte", "cycles_per_byte_low", "cycles_per_byte_high"),
    *_with_interval("time, ns", "time_ns", "time_low_ns", "time_high_ns"),
    _Column("MB/s", lambda row: formats.number(row["throughput_MB_s"]), "throughput_MB_s"),
    *_with_interval(r"$\mu$J", "energy_uJ", "energy_low_uJ", "energy_high_uJ"),
    *_with_interval(r"$\mu$J/B", "energy_uJ_per_byte", "energy_low_uJ_per_byte", "energy_high_uJ_per_byte"),
)
COUNTED_COLUMNS = (
    *NAMES,
    _whole("cycles", "cycles"),
    _Column("within", lambda row: formats.interval(row["cycles"], row["cycles_low"], row["cycles_high"]), "cycles_low"),
    _Column("cycles/B", lambda row: formats.number(row["cycles_per_byte"]), "cycles_per_byte"),
    _whole("part cycles", "part_cycles"),
    *_with_interval(r"$\mu$J", "energy_uJ", "energy_low_uJ", "energy_high_uJ"),
    _whole("instructions", "instructions"),
    _whole("flash, B", "flash_B"),
    _whole("RAM, B", "ram_B"),
    _whole("stack, B", "stack_B"),
)
"""Of a run that counted."""


def _table(members: pl.DataFrame, label: str, *, goes_on: bool) -> str:
    rows = members.sort(*_order(members), "cipher", "provider", nulls_last=True)
    columns = [column for column in _columns(rows) if column.stands_in(rows)]
    lines = [" & ".join(_cell(column, row) for column in columns) + r" \\" for row in rows.iter_rows(named=True)]
    return "\n".join(
        [
            r"\begin{table}[htbp]",
            r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
            rf"\caption{{{escaped(_caption(rows))}{', continued' if goes_on else ''}.{_daggers(rows)}}}",
            rf"\label{{{label}}}",
            FITTED[0],
            rf"\begin{{tabular}}{{@{{}}{''.join('r' if column.is_number else 'l' for column in columns)}@{{}}}}",
            r"\toprule",
            " & ".join(column.head for column in columns) + r" \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}" + FITTED[1],
            r"\end{table}",
            "",
        ]
    )


def _order(rows: pl.DataFrame) -> tuple[str, str]:
    return ("cycles", INSTRUCTIONS) if INSTRUCTIONS in rows.columns else ("cycles_per_byte", "time_ns")


def _columns(rows: pl.DataFrame) -> Sequence[_Column]:
    """Those of its kind of run; of a call with a payload, where it was measured, what a byte takes."""
    if INSTRUCTIONS in rows.columns:
        return COUNTED_COLUMNS
    per_call = not rows["payload_B"][0]
    skipped = {"energy_uJ_per_byte"} if per_call else {"time_ns", "energy_uJ"}
    return [column for column in COLUMNS if column.needs not in skipped]


def _cell(column: _Column, row: Row) -> str:
    mark = DAGGER if column.head == "Cipher" and row["state"] == "unresolved" else ""
    return escaped(column.shown(row)) + mark


def _daggers(rows: pl.DataFrame) -> str:
    return f" {DAGGER}Not resolved." if (rows["state"] == "unresolved").any() else ""


def _caption(rows: pl.DataFrame) -> str:
    """What the rows have in common, and what their numbers rest on."""
    row: Row = rows.row(0, named=True)
    parts = [formats.OPERATION_NAMES.get(row["operation"], str(row["operation"]))]
    if row["mode"] not in (None, "stream", "aead", "establish", "frame", "link"):
        parts.append(str(row["mode"]).upper())
    if row["payload_B"]:
        parts.append(formats.size(row["payload_B"]))
    if row["data"] not in (None, "random", "none"):
        parts.append(str(row["data"]))
    if row["aad_B"]:
        parts.append(f"{formats.size(row['aad_B'])} of associated data")
    parts += departures(row)
    kinds = [
        f"{what} {' and '.join(rows[column].drop_nulls().unique().sort())}"
        for what, column in (("counts", "evidence"), ("times", "time_evidence"), ("joules", "energy_evidence"))
        if column in rows.columns and rows[column].null_count() < rows.height
    ]
    note = ", ".join(parts)
    return f"{formats.capital(note)}; {', '.join(kinds)}"


WITHHELD = "(withheld)"
PATHS = re.compile(r"(?<![\w/\\.~])(?:~\w*|\.{1,2}|[A-Za-z]:)?(?:[/\\][^\s/\\:;,'\"()]+)+[/\\]?")
SERIALS = re.compile(r"\b(serial(?:[ _-]?(?:number|no))?)\b(\s*[:=#]?\s*)(?=\S*\d)[\w.-]+", re.IGNORECASE)
VOCABULARY = ("cipher", "family", "operation", "keying", "encoding", "mode", "placement", "pattern", "state")
"""Columns whose words are wattlock's own: a user called aes hides no cipher."""


def public(text: str, names: Iterable[str]) -> str:
    """A text with every path, serial number and each of `names` (host, user) withheld."""
    text = SERIALS.sub(rf"\1\2{WITHHELD}", PATHS.sub(WITHHELD, text))
    for name in filter(None, names):
        text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", WITHHELD, text, flags=re.IGNORECASE)
    return text


def public_frame(frame: pl.DataFrame, names: Iterable[str]) -> pl.DataFrame:
    """The frame with every free text of it made public."""
    known = list(names)
    free = [name for name, kind in frame.schema.items() if kind == pl.String and name not in VOCABULARY]
    return frame.with_columns(
        pl.Series(name, [None if value is None else public(value, known) for value in frame[name]], dtype=pl.String)
        for name in free
    )
