"""Completion in a shell: verbs, options, the names of what comes with wattlock, and runs."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(sys.executable).parent / "wattlock"


def completed(line: str, folder: Path) -> list[str]:
    """What bash is offered for the last word of a line."""
    words = line.split(" ")
    asked = {"_WATTLOCK_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run([PROGRAM], env=asked, cwd=folder, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("wattlock pap", "papers"),
        ("wattlock run --sys", "--sys-root"),
        ("wattlock run papers/q", "papers/quick"),
        ("wattlock run --baseline sp", "spin"),
        ("wattlock advise --device nrf52840", "nrf52840"),
        ("wattlock papers --radio intel", "intel-5300"),
        ("wattlock link adhoc-o", "adhoc-open"),
        ("wattlock show las", "last"),
    ],
)
def test_a_begun_word_is_completed(line: str, offered: str, tmp_path: Path) -> None:
    assert offered in completed(line, tmp_path)
    assert all(one.startswith(line.rpartition(" ")[2]) for one in completed(line, tmp_path))
