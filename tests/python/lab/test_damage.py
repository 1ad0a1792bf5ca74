"""Runs that were changed on the lab's own disk: nothing of them is shown, and a push mends them."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from support.labs import COUNTED, MEASURED, asking, filled, hash_of, listening, pack_of, sent
from wattlock.lab import client as sender
from wattlock.lab import pages
from wattlock.lab.collection import Collection
from wattlock.store import run_folder

RUN = COUNTED / "m4"
HASH = hash_of(RUN)
LIMIT_S = 60.0


def one_more_byte(run: Path) -> None:
    with (run / "plan.jsonl").open("ab") as plan:
        plan.write(b" ")


def sealed_again(run: Path) -> None:
    one_more_byte(run)
    run_folder.write_sums(run)


def not_sealed(run: Path) -> None:
    (run / run_folder.SUMS).unlink()


def emptied(run: Path) -> None:
    shutil.rmtree(run)
    run.mkdir()


CHANGES = pytest.mark.parametrize("change", [one_more_byte, sealed_again, not_sealed, emptied])


@CHANGES
def test_a_run_that_was_changed_is_served_in_no_form_and_the_error_names_no_path(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    lab = filled(tmp_path, [RUN])
    client = asking(lab)
    assert client.get(f"/runs/{HASH}").status_code == 200
    change(tmp_path / "runs" / HASH)
    for form in ("", ".json", ".csv", "/pack", "/report"):
        answer = client.get(f"/runs/{HASH}{form}")
        assert answer.status_code == 500, form
        assert answer.json()["error"].startswith(f"run {HASH[:12]}: "), form
        assert "push it again" in answer.json()["hint"]
        assert str(tmp_path) not in answer.text


@CHANGES
def test_a_run_that_is_changed_while_the_lab_runs_is_in_no_list_and_is_back_when_it_is_mended(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    lab = filled(tmp_path, [RUN, MEASURED])
    client = asking(lab)
    assert len(client.get("/runs.json").json()) == len(client.get("/devices.json").json()) == 2
    change(tmp_path / "runs" / HASH)
    assert [row["hash"] for row in client.get("/runs.json").json()] == [hash_of(MEASURED)]
    assert len(client.get("/devices.json").json()) == lab.count() == 1
    assert sent(client, HASH, pack_of(RUN))[0] == 201
    assert len(client.get("/runs.json").json()) == lab.count() == 2


def test_a_run_that_was_just_read_for_the_index_is_not_hashed_again_for_a_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = filled(tmp_path, [RUN, MEASURED])
    with monkeypatch.context() as patched:
        patched.setattr("wattlock.store.run_folder.verify", lambda folder: pytest.fail(f"{folder} is hashed"))
        assert lab.count() == len(lab.runs()) == 2
    (tmp_path / "runs" / HASH / "plan.jsonl").touch()
    hashed: list[Path] = []
    monkeypatch.setattr("wattlock.store.run_folder.verify", hashed.append)
    assert (lab.count(), hashed) == (2, [tmp_path / "runs" / HASH])


@CHANGES
def test_a_start_takes_a_run_that_was_changed_out_of_the_index(tmp_path: Path, change: Callable[[Path], None]) -> None:
    filled(tmp_path, [RUN, MEASURED]).engine.dispose()
    change(tmp_path / "runs" / HASH)
    lab = Collection.open(tmp_path)
    (left_out,) = lab.catch_up()
    assert HASH in left_out
    assert [run.hash for run in lab.runs()] == [hash_of(MEASURED)]
    assert asking(lab).get(f"/runs/{HASH}.json").status_code == 404


@CHANGES
@pytest.mark.parametrize("is_known", [True, False])
def test_a_push_puts_the_changed_folder_aside_and_mends_the_run(
    tmp_path: Path, change: Callable[[Path], None], *, is_known: bool
) -> None:
    lab = filled(tmp_path, [RUN])
    kept = tmp_path / "runs" / HASH
    change(kept)
    changed = sorted(path.name for path in kept.iterdir())
    if not is_known:
        lab.catch_up()
    with listening(lab) as address:
        assert sender.push(RUN, address, None) == (HASH, True)
        assert sender.push(RUN, address, None) == (HASH, False)
    assert asking(lab).get(f"/runs/{HASH}/pack").content == pack_of(RUN)
    assert asking(lab).get(f"/runs/{HASH}.json").status_code == 200
    (aside,) = (tmp_path / "damaged").glob(f"*/{HASH}")
    assert sorted(path.name for path in aside.iterdir()) == changed
    assert [run.hash for run in lab.runs()] == [HASH]


def test_a_reindex_that_is_killed_leaves_the_index_as_it_was_and_no_process(tmp_path: Path) -> None:
    lab = filled(tmp_path)
    hashes = [run.hash for run in lab.runs()]
    before = (pages.runs_frame(lab.runs()).rows(), lab.estimates_of(hashes))
    anew = (
        f"from wattlock.lab import collection as c; c.FEW = 0; c.Collection.open(c.Path({str(tmp_path)!r})).reindex()"
    )
    with subprocess.Popen([sys.executable, "-c", anew]) as reindex:
        begun = Path(f"/proc/{reindex.pid}/task/{reindex.pid}/children")
        # The first is Python's own, which takes note of what is left.
        _until(lambda: len(begun.read_text().split()) > 1)
        others = begun.read_text().split()
        reindex.kill()
    _until(lambda: not any(map(_is_running, others)))
    assert (pages.runs_frame(lab.runs()).rows(), lab.estimates_of(hashes)) == before


def _until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT_S
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


def _is_running(process: str) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_an_error_of_the_database_names_no_path_of_the_lab(tmp_path: Path) -> None:
    lab = filled(tmp_path, [RUN])
    with lab.engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE action")
    status, told = sent(asking(lab), HASH, pack_of(RUN))
    assert status == 500
    assert str(told["error"]).startswith("lab.db: ")


def test_times_of_an_emulator_are_set_beside_no_measured_ones(tmp_path: Path) -> None:
    emulated = tmp_path / "emulated"
    shutil.copytree(MEASURED, emulated, copy_function=shutil.copy)
    records = list(map(json.loads, (emulated / run_folder.HEADERS).read_text().splitlines()))
    for record in records:
        if record["kind"] == "header":
            record["fingerprint"]["virtualisation"]["emulator"] = "qemu-user"
    (emulated / run_folder.HEADERS).write_text(
        "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)
    )
    run_folder.write_sums(emulated)
    client = asking(filled(tmp_path / "lab", [MEASURED, emulated]))
    for form in ("", ".json", ".csv"):
        answer = client.get(f"/compare{form}", params={"run": [hash_of(MEASURED), hash_of(emulated)]})
        assert answer.status_code == 409
        assert answer.json()["error"] == "times that are emulated and measured are not compared"
    assert {row["evidence"] for row in client.get("/devices.json").json()} == {"emulated", "measured"}
