"""Plans, and the places where runs lie."""

import os
from pathlib import Path

import pytest

from support.store_records import (
    CASE,
    CREATED,
    STUDY,
    message_of,
    new_run,
)
from wattlock.errors import StoreError
from wattlock.store import RunFolder, find, plan_lines, run_id, runs
from wattlock.study import InputFile


def test_a_plan_holds_study_cases_and_inputs_but_no_path(tmp_path: Path) -> None:
    letter = InputFile("input-1", tmp_path / "love-letter.txt", 900, "ee" * 32)
    plan = plan_lines(
        STUDY, [CASE], [letter], id="x", created=CREATED, seed=2**64 - 1, probe_sha256="ab" * 32, device=None
    )
    run = RunFolder.create(tmp_path / "run", plan)
    first, given, case = run.plan()
    assert first["study"] == STUDY.model_dump(mode="json")
    assert (first["id"], first["seed"], first["device"]) == ("x", 2**64 - 1, None)
    assert first["created"] == "2026-11-21T02:16:00+00:00"
    assert given == {"kind": "input", "data": "input-1", "size_B": 900, "sha256": "ee" * 32}
    assert case["payload_B"] == 64
    assert run.cases() == [CASE]
    assert "love-letter" not in (run.path / "plan.jsonl").read_text()


def test_a_folder_that_holds_something_does_not_become_a_run(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(StoreError) as caught:
        new_run(tmp_path)
    assert message_of(caught, tmp_path) == "the folder is not empty"
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    for path, what in ((gone, "there is no such folder"), (tmp_path, "is not a run: it has no plan.jsonl")):
        with pytest.raises(StoreError) as caught:
            RunFolder.open(path)
        assert message_of(caught, path) == what
    run = new_run(tmp_path / "run")
    (run.path / "records.jsonl").unlink()
    with pytest.raises(StoreError) as caught:
        RunFolder.open(run.path)
    assert message_of(caught, run) == "records.jsonl is missing"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"", "line 1 of plan.jsonl does not hold the study"),
        (b'{"kind":"case"}\n', "line 1 of plan.jsonl does not hold the study"),
        (b'{"kind":"study","schema":2}\n{"ki', "line 2 of plan.jsonl is no plan line"),
        (b"\xff\n", "line 1 of plan.jsonl is no plan line"),
    ],
)
def test_a_damaged_plan_is_named_by_its_line(tmp_path: Path, text: bytes, what: str) -> None:
    run = new_run(tmp_path / "run")
    (run.path / "plan.jsonl").write_bytes(text)
    with pytest.raises(StoreError) as caught:
        RunFolder.open(run.path)
    assert message_of(caught, run) == what


def test_a_run_is_named_by_study_minute_and_seed() -> None:
    assert run_id("first-look", CREATED, 0x123_3F9A) == "first-look-20261121-0216-3f9a"


def test_a_run_is_found_by_path_by_id_and_as_the_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    root = Path("runs")
    for day, name in ((3, "a"), (9, "b"), (5, "c")):
        plan = plan_lines(
            STUDY, [CASE], id=name, created=CREATED.replace(day=day), seed=7, probe_sha256="ab" * 32, device=None
        )
        RunFolder.create(root / name, plan)
    (root / "notes").mkdir()
    assert runs() == [root / "a", root / "c", root / "b"]
    assert find("last") == root / "b"
    assert find("a") == root / "a"
    assert find(tmp_path / "runs" / "c") == tmp_path / "runs" / "c"
    assert find("runs/c") == Path("runs/c")
    with pytest.raises(StoreError) as caught:
        find("zz")
    assert caught.value.message == "there is no run zz, neither here nor under runs"
    assert caught.value.hint == "there are: a, c, b"


def test_a_part_of_an_id_that_only_one_run_has_names_it(tmp_path: Path) -> None:
    for day, name in ((1, "quick-20260901-a1f0"), (2, "quick-20260902-b2c3"), (3, "mine-20260903-a1f0")):
        plan = plan_lines(
            STUDY, [CASE], id=name, created=CREATED.replace(day=day), seed=7, probe_sha256="ab" * 32, device=None
        )
        RunFolder.create(tmp_path / name, plan)
    for part, name in (
        ("mine", "mine-20260903-a1f0"),
        ("b2c3", "quick-20260902-b2c3"),
        ("quick-20260901", "quick-20260901-a1f0"),
    ):
        assert find(part, tmp_path) == tmp_path / name
    for part in ("quick", "a1f0"):
        with pytest.raises(StoreError, match="2 runs"):
            find(part, tmp_path)
    for part in ("20260902", "2c3"):
        with pytest.raises(StoreError, match="there is no run"):
            find(part, tmp_path)


def test_of_two_runs_that_began_in_one_second_the_last_is_the_one_planned_later(tmp_path: Path) -> None:
    for later, name in ((1, "z"), (2, "a")):
        plan = plan_lines(STUDY, [CASE], id=name, created=CREATED, seed=7, probe_sha256="ab" * 32, device=None)
        folder = RunFolder.create(tmp_path / name, plan)
        os.utime(folder.path / "plan.jsonl", ns=(0, later))
    assert find("last", tmp_path) == tmp_path / "a"


def test_where_there_is_no_run_there_is_no_last_one(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught:
        find("last", tmp_path)
    assert caught.value.message == f"there is no run under {tmp_path}"
    assert caught.value.hint == "`wattlock run first-look` makes one"
