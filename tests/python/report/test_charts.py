"""The figure of batteries that empty: its lines and what it refuses."""

from typing import Any

import polars as pl
import pytest

from support.batteries import case, plan
from wattlock.energy import tasks
from wattlock.errors import InputError
from wattlock.report.charts import discharge, write_figure
from wattlock.report.evidence import EvidenceMix


def test_the_figure_holds_one_line_a_task_and_refuses_mixed_evidence(tmp_path: Any) -> None:
    frame = pl.DataFrame([case("3des-cbc", "encrypt", 900.0), case("cast128-cbc", "encrypt", 200.0)])
    curves = tasks.curves(tasks.from_estimates(frame), tasks.Duty(), plan())
    assert set(curves["task"]) == {"3des-cbc", "cast128-cbc"}
    ends = curves.group_by("task").agg(pl.col("operations").max()).sort("operations")
    assert ends["task"].to_list() == ["3des-cbc", "cast128-cbc"]
    write_figure(discharge(curves), tmp_path / "fall.svg")
    assert "cast128-cbc" in (tmp_path / "fall.svg").read_text()
    with pytest.raises(EvidenceMix):
        discharge(pl.concat([curves, curves.with_columns(evidence=pl.lit("assumed"))]))
    with pytest.raises(InputError, match=r'no format ".gif"'):
        write_figure(discharge(curves), tmp_path / "fall.gif")


def test_a_figure_of_a_whole_run_is_drawn_however_many_ciphers_it_has(tmp_path: Any) -> None:
    # Altair of itself refuses more than 5,000 rows; a line has some 200.
    frame = pl.DataFrame([case(f"rc5-32-{n}-128-cbc", "encrypt", 100.0 + n) for n in range(40)])
    curves = tasks.curves(tasks.from_estimates(frame), tasks.Duty(), plan())
    assert curves.height > 5_000
    for name in ("fall.svg", "fall.html"):
        write_figure(discharge(curves), tmp_path / name)
        assert "rc5-32-39-128-cbc" in (tmp_path / name).read_text()
