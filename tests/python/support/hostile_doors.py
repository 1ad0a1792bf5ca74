"""Carries hostile posts to the doors of a lab, and holds each answer against what a lab promises."""

import collections
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Connection, text

from support.browser_device import DEVICE
from support.hostile_posts import TARGET, Known, hostile_post
from support.labs import LOCAL, asking, below
from wattlock.errors import InputError, WattlockError
from wattlock.lab import doors, planning, tokens
from wattlock.lab.advising import AdviceRequest, question_of
from wattlock.lab.collection import Collection
from wattlock.lab.fleet import goals
from wattlock.lab.measuring import PLACE
from wattlock.lab.tokens import Scope
from wattlock.page import visits

TABLES = ("job", "task", "goal", "run", "library", "reason", "token", "papers_answers")
"""All but the audit log, which says who was refused."""
PAGES = ("/login", PLACE)
"""A wrong token there is told on the page that asked for it."""
Tally = collections.Counter[tuple[str, int]]


def _planned(asked: AdviceRequest, *_: Any) -> planning.KeptPlan:
    """In place of a child that takes seconds: what is refused of a question is refused."""
    try:
        question_of(asked)
    except WattlockError as error:
        raise InputError(error.message, hint=error.hint) from error
    return planning.KeptPlan(5.0, [], "nothing narrows it", [])


@contextmanager
def hostile_lab(place: Path) -> Iterator["Hostile"]:
    """A lab with tokens, a fleet and a module for browsers, which is asked as fast as somebody likes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(doors, "REFUSALS", 10**9)
        patch.setattr(doors, "BURST", 10**9)
        patch.setattr(visits, "POLL_S", 0.01)
        patch.setattr(goals, "plan", _planned)
        (place / "module.wasm").write_bytes(visits.MAGIC)
        patch.setenv(visits.VARIABLE, str(place / "module.wasm"))
        lab = Collection.open(place / "lab")
        with lab.engine.connect() as watching:
            yield Hostile(lab, watching)
        lab.engine.dispose()


class Hostile:
    """Posts to one lab; `tally`: answers by door and status."""

    def __init__(self, lab: Collection, watching: Connection) -> None:
        self._lab, self._watching = lab, watching
        self._client: TestClient = asking(lab, [TARGET])
        self._by = {scope.value: tokens.make(lab.engine, scope, None) for scope in Scope}
        self._visit = self._key = ""
        self._job = 1
        self.tally: Tally = collections.Counter()

    def carry_out(self, seed: int) -> None:
        """Sends a post. Raises AssertionError where the lab fails, says not why, or a refusal changed something."""
        self._measure()
        post = hostile_post(seed, Known(self._by, self._key, self._visit, self._job))
        about = f"seed {seed}: {post.method} {post.path[:80]} {post.headers} {post.body[:200]!r}"
        files, rows, version = self._files(), self._rows(), self._version()
        self._client.cookies.clear()
        answer = self._client.request(post.method, post.path, content=post.body, headers=post.headers)
        status = answer.status_code
        self.tally[post.door, status] += 1
        assert status < 500, f"{about}: {status} {answer.text[:300]}"
        if status < 400:
            if post.path == f"{PLACE}/visit" and status == 200:
                self._visit = answer.json()["visit"]
            return
        if post.method != "HEAD" and not (post.path in PAGES and status in {401, 403}):
            said = answer.json()
            assert said.keys() == {"error", "hint"}, f"{about}: {said}"
            assert said["error"], about
            assert said["hint"], about
            assert str(self._lab.data) not in answer.text, f"{about}: {said}"
        # A line of the audit log is all that a refusal may write, and that of a token alone.
        assert self._version() == version or status in {401, 403}, f"{about}: {status} wrote"
        assert self._rows() == rows, f"{about}: {status} changed the database"
        assert self._files() == files, f"{about}: {status} changed files"

    def _measure(self) -> None:
        """A device is being measured: where the last one was sent away, the next begins."""
        asked = {"Origin": LOCAL}
        found = self._client.post(f"{PLACE}/work", params={"visit": self._visit}, headers=asked)
        if found.status_code != 200 or found.json()["state"]["is_over"]:
            form = {"token": self._by["send"]}
            begun = self._client.post(PLACE, data=form, headers=asked)
            self._key = urlsplit(begun.headers["location"]).fragment
            visit = self._client.post(f"{PLACE}/visit", json={"key": self._key, "device": DEVICE}, headers=asked)
            self._visit = visit.json().get("visit", "")
        elif (job := found.json().get("job")) is not None:
            self._job = job["number"]

    def _files(self) -> list[str]:
        """What the lab keeps; what arrives, as what a device measures, comes and goes."""
        return [name for name in below(self._lab) if not name.startswith("incoming/")]

    def _version(self) -> int:
        """Another number after anybody else wrote the database (SQLite, pragma data_version)."""
        with self._watching.begin():
            return int(self._watching.execute(text("PRAGMA data_version")).scalar_one())

    def _rows(self) -> list[Any]:
        with self._watching.begin():
            return [sorted(map(repr, self._watching.execute(text(f"SELECT * FROM {one}")))) for one in TABLES]  # noqa: S608 - names of ours


def posts(place: Path, seeds: range) -> Tally:
    """Carries out the posts of these seeds at one lab; gives the answers by door and status."""
    with hostile_lab(place) as hostile:
        for seed in seeds:
            hostile.carry_out(seed)
        return hostile.tally
