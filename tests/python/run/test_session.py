"""Studies carried out with a probe in virtual time: when cases stop, and what is left when something breaks."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support import scripted_probe
from support.scripted_probe import CANARY_CYCLES, direct, install, requested, truth
from support.store_records import room_for
from support.virtual_runs import CIPHERS, case_of, study_of
from wattlock.errors import DiskFull, ProbeError, StoreError
from wattlock.run.process import (
    LEAST_LONG_VISITS,
    LEAST_VISITS,
    MOST_VISITS,
    SEGMENTS_A_PROCESS,
    SELF_CHECKS,
    VISITS,
    Bench,
    Order,
    measure,
    self_checks,
    split,
)
from wattlock.run.result import Result, read
from wattlock.run.timing import Progress, Timing
from wattlock.store import RunFolder, plan_lines
from wattlock.study import Study
from wattlock.targets.local import Local

RESTLESS = 0.2
LOUD_PPM = 400_000


class Sitting:
    """A run and the probe that measures it."""

    def __init__(self, place: Path, looks: Sequence[int] = (5, 8), **script: Any) -> None:
        self.probe = install(place / "probe", **script)
        self.study = Study.model_validate(study_of(looks))
        self.cases = [case_of(number, cipher) for number, cipher in enumerate(CIPHERS)]
        self.watch = self_checks(len(self.cases))
        self.folder = RunFolder.create(place / "run", self.plan())
        self.described: list[Progress] = []
        self.libraries: dict[str, Path] = {}

    def own(self, numbers: Sequence[int]) -> None:
        """Makes these cases those of a library of the user's own."""
        self.libraries = {"mine": Path("/somewhere/mine.so")}
        mine = {number: case_of(number, CIPHERS[number], "mine") for number in numbers}
        self.cases = [mine.get(case.case, case) for case in self.cases]

    def plan(self) -> list[dict[str, Any]]:
        created = datetime(2026, 11, 21, tzinfo=UTC)
        every = [*self.cases, *self.watch]
        return plan_lines(self.study, every, id="r", created=created, seed=7, probe_sha256="0" * 64, device=None)

    def measure(self, processors: Sequence[int] = (1, 0)) -> Timing:
        """One session, in a session that knows nothing of the one before."""
        self.folder.close()
        self.folder = RunFolder.open(self.folder.path)
        described = self.described.append
        bench = Bench(self.folder, Local(self.probe), {}, self.libraries)
        session = Timing(bench, self.study, self.cases, self.watch, 7, described, processors={None: list(processors)})
        session.measure()
        return session

    def result(self) -> Result:
        return read(self.folder)

    def estimates(self) -> list[dict[str, Any]]:
        return self.result().estimates.to_dicts()

    def column(self, name: str) -> list[Any]:
        return [row[name] for row in self.estimates()]

    def measured(self) -> list[set[int]]:
        """The study's cases that each process was asked for."""
        return [
            {line["case"] for line in plan if line["kind"] == "case" and line["role"] == "study"}
            for plan in requested(self.probe)
        ]


def test_a_resolved_case_stops_at_the_first_look_and_a_restless_one_goes_on_to_the_last(tmp_path: Path) -> None:
    session_verb = Sitting(tmp_path, looks=(5, 8, 12), between={"1": RESTLESS})
    session_verb.measure()
    assert session_verb.measured() == [{0, 1, 2, 3}] * 5 + [{1}] * 7
    assert session_verb.column("processes") == [5, 12, 5, 5]
    assert session_verb.column("state") == ["resolved", "unresolved", "resolved", "resolved"]
    assert "after 12 processes, the target is ±1.0 %" in session_verb.column("reason")[1]


def test_the_estimates_hold_the_truth_that_the_probe_was_given(tmp_path: Path) -> None:
    session_verb = Sitting(tmp_path)
    session_verb.measure()
    for row in session_verb.estimates():
        assert row["cycles"] == pytest.approx(truth(row["case"]) * CANARY_CYCLES, rel=0.005)
        assert row["cycles_low"] < row["cycles"] < row["cycles_high"]
    result = session_verb.result()
    assert result.reasons == []
    assert result.ranking["case"].to_list() == [0, 1, 2, 3]
    assert result.ranking["tie_group"].to_list() == [1, 2, 3, 4]


def test_a_core_of_unknown_latency_gives_times_and_a_warning(tmp_path: Path) -> None:
    session_verb = Sitting(tmp_path, canary_cycles=None)
    session_verb.measure()
    assert session_verb.column("cycles") == [None] * 4
    assert None not in session_verb.column("time_ns")
    assert any("no cycles, only times" in warning for warning in session_verb.result().warnings)


def test_the_segments_of_a_case_come_back_as_their_sum(tmp_path: Path) -> None:
    session_verb = Sitting(tmp_path, segments={"2": 12})
    session_verb.cases[2] = replace(session_verb.cases[2], payload_B=2**16)  # a short one is never cut
    session_verb.measure()
    assert session_verb.column("cycles")[2] == pytest.approx(truth(2) * CANARY_CYCLES, rel=0.005)
    visits = [line["visits"] for plan in requested(session_verb.probe) for line in plan if line.get("case") == 2]
    assert visits[:3] == [VISITS, *[SEGMENTS_A_PROCESS // 12] * 2]
    assert all(LEAST_LONG_VISITS <= count <= visits[1] for count in visits[3:])


def test_a_case_that_fails_is_a_failure_and_the_rest_goes_on(tmp_path: Path) -> None:
    session_verb = Sitting(tmp_path, fails={"2": "the output differs from the reference"})
    session_verb.measure()
    assert session_verb.column("state") == ["resolved", "resolved", "failed", "resolved"]
    assert session_verb.column("reason")[2] == "the output differs from the reference"
    assert session_verb.measured() == [{0, 1, 2, 3}] + [{0, 1, 3}] * 4


def test_a_run_of_which_every_case_fails_ends_and_can_be_read(tmp_path: Path) -> None:
    session_verb = Sitting(tmp_path, fails=dict.fromkeys("0123", "no such key"))
    session_verb.measure()
    assert len(requested(session_verb.probe)) == 1
    assert session_verb.column("state") == ["failed"] * 4
    assert session_verb.result().ranking.is_empty()


def test_a_users_library_is_measured_in_processes_of_its_own(tmp_path: Path) -> None:
    session_verb = Sitting(tmp_path)
    session_verb.own([1, 3])
    session_verb.measure()
    assert {frozenset(measured) for measured in session_verb.measured()} == {frozenset({0, 2}), frozenset({1, 3})}
    for plan in requested(session_verb.probe):
        is_own = any(line.get("case") in {1, 3} for line in plan)
        assert plan[0].get("libraries", []) == ([{"name": "mine", "path": "/somewhere/mine.so"}] if is_own else [])
        assert sum(line.get("role") in SELF_CHECKS for line in plan) == len(SELF_CHECKS)
    assert session_verb.column("state") == ["resolved"] * 4


def test_a_case_in_which_a_library_ends_its_process_fails_and_all_others_are_resolved(tmp_path: Path) -> None:
    error = "library mine crashed with signal 11 (SIGSEGV) in des-cbc encrypt 64 B"
    session_verb = Sitting(tmp_path, ends={"1": error})
    session_verb.own([1, 3])
    session_verb.measure()
    assert session_verb.column("state") == ["resolved", "failed", "resolved", "resolved"]
    assert session_verb.column("reason")[1] == error
    # The library's other case waited until the others were settled.
    after = session_verb.measured()[2:]
    assert after == [{0, 2}] * 4 + [{3}] * 5
    assert session_verb.result().reasons == []


def test_a_library_that_costs_more_than_all_others_is_given_up_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = "library mine did not come back within 5 s in des-cbc encrypt 64 B"
    session_verb = Sitting(tmp_path, ends={"1": error, "2": error, "3": "never asked"})
    session_verb.own([1, 2, 3])
    lose = Timing._lose
    slow = lambda session, library, _, failure: lose(session, library, 1000.0, failure)  # noqa: E731
    monkeypatch.setattr(Timing, "_lose", slow)
    session_verb.measure()
    assert session_verb.column("state") == ["resolved", "failed", "failed", "failed"]
    assert session_verb.column("reason")[3] == f"not measured: {error}, and so it cost 2000 s already"
    assert session_verb.measured()[-1] == {2, 3}


def test_the_cut_of_a_case_is_found_once_and_handed_to_all_later_processes(tmp_path: Path) -> None:
    session_verb = Sitting(tmp_path, segments={"2": 12}, cut_B={"2": 4096})
    session_verb.cases[2] = replace(session_verb.cases[2], payload_B=2**16)
    session_verb.measure()
    plans = [
        {line["case"]: line.get("cut_B") for line in plan if line.get("role") == "study"}
        for plan in requested(session_verb.probe)
    ]
    assert plans[0] == dict.fromkeys(range(4))
    assert plans[1:] == [{0: 0, 1: 0, 2: 4096, 3: 0}] * 4


def test_a_resumed_run_keeps_its_cuts(tmp_path: Path) -> None:
    session_verb = Sitting(tmp_path, dies={"2": "SIGKILL"}, segments={"2": 12}, cut_B={"2": 4096})
    session_verb.cases[2] = replace(session_verb.cases[2], payload_B=2**16)
    with pytest.raises(ProbeError):
        session_verb.measure()
    direct(session_verb.probe, segments={"2": 12}, cut_B={"2": 512})
    session_verb.measure()
    last = requested(session_verb.probe)[-1]
    assert [line["cut_B"] for line in last if line.get("case") == 2] == [4096]


def test_a_probe_that_is_killed_is_named_with_its_process_and_signal(tmp_path: Path) -> None:
    session_verb = Sitting(tmp_path, dies={"2": "SIGKILL"})
    with pytest.raises(ProbeError, match="was killed by SIGKILL in process 2") as caught:
        session_verb.measure()
    assert "--resume" in caught.value.hint
    assert session_verb.folder.complete() == {0, 1}
    assert session_verb.folder.batches_of(2).height > 0


def test_a_run_goes_on_with_a_new_process_in_place_of_the_one_that_died(tmp_path: Path) -> None:
    session_verb = Sitting(tmp_path, dies={"2": "SIGKILL"}, canaries={})
    with pytest.raises(ProbeError):
        session_verb.measure()
    direct(session_verb.probe)
    session_verb.measure()
    assert [plan[0]["process"] for plan in requested(session_verb.probe)] == [0, 1, 2, 3, 4, 5]
    assert session_verb.folder.complete() == {0, 1, 3, 4, 5}
    assert session_verb.column("processes") == [5] * 4
    result = session_verb.result()
    assert result.processes == 5
    assert result.batches == session_verb.folder.scan().filter("complete").collect().height
    assert len(session_verb.folder.records("session")) == 2


def test_a_probe_that_ends_with_an_error_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(ProbeError, match="ended with exit code 9 in process 0: the script says so"):
        Sitting(tmp_path, dies={"0": 9}).measure()


@pytest.mark.parametrize(
    ("line", "what"),
    [("Segmentation fault", "is not JSON"), ("[1]", "has no kind"), ('{"kind":"batch","case":0}', "is no batch")],
)
def test_a_probe_that_writes_something_else_is_refused_and_the_run_can_go_on(
    tmp_path: Path, line: str, what: str
) -> None:
    session_verb = Sitting(tmp_path, says={"1": line})
    with pytest.raises(ProbeError, match=f"a line in process 1 that {what}"):
        session_verb.measure()
    direct(session_verb.probe)
    session_verb.measure()
    assert session_verb.column("state") == ["resolved"] * 4
    assert session_verb.column("processes") == [5] * 4


def test_a_process_that_ends_early_without_an_error_is_an_error(tmp_path: Path) -> None:
    session_verb = Sitting(tmp_path, keeps_the_end=[1])
    with pytest.raises(ProbeError, match="process 1 without all of its records"):
        session_verb.measure()
    assert session_verb.folder.complete() == {0}


def test_a_probe_that_is_gone_is_named(tmp_path: Path) -> None:
    session_verb = Sitting(tmp_path)
    session_verb.probe.unlink()
    with pytest.raises(ProbeError, match="No such file"):
        session_verb.measure()


def test_a_full_disk_keeps_what_was_measured_and_the_run_goes_on(tmp_path: Path) -> None:
    session_verb = Sitting(tmp_path)
    with room_for(200_000), pytest.raises(DiskFull):
        session_verb.measure()
    kept = session_verb.folder.complete()
    assert kept
    session_verb.measure()
    assert session_verb.folder.complete() > kept
    assert session_verb.column("state") == ["resolved"] * 4


def test_where_a_neighbour_spoils_the_batches_the_next_process_runs_on_another_processor(tmp_path: Path) -> None:
    session_verb = Sitting(tmp_path, loud=[1])
    session_verb.measure()
    assert [plan[0]["cpu"] for plan in requested(session_verb.probe)] == [1, 0, 0, 0, 0, 0]
    assert session_verb.column("state") == ["resolved"] * 4
    assert session_verb.column("processes") == [5] * 4


def test_cases_that_are_always_disturbed_are_given_up_after_twice_the_processes(tmp_path: Path) -> None:
    session_verb = Sitting(tmp_path, loud=[0, 1])
    session_verb.measure()
    assert [plan[0]["cpu"] for plan in requested(session_verb.probe)] == [1, 0] * 5
    assert set(session_verb.column("state")) == {"unresolved"}
    assert set(session_verb.column("reason")) == {"no complete process measured it"}
    warnings = " ".join(session_verb.result().warnings)
    assert re.search(r"100 % of [\d,]+ timing loops were disturbed", warnings)
    assert "too few complete processes for the self-checks" in warnings


def test_processes_from_before_a_quieter_core_was_found_are_no_attempts(tmp_path: Path) -> None:
    at_first, beside = LOUD_PPM, int(1.2 * LOUD_PPM)
    session_verb = Sitting(tmp_path, bursts={"0": at_first} | {str(process): beside for process in range(1, 9)})
    session_verb.measure()
    assert len(requested(session_verb.probe)) == 9 + 5
    assert session_verb.column("state") == ["resolved"] * 4


def test_a_machine_of_one_processor_stays_on_it(tmp_path: Path) -> None:
    session_verb = Sitting(tmp_path, loud=[3])
    session_verb.measure(processors=[3])
    assert {plan[0]["cpu"] for plan in requested(session_verb.probe)} == {3}


def test_a_quieter_core_found_later_takes_back_what_was_measured_beside_a_neighbour(tmp_path: Path) -> None:
    session_verb = Sitting(tmp_path, bursts=dict.fromkeys("012", LOUD_PPM))
    session_verb.measure()
    plans = requested(session_verb.probe)
    assert [plan[0]["quiet_ppm"] for plan in plans] == [None, *[LOUD_PPM] * 3, *[scripted_probe.QUIET_PPM] * 4]
    assert session_verb.column("processes") == [5] * 4
    early = session_verb.folder.scan().filter(pl.col("process") < 3).collect().height
    assert session_verb.result().causes["neighbour"] == early


def test_cases_that_had_stopped_beside_a_neighbour_are_measured_again(tmp_path: Path) -> None:
    session_verb = Sitting(tmp_path, bursts=dict.fromkeys("01234", LOUD_PPM), between={"1": RESTLESS})
    session_verb.measure()
    assert session_verb.measured()[5] == {1}
    assert session_verb.column("processes")[0] == 5
    assert session_verb.column("state")[0] == "resolved"


def test_a_resumed_run_knows_what_the_earlier_sitting_settled(tmp_path: Path) -> None:
    session_verb = Sitting(tmp_path, between={"1": RESTLESS}, dies={"6": "SIGTERM"})
    with pytest.raises(ProbeError, match="SIGTERM in process 6"):
        session_verb.measure()
    direct(session_verb.probe, between={"1": RESTLESS})
    session_verb.measure()
    assert session_verb.measured()[5:] == [{1}] * 4
    assert session_verb.column("processes") == [5, 8, 5, 5]


def test_a_case_is_visited_more_often_where_its_rounds_scatter_more_than_its_processes(tmp_path: Path) -> None:
    session_verb = Sitting(tmp_path, between={"0": 0.0, "1": RESTLESS})
    session_verb.measure()
    visits = [
        {line["case"]: line["visits"] for line in plan if line["kind"] == "case"}
        for plan in requested(session_verb.probe)
    ]
    assert {one[0] for one in visits[:3]} == {VISITS}
    assert all(LEAST_VISITS <= count <= MOST_VISITS for one in visits for count in one.values())
    assert visits[4][1] == LEAST_VISITS
    watched = [one[5] for one in visits]
    assert watched == [plan[0]["rounds"] for plan in requested(session_verb.probe)]


def test_the_progress_never_passes_what_is_expected_and_ends_with_all_cases(tmp_path: Path) -> None:
    session_verb = Sitting(tmp_path, between={"1": RESTLESS})
    session = session_verb.measure()
    assert all(0 <= described.processes <= described.expected for described in session_verb.described)
    assert [described.processes for described in session_verb.described] == sorted(
        described.processes for described in session_verb.described
    )
    assert session.settled == {0, 1, 2, 3}


def test_another_wattlock_that_measures_into_the_run_is_not_disturbed(tmp_path: Path) -> None:
    session_verb = Sitting(tmp_path)
    with RunFolder.open(session_verb.folder.path) as other:
        other.append(b'{"kind":"note"}\n')
        with pytest.raises(StoreError, match="another wattlock is measuring"):
            session_verb.measure()


def test_what_the_probe_wrote_before_it_died_is_handed_over_line_by_line(tmp_path: Path) -> None:
    probe, taken = install(tmp_path, dies={"0": "SIGKILL"}), list[bytes]()
    plan = Order(0, 1, [case_of(0, "des-cbc")], None, visits={0: 24}).plan({})
    with pytest.raises(ProbeError):
        measure(Local(probe), plan, 0, taken.append)
    lines = b"".join(taken).splitlines(keepends=True)
    assert len(lines) == 1 + (24 + 4) // 2
    assert all(line.endswith(b"}\n") for line in lines)


def test_a_plan_names_the_partners_of_a_pair_gives_both_the_visits_of_one_and_leaves_out_half_a_pair() -> None:
    cases = [case_of(number, "des-cbc") for number in range(4)]
    order = Order(0, 1, cases, None, visits={0: 8, 1: 30, 2: 24, 3: 24}, pairs={0: 1, 2: 9})
    lines = [line for line in order.plan({}) if line["kind"] == "case"]
    assert [(line.get("pair"), line["visits"]) for line in lines] == [(1, 30), (0, 30), (None, 24), (None, 24)]


def test_a_thousand_cases_are_cut_into_shards_of_about_equal_size() -> None:
    cases = [case_of(number, "aes128-cbc") for number in range(1000)]
    groups = split(cases, seed=3)
    assert [len(group) for group in groups] == [250] * 4
    assert sorted(case.case for group in groups for case in group) == list(range(1000))
    assert groups != split(cases, seed=4)


def test_the_frame_of_a_run_says_which_batches_count(tmp_path: Path) -> None:
    session_verb = Sitting(tmp_path, dies={"1": "SIGKILL"})
    with pytest.raises(ProbeError):
        session_verb.measure()
    frame = session_verb.folder.scan().group_by("process").agg(pl.col("complete").unique()).sort("process").collect()
    assert frame.rows() == [(0, [True]), (1, [False])]
