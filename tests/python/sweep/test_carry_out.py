"""A sweep carried out: the same octets on any number of workers, whatever kills it; a folder is of one sweep."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from support.sweeps import ADVICE, LINK, LIVES, LONG, LONG_LIVES, rows, swept, write
from support.tree import require_programs
from wattlock import cli
from wattlock.errors import DiskFull, StoreError
from wattlock.sweep import plan
from wattlock.sweep.answers import answered
from wattlock.sweep.chunks import opened
from wattlock.targets import or_this_machine

LONGEST_S = 300.0


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_programs()
    monkeypatch.chdir(tmp_path)


def wait_for(condition: Callable[[], object]) -> None:
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < LONGEST_S
        time.sleep(0.01)


def planned(file: str, *, allow_assumed: bool = True) -> plan.SweepPlan:
    return plan.planned(plan.load(file), or_this_machine(None), allow_assumed=allow_assumed)


@pytest.mark.parametrize(("text", "words", "height"), [(LINK, [], 52), (LIVES, ["--allow-assumed"], 12)])
def test_the_table_is_the_same_to_the_octet_on_one_two_and_three_workers(
    text: str, words: list[str], height: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "CHUNK_ROWS", {"wifi": 5, "linear": 2, "battery": 2})
    file = write(tmp_path, text)
    tables = {swept(file, f"by-{count}", "--workers", str(count), *words) for count in (1, 2, 3)}
    assert len(tables) == 1
    assert rows("by-1").height == height
    assert sorted(path.name for path in Path("by-1").iterdir()) == ["plan.json", "sweep.parquet"]


@pytest.mark.parametrize(("text", "words", "height"), [(LONG, [], 1000), (LONG_LIVES, ["--allow-assumed"], 500)])
def test_a_sweep_that_was_killed_at_any_moment_goes_on_and_loses_and_doubles_nothing(
    text: str, words: list[str], height: int, tmp_path: Path
) -> None:
    file = write(tmp_path, text)
    whole = swept(file, "whole", *words)
    _kill_when_kept(file, 2, words)
    chunks = Path("cut", "chunks")
    there = {path.name: path.stat().st_mtime_ns for path in chunks.glob("*.parquet")}
    assert 2 <= len(there) < 5
    with opened(Path("cut"), planned(file, allow_assumed=bool(words))) as folder:
        assert len(folder.missing()) == 5 - len(there)
        assert {f"{chunk.number:06}.parquet" for chunk in folder.missing()}.isdisjoint(there)
    assert swept(file, "cut", *words) == whole
    assert rows("cut")["row"].to_list() == list(range(height))


def _kill_when_kept(file: str, kept: int, words: list[str]) -> None:
    """Carries a sweep out into `cut` until so many chunks are kept, and kills it; its workers end with it."""
    command = [sys.executable, "-m", "wattlock", "sweep", file, "--out", "cut", "--workers", "2", *words]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as killed:
        wait_for(lambda: killed.poll() is not None or len(list(Path("cut", "chunks").glob("*.parquet"))) >= kept)
        workers = children(killed.pid)
        killed.kill()
    assert killed.returncode == -signal.SIGKILL
    wait_for(lambda: not any(alive(one) for one in workers))


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(one) for one in found]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False


def test_a_finished_sweep_that_is_repeated_says_that_all_is_answered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, ADVICE)
    already = "all 2 rows are answered already"
    table = swept(file, "out", "--allow-assumed")
    assert already not in capsys.readouterr().err
    assert swept(file, "out", "--allow-assumed") == table
    assert already in " ".join(capsys.readouterr().err.split())


def test_what_was_answered_is_not_answered_again_and_a_late_answer_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path, ADVICE)
    with opened(Path("out"), planned(file)) as folder:
        [chunk] = folder.chunks
        first = answered(folder.plan, chunk)
        assert folder.keep(chunk, first)
        assert folder.missing() == []
        assert not folder.keep(chunk, first.with_columns(days=pl.lit(1.0)))
        folder.join()
    assert rows("out").equals(first)
    before = Path("out/sweep.parquet").stat().st_mtime_ns
    swept(file, "out", "--allow-assumed")
    assert Path("out/sweep.parquet").stat().st_mtime_ns == before


def test_a_folder_of_another_sweep_or_build_or_of_something_else_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path, LINK)
    swept(file, "out", "--workers", "1")
    table = Path("out/sweep.parquet").read_bytes()

    def refused(*words: str, out: str = "out") -> str:
        capsys.readouterr()
        assert cli.answer(["sweep", file, "--out", out, *words]) == 5
        return capsys.readouterr().err

    assert "was begun without --allow-assumed" in refused("--allow-assumed")
    write(tmp_path, LINK.replace("1600", "1700"))
    assert "is another sweep, 'Tags over rates'" in refused()
    write(tmp_path, LINK)
    copied = shutil.copy(Path(sys.prefix, "bin", "wattlock-net"), tmp_path / "net")
    with Path(copied).open("ab") as program:
        program.write(b"another build")
    monkeypatch.setenv("WATTLOCK_NET", str(copied))
    said = refused()
    assert "was begun with another build of wattlock-net" in said
    assert "hint: name another folder with --out" in said
    monkeypatch.delenv("WATTLOCK_NET")
    Path("out/plan.json").write_text("{}")
    assert "plan.json can't be read" in refused()
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("mine")
    assert "the folder is not empty" in refused(out="mine")
    assert Path("out/sweep.parquet").read_bytes() == table


def test_while_one_writes_to_a_folder_another_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, ADVICE)
    with opened(Path("out"), planned(file)):
        assert cli.answer(["sweep", file, "--out", "out", "--allow-assumed"]) == 5
    assert "another wattlock is writing to it" in capsys.readouterr().err


def test_a_chunk_that_is_not_what_was_written_is_named_and_answered_again_without_it(tmp_path: Path) -> None:
    file = write(tmp_path, ADVICE)
    with opened(Path("out"), planned(file)) as folder:
        [chunk] = folder.chunks
        found = answered(folder.plan, chunk)
        folder.keep(chunk, found)
        place = Path("out/chunks/000000.parquet")
        sound = place.read_bytes()
        for broken in (sound[:-20], b"", sound[:40] + b"x" * 400 + sound[440:]):
            place.write_bytes(broken)
            with pytest.raises(StoreError, match=r"chunks/000000.parquet: is not what was written") as caught:
                folder.join()
            assert "remove it" in caught.value.hint
        place.unlink()
        assert folder.missing() == [chunk]
        assert folder.keep(chunk, found)
        folder.join()


def test_a_full_disk_loses_nothing_that_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path, ADVICE)
    monkeypatch.setattr(plan, "CHUNK_ROWS", {"advise": 1})
    with opened(Path("out"), planned(file)) as folder:
        first, second = folder.chunks
        folder.keep(first, answered(folder.plan, first))

        def full(*_: object, **__: object) -> None:
            raise OSError(28, os.strerror(28))

        monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
        with pytest.raises(
            DiskFull, match="sweep out: the disk is full; what was answered until now is kept"
        ) as caught:
            folder.keep(second, answered(folder.plan, second))
        assert caught.value.hint == "make room, then the same command goes on"
        assert folder.missing() == [second]
    assert [path.name for path in Path("out/chunks").iterdir()] == ["000000.parquet"]


def test_ctrl_c_keeps_what_was_answered_and_tells_how_to_go_on(tmp_path: Path) -> None:
    file = write(tmp_path, LONG)
    command = [sys.executable, "-m", "wattlock", "sweep", file, "--out", "cut", "--workers", "1"]
    stopped = subprocess.Popen(command, stderr=subprocess.PIPE)
    wait_for(lambda: stopped.poll() is not None or list(Path("cut", "chunks").glob("*.parquet")))
    stopped.send_signal(signal.SIGINT)
    _, said = stopped.communicate(timeout=LONGEST_S)
    assert stopped.returncode == 130, said
    assert b"error: stopped; what was answered is kept" in said
    assert b"hint: the same command goes on" in said
    assert list(Path("cut", "chunks").glob("*.parquet"))
