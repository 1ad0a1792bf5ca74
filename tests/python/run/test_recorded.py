"""`wattlock run --meter recording` and `wattlock energy`: a run of this machine, and an instrument that is made up."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.metered_study import STUDY
from support.recorded_runs import made_up
from support.tree import TREE
from wattlock import cli
from wattlock.run.metering import MeterChoice, describe
from wattlock.run.result import open_run
from wattlock.store import RunFolder
from wattlock.store.run_folder import derive, sums_sha256
from wattlock.study.cases import sha256
from wattlock.targets import local


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run that was marked for an instrument, and what the made-up one recorded."""
    place = tmp_path_factory.mktemp("recorded")
    (place / "tiny.toml").write_text(STUDY)
    words = ["run", "tiny.toml", "--meter", "recording", "--out", "measured"]
    subprocess.run([Path(sys.prefix, "bin", "wattlock"), *words], cwd=place, check=True, capture_output=True)
    measured = RunFolder.open(place / "measured")
    # The made-up device is steady, and its instrument sees no other program: whatever took part, a call takes as long.
    others = measured.others()
    call_ns = {
        case: min(one["run_ns"] / one["calls"] for one in others if one.get("case") == case and one.get("calls"))
        for case in {one["case"] for one in others if one["kind"] == "energy_block"} - {None}
    }

    def steady(block: dict[str, Any]) -> dict[str, Any]:
        calls = round(block["run_ns"] / call_ns[block["case"]]) if block["case"] is not None else block["calls"]
        return {**block, "error": None, "calls": calls}

    records = [steady(one) if one["kind"] == "energy_block" else one for one in others]
    derive(measured, place / "run", measured.plan()[0], records)
    example = TREE / "examples" / "meters" / "made_up_recording.py"
    done = subprocess.run(
        [sys.executable, example, "run", "it.csv"], cwd=place, check=True, capture_output=True, text=True
    )
    (place / "truth.csv").write_text(done.stdout)
    return place


@pytest.fixture(autouse=True)
def _there(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)


def answered(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    capsys.readouterr()
    code = cli.answer(words)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_a_recording_joined_to_a_run_has_the_joules_that_it_was_made_of(capsys: pytest.CaptureFixture[str]) -> None:
    before = {file.name: sha256(file) for file in Path("run").iterdir()}
    words = ["energy", "--recording", "it.csv", "--run", "run", "--out", "joined", "--format", "json"]
    code, out, err = answered(words, capsys)
    assert code == 0, err
    assert "16 of 16 markers found" in err
    rows: list[dict[str, Any]] = json.loads(out)
    truths = made_up.truths_uJ(RunFolder.open("run").records("energy_block"))
    numbers = {case.cipher: case.case for case in RunFolder.open("run").cases() if case.role == "study"}
    for row in rows:
        assert row["energy_uJ"] == pytest.approx(truths[numbers[row["cipher"]]], rel=0.03), err
        assert row["energy_evidence"] == "measured"
        assert row["energy_low_uJ"] < row["energy_uJ"] < row["energy_high_uJ"]
        assert "what the instrument fed" in row["energy_scope"]
    assert before == {file.name: sha256(file) for file in Path("run").iterdir()}, "the run stays as it is"
    joined = RunFolder.open("joined")
    joined.verify()
    (record,) = joined.records("recording")
    assert record["recording_sha256"] == sha256(Path("it.csv"))
    assert record["run_sums_sha256"] == sums_sha256(RunFolder.open("run"))
    assert joined.plan()[0]["joined"]["run"] == RunFolder.open("run").id
    assert record["drift"] == pytest.approx(200e-6, abs=60e-6)
    for verb in (["show", "joined"], ["report", "joined"], ["export", "joined", "--out", "it.parquet"]):
        code, _, err = answered(verb, capsys)
        assert code == 0, err
    assert Path("joined", "report.html").is_file()
    meter = open_run("joined").meter or {}
    assert meter["scope"].startswith("what the instrument fed, as it recorded it; aligned within 0.")
    assert meter["scope"].endswith("by 16 of 16 markers")
    assert meter["gain_relative_uncertainty"] == 0.01


def test_a_run_that_is_not_joined_yet_has_no_joules_and_says_where_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = answered(["show", "run", "--format", "json"], capsys)
    assert code == 0, err
    assert all(row["energy_uJ"] is None for row in json.loads(out))
    assert "the joules are in a recording: `wattlock energy --recording FILE --run RUN` joins it" in err


def changed_csv(name: str, change: Any) -> str:
    head, *rows = Path("it.csv").read_text().splitlines()
    Path(name).write_text("\n".join(change(head, rows)) + "\n")
    return name


@pytest.mark.parametrize(
    ("change", "said", "hinted"),
    [
        (
            lambda head, rows: [head, *rows[len(rows) // 3 :]],
            ("has a part of the run: it begins ", "has two places for the run"),
            "",
        ),
        # Processes that take equally long leave more than one place for a part of their run.
        (
            lambda head, rows: [head, *rows[: len(rows) // 2]],
            ("has a part of the run: it ends ", "has two places for the run"),
            "",
        ),
        (lambda head, rows: [head.replace("(W)", "(nW)"), *rows], "W is not plausible", "--unit current=uA"),
        (
            lambda head, rows: [head, *(",-".join(row.rsplit(",", 1)) for row in rows)],
            "W is not above 0",
            "leads are the wrong way round",
        ),
        (lambda head, rows: [head.replace("(s)", "(ms)"), *rows], "doesn't contain the run", "--unit time=ms"),
        (lambda head, rows: [head, *rows[:9], rows[4], *rows[9:]], "line 11: time 3.004 s does not rise", "columns"),
        (lambda head, rows: [head, *rows[::40]], "too slow for markers", "--meter recording:25Hz"),
        (lambda head, rows: [head, *rows[:3]], "doesn't contain the run", "is it this run's"),
    ],
)
def test_what_cannot_be_joined_is_one_error_with_one_hint(
    change: Any, said: str | tuple[str, ...], hinted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["energy", "--recording", changed_csv("changed.csv", change), "--run", "run", "--out", "none"]
    code, out, err = answered(words, capsys)
    assert (code, out) == (4, "")
    assert err.startswith("error: changed.csv: ")
    assert any(one in err for one in ([said] if isinstance(said, str) else said))
    assert hinted in err.partition("hint: ")[2]
    assert err.count("error:") == err.count("hint:") == 1
    assert not Path("none").exists()


def test_a_unit_that_the_head_does_not_tell_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    change = lambda _, rows: ["t_time,power", *(f"{float(r.split(',')[0]) * 1e3},{r.split(',')[3]}" for r in rows)]  # noqa: E731
    words = ["energy", "--recording", changed_csv("bare.csv", change), "--run", "run", "--out", "bare"]
    assert answered([*words, "--unit", "time=ms"], capsys)[0] == 0
    code, _, err = answered([*words, "--unit", "time=hours"], capsys)
    assert (code, "--unit time=hours: is no unit" in err) == (4, True)


def test_a_run_without_markers_and_one_that_is_not_finished_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = TREE / "tests" / "python" / "store" / "measured_run"
    code, _, err = answered(["energy", "--recording", "it.csv", "--run", str(kept)], capsys)
    assert code != 0
    assert "has no marker" in err
    assert "--meter recording" in err
    code, _, err = answered(["energy", "--recording", str(tmp_path / "a.jls"), "--run", "run"], capsys)
    assert code != 0
    assert "export it as CSV in the Joulescope UI" in err


def test_a_pin_shows_the_marker_where_the_run_was_given_one(place: Path) -> None:
    pin = place / "value"
    pin.write_text("")
    meter = describe(local.find(), MeterChoice("recording:5000Hz", stream=pin))
    assert meter["name"] == "recording:5000Hz"
    assert pin.read_text() == "0"


def test_the_report_says_how_to_repeat_the_run() -> None:
    assert (open_run("run").meter or {})["baseline"] == "idle"
