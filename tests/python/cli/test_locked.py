"""The command line in an environment of `requirements.lock` alone: completion, hints and every verb's file."""

import os
import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from support.tree import TREE
from wattlock.cli import VERBS


def locked() -> set[str]:
    """The packages of the lock file, by the names that the index has."""
    lines = (TREE / "requirements.lock").read_text().splitlines()
    return {normal(found[1]) for line in lines if (found := re.match(r"([\w.-]+)==", line))}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


ABSENT = sorted(
    module
    for module, packages in packages_distributions().items()
    if not {normal(name) for name in packages} & (locked() | {"wattlock"})
)
"""Modules that are installed here for tests and extras."""
WITHOUT = f"import sys\nfor name in {ABSENT}: sys.modules[name] = None\n"


def start(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT + code]
    given = {**os.environ, "PYTHONPATH": str(TREE / "python"), **environment}
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=given)


@pytest.mark.parametrize(
    ("line", "offered"),
    [("wattlock run q", "quick"), ("wattlock show l", "last"), ("wattlock advise --radio in", "intel-5300")],
)
def test_a_word_is_completed(line: str, offered: str, tmp_path: Path) -> None:
    assert "click" in ABSENT
    words = {"_WATTLOCK_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    done = start("from wattlock.__main__ import main; main()", tmp_path, **words)
    assert (offered in done.stdout.split(), done.stderr) == (True, "")


def test_every_verb_and_every_completer_works(tmp_path: Path) -> None:
    code = f"""
from wattlock import cli
for verb in {list(VERBS)}:
    for parameter in cli.load(verb).params:
        parameter.shell_complete(None, "")
    assert cli.answer([verb, "--help"]) == 0, verb
    cli.answer([verb, "--no-such-option"])
"""
    done = start(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "bug in wattlock" not in done.stderr
    assert done.stderr.count("error: ") == done.stderr.count("hint: ") == len(VERBS)
