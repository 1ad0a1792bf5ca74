"""Advice as a page of a lab: the form, the record, and what is refused."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from support.labs import MEASURED, asking, filled, hash_of
from wattlock.errors import InputError
from wattlock.lab.advising import AdviceRequest, answer
from wattlock.lab.database import DatabaseBusy
from wattlock.lab.doors import MOST_WAITING, Turns, turns

SENSOR = "profile=sensor&allow-assumed=on"
BROWSER = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    return asking(filled(tmp_path_factory.mktemp("lab"), [MEASURED]))


def test_the_record_of_a_page_is_that_of_the_command_line(client: TestClient, tmp_path: Path) -> None:
    words = ["advise", "sensor", "--allow-assumed", "--record", "record.md"]
    done = subprocess.run([sys.executable, "-m", "wattlock", *words], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    written = (tmp_path / "record.md").read_text().splitlines()
    shown = client.get(f"/advise.md?{SENSOR}").text.splitlines()
    # A file has its figures beside it, and its command names the file.
    apart = ("![", "- Command", "Days of battery (", "Where the battery's energy goes (")
    own, told = ([line for line in lines if line and not line.startswith(apart)] for lines in (written, shown))
    assert told == own
    assert any("wattlock advise sensor --allow-assumed" in line for line in shown)


def test_page_json_and_csv_give_one_answer_and_keep_the_question(client: TestClient) -> None:
    whole = client.get(f"/advise.json?{SENSOR}").json()
    page = client.get(f"/advise?{SENSOR}").text
    assert whole["title"] in page
    assert '<option value="sensor" selected>' in page
    assert whole["ranked"][0]["cipher"] in client.get(f"/advise.csv?{SENSOR}").text.splitlines()[1]
    record = client.get(f"/advise.html?{SENSOR}")
    assert record.text.startswith("<!doctype html>")
    assert "sandbox" in record.headers["Content-Security-Policy"]


def test_a_run_of_the_lab_says_what_ciphers_cost_and_no_path_is_told(client: TestClient) -> None:
    asked = f"message=64B&every=1s&device=x86-server-assumed&radio=intel-5300&allow-assumed=on&run={hash_of(MEASURED)}"
    answer = client.get(f"/advise.json?{asked}")
    # The small run has no authenticated cipher: that is the answer, with no path of the lab in it.
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"].startswith("no choice is left of 4: excluded by authenticated 4")
    assert "aes128-cbc, full-nonce (rustcrypto)" in answer.json()["hint"]
    assert str(client.app.state.lab.data) not in answer.text  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("asked", "status", "says"),
    [
        ("profile=sensor", 409, "--allow-assumed"),
        ("profile=/etc/passwd", 400, "there is no profile"),
        ("profile=sensor&device=../../x.toml", 400, "there is no device"),
        ("profile=sensor&lifetime=soon", 400, "--lifetime"),
        ("profile=sensor&strength=much", 400, "strength"),
        ("profile=sensor&allow-assumed=yes", 400, "allow-assumed"),
        ("profile=sensor&set=floor.tag=96", 400, "there is no field"),
        ("profile=sensor&profile=voice", 400, "given twice"),
        ("message=64B", 400, "--every is missing"),
        ("profile=sensor&run=" + "0" * 64, 404, "there is no run"),
        ("profile=" + "x" * 100, 400, "letters"),
    ],
)
def test_a_bad_value_is_told_beside_the_form_and_as_json(
    client: TestClient, asked: str, status: int, says: str
) -> None:
    told = client.get(f"/advise.json?{asked}")
    assert (told.status_code, sorted(told.json())) == (status, ["error", "hint"])
    assert says in told.json()["error"] + told.json()["hint"]
    page = client.get(f"/advise?{asked}", headers=BROWSER)
    assert page.status_code == status
    assert 'role="alert"' in page.text
    assert '<form class="question"' in page.text


def test_what_is_filled_in_is_no_markup(client: TestClient) -> None:
    page = client.get("/advise", params={"profile": "sensor", "lifetime": '"><script>alert(1)</script>'}).text
    assert "<script>alert" not in page


def test_a_question_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    asked = AdviceRequest("sensor", None, None, {}, allow_assumed=True, arguments=("sensor",))
    with pytest.raises(InputError, match="limits of memory and time"):
        answer(asked, tmp_path, wall_s=0.05)


def test_the_form_has_the_options_of_advise() -> None:
    command = [sys.executable, "-m", "wattlock", "advise", "--help"]
    wide = {**os.environ, "COLUMNS": "200"}
    shown = subprocess.run(command, capture_output=True, text=True, check=False, env=wide).stdout
    from wattlock.lab.advice_page import FIELDS

    assert [field.name for field in FIELDS if field.name != "profile" and f"--{field.name}" not in shown] == []


@pytest.mark.parametrize("path", ["/advise.json?profile=sensor&message=65B", "/plan.json?profile=sensor&message=65B"])
def test_while_many_questions_wait_the_next_one_is_refused_at_once(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    places = threading.BoundedSemaphore(1)
    assert places.acquire(blocking=False)
    monkeypatch.setattr(turns, "_places", places)
    refused = client.get(f"{path}&allow-assumed=on")
    assert (refused.status_code, refused.json()["hint"]) == (503, "try again in a minute")


def test_so_many_wait_for_a_turn_and_no_more() -> None:
    own, told = Turns(), []

    def waits() -> None:
        with own.one():
            told.append("a turn")

    waiting = [threading.Thread(target=waits) for _ in range(MOST_WAITING)]
    with own.one(), own.one():
        for one in waiting:
            one.start()
        while own._places._value:
            time.sleep(0.01)
        with pytest.raises(DatabaseBusy), own.one():
            pass
    for one in waiting:
        one.join(10)
    assert told == ["a turn"] * MOST_WAITING
