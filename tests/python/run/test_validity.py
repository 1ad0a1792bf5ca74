"""What an invalid or a noisy run says: what was measured and should have been, what disturbed it, what helps."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from support.scripted_probe import direct, install
from support.virtual_runs import CIPHERS, case_of, study_of, write_study
from wattlock import cli
from wattlock.analysis.self_checks import INJECTED_SLOWDOWN, State, Verdict
from wattlock.energy.valuing import valued
from wattlock.run import validity
from wattlock.run.begin import measure
from wattlock.run.process import Bench, self_checks
from wattlock.run.result import Result, read
from wattlock.run.timing import NOTICE_S, Timing
from wattlock.run.validity import INVALID_RUN, Conditions
from wattlock.store import RunFolder, plan_lines
from wattlock.study import Study
from wattlock.targets.local import Local

SLOWDOWN, COPY = "6", "5"


def check(state: State = "failed", ratio: float = 1.03) -> Verdict:
    return Verdict("injected slowdown", ratio, ratio / 1.001, ratio * 1.001, INJECTED_SLOWDOWN, state, 5)


def header(**load: Any) -> dict[str, Any]:
    return {"fingerprint": {"hardware": {"processors": 2}, "load": load}}


def quiet(**causes: int) -> Conditions:
    return validity.conditions([header()], causes, 1000)


def test_an_invalid_run_says_what_was_measured_what_it_should_be_what_disturbed_it_and_what_helps() -> None:
    busy = validity.conditions([header(averages=[5.2, 1, 1]), header(averages=[7.2, 1, 1])], {"neighbour": 640}, 1000)
    first, disturbed, helps = validity.explained([check()], busy)
    assert "+3.00 %" in first
    assert "+1.67 %" in first
    assert "not ranked or judged" in first
    assert "64 %" in disturbed
    assert "another program on the same core" in disturbed
    assert "6.2 on 2 processors" in disturbed
    for remedy in ("close other programs", "--keep-trying", "wattlock doctor"):
        assert remedy in helps
    assert "sentinel" not in f"{first}{disturbed}{helps}"


@pytest.mark.parametrize("state", ["passed", "not resolved"])
def test_a_run_none_of_whose_self_checks_failed_is_not_explained_and_on_a_quiet_machine_not_warned_of(
    state: State,
) -> None:
    assert validity.explained([check(state)], quiet(neighbour=900)) == []
    assert validity.cautions([check(state)], quiet(neighbour=10)) == []
    assert len(validity.cautions([check(state)], quiet(neighbour=900))) == 2


def test_time_that_a_hypervisor_gave_to_others_is_named_and_what_helps_then() -> None:
    headers = [header(steal_ms=steal, total_ms=total) for steal, total in ((100, 10_000), (500, 20_000))]
    machine = validity.conditions(headers, {}, 1000)
    assert machine.stolen_percent == pytest.approx(4.0)
    assert "other virtual machines of the host took 4.0 %" in validity.disturbed(machine)
    assert "not shared" in validity.helps(machine)


def test_a_machine_that_was_started_again_between_two_sessions_has_lost_nothing_to_others() -> None:
    headers = [header(steal_ms=9_000, total_ms=10_000), header(steal_ms=10, total_ms=900)]
    assert validity.conditions(headers, {}, 1).stolen_percent is None


def test_where_the_clock_changed_most_the_mains_help_first() -> None:
    assert validity.helps(quiet(clock=600, neighbour=100)).startswith("what helps: plug the machine in")
    assert "plug" not in validity.helps(quiet(clock=100, neighbour=600))


def test_of_a_run_that_nothing_was_seen_to_disturb_it_is_said_and_no_program_is_to_be_closed() -> None:
    assert "nothing was seen" in validity.disturbed(quiet())
    assert "close other programs" not in validity.helps(quiet())


def test_a_page_in_a_browser_is_given_no_command() -> None:
    browser = {"fingerprint": {"hardware": {}, "load": {}, "browser": {"is_isolated": True}}}
    helps = validity.helps(validity.conditions([browser], {}, 1))
    assert "close other tabs" in helps
    assert "`" not in helps


@pytest.mark.parametrize(
    ("states", "word"),
    [
        ([], "none"),
        (["passed"], "passed"),
        (["passed", "not resolved"], "not resolved"),
        (["not resolved", "failed"], "failed"),
    ],
)
def test_the_self_checks_of_a_run_in_a_word(states: list[State], word: str) -> None:
    assert validity.overall([check(state) for state in states]) == word


@pytest.fixture
def probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    program = install(tmp_path / "probe")
    monkeypatch.setenv("WATTLOCK_PROBE", str(program))
    write_study(tmp_path / "virtual.toml", study_of())
    return program


def measured(probe: Path, **script: Any) -> Result:
    direct(probe, **script)
    return read(measure("virtual.toml", out="run"))


def test_no_case_of_an_invalid_run_is_ranked_or_in_a_state_of_a_result(probe: Path) -> None:
    result = measured(probe, canaries={SLOWDOWN: 0.5 * 1.03}, fails={"2": "no such key"})
    rows = valued(result, None, allow_assumed=False)
    assert rows["state"].to_list() == [INVALID_RUN, INVALID_RUN, "failed", INVALID_RUN]
    assert rows["time_ns"].null_count() == 1, "its numbers stay"
    assert result.ranking.is_empty()
    assert result.ranking.columns == read(measure("virtual.toml", out="other")).ranking.columns


def test_a_self_check_that_is_not_resolved_leaves_the_cases_and_warns_with_its_width(probe: Path) -> None:
    result = measured(probe, between={COPY: 0.02})
    assert [verdict.state for verdict in result.verdicts] == ["not resolved", "passed"]
    assert set(valued(result, None, allow_assumed=False)["state"]) == {"resolved"}
    assert not result.ranking.is_empty()
    assert result.explained == []
    assert any("a self-check is known to ±" in line for line in result.warnings)


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_show_says_it_first_and_in_each_row_also_where_columns_do_not_fit(
    probe: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    measured(probe, canaries={SLOWDOWN: 0.5 * 1.03})
    assert cli.answer(["show", "run", "--format", form]) == 0
    said = capsys.readouterr()
    assert said.out.count(INVALID_RUN) == len(CIPHERS)
    assert said.err.startswith("warning: these numbers are from a run whose self-check failed")


def test_run_ends_with_the_same_words_and_no_answer(probe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    direct(probe, canaries={SLOWDOWN: 0.5 * 1.03})
    assert cli.answer(["run", "virtual.toml"]) == 0
    said = capsys.readouterr().err
    assert "self-check failed" in said
    assert "--keep-trying" in said
    assert "cheapest" not in said


class Noticing:
    """A run whose clock goes by so much at each look, and what it said meanwhile."""

    def __init__(self, place: Path, step_s: float, looks: Sequence[int] = (5, 8), **script: Any) -> None:
        study, cases = Study.model_validate(study_of(looks)), [case_of(n, cipher) for n, cipher in enumerate(CIPHERS)]
        watch = self_checks(len(cases))
        created = datetime(2026, 11, 26, tzinfo=UTC)
        plan = plan_lines(study, [*cases, *watch], id="r", created=created, seed=7, probe_sha256="0" * 64, device=None)
        folder = RunFolder.create(place / "run", plan)
        self.described: list[tuple[int, Sequence[str]]] = []
        program = install(place / "probe", **script)
        timing = Timing(Bench(folder, Local(program), {}, {}), study, cases, watch, 7)
        timing.notice = lambda lines: self.described.append((timing.process, lines))
        timing.clock = lambda: timing.process * step_s
        timing.measure()


def test_a_minute_in_it_says_once_how_long_the_rest_takes(tmp_path: Path) -> None:
    said = Noticing(tmp_path, NOTICE_S / 2, between={"1": 0.2}).described
    assert [process for process, _ in said] == [2]
    assert "2 min" in said[0][1][0], "three processes of half a minute to the next look"
    assert len(said[0][1]) == 1, "the machine is quiet"


def test_a_run_that_is_over_within_a_minute_says_nothing_meanwhile(tmp_path: Path) -> None:
    assert Noticing(tmp_path, 1.0).described == []


def test_a_self_check_that_fails_is_said_while_it_measures_with_what_helps(tmp_path: Path) -> None:
    said = Noticing(tmp_path, NOTICE_S, between={"1": 0.2}, canaries={SLOWDOWN: 0.5 * 1.03}).described
    words = [line for _, lines in said for line in lines]
    assert sum("+1.67 %" in line for line in words) == 1
    assert any("--keep-trying" in line for line in words)
    assert all(process < 8 for process, _ in said)
