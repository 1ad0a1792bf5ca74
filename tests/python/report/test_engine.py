"""The charts' engine is made once and kept, and what was kept is not believed where it was changed."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from wattlock.report import engine


@pytest.fixture
def makings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was asked of vl-convert, which makes a script of one line; the cache is empty."""
    asked: list[str] = []

    def make(exported: str) -> str:
        asked.append(exported)
        return "let π = 3;"

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "vl_convert", SimpleNamespace(javascript_bundle=make))
    return asked


def test_the_engine_is_made_once(makings: list[str]) -> None:
    assert [engine.bundle() for _ in range(3)] == ["let π = 3;"] * 3
    assert makings == [engine.EXPORTED]


def test_a_kept_engine_that_was_changed_is_made_again(makings: list[str], tmp_path: Path) -> None:
    engine.bundle()
    (kept,) = (tmp_path / "cache" / "wattlock").iterdir()
    kept.write_text("let π = 4;")
    assert engine.bundle() == "let π = 3;"
    assert len(makings) == 2
    assert kept.read_text() == "let π = 3;"


def test_where_nothing_can_be_kept_it_is_made_each_time(
    makings: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert [engine.bundle(), engine.bundle()] == ["let π = 3;"] * 2
    assert len(makings) == 2
