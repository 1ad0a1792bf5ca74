"""A probe that breaks its contract is refused by name, within its limits, and the run goes on without it."""

import copy
import json
import os
import stat
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from support import scripted_probe
from support.hostile_records import CASES, KINDS, PROCESS, Records, plan_of, written
from support.store_records import new_run
from support.tree import TESTS
from support.virtual_runs import case_of, study_of, write_study
from wattlock import cli
from wattlock.errors import InputError, ProbeError
from wattlock.run.process import (
    BATCH_LINE_B,
    MOST_VISITS,
    SHARD_CASES,
    TRIES,
    Broken,
    Contract,
    Order,
    left_out_where_broken,
    measure,
    self_checks,
)
from wattlock.run.result import read
from wattlock.store import RunFolder
from wattlock.store.record_schema import record_schema
from wattlock.targets import probe, target
from wattlock.targets.local import Local

CHUNK_B = 10_000


def honest(process: int) -> Records:
    """What a probe in virtual time writes of a process."""
    head, *cases = plan_of(process)
    batches = list(scripted_probe._batches(head, cases, {}))
    last = {"kind": "end", "process": process, "batches": len(batches), "energy_blocks": 0, "wall_ns": 5}
    return [scripted_probe._header(head, cases, {}), *batches, last]


def judged(folder: RunFolder, process: int, data: bytes) -> None:
    """What a session does with what a process writes: judged piece by piece, then kept."""
    with left_out_where_broken(folder, process):
        held = Contract(plan_of(process))
        for start in range(0, len(data), CHUNK_B):
            if lines := held.take(data[start : start + CHUNK_B]):
                folder.append(lines)
        held.ended()


def lines_of(records: Records) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


@pytest.mark.parametrize("kind", KINDS)
def test_a_process_that_breaks_its_contract_is_refused_by_name_and_left_out(tmp_path: Path, kind: str) -> None:
    run = new_run(tmp_path / "run")
    judged(run, 0, lines_of(honest(0)))
    with pytest.raises(Broken, match=KINDS[kind][1]) as caught:
        judged(run, PROCESS, written(kind, honest(PROCESS)))
    assert f"process {PROCESS}" in caught.value.message
    assert len(caught.value.message) < 400
    again = RunFolder.open(run.path)
    run.close()
    assert again.recover().next_process == PROCESS + 1
    judged(again, PROCESS + 1, lines_of(honest(PROCESS + 1)))
    assert again.complete() == {0, PROCESS + 1}
    assert [one["process"] for one in again.records("left_out")] == [PROCESS]
    again.seal()
    assert RunFolder.open(again.path).complete() == {0, PROCESS + 1}


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_nulls(one) for name, one in value.items() if one is not None}
    return [without_nulls(one) for one in value] if isinstance(value, list) else value


def test_a_field_that_may_be_null_may_be_absent_in_every_record(tmp_path: Path) -> None:
    results = []
    for name in ("null", "absent"):
        run = new_run(tmp_path / name)
        for process in range(5):
            records = honest(process)
            records[0] |= dict.fromkeys(("canary_cycles", "quiet_ppm", "pinned_cpu"))
            records.insert(-1, {"kind": "failure", "process": process, "case": 1, "error": "x", "follows": "skip_case"})
            judged(run, process, lines_of(records if name == "null" else without_nulls(records)))
        results.append(read(run))
    null, absent = results
    assert null.estimates.equals(absent.estimates)
    assert null.header.keys() == absent.header.keys() == {"kind", *record_schema()["$defs"]["Header"]["properties"]}
    assert absent.header["fingerprint"]["hardware"]["stepping"] is None


def test_a_self_check_may_be_of_the_provider_that_the_probe_chose_and_a_case_of_the_study_may_not() -> None:
    watch = self_checks(2)
    plan = list(Order(1, 3, CASES, None, watch, {0: 1, 1: 1}).plan({}))
    header = scripted_probe._header(plan[0], plan[1:], {})

    def measured_by_another(number: int) -> None:
        contract = Contract(plan)
        changed = copy.deepcopy(header)
        next(one for one in changed["cases"] if one["case"] == number)["provider"] = "tables"
        contract.take(json.dumps(changed).encode() + b"\n")

    measured_by_another(2)
    with pytest.raises(Broken, match="measured case 0 with provider 'tables'"):
        measured_by_another(0)


def test_a_line_of_seventy_megabytes_is_refused_after_the_first_of_them() -> None:
    held = Contract(plan_of(0))
    taken = iter(range(1100))
    with pytest.raises(Broken, match="a line of more than"):
        deque(held.take(b"x" * target.CHUNK_B) for _ in taken)
    assert next(taken) * target.CHUNK_B < held.longest_line_B + 2 * target.CHUNK_B < 2**21


def test_all_that_an_honest_process_can_write_is_within_its_limits() -> None:
    for process, cases in ((0, CASES), (1, [case_of(n, "aes128-cbc") for n in range(SHARD_CASES)])):
        watch = self_checks(len(cases))
        visits = {case.case: MOST_VISITS for case in cases}
        plan = list(Order(process, 3, cases, None, watch, visits).plan({}))
        most = Contract(plan)
        header = scripted_probe._header(plan[0], plan[1:], {})
        batches = scripted_probe._batches(plan[0], plan[1:], {})
        line_B = max(len(json.dumps(one)) for one in islice(batches, 50))
        assert len(json.dumps(header)) < most.longest_line_B
        assert line_B < BATCH_LINE_B
        tries = sum(line["visits"] + max(4, line["visits"] // 6) for line in plan[1:]) * TRIES
        assert most.most_lines >= tries
        assert most.limits.most_B > tries * line_B
        assert most.limits.start_s + most.limits.silence_s < most.limits.most_s


def test_a_block_of_energy_is_tried_as_often_as_may_be_and_no_oftener() -> None:
    head, *rest = plan_of(0)
    head["energy"] = {"superblocks": 1, "block_ns": 1, "guard_ns": 1, "chip_ns": 1}
    held = Contract([head, *rest])
    block = {"superblock": 0, "position": 0, "case": None}
    for attempt in range(TRIES):
        held._judge_block(block | {"attempt": attempt})
    with pytest.raises(Broken, match="too often"):
        held._judge_block(block | {"attempt": TRIES})
    with pytest.raises(Broken, match="too often"):
        held._judge_block(block | {"attempt": 0})


def test_a_battery_that_is_logged_faster_than_asked_is_refused() -> None:
    head, *rest = plan_of(0)
    head["battery"] = {"case": 0, "done": 0, "log_every_s": 10, "repeats": 10**9, "until_percent": None, "name": None}
    held = Contract([head, *rest])
    meter = {"name": "b", "kind": "battery", "domain": "d", "scope": "s", "unit": "u", "quantum_nJ": 1.0}
    meter |= {"update_period_ns": 1, "gain_relative_uncertainty": 0.1, "gain_source": "s", "overlaps": []}
    held.take(lines_of([scripted_probe._header(head, rest, {}) | {"battery": meter}]))
    level = {"kind": "battery_level", "process": 0, "case": 0, "t_ns": 1, "unix_ns": 1}
    with pytest.raises(Broken, match="levels of the battery, more than one in the time asked for"):
        deque(held.take(lines_of([level | {"repeats_done": done}])) for done in range(100))


# What a probe can do as a program. Each is a shell script; `$1` is the verb.
HANG = "trap '' TERM HUP INT; while :; do sleep 1; done"
PROGRAMS = {
    "sleeps before its header": (HANG, "said nothing for"),
    "sleeps behind its header": (f"cat HEADER; {HANG}", "said nothing for"),
    "says one letter and sleeps": (f"printf x; {HANG}", "said nothing for"),
    "closes its output and stays": ("exec >&-; exec sleep 600", "closed its output and did not end"),
    "closes both outputs and stays": ("exec >&- 2>&-; exec sleep 600", "closed its output and did not end"),
    "leaves a program behind that holds its output": (
        "cat RECORDS; sleep 600 & exit 0",
        "ended and left another program behind that holds its output",
    ),
    "fails and leaves a program behind": (
        "echo 'error: no' >&2; sleep 600 & exit 3",
        "left another program behind that holds its output; it had ended with code 3",
    ),
    "trickles": ("while :; do printf x; sleep 0.05; done", "did not end within|said nothing for"),
    "floods": ("cat HEADER; exec cat BATCHES BATCHES BATCHES BATCHES BATCHES BATCHES BATCHES", "more than .* lines"),
    "floods without a line": ("exec cat /dev/zero", "a line of more than"),
    "complains without end": ("cat /dev/zero >&2", "complained in more than 8,388,608 bytes"),
    "writes nothing and ends": ("exit 0", "without all of its records"),
    "ends with a code": ("echo 'error: the moon' >&2; exit 9", "ended with exit code 9 in process 1: the moon"),
    "is killed": ("kill -KILL $$", "was killed by SIGKILL in process 1"),
    "reads nothing": ("exec <&-; exit 0", "without all of its records"),
}


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Makes a probe of a script; times are a hundredth of what they are, and what it leaves behind is ended."""
    monkeypatch.setenv(target.PATIENCE, "0.01")
    begun = time.monotonic()

    def made(script: str) -> Path:
        for name, records in (("HEADER", honest(1)[:1]), ("BATCHES", honest(1)[1:-1] * 2), ("RECORDS", honest(1))):
            (tmp_path / name).write_bytes(lines_of(records))
            script = script.replace(name, str(tmp_path / name))
        program = tmp_path / "wattlock-probe"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return program

    yield made
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize("kind", PROGRAMS)
def test_a_program_that_takes_more_than_it_may_is_ended_and_named(tmp_path: Path, hostile: Any, kind: str) -> None:
    script, said = PROGRAMS[kind]
    run = new_run(tmp_path / "run")
    with pytest.raises(ProbeError, match=said) as caught, left_out_where_broken(run, 1):
        measure(Local(hostile(script)), plan_of(1), 1, run.append)
    assert "process 1" in caught.value.message
    assert run.complete() == frozenset()
    run.close()
    again = RunFolder.open(run.path)
    again.recover()
    judged(again, 2, lines_of(honest(2)))
    assert again.complete() == {2}


ANSWERS = {
    "no JSON": ("echo yes", "and no JSON"),
    "nothing": ("exit 0", "and no JSON"),
    "an object": ("echo '{}'", "its answer is no list of rows"),
    "numbers": ("echo '[1]'", "its answer is no list of rows"),
    "rows without an id": ("echo '[{}]'", "its answer is no list of rows"),
    "rows of an id alone": ("""echo '[{"id":"aes128-cbc"}]'""", "its answer is no list of rows"),
    "rows of an id that is a number": ("""echo '[{"id":1,"error":"x","nearest":null}]'""", "no list of rows"),
    "a nearest that is a list": ("""echo '[{"id":"x","error":"x","nearest":[]}]'""", "no list of rows"),
    "brackets": ("head -c 200000 /dev/zero | tr '\\0' '['", "and no JSON"),
    "too much": ("head -c 30000000 /dev/zero", "wrote more than 16,777,216 bytes"),
    "silence": (HANG, "catalogue said nothing for 3 s"),
    "an error": ("echo 'error: no room' >&2; echo 'hint: make some' >&2; exit 1", "catalogue: no room"),
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_a_catalogue_that_is_none_is_refused(hostile: Any, kind: str) -> None:
    script, said = ANSWERS[kind]
    with pytest.raises(ProbeError, match=said) as caught:
        probe.catalogue(Local(hostile(script)), ["aes128-cbc"])
    assert caught.value.hint


@pytest.mark.parametrize(
    ("code", "hint"),
    [("EMFILE", "ulimit -n"), ("EAGAIN", "ulimit -u"), ("ENOMEM", "ulimit -v"), ("ENOENT", "make setup")],
)
def test_a_probe_that_can_not_be_started_has_a_hint_by_the_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, hint: str
) -> None:
    import errno

    number = getattr(errno, code)

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(subprocess, "Popen", refuse)
    with pytest.raises(ProbeError, match=os.strerror(number)) as caught:
        probe.catalogue(Local(tmp_path / "probe"))
    assert hint in caught.value.hint


@pytest.mark.parametrize("described", ["0", "-1", "nan", "inf", "long"])
def test_a_patience_that_is_no_number_above_zero_is_refused(monkeypatch: pytest.MonkeyPatch, described: str) -> None:
    monkeypatch.setenv(target.PATIENCE, described)
    with pytest.raises(InputError, match=f"{target.PATIENCE}={described}"):
        target.patience()


MEMORY = r"""
import re, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from support.hostile_records import plan_of
from wattlock.errors import ProbeError
from wattlock.run.process import measure
from wattlock.targets.local import Local
try:
    measure(Local(Path(sys.argv[1])), plan_of(1), 1, lambda data: None)
except ProbeError as error:
    # Not getrusage: what the tests' own process takes counts there, over fork and exec.
    (peak_kB,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    print(int(peak_kB) * 1024, error.message)
"""


# The peak of a process stands in /proc, which Linux alone has.
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc: the peak of memory is not known")
@pytest.mark.parametrize("script", ["cat /dev/zero >&2", "cat HEADER; while :; do cat BATCHES; done"])
def test_a_flood_takes_less_than_five_hundred_megabytes(hostile: Any, script: str) -> None:
    command = [sys.executable, "-c", MEMORY, str(hostile(script)), str(TESTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    peak_B, _, message = done.stdout.partition(" ")
    assert int(peak_B) < 500e6
    assert "more than" in message


def test_a_hostile_process_ends_the_run_with_seven_and_resume_finishes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    probe = scripted_probe.install(tmp_path / "probe", says={"1": '{"kind":"failure"}'})
    monkeypatch.setenv("WATTLOCK_PROBE", str(probe))
    write_study(tmp_path / "virtual.toml", study_of(cipher=["aes128-cbc"]))
    assert cli.answer(["run", "virtual.toml", "--out", "run"]) == ProbeError.exit_code
    scripted_probe.direct(probe)
    assert cli.answer(["run", "--resume", "run"]) == 0
    run = RunFolder.open(Path("run"))
    assert run.is_sealed
    assert run.complete() == {0, 2, 3, 4, 5}
    capsys.readouterr()
    assert cli.answer(["show", "run", "--format", "json"]) == 0
    assert [row["state"] for row in json.loads(capsys.readouterr().out)] == ["resolved"]
