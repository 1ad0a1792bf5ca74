"""The changelog: fragments of `changelog.d/` are joined to `CHANGELOG.md`, each once, at its place."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.tree import TREE

KINDS = ["added", "changed", "fixed", "removed"]
KEPT = {"README.md", "template.md.jinja"}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """What joining needs, with three fragments of its own."""
    shutil.copytree(TREE / "changelog.d", tmp_path / "changelog.d")
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(TREE / name, tmp_path / name)
    for kind, text in (("fixed", "A clock.\n"), ("added", "A wheel\nof two lines.\n"), ("removed", "A lamp.\n")):
        (tmp_path / "changelog.d" / f"+of-the-test.{kind}.md").write_text(text)
    return tmp_path


def joined(tree: Path) -> str:
    command = [sys.executable, "-m", "towncrier", "build", "--yes", "--version", "9.8.7", "--date", "2030-01-02"]
    subprocess.run(command, cwd=tree, check=True, capture_output=True)
    return (tree / "CHANGELOG.md").read_text(encoding="utf-8")


def test_fragments_stand_once_in_a_new_section_above_the_old_ones_which_stay_as_they_were(copy: Path) -> None:
    before = (copy / "CHANGELOG.md").read_text(encoding="utf-8")
    fragments = [path.read_text(encoding="utf-8").split() for path in (copy / "changelog.d").glob("+*.md")]
    after = joined(copy)
    head, _, old = before.partition("<!-- releases -->\n\n")
    assert after.startswith(head)
    assert after.endswith(".\n\n" + old)
    section = after.removeprefix(head).removesuffix(old)
    assert section.startswith("<!-- releases -->\n\n## [9.8.7] - 2030-01-02\n")
    for words in fragments:
        assert " ".join(section.split()).count(" - " + " ".join(words)) == 1
    headings = re.findall(r"^### (.+)$", section, re.MULTILINE)
    assert headings == [kind.capitalize() for kind in KINDS if kind.capitalize() in headings]
    assert "- A wheel\n  of two lines.\n" in section


def test_fragments_that_were_joined_are_gone_and_nothing_else(copy: Path) -> None:
    joined(copy)
    assert {path.name for path in (copy / "changelog.d").iterdir()} == KEPT


def test_every_fragment_is_of_a_kind_that_is_joined_and_says_something() -> None:
    for path in (TREE / "changelog.d").iterdir():
        if path.name not in KEPT:
            assert re.fullmatch(rf"\+[a-z0-9-]+\.({'|'.join(KINDS)})\.md", path.name), path.name
            assert not path.read_text(encoding="utf-8").startswith(("-", "*", "#")), f"{path.name}: text, not a list"
            assert path.read_text(encoding="utf-8").strip()
