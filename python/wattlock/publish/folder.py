"""A folder that others can check: the SHA-256 of every file in one list, and the list signed."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from wattlock.errors import InputError, NotVerified, StoreError
from wattlock.publish import minisign, packed
from wattlock.publish.minisign import PublicKey, SecretKey
from wattlock.store import RunFolder
from wattlock.store.disk import write_whole
from wattlock.store.plan import NAME as PLAN
from wattlock.store.seal import SEALED, SUMS
from wattlock.study.inputs import sha256

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
        return Verified(comment, ", ".join(packed.NAMES), unsigned=others)
    sums = _sums(path)
    faults = dict(_faults(path, sums))
    archives = [name for name in sums if re.fullmatch(rf"{RUNS}/[^/]+\.zip", name)]
    for name in archives:
        try:
            if name not in faults:
                packed.check(path / name)
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
