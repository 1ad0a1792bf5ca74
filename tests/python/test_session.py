"""Studies carried out with a probe in virtual time: when cells stop, and what is left when something breaks."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import scripted_probe
from scripted_probe import CANARY_CYCLES, asked, direct, install, truth
from store_records import room_for

from wattlock import cli
from wattlock.errors import DiskFull, InputError, Interrupted, ProbeError, StoreError, StudyError
from wattlock.run import probe as probes
from wattlock.run import shards
from wattlock.run.result import Result, read
from wattlock.run.session import Progress, Session
from wattlock.store import RunFolder, plan_lines
from wattlock.study import Cell, Study

TREE = Path(__file__).parents[2]
CIPHERS = ["aes128-cbc", "des-cbc", "rc2-128-cbc", "3des-cbc"]
RESTLESS = 0.2
LOUD_PPM = 400_000


def study_of(looks: Sequence[int] = (5, 8), **grid: Any) -> dict[str, Any]:
    table = {"cipher": CIPHERS, "operation": ["encrypt"], "payload_B": [64]} | grid
    words = {"id": "virtual", "title": "In virtual time", "question": "When does it stop?"}
    return {**words, "looks": list(looks), "grid": [{k: v for k, v in table.items() if v is not None}]}


def cell_of(number: int, cipher: str) -> Cell:
    return Cell(number, "study", cipher, "rustcrypto", "encrypt", "ready", "raw", "hot", "independent", 64, "random")


class Sitting:
    """A run and the probe that measures it."""

    def __init__(self, place: Path, looks: Sequence[int] = (5, 8), **script: Any) -> None:
        self.probe = install(place / "probe", **script)
        self.study = Study.model_validate(study_of(looks))
        self.cells = [cell_of(number, cipher) for number, cipher in enumerate(CIPHERS)]
        self.watch = shards.sentinels(len(self.cells))
        self.folder = RunFolder.create(place / "run", self.plan())
        self.told: list[Progress] = []

    def plan(self) -> list[dict[str, Any]]:
        created = datetime(2026, 11, 21, tzinfo=UTC)
        every = [*self.cells, *self.watch]
        return plan_lines(self.study, every, id="r", created=created, seed=7, probe_sha256="0" * 64, device=None)

    def measure(self, processors: Sequence[int] = (1, 0)) -> Session:
        """One sitting, in a session that knows nothing of the one before."""
        self.folder.close()
        self.folder = RunFolder.open(self.folder.path)
        told = self.told.append
        session = Session(
            self.folder, self.study, self.cells, self.watch, {}, self.probe, 7, told, processors=list(processors)
        )
        session.measure()
        return session

    def result(self) -> Result:
        return read(self.folder)

    def estimates(self) -> list[dict[str, Any]]:
        return self.result().estimates.to_dicts()

    def column(self, name: str) -> list[Any]:
        return [row[name] for row in self.estimates()]

    def measured(self) -> list[set[int]]:
        """The study's cells that each process was asked for."""
        return [
            {line["cell"] for line in plan if line["kind"] == "cell" and line["role"] == "study"}
            for plan in asked(self.probe)
        ]


def test_a_resolved_cell_stops_at_the_first_look_and_a_restless_one_goes_on_to_the_last(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, looks=(5, 8, 12), between={"1": RESTLESS})
    sitting.measure()
    assert sitting.measured() == [{0, 1, 2, 3}] * 5 + [{1}] * 7
    assert sitting.column("processes") == [5, 12, 5, 5]
    assert sitting.column("state") == ["resolved", "unresolved", "resolved", "resolved"]
    assert "after 12 processes, the target is ±1.0 %" in sitting.column("reason")[1]


def test_the_estimates_hold_the_truth_that_the_probe_was_given(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path)
    sitting.measure()
    for row in sitting.estimates():
        assert row["cycles"] == pytest.approx(truth(row["cell"]) * CANARY_CYCLES, rel=0.005)
        assert row["cycles_low"] < row["cycles"] < row["cycles_high"]
    result = sitting.result()
    assert result.reasons == []
    assert result.ranking["cell"].to_list() == [0, 1, 2, 3]
    assert result.ranking["tie_group"].to_list() == [1, 2, 3, 4]


def test_a_core_of_unknown_latency_gives_times_and_a_warning(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, canary_cycles=None)
    sitting.measure()
    assert sitting.column("cycles") == [None] * 4
    assert None not in sitting.column("time_ns")
    assert any("no cycles, only times" in warning for warning in sitting.result().warnings)


def test_the_segments_of_a_cell_come_back_as_their_sum(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, segments={"2": 12})
    sitting.measure()
    assert sitting.column("cycles")[2] == pytest.approx(truth(2) * CANARY_CYCLES, rel=0.005)
    visits = [line["visits"] for plan in asked(sitting.probe) for line in plan if line.get("cell") == 2]
    assert visits[:3] == [shards.VISITS, *[shards.SEGMENTS_A_PROCESS // 12] * 2]
    assert all(shards.LEAST_LONG_VISITS <= count <= visits[1] for count in visits[3:])


def test_a_cell_that_fails_is_a_failure_and_the_rest_goes_on(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, fails={"2": "the output differs from the reference"})
    sitting.measure()
    assert sitting.column("state") == ["resolved", "resolved", "failed", "resolved"]
    assert sitting.column("reason")[2] == "the output differs from the reference"
    assert sitting.measured() == [{0, 1, 2, 3}] + [{0, 1, 3}] * 4


def test_a_run_of_which_every_cell_fails_ends_and_can_be_read(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, fails=dict.fromkeys("0123", "no such key"))
    sitting.measure()
    assert len(asked(sitting.probe)) == 1
    assert sitting.column("state") == ["failed"] * 4
    assert sitting.result().ranking.is_empty()


def test_a_probe_that_is_killed_is_named_with_its_process_and_signal(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, dies={"2": "SIGKILL"})
    with pytest.raises(ProbeError, match="was killed by SIGKILL in process 2") as caught:
        sitting.measure()
    assert "--resume" in caught.value.hint
    assert sitting.folder.complete() == {0, 1}
    assert sitting.folder.batches_of(2).height > 0


def test_a_run_goes_on_with_a_new_process_in_place_of_the_one_that_died(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, dies={"2": "SIGKILL"}, canaries={})
    with pytest.raises(ProbeError):
        sitting.measure()
    direct(sitting.probe)
    sitting.measure()
    assert [plan[0]["process"] for plan in asked(sitting.probe)] == [0, 1, 2, 3, 4, 5]
    assert sitting.folder.complete() == {0, 1, 3, 4, 5}
    assert sitting.column("processes") == [5] * 4
    result = sitting.result()
    assert result.processes == 5
    assert result.batches == sitting.folder.scan().filter("complete").collect().height
    assert len(sitting.folder.records("session")) == 2


def test_a_probe_that_ends_with_an_error_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(ProbeError, match="ended with exit code 9 in process 0: the script says so"):
        Sitting(tmp_path, dies={"0": 9}).measure()


@pytest.mark.parametrize(
    ("line", "what"),
    [("Segmentation fault", "is not JSON"), ("[1]", "has no kind"), ('{"kind":"batch","cell":0}', "is no batch")],
)
def test_a_probe_that_writes_something_else_is_refused_and_the_run_can_go_on(
    tmp_path: Path, line: str, what: str
) -> None:
    sitting = Sitting(tmp_path, says={"1": line})
    with pytest.raises(ProbeError, match=f"a line in process 1 that {what}"):
        sitting.measure()
    direct(sitting.probe)
    sitting.measure()
    assert sitting.column("state") == ["resolved"] * 4
    assert sitting.column("processes") == [5] * 4


def test_a_process_that_ends_early_without_an_error_is_an_error(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, keeps_the_end=[1])
    with pytest.raises(ProbeError, match="process 1 without all of its records"):
        sitting.measure()
    assert sitting.folder.complete() == {0}


def test_a_probe_that_is_gone_is_named(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path)
    sitting.probe.unlink()
    with pytest.raises(ProbeError, match="No such file"):
        sitting.measure()


def test_a_full_disk_keeps_what_was_measured_and_the_run_goes_on(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path)
    with room_for(200_000), pytest.raises(DiskFull):
        sitting.measure()
    kept = sitting.folder.complete()
    assert kept
    sitting.measure()
    assert sitting.folder.complete() > kept
    assert sitting.column("state") == ["resolved"] * 4


def test_where_a_neighbour_spoils_the_batches_the_next_process_runs_on_another_processor(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, loud=[1])
    sitting.measure()
    assert [plan[0]["cpu"] for plan in asked(sitting.probe)] == [1, 0, 0, 0, 0, 0]
    assert sitting.column("state") == ["resolved"] * 4
    assert sitting.column("processes") == [5] * 4


def test_cells_that_are_always_disturbed_are_given_up_after_twice_the_processes(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, loud=[0, 1])
    sitting.measure()
    assert [plan[0]["cpu"] for plan in asked(sitting.probe)] == [1, 0] * 5
    assert set(sitting.column("state")) == {"unresolved"}
    assert set(sitting.column("reason")) == {"no complete process measured it"}
    warnings = " ".join(sitting.result().warnings)
    assert "100% of the batches were disturbed" in warnings
    assert "too few complete processes for the sentinels" in warnings


def test_a_machine_of_one_processor_stays_on_it(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, loud=[3])
    sitting.measure(processors=[3])
    assert {plan[0]["cpu"] for plan in asked(sitting.probe)} == {3}


def test_a_quieter_core_found_later_takes_back_what_was_measured_beside_a_neighbour(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, bursts=dict.fromkeys("012", LOUD_PPM))
    sitting.measure()
    plans = asked(sitting.probe)
    assert [plan[0]["quiet_ppm"] for plan in plans] == [None, *[LOUD_PPM] * 3, *[scripted_probe.QUIET_PPM] * 4]
    assert sitting.column("processes") == [5] * 4
    early = sitting.folder.scan().filter(pl.col("process") < 3).collect().height
    assert sitting.result().causes["neighbour"] == early


def test_cells_that_had_stopped_beside_a_neighbour_are_measured_again(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, bursts=dict.fromkeys("01234", LOUD_PPM), between={"1": RESTLESS})
    sitting.measure()
    assert sitting.measured()[5] == {1}
    assert sitting.column("processes")[0] == 5
    assert sitting.column("state")[0] == "resolved"


def test_a_resumed_run_knows_what_the_earlier_sitting_settled(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, between={"1": RESTLESS}, dies={"6": "SIGTERM"})
    with pytest.raises(ProbeError, match="SIGTERM in process 6"):
        sitting.measure()
    direct(sitting.probe, between={"1": RESTLESS})
    sitting.measure()
    assert sitting.measured()[5:] == [{1}] * 4
    assert sitting.column("processes") == [5, 8, 5, 5]


def test_a_cell_is_visited_more_often_where_its_rounds_scatter_more_than_its_processes(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, between={"0": 0.0, "1": RESTLESS})
    sitting.measure()
    visits = [
        {line["cell"]: line["visits"] for line in plan if line["kind"] == "cell"} for plan in asked(sitting.probe)
    ]
    assert {one[0] for one in visits[:3]} == {shards.VISITS}
    assert all(shards.LEAST_VISITS <= count <= shards.MOST_VISITS for one in visits for count in one.values())
    assert visits[4][1] == shards.LEAST_VISITS
    watched = [one[5] for one in visits]
    assert watched == [plan[0]["rounds"] for plan in asked(sitting.probe)]


def test_the_progress_never_passes_what_is_expected_and_ends_with_all_cells(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, between={"1": RESTLESS})
    session = sitting.measure()
    assert all(0 <= told.processes <= told.expected for told in sitting.told)
    assert [told.processes for told in sitting.told] == sorted(told.processes for told in sitting.told)
    assert session.settled == {0, 1, 2, 3}


def test_another_wattlock_that_measures_into_the_run_is_not_disturbed(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path)
    with RunFolder.open(sitting.folder.path) as other:
        other.append(b'{"kind":"note"}\n')
        with pytest.raises(StoreError, match="another wattlock is measuring"):
            sitting.measure()


# The same through the command line.


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with a study and a probe in virtual time."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WATTLOCK_PROBE", str(install(tmp_path / "probe")))
    write_study(tmp_path / "virtual.toml", study_of())
    return tmp_path


def write_study(path: Path, study: Mapping[str, Any]) -> None:
    head = "\n".join(f"{key} = {json.dumps(value)}" for key, value in study.items() if key != "grid")
    grids = ["\n".join(f"{key} = {json.dumps(value)}" for key, value in grid.items()) for grid in study["grid"]]
    path.write_text("\n[[grid]]\n".join([head, *grids]) + "\n")


Words = Callable[[], tuple[list[str], list[str]]]


@pytest.fixture
def words(capsys: pytest.CaptureFixture[str]) -> Words:
    """The error and hint lines since the last call."""

    def read_them() -> tuple[list[str], list[str]]:
        lines = capsys.readouterr().err.splitlines()
        assert not [line for line in lines if "Traceback" in line]
        return tuple([line for line in lines if line.startswith(f"{kind}:")] for kind in ("error", "hint"))  # type: ignore[return-value]

    return read_them


def shown(run: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert cli.answer(["show", run, "--format", "json"]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return rows


def test_a_run_is_sealed_with_a_report_beside_it(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["run", "virtual.toml"]) == 0
    words = capsys.readouterr()
    assert words.out == ""
    (run,) = (place / "runs").iterdir()
    assert RunFolder.open(run).is_sealed
    assert (run / "report.html").is_file()
    assert "4 cells in" in words.err
    assert "4 resolved" in words.err
    assert [row["state"] for row in shown("last", capsys)] == ["resolved"] * 4


@pytest.mark.parametrize("cells", ["2", "0123"])
def test_a_run_of_which_cells_fail_has_a_report(place: Path, capsys: pytest.CaptureFixture[str], cells: str) -> None:
    direct(place / "probe" / "wattlock-probe", fails=dict.fromkeys(cells, "no such key"))
    assert cli.answer(["run", "virtual.toml", "--out", "run"]) == 0
    assert "no such key" in (place / "run" / "report.html").read_text()
    reasons = [row["reason"] for row in shown("run", capsys)]
    assert reasons == ["no such key" if str(number) in cells else None for number in range(4)]


def test_a_run_that_could_not_measure_anything_has_a_report(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loud = sorted(os.sched_getaffinity(0))
    direct(place / "probe" / "wattlock-probe", loud=loud, canary_cycles=None)
    assert cli.answer(["run", "virtual.toml", "--out", "run"]) == 0
    assert (place / "run" / "report.html").is_file()
    assert {row["time_ns"] for row in shown("run", capsys)} == {None}


def test_a_probe_that_dies_ends_the_run_with_its_exit_code_and_resume_finishes_it(
    place: Path, words: Words, capsys: pytest.CaptureFixture[str]
) -> None:
    direct(place / "probe" / "wattlock-probe", dies={"3": "SIGKILL"})
    assert cli.answer(["run", "virtual.toml", "--out", "run"]) == ProbeError.exit_code
    errors, hints = words()
    assert errors == ["error: the probe was killed by SIGKILL in process 3"]
    assert len(hints) == 1
    assert {row["processes"] for row in shown("run", capsys)} == {3}
    direct(place / "probe" / "wattlock-probe")
    assert cli.answer(["run", "--resume", "run"]) == 0
    assert {row["processes"] for row in shown("run", capsys)} == {5}


def test_a_run_that_broke_in_its_first_process_has_nothing_to_show_yet(place: Path, words: Words) -> None:
    direct(place / "probe" / "wattlock-probe", dies={"0": "SIGSEGV"})
    assert cli.answer(["run", "virtual.toml", "--out", "run"]) == ProbeError.exit_code
    words()
    for verb in ("show", "report"):
        assert cli.answer([verb, "run"]) == StoreError.exit_code
        assert words() == (
            ["error: run run: no process is complete"],
            ["hint: `wattlock run --resume` goes on with it"],
        )


def test_a_full_disk_has_its_exit_code_and_resume_finishes_the_run(
    place: Path, words: Words, capsys: pytest.CaptureFixture[str]
) -> None:
    with room_for(200_000):
        code = cli.answer(["run", "virtual.toml", "--out", "run"])
    assert code == DiskFull.exit_code
    errors, hints = words()
    assert (len(errors), len(hints)) == (1, 1)
    assert "the disk is full; what was measured until now is kept" in errors[0]
    assert cli.answer(["run", "--resume", "run"]) == 0
    assert {row["state"] for row in shown("run", capsys)} == {"resolved"}


def broken(place: Path, *more: str) -> None:
    """A run that waits to be resumed."""
    direct(place / "probe" / "wattlock-probe", dies={"2": "SIGKILL"})
    assert cli.answer(["run", "virtual.toml", "--out", "run", *more]) == ProbeError.exit_code
    direct(place / "probe" / "wattlock-probe")


def test_another_build_of_the_probe_is_refused(place: Path, words: Words) -> None:
    broken(place)
    words()
    probe = place / "probe" / "wattlock-probe"
    probe.write_text(probe.read_text() + "# built anew\n")
    assert cli.answer(["run", "--resume", "run"]) == StoreError.exit_code
    assert words()[0] == ["error: run run: was measured by another build of the probe"]
    assert len(asked(probe)) == 3


def test_a_run_goes_on_as_it_was_planned_or_not_at_all(place: Path, words: Words) -> None:
    broken(place)
    words()
    for more in (["--only", "cipher=aes*"], ["--device", "rp2040"], ["--out", "there"], ["--dry-run"]):
        assert cli.answer(["run", "--resume", "run", *more]) == StudyError.exit_code
        assert words()[0] == ["error: --resume goes on with a run as it was planned"]


def test_a_finished_run_is_not_resumed(place: Path, words: Words) -> None:
    assert cli.answer(["run", "virtual.toml", "--out", "run"]) == 0
    words()
    assert cli.answer(["run", "--resume", "run"]) == StoreError.exit_code
    assert words()[0] == ["error: run run: is finished"]


@pytest.fixture
def inputs(place: Path) -> Path:
    """A folder with two files that a study of whole files works on."""
    folder = place / "inputs"
    folder.mkdir()
    for number, name in enumerate("ab"):
        (folder / name).write_bytes(bytes(1000 + number))
    write_study(place / "virtual.toml", study_of(payload_B=None, data=["text"], cipher=["aes128-cbc"]))
    return folder


def test_an_input_that_was_changed_is_refused(place: Path, inputs: Path, words: Words) -> None:
    broken(place, "--input", str(inputs))
    words()
    (inputs / "b").write_bytes(b"x" * 1001)
    for given in (["--input", str(inputs)], []):
        assert cli.answer(["run", "--resume", "run", *given]) == InputError.exit_code
        errors, hints = words()
        assert "needs its input-" in errors[0]
        assert hints == ["hint: name it with --input"]


def test_an_input_is_known_by_its_content_whatever_it_is_called_now(place: Path, inputs: Path) -> None:
    broken(place, "--input", str(inputs))
    (inputs / "a").rename(inputs / "z")
    assert cli.answer(["run", "--resume", "run", "--input", str(inputs)]) == 0
    plans = asked(place / "probe" / "wattlock-probe")
    sizes = [{line["data"]: line["size_B"] for line in plan if line["kind"] == "data"} for plan in plans]
    assert sizes == [{"input-1": 1000, "input-2": 1001}] * 6


def test_no_file_of_a_run_names_an_input(place: Path, inputs: Path) -> None:
    (inputs / "a").rename(inputs / "a-secret-name")
    assert cli.answer(["run", "virtual.toml", "--out", "run", "--input", str(inputs)]) == 0
    for file in (place / "run").iterdir():
        assert b"secret-name" not in file.read_bytes()


@pytest.fixture
def waiting(place: Path) -> Iterator[subprocess.Popen[str]]:
    """`wattlock run` as a program of its own whose third process waits in the middle of its batches."""
    probe = place / "probe" / "wattlock-probe"
    direct(probe, waits=[2])
    # A test run in the background may have been told to ignore Ctrl-C, and hands that on.
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{heed}\nfrom wattlock.cli import main; main()"
    program = subprocess.Popen(
        [sys.executable, "-c", code, "run", "virtual.toml", "--out", "run"],
        env={**os.environ, "PYTHONPATH": str(TREE / "python")},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    wait_until(lambda: b'"process":2,"round"' in bytes_of(place))
    direct(probe)
    yield program
    program.kill()
    program.wait()
    assert program.stderr is not None
    program.stderr.close()


def bytes_of(place: Path) -> bytes:
    records = place / "run" / "records.jsonl"
    return records.read_bytes() if records.exists() else b""


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def probes_alive(place: Path) -> bool:
    program = os.fsencode(place / "probe" / "wattlock-probe")
    commands = (path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if readable(path))
    return any(program in command for command in commands)


def readable(path: Path) -> bool:
    try:
        path.read_bytes()
    except OSError:
        return False
    return True


def test_ctrl_c_leaves_a_run_that_resume_finishes(
    place: Path, waiting: subprocess.Popen[str], capsys: pytest.CaptureFixture[str]
) -> None:
    time.sleep(0.3)  # until it waits for the probe, which says no more
    waiting.send_signal(signal.SIGINT)
    _, said = waiting.communicate(timeout=60)
    assert waiting.returncode == Interrupted.exit_code
    assert [line for line in said.splitlines() if line.startswith("error:")] == [
        "error: stopped; what was measured is kept"
    ]
    assert "hint: `wattlock run --resume run` goes on" in said.splitlines()
    assert "Traceback" not in said
    assert not probes_alive(place)
    finish(place, capsys)


def test_a_kill_leaves_a_run_that_resume_finishes(
    place: Path, waiting: subprocess.Popen[str], capsys: pytest.CaptureFixture[str]
) -> None:
    waiting.kill()
    waiting.wait()
    wait_until(lambda: not probes_alive(place))
    finish(place, capsys)


def finish(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Resumes a run that was cut off in process 2, and looks at what came out."""
    before = RunFolder.open(place / "run")
    assert before.complete() == {0, 1}
    batches = Counter(before.scan().collect()["process"].to_list())
    assert cli.answer(["run", "--resume", "run"]) == 0
    after = RunFolder.open(place / "run")
    assert after.complete() == {0, 1, 3, 4, 5}
    kept = Counter(after.scan().collect()["process"].to_list())
    assert {process: kept[process] for process in batches} == dict(batches)
    assert {row["processes"] for row in shown("run", capsys)} == {5}


def test_a_program_that_is_no_probe_is_named(place: Path, monkeypatch: pytest.MonkeyPatch, words: Words) -> None:
    for other, what in (("/bin/true", "exit code 0"), (str(place / "nowhere"), "no program wattlock-probe")):
        monkeypatch.setenv("WATTLOCK_PROBE", other)
        assert cli.answer(["run", "virtual.toml"]) == ProbeError.exit_code
        errors, hints = words()
        assert what in errors[0]
        assert len(hints) == 1
    assert not (place / "runs").exists()


def test_what_the_probe_wrote_before_it_died_is_handed_over_line_by_line(tmp_path: Path) -> None:
    probe, taken = install(tmp_path, dies={"0": "SIGKILL"}), list[bytes]()
    plan = shards.probe_plan([cell_of(0, "des-cbc")], [], {0: 24}, {}, process=0, seed=1, cpu=None, quiet_ppm=None)
    with pytest.raises(ProbeError):
        probes.measure(probe, plan, 0, taken.append)
    lines = b"".join(taken).splitlines(keepends=True)
    assert len(lines) == 1 + (24 + 4) // 2
    assert all(line.endswith(b"}\n") for line in lines)


def test_a_thousand_cells_are_cut_into_shards_of_about_equal_size() -> None:
    cells = [cell_of(number, "aes128-cbc") for number in range(1000)]
    groups = shards.split(cells, seed=3)
    assert [len(group) for group in groups] == [250] * 4
    assert sorted(cell.cell for group in groups for cell in group) == list(range(1000))
    assert groups != shards.split(cells, seed=4)


def test_the_frame_of_a_run_says_which_batches_count(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, dies={"1": "SIGKILL"})
    with pytest.raises(ProbeError):
        sitting.measure()
    frame = sitting.folder.scan().group_by("process").agg(pl.col("complete").unique()).sort("process").collect()
    assert frame.rows() == [(0, [True]), (1, [False])]
