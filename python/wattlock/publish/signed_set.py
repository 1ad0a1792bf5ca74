"""A folder whose every file's sum stands in one signed list, and a sealed run in one archive."""

import errno
import os
import re
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from wattlock.errors import InputError, NotVerified, StoreError
from wattlock.publish import minisign
from wattlock.publish.minisign import PublicKey, SecretKey
from wattlock.store import RunFolder
from wattlock.store.disk import write_whole
from wattlock.store.run_folder import MOST_B, SEALED, SUMS
from wattlock.store.run_plan import NAME as PLAN
from wattlock.study.cases import sha256

SIGNATURE = SUMS + minisign.SUFFIX
RUNS = "runs"
"""The folder of a set that has its packed runs."""


@dataclass(frozen=True)
class Verified:
    """What was found.

    * `comment`: the trusted one; `checked`: what was compared with what was signed, in words.
    * `faults`: a sentence for each file or run that isn't as signed; `unsigned`: files beside those of a signed run.
    """

    comment: str
    checked: str = "1 file"
    faults: list[str] = field(default_factory=list)
    unsigned: list[str] = field(default_factory=list)


def sign(folder: Path, key: SecretKey, comment: str) -> None:
    """Writes the sums of every file below `folder`, and their signature.

    Raises InputError where a file's name is not one line.
    """
    names = list(_files(folder))
    if wrong := next((name for name in names if not name.isprintable()), None):
        raise InputError(f"{wrong!r}: a list of sums has no place for this name", hint="rename it: letters of one line")
    lines = [f"{sha256(folder / name)}  {name}\n".encode() for name in names]
    write_whole(folder / SUMS, lines)
    write_whole(folder / SIGNATURE, [key.sign(folder / SUMS, comment).encode()])


def verify(path: Path, key: PublicKey) -> Verified:
    """Checks a signed file, a signed run, or a result set with all of its files and runs.

    Raises NotVerified where the signature is missing or doesn't hold, InputError where it is none, StoreError where a
    run is damaged. What else is wrong with a set is among its `faults`.
    """
    if not path.is_dir():
        return Verified(_comment(path, key))
    if not (path / SUMS).is_file():
        raise NotVerified(f"{path}: {SUMS} is missing", hint="name a file, a sealed run or a result set")
    comment = _comment(path / SUMS, key)
    if (path / PLAN).is_file():
        RunFolder.open(path)
        others = [_shown(name) for name in _files(path) if name not in SEALED]
        return Verified(comment, ", ".join(NAMES), unsigned=others)
    sums = _sums(path)
    faults = dict(_faults(path, sums))
    archives = [name for name in sums if re.fullmatch(rf"{RUNS}/[^/]+\.zip", name)]
    for name in archives:
        try:
            if name not in faults:
                check(path / name)
        except NotVerified as error:
            faults[name] = error.message.removeprefix(f"{path / name}: ")
    checked = f"{len(sums)} files, {len(archives)} of them sealed runs"
    return Verified(comment, checked, [f"{_shown(name)}: {what}" for name, what in faults.items()])


def _comment(path: Path, key: PublicKey) -> str:
    if not path.is_file():
        raise NotVerified(f"{path}: there is no such file", hint="name a file, a sealed run or a result set")
    signature = path.with_name(path.name + minisign.SUFFIX)
    if not signature.is_file():
        raise NotVerified(f"{path}: is not signed: {signature.name} is missing", hint="fetch it from where the file is")
    return key.verify(path, minisign.read(signature))


def _files(folder: Path) -> Iterator[str]:
    """All files below a folder but the sums and their signature, by their paths in it; links are files too."""
    found = []
    for place, folders, names in os.walk(folder):
        linked = [name for name in folders if Path(place, name).is_symlink()]
        found += [Path(place, name).relative_to(folder).as_posix() for name in [*names, *linked]]
    yield from sorted(set(found) - {SUMS, SIGNATURE})


def _shown(name: str) -> str:
    """A file's name as a terminal may have it."""
    return name if name.isprintable() else ascii(name)


def _sums(folder: Path) -> dict[str, str]:
    """The signed list, by path. Raises StoreError where a line is none, or leads out of the folder."""
    found = {}
    for line in (folder / SUMS).read_text(encoding="utf-8", errors="replace").splitlines():
        digest, _, name = line.partition("  ")
        parts = name.split("/")
        if not re.fullmatch(r"[0-9a-f]{64}", digest) or not name or {"", ".", ".."} & set(parts):
            raise StoreError(f"{folder / SUMS}: no sum of a file of this folder: {line[:80]!r}", hint="don't trust it")
        found[name] = digest
    return found


def _faults(folder: Path, sums: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Files that aren't as the list has them, and what is wrong with each."""
    there = set(_files(folder))
    for name, digest in sums.items():
        file = folder / name
        if name not in there:
            yield name, "is missing"
        elif file.is_symlink() or not file.is_file():
            yield name, "is no file of its own"
        elif sha256(file) != digest:
            yield name, "is not what was signed"
    yield from ((name, "was not signed") for name in sorted(there - set(sums)))


NAMES = (*SEALED, SUMS)
OLDEST = (1980, 1, 1, 0, 0, 0)
"""The first time that a ZIP archive can hold: files of a run have no other."""


def pack(run: RunFolder, path: Path) -> None:
    """Writes the sealed files of a run; what is derived of it stays outside."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name in NAMES:
            entry = zipfile.ZipInfo(f"{run.id}/{name}", OLDEST)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, (run.path / name).read_bytes())


def check(path: Path) -> str:
    """Unpacks a run for a moment, checks its seal, and gives its id.

    Raises NotVerified where it is no packed run, or isn't what was sealed.
    """
    with tempfile.TemporaryDirectory() as place:
        try:
            with zipfile.ZipFile(path) as archive:
                _unpack(archive, path, Path(place))
            return RunFolder.open(place).id
        except (zipfile.BadZipFile, RuntimeError, EOFError, OSError) as error:
            if isinstance(error, OSError) and error.errno != errno.EINVAL:  # an offset that is none
                raise
            raise NotVerified(f"{path}: no packed run: {error}", hint="fetch it again") from error
        except StoreError as error:
            message = error.message.removeprefix(f"run {place}: ")
            raise NotVerified(f"{path}: {message}", hint="fetch it again") from error


def _unpack(archive: zipfile.ZipFile, path: Path, place: Path) -> None:
    """Takes out what a run is made of; an archive can't be larger unpacked than it is packed."""
    for entry in archive.infolist():
        name = entry.filename.rpartition("/")[2]
        if name not in NAMES or entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
            raise NotVerified(f"{path}: {entry.filename} is not of a packed run", hint="fetch it again")
        if entry.file_size > MOST_B[name]:
            what = f"{path}: {name} has {entry.file_size} B, the limit is {MOST_B[name]} B"
            raise NotVerified(what, hint="ask who published it for a smaller run")
        (place / name).write_bytes(archive.read(entry))
