"""ARCHITECTURE.md's map against the tree: its crates and their uses, its rooms and their order; and the laws' tests."""

import re
import tomllib
from importlib import import_module

import pytest

from support.tree import PACKAGE, ROOMS, TREE

MAP = (TREE / "ARCHITECTURE.md").read_text(encoding="utf-8")
LAWS = MAP.partition("\n## Laws")[2].partition("\n## ")[0]
WALKS = MAP.partition("\n## Three walks")[2].partition("\n## ")[0]
CRATES = sorted(path.parent.name for path in (TREE / "crates").glob("*/Cargo.toml"))
RUST = MAP.partition("\n## Rust")[2].partition("\n## Python")[0]
PYTHON = MAP.partition("\n## Python")[2].partition("\n## ")[0]


def rows(part: str) -> dict[str, list[str]]:
    """The rows of the first table whose first column is a name in backquotes."""
    table = re.findall(r"(?:^\|.*\|\n)+", part, re.MULTILINE)[0]
    lines = [[text.strip() for text in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    return {first.strip("`"): others for first, *others in lines}


def test_the_map_has_a_row_for_every_crate() -> None:
    assert sorted(rows(RUST)) == CRATES


@pytest.mark.parametrize("crate", CRATES)
def test_a_crate_uses_those_of_ours_that_the_map_says(crate: str) -> None:
    manifest = tomllib.loads((TREE / "crates" / crate / "Cargo.toml").read_text(encoding="utf-8"))
    used = sorted(name.removeprefix("wattlock-") for name in manifest.get("dependencies", {}) if "wattlock-" in name)
    assert re.findall(r"`([a-z_]+)`", rows(RUST)[crate][1]) == used


def test_the_map_has_the_rooms_in_the_order_of_the_law_and_a_row_for_each_that_is_there() -> None:
    street = re.search(r"^`(definitions → .*)`$", PYTHON, re.MULTILINE)
    assert street
    assert street[1].split(" → ") == ROOMS
    there = [room for room in ROOMS if (PACKAGE / room).is_dir()]
    assert list(rows(PYTHON)) == there


@pytest.mark.parametrize("room", [room for room in ROOMS if (PACKAGE / room).is_dir()])
def test_a_room_has_the_files_that_its_row_names(room: str) -> None:
    there = {path.stem for path in (PACKAGE / room).rglob("*")}
    assert [name for name in re.findall(r"`([a-z_]+)`", rows(PYTHON)[room][0]) if name not in there] == []


def test_a_walk_leads_through_functions_that_are_there() -> None:
    steps = set(re.findall(r"`([a-z_]+(?:\.[a-z_]+)+(?:\.[A-Z]\w+)?(?:\.[a-z_]+)?)`", WALKS))
    named = {step for step in steps if step.partition(".")[0] in ROOMS}
    assert len(named) > 20
    assert sorted(name for name in named if not is_there(name)) == []


def is_there(name: str) -> bool:
    """Whether a dotted name of the package, a module's or of something in it, is there."""
    parts = name.split(".")
    at = next(n for n in range(len(parts), 0, -1) if (PACKAGE.joinpath(*parts[:n])).with_suffix(".py").is_file())
    found: object = import_module(".".join(["wattlock", *parts[:at]]))
    for part in parts[at:]:
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


def test_every_test_that_holds_a_law_is_there() -> None:
    table = [line.rsplit("|", 2)[1] for line in LAWS.splitlines() if line.startswith("| ")][1:]
    named = {name for held_by in table for name in re.findall(r"`([\w./]+\.(?:py|rs))`", held_by)}
    assert len(named) > 20
    everywhere = [path.relative_to(TREE).as_posix() for top in ("crates", "tests") for path in (TREE / top).rglob("*")]
    assert {
        name for name in named if not any(path.endswith(f"/{name}") or path == name for path in everywhere)
    } == set()
