"""What a sealed run's batches say is kept, and is what they would say again."""

import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from wattlock.errors import StoreError
from wattlock.run import result as run_result
from wattlock.run.result import Result, open_run

RUN = Path(__file__).parent / "licence_run"


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(run_result, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache" / "batches"


@pytest.fixture
def summarised(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One more element for each time that batches were read."""
    times: list[int] = []
    read = run_result._freshly_summarised

    def counted(*words: Any) -> run_result.BatchSummary:
        times.append(1)
        return read(*words)

    monkeypatch.setattr(run_result, "_freshly_summarised", counted)
    return times


def numbers(result: Result) -> tuple[Any, ...]:
    frames = (result.summaries, result.across, result.estimates)
    return [frame.write_json() for frame in frames], result.clocks, result.causes, result.batches, result.verdicts


def test_a_run_that_was_read_says_the_same_again_without_its_batches(summarised: list[int]) -> None:
    first, second = (numbers(open_run(RUN)) for _ in range(2))
    assert first == second
    assert summarised == [1]


def test_other_code_summarises_anew(summarised: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    open_run(RUN)
    monkeypatch.setattr(run_result, "_code_hash", lambda: "0" * 64)
    open_run(RUN)
    assert summarised == [1, 1]


@pytest.mark.parametrize("name", ["summaries.parquet", "rest.json"])
@pytest.mark.parametrize("octets", [b"", b"{}", None])
def test_what_was_kept_and_can_not_be_read_is_made_again(
    kept: Path, summarised: list[int], name: str, octets: bytes | None
) -> None:
    expected = numbers(open_run(RUN))
    (place,) = kept.iterdir()
    (place / name).unlink()
    if octets is not None:
        (place / name).write_bytes(octets)
    assert numbers(open_run(RUN)) == expected
    assert numbers(open_run(RUN)) == expected
    assert summarised == [1, 1]


def test_a_run_that_was_changed_is_refused_though_its_rows_are_kept(tmp_path: Path) -> None:
    run = Path(shutil.copytree(RUN, tmp_path / "run"))
    open_run(run)
    pl.read_parquet(run / "batches.parquet").head(100).write_parquet(run / "batches.parquet")
    with pytest.raises(StoreError, match="not what was sealed"):
        open_run(run)


def test_a_cache_that_can_not_be_written_changes_nothing(kept: Path, summarised: list[int]) -> None:
    kept.parent.mkdir()
    kept.write_text("a file stands where the folder would")
    assert numbers(open_run(RUN)) == numbers(open_run(RUN))
    assert summarised == [1, 1]


def test_so_many_runs_are_kept_and_no_more(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_result, "MOST_KEPT", 2)
    for number in range(4):
        monkeypatch.setattr(run_result, "_code_hash", lambda number=number: f"{number:064}"[::-1])
        open_run(RUN)
    assert len(list(kept.iterdir())) == 2
