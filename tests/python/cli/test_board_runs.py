"""A run by `--on board:BOARD@PORT`: cycles that the board's counter told, shown, drawn, compared and priced as that."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support.counted_runs import CASES, M4, STUDY, Board
from support.tree import require_programs
from wattlock import cli
from wattlock.advise.cipher_costs import COSTS
from wattlock.energy.device_cards import load
from wattlock.errors import CasesFailed, EvidenceError, ProbeError, StudyError
from wattlock.run.begin import measure
from wattlock.run.result import read
from wattlock.store import RunFolder
from wattlock.targets import named


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    require_programs()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "counted.toml").write_text(STUDY)
    return tmp_path / "counted.toml"


@pytest.fixture
def run(study: Path, tmp_path: Path) -> Path:
    """A run on a board."""
    measure(str(study), target=Board(), out=tmp_path / "run")
    return tmp_path / "run"


def said(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    assert cli.answer([str(word) for word in words]) == code
    printed = capsys.readouterr()
    return printed.out, printed.err


def test_one_process_at_a_time_has_the_board(study: Path, tmp_path: Path) -> None:
    target = Board()
    measure(str(study), target=target, out=tmp_path / "run")
    assert len(target.asked) == 4
    assert target.at_a_time == [0, 1]


def test_show_has_the_median_and_the_range_of_the_repetitions_as_measured(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = json.loads(said(capsys, "show", run, "--format", "json")[0])
    assert len(rows) == CASES
    assert {(row["evidence"], row["repetitions"], row["instructions"], row["time_ns"]) for row in rows} == {
        ("measured", 5, None, None)
    }
    assert all(row["cycles_low"] == row["cycles"] == row["cycles_high"] - 20 for row in rows)
    table, told = said(capsys, "show", run)
    assert "repetitions" in table
    assert "instructions" not in table.splitlines()[0].split()
    assert "measured: cortex-m4 of the board nrf52840-dk at 64 MHz; rustc 1." in told


def test_export_names_the_board(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "export", run, "--out", tmp_path / "counts.parquet")
    first = pl.read_parquet(tmp_path / "counts.parquet").row(0, named=True)
    assert (first["board"], first["core"], first["part"], first["part_clock_Hz"], first["emulator"]) == (
        "nrf52840-dk",
        "cortex-m4",
        "nrf52840",
        "64000000",
        None,
    )


def test_its_page_says_measured_board_cycles_and_nothing_of_an_emulator(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said(capsys, "report", run, "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert 'data-evidence="measured"' in page
    for words in (
        "On the Cortex-M4 of nrf52840-dk at 64 MHz, ChaCha20-Poly1305 takes the fewest board cycles",
        "Lines: the range of its repetitions.",
        "the clock of the board is what its file says, and was not measured",
        "wattlock run counted --on board:nrf52840-dk@PORT",
    ):
        assert words in page, words
    for absent in (
        '<span class="chip" data-evidence="emulated"',
        "core’s rules",
        "QEMU",
        "no board was measured",
        "Instructions",
    ):
        assert absent not in page.partition("How to repeat it")[0], absent


def test_beside_an_emulated_core_what_differs_is_told(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, told = said(capsys, "compare", M4, run, "--format", "json")
    rows = json.loads(table)
    assert {(row["evidence_a"], row["evidence_b"], row["instructions_ratio"]) for row in rows} == {
        ("emulated", "measured", None)
    }
    assert all(1.2 < row["ratio"] < 1.3 for row in rows if row["cycles_a"] > 100)
    assert "differ in their evidence: emulated on Cortex-M4 and measured on Cortex-M4 of nrf52840-dk at 64 MHz" in told
    assert (
        "no version of each other"
        in said(capsys, "compare", M4, run, "--fail-above", "2%", code=EvidenceError.exit_code)[1]
    )
    said(capsys, "compare", M4, run, "--html", tmp_path / "two.html")
    page = (tmp_path / "two.html").read_text(encoding="utf-8")
    assert 'data-evidence="emulated"' in page
    assert 'data-evidence="measured"' in page
    assert "no board was measured" not in page


def test_two_runs_of_one_board_differ_beyond_the_range_of_their_repetitions_alone(
    study: Path, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def slower(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            record | {"board_cycles": [one + 21 * (record["case"] % 2) for one in record["board_cycles"]]}
            if record["kind"] == "board"
            else record
            for record in records
        ]

    measure(str(study), target=Board(changed=slower), out=tmp_path / "slower")
    rows = json.loads(said(capsys, "compare", run, tmp_path / "slower", "--format", "json")[0])
    assert sorted({row["verdict"] for row in rows}) == ["alike", "more"]


def test_its_cycles_are_valued_by_a_card_of_its_part_at_its_clock(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = json.loads(
        said(capsys, "show", run, "--device", "nrf52840", "--allow-assumed", "--format", "json")[0],
    )
    card = load("nrf52840").card
    assert card.frequency is not None
    assert all(row["energy_low_uJ"] < row["energy_uJ"] < row["energy_high_uJ"] for row in told)
    by_cycle = {round(row["energy_uJ"] / row["cycles"], 12) for row in told if row["cycles"]}
    assert len(by_cycle) == 1
    assert (
        "is none of nrf52840"
        in said(capsys, "show", run, "--device", "rp2040", "--allow-assumed", code=EvidenceError.exit_code)[1]
    )


def test_its_costs_are_board_cycles_for_the_cards_of_its_part(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said(capsys, "costs", "--from", run, "--out", tmp_path / "mine.toml")
    file = COSTS.load(tmp_path / "mine.toml")[1]
    assert {(cost.counted, cost.confidence) for cost in file.cost} == {("board cycles", "primary")}
    assert all(cost.is_for(load("nrf52840")) and not cost.is_for(load("rp2040")) for cost in file.cost)
    rows = read(RunFolder.open(run)).estimates
    sealed = rows.filter((pl.col("cipher") == "ascon-aead128") & (pl.col("operation") == "seal")).sort("payload_B")
    cost = next(cost for cost in file.cost if cost.ciphers == ["ascon-aead128"])
    assert cost.points == sealed.select("payload_B", "cycles").rows()
    assert cost.relative_uncertainty >= 20 / sealed["cycles"].max() * 0.9  # type: ignore[operator]


def test_a_clock_that_is_not_the_cores_gives_no_cycles_and_no_costs(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measure(str(study), target=Board(clock_is_its_own=False), out=tmp_path / "run")
    rows = json.loads(said(capsys, "show", tmp_path / "run", "--format", "json")[0])
    assert {(row["cycles"], row["evidence"]) for row in rows} == {(None, None)}
    assert {row["reason"] for row in rows} == {"no cycles: the clock of nrf52840-dk is not its core's"}
    assert "takes 0.02 cycles" in said(capsys, "show", tmp_path / "run")[1]
    said(capsys, "report", tmp_path / "run", "--out", tmp_path / "page.html")
    said(capsys, "costs", "--from", tmp_path / "run", code=EvidenceError.exit_code)


def test_no_claim_of_a_paper_is_judged_by_it(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = said(capsys, "papers", "--counted", run, code=EvidenceError.exit_code)[1]
    assert "no claim is judged by cycles of the board nrf52840-dk" in told


def test_records_of_another_board_are_refused(study: Path, tmp_path: Path) -> None:
    with pytest.raises(ProbeError, match="on the board mine, not on the board nrf52840-dk"):
        measure(str(study), target=Board(board="mine"), out=tmp_path / "run")


def test_what_failed_on_the_board_is_named_and_the_rest_is_kept(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def reset(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The first case of each family resets the board."""
        first = next(record for record in records if record["kind"] == "board")
        error = {"process": first["process"], "error": "the board was reset in this case", "follows": "skip_case"}
        header = records[0] | {"cases": [case for case in records[0]["cases"] if case["case"] != first["case"]]}
        failed = {"kind": "failure", "case": first["case"], **error}
        return [header, *(failed if record is first else record for record in records[1:])]

    monkeypatch.setattr(named, "target", lambda _: Board(changed=reset))
    words = ("run", study, "--on", "board:nrf52840-dk@/dev/ttyACM0", "--out", tmp_path / "run")
    told = said(capsys, *words, code=CasesFailed.exit_code)[1]
    assert "the board was reset in this case" in told
    assert f"{CASES - 4} counted, 4 failed" in told


def test_a_board_is_asked_for_nothing_but_cycles(
    study: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(named, "target", lambda _: Board())
    words = ("run", study, "--on", "board:nrf52840-dk@/dev/ttyACM0", "--meter", "rapl")
    assert "on the board nrf52840-dk cycles are counted" in said(capsys, *words, code=StudyError.exit_code)[1]
