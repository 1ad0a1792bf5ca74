"""The example set of a new lab: two runs that come with wattlock, until the first run of somebody's own arrives."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

from wattlock.store import RunFolder
from wattlock.store.derived import sums_sha256

FOLDER = Path(__file__).parents[1] / "data" / "examples"
MARK = "example-set"
"""The file in a lab's folder that says that the examples are there."""


@cache
def hashes() -> dict[str, Path]:
    """The examples by what names a run in a lab."""
    return {sums_sha256(RunFolder.open(place)): place for place in sorted(FOLDER.iterdir())}


def put(data: Path, runs: Path) -> None:
    """Copies the examples into the runs of a lab."""
    (data / MARK).touch()
    for hash_, place in hashes().items():
        shutil.copytree(place, runs / hash_, copy_function=shutil.copy)


def are_in(data: Path) -> bool:
    """Whether a lab has nothing but the examples."""
    return (data / MARK).exists()


def take_out(data: Path, runs: Path) -> list[str]:
    """Takes the examples out of the runs of a lab; gives their hashes, none where they are not there."""
    if not are_in(data):
        return []
    for hash_ in hashes():
        shutil.rmtree(runs / hash_, ignore_errors=True)
    (data / MARK).unlink(missing_ok=True)
    return list(hashes())
