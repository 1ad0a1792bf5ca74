"""The user's own libraries, by the names that they have in a run."""

import re
from collections.abc import Sequence
from pathlib import Path

from wattlock.errors import InputError
from wattlock.run.adapters import MANIFEST, is_adapter


def named_libraries(given: Sequence[str | Path]) -> dict[str, Path]:
    """The user's libraries by name; one given by its path alone is named by its file, `libmine.so` as `mine`.

    * `given`: `NAME=PATH`, or paths.

    Raises InputError where there is no such file, or two have one name.
    """
    found: dict[str, Path] = {}
    for one in map(str, given):
        name, equals, place = one.partition("=")
        path = Path(place if equals else one)
        name = name if equals else path.name.partition(".")[0].removeprefix("lib")
        if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
            hint = "lower-case letters, digits and hyphens: --library mine=./libmine.so"
            raise InputError(f'--library {one}: "{name}" is no name for a provider', hint=hint)
        if not path.is_file() and not is_adapter(path):
            raise InputError(
                f"--library {one}: there is no file {path}", hint=f"check the path; a folder needs an {MANIFEST}"
            )
        if name in found:
            raise InputError(f'--library {one}: there are two libraries "{name}"', hint="name them NAME=PATH")
        found[name] = path.absolute()
    return found
