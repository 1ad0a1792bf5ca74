"""The pages of the verbs in the documents: one each, as its help is."""

import re
from importlib.util import module_from_spec, spec_from_file_location

import pytest

from support.tree import TREE
from wattlock.cli import VERBS, load

spec = spec_from_file_location("verb_pages", TREE / "tools" / "verbs.py")
assert spec is not None
assert spec.loader is not None
tool = module_from_spec(spec)
spec.loader.exec_module(tool)


def test_the_committed_pages_are_those_that_the_help_makes() -> None:
    written = tool.written()
    assert set(tool.PAGES.iterdir()) == set(written), "a page too many, or one that is missing"
    for path, text in written.items():
        assert path.read_text(encoding="utf-8") == text, "`.venv/bin/python tools/verbs.py` writes them anew"


@pytest.mark.parametrize("verb", VERBS)
def test_a_page_has_every_option_of_its_verb_once_with_what_it_means(verb: str) -> None:
    page = tool.written()[tool.PAGES / f"{verb}.md"]
    options = [name for param in load(verb).params for name in param.opts if name.startswith("--")]
    rows = re.findall(r"^\| `(--[^`]*)`[^|]* \| \S.* \| \S.* \|$", page, re.MULTILINE)
    assert sorted(row.split()[0] for row in rows) == sorted(options)


def test_the_summary_links_every_page() -> None:
    linked = re.findall(r"\]\(verbs/(\w+)\.md\)", (TREE / "docs" / "reference" / "verbs.md").read_text())
    assert sorted(linked) == sorted(VERBS)
