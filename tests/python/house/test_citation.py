"""The citation: its version, licence and keywords are those of the package and of the programs."""

import re
import tomllib

from support.tree import TREE

CITATION = (TREE / "CITATION.cff").read_text(encoding="utf-8")
PROJECT = tomllib.loads((TREE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PROGRAMS = tomllib.loads((TREE / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]


def listed(key: str) -> list[str]:
    found = re.search(rf"^{key}:\n((?:  - .+\n)+)", CITATION, re.MULTILINE)
    assert found is not None
    return [line.removeprefix("  - ").removeprefix("name: ") for line in found[1].splitlines()]


def test_the_version_is_that_of_the_package_and_of_the_programs() -> None:
    (version,) = re.findall(r"^version: (.+)$", CITATION, re.MULTILINE)
    assert version == PROJECT["version"] == PROGRAMS["version"]


def test_licence_authors_and_keywords_are_those_of_the_package() -> None:
    assert sorted(listed("license")) == sorted(re.split(" OR ", PROGRAMS["license"]))
    assert listed("authors") == [author["name"] for author in PROJECT["authors"]]
    assert listed("keywords") == PROJECT["keywords"]
