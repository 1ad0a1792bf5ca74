"""The pages of a lab as people meet them: in a browser, wide and narrow, light and dark, by keyboard."""

import html
import json
import re
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from support.labs import COUNTED, MEASURED, SMALL, asking, filled, hash_of, listening
from support.labs_over_time import repeated
from support.tools import needs
from support.tree import TESTS
from wattlock.lab import tokens
from wattlock.lab.collection import Collection
from wattlock.lab.database import session
from wattlock.lab.tokens import Scope
from wattlock.page.visits import MAGIC, VARIABLE

LIMIT_S = 480
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
AXE = files("axe_playwright_python") / "axe.min.js"
PAIR = f"run={hash_of(COUNTED / 'm4')}&run={hash_of(COUNTED / 'm0plus')}"
PATHS: tuple[str, ...] = (
    "/",
    "/runs?evidence=emulated",
    f"/runs/{hash_of(MEASURED)}",
    f"/runs/{hash_of(COUNTED / 'm4')}",
)
PATHS += (f"/compare?{PAIR}", "/compare", "/devices", "/change", "/advise", "/papers", "/plan", "/queue", "/nothing")
ASKED = "profile=sensor&message=64B&allow-assumed=on"
PATHS += (f"/advise?{ASKED}", f"/plan?{ASKED}&within=5")


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    again = repeated(tmp_path_factory.mktemp("runs"), runs=10, step_at=5, step=1.1)
    lab = filled(tmp_path_factory.mktemp("lab"), [*SMALL, *again])
    ((device, study),) = {(run.device, run.study) for run in lab.runs() if run.id.startswith("again")}
    paths = [*PATHS, f"/change?series={device}/{study}"]
    with listening(lab) as address:
        command = [sys.executable, "-m", "support.lab_browser", str(CHROMIUM), str(AXE), address, *paths]
        done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    seen: list[dict[str, Any]] = json.loads(done.stdout)
    return seen


@needs(CHROMIUM, "there is no Chromium")
def test_every_page_is_free_of_findings_of_axe_and_no_wider_than_its_window(visits: list[dict[str, Any]]) -> None:
    assert len(visits) == 4 * (len(PATHS) + 1)
    assert [(one["path"], one["width"], one["violations"]) for one in visits if one["violations"]] == []
    assert [(one["path"], one["width"]) for one in visits if one["overflow_px"] > 0] == []


@needs(CHROMIUM, "there is no Chromium")
def test_no_page_complains_or_fetches_from_elsewhere(visits: list[dict[str, Any]]) -> None:
    complaints = [(one["path"], one["complaints"]) for one in visits if one["path"] != "/nothing"]
    assert [found for found in complaints if found[1]] == []
    hosts = {request.split("/")[2].split(":")[0] for one in visits for request in one["requests"] if "//" in request}
    assert hosts == {"127.0.0.1"}


@needs(CHROMIUM, "there is no Chromium")
def test_the_keyboard_reaches_the_skip_link_first_and_then_links_and_tables(visits: list[dict[str, Any]]) -> None:
    for one in visits:
        assert one["first_focus"] == "Skip to the page", one["path"]
        assert "A" in one["focused"], one["path"]
        assert one["title"].endswith(": wattlock lab")


@needs(CHROMIUM, "there is no Chromium")
def test_a_person_logs_in_by_keyboard_and_is_told_when_a_token_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "module.wasm").write_bytes(MAGIC)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "module.wasm"))
    lab = filled(tmp_path / "lab", [MEASURED])
    token = tokens.make(lab.engine, Scope.admin, 1)
    with listening(lab) as address:
        command = [sys.executable, "-m", "support.lab_login", str(CHROMIUM), str(AXE), address, token]
        done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "asked": "Log in: wattlock lab",
        "refused": "Log in: wattlock lab",
        "refused_alerts": ["The token is not one of this lab's"],
        "refused_overflow_px": 0,
        "refused_violations": [],
        "in": "Overview: wattlock lab",
        "in_alerts": [],
        "in_overflow_px": 0,
        "in_violations": [],
        "door": "Measure this device: wattlock lab",
        "door_overflow_px": 0,
        "door_violations": [],
        "log": "Audit log: wattlock lab",
        "log_overflow_px": 0,
        "log_violations": [],
        "tokens": "Tokens: wattlock lab",
        "tokens_overflow_px": 0,
        "tokens_violations": [],
        "cookies_of_scripts": "",
    }


def test_an_empty_lab_says_the_two_commands_that_fill_it(tmp_path: Path) -> None:
    page = asking(Collection.open(tmp_path)).get("/").text
    assert "wattlock run quick\nwattlock push last --to http://127.0.0.1" in page


def test_behind_a_proxy_that_speaks_https_an_empty_lab_shows_its_address_as_browsers_have_it(tmp_path: Path) -> None:
    client = asking(Collection.open(tmp_path))
    shown = {
        said: client.get("/", headers={"X-Forwarded-Proto": said}).text.partition("last --to ")[2].partition(":")[0]
        for said in ("https", "http", "javascript")
    }
    assert shown == {"https": "https", "http": "http", "javascript": "http"}


def test_text_of_a_run_is_no_markup(tmp_path: Path) -> None:
    lab = filled(tmp_path, [MEASURED])
    from sqlalchemy import update

    from wattlock.lab.database import RunRow

    hostile = "<script>alert(1)</script>"
    with lab.engine.begin() as connection:
        connection.execute(update(RunRow).values(id=hostile, study=hostile, device_name=hostile, card=hostile))
    client = asking(lab)
    for path in ("/", "/runs", "/compare", f"/runs/{hash_of(MEASURED)}", f"/runs?study={hostile}"):
        page = client.get(path).text
        assert "alert(1)" not in page.replace("&lt;script&gt;alert(1)&lt;/script&gt;", ""), path


def test_the_page_of_devices_compares_them_by_the_latest_valid_run_of_a_study(tmp_path: Path) -> None:
    from wattlock.lab.database import Reason

    lab = filled(tmp_path)
    client = asking(lab)

    def link() -> re.Match[str] | None:
        return re.search('href="(/compare[^"]+)">[^<]*: 2 devices', client.get("/devices").text)

    found = link()
    assert found is not None
    address = html.unescape(found[1])
    assert sorted(re.findall("run=([0-9a-f]{64})", address)) == sorted(
        hash_of(COUNTED / one) for one in ("m4", "m0plus")
    )
    assert client.get(address).status_code == 200
    with session(lab.engine) as opened:
        opened.add(Reason(run=hash_of(COUNTED / "m4"), place=0, text="the clock was changed"))
    assert link() is None, "an invalid run stands for no device"


def test_what_is_emulated_says_so_in_every_row(tmp_path: Path) -> None:
    lab = filled(tmp_path)
    page = asking(lab).get("/runs").text
    rows = [row for row in page.split("<tr>") if '<th scope="row">' in row]
    assert {("Cortex" in row): ('data-evidence="emulated"' in row) for row in rows} == {True: True, False: False}
