"""Rows of a run have its own estimates, and an interval by drawing its processes again beside each."""

import shutil
from pathlib import Path

import pytest

from support.labs import MEASURED
from support.sweeps import RUNS, rows, swept, write
from support.tree import require_programs
from wattlock import cli
from wattlock.run.result import read
from wattlock.store import RunFolder, seal
from wattlock.sweep.resampled import SHOWN


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_programs()
    monkeypatch.chdir(tmp_path)


def test_all_cases_of_a_run_have_their_estimates_and_a_drawn_interval_around_them(tmp_path: Path) -> None:
    swept(write(tmp_path, RUNS), "out", "--workers", "1")
    found, known = rows("out"), read(RunFolder.open(MEASURED)).estimates
    assert found["case"].to_list() == [case for case in known["case"] for _ in (1, 2)]
    assert found.filter(seed=1).select(SHOWN).equals(known.select(SHOWN))
    assert set(found["evidence"]) == {"measured"}
    assert set(found["level_percent"]) == {95}  # of one look
    assert (found["drawn_low_ns"] < found["time_ns"]).all()
    assert (found["drawn_high_ns"] > found["time_ns"]).all()
    both = [found.filter(seed=seed)["drawn_wider"] for seed in (1, 2)]
    assert not both[0].equals(both[1])
    assert ((both[0] / both[1]).log().abs() < 0.5).all()


def test_a_run_that_is_not_sealed_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "begun"
    shutil.copytree(MEASURED, run)
    (run / seal.SUMS).unlink()
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
