"""The report in a browser: wide and narrow, light and dark, by keyboard, without a network."""

import json
import shutil
import subprocess
import sys
from typing import Any

import pytest

from support import report_frames
from support.tools import needs
from support.tree import TESTS
from wattlock.report.page import write_report

LIMIT_S = 180
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

# Playwright comes with `make test`.
pytestmark = needs(CHROMIUM, "no chromium was found on the PATH")
Seen = list[dict[str, Any]]


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """What each of four readers saw."""
    page = tmp_path_factory.mktemp("browser") / "report.html"
    estimates = report_frames.estimates()
    write_report(page, report_frames.run_facts(estimates), estimates, report_frames.ranking(estimates))
    command = [sys.executable, "-m", "support.report_browser", str(CHROMIUM), str(page)]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    seen: Seen = json.loads(done.stdout)
    return seen


def test_nothing_is_wider_than_the_window_at_any_width(visits: Seen) -> None:
    assert {visit["width"] for visit in visits} == {1280, 360}
    assert [visit["overflow_px"] for visit in visits] == [0] * 4
    assert [visit["chart_overflow_px"] for visit in visits] == [0] * 4


def test_the_verdicts_of_the_checks_are_within_the_window(visits: Seen) -> None:
    assert [visit["verdict_edge_px"] <= visit["width"] for visit in visits] == [True] * 4


def test_every_figure_is_drawn_once_it_was_scrolled_to_and_not_all_before(visits: Seen) -> None:
    for visit in visits:
        assert visit["charts"] == visit["figures"] >= 10
        assert visit["charts_before_scrolling"] < visit["figures"]


def test_the_charts_take_the_ink_of_the_scheme(visits: Seen) -> None:
    inks = {(visit["scheme"], visit["axis_ink"]) for visit in visits}
    assert inks == {("light", "rgb(28, 31, 34)"), ("dark", "rgb(232, 234, 236)")}


def test_the_console_stays_silent_and_nothing_but_the_page_is_requested(visits: Seen) -> None:
    for visit in visits:
        assert visit["complaints"] == []
        assert len(visit["requests"]) == 1
        assert visit["requests"][0].startswith("file:")


def test_the_keyboard_reaches_the_skip_link_first_and_then_the_filter_of_the_table(visits: Seen) -> None:
    for visit in visits:
        assert visit["first_focus"] == "Skip to the answer"
        assert visit["focus"] == "filter"


def test_the_filter_keeps_the_rows_that_hold_every_word_and_the_state_asked_for(visits: Seen) -> None:
    for visit in visits:
        assert (visit["rows"], visit["shown"]) == (5, "5 of 306 cases")
        assert visit["failed_rows"] == 2


def test_a_second_click_on_a_heading_sorts_downwards_and_leaves_empty_cases_last(visits: Seen) -> None:
    for visit in visits:
        assert visit["most_expensive_first"].startswith("3des")
        assert visit["last_cost"] == "–"
