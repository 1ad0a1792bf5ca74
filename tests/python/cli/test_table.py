"""What tells the rows of a table apart stands in it."""

import polars as pl
import pytest

from wattlock.cli.table import Format, short, show

COLUMNS = ["cipher", "operation", "payload_B", "state"]


def cases(*keyings: str) -> pl.DataFrame:
    """A case an operation and keying."""
    one = {
        "encoding": "raw",
        "placement": "hot",
        "pattern": "independent",
        "aad_B": 0,
        "core_class": None,
        "readiness": "steady",
    }
    rows = [{**one, "operation": word.split()[0], "keying": word.split()[1]} for word in keyings]
    return pl.DataFrame(rows, schema_overrides={"core_class": pl.String})


def test_a_factor_of_which_an_operation_has_several_values_is_a_column() -> None:
    columns = short(COLUMNS, cases("seal ready", "seal each", "open ready"))
    assert columns == ["cipher", "operation", "payload_B", "keying", "state"]


def test_a_factor_that_goes_with_the_operation_is_none() -> None:
    assert short(COLUMNS, cases("key_setup each", "seal ready")) == COLUMNS


def test_a_cell_stands_on_one_line_and_shows_what_would_move_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    cells = ["two\nlines", "\x1b[31mred", "日本", "µJ"]
    show(pl.DataFrame({"cell": cells, "number": [1, 2, 3, None]}), Format.table)
    assert capsys.readouterr().out.splitlines() == [
        "cell           number",
        "two lines           1",
        "\\u001b[31mred       2",
        "日本                3",
        "µJ                  -",
    ]
