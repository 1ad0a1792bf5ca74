"""`wattlock run` with a probe in virtual time: exit codes, and runs that were cut off and go on."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.scripted_probe import direct, install, requested
from support.store_records import room_for
from support.tree import TREE
from support.virtual_runs import CIPHERS, study_of, write_study
from wattlock import cli
from wattlock.errors import CasesFailed, DiskFull, InputError, Interrupted, ProbeError, StoreError, UsageError
from wattlock.store import RunFolder


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with a study and a probe in virtual time."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WATTLOCK_PROBE", str(install(tmp_path / "probe")))
    write_study(tmp_path / "virtual.toml", study_of())
    return tmp_path


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
    assert "4 cases in" in words.err
    assert "4 resolved" in words.err
    assert "is the most expensive" in words.err
    assert [row["state"] for row in shown("last", capsys)] == ["resolved"] * 4


@pytest.mark.parametrize("cases", ["2", "0123"])
def test_a_run_of_which_cases_fail_is_sealed_reported_and_ends_with_12(
    place: Path, words: Words, capsys: pytest.CaptureFixture[str], cases: str
) -> None:
    direct(place / "probe" / "wattlock-probe", fails=dict.fromkeys(cases, "no such key"))
    assert cli.answer(["run", "virtual.toml", "--out", "run"]) == CasesFailed.exit_code == 12
    (error,), (hint,) = words()
    first = CIPHERS[int(cases[0])]
    assert error.endswith(f"{len(cases)} of 4 cases failed, the first by rustcrypto: {first} encrypt 64 B: no such key")
    assert hint == "hint: the others are measured; `wattlock show run` gives each reason"
    assert RunFolder.open("run").is_sealed
    assert "no such key" in (place / "run" / "report.html").read_text()
    reasons = [row["reason"] for row in shown("run", capsys)]
    assert reasons == ["no such key" if str(number) in cases else None for number in range(4)]


def test_the_table_gives_the_reason_where_a_case_failed_and_has_no_such_column_else(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(["run", "virtual.toml", "--out", "whole"]) == 0
    direct(place / "probe" / "wattlock-probe", fails={"2": "no such key"})
    assert cli.answer(["run", "virtual.toml", "--out", "run"]) == 12
    capsys.readouterr()
    assert cli.answer(["show", "run"]) == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split()[-1] == "reason"
    assert [row.split("failed")[-1].strip() for row in rows if " failed " in row] == ["no such key"]
    assert cli.answer(["show", "whole"]) == 0
    assert "reason" not in capsys.readouterr().out


def test_a_run_that_was_cut_off_ends_with_12_too_where_a_case_failed(place: Path) -> None:
    direct(place / "probe" / "wattlock-probe", fails={"2": "no such key"}, dies={"3": "SIGKILL"})
    assert cli.answer(["run", "virtual.toml", "--out", "run"]) == ProbeError.exit_code
    direct(place / "probe" / "wattlock-probe")
    assert cli.answer(["run", "--resume", "run"]) == 12


def test_what_a_library_of_the_system_lacks_is_said_before_and_a_users_own_library_has_to_have_it(place: Path) -> None:
    write_study(place / "two.toml", study_of(provider=["rustcrypto", "libmcrypt"]))
    fails = {str(number): "no libmcrypt" for number in (1, 3, 5, 7)}
    direct(place / "probe" / "wattlock-probe", providers=["libmcrypt"], absent=["libmcrypt"], fails=fails)
    assert cli.answer(["run", "two.toml", "--out", "run"]) == 0
    (place / "libmine.so").write_bytes(b"")
    direct(place / "probe" / "wattlock-probe", absent=["mine"], fails=fails)
    assert cli.answer(["run", "virtual.toml", "--library", "libmine.so", "--out", "own"]) == 12


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
    assert RunFolder.open(place / "run").complete()
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
    assert len(requested(probe)) == 3


def test_a_run_goes_on_as_it_was_planned_or_not_at_all(place: Path, words: Words) -> None:
    broken(place)
    words()
    for more in (["--only", "cipher=aes*"], ["--device", "rp2040"], ["--out", "there"], ["--dry-run"]):
        assert cli.answer(["run", "--resume", "run", *more]) == UsageError.exit_code
        assert words()[0] == ["error: --resume goes on with a run as it was planned"]


def test_a_finished_run_is_not_resumed(place: Path, words: Words) -> None:
    assert cli.answer(["run", "virtual.toml", "--out", "run"]) == 0
    words()
    assert cli.answer(["run", "--resume", "run"]) == StoreError.exit_code
    assert words()[0] == ["error: run run: is finished"]
    assert len(requested(place / "probe" / "wattlock-probe")) == 5


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
    plans = requested(place / "probe" / "wattlock-probe")
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
    heed += "; signal.signal(signal.SIGHUP, signal.SIG_DFL)"
    code = f"{heed}\nfrom wattlock.__main__ import main; main()"
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


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_a_polite_end_and_a_closed_terminal_leave_a_run_that_resume_finishes(
    place: Path, waiting: subprocess.Popen[str], capsys: pytest.CaptureFixture[str], by: signal.Signals
) -> None:
    time.sleep(0.3)  # until it waits for the probe, which says no more
    waiting.send_signal(by)
    _, said = waiting.communicate(timeout=30)
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


def test_a_run_that_was_begun_on_another_machine_is_not_mixed_with_this_one(place: Path, words: Words) -> None:
    broken(place)
    words()
    kept = (place / "run" / "records.jsonl").read_bytes()
    direct(place / "probe" / "wattlock-probe", canary_cycles=48_000)
    assert cli.answer(["run", "--resume", "run"]) == StoreError.exit_code
    (error,), hint = words()
    assert "was begun on" in error
    assert "start a new run" in str(hint)
    added = (place / "run" / "records.jsonl").read_bytes().removeprefix(kept)
    assert b'"batch"' not in added


def test_a_run_is_valued_by_the_card_as_it_was_and_names_no_path(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from importlib.resources import files

    card = place / "secret-place.toml"
    card.write_bytes((files("wattlock") / "data" / "devices" / "x86-server-assumed.toml").read_bytes())
    words = ["run", "virtual.toml", "--out", "run", "--device", str(card), "--allow-assumed"]
    assert cli.answer(words) == 0
    card.unlink()
    capsys.readouterr()
    assert all(row["energy_uJ"] > 0 for row in shown("run", capsys))
    plan = (place / "run" / "plan.jsonl").read_text()
    assert str(place) not in plan
    assert '"device":"secret-place"' in plan
