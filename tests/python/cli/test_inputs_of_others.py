"""Files that an option reads and that are none: said by their name with a hint, in bounded memory, never as a bug."""

import errno
import os
import socket
from pathlib import Path

import pytest

from wattlock import cli
from wattlock.definitions import shelf
from wattlock.errors import InputError, StudyError
from wattlock.papers import transfer_times
from wattlock.publish import imported

IMPORT = ["--source", "s", "--machine", "m", "--unit", "us"]


def told(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code of a command line that gave one error and one hint, and the error."""
    code = cli.answer(words)
    error = capsys.readouterr().err
    kinds = [line.partition(":")[0] for line in error.splitlines() if line.startswith(("error:", "hint:"))]
    assert kinds == ["error", "hint"], error
    assert "bug" not in error
    return code, error


@pytest.fixture
def bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A socket by its name."""
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s")
    return tmp_path / "s"


def test_a_socket_or_a_pipe_in_place_of_a_file_is_named(bound: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(["import", str(bound), *IMPORT], capsys) == (4, f"error: {bound}: is no regular file\n" + HINT_OF_TWICE)
    os.mkfifo(bound.with_name("pipe"))
    assert told(["import", "pipe", *IMPORT], capsys)[0] == InputError.exit_code
    code, error = told(["key", "new", "k", "--password-file", str(bound)], capsys)
    assert (code, f"error: {bound}: No such device" in error) == (InputError.exit_code, True)


HINT_OF_TWICE = "hint: write what it gives into one: it is read twice\n"


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="a file that can't be read from its start")
def test_a_file_that_the_system_cannot_read_is_no_bug(capsys: pytest.CaptureFixture[str]) -> None:
    code, error = told(["import", "/proc/self/mem", *IMPORT], capsys)
    assert (code, os.strerror(errno.EIO) in error) == (InputError.exit_code, True)
    assert told(["run", "/proc/self/mem", "--dry-run"], capsys)[0] == StudyError.exit_code


def test_a_definition_beyond_the_limit_is_refused_and_no_more_of_it_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    large = tmp_path / "large.toml"
    with large.open("wb") as file:
        file.truncate(2**40)
    code, error = told(["run", str(large), "--dry-run"], capsys)
    assert (code, "large.toml: has more than 4 MiB" in error) == (StudyError.exit_code, True)
    monkeypatch.setattr(shelf, "MOST_B", 10)
    whole = tmp_path / "whole.toml"
    whole.write_bytes(b"a = [1, 2]")
    assert "has more than" not in told(["run", str(whole), "--dry-run"], capsys)[1]


def test_text_that_is_no_toml_has_a_hint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.toml").write_text("{")
    code, error = told(["run", str(tmp_path / "x.toml"), "--dry-run"], capsys)
    assert (code, "hint: it has lines as `key = value`" in error) == (StudyError.exit_code, True)


def test_figures_and_transfers_beyond_their_limits_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "it.json"
    file.write_text("[" + " " * 50 + "]")
    monkeypatch.setattr(imported, "LARGEST_SET_B", 51)
    monkeypatch.setattr(transfer_times, "LARGEST_B", 51)
    with pytest.raises(InputError, match="has more than 0 MiB"):
        imported.PublishedSet.read(file)
    with pytest.raises(InputError, match="has more than 0 MiB"):
        transfer_times.read([str(file)], [])
    file.write_text("[" + " " * 49 + "]")
    with pytest.raises(InputError, match="no set of published figures"):
        imported.PublishedSet.read(file)
    with pytest.raises(InputError, match="holds no record"):
        transfer_times.read([str(file)], [])


def test_of_a_password_s_file_the_first_line_alone_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with (tmp_path / "large").open("wb") as file:
        file.truncate(2**40)
    assert "more than 1023 octets" in told(["key", "new", "k", "--password-file", "large"], capsys)[1]
    assert not (tmp_path / "k").exists()
