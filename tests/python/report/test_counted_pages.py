"""The pages of runs that counted in a browser: wide and narrow, light and dark, by keyboard, without a network."""

import json
import shutil
import subprocess
import sys
from importlib.resources import files
from typing import Any

import pytest

from support.counted_runs import C3, M0PLUS, M4, M4_L476, M4_PART
from support.tools import needs
from support.tree import TESTS
from wattlock import cli

LIMIT_S = 400
AXE = files("axe_playwright_python") / "axe.min.js"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
CARD = ("--device", "stm32l476", "--allow-assumed")
PAGES = {
    "report": ("report", M4_L476, *CARD, "--out"),
    "instructions": ("report", C3, "--out"),
    "cores": ("compare", M4_L476, M0PLUS, C3, M4_PART, *CARD, "--html"),
    "versions": ("compare", M4, M4_L476, "--html"),
}
"""The words that draw each page."""
FIGURES = {"report": 2, "instructions": 1, "cores": 1, "versions": 1}

pytestmark = needs(CHROMIUM, "no chromium was found on the PATH")
Seen = list[dict[str, Any]]


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """What each of four readers saw of each page."""
    folder = tmp_path_factory.mktemp("counted")
    pages = [folder / f"{name}.html" for name in PAGES]
    for page, words in zip(pages, PAGES.values(), strict=True):
        assert cli.answer([*map(str, words), str(page)]) == 0
    command = [sys.executable, "-m", "support.counted_browser", str(CHROMIUM), str(AXE), *map(str, pages)]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    seen: Seen = json.loads(done.stdout)
    assert len(seen) == 4 * len(PAGES)
    return seen


def test_nothing_is_wider_than_the_window_and_no_word_leaves_its_picture(visits: Seen) -> None:
    for visit in visits:
        assert visit["overflow_px"] == 0, visit["page"]
        assert visit["words_out_px"] <= 1, (visit["page"], visit["width"])


def test_each_figure_is_seen_once_at_every_width(visits: Seen) -> None:
    for visit in visits:
        assert (visit["figures"], visit["pictures"]) == (FIGURES[visit["page"]],) * 2, (visit["page"], visit["width"])


def test_axe_finds_nothing(visits: Seen) -> None:
    assert [(visit["page"], found) for visit in visits for found in visit["violations"]] == []


def test_the_console_stays_silent_and_nothing_but_the_page_is_requested(visits: Seen) -> None:
    for visit in visits:
        assert visit["complaints"] == []
        assert [request.partition(":")[0] for request in visit["requests"]] == ["file"]


def test_the_keyboard_reaches_the_skip_link_first_and_then_every_table(visits: Seen) -> None:
    for visit in visits:
        assert visit["first_focus"] == "Skip to the answer"
        assert visit["reached"] == visit["tables"] != [], visit["page"]


def test_links_land_within_40_px_of_the_top(visits: Seen) -> None:
    for visit in visits:
        assert len(visit["landed"]) == 5
        assert not [one for one in visit["landed"] if not (-1 <= one[1] <= 40 or (one[2] and one[1] > 0))], visit[
            "page"
        ]


def test_the_print_has_the_answer_and_what_the_numbers_are(visits: Seen) -> None:
    printed = {visit["page"]: visit["printed"] for visit in visits}
    assert printed["report"] == ["The answer", "What these numbers are", "Cycles, flash, RAM and stack"]
    assert printed["cores"][0] == "The answer"
