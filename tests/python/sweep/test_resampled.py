"""Rows of a run have its own estimates, and an interval by drawing its processes again beside each."""

import shutil
from pathlib import Path

import polars as pl
import pytest

from support.labs import MEASURED
from support.sweeps import RUNS, rows, swept, write
from support.tree import require_programs
from wattlock import cli
from wattlock.errors import InputError
from wattlock.run.result import read
from wattlock.store import RunFolder, run_folder
from wattlock.store.run_folder import sums_sha256
from wattlock.sweep.rows import SHOWN, TIMED, Resampling, RunCase, resampled_figures


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_programs()
    monkeypatch.chdir(tmp_path)


def test_all_cases_of_a_run_have_their_estimates_and_a_drawn_interval_around_them(tmp_path: Path) -> None:
    swept(write(tmp_path, RUNS), "out", "--workers", "1")
    found, known = rows("out"), read(RunFolder.open(MEASURED)).estimates
    assert found["case"].to_list() == [case for case in known["case"] for _ in (1, 2)]
    once = found.filter(seed=1)
    assert once.select(TIMED).equals(known.select(TIMED))
    assert once.select(f"case_{name}" for name in SHOWN).rows() == known.select(SHOWN).rows()
    assert set(found["of"]) == {MEASURED.name}
    assert set(found["run"]) == {sums_sha256(RunFolder.open(MEASURED))}
    assert set(found["evidence"]) == {"measured"}
    assert set(found["level_percent"]) == {95}  # of one look
    assert (found["drawn_low_ns"] < found["time_ns"]).all()
    assert (found["drawn_high_ns"] > found["time_ns"]).all()
    assert found.select(pl.col("drawn_wider").is_between("usual_low", "usual_high").all()).item()


def test_of_several_runs_each_has_its_own_cases_and_none_is_there_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    shutil.copytree(MEASURED, other)
    batches = pl.read_parquet(other / run_folder.BATCHES).filter(pl.col("case") != 4)
    batches.write_parquet(other / run_folder.BATCHES)
    run_folder.write_sums(other)
    runs = [str(one) for one in (MEASURED, other)]
    text = RUNS.replace(f'["{MEASURED}"]', str(runs).replace("'", '"')).replace("[1, 2]", "[1]")
    swept(write(tmp_path, text), "two", "--workers", "1")
    found = rows("two")
    assert found["case"].to_list() == 2 * [*range(5)]
    assert found["error"].is_null().to_list() == 9 * [True] + [False]
    assert set(found["grid"]) == {0}
    assert found["run"].drop_nulls().n_unique() == 2
    again = RUNS.replace(f'["{MEASURED}"]', f'["{MEASURED}", "{MEASURED}/"]')
    assert cli.answer(["sweep", write(tmp_path, again), "--out", "out"]) == 4
    assert "is named twice" in capsys.readouterr().err


def test_beside_a_radio_whose_payloads_vary_a_run_keeps_its_own_columns(tmp_path: Path) -> None:
    radio = '[[grid]]\nlink = ["ble-reading"]\n[grid.vary]\n"payload_B" = [16, 16.5]\n'
    swept(write(tmp_path, RUNS + radio), "out", "--workers", "1")
    found = rows("out")
    assert found["grid"].to_list() == 10 * [0] + 2 * [1]
    assert found["payload_B"].to_list() == 10 * [None] + [16, 16.5]
    assert set(found["case_payload_B"].drop_nulls()) == {0, 64, 1500}


def test_a_path_that_is_a_column_of_the_answers_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = 'title = "t"\n[[grid]]\nlink = ["ble-reading"]\n[grid.vary]\n"total_J" = [1]\n'
    assert cli.answer(["sweep", write(tmp_path, text), "--out", "out"]) == 4
    assert "grid[0].vary.total_J: a column of the answers has that name" in capsys.readouterr().err
    assert not Path("out").exists()


def test_a_case_that_is_invalid_has_no_numbers() -> None:
    values, drawing = [0.1, 0.2, 0.3, 0.4, 0.5], Resampling(case=0)
    told = dict.fromkeys((*SHOWN, *TIMED)) | {"time_ns": 1.0, "state": "invalid", "reason": "bent"}
    with pytest.raises(InputError, match="the case is invalid: bent"):
        resampled_figures(RunCase("", told, values, 0.05, drawing))


def test_a_run_that_is_not_sealed_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "begun"
    shutil.copytree(MEASURED, run)
    (run / run_folder.SUMS).unlink()
    (run / "records.jsonl").touch()
    assert cli.answer(["sweep", write(tmp_path, RUNS.replace(str(MEASURED), "begun")), "--out", "out"]) != 0
    assert "begun: is not finished" in capsys.readouterr().err
    assert not Path("out").exists()


def test_cases_that_another_run_lacks_say_so_and_the_others_go_on(tmp_path: Path) -> None:
    text = RUNS.replace("[grid.vary]", '[grid.vary]\n"case" = [0, 9]')
    swept(write(tmp_path, text), "out", "--workers", "1")
    found = rows("out")
    assert found["error"].to_list() == [None, None, "has no case 9", "has no case 9"]
    assert found["drawn_low_ns"].is_null().to_list() == [False, False, True, True]
