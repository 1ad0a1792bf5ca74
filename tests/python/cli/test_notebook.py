"""What the command line can do, a notebook can do by one call."""

import json
import re
from pathlib import Path

import pytest

import wattlock
from support.scripted_probe import direct, install, truth
from support.tree import PROBE, TREE, require_programs
from support.virtual_runs import study_of, write_study
from wattlock import cli
from wattlock.energy.operations import OwnOperation, of_own
from wattlock.errors import Slower
from wattlock.papers import record


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs in virtual time, `before` and `after`; one cipher became 5 % slower."""
    monkeypatch.chdir(tmp_path)
    program = install(tmp_path / "probe")
    monkeypatch.setenv("WATTLOCK_PROBE", str(program))
    write_study(tmp_path / "virtual.toml", study_of())
    for name, canaries in {"before": {}, "after": {"1": truth(1) * 1.05}}.items():
        direct(program, canaries=canaries)
        wattlock.measure("virtual.toml", out=name)
    return tmp_path


def test_a_study_is_carried_out_by_one_call_and_is_the_run_that_the_verb_shows(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    direct(runs / "probe" / "wattlock-probe")
    found = wattlock.measure(wattlock.Request("virtual.toml", only=["des*"]), out="one")
    assert (runs / "one" / "SHA256SUMS").is_file()
    assert set(found.estimates["cipher"]) == {"des-cbc"}
    assert cli.answer(["show", "one", "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [row["time_ns"] for row in shown] == found.estimates["time_ns"].to_list()


def test_the_papers_are_judged_by_one_call(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_programs()
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    found = wattlock.judge([runs / "before"])
    assert {judgement.claim for judgement in found.judgements} == {claim.id for claim in record.load().claims}


def test_two_runs_are_compared_as_the_verb_compares_them(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = wattlock.compare(wattlock.open_run("before"), [wattlock.open_run(runs / "after")])
    capsys.readouterr()
    assert cli.answer(["compare", "before", "after", "--format", "json"]) == 0
    assert found.table.to_dicts() == json.loads(capsys.readouterr().out)
    assert found.unclear(0.01) == ""
    with pytest.raises(Slower, match="1 of 4 cases"):
        found.refuse_slower(0.02)
    found.refuse_slower(0.2)


def test_a_battery_carries_as_much_as_the_verb_says(capsys: pytest.CaptureFixture[str]) -> None:
    work = of_own(OwnOperation(energy_uJ=12.5, time_us=80), allow_assumed=True)
    carried = wattlock.battery("lipo-1000", work, allow_assumed=True)
    words = ["battery", "lipo-1000", "--energy-uJ", "12.5", "--time-us", "80", "--allow-assumed", "--format", "json"]
    assert cli.answer(words) == 0
    assert carried.table.to_dicts() == json.loads(capsys.readouterr().out)
    assert carried.curves().height > 1


def test_every_call_that_the_page_shows_is_there() -> None:
    shown = set(re.findall(r"wattlock\.(\w+)\(", (TREE / "docs/reference/verbs.md").read_text(encoding="utf-8")))
    assert shown == {"measure", "Request", "open_run", "compare", "battery", "of_run", "judge"}
    assert all(callable(getattr(wattlock, name)) for name in shown)


def test_a_name_that_the_package_lacks_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'weigh'"):
        _ = wattlock.weigh
