"""A device measures itself by a page of the lab: who may, with which key, and that its run is in the lab then."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from fastapi.testclient import TestClient

from support.browser_device import DEVICE
from support.labs import LOCAL, asking, listening
from support.tools import missing, needs
from support.tree import TESTS, TREE
from wattlock.errors import DiskFull
from wattlock.lab import measuring, tokens
from wattlock.lab.collection import Collection
from wattlock.lab.tokens import Scope
from wattlock.page import visits
from wattlock.page.server import HEADERS
from wattlock.page.visits import MAGIC, MOST_WORDS_B, Visitor

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
BUILT = TREE / "build" / "page-trial" / visits.NAME
PLACE = measuring.PLACE
TINY = """id = "tiny"
title = "One cipher"
question = "Does it work?"
target_percent = 50
smallest_effect_percent = 50
looks = [5]

[[grid]]
cipher = ["rc4-128"]
operation = ["encrypt"]
payload_B = [64]
"""


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Collection:
    (tmp_path / "module.wasm").write_bytes(MAGIC)
    monkeypatch.setenv(visits.VARIABLE, str(tmp_path / "module.wasm"))
    return Collection.open(tmp_path / "lab")


def given(client: TestClient, token: str) -> Any:
    """What the lab answers to who gives a token to be measured."""
    return client.post(PLACE, data={"token": token}, headers={"Origin": LOCAL})


def visited(client: TestClient, key: str) -> int:
    """The status of a page that begins with a key."""
    body = json.dumps({"key": key, "device": DEVICE})
    return client.post(f"{PLACE}/visit", content=body, headers={"Origin": LOCAL}).status_code


def test_without_tokens_the_page_opens_with_its_key_and_its_files_are_isolated(lab: Collection) -> None:
    client = asking(lab)
    answer = client.get(PLACE)
    assert answer.status_code == 303
    assert re.fullmatch(f"{PLACE}/#[\\w-]{{12}}", answer.headers["location"])
    for name, words in (("", b"Measure this device"), ("worker.js", b"onmessage"), ("instrument.wasm", MAGIC)):
        file = client.get(f"{PLACE}/{name}")
        assert words in file.content
        assert {header: file.headers[header] for header in HEADERS} == HEADERS
    assert client.get(f"{PLACE}/../../etc/passwd").status_code == 404
    assert client.get(f"{PLACE}/nothing.js").status_code == 404


@pytest.mark.parametrize(
    ("broken", "words"),
    [(ZeroDivisionError("a bug"), "The lab failed"), (DiskFull("the disk is full", hint="make room"), "make room")],
)
def test_a_visit_that_fails_is_told_and_the_next_one_is_measured(
    lab: Collection, monkeypatch: pytest.MonkeyPatch, broken: Exception, words: str
) -> None:
    begun: list[Visitor] = []

    def breaks(visitor: Visitor, *_given: Any) -> None:
        begun.append(visitor)
        if len(begun) == 1:
            raise broken
        visitor.shows(said="Done.", is_over=True)

    monkeypatch.setattr(measuring, "measure", breaks)
    monkeypatch.setattr(visits, "POLL_S", 1.0)
    client = asking(lab)
    for said in (words, "Done."):
        key = urlsplit(client.get(PLACE).headers["location"]).fragment
        visit = client.post(f"{PLACE}/visit", json={"key": key, "device": DEVICE}).json()["visit"]
        state = client.post(f"{PLACE}/work", params={"visit": visit}).json()["state"]
        assert state["is_over"]
        assert said in state["said"]


def test_a_lab_with_tokens_measures_who_has_one_that_sends_and_notes_it(lab: Collection) -> None:
    sends, reads = (tokens.make(lab.engine, scope, None) for scope in (Scope.send, Scope.read))
    client = asking(lab)
    assert '<input name="token"' in client.get(PLACE).text
    for token, status in ((reads, 403), ("wl_none", 401), ("", 401)):
        refused = given(client, token)
        assert refused.status_code == status
        assert 'role="alert"' in refused.text
    foreign = client.post(PLACE, data={"token": sends}, headers={"Origin": "http://elsewhere.example"})
    assert foreign.status_code == 403
    answer = given(client, sends)
    assert answer.status_code == 303
    assert next(line["what"] for line in tokens.actions(lab.engine)) == "may measure itself"
    key = urlsplit(answer.headers["location"]).fragment
    assert visited(client, "another") == 403
    assert visited(client, key) == 200
    assert visited(client, key) == 403, "a key is for one visit"


@pytest.mark.parametrize("what", ["visit", "work", "lines", "ended", "elsewhere"])
def test_a_stranger_posts_nothing_and_no_more_than_a_page_does(lab: Collection, what: str) -> None:
    client = asking(lab)
    for body in (b"", b"{", b"\xff", b"[" * 10_000, b"x" * (MOST_WORDS_B + 1)):
        answer = client.post(f"{PLACE}/{what}", content=body, headers={"Origin": LOCAL})
        assert 400 <= answer.status_code < 500
        assert answer.json().keys() == {"error", "hint"}
    assert lab.count() == 0


@pytest.mark.parametrize("below", ["", "/", "/worker.js", "/nothing", "/a/b"])
def test_without_the_module_every_page_says_how_to_get_it_and_not_where_it_was_sought(
    lab: Collection, monkeypatch: pytest.MonkeyPatch, below: str
) -> None:
    monkeypatch.setenv(visits.VARIABLE, str(lab.data / "none.wasm"))
    answer = asking(lab).get(f"{PLACE}{below}")
    assert answer.status_code == 503
    assert "lacks the module" in answer.json()["error"]
    assert "make page" in answer.json()["hint"]
    assert str(lab.data) not in answer.text
    assert asking(lab).post(f"{PLACE}/visit", json={}).status_code == 503


@needs(CHROMIUM, "no chromium was found on the PATH")
def test_what_a_browser_measures_of_itself_is_a_run_of_the_lab(
    tmp_path: Path, lab: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not BUILT.is_file():
        missing("build/page-trial/instrument.wasm is missing: `make test` builds it")
    monkeypatch.setenv(visits.VARIABLE, str(BUILT))
    (tmp_path / "tiny.toml").write_text(TINY)
    monkeypatch.setattr(measuring, "STUDY", str(tmp_path / "tiny.toml"))
    with listening(lab) as address:
        command = [sys.executable, "-m", "support.page_browser", str(CHROMIUM), f"{address}{PLACE}", "measure"]
        done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["isolated"]
    assert seen["complaints"] == []
    assert seen["home"] == f"{address}/"
    [run] = lab.runs()
    assert seen["state"] == f"Done: the lab has it as run {run.hash[:12]}."
    assert run.study == "tiny"
    assert lab.reading(run.hash)
