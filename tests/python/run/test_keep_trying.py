"""`--keep-trying`: a run that would end invalid or unresolved is measured on, at looks that were planned before."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.scripted_probe import direct, install, requested, truth
from support.virtual_runs import study_of, write_study
from wattlock import cli
from wattlock.analysis.estimate import HOLD_AT_LEAST, level_of_a_look
from wattlock.errors import StudyError, UsageError
from wattlock.run import begin
from wattlock.run.begin import Silent
from wattlock.run.result import Result, read
from wattlock.run.timing import KeepTrying, Timing, extended
from wattlock.study import load
from wattlock.targets import or_this_machine

RESTLESS = 0.02
SLOWDOWN = "6"
"""The case that is slowed down on purpose, behind four of the study, the reference and its copy."""


@pytest.fixture
def probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    program = install(tmp_path / "probe")
    monkeypatch.setenv("WATTLOCK_PROBE", str(program))
    write_study(tmp_path / "virtual.toml", study_of())
    return program


def measured(minutes: float | None, **script: Any) -> Result:
    if script:
        direct(Path("probe/wattlock-probe"), **script)
    return read(begin.measure(begin.Request("virtual.toml", keep_trying=minutes), out="run"))


def processes(result: Result) -> list[int]:
    found: list[int] = result.estimates["processes"].to_list()
    return found


def states(result: Result) -> list[str]:
    found: list[str] = result.estimates["state"].to_list()
    return found


def test_without_it_a_restless_case_ends_unresolved_at_the_last_look(probe: Path) -> None:
    result = measured(None, between={"1": RESTLESS})
    assert probe.is_file()
    assert (processes(result)[1], states(result)[1]) == (8, "unresolved")


def test_with_it_the_restless_case_alone_goes_on_until_it_is_resolved_at_a_planned_look(probe: Path) -> None:
    result = measured(60, between={"1": RESTLESS})
    looks = result.plan["study"]["looks"]
    assert looks == extended([5, 8], 1000)
    assert (processes(result)[1] > 8, processes(result)[1] in looks, states(result)[1]) == (True, True, "resolved")
    assert [count for case, count in enumerate(processes(result)) if case != 1] == [5, 5, 5]
    alone = [{line["case"] for line in plan if line.get("role") == "study"} for plan in requested(probe)[8:]]
    assert alone == [{1}] * (processes(result)[1] - 8)


def test_when_the_minutes_are_spent_it_ends_at_the_usual_last_look(probe: Path) -> None:
    result = measured(1e-9, between={"1": RESTLESS})
    assert probe.is_file()
    assert (processes(result)[1], states(result)[1]) == (8, "unresolved")


def test_where_a_self_check_fails_every_case_goes_on_so_that_none_is_of_the_bad_times_alone(probe: Path) -> None:
    result = measured(60, canaries={SLOWDOWN: 0.5 * 1.03})
    assert probe.is_file()
    assert result.reasons, "it misses by the same in every process"
    assert processes(result) == [extended([5, 8], 1000)[-1]] * 4


def test_a_run_whose_self_check_comes_right_stops_there(probe: Path) -> None:
    """The first processes of the run are bad, and then the machine is quiet: the mean of all of them decides."""
    planned = begin.plan(begin.Request("virtual.toml", keep_trying=60), or_this_machine(None))

    class Later(Silent):
        def measured(self, *_: Any, **__: Any) -> None:
            if len(requested(probe)) == 6:
                direct(probe)

    direct(probe, canaries={SLOWDOWN: 0.5 * 1.022})
    begun = planned.create(Path("run"))
    begun.measure(Later())
    result = read(begun.folder)
    assert result.reasons == []
    assert len(set(processes(result))) == 1
    assert 5 < processes(result)[0] < extended([5, 8], 1000)[-1]


@pytest.mark.parametrize("looks", [[5], [5, 8], [5, 8, 12, 20, 30], [5, 990], [5, 1000]])
def test_further_looks_rise_keep_those_before_and_share_the_level(looks: list[int]) -> None:
    found = extended(looks, 1000)
    assert found[: len(looks)] == looks
    assert found == sorted(set(found))
    assert found[-1] <= 1000
    if found[-1] < 300:
        assert (1 - HOLD_AT_LEAST) / len(found) < level_of_a_look(found) < 0.05


def timing(clock: Callable[[], float], minutes: float) -> Timing:
    found = Timing.__new__(Timing)
    found.study = load("quick").model_copy(update={"looks": extended([5, 8], 1000)})
    found.keep_trying, found.clock, found.begun_s, found.carried_out = KeepTrying(minutes, 8), clock, 0.0, 40
    return found


def test_a_further_look_is_begun_only_where_there_is_time_for_all_of_it() -> None:
    assert timing(lambda: 60.0, 3)._last_look(80) == 41, "40 took a minute, so that 80 take two"
    assert timing(lambda: 60.0, 3)._last_look(81) == 8


def test_a_dry_run_says_how_long_it_may_go_on_and_forecasts_the_usual_looks(
    probe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert probe.is_file()
    assert cli.answer(["run", "virtual.toml", "--keep-trying", "20", "--dry-run"]) == 0
    said = capsys.readouterr().err
    assert "with 8" in said
    assert "20 min" in said


def test_a_run_that_goes_on_is_not_given_other_looks(probe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert probe.is_file()
    assert cli.answer(["run", "--resume", "last", "--keep-trying", "5"]) == UsageError.exit_code
    assert "--keep-trying" in capsys.readouterr().err


def test_papers_hands_it_on_and_refuses_it_beside_a_run_that_is_there(
    probe: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert probe.is_file()
    given: list[Any] = []

    def carried_out(study: str, **more: Any) -> None:
        given.append((study, more.get("keep_trying")))
        raise StudyError("stop here", hint="it is a test")

    monkeypatch.setattr("wattlock.cli.run.run", carried_out)
    assert cli.answer(["papers", "--keep-trying", "7"]) == StudyError.exit_code
    assert given == [("papers/quick", 7)]
    assert cli.answer(["papers", "--run", "last", "--keep-trying", "7"]) == UsageError.exit_code
    assert "--keep-trying" in capsys.readouterr().err


def test_a_run_resumed_goes_on_by_the_minutes_of_its_plan(probe: Path) -> None:
    planned = begin.plan(begin.Request("virtual.toml", keep_trying=60), or_this_machine(None))

    class Stops(Silent):
        def measured(self, *_: Any, **__: Any) -> None:
            if len(requested(probe)) == 8:
                raise KeyboardInterrupt

    direct(probe, between={"1": RESTLESS}, canaries={"0": truth(0)})
    begun = planned.create(Path("run"))
    with pytest.raises(KeyboardInterrupt):
        begun.measure(Stops())
    begin.resume("run", or_this_machine(None), libraries={}).measure(Silent())
    result = read(begun.folder)
    assert (processes(result)[1] > 8, states(result)[1]) == (True, "resolved")
