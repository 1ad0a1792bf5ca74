"""What the lab's pages load beside themselves."""

import pytest

from wattlock.lab import layout
from wattlock.report import html

pytest.importorskip("starlette")


def test_the_style_is_the_lab_s_and_comparisons_a_script_is_itself_and_nothing_else_is_given() -> None:
    style, script = layout.asset(layout.STYLE), layout.asset(f"{layout.SCRIPTS[0]}.js")
    assert style is not None
    assert script is not None
    assert style.startswith(html.stylesheet("compare", "lab"))
    assert script == html.asset(f"{layout.SCRIPTS[0]}.js")
    assert [layout.asset(name) for name in ("x.css", "../report.css", "", "report.html")] == [None] * 4
