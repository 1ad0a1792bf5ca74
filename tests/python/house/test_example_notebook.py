"""The example notebook runs from its first case to its last, and what an advice draws."""

import runpy

import polars as pl
import pytest

from support.tree import TREE
from wattlock.advise import advise, load
from wattlock.report.charts import days

NOTEBOOK = TREE / "examples" / "notebooks" / "advise.py"


def test_the_figure_has_a_line_a_choice_and_names_the_evidence() -> None:
    ranked = advise(load("sensor"), allow_assumed=True).ranked
    drawn = days(ranked, most=5).to_dict()
    (rows,) = drawn["datasets"].values()
    assert len(rows) == 5
    assert drawn["layer"][0]["encoding"]["x"]["title"] == "days of battery (assumed)"


def test_the_notebook_runs_and_its_frames_hold_an_answer() -> None:
    pytest.importorskip("marimo", reason="the notebook needs marimo")
    _, found = runpy.run_path(str(NOTEBOOK))["app"].run()
    assert isinstance(found["ranked"], pl.DataFrame)
    assert found["first"].height == 10
    assert "approved" in found["excluded"]["rule"].to_list()
    assert found["chart"].to_dict()["layer"]
