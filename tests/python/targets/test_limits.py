"""What is too deep, too much or too little is refused in one line, and what a killed run left is swept."""

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from support.virtual_runs import study_of, write_study
from wattlock import cli
from wattlock.cli.progress import heed_ctrl_c
from wattlock.definitions import toml
from wattlock.errors import DiskFull, InputError, StudyError
from wattlock.study import cases, expand, load
from wattlock.targets import target

TOO_MUCH = {
    "brackets": ("a = " + "[" * 100_000, "nested too deep"),
    "tables in tables": ("a = " + "{b=" * 50_000, "nested too deep"),
    "a key": (".".join(["a"] * 50_000) + " = 1", "a key of more than 100 parts"),
    "a table's name": ("[" + ".".join(["a"] * 50_000) + "]", "a key of more than 100 parts"),
    "a key within braces": ("x = {" + ".".join(["a"] * 50_000) + " = 1}", "a key of more than 100 parts"),
    "sizes": ("a = [" + "1," * 300_000 + "]", "more than 100,000 lines and values"),
    "grids": ("[[grid]]\nb = 1\n" * 60_000, "more than 100,000 lines and values"),
    "letters": ("a = '" + "x" * 5_000_000 + "'", "has more than 4 MiB"),
}


@pytest.mark.parametrize("kind", TOO_MUCH)
def test_toml_that_is_too_deep_or_too_much_is_no_toml_for_any_verb_and_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    text, said = TOO_MUCH[kind]
    file, begun = tmp_path / "big.toml", time.monotonic()
    file.write_text(text)
    for words, code in (
        (["devices"], InputError.exit_code),
        (["devices", "--show"], InputError.exit_code),
        (["studies", "--show"], StudyError.exit_code),
        (["link"], InputError.exit_code),
        (["advise"], InputError.exit_code),
        (["run", "--dry-run"], StudyError.exit_code),
    ):
        assert cli.answer([*words, str(file)]) == code
        errors = capsys.readouterr().err
        assert said in errors
        assert errors.count("error: ") == 1
    assert time.monotonic() - begun < 25


def test_a_text_of_more_letters_than_a_file_may_have_is_no_toml() -> None:
    with pytest.raises(toml.OverLimits, match="letters are more than"):
        toml.loads(TOO_MUCH["letters"][0])


def test_toml_of_a_usual_size_is_read() -> None:
    text = "a.b.c = 1.5\nd = [" + "1.5, " * 9000 + "]\n" + "# ... a comment, and so on ...\n" * 900
    assert toml.loads(text)["a"]["b"]["c"] == 1.5


def test_a_study_of_more_cases_than_a_run_can_measure_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cases, "MOST_CASES", 5)
    row = {"id": "aes128-cbc", "provider": "rustcrypto", "available": True, "tag_bits": 0}
    for sizes in ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6]):
        write_study(tmp_path / "s.toml", study_of(cipher=["aes128-cbc"], payload_B=sizes))
        study = load(tmp_path / "s.toml")
        if len(sizes) == 5:
            assert len(expand(study, {"aes128-cbc": [row]})) == 5  # type: ignore[list-item] # all that is asked of it
    with pytest.raises(StudyError, match="grid: has more than 5 cases"):
        expand(study, {"aes128-cbc": [row]})  # type: ignore[list-item] # as above


def room(size_B: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (size_B, size_B))


@pytest.mark.parametrize("verb", ["show", "advise", "studies"])
def test_below_a_gibibyte_of_address_space_there_is_an_error_in_place_of_an_abort(verb: str) -> None:
    program = [sys.executable, "-c", "from wattlock.cli import main; main()", verb]
    done = subprocess.run(program, preexec_fn=room(2**29), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == "error: the address space is limited to 512 MiB, and wattlock needs 1024"


def test_where_memory_ends_there_is_an_error_and_no_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def end(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("wattlock.study.names", end)
    assert cli.answer(["studies"]) == 1
    assert "error: there is not enough memory" in capsys.readouterr().err


def test_where_no_temporary_file_can_be_made_the_disk_is_said_to_be_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(DiskFull, match="temporary files can't be written to") as caught, target.file_of(b"x"):
        pass
    assert "TMPDIR" in caught.value.hint


def left_behind(place: Path, name: str, age_s: float, *, locked: bool = True) -> Path:
    folder = place / name
    folder.mkdir()
    (folder / "text").write_text("sample")
    if locked:
        (folder / target.LOCK).touch()
    os.utime(folder, (time.time() - age_s,) * 2)
    return folder


def test_the_folders_of_killed_runs_are_swept_and_those_of_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dead = left_behind(tmp_path, "wattlock-dead", 1000)
    young = left_behind(tmp_path, "wattlock-young", 5)
    foreign = left_behind(tmp_path, "wattlock-notes", 1000, locked=False)
    (tmp_path / "wattlock-file").touch()
    with target.scratch() as held:
        os.utime(held, (time.time() - 1000,) * 2)
        with target.scratch() as other:
            assert {path.name for path in tmp_path.iterdir()} == {
                *(young.name, foreign.name, "wattlock-file"),
                *(held.name, other.name),
            }
    assert not dead.exists()
    assert not held.exists()


def test_a_run_that_is_to_outlive_its_terminal_does() -> None:
    handlers = {one: signal.getsignal(one) for one in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)}
    try:
        for before, after in (
            (signal.SIG_IGN, signal.SIG_IGN),
            (signal.SIG_DFL, signal.default_int_handler),
        ):
            signal.signal(signal.SIGHUP, before)
            heed_ctrl_c()
            assert signal.getsignal(signal.SIGHUP) == after
    finally:
        for one, handler in handlers.items():
            signal.signal(one, handler)
