"""Two builds of a library by `compare --libraries`, in virtual time: paired, decided, and ended as the table says."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.scripted_probe import direct, install, requested, truth
from support.virtual_runs import case_of, study_of, write_study
from wattlock import cli
from wattlock.errors import CasesFailed, EvidenceError, InputError, Slower, UsageError
from wattlock.run import process, timing
from wattlock.run.result import open_run
from wattlock.store import RunFolder

Verb = Callable[..., tuple[list[dict[str, Any]], str]]
EQUAL = {str(case): truth(case // 2) for case in range(4)}
"""Two ciphers, each by both libraries, which cost the same."""


@pytest.fixture
def probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    program = install(tmp_path / "probe")
    monkeypatch.setenv("WATTLOCK_PROBE", str(program))
    write_study(tmp_path / "mine.toml", study_of((5,), cipher=["xtea-ctr", "xtea-ecb"]))
    for name in ("old.so", "new.so"):
        (tmp_path / name).touch()
    return program


@pytest.fixture
def gate(probe: Path, capsys: pytest.CaptureFixture[str]) -> Verb:
    def carried_out(*words: str, code: int = 0, out: str = "run", **script: Any) -> tuple[list[dict[str, Any]], str]:
        direct(probe, **{"canaries": EQUAL} | script)
        capsys.readouterr()
        line = ["compare", "--libraries", "old.so", "new.so", "mine.toml", "--format", "json", "--out", out, *words]
        assert cli.answer(line) == code
        described = capsys.readouterr()
        return json.loads(described.out or "[]"), described.err

    return carried_out


def numbers() -> dict[str, int]:
    """The case of each cipher and library."""
    return {
        f"{case.cipher} {case.provider}": case.case for case in RunFolder.open("run").cases() if case.role == "study"
    }


def test_both_builds_are_in_each_process_and_name_each_other(probe: Path, gate: Verb) -> None:
    rows, _ = gate("--fail-above", "2%")
    assert [row["verdict"] for row in rows] == ["equivalent"] * 2
    plans = [plan for plan in requested(probe) if plan[0]["kind"] == "plan"]
    assert len(plans) == 5
    for plan in plans:
        assert [library["name"] for library in plan[0]["libraries"]] == ["before", "after"]
        pairs = {line["case"]: line["pair"] for line in plan if line["kind"] == "case" and line["role"] == "study"}
        assert all(pairs[pair] == case for case, pair in pairs.items())
    assert not Path("run/report.html").exists()


@pytest.mark.parametrize(
    ("ratio", "margin", "word", "code"),
    [
        (1.03, "2%", "slower", Slower.exit_code),
        (1.03, "5%", "equivalent", 0),
        (0.97, "2%", "faster", 0),
        (1.02, "2%", "undecided", EvidenceError.exit_code),
    ],
)
def test_table_and_exit_code_say_the_same(gate: Verb, ratio: float, margin: str, word: str, code: int) -> None:
    canaries = EQUAL | {"1": EQUAL["1"] * ratio, "3": EQUAL["3"] * ratio}
    # As wide as that no interval is clear of a margin; else a gate ends long before its budget.
    noise = {str(case): 0.1 for case in range(4)} if word == "undecided" else {}
    budget = "15s" if word == "undecided" else "120s"
    words = ("--fail-above", margin, "--budget", budget)
    rows, errors = gate(*words, code=code, canaries=canaries, between=noise, out="judged")
    by_case = {case.case: case.provider for case in RunFolder.open("judged").cases() if case.role == "study"}
    assert by_case == {0: "before", 1: "after", 2: "before", 3: "after"}
    assert [row["verdict"] for row in rows] == [word] * 2
    assert ("2 of 2 cases are undecided" in errors and "% would decide" in errors) == (word == "undecided")


def test_undecided_without_fail_above_is_a_warning(gate: Verb) -> None:
    _, errors = gate("--budget", "15s", between={"1": 0.1})
    assert "warning: 1 of 2 cases are undecided" in errors


def test_a_run_read_later_has_the_same_ratios(gate: Verb, capsys: pytest.CaptureFixture[str]) -> None:
    rows, _ = gate("--fail-above", "2%")
    assert cli.answer(["compare", "run", "--providers", "before", "after", "--format", "json"]) == 0
    later = json.loads(capsys.readouterr().out)
    names = ("ratio", "ratio_low", "ratio_high")
    assert [[row[name] for name in names] for row in later] == [[row[name] for name in names] for row in rows]
    assert cli.answer(["compare", "run", "--providers", "after", "before", "--format", "json"]) == 0
    turned = json.loads(capsys.readouterr().out)
    assert [row["ratio"] for row in turned] == pytest.approx([1 / row["ratio"] for row in rows])


def test_a_case_that_has_no_number_any_more_ends_as_slower(gate: Verb) -> None:
    rows, errors = gate("--fail-above", "2%", code=Slower.exit_code, fails={"1": "no such key"})
    assert next((row["ratio"], row["reason"]) for row in rows) == (None, "after: no such key")
    assert "none in the second" in errors


def test_a_case_that_fails_in_both_is_in_the_markdown_and_ends_with_its_code(
    probe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    direct(probe, canaries=EQUAL, fails={"0": "no such key", "1": "no such key"})
    words = ["compare", "--libraries", "old.so", "new.so", "mine.toml", "--out", "run", "--format", "markdown"]
    assert cli.answer([*words, "--fail-above", "2%"]) == CasesFailed.exit_code
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[2].rstrip(" |").endswith("undecided: before: no such key")


def test_a_budget_too_short_for_one_look_says_how_long_that_takes(gate: Verb) -> None:
    _, errors = gate("--budget", "0.01s", code=InputError.exit_code)
    assert "error: --budget 0.01s: is too short: 5 processes, the least, take" in errors
    assert "hint: --budget " in errors


@pytest.mark.parametrize("budget", ["60", "s", "0s", "-1s", "1h", "nans", "infs", "1e9m"])
def test_what_is_no_budget_is_refused(gate: Verb, budget: str) -> None:
    _, errors = gate("--budget", budget, code=UsageError.exit_code)
    assert "is no time to measure" in errors


def test_a_budget_is_refused_without_libraries(probe: Path) -> None:
    assert probe.is_file()
    assert cli.answer(["compare", "last", "--budget", "30s"]) == UsageError.exit_code


def test_pairs_stay_in_one_shard_and_none_is_lost() -> None:
    cases = [case_of(number, "aes128-cbc") for number in range(1400)]
    pairs = {number: number + 700 for number in range(700)}
    groups = process.split(cases, seed=3, pairs=pairs)
    assert sorted(case.case for group in groups for case in group) == list(range(1400))
    for group in groups:
        there = {case.case for case in group}
        assert len(group) <= process.SHARD_CASES
        assert all((first in there) == (second in there) for first, second in pairs.items())


def test_a_pair_is_two_cases_that_differ_in_the_library_alone() -> None:
    cases = [case_of(0, "a", "x"), case_of(1, "b", "x"), case_of(2, "b", "y"), case_of(3, "c", "y")]
    assert timing.PairedPlan.of(cases, ["y", "x"], 0.01, 60, None).pairs == [(2, 1)]


def test_libraries_that_can_not_be_together_take_turns(gate: Verb, probe: Path) -> None:
    _, errors = gate("--fail-above", "2%", refuses_two="its symbols clash")
    assert "before and after can't be loaded together, so their processes take turns: its symbols clash" in errors
    plans = [plan for plan in requested(probe) if plan[0]["kind"] == "plan" and plan[0]["rounds"]]
    assert [plan[0]["libraries"][0]["name"] for plan in plans] == ["before", "after"] * 5
    assert open_run("run").pairs is not None
