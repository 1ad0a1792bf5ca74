"""One door to a run on disk: whichever verb reads it, what was changed is refused or changes no number."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from support.corruptions import FILES, OFFSETS, VERBS, answered, damages, outcome, sealed_run
from support.store_records import CASE, CREATED, STUDY, bytes_of, line, message_of, new_run
from wattlock import cli
from wattlock.errors import StoreError
from wattlock.run.result import read
from wattlock.store import RunFolder, find, plan_lines, runs

A_VERB = 10
"""Damages that each verb is tried with here; `make corrupt` tries all."""


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A sealed run; the working folder is above it while these tests run."""
    here = Path.cwd()
    yield sealed_run(tmp_path_factory.mktemp("sealed"))
    os.chdir(here)


@pytest.fixture
def damaged(sealed: Path) -> Iterator[Path]:
    """The run, put right again after the test."""
    whole = {file: (sealed / file).read_bytes() for file in FILES}
    yield sealed
    for file, content in whole.items():
        (sealed / file).write_bytes(content)


def takes_a_run(verb: str) -> bool:
    """Whether a verb has a parameter that is a run: one shown as RUN that is no published one."""
    parameters = {one.name: one.metavar or "" for one in cli.load(verb).params}
    return any("RUN" in shown and name != "published" for name, shown in parameters.items())


def test_every_verb_that_takes_a_run_is_tried_here() -> None:
    assert {verb for verb in cli.VERBS if takes_a_run(verb)} == VERBS.keys()


@pytest.mark.parametrize("file", FILES)
def test_a_sealed_run_that_was_changed_anywhere_is_refused_or_says_the_same(damaged: Path, file: str) -> None:
    sound = read(RunFolder.open(damaged)).estimates
    content, messages = (damaged / file).read_bytes(), []
    for what, changed in damages(content, OFFSETS, file):
        (damaged / file).write_bytes(changed)
        try:
            run = RunFolder.open(damaged)
        except StoreError as error:
            messages.append(error.message)
            continue
        assert read(run).estimates.equals(sound), what
    assert len(messages) >= 0.98 * OFFSETS
    assert not any("\n" in message for message in messages)


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_answers_from_a_run_that_was_changed(damaged: Path, verb: str) -> None:
    sound = answered(verb, damaged)
    # A finished run is not resumed; this one was measured by no meter, beside no instrument, counted nothing on a core
    # and has not the ciphers of the printed durations; no lab listens. All other verbs have an answer.
    assert (sound[0] == 0) == (verb not in {"run", "calibrate", "costs", "energy", "explain", "push"})
    for number in range(A_VERB):
        file = FILES[number % len(FILES)]
        content = (damaged / file).read_bytes()
        ((what, changed),) = damages(content, 1, f"{verb} {number}")
        (damaged / file).write_bytes(changed)
        assert outcome(verb, damaged, sound) in {"refused", "same"}, f"{file}: {what}"
        (damaged / file).write_bytes(content)


def test_as_programs_all_verbs_refuse_a_run_with_one_changed_bit(damaged: Path) -> None:
    headers = bytearray((damaged / "headers.jsonl").read_bytes())
    headers[headers.index(b"canary_cycles") + 16] ^= 1
    (damaged / "headers.jsonl").write_bytes(headers)

    def ended(verb: str) -> tuple[int, str, str]:
        words = [str(damaged) if word == "RUN" else word for word in VERBS[verb]]
        program = "import sys; from wattlock.cli import main; sys.argv[0] = 'wattlock'; main()"
        done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr.splitlines()[0]

    with ThreadPoolExecutor(2) as several:
        found = dict(zip(VERBS, several.map(ended, VERBS), strict=True))
    assert found == dict.fromkeys(VERBS, (5, "", f"error: run {damaged}: headers.jsonl is not what was sealed"))


def test_the_plan_of_a_run_that_is_not_sealed_is_what_was_planned(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run")
    plan = run.path / "plan.jsonl"
    content = plan.read_bytes()
    for what, changed in damages(content, OFFSETS, "unsealed"):
        plan.write_bytes(changed)
        with pytest.raises(StoreError):
            pytest.fail(f"{what}: {RunFolder.open(run.path)}")
    plan.write_bytes(content[: content.rindex(b'{"kind":"sum"')])
    with pytest.raises(StoreError) as caught:
        RunFolder.open(run.path)
    assert message_of(caught, run) == "plan.jsonl has no sum, and the run is not sealed"


@pytest.mark.parametrize(
    ("record", "what"),
    [
        ({"kind": "session"}, "records.jsonl is a session not as the schema has it: it has no wall_s"),
        ({"kind": "session", "wall_s": "5", "next_process": 1}, "wall_s is '5': input should be a valid number"),
        ({"kind": "failure", "process": 0}, "records.jsonl is a failure not as the schema has it: it has no case"),
        ({"kind": "left_out", "process": 0}, "it has no why"),
        ({"kind": "header", "schema": 2, "process": 0}, "it has no cases"),
    ],
)
def test_a_record_without_its_fields_is_refused_with_its_kind(
    tmp_path: Path, record: dict[str, object], what: str
) -> None:
    run = new_run(tmp_path / "run")
    run.append(bytes_of(1) + line(record))
    with pytest.raises(StoreError) as caught:
        run.complete()
    assert what in caught.value.message
    assert cli.answer(["show", str(run.path)]) == StoreError.exit_code


def test_two_headers_of_one_process_are_refused(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run")
    run.append(bytes_of(1) + bytes_of(1))
    with pytest.raises(StoreError) as caught:
        run.complete()
    assert message_of(caught, run) == "records.jsonl has two headers of process 0"


def test_a_process_that_was_left_out_does_not_count_before_and_after_the_sealing(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run")
    run.append(bytes_of(3))
    run.leave_out(1, "it wrote a batch twice")
    assert run.complete() == {0, 2}
    run.seal()
    assert RunFolder.open(run.path).complete() == {0, 2}


def test_a_damaged_run_that_is_the_last_one_is_refused_and_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for day, name in ((3, "early"), (9, "late")):
        created = CREATED.replace(day=day)
        lines = plan_lines(STUDY, [CASE], id=name, created=created, seed=7, probe_sha256="ab" * 32, device=None)
        RunFolder.create(Path("runs") / name, lines)
    plan = Path("runs/late/plan.jsonl")
    plan.write_bytes(plan.read_bytes().replace(b"2026-11-09", b"2026-11-01"))
    assert runs()[-1] == find("last") == Path("runs/late")
    with pytest.raises(StoreError, match="is not what was planned"):
        RunFolder.open(find("last"))
    assert datetime.fromtimestamp(plan.stat().st_mtime, UTC) > CREATED


def test_of_sixty_runs_that_begin_in_one_folder_at_a_time_one_is_there_with_its_own_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run"

    def create(seed: int) -> int | None:
        plan = plan_lines(STUDY, [CASE], id=f"r{seed}", created=CREATED, seed=seed, probe_sha256="ab" * 32, device=None)
        try:
            RunFolder.create(path, plan)
        except StoreError:
            return None
        return seed

    # Whoever looks before the first file is made finds the folder empty: all of them, at worst.
    monkeypatch.setattr(Path, "iterdir", lambda _: iter(()))
    with ThreadPoolExecutor(60) as several:
        won = [seed for seed in several.map(create, range(60)) if seed is not None]
    assert [RunFolder.open(path).plan()[0]["seed"]] == won
    shutil.rmtree(path)
