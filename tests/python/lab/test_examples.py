"""The example set: a new lab shows it, it leaves for the first other run, and no other lab ever has it."""

import errno
import json
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from alembic import op
from sqlalchemy.exc import OperationalError

from support.hostile_tries import read_here
from support.labs import MEASURED, asking, filled, hash_of, pack_of, sent
from wattlock import cli
from wattlock.errors import DiskFull
from wattlock.lab import collection, tokens
from wattlock.lab.collection import Collection, empty_incoming
from wattlock.lab.serve import first_start


@contextmanager
def served(data: Path) -> Iterator[str]:
    """The address of a lab as `wattlock lab` starts it."""
    command = [sys.executable, "-m", "wattlock", "lab", "--data", str(data), "--bind", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as lab:
        try:
            assert lab.stderr is not None
            address = next(found[0] for line in lab.stderr if (found := re.search(r"http://\S+", line)))
            yield address
        finally:
            lab.terminate()


def text_of(address: str) -> str:
    """What a lab answers."""
    parts = urlsplit(address)
    with closing(HTTPConnection(parts.netloc, timeout=60)) as connection:
        connection.request("GET", f"{parts.path or '/'}?{parts.query}")
        return connection.getresponse().read().decode()


def hashes_at(address: str) -> set[str]:
    """The runs that a lab names."""
    return {row["hash"] for row in json.loads(text_of(f"{address}/runs.json"))}


def test_a_new_lab_shows_examples_until_the_first_run_arrives(tmp_path: Path) -> None:
    data = tmp_path / "lab"
    with served(data) as address:
        assert "The 2 runs below come with wattlock" in text_of(address)
        assert hashes_at(address) == set(collection.hashes())
        both = "&".join(f"run={hash_}" for hash_ in collection.hashes())
        assert json.loads(text_of(f"{address}/compare.json?{both}")), "the examples can be compared"
        assert cli.answer(["push", str(MEASURED), "--to", address]) == 0
        assert hashes_at(address) == {hash_of(MEASURED)}
        assert "come with wattlock" not in text_of(address)
    assert [place.name for place in (data / "runs").iterdir()] == [hash_of(MEASURED)]
    with served(data) as address:
        assert hashes_at(address) == {hash_of(MEASURED)}


def test_the_same_runs_pushed_by_somebody_stay(tmp_path: Path) -> None:
    lab = filled(tmp_path / "lab")
    (known,) = (hash_ for hash_, place in collection.hashes().items() if place.name == "m4")
    client = asking(lab)
    code, _ = sent(client, known, pack_of(collection.hashes()[known]))
    assert code in {200, 201}
    sent(client, hash_of(MEASURED), pack_of(MEASURED))
    assert lab.has(known)


def test_a_start_that_a_full_disk_stopped_is_begun_anew_and_shows_the_examples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "lab"
    lab = Collection.open(data)
    copy, copied = shutil.copy, [0]

    def fills(*given: Any) -> Any:
        copied[0] += 1
        if copied[0] > 5:
            raise OSError(errno.ENOSPC, "No space left on device")
        return copy(*given)

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copy", fills)
        with pytest.raises(DiskFull):
            collection.put(data, data / "runs", data / "incoming")
    assert list((data / "runs").iterdir()) == []
    assert not collection.are_in(data)
    lab.engine.dispose()
    with served(data) as address:
        assert hashes_at(address) == set(collection.hashes())


class Killed(BaseException):
    """Signal 9: nothing that follows in this process happens, so nobody may catch it."""


class Steps:
    """Everything that `examples` does to a disk; the one with the number `fatal` doesn't happen, nor any after it."""

    def __init__(self, patch: pytest.MonkeyPatch, fatal: int) -> None:
        self.count, self.fatal = 0, fatal
        changing = [(shutil, "copy"), (shutil, "rmtree"), *((Path, name) for name in ("mkdir", "touch", "rename"))]
        for place, name in (*changing, (Path, "rmdir"), (Path, "unlink")):
            patch.setattr(place, name, self._counted(getattr(place, name)))

    def _counted(self, does: Any) -> Any:
        def counted(*given: Any, **more: Any) -> Any:
            self.count += 1
            if self.count >= self.fatal:
                raise Killed
            return does(*given, **more)

        return counted


def begun(data: Path) -> Collection:
    """A lab as a start of the server finds and leaves it."""
    lab = Collection.open(data)
    empty_incoming(data)
    if first_start(lab):
        collection.put(data, data / "runs", data / "incoming")
    assert lab.catch_up() == []
    return lab


def killed_at(step: int, does: Any) -> bool:
    """Whether there was such a step, at which what is done was killed."""
    with pytest.MonkeyPatch.context() as patch:
        Steps(patch, step)
        try:
            does()
        except Killed:
            return True
    return False


def test_a_first_start_that_is_killed_anywhere_is_brought_to_its_end_by_the_next(tmp_path: Path) -> None:
    step, was_killed = 0, True
    while was_killed:
        step += 1
        data = tmp_path / str(step)
        Collection.open(data).engine.dispose()
        was_killed = killed_at(step, lambda data=data: collection.put(data, data / "runs", data / "incoming"))
        lab = begun(data)
        assert {run.hash for run in lab.runs()} == set(collection.hashes()), step
        assert collection.are_in(data), step
        assert list((data / "incoming").iterdir()) == [], step
        lab.engine.dispose()
    assert step > 10


def test_a_first_run_that_arrives_when_the_lab_is_killed_anywhere_is_alone_after_the_next_start(
    tmp_path: Path,
) -> None:
    own, pack = hash_of(MEASURED), pack_of(MEASURED)

    def admit(lab: Collection) -> None:
        place = lab.data / "incoming" / "one"
        place.mkdir()
        (place / "pack").write_bytes(pack)
        lab.admit(place / "pack", own)

    step, was_killed, alone = 0, True, 0
    with pytest.MonkeyPatch.context() as patch:
        read_here(patch)
        while was_killed:
            step += 1
            lab = begun(tmp_path / str(step))
            was_killed = killed_at(step, lambda lab=lab: admit(lab))
            lab.engine.dispose()
            lab = begun(lab.data)
            found = {run.hash for run in lab.runs()}
            alone += found == {own}
            assert found in ({own}, set(collection.hashes())), step
            assert {place.name for place in (lab.data / "runs").iterdir()} == found, step
            assert collection.are_in(lab.data) == (found != {own}), step
            lab.engine.dispose()
    assert alone > 4


def test_a_first_run_that_the_index_does_not_take_costs_no_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = begun(tmp_path)
    monkeypatch.setattr(tokens, "line", lambda *_: 1 / 0)
    client = asking(lab)
    assert sent(client, hash_of(MEASURED), pack_of(MEASURED))[0] == 500
    assert {run.hash for run in lab.runs()} == set(collection.hashes())
    monkeypatch.undo()
    assert sent(client, hash_of(MEASURED), pack_of(MEASURED))[0] == 200
    assert [run.hash for run in lab.runs()] == [hash_of(MEASURED)]
    assert [place.name for place in (tmp_path / "runs").iterdir()] == [hash_of(MEASURED)]


def test_a_lab_whose_runs_were_taken_away_gets_no_examples(tmp_path: Path) -> None:
    lab = filled(tmp_path / "lab", [MEASURED])
    tokens.note(lab.engine, None, "127.0.0.1", "sent", hash_of(MEASURED))
    shutil.rmtree(lab.data / "runs" / hash_of(MEASURED))
    lab.engine.dispose()
    with served(lab.data) as address:
        assert hashes_at(address) == set()


def test_a_database_that_could_not_be_made_to_its_end_is_made_by_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = op.create_table

    def fills(name: str, *given: Any, **more: Any) -> Any:
        if name == "task":
            raise OperationalError("", {}, sqlite3.OperationalError("database or disk is full"))
        return create(name, *given, **more)

    with monkeypatch.context() as patch:
        patch.setattr(op, "create_table", fills)
        with pytest.raises(DiskFull):
            Collection.open(tmp_path)
    assert Collection.open(tmp_path).count() == 0
