"""What decides an answer beside its question: the programs, the package's files, the user's cards, by their hash."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path

import wattlock
from wattlock.definitions import own_folder
from wattlock.targets import local, toolbox

SAME = {
    "wattlock": ("version of wattlock", "install the same version on both"),
    "files": ("wattlock of that version", "install the same wheel on both, or check out the same commit"),
    "network": ("build of wattlock-net", "install the same wheel on both, or name a copy of one by WATTLOCK_NET"),
    "probe": ("build of the probe", "install the same wheel on both, or name a copy of one probe by WATTLOCK_PROBE"),
    "numpy": ("version of NumPy", "install the same version on both"),
    "processor": ("kind of processor", "take workers of one kind: others may round otherwise"),
    "cards": ("folder of cards", "lay a copy of one folder at the same path of both"),
}
"""What is compared, in words, and what to do where two machines differ."""


def builds(own: Path | None) -> dict[str, str | None]:
    """What answers are made by on this machine, by the names of `SAME`.

    * `own`: the user's folder of cards; without one that of `WATTLOCK_CARDS`.

    Raises ProbeError where a program is missing, InputError where the folder has no cards.
    """
    folder = own_folder(own)
    return {
        "wattlock": wattlock.__version__,
        "files": _package(),
        "network": _sha256([toolbox.find().program]),
        "probe": _sha256([local.find().program]),
        "numpy": version("numpy"),
        "processor": platform.machine(),
        "cards": None if folder is None else _sha256(folder.rglob("*.toml")),
    }


@cache
def _package() -> str:
    root = Path(wattlock.__file__).parent
    return _sha256(path for ending in ("py", "toml", "json") for path in root.rglob(f"*.{ending}"))


def _sha256(files: Iterable[Path]) -> str:
    """Of the content of files, in the order of their paths."""
    found = hashlib.sha256()
    for path in sorted(files):
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()
