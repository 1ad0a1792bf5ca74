"""How a run gets into a lab: on the disk before it has its name, once, and with its line of the audit log."""

import threading
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from support.hostile_tries import read_here
from support.labs import COUNTED, SMALL, asking, filled, hash_of, pack_of, sent
from wattlock import cli
from wattlock.errors import StoreError
from wattlock.lab import collection, tokens
from wattlock.lab.collection import RUNS, Collection
from wattlock.lab.database import alone_at
from wattlock.store import disk, run_folder

RUN = COUNTED / "m4"
PACK, HASH = pack_of(RUN), hash_of(RUN)
LIMIT_S = 60.0


def admitted(lab: Collection) -> bool:
    """Takes the run in; gives whether the lab lacked it."""
    with lab.arriving() as place:
        (place / "pack").write_bytes(PACK)
        return lab.admit(place / "pack", HASH)


def test_files_and_their_folder_are_on_the_disk_before_the_run_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_here(monkeypatch)
    done, sync, rename = list[str](), disk.sync, Path.rename

    def synced(path: Path) -> None:
        done.append(path.name)
        sync(path)

    def renamed(path: Path, to: Path) -> Path:
        done.append(f"{path.name} is {to.name}")
        return rename(path, to)

    monkeypatch.setattr(collection, "sync", synced)
    monkeypatch.setattr(Path, "rename", renamed)
    assert admitted(Collection.open(tmp_path))
    assert done == [*run_folder.FILES, "run", f"run is {HASH}", RUNS]


def test_two_processes_that_take_the_same_run_at_a_time_have_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_here(monkeypatch)
    server, fleet = Collection.open(tmp_path), Collection.open(tmp_path)
    other: list[Any] = []
    thread = threading.Thread(target=lambda: other.append(admitted(fleet)))
    put_aside = Collection._put_aside

    def waits(lab: Collection, hash_: str) -> None:
        """The server has seen that the run is new; now the fleet comes, and would have it first if it could."""
        if lab is server:
            thread.start()
            thread.join(0.5)
        put_aside(lab, hash_)

    monkeypatch.setattr(Collection, "_put_aside", waits)
    assert admitted(server)
    thread.join(LIMIT_S)
    assert other == [False]
    assert [run.hash for run in server.runs()] == [HASH]


def test_a_run_has_its_line_of_the_audit_log_or_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wattlock.lab.database.LONGEST_WAIT_s", 0.1)
    lab = Collection.open(tmp_path)
    client = asking(lab)
    with lab.engine.connect() as connection:
        connection.execute(text("BEGIN IMMEDIATE"))
        assert sent(client, HASH, PACK)[0] == 503
        connection.rollback()
    assert tokens.actions(lab.engine) == []
    assert sent(client, HASH, PACK)[0] == 200
    assert sent(client, HASH, PACK)[0] == 200
    assert [line["what"] for line in tokens.actions(lab.engine)] == ["sent again", "sent"]


def test_an_index_is_not_made_again_beside_a_lab_that_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lab = filled(tmp_path)
    words = ["lab", "reindex", "--data", str(tmp_path)]
    with alone_at(tmp_path, lab.engine):
        assert cli.answer(words) != 0
        error, hint = capsys.readouterr().err.splitlines()
        assert error == f"error: {tmp_path}: another lab serves this folder"
        assert hint.startswith("hint: stop it, reindex, then start it again")
        with pytest.raises(StoreError, match="another lab serves"):
            lab.reindex()
    assert cli.answer(words) == 0
    assert lab.count() == len(SMALL)


def test_what_a_fleet_takes_in_while_the_index_is_made_again_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_here(monkeypatch)
    lab = filled(tmp_path, SMALL[1:])
    entered = collection._entered

    def takes_in(folder: Path) -> Any:
        if not lab.has(HASH):
            admitted(lab)
        return entered(folder)

    monkeypatch.setattr(collection, "_entered", takes_in)
    assert lab.reindex() == []
    assert {run.hash for run in lab.runs()} == set(map(hash_of, SMALL))
