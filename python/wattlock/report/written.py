"""A frame as JSON or CSV, for programs."""

import json
import math
from typing import Any

import polars as pl

from wattlock.text import ACTS, harmless


def flat(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with each list and object as JSON, as CSV can hold it."""
    nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
    columns = [pl.Series(name, [_json(value) for value in frame[name].to_list()], dtype=pl.String) for name in nested]
    return frame.with_columns(columns)


_FORMULA = r"^[=+\-@\t\n＝＋－＠]"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def csv_text(frame: pl.DataFrame) -> str:
    """The frame as CSV with a header line.

    Characters that a terminal would carry out are shown. A text that a spreadsheet would take for a formula has an
    apostrophe before it, unless it is a number (OWASP, CSV Injection,
    https://owasp.org/www-community/attacks/CSV_Injection).
    """
    frame = flat(frame)
    names = [name for name, kind in frame.schema.items() if kind == pl.String and frame[name].str.contains(ACTS).any()]
    frame = frame.with_columns(pl.col(names).map_elements(harmless, return_dtype=pl.String))
    texts = pl.col(pl.String)
    is_formula = texts.str.contains(_FORMULA) & ~texts.str.contains(_NUMBER)
    return frame.with_columns(pl.when(is_formula).then("'" + texts).otherwise(texts).name.keep()).write_csv()


def json_array(frame: pl.DataFrame) -> str:
    """One array with one object a row, null where a number is missing or not finite."""
    rows = (json.dumps(_finite(row), ensure_ascii=False, allow_nan=False) for row in frame.iter_rows(named=True))
    return "[" + ",\n ".join(rows) + "]"


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    # JSON has no infinity and no NaN.
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in row.items()
    }
