"""The pages of runs that counted in a browser: wide and narrow, light and dark, by keyboard, without a network."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from support.counted_runs import C3, M0PLUS, M4, M4_L476, M4_PART, STUDY, Replayed
from support.tools import needs
from support.tree import TESTS
from wattlock import cli
from wattlock.report.compare_page import sections
from wattlock.report.compared import run_comparison
from wattlock.run.begin import Request, measure
from wattlock.run.result import open_run
from wattlock.run.run_comparison import compare

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


@pytest.fixture(scope="module")
def some(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The M4's run with some of its ciphers."""
    place = tmp_path_factory.mktemp("some")
    (place / "counted.toml").write_text(STUDY)
    runs = {"one": ["ascon*"], "two": ["ascon*", "chacha20*"], "case": ["cipher=rc4*,operation=encrypt"]}
    for name, only in runs.items():
        measure(Request(str(place / "counted.toml"), only), target=Replayed(M4, changed=MORE[name]), out=place / name)
    return {name: place / name for name in runs}


def more(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the probe writes where each case takes twice the cycles."""
    return [line | {"core_cycles": 2 * line["core_cycles"]} if line["kind"] == "count" else line for line in lines]


MORE: dict[str, Callable[[list[dict[str, Any]]], list[dict[str, Any]]]] = {"one": list, "two": list, "case": more}


def answered(*runs: Path) -> str:
    """The sentence of the answer, without marks."""
    first, *others = map(open_run, runs)
    compared = run_comparison(list(map(str, runs)), compare(first, others))
    lead = re.search('<p class="lead">(.*?)</p>', sections(compared))
    assert lead is not None
    return re.sub("<[^>]+>", "", lead[1]).replace("\u00a0", " ")


@pytest.mark.parametrize("is_first", [True, False])
def test_a_cipher_without_rivals_is_not_called_the_cheapest(some: dict[str, Path], is_first: bool) -> None:
    runs = (some["one"], M0PLUS) if is_first else (M0PLUS, some["one"])
    told = answered(*runs)
    assert "Cheapest" not in told
    assert "No two ciphers that can be compared are in every run" in told
    assert "To seal 64 B, Ascon-AEAD128 takes" in told
    assert "16,420 on Cortex-M0+" in told
    assert "9,078 on Cortex-M4" in told


def test_the_cheapest_is_of_the_ciphers_that_every_run_has(some: dict[str, Path]) -> None:
    told = answered(M0PLUS, some["two"])
    assert told.startswith("Cheapest of the 2 cases that every run has to seal 64 B: Ascon-AEAD128")
    assert "on Cortex-M0+; ChaCha20-Poly1305" in told


def test_runs_with_the_same_ciphers_are_answered_of_all() -> None:
    assert answered(M0PLUS, M4).startswith("Cheapest to seal 64 B: Ascon-AEAD128")


def test_of_one_case_there_is_one_sentence(some: dict[str, Path]) -> None:
    told = answered(M4, some["case"])
    assert told.startswith("In the case that both have (RC4-128, encrypt")
    assert "takes 100 % more core cycles than A (m4)." in told
