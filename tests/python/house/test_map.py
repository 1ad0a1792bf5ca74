"""ARCHITECTURE.md's map against the tree: its crates and their uses, its rooms and their order; and the laws' tests."""

import re
import tomllib

import pytest

from support.tree import PACKAGE, ROOMS, TREE

MAP = (TREE / "ARCHITECTURE.md").read_text(encoding="utf-8")
LAWS = (TREE / "docs" / "laws.md").read_text(encoding="utf-8")
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


def test_the_architecture_takes_some_150_lines() -> None:
    assert len(MAP.splitlines()) <= 160


def test_every_test_that_holds_a_law_is_there() -> None:
    table = [line.rsplit("|", 2)[1] for line in LAWS.splitlines() if line.startswith("| ")][1:]
    named = {name for held_by in table for name in re.findall(r"`([\w./]+\.(?:py|rs))`", held_by)}
    assert len(named) > 20
    everywhere = [path.relative_to(TREE).as_posix() for top in ("crates", "tests") for path in (TREE / top).rglob("*")]
    assert {
        name for name in named if not any(path.endswith(f"/{name}") or path == name for path in everywhere)
    } == set()
