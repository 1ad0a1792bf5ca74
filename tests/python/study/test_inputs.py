"""The user's own files: what is read of them, and what is refused."""

import hashlib
import os
from pathlib import Path

import pytest

from wattlock.errors import InputError
from wattlock.study import read_inputs


def refused(path: Path) -> tuple[str, str]:
    """Give the message without the path, and the hint."""
    with pytest.raises(InputError) as caught:
        read_inputs(path)
    assert caught.value.exit_code == 4
    return caught.value.message, caught.value.hint


def test_a_file_is_known_by_size_and_hash_and_an_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("letter.txt").write_bytes(b"dear")
    (one,) = read_inputs("letter.txt")
    assert (one.label, one.path, one.size_B) == ("input-1", tmp_path / "letter.txt", 4)
    assert one.sha256 == hashlib.sha256(b"dear").hexdigest()


def test_a_folder_gives_its_plain_files_by_name_and_nothing_below(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", ".hidden"):
        (tmp_path / name).write_text(name)
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "c.txt").write_text("c")
    found = read_inputs(tmp_path)
    assert [(one.label, one.path.name) for one in found] == [("input-1", "a.txt"), ("input-2", "b.txt")]


def test_a_missing_path_is_named(tmp_path: Path) -> None:
    path = tmp_path / "gone"
    assert refused(path) == (f"input {path}: there is no such file or folder", "check the path")


def test_an_empty_file_is_named_also_in_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.touch()
    assert refused(path) == (f"input {path}: is empty", "there is nothing to encrypt in it")
    assert refused(tmp_path)[0] == f"input {path}: is empty"


def test_a_folder_without_files_is_named(tmp_path: Path) -> None:
    hint = "its folders and hidden files are not read"
    assert refused(tmp_path) == (f"input {tmp_path}: the folder holds no file", hint)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    assert refused(path)[0] == f"input {path}: is neither a file nor a folder"


def test_a_file_over_the_limit_is_refused_with_both_numbers(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(64 * 2**20 + 1)
    assert refused(path)[0] == f"input {path}: is 67108865 B, the limit is 67108864 B"


def test_what_the_system_refuses_to_read_is_named_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "secret"
    path.write_text("x")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert refused(path) == (f"input {path}: can't be read: Permission denied", "check its permissions")
