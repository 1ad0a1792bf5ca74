"""The user's own files. A run records their size and SHA-256, never their name."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wattlock.errors import InputError
from wattlock.study.study import LARGEST_PAYLOAD_B


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to be encrypted.

    * `label`: the name under which cases and records know it, `input-1` and so on.
    * `path`: absolute.
    * `size_B`: its size when it was read, bytes.
    * `sha256`: of its content, hexadecimal.
    """

    label: str
    path: Path
    size_B: int
    sha256: str


def read_inputs(path: str | Path) -> list[InputFile]:
    """A file, or the files of a folder in the order of their names: not those of its folders, and no hidden ones.

    Raises InputError naming the path that is missing, unreadable, empty, larger than 64 MiB or neither file nor folder.
    """
    path = Path(path)
    with _named(path):
        path.stat()
        files = _files_of(path) if path.is_dir() else [path]
    return [_hashed(file, f"input-{number}") for number, file in enumerate(files, 1)]


def _files_of(folder: Path) -> list[Path]:
    files = sorted(one for one in folder.iterdir() if one.is_file() and not one.name.startswith("."))
    if not files:
        raise InputError(f"input {folder}: the folder holds no file", hint="its folders and hidden files are not read")
    return files


def _hashed(path: Path, label: str) -> InputFile:
    with _named(path):
        if not path.is_file():
            raise InputError(f"input {path}: is neither a file nor a folder", hint="save what it gives to a file first")
        size_B = path.stat().st_size
        if size_B == 0:
            raise InputError(f"input {path}: is empty", hint="there is nothing to encrypt in it")
        if size_B > LARGEST_PAYLOAD_B:
            hint = "a part of it tells the cost a byte just as well"
            raise InputError(f"input {path}: is {size_B} B, the limit is {LARGEST_PAYLOAD_B} B", hint=hint)
        return InputFile(label, path.absolute(), size_B, sha256(path))


def sha256(file: Path) -> str:
    """A file's SHA-256, hexadecimal. Raises OSError where it can't be read."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Turns the system's refusals into errors that name the path."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(f"input {path}: there is no such file or folder", hint="check the path") from error
    except OSError as error:
        raise InputError(f"input {path}: can't be read: {error.strerror}", hint="check its permissions") from error
