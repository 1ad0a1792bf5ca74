"""What reading a run back may take: forged ones are refused, and pages read each run once."""

import io
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support.labs import COUNTED, MEASURED, SMALL, asking, filled, hash_of
from wattlock.errors import StoreError
from wattlock.lab import child, collection, doors
from wattlock.lab.collection import RUNS, Collection, Readings
from wattlock.lab.database import DatabaseBusy
from wattlock.lab.doors import Turns
from wattlock.store import bounds, run_folder

LIMIT_S = 60.0


def changed(place: Path, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Path:
    """A run whose batches were changed, and sealed again."""
    run = place / "run"
    shutil.copytree(MEASURED, run)
    made = io.BytesIO()
    change(pl.read_parquet(run / run_folder.BATCHES)).write_parquet(made)
    (run / run_folder.BATCHES).write_bytes(made.getvalue())
    run_folder.write_sums(run)
    return run


@pytest.mark.parametrize("times", [2, 3000])
def test_a_run_that_has_a_batch_twice_is_refused(tmp_path: Path, times: int) -> None:
    run = changed(tmp_path, lambda batches: pl.concat([batches, *[batches[:1]] * (times - 1)]))
    assert child.main(run)["error"] == "the run: has a batch twice"


def test_runs_of_this_project_are_within_the_bounds() -> None:
    for run in SMALL:
        assert "error" not in child.main(run), run


def test_a_start_reads_no_run_of_more_batches_than_there_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Collection.open(tmp_path)
    shutil.copytree(MEASURED, tmp_path / RUNS / hash_of(MEASURED))
    monkeypatch.setattr(bounds, "MOST_ROWS", 10)
    (left_out,) = lab.catch_up()
    assert left_out.endswith("batches, the limit is 10")
    assert lab.count() == 0
    (left_out,) = lab.reindex()
    assert left_out.endswith("batches, the limit is 10")


def test_a_start_reads_no_run_of_a_larger_file_than_there_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Collection.open(tmp_path)
    shutil.copytree(MEASURED, tmp_path / RUNS / hash_of(MEASURED))
    monkeypatch.setitem(run_folder.MOST_B, run_folder.HEADERS, 1000)
    (left_out,) = lab.catch_up()
    assert left_out.endswith("the limit is 1000 B")


def test_a_run_that_takes_more_memory_than_pages_may_is_refused() -> None:
    told = child.main(MEASURED)
    assert child.within(told, child.MOST_MEMORY_B) == told
    refused = child.within(told, 1791 * 2**20)
    assert refused["error"] == "the run took 1791 MiB to be read, the limit is 1024 MiB"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells it")
def test_what_a_process_took_is_the_most_that_it_ever_had() -> None:
    program = (
        "from wattlock.lab.child import peak_B; a = peak_B(); b = bytearray(1) * 2**27; del b; print(peak_B() - a)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=LIMIT_S)
    assert 2**26 < int(done.stdout) < 2**28


def test_who_asks_for_a_run_that_is_being_read_waits_for_that_reading() -> None:
    begun, ends, read = threading.Event(), threading.Event(), list[str]()

    def slow(hash_: str) -> Any:
        read.append(hash_)
        begun.set()
        assert ends.wait(LIMIT_S)
        return object()

    kept = Readings(slow, lambda _: 1)
    with ThreadPoolExecutor(6) as pool:
        first = pool.submit(kept.of, "a")
        assert begun.wait(LIMIT_S)
        others = [pool.submit(kept.of, "a") for _ in range(5)]
        ends.set()
        found = {id(one.result(LIMIT_S)) for one in (first, *others)}
    assert (read, len(found)) == (["a"], 1)


def test_a_reading_that_fails_is_told_to_all_who_wait_and_is_begun_anew_by_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tries = list[str]()

    def fails_once(hash_: str) -> Any:
        tries.append(hash_)
        if len(tries) == 1:
            raise ZeroDivisionError
        return hash_

    kept = Readings(fails_once, lambda _: 1)
    with pytest.raises(ZeroDivisionError):
        kept.of("a")
    kept.of("a")
    assert tries == ["a", "a"]
    begun, ends = threading.Event(), threading.Event()
    monkeypatch.setattr(collection, "PATIENCE_s", 0.05)

    def hangs(_hash: str) -> Any:
        begun.set()
        ends.wait(LIMIT_S)

    hanging = Readings(hangs, lambda _: 1)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(hanging.of, "a")
        assert begun.wait(LIMIT_S)
        with pytest.raises(DatabaseBusy, match="is being read"):
            hanging.of("a")
        ends.set()


def test_readings_are_kept_by_count_and_by_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "MOST_KEPT", 2)
    monkeypatch.setattr(collection, "MOST_KEPT_B", 100)
    read = list[str]()

    def reads(hash_: str) -> Any:
        read.append(hash_)
        return hash_

    kept = Readings(reads, {"a": 1, "b": 1, "c": 1, "large": 99, "larger": 101}.__getitem__)
    for hash_ in ("a", "b", "a", "c", "a"):
        kept.of(hash_)
    assert read == ["a", "b", "c"]
    for hash_ in ("large", "large", "larger", "larger", "a"):
        kept.of(hash_)
    assert read == ["a", "b", "c", "large", "larger", "larger", "a"]


def test_pages_of_runs_have_their_turns_and_further_ones_are_told_to_come_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = filled(tmp_path, [MEASURED, COUNTED / "m4", COUNTED / "m0plus"])
    client = asking(lab)
    monkeypatch.setattr("wattlock.lab.app.page_turns", Turns(0))
    counted = [hash_of(COUNTED / name) for name in ("m4", "m0plus")]
    paths = [f"/runs/{counted[0]}", f"/runs/{counted[0]}/report", f"/compare?run={counted[0]}&run={counted[1]}"]
    assert [client.get(path).status_code for path in paths] == [200] * 3
    begun, ends = threading.Semaphore(0), threading.Event()

    def slow(_hash: str) -> Any:
        begun.release()
        assert ends.wait(LIMIT_S)
        raise DatabaseBusy("slow", hint="x")

    monkeypatch.setattr(lab, "reading", slow)
    with ThreadPoolExecutor(doors.AT_ONCE) as pool:
        others = [pool.submit(client.get, paths[0]) for _ in range(doors.AT_ONCE)]
        for _ in others:
            assert begun.acquire(timeout=LIMIT_S)
        answers = [client.get(path) for path in paths]
        ends.set()
        assert [one.result(LIMIT_S).status_code for one in others] == [503] * doors.AT_ONCE
    assert [answer.status_code for answer in answers] == [503] * 3
    assert answers[0].json()["error"] == "other questions are being answered"


def test_a_run_whose_files_vanish_while_it_is_read_is_an_error_and_is_read_anew_when_asked_again() -> None:
    asked: list[str] = []

    def size_B(hash_: str) -> int:
        asked.append(hash_)
        if len(asked) == 1:
            raise StoreError("gone", hint="look")
        return 10

    reading: Any = object()
    runs = Readings(lambda _: reading, size_B)
    with pytest.raises(StoreError, match="gone"):
        runs.of("hash")
    assert runs.of("hash") is reading
