"""The example set of a new lab: two runs that come with wattlock, until the first run of somebody's own arrives."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path

from wattlock.errors import DiskFull, StoreError
from wattlock.store import RunFolder
from wattlock.store.derived import sums_sha256
from wattlock.store.disk import FULL, sync

FOLDER = Path(__file__).parents[1] / "data" / "examples"
MARK = "example-set"
"""The file in a lab's folder that says that the examples are there."""


@cache
def hashes() -> dict[str, Path]:
    """The examples by what names a run in a lab."""
    return {sums_sha256(RunFolder.open(place)): place for place in sorted(FOLDER.iterdir())}


def put(data: Path, runs: Path, aside: Path) -> None:
    """Copies the examples into the runs of a lab, which has none of somebody's own.

    * `aside`: an empty folder on the same disk, where they are made before they get their names.

    Raises DiskFull, and leaves none of them, where there is no room. A start that is killed here leaves what `settle`
    brings to its end: a run below `runs` is always a whole one.
    """
    try:
        made = aside / "examples"
        shutil.rmtree(made, ignore_errors=True)
        for hash_, place in hashes().items():
            (made / hash_).mkdir(parents=True)
            for file in place.iterdir():
                shutil.copy(file, made / hash_)
                sync(made / hash_ / file.name)
            sync(made / hash_)
        (data / MARK).touch()
        sync(data)
        for hash_ in hashes():
            if (runs / hash_).exists():  # left by a start of an older wattlock that was killed
                shutil.rmtree(runs / hash_)
            (made / hash_).rename(runs / hash_)
        sync(runs)
        made.rmdir()
    except OSError as error:
        shutil.rmtree(aside / "examples", ignore_errors=True)
        take_out(data, runs, aside)
        if error.errno in FULL:
            raise DiskFull(f"{data}: the disk is full", hint="make room, then start the lab again") from error
        raise


def are_in(data: Path) -> bool:
    """Whether a lab has nothing but the examples."""
    return (data / MARK).exists()


def take_out(data: Path, runs: Path, aside: Path) -> None:
    """Takes the examples out of the runs of a lab, where they are there; each goes as a whole.

    * `aside`: a folder on the same disk, which a start empties.
    """
    if not are_in(data):
        return
    for hash_ in hashes():
        if (runs / hash_).exists():
            with tempfile.TemporaryDirectory(dir=aside, ignore_cleanup_errors=True) as place:
                (runs / hash_).rename(Path(place) / hash_)
    (data / MARK).unlink(missing_ok=True)


def settle(data: Path, runs: Path, aside: Path) -> None:
    """Brings to its end what was begun with the examples when a lab was killed."""
    if are_in(data):
        there = {place.name for place in runs.iterdir()}
        if there - hashes().keys():
            take_out(data, runs, aside)
        elif not all(_is_whole(runs / hash_) for hash_ in hashes()):
            put(data, runs, aside)


def _is_whole(run: Path) -> bool:
    try:
        return sums_sha256(RunFolder.open(run)) == run.name
    except StoreError:
        return False
