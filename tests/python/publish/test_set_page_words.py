"""The tables of a published set: what their heads call the numbers below them."""

import re

import polars as pl
import pytest

from wattlock.publish.set_page import MOST_ROWS, OfOthers, _figures

ROW: dict[str, object] = {"cipher": "aes", "implementation": "x", "build": None, "operation": "seal", "payload_B": 1024}
ROW |= {"aad_B": None, "value": 1234.5, "low": 1200.0, "high": 1300.0}


def drawn(statistic: str = "median", unit: str = "cycles", rows: int = 1, **changed: object) -> str:
    frame = pl.DataFrame([{**ROW, **changed}] * rows, infer_schema_length=None)
    return _figures(OfOthers("name", "path", "machine", "source", "file", statistic, unit, frame))


def heads(page: str) -> list[str]:
    return re.findall(r'<th scope="col"[^>]*>([^<]*)', page)


@pytest.mark.parametrize(
    ("statistic", "unit", "expected"),
    [
        ("median", "cycles", ["cycles, median", "Quartiles"]),
        ("mean", "us", ["µs, mean", "Least and greatest"]),
    ],
)
def test_the_head_names_unit_statistic_and_what_the_ends_are(statistic: str, unit: str, expected: list[str]) -> None:
    assert heads(drawn(statistic, unit))[-2:] == expected


def test_a_column_that_holds_nothing_is_left_out() -> None:
    assert heads(drawn(low=None, high=None)) == ["Cipher", "Implementation", "Operation", "Bytes", "cycles, median"]


def test_more_rows_than_are_shown_are_counted() -> None:
    page = drawn(rows=MOST_ROWS + 1)
    assert page.count('<th scope="row">') == MOST_ROWS
    assert f"{MOST_ROWS} of {MOST_ROWS + 1:,} figures" in page
    assert "Here stand" not in drawn(rows=MOST_ROWS)
