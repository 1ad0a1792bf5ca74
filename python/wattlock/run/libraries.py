"""The user's own libraries, by the names that they have in a run; for a microcontroller's core a folder of sources.

Such a folder has an `adapter.toml`. The probe compiles it; here its ciphers join the catalogue's rows, so that a study
takes them as it takes a library's.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from wattlock.errors import InputError
from wattlock.study.cases import CatalogueRow, sha256
from wattlock.targets.target import CountedCore

MANIFEST = "adapter.toml"


def named_libraries(given: Sequence[str | Path]) -> dict[str, Path]:
    """The user's libraries by name; one given by its path alone is named by its file, `libmine.so` as `mine`.

    * `given`: `NAME=PATH`, or paths.

    Raises InputError where there is no such file, or two have one name.
    """
    found: dict[str, Path] = {}
    for words in map(str, given):
        name, equals, place = words.partition("=")
        path = Path(place if equals else words)
        name = name if equals else path.name.partition(".")[0].removeprefix("lib")
        if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
            hint = "lower-case letters, digits and hyphens: --library mine=./libmine.so"
            raise InputError(f'--library {words}: "{name}" is no name for a provider', hint=hint)
        if not path.is_file() and not is_adapter(path):
            raise InputError(
                f"--library {words}: there is no file {path}", hint=f"check the path; a folder needs an {MANIFEST}"
            )
        if name in found:
            raise InputError(f'--library {words}: there are two libraries "{name}"', hint="name them NAME=PATH")
        found[name] = path.absolute()
    return found


def is_adapter(path: Path) -> bool:
    """Whether this is a folder of sources for a core."""
    return (path / MANIFEST).is_file()


def refuse_unfit(libraries: Mapping[str, Path], counted: CountedCore | None) -> None:
    """Raises InputError for a shared library on an emulated core, and for a folder of sources anywhere else."""
    for name, path in libraries.items():
        if counted is not None and not is_adapter(path):
            hint = f"a folder with sources and an {MANIFEST}: --library {name}=FOLDER"
            raise InputError(f"library {name}: {counted.place} can't load {path.name}", hint=hint)
        if counted is None and is_adapter(path):
            hint = f"--on qemu:cortex-m4 --library {name}={path}; for this machine build a shared library"
            raise InputError(f"library {name}: {path} is compiled for a microcontroller's core", hint=hint)


def hash_of(path: Path) -> str:
    """SHA-256 of a library: of its file, or of all files of its folder, names and contents."""
    if not path.is_dir():
        return sha256(path)
    files = sorted(file for file in path.rglob("*") if file.is_file())
    lines = [f"{file.relative_to(path).as_posix()} {sha256(file)}\n" for file in files]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def with_adapters(
    rows: Mapping[str, Sequence[CatalogueRow]], libraries: Mapping[str, Path]
) -> dict[str, list[CatalogueRow]]:
    """The catalogue's rows, and behind them one for each of their ciphers that an adapter has.

    Raises InputError where an `adapter.toml` can't be read.
    """
    found = {cipher: list(several) for cipher, several in rows.items()}
    for name, path in libraries.items():
        version, ciphers = _named(name, path / MANIFEST)
        for cipher in ciphers:
            if several := found.get(cipher):
                row = {**several[0], "provider": name, "available": True, "reason": None, "version": version}
                several.append({**row, "path": None, "of": None})  # type: ignore[typeddict-item]
    return found


def _named(name: str, file: Path) -> tuple[str, list[str]]:
    """The version of an adapter's code, and its ciphers."""
    try:
        read = tomllib.loads(file.read_text(encoding="utf-8-sig"))
        version, ciphers = read["version"], read["ciphers"]
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"library {name}: {file}: {error}", hint="check the file") from error
    except KeyError as error:
        hint = "version and ciphers are needed, as in examples/board/adapter.toml"
        raise InputError(f"library {name}: {file} has no {error.args[0]}", hint=hint) from error
    if (
        not isinstance(version, str)
        or not isinstance(ciphers, list)
        or not all(isinstance(cipher, str) for cipher in ciphers)
    ):
        hint = 'as in `version = "1.0.0"` and `ciphers = ["xtea-ctr"]`'
        raise InputError(f"library {name}: {file}: version is a text, ciphers a list of ids", hint=hint)
    return version, ciphers
