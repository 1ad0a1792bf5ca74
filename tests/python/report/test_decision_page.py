"""The page of a decision record in a browser: wide and narrow, light and dark, by keyboard, on paper, offline."""

import json
import shutil
import subprocess
import sys
from importlib.resources import files
from typing import Any

import pytest

from support.advice import TODAY
from support.tools import needs
from support.tree import TESTS
from wattlock.advise import advise, load, record
from wattlock.advise.record import Section
from wattlock.report.decision_page import decision_page

LIMIT_S = 180
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
# The accessibility checker, which `make test` installs as it does playwright.
AXE = files("axe_playwright_python") / "axe.min.js"
pytestmark = needs(CHROMIUM, "no chromium was found on the PATH")
Seen = list[dict[str, Any]]
COMMAND = "wattlock advise beacon --allow-assumed"


@pytest.fixture(scope="module")
def parts() -> list[Section]:
    """A record with many ranks, a capacitor and long conditions."""
    return record.sections(advise(load("beacon"), allow_assumed=True, today=TODAY), {}, COMMAND)


@pytest.fixture(scope="module")
def visits(parts: list[Section], tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """What each of four readers saw."""
    page = tmp_path_factory.mktemp("decision") / "decision.html"
    page.write_text(decision_page("Decision record: a beacon", parts), encoding="utf-8")
    command = [sys.executable, "-m", "support.decision_browser", str(CHROMIUM), str(page), str(AXE)]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    seen: Seen = json.loads(done.stdout)
    assert {(visit["width"], visit["scheme"]) for visit in seen} == {
        (width, scheme) for width in (1440, 390) for scheme in ("light", "dark")
    }
    return seen


def test_nothing_is_wider_than_a_phone_and_the_console_is_silent(visits: Seen) -> None:
    for visit in visits:
        assert visit["overflow_px"] == 0
        assert visit["complaints"] == []
        assert [one.partition(":")[0] for one in visit["requests"]] == ["file"] * 2, "the page, and again by reloading"


def test_decision_and_both_figures_are_on_the_first_screen_of_a_desk(visits: Seen) -> None:
    assert all(visit["figures_end_px"] <= 900 for visit in visits if visit["width"] == 1440)


def test_every_link_lands_at_its_part(visits: Seen, parts: list[Section]) -> None:
    for visit in visits:
        assert len(visit["landed"]) == len(parts)
        missed = [(link, top) for link, top, at_end in visit["landed"] if not (-1 <= top <= 40 or (at_end and top > 0))]
        assert missed == []


def test_the_first_column_stays_in_sight_on_a_phone(visits: Seen) -> None:
    assert [visit["frozen"] for visit in visits if visit["width"] == 390] == [[0, 0]] * 2


def test_the_keyboard_reaches_the_decision_first_and_every_table_with_a_visible_focus(
    visits: Seen, parts: list[Section]
) -> None:
    tables = {f"Table: {part.title}" for part in parts if part.rows}
    for visit in visits:
        names = [name for name, _ in visit["focused"]]
        assert names[0] == "Skip to the decision"
        assert tables <= set(names)
        assert {outline for name, outline in visit["focused"] if name in tables} == {"3px"}


def test_the_accessibility_checker_finds_nothing(visits: Seen) -> None:
    assert [visit["violations"] for visit in visits] == [[]] * 4


def test_a_print_is_two_pages_without_the_appendix_and_says_what_is_left_out(
    visits: Seen, parts: list[Section]
) -> None:
    for visit in visits:
        assert visit["pages"] <= 2
        assert visit["on_paper"] == [part.title for part in parts if not part.appendix]
        assert all(part.title in visit["left_out"] for part in parts if part.appendix)
