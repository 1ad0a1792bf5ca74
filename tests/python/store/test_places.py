"""Where runs are found, and what is made of a sealed one."""

import os
import shutil
from pathlib import Path

import pytest

from support.tree import TESTS
from wattlock.errors import StoreError
from wattlock.store import RunFolder, run_folder, run_plan
from wattlock.store.run_folder import derive, sums_sha256

RUN = TESTS / "run" / "licence_run"


def copied(to: Path, created: str | None = None) -> Path:
    """The run elsewhere; `created`: another time in its plan, under a right sum."""
    shutil.copytree(RUN, to)
    if created is not None:
        lines = run_plan.read(to)
        (to / run_plan.NAME).write_bytes(b"".join(run_plan.encode([lines[0] | {"created": created}, *lines[1:]])))
    return to


def test_the_last_run_is_the_one_that_began_last_and_not_the_one_written_last(tmp_path: Path) -> None:
    late = copied(tmp_path / "a", "2026-11-02T00:00:00Z")
    early = copied(tmp_path / "b", "2026-11-01T00:00:00Z")
    os.utime(early / run_plan.NAME)
    assert run_plan.runs(tmp_path) == [early, late]
    assert run_plan.find("last", tmp_path) == late


def test_a_run_whose_plan_was_changed_stands_where_that_was(tmp_path: Path) -> None:
    early, late = (copied(tmp_path / name, f"2026-11-0{day}T00:00:00Z") for name, day in (("a", 1), ("b", 3)))
    changed = copied(tmp_path / "c", "2026-11-09T00:00:00Z")
    file = changed / run_plan.NAME
    file.write_bytes(file.read_bytes().replace(b"licence", b"LICENCE").replace(b"first-look", b"first-loop"))
    second_s = 1793577600  # 2026-11-02
    os.utime(file, (second_s, second_s))
    assert run_plan.runs(tmp_path) == [early, changed, late]


def test_a_folder_that_is_no_run_is_none_of_the_runs(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    run = copied(tmp_path / "run")
    assert run_plan.runs(tmp_path) == [run]
    assert run_plan.runs(tmp_path / "nowhere") == []


def test_an_id_is_looked_for_below_the_root_before_a_path_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    here = copied(tmp_path / "x")
    assert run_plan.find("x", Path("runs")) == Path("x")
    below = copied(tmp_path / "runs" / "x")
    assert run_plan.find("x", Path("runs")).resolve() == below
    assert run_plan.find(here, Path("runs")) == here
    with pytest.raises(StoreError, match="there is no run y, neither here nor under runs"):
        run_plan.find("y", Path("runs"))


def test_a_run_elsewhere_is_found_by_its_id_and_one_below_the_root_needs_no_link(tmp_path: Path) -> None:
    elsewhere, root = copied(tmp_path / "elsewhere"), tmp_path / "runs"
    run_plan.remember("name", elsewhere, root)
    assert run_plan.find("name", root).resolve() == elsewhere
    run_plan.remember("other", root / "name2", root)
    assert [path.name for path in root.iterdir()] == ["name"]
    run_plan.remember("name", elsewhere, root)  # where no link can be made it is found by its path


def test_the_name_of_a_run_is_the_hash_of_its_sums_and_an_unsealed_one_has_none(tmp_path: Path) -> None:
    run = RunFolder.open(RUN)
    assert sums_sha256(run) == sums_sha256(RunFolder.open(copied(tmp_path / "copy")))
    (tmp_path / "copy" / run_folder.SUMS).unlink()
    (tmp_path / "copy" / run_folder.RECORDS).touch()
    with pytest.raises(StoreError, match="is not finished"):
        sums_sha256(RunFolder.open(tmp_path / "copy"))


def test_what_is_made_of_a_run_has_its_batches_other_records_and_a_name_of_its_own(tmp_path: Path) -> None:
    run = RunFolder.open(RUN)
    records = [one for one in run.others() if one["kind"] != "session"]
    made = derive(run, tmp_path / "made", {**run.plan()[0], "title": "joined"}, records)
    assert made.scan().collect().equals(run.scan().collect())
    assert (made.plan()[0]["title"], made.plan()[1:]) == ("joined", run.plan()[1:])
    assert made.others() == records
    assert sums_sha256(made) != sums_sha256(run)
    with pytest.raises(StoreError, match="the folder is not empty"):
        derive(run, tmp_path / "made", run.plan()[0], [])
