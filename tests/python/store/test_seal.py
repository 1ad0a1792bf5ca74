"""The sealing of a run: what it keeps, what it promises, and that it may be killed."""

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from support.store_records import (
    FILES_OF_A_SEALED_RUN,
    batch,
    bytes_of,
    end,
    header,
    line,
    message_of,
    names_in,
    new_run,
)
from wattlock.errors import StoreError
from wattlock.store import RunFolder, run_folder


def sealed_run(path: Path, processes: int = 3) -> RunFolder:
    """Give a run that is sealed."""
    run = new_run(path)
    run.append(bytes_of(processes))
    run.seal()
    return run


def test_sealing_keeps_every_batch_and_record_and_nothing_else(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run")
    skipped = {"kind": "failure", "process": 3, "case": 0, "error": "no", "follows": "skip_case"}
    run.append(bytes_of(3) + line(header(3)) + line(skipped) + line(batch(3, 0)))
    before, headers = run.scan().collect(), run.headers()
    run.seal()
    for one in (run, RunFolder.open(run.path)):
        assert names_in(one) == FILES_OF_A_SEALED_RUN
        assert one.scan().collect().equals(before)
        assert (one.headers(), one.failures(), one.complete()) == (headers, [skipped], frozenset({0, 1, 2}))
        assert one.batches_of(1).equals(before.filter(pl.col("process") == 1).drop("complete"))
        one.verify()
        one.seal()


def test_batches_that_are_kept_are_those_that_are_read_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = sealed_run(tmp_path / "run")
    before = (kept.scan().collect(), kept.complete(), [kept.batches_of(process) for process in range(4)])
    (kept.path / run_folder.BATCHES).rename(tmp_path / "away")
    assert kept.scan().collect().equals(before[0])
    (tmp_path / "away").rename(kept.path / run_folder.BATCHES)
    monkeypatch.setattr(run_folder, "ROWS_OF_A_GROUP", 0)
    large = RunFolder.open(kept.path)
    assert large.scan().collect().equals(before[0])
    assert large.complete() == before[1]
    assert all(large.batches_of(process).equals(frame) for process, frame in enumerate(before[2]))


@pytest.mark.parametrize("rows", [1, 4, 2**16])
def test_batches_of_processes_that_lie_among_each_other_are_found_whatever_is_read_at_once(
    rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_folder, "GROUP", rows)
    run = new_run(tmp_path / "run")
    run.append(line(header(0)) + line(header(1)))
    for number in range(7):
        run.append(line(batch(0, number)) + line(batch(1, number)))
    run.append(line(end(1, 7)))
    before = [run.batches_of(process) for process in range(3)]
    run.seal()
    after = RunFolder.open(run.path)
    assert after.complete() == {1}
    assert all(after.batches_of(process).equals(frame) for process, frame in enumerate(before))


def test_a_run_without_a_single_record_can_be_sealed(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run")
    run.seal()
    run.verify()
    assert (run.scan().collect().height, run.headers(), run.complete()) == (0, [], frozenset())


def test_a_sealed_run_takes_nothing_more(tmp_path: Path) -> None:
    run = sealed_run(tmp_path / "run")
    for change in (lambda: run.append(line(header(3))), run.recover):
        with pytest.raises(StoreError) as caught:
            change()
        assert message_of(caught, run) == "a sealed run never changes"


def test_the_seal_is_what_sha256sum_checks(tmp_path: Path) -> None:
    run = sealed_run(tmp_path / "run")
    done = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=run.path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["plan.jsonl: OK", "batches.parquet: OK", "headers.jsonl: OK"]


@pytest.mark.parametrize("name", ["plan.jsonl", "batches.parquet", "headers.jsonl"])
def test_a_flipped_byte_is_named_by_its_file(tmp_path: Path, name: str) -> None:
    run = sealed_run(tmp_path / "run")
    content = bytearray((run.path / name).read_bytes())
    content[len(content) // 2] ^= 1
    (run.path / name).write_bytes(content)
    with pytest.raises(StoreError) as caught:
        run.verify()
    assert message_of(caught, run) == f"{name} is not what was sealed"
    assert caught.value.exit_code == 5


def test_a_missing_file_or_line_of_the_seal_is_named(tmp_path: Path) -> None:
    run = sealed_run(tmp_path / "run")
    sums = run.path / "SHA256SUMS"
    sums.write_text("".join(sums.read_text().splitlines(keepends=True)[:2]))
    with pytest.raises(StoreError) as caught:
        run.verify()
    assert message_of(caught, run) == "SHA256SUMS does not name headers.jsonl"
    (run.path / "batches.parquet").unlink()
    for check in (run.verify, lambda: RunFolder.open(run.path)):
        with pytest.raises(StoreError) as caught:
            check()
        assert message_of(caught, run) == "batches.parquet is missing"


def test_batches_that_were_cut_off_are_refused_when_the_run_is_opened(tmp_path: Path) -> None:
    run = sealed_run(tmp_path / "run")
    batches = run.path / "batches.parquet"
    batches.write_bytes(batches.read_bytes()[:-20])
    with pytest.raises(StoreError) as caught:
        RunFolder.open(run.path)
    assert message_of(caught, run) == "batches.parquet is not what was sealed"


def test_a_run_that_is_not_sealed_has_nothing_to_verify(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run")
    with pytest.raises(StoreError) as caught:
        run.verify()
    assert message_of(caught, run) == "is not sealed"


def test_a_compaction_that_lost_a_row_is_not_sealed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = new_run(tmp_path / "run")
    run.append(bytes_of(2))
    short = run.scan().collect().head(11)
    monkeypatch.setattr("wattlock.store.run_folder.lazy", lambda *_: short.lazy())
    with pytest.raises(StoreError) as caught:
        run.seal()
    assert message_of(caught, run) == "batches.parquet has 11 rows for 12 batches; records.jsonl is kept"
    assert names_in(run) == {"plan.jsonl", "records.jsonl"}


KILLED_BEFORE_CHANGE = """
import os, sys
from wattlock.store import RunFolder
path, left = sys.argv[1], int(sys.argv[2])
def count(event, args):
    global left
    writes = event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR)
    if (writes or event in ("os.rename", "os.remove", "os.truncate")) and path in str(args[0]):
        left -= 1
        if left < 0:
            os._exit(9)
sys.addaudithook(count)
RunFolder.open(path).seal()
"""


def test_sealing_may_be_killed_before_any_of_its_changes_and_begun_again(tmp_path: Path) -> None:
    for changes in range(100):
        run = new_run(tmp_path / f"run-{changes}")
        run.append(bytes_of(2) + line(header(2)) + line(batch(2, 0)))
        run.close()
        before = run.scan().collect()
        with (run.path / "records.jsonl").open("ab") as file:
            file.write(b'{"kind":"ba')
        command = [sys.executable, "-c", KILLED_BEFORE_CHANGE, str(run.path), str(changes)]
        code = subprocess.run(command, check=False, env={"PYTHONPATH": ":".join(sys.path)}).returncode
        again = RunFolder.open(run.path)
        assert again.scan().collect().equals(before)
        again.seal()
        again.verify()
        assert names_in(again) == FILES_OF_A_SEALED_RUN
        assert again.scan().collect().equals(before)
        assert again.complete() == {0, 1}
        if code == 0:
            break
        assert code == 9
    # Three files are written, named and sealed, and the records go: fewer deaths would mean that they were not seen.
    assert changes >= 7
