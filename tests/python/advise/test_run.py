"""`wattlock advise --run`: a run in virtual time, valued by a card, becomes the ciphers' costs."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.scripted_probe import install
from support.virtual_runs import study_of, write_study
from wattlock import cli
from wattlock.run.begin import measure

SEALED = ["aes128-gcm", "chacha20-poly1305"]
# Canaries a call, by case: cases go by cipher, then by payload.
CANARIES = {"0": 0.02, "1": 0.05, "2": 0.03, "3": 0.30}
ASK = ["advise", "--run", "run", "--device", "x86-server-assumed", "--radio", "nrf52840-ble", "--sleep", "100uW"]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = install(tmp_path / "probe", canaries=CANARIES)
    study = study_of((5,), cipher=SEALED, operation=["seal"], payload_B=[64, 1024])
    write_study(tmp_path / "virtual.toml", study)
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as virtual:
        virtual.setenv("WATTLOCK_PROBE", str(program))
        measure("virtual.toml", out="run")


def question(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert cli.answer([*ASK, *words, "--allow-assumed", "--format", "json"]) == 0
    described: dict[str, Any] = json.loads(capsys.readouterr().out)
    return described


def shares(described: dict[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    for row in described["ranked"]:
        found.setdefault(row["cipher"], row["cipher_share"] * row["power_uW"])
    return found


@pytest.mark.usefixtures("run")
def test_a_run_gives_the_costs_of_its_ciphers_and_of_no_others(capsys: pytest.CaptureFixture[str]) -> None:
    described = question(capsys, "--message", "64B", "--every", "1s")
    assert {row["cipher"] for row in described["ranked"]} == set(SEALED)
    assert {row["provider"] for row in described["ranked"]} == {"rustcrypto"}
    assert {row["cost_source"] for row in described["ranked"]} == {"the run"}
    small = shares(described)
    assert small["chacha20-poly1305"] / small["aes128-gcm"] == pytest.approx(1.5, rel=0.05)


@pytest.mark.usefixtures("run")
def test_the_cost_of_a_size_between_is_linear(capsys: pytest.CaptureFixture[str]) -> None:
    between = shares(question(capsys, "--message", "200B", "--every", "10s"))
    at = {"aes128-gcm": 0.02 + 0.03 * 136 / 960, "chacha20-poly1305": 0.03 + 0.27 * 136 / 960}
    assert between["chacha20-poly1305"] / between["aes128-gcm"] == pytest.approx(
        at["chacha20-poly1305"] / at["aes128-gcm"], rel=0.05
    )


def test_a_run_that_is_not_there_is_refused_with_how_to_make_one(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["advise", "--run", "nowhere", "--message", "64B", "--every", "1s"]
    assert cli.answer(words) != 0
    assert "there is no run nowhere" in capsys.readouterr().err


@pytest.mark.usefixtures("run")
def test_a_plan_is_in_the_answer_and_two_options_of_it_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    plan = question(capsys, "--message", "256B", "--every", "50ms", "--plan", "--within", "1")["plan"]
    assert plan["asked_within_percent"] == 1
    assert plan["expected_within_percent"] <= plan["within_percent"]
    assert {step["target"] for step in plan["steps"]} <= {"local"}
    traffic = ["--message", "64B", "--every", "1s", "--allow-assumed"]
    for words in (["--within", "3"], ["--plan", "--format", "csv"]):
        assert cli.answer([*ASK, *traffic, *words]) == 2
        assert "hint: " in capsys.readouterr().err


@pytest.mark.usefixtures("run")
def test_two_runs_are_taken_together_and_one_counts_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as virtual:
        virtual.setenv("WATTLOCK_PROBE", str(Path("probe/wattlock-probe").resolve()))
        measure("virtual.toml", out="another")
    traffic = ["--message", "64B", "--every", "1s"]
    once, both = question(capsys, *traffic), question(capsys, *traffic, "--run", "another")
    assert shares(both) == pytest.approx(shares(once), rel=0.05)
    assert {row["cost_source"] for row in both["ranked"]} == {"2 runs"}
    assert cli.answer([*ASK, *traffic, "--run", "run", "--allow-assumed"]) == 4
    assert "is named twice" in capsys.readouterr().err
