"""Frames as CSV: a text of somebody else is a text in a spreadsheet too, and numbers stay numbers."""

import csv
import io

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as some

from wattlock.report.written import csv_text
from wattlock.text import harmless

BEGINS = ("=", "+", "-", "@", "\t", "\n", "＝", "＋", "－", "＠")


@pytest.mark.parametrize("begin", BEGINS)
def test_a_text_that_a_spreadsheet_would_carry_out_has_an_apostrophe(begin: str) -> None:
    written = csv_text(pl.DataFrame({"name": [f"{begin}cmd|' /C calc'!A0"]}))
    assert next(csv.DictReader(io.StringIO(written, newline="")))["name"] == f"'{begin}cmd|' /C calc'!A0"


@pytest.mark.parametrize("number", ["-1", "+2.5", "-1e-9", "-.5", "-0.0"])
def test_a_number_stays_one_whether_it_is_a_text_or_not(number: str) -> None:
    written = csv_text(pl.DataFrame({"text": [number], "number": [float(number)]}))
    row = next(csv.DictReader(io.StringIO(written)))
    assert row["text"] == number
    assert float(row["number"]) == float(number)


@given(some.lists(some.none() | some.text(some.characters(codec="utf-8", exclude_characters="\0")), min_size=1))
def test_every_cell_reads_back_as_it_was_or_with_the_apostrophe_and_none_begins_a_formula(
    cells: list[str | None],
) -> None:
    frame = pl.DataFrame({"number": range(len(cells)), "name": cells}, schema_overrides={"name": pl.String})
    rows = list(csv.DictReader(io.StringIO(csv_text(frame), newline="")))
    for cell, row in zip(cells, rows, strict=True):
        shown = harmless(cell or "")
        assert row["name"] in {shown, f"'{shown}"}
        assert not row["name"].startswith(BEGINS) or row["name"].strip("+-.0123456789eE") == ""


def test_a_frame_without_texts_is_written_as_it_is() -> None:
    frame = pl.DataFrame({"a": [-1, 2], "b": [[1, 2], None]})
    assert csv_text(frame) == 'a,b\n-1,"[1, 2]"\n2,\n'
