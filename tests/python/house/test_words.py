"""The field's words: what a reader meets (pages, help, messages) is said in them, and not in idioms of our own."""

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.tree import NET, PACKAGE, PROBE, TREE

IDIOMS = {
    "cell": (r"cells?", "case"),
    "weigh": (r"weigh(?:ed|ing)", "measure"),
    "world": (r"worlds?", "Monte Carlo sample, or inputs"),
    "sentinel": (r"sentinels?", "self-check"),
    "sitting": (r"sittings?", "session"),
    "empty": (r"empties|emptied|emptying", "discharge"),
    "fall": (r"falls? of (?:a |the )?batter(?:y|ies)|that the fall", "discharge"),
    "dirty": (r"dirty batch(?:es)?", "discarded batch"),
    "dearest": (r"dearest", "most expensive"),
    "middle": (r"in the middle", "median"),
    "flip": (r"flips?", "sensitivity, or changes"),
    "floor": (r"floor of security", "security requirement"),
    "against": (r"held against", "compared with"),
    "off": (r"taken off", "subtracted"),
    "nobody": (r"nobody meant", "fuzz"),
    "sabotage": (r"sabotages?", "mutant"),
    "aloud": (r"aloud", "and the answer says so"),
}
"""An idiom of our own, and the field's word for it."""
PATTERN = {name: re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE) for name, (pattern, _) in IDIOMS.items()}
OF_THE_FIELD = re.compile(
    r"(?:coin|battery|rechargeable|lithium|secondary|primary|sensor)[- ]cells?|cells? of 3\.7 V|cell's self-discharge",
    re.IGNORECASE,
)
"""A cell of a battery is one."""

NOT_OURS = {"CHANGELOG.md", "sources.md", "mutants.md", "glossary.md"}
"""History, titles, what a tool wrote, and the words themselves."""
PAGES = [
    page
    for page in [*TREE.glob("*.md"), TREE / "benchmarks" / "README.md", *(TREE / "docs").rglob("*.md")]
    if page.name not in NOT_OURS
]


def idioms_in(text: str) -> Counter[str]:
    plain = OF_THE_FIELD.sub("", text)
    return Counter({name: len(found) for name, pattern in PATTERN.items() if (found := pattern.findall(plain))})


def prose_of(page: Path) -> str:
    """A page without its blocks and what stands between backquotes: those are the program's."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return " ".join(re.sub(r"`[^`]+`", "", text).split())


def messages_of(file: Path) -> Iterator[str]:
    """What a program of Python may print: strings of more than one word, and the docstrings that are a verb's help."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    notes = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in notes else None
        if isinstance(text, str) and " " in text.strip():
            yield text
        if isinstance(node, ast.FunctionDef) and "Example: " in (help_text := ast.get_docstring(node) or ""):
            yield help_text


def help_of(program: Path) -> Iterator[tuple[str, str]]:
    def printed(*words: str) -> str:
        return subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=True).stdout

    verbs = re.findall(r"^  (\w[\w-]*) ", printed().partition("Commands:")[2], re.MULTILINE)
    yield program.name, printed()
    for verb in verbs:
        if verb != "help":
            yield verb, printed(verb)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(TREE)))
def test_a_page_says_it_in_the_fields_words(page: Path) -> None:
    assert idioms_in(prose_of(page)) == {}, {name: IDIOMS[name][1] for name in idioms_in(prose_of(page))}


def test_help_and_messages_say_it_in_the_fields_words() -> None:
    found: Counter[str] = Counter()
    for file in PACKAGE.rglob("*.py"):
        for message in messages_of(file):
            found += idioms_in(message)
    assert found == {}, {name: IDIOMS[name][1] for name in found}


@pytest.mark.parametrize("program", [PROBE, NET], ids=lambda program: program.name)
def test_a_programs_help_says_it_in_the_fields_words(program: Path) -> None:
    found = {verb: idioms_in(text) for verb, text in help_of(program)}
    assert {verb: names for verb, names in found.items() if names} == {}


def test_a_battery_cell_is_no_idiom_and_a_case_called_a_cell_is_one() -> None:
    assert idioms_in("a coin cell, and rechargeable cells") == {}
    assert idioms_in("Cells that the sentinels weighed") == {"cell": 1, "sentinel": 1, "weigh": 1}
    assert idioms_in("the others are held against the first") == {"against": 1}
