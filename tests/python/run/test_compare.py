"""`wattlock compare`: ratios with their intervals, what may be compared with what, and when a change is refused."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest

from support.scripted_probe import direct, install, requested, truth
from support.virtual_runs import study_of, write_study
from wattlock import cli
from wattlock.errors import EvidenceError, InputError, Slower, UsageError
from wattlock.run import run_comparison
from wattlock.run.begin import Request, measure
from wattlock.run.result import Result
from wattlock.store import RunFolder


@pytest.fixture
def probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A probe in virtual time, in the folder of the test."""
    monkeypatch.chdir(tmp_path)
    program = install(tmp_path / "probe")
    monkeypatch.setenv("WATTLOCK_PROBE", str(program))
    write_study(tmp_path / "virtual.toml", study_of())
    return program


def measured(probe: Path, out: str, **script: Any) -> None:
    """A run by a probe that does as the script says."""
    direct(probe, **script)
    measure("virtual.toml", out=out)


def compared(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> tuple[list[dict[str, Any]], str]:
    capsys.readouterr()
    assert cli.answer(["compare", *words, "--format", "json"]) == code
    said = capsys.readouterr()
    return json.loads(said.out or "[]"), said.err


def test_a_case_that_costs_more_in_the_second_run_is_slower_by_its_true_ratio(
    probe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measured(probe, "before")
    measured(probe, "after", canaries={"1": truth(1) * 1.05, "2": truth(2) * 0.9})
    rows, _ = compared(capsys, "before", "after")
    assert [row["verdict"] for row in rows] == ["equivalent", "slower", "faster", "equivalent"]
    for row, ratio in zip(rows, (1, 1.05, 0.9, 1), strict=True):
        assert row["ratio_low"] <= row["ratio"] <= row["ratio_high"]
        assert row["ratio"] == pytest.approx(ratio, rel=0.003)
        assert row["cycles_per_byte_b"] / row["cycles_per_byte_a"] == pytest.approx(row["ratio"])


def test_a_run_compared_with_itself_is_the_same_everywhere(probe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured(probe, "run")
    rows, errors = compared(capsys, "run", "run")
    assert [(row["ratio"], row["verdict"]) for row in rows] == [(1.0, "equivalent")] * 4
    assert "differ" not in errors


def test_fail_above_ends_with_its_own_code_and_names_the_cases(probe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured(probe, "before")
    measured(probe, "after", canaries={"1": truth(1) * 1.05})
    rows, errors = compared(capsys, "before", "after", "--fail-above", "2%", code=Slower.exit_code)
    assert len(rows) == 4
    assert "1 of 4 cases are slower by more than 2 %: des-cbc encrypt 64 B of rustcrypto (+5." in errors
    compared(capsys, "before", "after", "--fail-above", "10%")
    compared(capsys, "after", "before", "--fail-above", "2%")


def test_a_noisy_case_does_not_fail_and_is_said_to_tell_nothing(
    probe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measured(probe, "before", between={"1": 0.1})
    measured(probe, "after", between={"1": 0.1})
    rows, errors = compared(capsys, "before", "after", "--fail-above", "2%")
    assert rows[1]["verdict"] == "undecided"
    assert "warning: 1 of 4 cases are undecided: des-cbc" in errors


def test_the_margin_of_a_gate_is_that_of_its_table_and_exit_code_and_noise_of_copies_widens_no_margin(
    probe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Two copies that differ by 0.2 % make no run invalid, and were a margin once: +0.9 % passed for equivalent.
    measured(probe, "before", canaries={"5": 0.501})
    measured(probe, "after", canaries={"5": 0.501, "1": truth(1) * 1.03, "2": truth(2) * 0.97})
    for margin, words, code in (
        ("1%", ["equivalent", "slower", "faster", "equivalent"], Slower.exit_code),
        ("5%", ["equivalent"] * 4, 0),
    ):
        rows, _ = compared(capsys, "before", "after", "--fail-above", margin, code=code)
        assert [row["verdict"] for row in rows] == words


def test_a_case_that_failed_has_no_ratio_and_its_reason_and_fails_the_gate(
    probe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measured(probe, "before")
    measured(probe, "after", fails={"2": "no such key"})
    rows, _ = compared(capsys, "before", "after")
    assert (rows[2]["ratio"], rows[2]["verdict"], rows[2]["reason"]) == (None, "undecided", "rustcrypto: no such key")
    _, errors = compared(capsys, "before", "after", "--fail-above", "2%", code=Slower.exit_code)
    assert "1 of 4 cases are undecided" in errors
    assert "1 cases have a number in the first and none in the second: " in errors
    # What never had a number can't lose it.
    compared(capsys, "after", "before", "--fail-above", "2%")


def test_a_case_that_is_gone_fails_the_gate(probe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured(probe, "before")
    write_study(Path("virtual.toml"), study_of(cipher=["aes128-cbc"]))
    measured(probe, "after")
    _, errors = compared(capsys, "before", "after", "--fail-above", "2%", code=Slower.exit_code)
    assert "none in the second: des-cbc" in errors


def test_two_providers_of_one_run_are_compared_case_by_case(probe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_study(Path("virtual.toml"), study_of(cipher=["aes128-cbc", "des-cbc"], provider=["rustcrypto", "openssl"]))
    measured(probe, "run", providers=["openssl"], canaries={"0": 0.02, "1": 0.01, "2": 0.02, "3": 0.04})
    rows, _ = compared(capsys, "run", "--providers", "rustcrypto", "openssl")
    assert [(row["provider_a"], row["provider_b"], row["verdict"]) for row in rows] == [
        ("rustcrypto", "openssl", "faster"),
        ("rustcrypto", "openssl", "slower"),
    ]


def test_a_library_of_the_users_is_planned_with_its_path_and_kept_by_its_hash(
    probe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("libmine.so").write_bytes(b"a library")
    libraries = {"mine": Path("libmine.so").absolute()}
    measure(Request("virtual.toml", only=["aes*"], libraries=libraries), out="run")
    # Processes of its own cases alone are told of it.
    heads = [
        (head, {case["provider"] for case in cases if case["role"] == "study"}) for head, *cases in requested(probe)
    ]
    expected = [{"name": "mine", "path": str(Path("libmine.so").absolute())}]
    assert [head.get("libraries") for head, _ in heads] == [expected if "mine" in names else None for _, names in heads]
    assert any("mine" in names for _, names in heads)
    (kept,) = RunFolder.open(Path("run")).plan()[0]["libraries"]
    assert kept["name"] == "mine"
    assert "path" not in kept
    rows, _ = compared(capsys, "run", "--providers", "rustcrypto", "mine")
    assert [row["cipher"] for row in rows] == ["aes128-cbc"]


def test_a_cut_off_run_goes_on_only_with_the_library_that_it_was_begun_with(
    probe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("libmine.so").write_bytes(b"a library")
    direct(probe, dies={"1": "SIGKILL"})
    assert cli.answer(["run", "virtual.toml", "--out", "run", "--library", "mine=libmine.so"]) != 0
    direct(probe)
    capsys.readouterr()
    assert cli.answer(["run", "--resume", "run"]) == InputError.exit_code
    Path("libmine.so").write_bytes(b"another library")
    assert cli.answer(["run", "--resume", "run", "--library", "libmine.so"]) == InputError.exit_code
    Path("libmine.so").write_bytes(b"a library")
    assert cli.answer(["run", "--resume", "run", "--library", "libmine.so"]) == 0
    assert "was begun with another libmine.so" in capsys.readouterr().err


def test_several_runs_are_each_held_against_the_first(probe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured(probe, "monday")
    measured(probe, "tuesday", canaries={"1": truth(1) * 1.05})
    measured(probe, "wednesday", canaries={"1": truth(1) * 0.9})
    rows, _ = compared(capsys, "monday", "tuesday", "wednesday")
    ids = [RunFolder.open(Path(name)).plan()[0]["id"] for name in ("monday", "tuesday", "wednesday")]
    assert [row["run_a"] for row in rows] == [ids[0]] * 8
    assert [row["run_b"] for row in rows] == [ids[1]] * 4 + [ids[2]] * 4
    assert {(row["evidence_a"], row["evidence_b"]) for row in rows} == {("measured", "measured")}
    assert [row["verdict"] for row in rows] == [
        "equivalent",
        "slower",
        "equivalent",
        "equivalent",
        "equivalent",
        "faster",
        "equivalent",
        "equivalent",
    ]
    _, errors = compared(capsys, "monday", "tuesday", "wednesday", "--fail-above", "2%", code=Slower.exit_code)
    assert "1 of 8 cases are slower" in errors


def test_nothing_is_claimed_of_runs_of_two_builds(probe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured(probe, "before")
    probe.write_text(f"{probe.read_text()}# another build\n")
    measured(probe, "after", canaries={"1": truth(1) * 1.5})
    rows, errors = compared(capsys, "before", "after")
    assert {row["verdict"] for row in rows} == {"undecided"}
    assert rows[1]["ratio"] == pytest.approx(1.5, rel=0.01)
    assert all(row["reason"].startswith("two builds of the probe, ") for row in rows)
    assert "differ in their build" in errors
    _, errors = compared(capsys, "before", "after", "--fail-above", "2%", code=EvidenceError.exit_code)
    assert "can't judge two builds of the probe" in errors


def test_two_processors_are_compared_by_time_and_not_by_cycles(probe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured(probe, "here")
    # The same times on a core of twice the clock: cycles are twice as many.
    measured(probe, "there", processor="Another core", canary_cycles=72_000, canaries={"1": truth(1) * 2})
    rows, errors = compared(capsys, "here", "there")
    assert {row["quantity"] for row in rows} == {"time"}
    assert [row["verdict"] for row in rows] == ["equivalent", "slower", "equivalent", "equivalent"]
    assert [row["ratio"] for row in rows] == pytest.approx([1, 2, 1, 1], rel=0.003)
    assert rows[0]["cycles_per_byte_b"] / rows[0]["cycles_per_byte_a"] == pytest.approx(2, rel=0.003)
    assert "the runs are of different processors: times are compared, not cycles" in errors
    rows, _ = compared(capsys, "here", "here")
    assert {row["quantity"] for row in rows} == {"cycles"}


def test_of_two_machines_with_a_build_each_no_small_difference_is_claimed_and_a_large_one_is(
    probe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measured(probe, "here")
    probe.write_text(f"{probe.read_text()}# the build of that machine\n")
    costs = {"1": truth(1) * 1.15, "2": truth(2) * 1.5, "3": truth(3) * 0.5}
    measured(probe, "there", processor="Another core", canaries=costs)
    rows, _ = compared(capsys, "here", "there")
    assert [row["verdict"] for row in rows] == ["undecided", "undecided", "slower", "faster"]
    assert [row["reason"] is not None and "less than 20 % is not claimed" in row["reason"] for row in rows] == [
        True,
        True,
        False,
        False,
    ]
    _, errors = compared(capsys, "here", "there", "--fail-above", "2%", code=EvidenceError.exit_code)
    assert "can't judge two builds of the probe" in errors
    measured(probe, "debug", processor="Another core", lto="off", canaries=costs)
    rows, _ = compared(capsys, "here", "debug")
    assert {row["verdict"] for row in rows} == {"undecided"}


def test_nothing_is_claimed_of_an_invalid_run(probe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured(probe, "sound")
    measured(probe, "invalid", canaries={"5": 0.7, "1": truth(1) * 3})
    rows, errors = compared(capsys, "sound", "invalid")
    assert [(row["verdict"], row["reason"]) for row in rows] == [("undecided", "an invalid run has no results")] * 4
    assert "is invalid: " in errors


def test_an_invalid_run_is_not_let_through(probe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured(probe, "run", canaries={"5": 0.7})
    _, errors = compared(capsys, "run", "run", "--fail-above", "2%", code=EvidenceError.exit_code)
    assert "invalid" in errors


MISTAKES = {
    "one run alone": (["run"], "nothing to compare"),
    "a bare number": (["run", "run", "--fail-above", "2"], "no percentage"),
    "a word": (["run", "run", "--fail-above", "much%"], "no percentage"),
    "a provider that the run has not": (["run", "--providers", "rustcrypto", "openssl"], 'provider "openssl"'),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_with_a_way_out(probe: Path, capsys: pytest.CaptureFixture[str], mistake: str) -> None:
    words, place = MISTAKES[mistake]
    measured(probe, "run")
    _, errors = compared(capsys, *words, code=(InputError if "--providers" in words else UsageError).exit_code)
    assert place in errors
    assert "hint:" in errors


@pytest.mark.parametrize("library", ["nowhere.so", "Mine=lib.so", "x=nowhere"])
def test_a_library_that_can_not_be_named_or_found_is_refused(probe: Path, library: str) -> None:
    Path("lib.so").touch()
    assert probe.is_file()
    assert cli.answer(["run", "virtual.toml", "--out", "run", "--library", library]) == InputError.exit_code
    assert not Path("run").exists()


@pytest.mark.parametrize(
    ("meters", "processors", "alike"),
    [
        ((("rapl", "package"), ("rapl", "package")), "aa", True),
        ((("rapl", "package"), ("powercap", "package")), "aa", False),
        ((("rapl", "package"), ("rapl", "package")), "ab", True),
        ((("rapl", "package"), ("rapl", "package and memory")), "ab", False),
        ((("rapl", "package"), None), "aa", False),
    ],
)
def test_joules_are_compared_of_one_meter_and_between_machines_of_meters_that_include_the_same(
    meters: tuple[tuple[str, str] | None, ...], processors: str, alike: bool
) -> None:
    runs = [
        SimpleNamespace(
            core_classes=[],
            meter=dict(zip(("name", "scope"), meter, strict=True)) if meter else None,
            header={"fingerprint": {"hardware": {"model_name": processor}, "build": {"isa": "x"}}},
        )
        for meter, processor in zip(meters, processors, strict=True)
    ]
    assert run_comparison.meters_are_alike(cast("Result", runs[0]), cast("Result", runs[1])) is alike


def test_times_of_two_kinds_of_evidence_are_not_compared() -> None:
    measured, modelled = (pl.DataFrame({"time_evidence": [kind, None]}) for kind in ("measured", "modelled"))
    run_comparison._refuse_mixed([measured, measured])
    with pytest.raises(EvidenceError, match="times that are measured and modelled are not compared"):
        run_comparison._refuse_mixed([measured, modelled])


def test_the_help_says_what_share_finds_a_slowdown(capsys: pytest.CaptureFixture[str]) -> None:
    cli.answer(["compare", "--help"])
    assert "to find 2 %, ask for --fail-above 1%" in " ".join(capsys.readouterr().out.split())
