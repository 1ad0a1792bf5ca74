"""The engine of charts: what it draws is drawn once; the figure of batteries: its lines and what it refuses."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from support.batteries import case, plan
from wattlock.energy import tasks
from wattlock.errors import InputError
from wattlock.report import charts
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


@pytest.fixture
def drawings_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What was asked of vl-convert, which draws the same each time; the cache is empty."""
    requested: list[dict[str, Any]] = []

    def drawn(specification: dict[str, Any]) -> str:
        requested.append(specification)
        return f"<svg>π {specification['mark']}</svg>"

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "vl_convert", SimpleNamespace(vegalite_to_svg=drawn))
    return requested


def test_a_chart_is_drawn_once(drawings_made: list[dict[str, Any]]) -> None:
    found = [charts._svg({"mark": mark}) for mark in ("point", "bar", "point")]
    assert found == ["<svg>π point</svg>", "<svg>π bar</svg>", "<svg>π point</svg>"]
    assert drawings_made == [{"mark": "point"}, {"mark": "bar"}]


@pytest.mark.parametrize("changed", ["<svg/>", "", f"{'0' * 64}<svg/>"])
def test_a_kept_chart_that_was_changed_is_drawn_again(
    drawings_made: list[dict[str, Any]], tmp_path: Path, changed: str
) -> None:
    first = charts._svg({"mark": "point"})
    (kept,) = (path for path in (tmp_path / "cache").rglob("*") if path.is_file())
    kept.write_text(changed)
    assert [charts._svg({"mark": "point"}) for _ in range(2)] == [first] * 2
    assert len(drawings_made) == 2


def test_where_nothing_can_be_kept_a_chart_is_drawn_each_time(
    drawings_made: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert len({charts._svg({"mark": "point"}) for _ in range(2)}) == 1
    assert len(drawings_made) == 2


def test_the_older_charts_leave_the_cache(drawings_made: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "MOST_KEPT", 4)
    for size in range(6):
        charts._svg({"mark": "point", "size": size})
    assert len(drawings_made) == 6
    assert charts._svg({"mark": "point", "size": 5})
    assert len(drawings_made) == 6
    assert len(list(charts._cache().iterdir())) <= 4
